"""The progress of a search: its clock, best weights and bound, its watcher, and the reported result."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import Problem, set_within
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.search.samples import find_exact_features, merge_equal_samples
from zoloss_cli.utils.processes import run_interruptibly

LOSS_TOLERANCE = 1e-9  # losses are sums of weights: those that differ by less are equal
REPORT_SECONDS = 0.25  # between two reports

Result = TypeVar("Result")

_watcher: ContextVar[Callable[[SearchProgress], None] | None] = ContextVar("watcher", default=None)


@dataclass
class SearchProgress:  # numpydoc ignore=PR02
    """The progress of a direct optimizer.

    Losses are in mean sample weights, so they are counts if all samples have the same weight.

    Parameters
    ----------
    name : str
        The learner's class, for messages.
    time_limit : float or None, default=None
        Seconds after which the search ends.
    lower_bound : float, default=0.0
        No weights have a smaller loss.
    bound_is_exact : bool, default=True
        Whether the bound is proved exactly, rather than up to rounding.
    exact_bounds_only : bool, default=False
        Whether to ignore bounds that are only right up to rounding.
    has_merged : bool, default=False
        Whether the bound includes the cost of equal samples with different classes.
    loss : float, default=inf
        The smallest loss so far.
    w : ndarray, default=empty
        The weights with this loss; empty before the first offer.
    trace : list of tuple of (float, float), default=[]
        Seconds and loss, whenever the loss fell.
    n_offers : int, default=0
        Number of weights offered by `offer_weights`.
    problem : Problem or None, default=None
        The problem on which `offer_weights` counts losses.
    seconds_to_bound : float, default=0.0
        Seconds until the bound reached its current value.
    note : str, default=''
        What the search is doing, for the progress line.

    Examples
    --------
    >>> import numpy as np
    >>> from zoloss_cli import SearchProgress
    >>> progress = SearchProgress("mine", time_limit=10.0)
    >>> progress.offer(12, np.array([0.0, 1.0])), progress.offer(15, np.array([0.5, 1.0]))
    (True, False)
    >>> progress.raise_bound(12)
    >>> progress.should_stop(), [loss for seconds, loss in progress.trace]
    (True, [12.0])
    """

    name: str
    time_limit: float | None = None
    lower_bound: float = 0.0
    bound_is_exact: bool = True
    exact_bounds_only: bool = False
    has_merged: bool = False
    loss: float = np.inf
    w: np.ndarray = field(default_factory=lambda: np.empty(0))
    trace: list[tuple[float, float]] = field(default_factory=list)
    n_offers: int = 0
    problem: Problem | None = None
    seconds_to_bound: float = 0.0
    note: str = ""
    _start_time: float = field(default_factory=time.perf_counter, init=False)
    _last_report: float = field(default=-np.inf, init=False)

    @property
    def seconds(self) -> float:
        """Return the seconds since the search began."""
        return time.perf_counter() - self._start_time

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds to the time limit, at least 0.1, as solvers require; None without a limit."""
        return None if self.time_limit is None else max(0.1, self.time_limit - self.seconds)

    @property
    def optimal(self) -> bool:
        """Whether the smallest loss so far attains the lower bound."""
        return self.loss <= self.lower_bound + LOSS_TOLERANCE

    def offer(self, loss: float, w: np.ndarray) -> bool:
        """Keep these weights if their loss is the smallest so far, and return whether it is.

        Parameters
        ----------
        loss : float
            The loss, in mean sample weights.
        w : ndarray of shape (1 + n_features,)
            Weights, bias first.

        Returns
        -------
        bool
            Whether they were kept.
        """
        if loss >= self.loss - LOSS_TOLERANCE:
            return False
        self.loss, self.w = float(loss), np.array(w)
        self.trace.append((self.seconds, self.loss))
        return True

    def offer_weights(self, w: np.ndarray) -> float:
        """Count the loss of weights on the problem, keep them if it is the smallest so far, and return it.

        Parameters
        ----------
        w : ndarray of shape (1 + n_features,)
            Weights, bias first. A zero margin is an error, and so is NaN.

        Returns
        -------
        float
            The loss, in mean sample weights.
        """
        assert self.problem is not None, "a search without a problem offers losses, not weights alone"
        self.n_offers += 1
        margins = self.problem.y * (self.problem.X @ w)
        loss = float(self.problem.unit_mean_weights[~(margins > 0.0)].sum())
        self.offer(loss, w)
        return loss

    def raise_bound(self, bound: float, exact: bool = True) -> None:
        """Record that no weights have a smaller loss than this, as proved or up to rounding.

        Parameters
        ----------
        bound : float
            The loss, in mean sample weights.
        exact : bool, default=True
            Whether it is proved exactly, rather than up to rounding.
        """
        if bound > self.lower_bound and (exact or not self.exact_bounds_only):
            self.lower_bound, self.bound_is_exact = float(bound), exact
            self.seconds_to_bound = self.seconds

    @contextlib.contextmanager
    def restrict_time(self, share: float) -> Iterator[None]:
        """Restrict the search to a share of the time left within a block, if there is a time limit.

        Parameters
        ----------
        share : float
            The share of the time left, between 0 and 1.

        Yields
        ------
        None
            Nothing.
        """
        limit = self.time_limit
        if limit is not None:
            self.time_limit = min(limit, self.seconds + share * max(0.0, limit - self.seconds))
        try:
            yield
        finally:
            self.time_limit = limit

    def should_stop(self) -> bool:
        """Return whether the optimum is known or time is up; report to the watcher when due.

        Returns
        -------
        bool
            Whether the search must end.
        """
        watcher = _watcher.get()
        if watcher is not None and self.seconds - self._last_report > REPORT_SECONDS:
            self._last_report = self.seconds
            watcher(self)
        return self.optimal or (self.time_limit is not None and self.seconds > self.time_limit)

    def __str__(self) -> str:
        gap = self.loss - self.lower_bound
        left = "" if self.time_limit is None else f", {max(0.0, self.time_limit - self.seconds):.0f} s left"
        note = f"; {self.note}" if self.note else ""
        return f"{self.name}: best {self.loss:g}, at least {self.lower_bound:g}, gap {gap:g}{left}{note}"


def report_searches_to(watcher: Callable[[SearchProgress], None]) -> AbstractContextManager[None]:
    """Call `watcher` with every search several times per second within a block."""
    return set_within(_watcher, watcher)


@contextlib.contextmanager
def progress_line() -> Iterator[None]:
    """Show the progress of searches in one line on the terminal, within a `with` block.

    The line has the smallest loss so far, the lower bound, the gap between them and the time left. It is
    written to standard error and removed at the end; if that is not a terminal, nothing is written.

    Yields
    ------
    None
        Nothing.

    Examples
    --------
    >>> from zoloss_cli import PivotClassifier, load_dataset, progress_line
    >>> X, y = load_dataset("heart")
    >>> with progress_line():
    ...     model = PivotClassifier(steps=1000, random_state=0).fit(X, y)
    """
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


@contextlib.contextmanager
def end_on_interrupt(search: SearchProgress) -> Iterator[None]:
    """End this block on Ctrl-C with a warning, as a time limit does."""
    try:
        yield
    except KeyboardInterrupt:
        message = f"{search.name}: interrupted after {search.seconds:.1f} s; the best so far is returned"
        warnings.warn(message, stacklevel=7)


def run_solver(search: SearchProgress, solve: Callable[[], Result]) -> Result:
    """Return the result of a solver, while the search reports progress and Ctrl-C ends the wait."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # cvxpy reports a timeout as "inaccurate"
        return run_interruptibly(solve, on_poll=search.should_stop)


def check_reported_result(learner: Any, errors: int, lenient_errors: int | None = None) -> None:
    """Raise ValueError if a trace or a bound contradicts the counted training errors.

    `lenient_errors` are the errors if a margin of 0 counts as correct; None if that makes no difference.
    """
    name = getattr(learner, "name", type(learner).__name__)
    bound = float(getattr(learner, "lower_bound_", 0.0))
    if not bound <= errors + LOSS_TOLERANCE:
        raise ValueError(f"{name}: lower_bound_ is {bound:g}, but it has {errors} training errors")
    trace = _read_trace(learner, name)
    fewest = errors if lenient_errors is None else lenient_errors
    if len(trace) and trace[-1, 1] < fewest - LOSS_TOLERANCE:
        raise ValueError(f"{name}: trace_ ends with {trace[-1, 1]:g} errors, but {fewest} are counted")


def _read_trace(learner: Any, name: str) -> np.ndarray:
    """Return a trace as an array of seconds and losses."""
    wrong = ValueError(
        f"{name}: trace_ must be a list of (seconds, loss), all finite, with rising seconds and falling losses"
    )
    try:
        trace = np.array(list(getattr(learner, "trace_", ())), dtype=float)
    except (TypeError, ValueError):
        raise wrong from None
    if not trace.size:
        return np.empty((0, 2))
    if trace.ndim != 2 or trace.shape[1] != 2 or not np.all(np.isfinite(trace)):
        raise wrong
    if np.any(trace < 0) or np.any(np.diff(trace[:, 0]) < 0) or np.any(np.diff(trace[:, 1]) > 0):
        raise wrong
    return trace


class SearchResultMixin(LinearLearner):
    """Mixin for linear learners that recounts the training errors and sets attributes about them."""

    reports: ClassVar[tuple[str, ...]] = ("lower_bound", "time_to_best")

    def _build_problem(self, X, y, sample_weight) -> Problem:
        problem = super()._build_problem(X, y, sample_weight)
        return replace(problem, exact=find_exact_features(X))

    def train(self, problem: Problem) -> None:
        """Fit, and set the attributes."""
        self._search = search = SearchProgress(type(self).__name__, getattr(self, "time_limit", None))
        super().train(problem)
        self.seconds_ = search.seconds
        del self._search
        weights = problem.unit_mean_weights
        wrong = find_strict_errors(self.scores(problem.X), problem.y)
        self.training_errors_ = int(wrong.sum())
        self.training_loss_ = float(problem.phi[wrong].sum())
        if not search.has_merged:  # equal samples with both labels give a bound at almost no cost
            keys = problem.X if problem.exact is None else problem.exact.keys
            search.raise_bound(merge_equal_samples(keys, problem.y, weights)[-1])
        loss = float(weights[wrong].sum())
        # Rounding may make a rule correct on samples that no rule separates: then its loss is the bound.
        self.lower_bound_, self.bound_is_exact_ = min(search.lower_bound, loss), search.bound_is_exact
        self.optimal_ = loss <= search.lower_bound + LOSS_TOLERANCE
        self.trace_ = search.trace or [(self.seconds_, loss)]
