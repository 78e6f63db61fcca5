"""The fewest errors over all hyperplanes through rows, degenerate or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from zoloss_cli.kernels.arrangement import sweep, sweep_prefixes
from zoloss_cli.kernels.line import line_scratch
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE

ON = 1e-8  # a row of length 1 with a smaller margin lies on the hyperplane
BLOCK = 2000  # lines between two looks at the clock


@dataclass
class HyperplaneEnumeration:
    """All hyperplanes through P-1 independent rows, those near the front of `order` first.

    Iterating gives (loss, w) for each that loses less than `best`, with w moved off its rows so that as
    many of them as possible are right; and (inf, None) between blocks of work, to look at the clock.
    Afterwards `least` is a bound: no w loses less. It equals the best loss unless something was passed
    over (`largest`, a limited `pool`) or could not be decided within rounding.

    `rank` gives the exact rank of some rows; without it floating point is trusted.
    """

    Y: np.ndarray
    c: np.ndarray
    best: float
    order: np.ndarray | None = None
    pool: int | None = None  # choose all but the last row among so many at the front
    largest: int = 2**62  # rows on a hyperplane beyond which it is passed over
    rank: Callable[[np.ndarray], int] | None = None
    lines: int = 0

    def __post_init__(self):
        n = len(self.Y)
        self.members = np.arange(n)
        self.least = 0.0
        self.pool = n if self.pool is None else min(self.pool, n)
        self.order = np.arange(n) if self.order is None else self.order
        self.known: dict[tuple, float] = {}
        self.on = np.empty(0, np.int64)  # the rows on the hyperplane that was found last

    @property
    def total(self) -> int:
        """How many lines there are to sweep."""
        return comb(self.pool, self.Y.shape[1] - 2)

    def __iter__(self) -> Iterator[tuple[float, np.ndarray | None]]:
        n, P = self.Y.shape
        whole = self.pool == n
        if P == 2:
            found = np.empty((2 * n, 3))
            f, g = np.ascontiguousarray(self.Y[:, 0]), np.ascontiguousarray(self.Y[:, 1])
            scratch = line_scratch(n)
            hits, _, passed, doubt, angle = sweep(f, g, self.c, 1, self.largest, self.best, scratch, found)
            toward = angle + np.arctan(found[:hits, 0])
            planes = found[:hits, 1:2] * np.column_stack([np.cos(toward), np.sin(toward)])
            whole &= not passed and not doubt
            self.lines = 1
            yield from self._tilted(planes, found[:hits, 2])
        else:
            prefix = np.arange(P - 2)
            planes, losses = np.empty((2 * n + 256, P)), np.empty(2 * n + 256)
            while prefix[0] >= 0:
                put, _, passed, swept, doubt = sweep_prefixes(
                    self.Y,
                    self.c,
                    self.order,
                    self.pool,
                    prefix,
                    BLOCK,
                    self.largest,
                    self.best,
                    planes,
                    losses,
                )
                self.lines += swept
                whole &= not passed and not doubt
                yield from self._tilted(planes[:put], losses[:put])
                yield np.inf, None
        self.least = min([self.best, *self.known.values()]) if whole else 0.0

    def _tilted(self, planes, losses) -> Iterator[tuple[float, np.ndarray]]:
        for at in np.argsort(losses, kind="stable"):
            if losses[at] >= self.best - LOSS_TOLERANCE:
                break
            loss, w = self._tilt(planes[at], losses[at])
            if w is not None and loss < self.best - LOSS_TOLERANCE:
                self.best, self.on = loss, np.flatnonzero(np.abs(self.Y @ planes[at]) < ON)
                yield loss, w

    def _tilt(self, w, off: float) -> tuple[float, np.ndarray | None]:
        """The least loss next to a hyperplane, and a w that has it."""
        margins = self.Y @ w
        on = np.flatnonzero(np.abs(margins) < ON)
        P = self.Y.shape[1]
        if len(on) == P - 1:
            return off, self._off(w, margins, on, np.linalg.lstsq(self.Y[on], np.ones(P - 1), rcond=None)[0])
        key = (*on, off)
        if key in self.known:
            return np.inf, None
        part = self.Y[on]
        basis = np.linalg.svd(part, full_matrices=False)[2][: P - 1]
        if self.rank is not None and self.rank(self.members[on]) != P - 1:
            self.known[key] = off  # several hyperplanes, too near to tell apart: all that is sure
            return np.inf, None
        inner = HyperplaneEnumeration(
            np.ascontiguousarray(part @ basis.T),
            self.c[on],
            self.best - off,
            largest=self.largest,
            rank=self.rank,
        )
        inner.members = self.members[on]
        loss, u = np.inf, None
        for found, direction in inner:
            if direction is not None:
                loss, u = found, direction
        self.known[key] = off + inner.least
        return (off + loss, self._off(w, margins, on, u @ basis)) if u is not None else (np.inf, None)

    def _off(self, w, margins, on, u) -> np.ndarray:
        """w moved along u half as far as the rows that it does not pass through can bear."""
        rates = self.Y @ u
        rest = np.ones(len(margins), bool)
        rest[on] = False
        closing = rest & (margins * rates < 0.0)
        longest = np.min(-margins[closing] / rates[closing], initial=1.0 / np.sqrt(u @ u))
        return w + 0.5 * longest * u
