"""Base classes of the learners that minimize the 0/1 loss itself (Nguyen & Sanner 2013)."""

from __future__ import annotations

import contextlib
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import NeededPackage, Problem
from zoloss_cli.learners.linear.liblinear import C_GRID, LibLinearClassifier
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.search.progress import SearchProgress, SearchResultMixin
from zoloss_cli.learners.search.samples import MergedSamples, build_merged_samples, move_off_samples
from zoloss_cli.utils.imports import is_installed

MAX_ITERATIONS = 1000  # as LIBLINEAR's own
TOLERANCE = 1e-4


def compute_substitute_start(loss: Literal["squared-hinge", "logistic"], problem: Problem) -> np.ndarray:
    """Return weights to start from: those of the C with the fewest training errors, the last one on a tie.

    scikit-learn solves the same problems with its own copy of an older LIBLINEAR: weights agree only up to the
    solver's tolerance, so searches that start here may end elsewhere; a warning says so.

    Parameters
    ----------
    loss : {'squared-hinge', 'logistic'}
        Loss to minimize.
    problem : Problem
        Samples (1, x) and labels.

    Returns
    -------
    ndarray of shape (1 + n_features,)
        The weights, bias first; 0 if no C gives finite ones.
    """
    warnings.warn(
        "the package liblinear-official is not installed, so the search starts from scikit-learn's weights, "
        "and its result may differ: pip install liblinear-official",
        stacklevel=2,
    )
    fewest, best = problem.y.size + 1, np.zeros(problem.X.shape[1])
    for C in C_GRID:
        weights = _solve(loss, C, problem)
        if not np.all(np.isfinite(weights)):
            continue
        errors = int(find_strict_errors(problem.X @ weights, problem.y).sum())
        if errors <= fewest:
            fewest, best = errors, weights
    return best


def _solve(loss: str, C: float, problem: Problem) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    # The bias is the first feature, regularized like any other.
    common = {"C": C, "tol": TOLERANCE, "fit_intercept": False, "max_iter": MAX_ITERATIONS, "random_state": 0}
    model = (
        LogisticRegression(solver="liblinear", **common)
        if loss == "logistic"
        else LinearSVC(loss="squared_hinge", dual=False, **common)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not be exact
        return model.fit(problem.X, problem.y).coef_[0]


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


@contextlib.contextmanager
def share_starts() -> Iterator[None]:
    """Within this block, compute LIBLINEAR's start for the same data only once: it takes most of SLA's time.

    Elsewhere it is computed each time, since the seconds of a learner include its start.
    """
    token = _starts.set({})
    try:
        yield
    finally:
        _starts.reset(token)


class DirectOptimizer(SearchResultMixin, LinearLearner):
    """A linear learner that minimizes the 0-1 loss itself, and can start from LIBLINEAR's best weights."""

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return LIBLINEAR's package if the search starts from its weights."""
        seeding = getattr(self, "seeding", "lr")
        if not isinstance(seeding, str) or seeding not in START_LOSSES:
            return []
        # A single fit would work without it, but not give the numbers that runs store and others compare with.
        return [NeededPackage("liblinear", f"for its start '{seeding}'", "set its parameter seeding to fld")]

    def _compute_start(self, problem: Problem) -> np.ndarray:
        seeding = getattr(self, "seeding", "lr")
        if not isinstance(seeding, str) or seeding not in START_LOSSES:
            return super()._compute_start(problem)
        known, problem = _starts.get(), _thin_out(problem, getattr(self, "time_limit", None))
        if known is None:
            return _compute_liblinear_start(seeding, problem)
        key = (seeding, problem.X.tobytes(), problem.y.tobytes())
        if key not in known:
            known[key] = _compute_liblinear_start(seeding, problem)
        return known[key].copy()


def _thin_out(problem: Problem, time_limit: float | None) -> Problem:
    """Return as many samples, evenly spaced, as LIBLINEAR can start from in its share of a time limit."""
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


def _compute_liblinear_start(seeding: str, problem: Problem) -> np.ndarray:
    start = np.zeros(problem.X.shape[1])
    if not is_installed("liblinear"):
        return compute_substitute_start(START_LOSSES[seeding], problem)
    with contextlib.suppress(ValueError):  # unscaled features: start from 0
        start = LibLinearClassifier(START_LOSSES[seeding]).learn(problem, start)
    return start


class VertexSearch(DirectOptimizer):
    """A direct optimizer that works on merged samples of full rank, under a clock.

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
        try:
            if len(samples.Y) == samples.Y.shape[1]:  # as many independent samples as weights
                search.offer(unavoidable, np.linalg.solve(samples.Y, np.ones(len(samples.Y))))
            elif samples.Y.shape[1] == 1:
                for sign in (1.0, -1.0):  # samples so close that rounding leaves one axis: this proves nothing
                    search.offer(samples.compute_loss(np.array([sign])), np.array([sign]))
                self._prove(problem, samples, search)
            else:
                self._explore(problem, samples, search)
        except KeyboardInterrupt:
            warnings.warn(
                f"{search.name}: interrupted after {search.seconds:.1f} s; the best so far is returned",
                stacklevel=5,
            )
        if samples.Y is problem.X:
            problem.restore_samples()
        return move_off_samples(problem.X, search.w @ samples.axes, problem.rng)

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        """Offer weights to the search until it should stop, or nothing is left to try.

        Parameters
        ----------
        problem : Problem
            The original problem.
        samples : MergedSamples
            The samples to work on: at least two axes, and more samples than axes.
        search : SearchProgress
            Has the start as its best weights; its best weights at the end are the result.
        """
        raise TypeError(f"{type(self).__name__} does not implement _explore")

    def _prove(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        """Raise the lower bound of the search; by default, there is nothing to prove it with."""


class SearchLearner(DirectOptimizer):  # numpydoc ignore=PR02
    """A linear classifier that searches for the weights with the smallest 0/1 loss.

    Subclasses implement `search`, which offers weights to its argument `progress`. Their losses are counted
    there, the best weights are the result, and the trace of losses against seconds is kept. A subclass may have
    the parameters `time_limit` (seconds), `seeding` ('zero', 'fld', 'lr', 'svm' or a list of weights) and
    `random_state`, which are then used as their names say. Ctrl-C ends a search in the same way as its time
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
            Takes weights through `offer_weights` and bounds through `raise_bound`; `should_stop` tells when to
            end.
        """

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the best weights offered."""
        progress = self._search
        progress.problem = problem
        progress.offer_weights(start)
        try:
            self.search(problem, start.copy(), progress)
        except KeyboardInterrupt:
            warnings.warn(
                f"{progress.name}: interrupted after {progress.seconds:.1f} s; the best so far is returned",
                stacklevel=5,
            )
        return progress.w
