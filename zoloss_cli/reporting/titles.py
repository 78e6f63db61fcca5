"""How tables call their columns."""

from __future__ import annotations

from zoloss_cli.registry import LEARNERS


def build_column_titles(labels: list[str]) -> dict[str, str]:
    """Return how the papers call these columns. `adaboost:x` is just x where all columns are boosted.

    Where all columns have the same base, what is around it makes the difference: `ecc:max-cut:stump`.
    """
    known = LEARNERS
    ensembles = {label.rpartition(":")[0] for label in labels}
    bases = {label.rpartition(":")[2] for label in labels}
    titles = {}
    for label in labels:
        ensemble, _, base = label.rpartition(":")
        title = known[base].title if base in known else base
        if len(labels) > 1 and len(bases) == 1 and ensemble:
            first, *rest = ensemble.split(":")
            titles[label] = " ".join([known[first].title if first in known else first, *rest])
            continue
        outer = known[ensemble].title if ensemble in known else ensemble
        titles[label] = title if len(ensembles) == 1 or not ensemble else f"{outer} {title}"
    return titles


def join_best(titles: list[str]) -> str:
    """Return the best of some columns in words."""
    return titles[0] if len(titles) == 1 else f"the best of {', '.join(titles)}"
