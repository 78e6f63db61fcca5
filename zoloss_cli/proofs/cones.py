"""The cone search: the samples as integers, a cone to search, and the search for one target on all cores."""

from __future__ import annotations

import math
import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from zoloss_cli.kernels import cone as kernels
from zoloss_cli.kernels.cone import PROVED, REFUTED, RUNNING, TOO_DEEP, visit_cones
from zoloss_cli.kernels.cone_split import (
    COMMON_TIES,
    DIGITS,
    FEW_TIES,
    FRACTION_BITS,
    MAX_SAMPLES,
    ONLY_TIES,
    ROUNDING,
    compare_classes,
)
from zoloss_cli.learners.search.samples import find_independent_columns
from zoloss_cli.utils.processes import POLL_SECONDS

MAX_COPIES = 10_000  # of weight, in both classes
MAX_DENOMINATOR = 1000  # of a weight as a fraction of the lightest one
TIE_SEED, TIE_PAIRS = 5, 4000  # pairs whose differences are compared
COMMON_SHARE = 0.05  # more pairs than this share a difference with others: ties are common
WEIGHT_TOLERANCE = 1e-12  # of a weight: how far normalizing may move a multiple


@dataclass(frozen=True)
class ConeProblem:
    """Samples of two classes in the form that the kernels of the cone search take.

    The lighter class is on the left. A direction that ranks it below the other is the opposite of one that
    ranks it above, and the search covers all directions, so it does not matter which class is on the left.
    """

    members: np.ndarray  # indices of the merged samples, those on the left first
    n_left: int
    features: list[int]  # those that are used: all others depend on them
    vectors: list[list[int]]  # the samples in these features, shifted
    copies: np.ndarray  # integer weights
    copy_weight: float  # of one copy, in mean sample weights
    vertices: list[list[int]]  # D independent directions: the cones for all choices of signs cover the space
    is_left_positive: bool  # whether the left has the class +1
    has_ties: bool  # whether many pairs of samples differ by the same vector, up to length

    @property
    def n_features(self) -> int:
        """The number D of features used."""
        return len(self.features)

    def list_first_cones(self) -> list[list[int]]:
        """Return the cones that cover all directions, each as D column numbers of `compute_columns`."""
        D = self.n_features
        return [[k + D * sign for k, sign in enumerate(signs)] for signs in product((0, 1), repeat=D)]

    def compute_columns(self) -> tuple[np.ndarray, int, float]:
        """Return (scores, exponent, maximum error of a score) at the vertices and then at their opposites.

        Scores are 2 D x (n + D), those of the integers times 2^-exponent, between -1 and 1 for samples.
        """
        whole = [[sum(map(int.__mul__, x, v)) for x in self.vectors] + v for v in self.vertices]
        whole += [[-value for value in column] for column in whole]
        n = len(self.vectors)
        largest = max(1, *(abs(s) for row in whole for s in row[:n]))
        exponent = (largest - 1).bit_length()
        is_exact = all(abs(s) < 1 << FRACTION_BITS for row in whole for s in row)
        scores = np.array([[s / (1 << exponent) for s in row] for row in whole])
        return scores, exponent, 0.0 if is_exact else ROUNDING


def find_copies(c: np.ndarray, most: int = MAX_COPIES) -> tuple[np.ndarray, float] | None:
    """Return weights as numbers of copies, and the weight of a copy; None if they have no common measure."""
    lightest = float(c.min())
    ratios = [Fraction(float(w) / lightest).limit_denominator(MAX_DENOMINATOR) for w in c]
    common = math.lcm(*{r.denominator for r in ratios})
    copies = [int(r * common) for r in ratios]
    if sum(copies) > most:
        return None
    copy_weight = lightest / common
    if not np.allclose(np.array(copies, float) * copy_weight, c, rtol=WEIGHT_TOLERANCE, atol=0.0):
        return None
    return np.array(copies, np.int64), copy_weight


def build_cone_problem(integers: list[list[int]], c: np.ndarray) -> ConeProblem | None:
    """Return the problem of the cone search for signed samples, all different, with weights c.

    A signed sample is the sign, and the sign times each feature. There is no problem, None, if the samples are
    of one class, in one place, or too many, or if their weights are not multiples of a common one.
    """
    if not integers:
        return None
    signs = np.array([row[0] for row in integers])
    found = find_copies(c)
    if found is None:
        return None
    copies, copy_weight = found
    positive, negative = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    if not len(positive) or not len(negative) or max(len(positive), len(negative)) > MAX_SAMPLES:
        return None
    is_left_positive = copies[positive].sum() <= copies[negative].sum()
    left, right = (positive, negative) if is_left_positive else (negative, positive)
    members = np.concatenate([left, right])
    rows = [[integers[i][0] * value for value in integers[i][1:]] for i in members]
    middle = [sorted(column)[len(column) // 2] for column in zip(*rows, strict=True)]
    rows = [[value - m for value, m in zip(row, middle, strict=True)] for row in rows]
    features = find_independent_columns([[1, *row] for row in rows])
    features = [j - 1 for j in features if j > 0]
    if not features:
        return None
    vectors = [[row[j] for j in features] for row in rows]
    return ConeProblem(
        members,
        len(left),
        features,
        vectors,
        copies[members],
        copy_weight,
        _choose_axes(vectors),
        bool(is_left_positive),
        _have_common_differences(vectors, len(left)),
    )


def _have_common_differences(vectors: list[list[int]], n_left: int) -> bool:
    """Return whether pairs of samples tie in the same directions, judging by some of the pairs."""
    rng = np.random.default_rng(TIE_SEED)
    lefts = rng.integers(0, n_left, TIE_PAIRS).tolist()
    rights = rng.integers(n_left, len(vectors), TIE_PAIRS).tolist()
    counts: dict[tuple[int, ...], int] = {}
    for i, j in set(zip(lefts, rights, strict=True)):
        difference = [a - b for a, b in zip(vectors[i], vectors[j], strict=True)]
        divisor = math.gcd(*difference) or 1
        if next(d for d in difference if d) < 0:  # samples in one place are merged
            divisor = -divisor
        key = tuple(d // divisor for d in difference)
        counts[key] = counts.get(key, 0) + 1
    return sum(count for count in counts.values() if count > 1) > COMMON_SHARE * sum(counts.values())


def _choose_axes(vectors: list[list[int]]) -> list[list[int]]:
    """Return the axes of the features, as long as their values are dense, up to a power of two.

    A cone of axes with signs is an orthant: the samples that conflict in it are those ordered in every feature.
    On axes, samples with few values tie, and numbers stay small.
    """
    columns = list(zip(*vectors, strict=True))
    sizes = [max(map(abs, column)) for column in columns]
    spreads = [float(np.std([v / s for v in column])) for column, s in zip(columns, sizes, strict=True)]
    # Of the sizes, logarithms: integers may be larger than any floating-point number.
    logs = [math.log2(spread) + math.log2(size) for spread, size in zip(spreads, sizes, strict=True)]
    exponents = [max(0, round(max(logs) - log)) for log in logs]
    return [[(1 << exponents[k]) if j == k else 0 for j in range(len(sizes))] for k in range(len(sizes))]


MAX_DEPTH = 400  # of the tree below a frontier cone
MAX_STACK_BYTES = 400_000_000  # per thread: less depth with many samples
SECONDS_PER_CALL = 0.05  # of a kernel, between two checks of the clock
LOG_ENTRIES = 1_000_000
NO_LOSS = np.iinfo(np.int64).max


class Column(NamedTuple):
    """The scores of all samples in one direction, as in `kernels.cone_split`."""

    scores: np.ndarray
    exponent: int
    error: float


@dataclass
class Cone:
    """A cone of the frontier or above it."""

    columns: list[Column]  # of its vertices
    mate_left: np.ndarray  # a matching of conflicting pairs
    mate_right: np.ndarray
    share: float  # of all directions that it accounts for
    log: list[np.ndarray] = field(default_factory=list)  # of its split, or of the search below it
    children: tuple[Cone, ...] = ()


class ConeWorkspace:
    """The arrays that one thread uses for the search, in the shapes that `kernels.cone` describes."""

    def __init__(self, problem: ConeProblem, does_log: bool):
        D, n = problem.n_features, len(problem.vectors)
        left, right = problem.copies[: problem.n_left], problem.copies[problem.n_left :]
        words = -(-int(right.sum()) // 64)  # with a bit for each copy on the right
        row = problem.n_left * words
        n_left, n_right = int(left.sum()), int(right.sum())  # copies
        bytes_per_level = 16 * row + 8 * (n + D) + 8 * (n_left + n_right)
        levels = max(8, min(MAX_DEPTH, MAX_STACK_BYTES // bytes_per_level))
        self._ties = COMMON_TIES if problem.has_ties else FEW_TIES
        sizes = (np.int64(problem.n_left), np.int64(n - problem.n_left), np.int64(words), np.int64(self._ties))
        copies = np.repeat(np.arange(len(left)), left), np.repeat(np.arange(len(right)), right)
        self.samples = (sizes, *copies)
        self.columns = (
            np.empty((D + levels, n + D)),
            np.zeros(D + levels, np.int64),
            np.zeros(D + levels),
            np.empty((D + levels, row), np.uint64),
            np.empty((D + levels, row), np.uint64),
        )
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
            np.zeros(n_right + 1, np.int64),
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
        """Prepare the search of a cone, optionally splitting only at ties."""
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
        state = self.samples, self.columns, self.stack, self.counters, self.logs, self.best
        return int(visit_cones(*state, np.int64(target), np.int64(nodes), self.room))

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
                parts.append(Cone(columns, mate_left[0].copy(), mate_right[0].copy(), cone.share / 2))
            cone.children = tuple(parts)
        return status


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

    `does_log` keeps what a certificate needs. `accept` is called with a direction that seems to misclassify
    fewer copies than the target, and the target; it returns whether it does, which ends the search.
    """

    def __init__(
        self,
        problem: ConeProblem,
        n_threads: int = 1,
        does_log: bool = False,
        accept: Callable[[np.ndarray, int], bool] | None = None,
    ):
        self.problem, self.n_threads, self.does_log = problem, n_threads, does_log
        self.max_cones = NO_LIMIT  # for one target
        self.part, self.parts = 0, 1  # of the frontier, which is the same for all parts
        self.n_cones, self._share_of_cones = 0, 0.0  # visited for the last target
        self.best_loss = int(NO_LOSS)  # in copies: the smallest seen, which rounding may make too small
        self._accept = accept
        self.splits_at_ties_only = False  # set once cones became too thin with other splits
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
        """Search all directions for one with fewer misclassified copies than a target; return the status.

        PROVED: there is none. REFUTED: there is one. TOO_DEEP: cones are too many or too thin. RUNNING: it was
        stopped early; `should_stop` is called several times per second.
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
        if self.parts > 1:
            frontier = frontier[self.part :: self.parts]
            self._share_of_cones = 1.0 - sum(cone.share for cone in frontier)  # other tasks search the rest
        while len(self._spaces) < self.n_threads:
            self._spaces.append(ConeWorkspace(self.problem, self.does_log))
        status = self._search(frontier, target, should_stop)
        # Several threads may together exceed the limit at which a single one would have stopped.
        return TOO_DEEP if status == PROVED and self.n_cones > self.max_cones else status

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
        # Several cones per part, since their costs differ.
        enough = FRONTIER_CONES if self.parts == 1 else max(FRONTIER_CONES, CONES_PER_PART * self.parts)
        while frontier and (looks > 0 or len(frontier) < enough):
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

    def _judge(self, space: ConeWorkspace, status: int, target: int) -> int:
        """Return the status after checking whether a direction really has fewer errors than the target."""
        loss = int(space.counters[kernels.BEST_LOSS])
        if loss >= target or (status != REFUTED and loss >= self.best_loss):
            return status
        with self._lock:
            self.best_loss = min(self.best_loss, loss)
            if self._accept is None or self._accept(space.best.copy(), target):
                return REFUTED
        return TOO_DEEP if status == REFUTED else status  # due to rounding

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
                while running:
                    done, running = wait(running, POLL_SECONDS, FIRST_COMPLETED)
                    for future in done:
                        if future.result() != PROVED:
                            return future.result()
                    if running and should_stop():
                        return RUNNING
                return PROVED
            finally:
                self._stop.set()

    def _search_cone(self, space: ConeWorkspace, cone: Cone, target: int) -> int:
        space.load(cone, self.splits_at_ties_only)
        cone.log, status = [], RUNNING
        while status == RUNNING and not self._stop.is_set():
            with self._lock:  # cones visited by all threads, also those not collected yet
                visited = self.n_cones + sum(int(each.counters[kernels.NODES]) for each in self._spaces)
            left = self.max_cones - visited
            if left <= 0:
                return TOO_DEEP
            status = self._judge(space, space.visit_for_a_while(target, left), target)
            if self.does_log:
                cone.log.append(space.take_log())
        return status
