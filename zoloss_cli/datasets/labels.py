"""Class labels as indices."""

from __future__ import annotations

import numpy as np

from zoloss_cli.errors import DataError, suggest_nearest

SHOWN_CLASSES = 10


def index_labels(labels: list[str], positive: str | None, where: str):
    """Class indices. With a positive class the problem is that class against the rest."""
    names = sorted(set(labels))
    if len(names) < 2:
        raise DataError(f"{where} holds one class only, '{names[0]}'; two are needed")
    if positive is not None:
        if str(positive) not in names:
            raise DataError(f"{where} has no class '{positive}'{suggest_nearest(positive, names)}")
        others = [n for n in names if n != str(positive)]
        rest = others[0] if len(others) == 1 else "rest" if str(positive) != "rest" else "others"
        y = np.array([int(label == str(positive)) for label in labels])
        return y, [rest, str(positive)]
    if len(names) > 2:  # ties between classes go to the first of them: 2 before 10
        names = _by_number(names)
    index = {name: i for i, name in enumerate(names)}
    return np.array([index[label] for label in labels]), names


def join_names(names: list[str]) -> str:
    """The names of classes, as many as a sentence can hold."""
    more = f" and {len(names) - SHOWN_CLASSES} more" if len(names) > SHOWN_CLASSES else ""
    return ", ".join(names[:SHOWN_CLASSES]) + more


def _by_number(names: list[str]) -> list[str]:
    """In the order of their numbers, if all are numbers."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return names
