"""The titles of table columns."""

from __future__ import annotations

from zoloss_cli.registry import LEARNERS, is_foreign
from zoloss_cli.utils.code_files import name_class


def build_column_titles(labels: list[str]) -> dict[str, str]:
    """Return the papers' names of these columns. `adaboost:x` is just x if all columns are boosted.

    If all columns have the same base, the rest distinguishes them: `ecc:max-cut:stump`.
    """
    known = LEARNERS
    registered = [label for label in labels if not _is_class(label)]
    ensembles = {label.rpartition(":")[0] for label in registered}
    bases = {label.rpartition(":")[2] for label in registered}
    titles: dict[str, str] = {}
    for label in labels:
        if _is_class(label):  # a class of a package or a file, whose own name suffices if it is unique
            short = name_class(label)
            titles[label] = short if short not in titles.values() and short not in labels else label
            continue
        ensemble, _, base = label.rpartition(":")
        title = known[base].title if base in known else base
        if len(labels) > 1 and len(bases) == 1 and ensemble:
            first, *rest = ensemble.split(":")
            titles[label] = " ".join([known[first].title if first in known else first, *rest])
            continue
        outer = known[ensemble].title if ensemble in known else ensemble
        titles[label] = title if len(ensembles) == 1 or not ensemble else f"{outer} {title}"
    return titles


def build_learner_title(learner: str) -> str:
    """Return the papers' name of a learner; for a class of a package or a file, its own name."""
    return name_class(learner) if is_foreign(learner) else LEARNERS[learner].title


def _is_class(label: str) -> bool:
    """Return whether a label is the name of a class, which begins with a capital, not just one with a dot."""
    return is_foreign(label) and name_class(label)[:1].isupper()


def join_best(titles: list[str]) -> str:
    """Return the best of some columns, in words."""
    return titles[0] if len(titles) == 1 else f"the best of {', '.join(titles)}"
