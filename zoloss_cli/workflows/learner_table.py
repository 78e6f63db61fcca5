"""The list of learners and measures: one line each, fitted to a width."""

from __future__ import annotations

import csv
import functools
import textwrap
from collections.abc import Sequence
from pathlib import Path

from zoloss_cli.learner_registrations import LearnerRegistration
from zoloss_cli.plugins import Registry
from zoloss_cli.registry import LEARNERS, MEASURES
from zoloss_cli.utils.references import find_source

SPEEDS = Path(__file__).with_name("learner_speeds.csv")  # by `make speeds`
STOPPED = "> 30 s"  # shown for what the file leaves empty: a search unfinished after half a minute
GAP = "  "
MIN_LAST_WIDTH = 20  # a narrower last column is left out
NOTES = (
    "classes: two, or several; weights: whether fit takes sample weights; time: to fit 1,000 samples of 20 "
    "features with default parameters on one core; source: where the algorithm is described, zoloss if here. "
    "`zoloss learners NAME` shows the parameters."
)


def list_learners(width: int | None = None) -> str:
    """Return tables of all learners, including broken ones of other packages, and of all measures.

    Parameters
    ----------
    width : int or None, default=None
        The maximum length of a line, to which the description is cut; None: nothing is cut.

    Returns
    -------
    str
        The two tables, and an explanation of their columns.
    """
    learners = [_describe(name, entry) for name, entry in LEARNERS.list_usable().items()]
    learners += [
        [plugin.name, "", "", "", plugin.package, f"broken: {reason}"]
        for plugin, reason in LEARNERS.list_broken()
    ]
    measures = [[name, _find_source(entry), _summarize(entry)] for name, entry in _items(MEASURES)]
    return "\n\n".join(
        [
            render_lines(["learner", "classes", "weights", "time", "source", "description"], learners, width),
            render_lines(["measure", "source", "description"], measures, width),
            NOTES if width is None else textwrap.fill(NOTES, width),
        ]
    )


def render_lines(header: Sequence[str], lines: Sequence[Sequence[str]], width: int | None) -> str:
    """Return a table with one line per row; last columns that do not fit are cut or left out.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    lines : sequence of sequences of str
        The rows.
    width : int or None
        The maximum length of a line; None for no limit.

    Returns
    -------
    str
        The table.

    Examples
    --------
    >>> print(render_lines(["name", "description"], [["fld", "Fisher's linear discriminant."]], 30))
    name  description
    fld   Fisher's linear ...
    """
    rows = [list(header), *(list(line) for line in lines)]
    sizes = [max(len(row[at]) for row in rows) for at in range(len(header))]
    if width is not None:
        while len(sizes) > 1 and sum(sizes[:-1]) + len(GAP) * (len(sizes) - 1) + MIN_LAST_WIDTH > width:
            if sum(sizes) + len(GAP) * (len(sizes) - 1) <= width:
                break
            sizes.pop()
        sizes[-1] = min(sizes[-1], width - sum(sizes[:-1]) - len(GAP) * (len(sizes) - 1))
    cells = (zip(row, sizes, strict=False) for row in rows)
    return "\n".join(GAP.join(_cut(text, size).ljust(size) for text, size in row).rstrip() for row in cells)


@functools.cache
def load_speeds() -> dict[str, str]:
    """Return the measured time of each learner as text."""
    with SPEEDS.open(encoding="utf-8", newline="") as file:
        return {row["learner"]: _format_seconds(row["seconds"]) for row in csv.DictReader(file)}


def _describe(name: str, entry: LearnerRegistration) -> list[str]:
    classes = "several" if entry.is_multiclass else "two"
    weights = "yes" if entry.accepts_sample_weight else "no"
    return [name, classes, weights, load_speeds().get(name, ""), _find_source(entry), _summarize(entry)]


def _items(registry: Registry[LearnerRegistration]) -> list[tuple[str, LearnerRegistration]]:
    return [(name, registry[name]) for name in registry]


def _find_source(entry: LearnerRegistration) -> str:
    return find_source(entry.learner_class.__doc__ or "")


def _summarize(entry: LearnerRegistration) -> str:
    """Return the first line of the docstring, after the parameters that the name fixes."""
    text = (entry.learner_class.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    fixed = ", ".join(
        f"{key} {value}" if value is not True else key for key, value in entry.fixed.items() if value
    )
    return f"{text} ({fixed})" if fixed else text


def _format_seconds(text: str) -> str:
    if not text:
        return STOPPED
    seconds = float(f"{float(text):.1g}")
    return f"{seconds:g} s" if seconds >= 0.1 else f"{1000 * seconds:g} ms"


def _cut(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    return textwrap.shorten(text, size, placeholder=" ...") if size >= MIN_LAST_WIDTH else text[:size]
