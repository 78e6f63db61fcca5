"""Base classes of the learners that minimize the 0/1 loss directly, and the tree that two of them search."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import branch
from zoloss_cli.learners.base import NeededPackage, Problem, set_within
from zoloss_cli.learners.linear.surrogates import compute_liblinear_start
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.search.progress import SearchProgress, SearchResultMixin, end_on_interrupt
from zoloss_cli.learners.search.samples import MergedSamples, build_merged_samples, move_off_samples

START_LOSSES: dict[str, Literal["squared-hinge", "logistic"]] = {"lr": "logistic", "svm": "squared-hinge"}

# Under a time limit: the share of it for the start, and how many numbers per second LIBLINEAR reads for all C.
START_SHARE, VALUES_PER_SECOND, MIN_START_SAMPLES = 0.2, 200_000, 1_000

TimeLimit = Annotated[
    float | None, Field(gt=0, description="seconds after which the search ends with the best weights so far")
]
Start = Annotated[
    Literal["lr", "svm", "zero", "fld"] | list[float],
    Field(
        description="weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', "
        "'zero', those of Fisher's linear discriminant 'fld', or a list (bias first)"
    ),
]


_starts: ContextVar[dict | None] = ContextVar("starts", default=None)


def share_starts() -> AbstractContextManager[None]:
    """Cache LIBLINEAR's start for the same data within a block: it takes most of SLA's time.

    Elsewhere it is computed each time, since the seconds of a learner include its start.
    """
    return set_within(_starts, {})


class DirectOptimizer(SearchResultMixin, LinearLearner):
    """A linear learner that minimizes the 0-1 loss directly, and can start from LIBLINEAR's best weights."""

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return LIBLINEAR's package if the search starts from its weights."""
        seeding = getattr(self, "seeding", "lr")
        if not isinstance(seeding, str) or seeding not in START_LOSSES:
            return []
        # A single fit would work without it, but not reproduce the results that runs store.
        return [NeededPackage("liblinear", f"for its start '{seeding}'", "set its parameter seeding to fld")]

    def _compute_start(self, problem: Problem) -> np.ndarray:
        seeding = getattr(self, "seeding", "lr")
        if not isinstance(seeding, str) or seeding not in START_LOSSES:
            return super()._compute_start(problem)
        known, problem = _starts.get(), _thin_out(problem, getattr(self, "time_limit", None))
        if known is None:
            return compute_liblinear_start(START_LOSSES[seeding], problem)
        key = (seeding, problem.X.tobytes(), problem.y.tobytes())
        if key not in known:
            known[key] = compute_liblinear_start(START_LOSSES[seeding], problem)
        return known[key].copy()


def _thin_out(problem: Problem, time_limit: float | None) -> Problem:
    """Return an evenly spaced subsample that LIBLINEAR can fit in its share of a time limit."""
    if time_limit is None:
        return problem
    n, size = problem.X.shape
    most = max(MIN_START_SAMPLES, int(START_SHARE * time_limit * VALUES_PER_SECOND / size))
    if n <= most:
        return problem
    rows = np.linspace(0, n - 1, most).astype(int)
    if np.ptp(problem.y[rows]) == 0.0:  # only one class
        return problem
    return Problem(problem.X[rows], problem.y[rows], problem.phi[rows] / problem.phi[rows].sum(), problem.rng)


class VertexSearch(DirectOptimizer):
    """A direct optimizer that works on merged samples of full rank, under a time limit.

    Subclasses implement `_explore`. Ctrl-C ends the search in the same way as its time limit: the best weights
    so far are the result.
    """

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the best weights that the search finds, moved off all samples."""
        samples = build_merged_samples(problem)
        search, unavoidable = self._search, samples.unavoidable_loss
        search.raise_bound(unavoidable)
        search.has_merged = True
        if len(samples.Y) == 0:  # both classes weigh the same in every place
            search.offer(unavoidable, np.eye(len(start))[0])
            return move_off_samples(problem.X, search.w, problem.rng)
        w = samples.axes @ start
        search.offer(samples.compute_loss(w), w)
        with end_on_interrupt(search):
            if len(samples.Y) == samples.Y.shape[1]:  # as many independent samples as weights
                search.offer(unavoidable, np.linalg.solve(samples.Y, np.ones(len(samples.Y))))
            elif samples.Y.shape[1] == 1:
                for sign in (1.0, -1.0):  # samples so close that rounding leaves one axis: this proves nothing
                    search.offer(samples.compute_loss(np.array([sign])), np.array([sign]))
                self._prove(problem, samples, search)
            else:
                self._explore(problem, samples, search)
        if samples.Y is problem.X:
            problem.X[:, 0], problem.X[:, 1:] = 1.0, problem.features
        return move_off_samples(problem.X, search.w @ samples.axes, problem.rng)

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        """Offer weights to the search, which has the start, until it should stop or nothing is left to try."""
        raise TypeError(f"{type(self).__name__} does not implement _explore")

    def _prove(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        """Raise the lower bound of the search; by default, do nothing."""


class BranchAndBoundTree:
    """A resumable depth-first search over which samples are classified correctly.

    Samples far from the hyperplane of w are decided first, and first as w classifies them. With `propagate`,
    samples inside the convex hulls of both sides are assigned.
    """

    def __init__(self, samples: MergedSamples, w: np.ndarray, propagate: bool):
        self.samples = samples
        n, P = samples.Y.shape
        Z = np.ascontiguousarray(samples.Y * samples.t[:, None])
        order = samples.order_by_distance(w)[::-1].copy()
        first_classes = np.where(Z @ w > 0.0, 1, -1).astype(np.int8)
        self.problem = (Z, samples.t.astype(np.int8), samples.c, order, first_classes)
        decided = np.zeros(n + 1, np.int64)
        decided[0] = order[0]
        counts = [np.zeros(n + 1, np.int64) for _ in range(4)]
        tree = (np.zeros(n, np.int8), counts[0], decided, *counts[1:], np.zeros(n + 1))
        hulls = (np.zeros((2, n + 1), np.int64), np.zeros(2, np.int64))
        keepers = (np.zeros((2, n, P)), np.zeros((2, n), np.bool_)) if propagate else None
        shape = (branch.MAX_IMPOSSIBLE_SETS, P + 2)
        impossible = (
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int8),
            np.zeros(branch.MAX_IMPOSSIBLE_SETS, np.int64),
        )
        self.numbers = np.zeros(7, np.int64)
        self.state = (tree, hulls, keepers, impossible, self.numbers)
        self.w = np.zeros(P)
        self.is_exhausted = False

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes visited so far."""
        return int(self.numbers[branch.NODES])

    def visit(self, nodes: int, search: SearchProgress) -> bool:
        """Continue for this many nodes or up to a better leaf, and return whether one was found.

        A better leaf is offered to the search. When no node is left, `is_exhausted` becomes true, and the
        loss of the search is its lower bound up to rounding.
        """
        best = search.loss - self.samples.unavoidable_loss
        found, self.is_exhausted = branch.visit_nodes(*self.problem, *self.state, nodes, best, self.w)
        if self.is_exhausted:
            search.raise_bound(search.loss, exact=False)
        return found < best and search.offer(self.samples.compute_loss(self.w), self.w)


class SearchLearner(DirectOptimizer):  # numpydoc ignore=PR02
    """A linear classifier that searches for the weights with the smallest 0/1 loss.

    Subclasses implement `search`, which offers weights to its argument `progress`. Their losses are counted
    there, the best weights are the result, and the trace of losses against seconds is kept. A subclass may have
    the parameters `time_limit` (seconds), `seeding` ('zero', 'fld', 'lr', 'svm' or a list of weights) and
    `random_state`, which then have their usual meaning. Ctrl-C ends a search in the same way as its time
    limit.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result. A subclass without random draws takes
        no such parameter.

    Attributes
    ----------
    training_errors_ : int
        Training errors, recounted from the returned weights; a zero margin is an error.
    lower_bound_ : float
        No linear rule has a smaller loss, in mean sample weights (a count if all weights are equal).
    seconds_ : float
        Duration of the fit, including the computation of `start`.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.

    See Also
    --------
    SearchProgress : The clock, the best weights so far and the bound.
    check_learner : Tests that every learner must pass.

    Examples
    --------
    >>> from zoloss_cli import SearchLearner, load_dataset
    >>> class RandomSearch(SearchLearner):
    ...     "Random directions."
    ...     def __init__(self, random_state=None):
    ...         self.random_state = random_state
    ...     def search(self, problem, start, progress):
    ...         while progress.n_offers < 200 and not progress.should_stop():
    ...             progress.offer_weights(problem.rng.standard_normal(start.size))
    >>> model = RandomSearch(random_state=0).fit(*load_dataset("heart"))
    >>> model.trace_[-1][1] == model.training_errors_ >= model.lower_bound_
    True
    """

    seeding: str | list[float] = "zero"  # unless a subclass has a parameter of this name

    @abstractmethod
    def search(self, problem: Problem, start: np.ndarray, progress: SearchProgress) -> None:
        """Offer weights until the search should stop, or nothing is left to try.

        Parameters
        ----------
        problem : Problem
            ``X`` of shape (n_samples, 1 + n_features), whose first column is 1; labels ``y`` of -1.0 and +1.0;
            sample weights ``phi``, which sum to 1; and the random generator ``rng``.
        start : ndarray of shape (1 + n_features,)
            Weights to start from, bias first, which have already been offered.
        progress : SearchProgress
            Takes weights through `offer_weights` and bounds through `raise_bound`; `should_stop` returns
            whether to end.
        """

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the best weights offered."""
        progress = self._search
        progress.problem = problem
        progress.offer_weights(start)
        with end_on_interrupt(progress):
            self.search(problem, start.copy(), progress)
        return progress.w
