"""Ways to choose a column of the coding matrix: which classes stand against which (Li's thesis, chapter 4).

Each takes the confusion between classes, a symmetric K x K matrix whose entry (a, b) is how much weight a
column gains by separating a from b, and a random generator; it gives -1, 0 or +1 a class.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from zoloss_cli.kernels.codes import max_cut

MAX_EXACT_CLASSES = 13  # of an exact max-cut, in every round: 4096 cuts to look at


def exact_max_cut(confusion: np.ndarray, rng) -> np.ndarray:
    return max_cut(confusion)


def greedy_max_cut(confusion: np.ndarray, rng) -> np.ndarray:
    """The heaviest edge first, each is cut if it still can be; two new ends take their sides at random."""
    a_of, b_of = _pairs(len(confusion))
    column = np.zeros(len(confusion), np.int8)
    for edge in np.argsort(-confusion[a_of, b_of], kind="stable"):
        a, b = a_of[edge], b_of[edge]
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
    a, b = _pairs(len(confusion))
    heaviest = np.argmax(confusion[a, b])
    return _pair(len(confusion), a[heaviest], b[heaviest])


def random_pair(confusion: np.ndarray, rng) -> np.ndarray:
    return _pair(len(confusion), *rng.choice(len(confusion), 2, replace=False))


def _pair(K: int, a: int, b: int) -> np.ndarray:
    column = np.zeros(K, np.int8)
    column[a], column[b] = 1, -1
    return column


@cache
def _pairs(K: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of classes a < b, neighbours first: so equal edges are tried, as in the author's program."""
    a, b = np.triu_indices(K, 1)
    order = np.argsort(b - a, kind="stable")
    return a[order], b[order]


PARTITIONS: dict[str, Callable] = {
    "max-cut": exact_max_cut,
    "greedy": greedy_max_cut,
    "rand-half": random_half,
    "max-2": heaviest_pair,
    "rand-2": random_pair,
}
EXACT = "max-cut"
RANDOM = {"greedy", "rand-half", "rand-2"}
