"""Class labels as indices."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.csv_reader import is_number
from zoloss_cli.errors import DataError, suggest_nearest

MAX_LISTED_CLASSES = 10
MIN_FRACTIONS = 5  # different numbers, not all integers: more are hardly names of classes
MIN_WHOLE_NUMBERS = 20  # likewise


def index_labels(labels: list[str], positive: str | None, where: str) -> tuple[np.ndarray, list[str]]:
    """Return the class index of each label, and the names of the classes.

    Parameters
    ----------
    labels : list of str
        The label of each sample.
    positive : str or None
        The positive class of a binary problem, against all others.
    where : str
        How messages begin.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        Indices into `classes`.
    classes : list of str
        The classes; with two, the last is positive.
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
    if len(names) > 2:  # ties go to the first class: 2 before 10
        names = _sort_by_number(names)
    index = {name: i for i, name in enumerate(names)}
    return np.array([index[label] for label in labels]), names


def check_spellings(path: Path, column: str, labels: list[str], lines: list[int]) -> None:
    """Refuse labels such as 1 and 1.0: one class to a statistician, but two in a comparison of text.

    Parameters
    ----------
    path, column : Path, str
        The file and the label column, for messages.
    labels : list of str
        The label of each row.
    lines : list of int
        The line of each row.
    """
    first = dict(zip(reversed(labels), reversed(lines), strict=True))
    same: dict[Decimal, str] = {}
    for label in sorted(filter(is_number, first), key=lambda label: first[label]):
        try:
            other = same.setdefault(Decimal(label), label)  # exact, unlike float, for long account numbers
        except InvalidOperation:  # an exponent out of bounds
            continue
        if other != label:
            raise DataError(
                f"{path}:{first[label]}: the label column '{column}' holds '{label}' and, in line "
                f"{first[other]}, '{other}', which are the same number; write each class in one way"
            )


def is_continuous(names: list[str], n_samples: int) -> bool:
    """Return whether the distinct labels of some samples are numbers, and too many to be classes.

    Examples
    --------
    >>> is_continuous(["0.5", "1.25", "2.5", "3.125", "7.5"], 6)
    True
    >>> is_continuous(["1", "2", "3", "4", "5"], 6)
    False
    """
    if len(names) < MIN_FRACTIONS or not all(map(is_number, names)):
        return False
    if all(float(name).is_integer() for name in names):
        return len(names) > MIN_WHOLE_NUMBERS and len(names) > n_samples / 4
    return len(names) > min(MIN_WHOLE_NUMBERS, n_samples / 2)


def join_names(names: list[str]) -> str:
    """Return the names of classes as a list for a sentence, only the first if there are many."""
    more = f" and {len(names) - MAX_LISTED_CLASSES} more" if len(names) > MAX_LISTED_CLASSES else ""
    return ", ".join(names[:MAX_LISTED_CLASSES]) + more


def _sort_by_number(names: list[str]) -> list[str]:
    """Return the names in the order of their numbers, if all are numbers."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return names
