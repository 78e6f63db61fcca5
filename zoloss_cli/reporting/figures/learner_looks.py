"""The colour, dashes and marker of every learner, in one place: a learner looks the same in all figures.

There are fewer colours than learners. Learners that the papers compare have different colours; others share one
and differ in dashes and marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.style import Look
from zoloss_cli.reporting.run_result import RunResult

# Colours of Paul Tol's scheme "muted", after those of Okabe and Ito in `style`: colour-blind readers can
# distinguish all of them at the width of a line.
INDIGO, WINE, OLIVE, TEAL, GREY = "#332288", "#882255", "#84842B", "#2F8F82", "#6E6E6E"

LEARNERS_BY_COLOUR: dict[str, tuple[str, ...]] = {
    style.BLUE: ("rcd-bias", "sla", "ecc:max-cut", "contribution", "scoring"),
    style.VERMILION: ("pocket", "lr", "erp:max-2", "neighbours", "romma-aggressive"),
    style.GREEN: ("ave-perc", "bpm", "erp:rand-2", "multipliers"),
    style.PURPLE: ("sgd-mls", "csa", "ecc:rand-half", "leave-one-out", "margin-perceptron", "ecoc"),
    style.BLACK: ("soft-svm", "fld", "one-vs-one", "cross-validation", "exact"),
    style.ORANGE: ("sgd-hinge", "bnb", "cgboost", "rcd-conj", "heuristic"),
    style.SKY: ("rcd-plain", "pcs", "one-vs-all", "anyboost", "all subsets"),
    INDIGO: ("pivot", "rcd-grad", "adaboost-stump", "batch-perceptron"),
    WINE: ("sgd-ls", "certify", "stump", "sgd-perceptron", "rcd-grad-batch", "ecc-asymmetric"),
    OLIVE: ("perceptron", "mip", "tree", "rcd-conj-bias", "voted-perc"),
    TEAL: ("ccd", "romma", "adaboost", "svm-perceptron", "pocket-plain"),
    GREY: ("svm", "majority", "ecc", "erp", "one-vs-one/one-vs-all"),
}
COLOURS = tuple(LEARNERS_BY_COLOUR)
WITHOUT_COLOUR_OF_THEIR_OWN = "adaboost"  # boosted learners have the colour of their base


def _build_looks() -> dict[str, Look]:
    looks = {}
    for i, (colour, learners) in enumerate(LEARNERS_BY_COLOUR.items()):
        for j, learner in enumerate(learners):
            looks[learner] = _build_look(colour, i + 2 * j, i + 4 * j)
    return looks


def _build_look(colour: str, dashes: int, marker: int) -> Look:
    return Look(colour, style.DASHES[dashes % len(style.DASHES)], style.MARKERS[marker % len(style.MARKERS)])


LOOKS = _build_looks()


def find_look(label: str, learner: str = "") -> Look:
    """Return the look of a learner, which depends only on its name.

    Parameters
    ----------
    label : str
        Its name in a run, such as `ecc:max-cut:stump` or `adaboost:pocket`.
    learner : str, default=""
        The registered learner behind a label of your own.

    Returns
    -------
    Look
        Its colour, dashes and marker.
    """
    parts = label.split(":")
    if parts[0] == WITHOUT_COLOUR_OF_THEIR_OWN and len(parts) > 1:
        parts = parts[1:]
    starts = [":".join(parts[:k]) for k in range(len(parts), 0, -1)]
    for name in (*starts, learner):
        if name in LOOKS:
            return LOOKS[name]
    code = crc32(label.encode())  # an unknown name: the same in every process
    return _build_look(COLOURS[code % len(COLOURS)], code // 16, code // 256)


def assign_looks(run: RunResult) -> dict[str, Look]:
    """Return the looks of a run's columns: colours by learner, and no two with the same dashes and marker."""
    behind = {spec.label: spec.learner for spec in run.experiment.learners}
    return assign_looks_by_name({label: behind.get(label, "") for label in run.learners})


def assign_looks_by_name(learners: Mapping[str, str]) -> dict[str, Look]:
    """Return the looks of learners that are shown together.

    Parameters
    ----------
    learners : mapping of str to str
        The registered learner behind each label; empty if there is none.

    Returns
    -------
    dict of str to Look
        Each with the colour of its learner. If two of one colour would look the same, the later one gets other
        dashes and another marker. If there are only variants of one learner, their colours differ.
    """
    if len(learners) > 1 and len({find_look(*item).colour for item in learners.items()}) == 1:
        return dict(zip(learners, style.build_looks(len(learners)), strict=True))
    looks: dict[str, Look] = {}
    for label, learner in learners.items():
        looks[label] = _choose_look(find_look(label, learner), list(looks.values()))
    return looks


def _choose_look(wanted: Look, taken: list[Look]) -> Look:
    """Return a look of this colour with unused dashes and marker, or an unused combination of them."""
    dashes = style.DASHES.index(wanted.dashes)
    marker = style.MARKERS.index(wanted.marker)
    shifts = range(len(style.DASHES) * len(style.MARKERS))  # as many as there are combinations
    choices = [_build_look(wanted.colour, dashes + i, marker + i) for i in shifts]
    same = [look for look in taken if look.colour == wanted.colour]
    for look in choices:
        if all(look.dashes != other.dashes and look.marker != other.marker for other in same):
            return look
    return next((look for look in choices if look not in same), wanted)
