"""A cone to search, and the arrays that a thread uses for the search."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from zoloss_cli.kernels import cone as kernels
from zoloss_cli.kernels.cone import PROVED, RUNNING, visit_cones
from zoloss_cli.kernels.cone_order import DIGITS, compare_classes
from zoloss_cli.kernels.cone_split import COMMON_TIES, FEW_TIES, ONLY_TIES
from zoloss_cli.learners.search.cone_problem import ConeProblem

MAX_DEPTH = 400  # of the tree below a frontier cone
MAX_STACK_BYTES = 400_000_000  # per thread: less depth with many samples
SECONDS_PER_CALL = 0.05  # of a kernel, between two checks of the clock
LOG_ENTRIES = 1_000_000
NO_LOSS = np.iinfo(np.int64).max


class Column(NamedTuple):
    """The scores of all samples in one direction, and whatever else the kernels need about them."""

    scores: np.ndarray
    exponent: int
    error: float


@dataclass
class Cone:
    """A cone that has not been searched yet.

    Attributes
    ----------
    columns : list of Column
        The columns of its vertices.
    mate_left, mate_right : ndarray
        A matching of conflicting pairs.
    share : float
        The share of all directions that it accounts for.
    log : ndarray or None
        The log entry of its split; None before it is split.
    children : tuple of (Cone, Cone) or tuple of ()
        Its parts.
    """

    columns: list[Column]
    mate_left: np.ndarray
    mate_right: np.ndarray
    share: float
    log: list[np.ndarray] = field(default_factory=list)
    children: tuple[Cone, ...] = ()


class ConeWorkspace:
    """The arrays that one thread uses for the search.

    Parameters
    ----------
    problem : ConeProblem
        The samples.
    does_log : bool
        Whether to log what a certificate needs.
    """

    def __init__(self, problem: ConeProblem, does_log: bool):
        D, n = problem.n_features, len(problem.vectors)
        left, right = problem.copies[: problem.n_left], problem.copies[problem.n_left :]
        words = -(-int(right.sum()) // 64)
        row = problem.n_left * words
        bytes_per_level = 16 * row + 8 * (n + D) + 8 * int(left.sum() + right.sum())
        levels = max(8, min(MAX_DEPTH, MAX_STACK_BYTES // bytes_per_level))
        self._ties = COMMON_TIES if problem.has_ties else FEW_TIES
        sizes = (np.int64(problem.n_left), np.int64(n - problem.n_left), np.int64(words), np.int64(self._ties))
        self.samples = (sizes, _repeat(left), _repeat(right))
        self.columns = (
            np.empty((D + levels, n + D)),
            np.zeros(D + levels, np.int64),
            np.zeros(D + levels),
            np.empty((D + levels, row), np.uint64),
            np.empty((D + levels, row), np.uint64),
        )
        n_left, n_right = int(left.sum()), int(right.sum())
        self.stack = (
            np.zeros((levels, D), np.int64),
            np.empty((levels, n_left), np.int32),
            np.empty((levels, n_right), np.int32),
            np.zeros(levels, np.int64),
            np.zeros(levels, np.int64),
            np.zeros((levels, 2), np.int64),
        )
        bits = [np.zeros(words, np.uint64) for _ in range(3)]
        keys = [np.zeros(max(sizes[:2]), np.int64) for _ in range(2)]
        self.compare_room = (
            np.zeros(n, np.int64),
            np.zeros((DIGITS, 64 * words), np.uint16),
            np.zeros(int(right.sum()) + 1, np.int64),
            left.astype(np.int64),
        )
        self.room = (
            np.zeros((problem.n_left, words), np.uint64),
            (*bits, np.zeros(64 * words, np.int64), np.zeros(n_left + 1, np.int64)),
            tuple(np.zeros(shape, np.uint64) for shape in ((D, row), (D, row), row, row, row)),
            (
                np.zeros(problem.n_left),
                np.zeros((problem.n_left, 2), np.int64),
                *keys,
                np.zeros(n + D, np.int64),
            ),
            self.compare_room,
        )
        self.counters = np.zeros(8, np.int64)
        self.logs = (np.zeros(LOG_ENTRIES if does_log else 0, np.int64), np.zeros(n_left, np.int32))
        self.best = np.zeros(D)
        self.share = 0.0  # of the current cone
        self._loaded: list[Column | None] = [None] * D  # vertices whose scores are in the first columns
        self._nodes_per_call = 16

    def load(self, cone: Cone, only_ties: bool = False) -> None:
        """Prepare the search of a cone, possibly splitting only at ties."""
        (n_left, n_right, words, _), left_of, right_of = self.samples
        sizes = (n_left, n_right, words, np.int64(ONLY_TIES if only_ties else self._ties))
        self.samples = (sizes, left_of, right_of)
        scores, exponents, errors, above, higher = self.columns
        cones, mate_left, mate_right, matched, stage, _ = self.stack
        D = len(cone.columns)
        for k, column in enumerate(cone.columns):
            if column is self._loaded[k]:  # successive cones share most vertices
                continue
            self._loaded[k] = column
            scores[k], exponents[k], errors[k] = column
            compare_classes(scores[k], errors[k], sizes, right_of, above[k], higher[k], self.compare_room)
        cones[0], mate_left[0], mate_right[0] = np.arange(D), cone.mate_left, cone.mate_right
        matched[0], stage[0] = int(np.sum(cone.mate_left >= 0)), 0
        self.share = cone.share
        self.counters[:] = 0
        self.counters[kernels.BEST_LOSS] = NO_LOSS
        self.logs[1][:] = -1

    def visit(self, target: int, nodes: int) -> int:
        """Visit up to this many cones, and return the status."""
        return int(
            visit_cones(
                self.samples,
                self.columns,
                self.stack,
                self.counters,
                self.logs,
                self.best,
                np.int64(target),
                np.int64(nodes),
                self.room,
            )
        )

    def visit_for_a_while(self, target: int, nodes: int) -> int:
        """Visit cones for a fraction of a second, but at most `nodes`, and return the status."""
        start = time.perf_counter()
        status = self.visit(target, min(nodes, self._nodes_per_call))
        seconds = time.perf_counter() - start
        if status == RUNNING and seconds < SECONDS_PER_CALL / 2:
            self._nodes_per_call *= 2
        elif seconds > SECONDS_PER_CALL and self._nodes_per_call > 1:
            self._nodes_per_call //= 2
        return status

    def take_log(self) -> np.ndarray:
        """Return what was logged since the last call."""
        count = int(self.counters[kernels.LOGGED])
        self.counters[kernels.LOGGED] = 0
        return self.logs[0][:count].copy()

    def split(self, cone: Cone, target: int, only_ties: bool = False) -> int:
        """Examine one cone: give it children, or find that it needs none; return the status."""
        self.load(cone, only_ties)
        status = self.visit(target, 1)
        cone.log = [self.take_log()]
        if self.counters[kernels.DEPTH] <= 0 and self.stack[4][0] == 0:
            return PROVED if status == RUNNING else status
        if status == RUNNING:
            scores, exponents, errors, _, _ = self.columns
            _, mate_left, mate_right, _, _, edges = self.stack
            D, parts = len(cone.columns), []
            new = Column(scores[D].copy(), int(exponents[D]), float(errors[D]))
            for place in (edges[0, 1], edges[0, 0]):
                columns = cone.columns.copy()
                columns[place] = new
                mates = mate_left[0].copy(), mate_right[0].copy()
                parts.append(Cone(columns, *mates, share=cone.share / 2))
            cone.children = tuple(parts)
        return status


def _repeat(copies: np.ndarray) -> np.ndarray:
    """Return the sample index of each copy."""
    return np.repeat(np.arange(len(copies)), copies)
