"""How far a search has come: its clock, its best weights so far, its bound, and who watches it."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from zoloss_cli.utils.interruptible import run_interruptibly

LOSS_TOLERANCE = 1e-9  # losses are sums of weights: what differs by less is equal
REPORT_SECONDS = 0.25  # seconds

Result = TypeVar("Result")

_watcher: ContextVar[Callable[[SearchProgress], None] | None] = ContextVar("watcher", default=None)


@dataclass
class SearchProgress:
    """A run of a direct optimizer. Losses are in mean sample weights: counts where all weigh the same."""

    name: str
    time_limit: float | None = None
    lower_bound: float = 0.0
    bound_is_exact: bool = True  # whether the bound is proved, or right up to rounding
    exact_bounds_only: bool = False  # whether bounds up to rounding count
    loss: float = np.inf
    w: np.ndarray | None = None
    trace: list[tuple[float, float]] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    reported: float = -np.inf

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def optimal(self) -> bool:
        return self.loss <= self.lower_bound + LOSS_TOLERANCE

    def offer(self, loss: float, w: np.ndarray) -> bool:
        """Keep these weights if they are better than all before."""
        if loss >= self.loss - LOSS_TOLERANCE:
            return False
        self.loss, self.w = float(loss), np.array(w)
        self.trace.append((self.seconds, self.loss))
        return True

    def raise_bound(self, bound: float, exact: bool = True) -> None:
        """No weights whatever lose less than this, proved or up to rounding."""
        if bound > self.lower_bound and (exact or not self.exact_bounds_only):
            self.lower_bound, self.bound_is_exact = float(bound), exact

    def is_out_of_time(self) -> bool:
        return self.time_limit is not None and self.seconds > self.time_limit

    def should_stop(self) -> bool:
        """Whether to stop: the best is known to be the best, or time is up. Tells whoever watches."""
        watcher = _watcher.get()
        if watcher is not None and self.seconds - self.reported > REPORT_SECONDS:
            self.reported = self.seconds
            watcher(self)
        return self.optimal or self.is_out_of_time()

    def __str__(self) -> str:
        gap = self.loss - self.lower_bound
        left = "" if self.time_limit is None else f", {max(0.0, self.time_limit - self.seconds):.0f} s left"
        return f"{self.name}: best {self.loss:g}, at least {self.lower_bound:g}, gap {gap:g}{left}"


@contextlib.contextmanager
def report_searches_to(watcher: Callable[[SearchProgress], None]) -> Iterator[None]:
    """Within this block every search reports to `watcher`, a few times a second."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextlib.contextmanager
def progress_line() -> Iterator[None]:
    """Within this block searches show best loss, bound, gap and time left in one line of a terminal."""
    if not sys.stderr.isatty():
        yield
        return

    def show(search: SearchProgress) -> None:
        sys.stderr.write(f"\r\x1b[K{search}")
        sys.stderr.flush()

    with report_searches_to(show):
        try:
            yield
        finally:
            sys.stderr.write("\r\x1b[K")


def run_solver(search: SearchProgress, solve: Callable[[], Result]) -> Result:
    """Return what a solver returns; it sees no clock of ours, so the search reports and Ctrl-C ends the wait."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "inaccurate" is how cvxpy says: out of time
        return run_interruptibly(solve, on_poll=search.should_stop)
