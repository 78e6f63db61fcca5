"""Ways to choose a column of the coding matrix: which classes oppose which (Li's thesis, chapter 4).

Each takes the confusion between classes, a symmetric K x K matrix whose entry (a, b) is how much weight a
column gains by separating a from b, and a random generator; it returns -1, 0 or +1 for each class.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from zoloss_cli.kernels.codes import find_max_cut

MAX_EXACT_CLASSES = 13  # of an exact max-cut in every round: 4096 cuts to examine


def choose_max_cut(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the column that separates the most weight."""
    return find_max_cut(confusion)


def choose_greedy_cut(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column that cuts the heaviest edges first; two new ends are assigned to sides at random."""
    first, second = _list_pairs(len(confusion))
    column = np.zeros(len(confusion), np.int8)
    for edge in np.argsort(-confusion[first, second], kind="stable"):
        a, b = first[edge], second[edge]
        if column[a] == 0 and column[b] == 0:
            column[a] = rng.choice((-1, 1))
        if column[a] == 0:
            column[a] = -column[b]
        elif column[b] == 0:
            column[b] = -column[a]
    return column


def draw_random_half(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column with a random half of the classes on each side."""
    column = np.empty(len(confusion), np.int8)
    column[rng.permutation(len(confusion))] = np.where(np.arange(len(confusion)) % 2 == 0, 1, -1)
    return column


def choose_heaviest_pair(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column with the two most confused classes."""
    first, second = _list_pairs(len(confusion))
    heaviest = np.argmax(confusion[first, second])
    return build_pair_column(len(confusion), first[heaviest], second[heaviest])


def draw_random_pair(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column of two random classes."""
    return build_pair_column(len(confusion), *rng.choice(len(confusion), 2, replace=False))


def build_pair_column(n_classes: int, a: int, b: int) -> np.ndarray:
    """Return the column with +1 for class a, -1 for class b, and 0 for all others."""
    column = np.zeros(n_classes, np.int8)
    column[a], column[b] = 1, -1
    return column


@cache
def _list_pairs(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs a < b, neighbours first: the order in which the author's program tries equal edges."""
    a, b = np.triu_indices(n_classes, 1)
    order = np.argsort(b - a, kind="stable")
    return a[order], b[order]


PARTITIONS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "max-cut": choose_max_cut,
    "greedy": choose_greedy_cut,
    "rand-half": draw_random_half,
    "max-2": choose_heaviest_pair,
    "rand-2": draw_random_pair,
}
EXACT_PARTITION = "max-cut"
RANDOM_PARTITIONS = {"greedy", "rand-half", "rand-2"}
