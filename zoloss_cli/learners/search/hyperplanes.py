"""The fewest errors over all hyperplanes through samples, degenerate or not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb

import numpy as np

from zoloss_cli.kernels.arrangement import sweep_line, sweep_prefixes
from zoloss_cli.kernels.line_losses import allocate_line_scratch
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress
from zoloss_cli.learners.search.samples import MergedSamples, find_independent_columns

ON_TOLERANCE = 1e-8  # a sample of length 1 with a smaller margin lies on the hyperplane
LINES_PER_BLOCK = 2000  # between two checks of the clock
MAX_SWEPT_LINES = 1_000_000  # of hyperplanes: with more, none is swept for a proof
MAX_EXACT_STEPS = 3_000_000  # of an exact sweep, samples to the power of features: takes seconds
NO_LIMIT = 2**62


@dataclass
class HyperplaneEnumeration:  # numpydoc ignore=PR02
    """All hyperplanes through P-1 independent samples, starting with those near the front of `order`.

    Iterating yields (loss, w) for each hyperplane with a loss below `best`, with w moved off its samples so
    that as many of them as possible are classified correctly; and (inf, None) between blocks of work, for a
    check of the clock. Afterwards `lower_bound` holds: no w has a smaller loss. It equals the smallest loss
    unless something was skipped (`max_on`, a limited `pool`) or could not be decided within rounding.
    """

    Y: np.ndarray  # (n_samples, P): signed samples of length 1; w is correct on the i-th if <Y_i, w> > 0
    c: np.ndarray  # their weights
    best: float  # only smaller losses are of interest
    order: np.ndarray | None = None  # in which samples are combined
    pool: int | None = None  # all but the last sample of a combination are among this many first ones
    max_on: int = NO_LIMIT  # hyperplanes with more samples on them are skipped
    rank: Callable[[np.ndarray], int] | None = None  # exact rank of samples; without it, floating point decides
    n_swept: int = field(default=0, init=False)  # lines of hyperplanes
    lower_bound: float = field(default=0.0, init=False)

    def __post_init__(self):
        n = len(self.Y)
        self.members = np.arange(n)
        self._n_pool = n if self.pool is None else min(self.pool, n)
        self._order = np.arange(n) if self.order is None else self.order
        self._known_bounds: dict[tuple, float] = {}  # of degenerate hyperplanes
        self.on = np.empty(0, np.int64)  # the samples on the last hyperplane found

    @property
    def n_lines(self) -> int:
        """The number of lines of hyperplanes to sweep."""
        return comb(self._n_pool, self.Y.shape[1] - 2)

    def __iter__(self) -> Iterator[tuple[float, np.ndarray | None]]:
        sweeps = {1: self._try_both_sides, 2: self._sweep_plane}
        complete = yield from sweeps.get(self.Y.shape[1], self._sweep_lines)()
        if complete and self._n_pool == len(self.Y):
            self.lower_bound = min([self.best, *self._known_bounds.values()])

    def _try_both_sides(self):
        """Try both w of one axis, which has no sample but 0 on it; return True, since there are no others."""
        for w in (np.array([1.0]), np.array([-1.0])):
            loss = float(self.c[self.Y @ w <= 0.0].sum())
            if loss < self.best - LOSS_TOLERANCE:
                self.best = loss
                yield loss, w
        return True

    def _sweep_plane(self):
        """Sweep the only line of hyperplanes of two axes; return whether nothing was skipped."""
        n = len(self.Y)
        found = np.empty((2 * n, 3))
        f, g = np.ascontiguousarray(self.Y[:, 0]), np.ascontiguousarray(self.Y[:, 1])
        hits, _, passed, doubt, angle = sweep_line(
            f, g, self.c, 1, self.max_on, self.best, allocate_line_scratch(n), found
        )
        toward = angle + np.arctan(found[:hits, 0])
        planes = found[:hits, 1:2] * np.column_stack([np.cos(toward), np.sin(toward)])
        self.n_swept = 1
        yield from self._tilt_all(planes, found[:hits, 2])
        return not passed and not doubt

    def _sweep_lines(self):
        """Sweep all lines of hyperplanes, block by block; return whether nothing was skipped."""
        n, P = self.Y.shape
        complete, prefix = True, np.arange(P - 2)
        planes, losses = np.empty((2 * n + 256, P)), np.empty(2 * n + 256)
        while prefix[0] >= 0:
            lines = self.Y, self.c, self._order, self._n_pool, prefix, LINES_PER_BLOCK
            put, _, passed, swept, doubt = sweep_prefixes(*lines, self.max_on, self.best, planes, losses)
            self.n_swept += swept
            complete &= not passed and not doubt
            yield from self._tilt_all(planes[:put], losses[:put])
            yield np.inf, None
        return complete

    def _tilt_all(self, planes: np.ndarray, losses: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        for at in np.argsort(losses, kind="stable"):
            if losses[at] >= self.best - LOSS_TOLERANCE:
                break
            loss, w = self._tilt(planes[at], losses[at])
            if w is not None and loss < self.best - LOSS_TOLERANCE:
                self.best, self.on = loss, np.flatnonzero(np.abs(self.Y @ planes[at]) < ON_TOLERANCE)
                yield loss, w

    def _tilt(self, w: np.ndarray, off: float) -> tuple[float, np.ndarray | None]:
        """Return the smallest loss next to a hyperplane, and a w that attains it.

        `off` is the loss of the samples that are not on the hyperplane. If more samples than necessary are on
        it, the best tilt is a smaller problem of the same kind.
        """
        margins = self.Y @ w
        on = np.flatnonzero(np.abs(margins) < ON_TOLERANCE)
        P = self.Y.shape[1]
        if len(on) == P - 1:
            direction = np.linalg.lstsq(self.Y[on], np.ones(P - 1), rcond=None)[0]
            return off, self._move_off(w, margins, on, direction)
        key = (*on, off)
        if key in self._known_bounds:
            return np.inf, None
        if len(on) == 0:  # rounding moved the samples off it: their loss is unknown
            self._known_bounds[key] = off
            return np.inf, None
        part = self.Y[on]
        basis = np.linalg.svd(part, full_matrices=False)[2][: P - 1]
        if self.rank is not None and self.rank(self.members[on]) != P - 1:
            self._known_bounds[key] = off  # several hyperplanes, too close to distinguish: only this is certain
            return np.inf, None
        turned = np.ascontiguousarray(part @ basis.T)
        inner = HyperplaneEnumeration(turned, self.c[on], self.best - off, max_on=self.max_on, rank=self.rank)
        inner.members = self.members[on]
        loss, u = np.inf, None
        for found, found_u in inner:
            if found_u is not None:
                loss, u = found, found_u
        self._known_bounds[key] = off + inner.lower_bound
        return (off + loss, self._move_off(w, margins, on, u @ basis)) if u is not None else (np.inf, None)

    def _move_off(self, w: np.ndarray, margins: np.ndarray, on: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return w moved along u, half as far as the samples off the hyperplane allow."""
        rates = self.Y @ u
        rest = np.ones(len(margins), bool)
        rest[on] = False
        closing = rest & (margins * rates < 0.0)
        longest = np.min(-margins[closing] / rates[closing], initial=1.0 / np.sqrt(u @ u))
        return w + 0.5 * longest * u


def sweep_hyperplanes(samples: MergedSamples, integers: list[list[int]], search: SearchProgress) -> None:
    """Sweep all hyperplanes in floating point, if there are few enough, and offer the best weights.

    `integers` are the same samples as integers, for exact ranks.
    """
    unavoidable = samples.unavoidable_loss
    planes = HyperplaneEnumeration(
        samples.Y,
        samples.c,
        search.loss - unavoidable,
        samples.order_by_distance(search.w),
        rank=lambda members: len(find_independent_columns([integers[i] for i in members])),
    )
    if planes.n_lines > MAX_SWEPT_LINES:
        return
    for loss, w in planes:
        if w is not None:
            search.offer(unavoidable + loss, w)
        if search.should_stop():
            return


def can_sweep_exactly(integers: list[list[int]]) -> bool:
    """Return whether there are few enough samples and features for `sweep_exactly`, and to check it."""
    return bool(integers) and len(integers) ** max(1, len(integers[0]) - 1) <= MAX_EXACT_STEPS


def sweep_exactly(
    integers: list[list[int]], copies: list[int], should_stop: Callable[[], bool] = lambda: False
) -> int | None:
    """Return the fewest copies that any w misclassifies, by enumerating all hyperplanes in integers.

    The w with the same signs on all samples form a cone, which has a facet on the hyperplane of a sample.
    There, the other samples are a problem with one dimension less; the sample itself and its multiples are
    correct on one side of it. None if `should_stop` ended it.
    """
    return _sweep_vectors(_shrink(np.array(integers, dtype=object)), np.array(copies, np.int64), should_stop)


def _shrink(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of integers in 64 bits if the products of a sweep in two dimensions fit as well."""
    largest = max(int(vectors.max()), -int(vectors.min())) if len(vectors) else 0
    # In two dimensions, next comes a difference of two products; otherwise one for each dimension to remove.
    levels = vectors.shape[1] - 1
    fits = (largest.bit_length() + 1) * 2**levels < 62
    return vectors.astype(np.int64 if fits else object)


def _sweep_vectors(vectors: np.ndarray, copies: np.ndarray, should_stop: Callable[[], bool]) -> int | None:
    if not len(vectors):
        return 0
    if vectors.shape[1] == 2:
        return _sweep_angles(vectors, copies)
    best, done = int(copies.sum()), np.zeros(len(vectors), bool)
    for i in range(len(vectors)):
        if done[i]:
            continue
        if should_stop():
            return None
        normal = vectors[i]
        pivot = int(np.flatnonzero(normal)[0])
        factors = vectors[:, pivot]
        toward = factors if normal[pivot] > 0 else -factors
        images = np.delete(abs(normal[pivot]) * vectors - np.multiply.outer(toward, normal), pivot, axis=1)
        parallel = ~np.any(images != 0, axis=1)
        done |= parallel
        along = parallel & (toward > 0)
        here = min(int(copies[along].sum()), int(copies[parallel & ~along].sum()))
        if here < best:
            rest = _sweep_vectors(images[~parallel], copies[~parallel], should_stop)
            if rest is None:
                return None
            best = min(best, here + rest)
    return best


def _sweep_angles(vectors: np.ndarray, copies: np.ndarray) -> int:
    """Return the fewest copies in two dimensions, by one full rotation of w."""
    x, y = vectors.T
    side = np.where((x > 0) | ((x == 0) & (y > 0)), 1, -1)
    x, y = x * side, y * side
    order = _sort_by_slope(x, y)
    x, y, side, copies = x[order], y[order], side[order], copies[order]
    # Before w passes the first vector, it misclassifies all with side 1; those of equal slope change together.
    wrong = np.concatenate([[0], np.cumsum(-side * copies)]) + copies[side > 0].sum()
    is_last = np.concatenate([[True], x[:-1] * y[1:] != x[1:] * y[:-1], [True]])
    wrong = wrong[is_last]
    return int(min(wrong.min(), copies.sum() - wrong.max()))


def _sort_by_slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the order of the slopes y / x of vectors with x > 0, or x = 0 and y > 0, which come last."""
    finite = np.flatnonzero(x != 0)
    slopes = np.full(len(x), np.inf)
    with contextlib.suppress(OverflowError):  # integers of any size
        slopes[finite] = (y[finite] / x[finite]).astype(float)
    order = np.argsort(slopes, kind="stable")
    if np.all(x[order[:-1]] * y[order[1:]] >= x[order[1:]] * y[order[:-1]]):
        return order
    keys = [Fraction(int(b), int(a)) if a else Fraction(0) for a, b in zip(x, y, strict=True)]  # exact
    return np.array(sorted(range(len(x)), key=lambda k: (not x[k], keys[k])))
