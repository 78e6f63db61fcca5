"""The cone search for one target, on all cores: the same tree of cones for any number of threads."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from zoloss_cli.kernels import cone as kernels
from zoloss_cli.kernels.cone import PROVED, REFUTED, RUNNING, TOO_DEEP
from zoloss_cli.learners.search.cone_problem import ConeProblem
from zoloss_cli.learners.search.cone_workspace import NO_LOSS, Column, Cone, ConeWorkspace
from zoloss_cli.utils.interruptible import POLL_SECONDS

FRONTIER_CONES = 192  # into which the search is divided, for any number of threads
CONES_PER_PART = 16  # at least, if the search is divided into parts for several tasks
NO_LIMIT = 2**62


def count_threads() -> int:
    """Return the number of threads to search with: one per core, but only one in a worker process."""
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
        whether it does, which ends the search.
    max_cones : int
        Maximum number of cones to visit for a target.
    part, parts : int
        Which part of the frontier to search, and the number of parts; the frontier is the same for all.

    Attributes
    ----------
    n_cones : int
        Number of cones visited for the last target.
    best_loss : int
        The fewest misclassified copies seen for a direction, which rounding may make too few.
    splits_at_ties_only : bool
        Whether cones are split only where pairs tie, since they became too thin otherwise.
    """

    def __init__(
        self,
        problem: ConeProblem,
        n_threads: int = 1,
        does_log: bool = False,
        accept: Callable[[np.ndarray, int], bool] | None = None,
        max_cones: int = NO_LIMIT,
        part: int = 0,
        parts: int = 1,
    ):
        self.problem, self.n_threads, self.does_log = problem, n_threads, does_log
        self.max_cones, self.part, self.parts = max_cones, part, parts
        self.n_cones, self._share_of_cones = 0, 0.0
        self.best_loss = int(NO_LOSS)
        self._accept = accept
        self.splits_at_ties_only = False
        self.roots: list[Cone] = []
        self._columns: list[Column] = []  # of the first cones
        self._spaces: list[ConeWorkspace] = []
        self._lock, self._stop = threading.Lock(), threading.Event()

    @property
    def share_done(self) -> float:
        """The share of the directions searched for the last target."""
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
            Called several times per second to ask whether to give up.

        Returns
        -------
        int
            PROVED if there is none, REFUTED if there is one, TOO_DEEP if there are too many cones or they are
            too thin, RUNNING if it was stopped early.
        """
        self.n_cones = 0
        status = self._prove_once(target, should_stop)
        is_thin = status == TOO_DEEP and self.n_cones < self.max_cones
        if is_thin and self._columns[0].error == 0.0 and not self.splits_at_ties_only and self.parts == 1:
            self.splits_at_ties_only = True  # from now on; parts must share one frontier, and keep to it
            status = self._prove_once(target, should_stop)
        return status

    def _prove_once(self, target: int, should_stop: Callable[[], bool]) -> int:
        self._stop.clear()
        self._share_of_cones, self.best_loss = 0.0, int(NO_LOSS)
        if not self._spaces:
            self._spaces.append(ConeWorkspace(self.problem, self.does_log))
        status, frontier = self._expand(target, should_stop)
        if status != PROVED or not frontier:
            return status
        frontier = self._select_part(frontier)
        while len(self._spaces) < self.n_threads:
            self._spaces.append(ConeWorkspace(self.problem, self.does_log))
        status = self._search(frontier, target, should_stop)
        # Several threads may together exceed the limit at which a single one would have stopped.
        return TOO_DEEP if status == PROVED and self.n_cones > self.max_cones else status

    @property
    def n_frontier(self) -> int:
        """How many cones the search is divided into: several per part, since their costs differ."""
        return max(FRONTIER_CONES, CONES_PER_PART * self.parts * (self.parts > 1))

    def _select_part(self, frontier: list[Cone]) -> list[Cone]:
        """Return the cones of the part to search."""
        if self.parts == 1:
            return frontier
        chosen = frontier[self.part :: self.parts]
        self._share_of_cones = 1.0 - sum(cone.share for cone in chosen)  # others search the rest
        return chosen

    def _expand(self, target: int, should_stop: Callable[[], bool]) -> tuple[int, list[Cone]]:
        """Return the cones of the frontier: those that are left when there are enough of them."""
        if not self._columns:
            scores, exponent, error = self.problem.compute_columns()
            self._columns = [Column(column, exponent, error) for column in scores]
        n_left = int(self.problem.copies[: self.problem.n_left].sum())
        n_right = int(self.problem.copies[self.problem.n_left :].sum())
        mates = np.full(n_left, -1, np.int32), np.full(n_right, -1, np.int32)
        first = self.problem.list_first_cones()
        self.roots = [Cone([self._columns[k] for k in cone], *mates, share=1.0 / len(first)) for cone in first]
        frontier, space = deque(self.roots), self._spaces[0]
        looks = len(frontier)  # left to the first cones
        while frontier and (looks > 0 or len(frontier) < self.n_frontier):
            if should_stop():
                return RUNNING, []
            looks -= 1
            cone = frontier.popleft()
            status = self._judge(space, space.split(cone, target, self.splits_at_ties_only), target)
            self._collect(space, cone, status)
            if status in (TOO_DEEP, REFUTED):
                return status, []
            frontier += cone.children
        # Cones with the fewest pairs take longest and come first, so that threads finish together.
        return PROVED, sorted(frontier, key=lambda cone: int(np.count_nonzero(cone.mate_left >= 0)))

    def _collect(self, space: ConeWorkspace, cone: Cone, status: int) -> None:
        """Record what a workspace found in a cone."""
        with self._lock:
            self.n_cones += int(space.counters[kernels.NODES])
            self.best_loss = min(self.best_loss, int(space.counters[kernels.BEST_LOSS]))
            if status == PROVED:
                self._share_of_cones += cone.share
            space.share = 0.0
            space.counters[kernels.NODES] = 0

    def _count_cones(self) -> int:
        """Return the number of cones visited for this target so far, by all threads."""
        with self._lock:
            return self.n_cones + sum(int(space.counters[kernels.NODES]) for space in self._spaces)

    def _judge(self, space: ConeWorkspace, status: int, target: int) -> int:
        """Return the status after checking whether a direction really has fewer errors than the target."""
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
        space.load(cone, self.splits_at_ties_only)
        cone.log, status = [], RUNNING
        while status == RUNNING and not self._stop.is_set():
            left = self.max_cones - self._count_cones()
            if left <= 0:
                return TOO_DEEP
            status = self._judge(space, space.visit_for_a_while(target, left), target)
            if self.does_log:
                cone.log.append(space.take_log())
        return status
