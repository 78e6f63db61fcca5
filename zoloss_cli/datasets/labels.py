"""Class labels as indices."""

from __future__ import annotations

import numpy as np

from zoloss_cli.errors import DataError, suggest_nearest

MAX_LISTED_CLASSES = 10


def index_labels(labels: list[str], positive: str | None, where: str) -> tuple[np.ndarray, list[str]]:
    """Return the class index of each label, and the names of the classes.

    Parameters
    ----------
    labels : list of str
        The label of each sample.
    positive : str or None
        The positive class of a binary problem, against all others.
    where : str
        What messages begin with.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        Indices into `classes`.
    classes : list of str
        The classes; of two, the last is the positive one.
    """
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
        names = _sort_by_number(names)
    index = {name: i for i, name in enumerate(names)}
    return np.array([index[label] for label in labels]), names


def join_names(names: list[str]) -> str:
    """Return the names of classes as a list for a sentence, the first of them if there are many."""
    more = f" and {len(names) - MAX_LISTED_CLASSES} more" if len(names) > MAX_LISTED_CLASSES else ""
    return ", ".join(names[:MAX_LISTED_CLASSES]) + more


def _sort_by_number(names: list[str]) -> list[str]:
    """Return the names in the order of their numbers, if all are numbers."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return names
