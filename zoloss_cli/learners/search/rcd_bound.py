"""The probability that one epoch of RCD-plain is as good as the best weights (Li & Lin 2007, Theorem 2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from scipy.special import gammaln

from zoloss_cli.kernels.line_search import choose_bucket_count
from zoloss_cli.kernels.rcd import fit_rcd
from zoloss_cli.kernels.zero_one import find_strict_errors, predict_signs
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.linear.online import NOT_RECORDED
from zoloss_cli.learners.linear_base import UnweightedLinearLearner
from zoloss_cli.learners.mistake_bounds import compute_margin, find_widest_separator
from zoloss_cli.learners.search.pivot import PivotClassifier

MAX_DRAWS_PER_TRIAL = 50  # where starts are seldom worse than w*, or never
SCORES_PER_BLOCK = 1 << 20  # starts times samples
NUMBERS_PER_BLOCK = 1 << 24  # starts times features


class RCDBoundClassifier(UnweightedLinearLearner):
    """One epoch of RCD-plain from many starts at an angle to the best weights, with a bound on its success.

    The epoch succeeds if it ends with at most as many errors as the best weights w*. The classifier is w*
    itself.

    Parameters
    ----------
    angle : float in (0, 90], default=45.0
        Degrees between w* and the weights that an epoch starts from: phi of the theorem.
    trials : int >= 1, default=2000
        Number of epochs, each from a start and along a direction of its own.
    steps : int >= 1, default=20000
        Number of steps of the search for w*.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights of w*.
    intercept_ : ndarray of shape (1,)
        The bias of w*.
    n_features_in_ : int
        Number of features.
    n_trials_ : int
        Epochs that were made: `trials`, or fewer where hardly any start is worse than w*.
    radius_ : float
        R, the radius of the largest ball around a unit vector in the region of w*.
    success_bound_ : float
        The bound v_m (R / sin phi)^m, a probability; nan if no start is worse than w*.
    success_share_ : float
        Share of the epochs that succeeded; nan if no start is worse than w*.

    Notes
    -----
    Weights that predict the same for all samples are a region, a cone in R^(m+1). The ball B(w*, R) lies in it
    if every hyperplane <x_i, w> = 0 is at least R away, with x_i of length 1 and including the constant 1:
    among the unit vectors of a region, w* is therefore the one that separates the predicted classes with the
    largest margin, and R is this margin. It is taken in the region that the pivot heat bath finds. The theorem
    holds for every region, so whether another one has fewer errors does not matter for it.

    v_m is the volume of the unit ball in R^m over the surface of the unit sphere in R^(m+1). By (6), a random
    direction falls into A(w*, R) with a probability of at least v_m R^m. The integral in (6) is of
    r^(m-2) |d sqrt(1 - r^2)|: its differential is negative as it stands.

    As the theorem assumes, only starts with more errors than w* count. Starts are uniform among unit vectors
    at the angle phi, and the bound holds for each of them. It is far from tight: the line along d is that along
    -d, so that the probability is at least twice as large; the proof counts lines that meet B(k w*, k R) for
    one k, and others meet the cone elsewhere; the region is larger than its ball; and other regions may have as
    few errors. With one feature, a line covers half of all directions, and the probability is at least
    1 - phi/pi. The epoch is that of `RCDClassifier` with variant 'plain' and directions 'gaussian'.

    References
    ----------
    .. [1] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section III-C, Theorem 2, equation (6) and footnote 2.

    Examples
    --------
    >>> from zoloss_cli import RCDBoundClassifier, load_dataset
    >>> X, y = load_dataset("gaussians", size=30, dimensions=2, seed=1)
    >>> model = RCDBoundClassifier(angle=20, random_state=0).fit(X, y)
    >>> 2 * model.success_bound_ < model.success_share_
    True
    """

    reports: ClassVar[tuple[str, ...]] = ("success_share", "success_bound")

    def __init__(
        self,
        angle: Annotated[
            float,
            Field(
                gt=0,
                le=90,
                description="degrees between w* and the weights that an epoch starts from: phi of the theorem",
            ),
        ] = 45.0,
        trials: Annotated[
            int,
            Field(ge=1, description="number of epochs, each from a start and along a direction of its own"),
        ] = 2000,
        steps: Annotated[int, Field(ge=1, description="number of steps of the search for w*")] = 20_000,
        random_state=None,
    ):
        self.angle = angle
        self.trials = trials
        self.steps = steps
        self.random_state = random_state

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return w*, after all epochs from starts that are worse."""
        search = PivotClassifier(steps=self.steps, seeding="fld")
        search.train(problem)
        best, self.radius_ = find_largest_ball(problem.X, np.concatenate([search.intercept_, search.coef_[0]]))
        phi = math.radians(self.angle)
        fewest = count_errors(problem, best[None])[0]
        self.n_trials_ = successes = 0
        for starts in self._draw_starts(problem, best, phi):
            worse = starts[count_errors(problem, starts) > fewest][: self.trials - self.n_trials_]
            take_epochs(problem, worse)
            self.n_trials_ += len(worse)
            successes += int(np.count_nonzero(count_errors(problem, worse) <= fewest))
            if self.n_trials_ == self.trials:
                break
        bound = compute_success_bound(len(best) - 1, self.radius_, phi)
        self.success_share_ = successes / self.n_trials_ if self.n_trials_ else math.nan
        self.success_bound_ = bound if self.n_trials_ else math.nan
        return best

    def _draw_starts(self, problem: Problem, best: np.ndarray, phi: float) -> Iterator[np.ndarray]:
        """Yield blocks of unit vectors at the angle phi to a unit vector, uniformly drawn."""
        most = MAX_DRAWS_PER_TRIAL * self.trials
        n, size = problem.X.shape
        block = max(1, min(self.trials, SCORES_PER_BLOCK // n, NUMBERS_PER_BLOCK // size))
        for drawn in range(0, most, block):
            U = problem.rng.standard_normal((min(block, most - drawn), len(best)))
            U -= np.outer(U @ best, best)
            U /= np.linalg.norm(U, axis=1, keepdims=True)
            yield math.cos(phi) * best + math.sin(phi) * U


def compute_ball_share(m: int) -> float:
    """Return v_m: the volume of the unit ball in R^m over the surface of the unit sphere in R^(m+1)."""
    return math.exp(gammaln((m + 1) / 2) - gammaln(m / 2 + 1)) / (2.0 * math.sqrt(math.pi))


def compute_success_bound(m: int, radius: float, phi: float) -> float:
    """Return v_m (R / sin phi)^m, for m features, a region with a ball of radius R and a start at angle phi."""
    return compute_ball_share(m) * (radius / math.sin(phi)) ** m


def find_largest_ball(X: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the unit vector in the region of w around which a ball in it is largest, and its radius.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 1 + n_features)
        Samples, the constant 1 first.
    w : ndarray of shape (1 + n_features,)
        Weights in the region.

    Returns
    -------
    best : ndarray of shape (1 + n_features,)
        The unit vector; that of w where the region is too thin for a ball.
    radius : float
        The radius, at least 0.
    """
    directions, signs = X / np.linalg.norm(X, axis=1, keepdims=True), predict_signs(X @ w)
    best = find_widest_separator(directions, signs)
    if best is None:
        best = w / np.linalg.norm(w)
    return best, max(0.0, compute_margin(directions, signs, best))


def count_errors(problem: Problem, weights: np.ndarray) -> np.ndarray:
    """Return the training errors of each row of weights; a zero margin is an error."""
    return find_strict_errors(weights @ problem.X.T, problem.y).sum(axis=1)


def take_epochs(problem: Problem, weights: np.ndarray) -> None:
    """Update each row of weights by one epoch of RCD-plain, along a standard Gaussian direction of its own."""
    X, X_T, phi = problem.X, np.ascontiguousarray(problem.X.T), problem.phi_fixed
    buckets, room = choose_bucket_count(len(X)), np.empty((1, len(X)))
    for w, d in zip(weights, problem.rng.standard_normal(weights.shape), strict=True):
        fit_rcd(X, X_T, problem.y, phi, w, d[None], False, buckets, 0, *NOT_RECORDED, room)
