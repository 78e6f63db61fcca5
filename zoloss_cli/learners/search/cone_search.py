"""The cone search for one number of errors, on all cores: the same tree of cones for any number of threads."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.kernels import cone as kernels
from zoloss_cli.kernels.cone import PROVED, REFUTED, RUNNING, TOO_DEEP, visit_cones
from zoloss_cli.kernels.cone_columns import compare_classes
from zoloss_cli.learners.search.cone_problem import ConeProblem
from zoloss_cli.utils.interruptible import POLL_SECONDS

FRONTIER_CONES = 192  # to which the search is divided, for any number of threads
MAX_DEPTH = 400  # of the tree below a cone of the frontier
MAX_STACK_BYTES = 400_000_000  # of one thread: less depth where there are many samples
SECONDS_PER_CALL = 0.05  # of a kernel, between two looks at the clock
LOG_ENTRIES = 1_000_000
NO_LIMIT = 2**62
NO_LOSS = np.iinfo(np.int64).max


@dataclass
class Cone:
    """A cone that is yet to be searched.

    Attributes
    ----------
    scores : ndarray of shape (D, n + D)
        The columns of its vertices.
    exponents, errors : ndarray of shape (D,)
        What else belongs to the columns.
    mate_left, mate_right : ndarray
        A matching of conflicting pairs.
    share : float
        The share of all directions that it counts for.
    log : ndarray or None
        What the log says about its split; None before it is split.
    children : tuple of (Cone, Cone) or tuple of ()
        Its parts.
    """

    scores: np.ndarray
    exponents: np.ndarray
    errors: np.ndarray
    mate_left: np.ndarray
    mate_right: np.ndarray
    share: float
    log: list[np.ndarray] = field(default_factory=list)
    children: tuple[Cone, ...] = ()


class ConeWorkspace:
    """The arrays that one thread searches with.

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
        sizes = (np.int64(problem.n_left), np.int64(n - problem.n_left), np.int64(words), problem.has_ties)
        starts = np.concatenate([[0], np.cumsum(right)])
        self.samples = (sizes, _repeat(left), _repeat(right), starts)
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
        bits = [np.zeros(words, np.uint64) for _ in range(5)]
        keys = [np.zeros(max(sizes[:2]), np.int64) for _ in range(3)]
        self.compare_room = (*keys, *bits[:2], left.astype(np.int64))
        self.room = (
            np.zeros(row, np.uint64),
            (*bits[2:], np.zeros(64 * words, np.int64), np.zeros(n_left + 1, np.int64)),
            tuple(np.zeros(shape, np.uint64) for shape in ((D, row), (D, row), row, row)),
            (
                np.zeros(problem.n_left),
                np.zeros((problem.n_left, 2), np.int64),
                *keys[:2],
                np.zeros(n + D, np.int64),
            ),
            self.compare_room,
        )
        self.counters = np.zeros(8, np.int64)
        self.logs = (np.zeros(LOG_ENTRIES if does_log else 0, np.int64), np.zeros(n_left, np.int32))
        self.best = np.zeros(D)
        self.share = 0.0  # of the cone that is searched
        self._nodes_per_call = 16

    def load(self, cone: Cone) -> None:
        """Prepare the search of a cone."""
        scores, exponents, errors, above, higher = self.columns
        cones, mate_left, mate_right, matched, stage, _ = self.stack
        D = len(cone.scores)
        scores[:D], exponents[:D], errors[:D] = cone.scores, cone.exponents, cone.errors
        sizes, _, _, starts = self.samples
        for k in range(D):
            compare_classes(scores[k], errors[k], sizes, starts, above[k], higher[k], self.compare_room)
        cones[0], mate_left[0], mate_right[0] = np.arange(D), cone.mate_left, cone.mate_right
        matched[0], stage[0] = int(np.sum(cone.mate_left >= 0)), 0
        self.share = cone.share
        self.counters[:] = 0
        self.counters[kernels.BEST_LOSS] = NO_LOSS
        self.logs[1][:] = -1

    def visit(self, target: int, nodes: int) -> int:
        """Visit so many cones, and return the status."""
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
        """Visit as many cones as take a fraction of a second, but at most `nodes`, and return the status."""
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

    def split(self, cone: Cone, target: int) -> int:
        """Look at one cone: give it children, or find that it needs none; return the status."""
        self.load(cone)
        status = self.visit(target, 1)
        cone.log = [self.take_log()]
        if self.counters[kernels.DEPTH] <= 0 and self.stack[4][0] == 0:
            return PROVED if status == RUNNING else status
        if status == RUNNING:
            scores, exponents, errors, _, _ = self.columns
            _, mate_left, mate_right, _, _, edges = self.stack
            D, parts = len(cone.scores), []
            for place in (edges[0, 1], edges[0, 0]):
                order = np.arange(D)
                order[place] = D
                mates = mate_left[0].copy(), mate_right[0].copy()
                parts.append(Cone(scores[order], exponents[order], errors[order], *mates, share=cone.share / 2))
            cone.children = tuple(parts)
        return status


def _repeat(copies: np.ndarray) -> np.ndarray:
    """Return the index of the sample of each copy."""
    return np.repeat(np.arange(len(copies)), copies)


def count_threads() -> int:
    """Return how many threads to search with: one for each core, and one only in a worker process."""
    if multiprocessing.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ConeSearch:
    """The search for directions with fewer errors than a target.

    Parameters
    ----------
    problem : ConeProblem
        The samples.
    n_threads : int
        Number of threads.
    does_log : bool
        Whether to log what a certificate needs.
    accept : callable, optional
        Called with a direction that seems to misclassify fewer copies than the target, and the target; returns
        whether it has, which ends the search.
    max_cones : int
        How many cones to visit for a target, at most; each cone of the frontier has its share of them.

    Attributes
    ----------
    n_cones : int
        Cones that were visited for the last target.
    best_loss : int
        The fewest misclassified copies that a direction showed, which may be too few by rounding.
    """

    def __init__(
        self,
        problem: ConeProblem,
        n_threads: int = 1,
        does_log: bool = False,
        accept: Callable[[np.ndarray, int], bool] | None = None,
        max_cones: int = NO_LIMIT,
    ):
        self.problem, self.n_threads, self.does_log = problem, n_threads, does_log
        self.max_cones = max_cones
        self.n_cones, self._share_of_cones = 0, 0.0
        self.best_loss = int(NO_LOSS)
        self._accept = accept
        self.roots: list[Cone] = []
        self._spaces: list[ConeWorkspace] = []
        self._lock, self._stop = threading.Lock(), threading.Event()

    @property
    def share_done(self) -> float:
        """The share of the directions that are searched for the last target."""
        parts = [
            space.share * int(space.counters[kernels.DONE]) / 2.0**kernels.DONE_BITS for space in self._spaces
        ]
        return min(1.0, self._share_of_cones + sum(parts))

    def prove(self, target: int, should_stop: Callable[[], bool]) -> int:
        """Search all directions for one with fewer misclassified copies than a target.

        Parameters
        ----------
        target : int
            Misclassified copies.
        should_stop : callable
            Asked some times a second whether to give up.

        Returns
        -------
        int
            PROVED if there is none, REFUTED if there is one, TOO_DEEP if cones became too thin to tell or too
            many, RUNNING if it was stopped before.
        """
        self._stop.clear()
        self.n_cones, self._share_of_cones, self.best_loss = 0, 0.0, int(NO_LOSS)
        if not self._spaces:
            self._spaces.append(ConeWorkspace(self.problem, self.does_log))
        status, frontier = self._expand(target, should_stop)
        if status != PROVED or not frontier:
            return status
        while len(self._spaces) < self.n_threads:
            self._spaces.append(ConeWorkspace(self.problem, self.does_log))
        return self._search(frontier, target, should_stop)

    def _expand(self, target: int, should_stop: Callable[[], bool]) -> tuple[int, list[Cone]]:
        """Return the cones of the frontier: those that are left when there are enough of them."""
        scores, exponent, error = self.problem.compute_columns()
        count, D = scores.shape[0], scores.shape[0] - 1
        n_left = int(self.problem.copies[: self.problem.n_left].sum())
        n_right = int(self.problem.copies[self.problem.n_left :].sum())
        self.roots = []
        for left_out in range(count):
            chosen = [k for k in range(count) if k != left_out]
            mates = np.full(n_left, -1, np.int32), np.full(n_right, -1, np.int32)
            self.roots.append(
                Cone(scores[chosen], np.full(D, exponent), np.full(D, error), *mates, share=1.0 / count)
            )
        frontier, space = list(self.roots), self._spaces[0]
        while frontier and len(frontier) < FRONTIER_CONES:
            if should_stop():
                return RUNNING, frontier
            cone = frontier.pop(0)
            status = self._judge(space, space.split(cone, target), target)
            self._collect(space, cone, status)
            if status in (TOO_DEEP, REFUTED):
                return status, frontier
            frontier += cone.children
        return PROVED, frontier

    def _collect(self, space: ConeWorkspace, cone: Cone, status: int) -> None:
        """Take note of what a workspace found in a cone."""
        with self._lock:
            self.n_cones += int(space.counters[kernels.NODES])
            self.best_loss = min(self.best_loss, int(space.counters[kernels.BEST_LOSS]))
            if status == PROVED:
                self._share_of_cones += cone.share
            space.share = 0.0

    def _judge(self, space: ConeWorkspace, status: int, target: int) -> int:
        """Return the status after asking whether a direction has fewer errors than the target."""
        loss = int(space.counters[kernels.BEST_LOSS])
        if loss >= target or (status != REFUTED and loss >= self.best_loss):
            return status
        with self._lock:
            self.best_loss = min(self.best_loss, loss)
            if self._accept is None or self._accept(space.best.copy(), target):
                return REFUTED
        return TOO_DEEP if status == REFUTED else status  # it was rounding

    def _search(self, frontier: list[Cone], target: int, should_stop: Callable[[], bool]) -> int:
        waiting = list(reversed(frontier))

        def work(space: ConeWorkspace) -> int:
            while not self._stop.is_set():
                with self._lock:
                    if not waiting:
                        return PROVED
                    cone = waiting.pop()
                status = self._search_cone(space, cone, target)
                self._collect(space, cone, status)
                if status != PROVED:
                    return status
            return RUNNING

        with ThreadPoolExecutor(self.n_threads) as pool:
            running = {pool.submit(work, space) for space in self._spaces[: self.n_threads]}
            try:
                return self._await(running, should_stop)
            finally:
                self._stop.set()

    def _await(self, running: set[Future], should_stop: Callable[[], bool]) -> int:
        while running:
            done, running = wait(running, POLL_SECONDS, FIRST_COMPLETED)
            for future in done:
                if future.result() != PROVED:
                    return future.result()
            if running and should_stop():
                return RUNNING
        return PROVED

    def _search_cone(self, space: ConeWorkspace, cone: Cone, target: int) -> int:
        space.load(cone)
        cone.log, status = [], RUNNING
        limit = max(1, self.max_cones // FRONTIER_CONES)
        while status == RUNNING and not self._stop.is_set():
            left = limit - int(space.counters[kernels.NODES])
            if left <= 0:
                return TOO_DEEP
            status = self._judge(space, space.visit_for_a_while(target, left), target)
            if self.does_log:
                cone.log.append(space.take_log())
        return status
