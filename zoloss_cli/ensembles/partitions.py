"""Ways to choose a column of the coding matrix: which classes stand against which (Li's thesis, chapter 4).

Each takes the confusion between classes, a symmetric K x K matrix whose entry (a, b) is how much weight a
column gains by separating a from b, and a random generator; it gives -1, 0 or +1 a class.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoloss_cli.kernels.codes import max_cut

MOST_CLASSES = 13  # of an exact max-cut, in every round: 4096 cuts to look at


def exact_max_cut(confusion: np.ndarray, rng) -> np.ndarray:
    K = len(confusion)
    if K > MOST_CLASSES:
        raise ValueError(
            f"the exact max-cut is for at most {MOST_CLASSES} classes, and y holds {K}; use 'greedy' instead"
        )
    return max_cut(confusion)


def greedy_max_cut(confusion: np.ndarray, rng) -> np.ndarray:
    """The heaviest edge first, each is cut if it still can be; two new ends take their sides at random."""
    ends = np.triu_indices(len(confusion), 1)
    column = np.zeros(len(confusion), np.int8)
    for edge in np.argsort(-confusion[ends], kind="stable"):
        a, b = ends[0][edge], ends[1][edge]
        if column[a] == 0 and column[b] == 0:
            column[a] = rng.choice((-1, 1))
        if column[a] == 0:
            column[a] = -column[b]
        elif column[b] == 0:
            column[b] = -column[a]
    return column


def random_half(confusion: np.ndarray, rng) -> np.ndarray:
    column = np.empty(len(confusion), np.int8)
    column[rng.permutation(len(confusion))] = np.where(np.arange(len(confusion)) % 2 == 0, 1, -1)
    return column


def heaviest_pair(confusion: np.ndarray, rng) -> np.ndarray:
    a, b = np.unravel_index(np.argmax(np.triu(confusion, 1)), confusion.shape)
    return _pair(len(confusion), a, b)


def random_pair(confusion: np.ndarray, rng) -> np.ndarray:
    return _pair(len(confusion), *rng.choice(len(confusion), 2, replace=False))


def _pair(K: int, a: int, b: int) -> np.ndarray:
    column = np.zeros(K, np.int8)
    column[a], column[b] = -1, 1
    return column


PARTITIONS: dict[str, Callable] = {
    "max-cut": exact_max_cut,
    "greedy": greedy_max_cut,
    "rand-half": random_half,
    "max-2": heaviest_pair,
    "rand-2": random_pair,
}
RANDOM = {"greedy", "rand-half", "rand-2"}
