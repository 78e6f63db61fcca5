"""Random coordinate descent on the 0/1 loss, and Theorem 2 about it (Li & Lin 2007; Li 2006, section 2.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.special import gammaln

from zoloss_cli.kernels import rcd as kernels
from zoloss_cli.kernels.line_search import choose_bucket_count
from zoloss_cli.kernels.numeric import LANES
from zoloss_cli.kernels.zero_one import find_strict_errors, predict_signs
from zoloss_cli.learners.base import Epochs, Problem, RecordEvery, Seeding
from zoloss_cli.learners.linear.online import NOT_RECORDED
from zoloss_cli.learners.linear_base import LinearLearner, UnweightedLinearLearner

# Beyond this, memory matters more than the time that it saves.
MAX_COPY_BYTES = 64 << 20
MAX_ROOM_BYTES = 128 << 20
MAX_ROOM_SHARE = 0.55  # of X, beyond these bytes
NUMBERS_PER_CHUNK = 1 << 18  # in directions drawn at a time, so that memory does not grow with epochs
MAX_CYCLE_NUMBERS = 1 << 27  # in the directions of a cycle: beyond, a cycle is drawn in parts

Variant = Annotated[
    Literal["plain", "bias", "conj", "conj-bias", "grad", "grad-batch", "ccd"],
    Field(description="rule by which the directions are chosen; see Notes"),
]
Directions = Annotated[
    Literal["uniform", "gaussian", "features"],
    Field(
        description="distribution of each random component: uniform on [-1, 1], standard normal, or normal "
        "with the mean and standard deviation of its feature"
    ),
]
Update = Annotated[
    Literal["2.3", "2.4", "2.4-fair"],
    Field(
        description="update procedure of the thesis: 2.4 keeps the orientation of w, 2.3 may also negate it; "
        "2.4-fair searches each line from a random side, so that ties favour no class"
    ),
]


@dataclass(eq=False, repr=False)
class RCDClassifier(LinearLearner):  # numpydoc ignore=PR02
    """Random coordinate descent (RCD) on the 0/1 loss.

    The 0/1 loss is minimized exactly along one line per epoch.

    Parameters
    ----------
    variant : {'plain', 'bias', 'conj', 'conj-bias', 'grad', 'grad-batch', 'ccd'}, default='bias'
        Rule by which the directions are chosen; see Notes.
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    directions : {'uniform', 'gaussian', 'features'}, default='uniform'
        Distribution of each random component: uniform on [-1, 1], standard normal, or normal with the mean and
        standard deviation of its feature.
    update : {'2.3', '2.4', '2.4-fair'}, default='2.4'
        Update procedure of the thesis: 2.4 keeps the orientation of w, 2.3 may also negate it; 2.4-fair
        searches each line from a random side, so that ties favour no class.
    record_every : int >= 0, default=0
        Number of epochs between recorded weights (0: record only the last).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_features_in_ : int
        Number of features.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights after these epochs, bias first.

    Notes
    -----
    The variants choose the direction of an epoch as follows:

    - 'plain': all m+1 components are random;
    - 'bias': cycles of m+1 epochs, first the bias axis alone, then m random vectors without bias;
    - 'conj', 'conj-bias': as 'plain' and 'bias', but the vectors of each cycle are orthogonal;
    - 'grad': a misclassified sample, found within 2N random draws; 'grad-batch': the sum of all of them;
    - 'ccd': the coordinate axes in turn, the bias first.

    Deviations: random components are uniform on [-1, 1] rather than on the range of each feature; 'gaussian' is
    N(0, 1), which equals the paper's Gaussian only for standardized features, and 'features' is the paper's own
    (with N(0, 1) for the bias); the vectors of a 'conj' cycle have unit length. As in the authors' program, w
    always moves, even if nothing improves.

    On ties between intervals of a line, the leftmost is used, as in the authors' program. Along the bias axis,
    which is always searched upwards, this is the one that predicts the positive class most often. 'grad' and
    'grad-batch' use the leftmost with '2.4-fair', too.

    References
    ----------
    .. [1] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section III, Figures 1 and 2.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithms 2.3 to 2.5, section 2.3.3.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import RCDClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = RCDClassifier(variant="bias", random_state=0).fit(scale(X), y)
    >>> bool(sum(model.predict(scale(X)) != y) <= 40)  # of 270; an SVM has 39
    True
    """

    variant: Variant = "bias"
    epochs: Epochs = 2000
    seeding: Seeding = "zero"
    directions: Directions = "uniform"
    update: Update = "2.4"
    record_every: RecordEvery = 0
    random_state: Any = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights after all epochs."""
        X, y, phi, w = problem.X, problem.y, problem.phi_fixed, start
        recording = self._prepare_recording(problem)
        how = self.update == "2.3", choose_bucket_count(X.shape[0])
        if self.variant in ("grad", "grad-batch"):
            is_batch, seed = self.variant == "grad-batch", problem.draw_kernel_seed()
            kernels.fit_rcd_gradient(X, y, phi, w, self.epochs, is_batch, seed, *how, *recording)
            return w
        X_T = problem.cached_by_X("columns", lambda: _copy_columns(X))
        room = problem.cached_by_X("deltas", lambda: _allocate_deltas(X))
        size = X.shape[1]
        rows = max(1, NUMBERS_PER_CHUNK // size**2) * size
        if size**2 > MAX_CYCLE_NUMBERS:
            if self.variant in ("conj", "conj-bias"):
                raise ValueError(
                    f"{type(self).__name__}: a cycle of {size:,} conjugate directions is a matrix of "
                    f"{8e-9 * size**2:.1f} GB; use another variant, such as 'bias', or fewer features"
                )
            rows = kernels.DIRECTIONS_PER_BLOCK
        for done in range(0, self.epochs, rows):
            left = self.epochs - done
            D = self._draw_directions(problem.rng, done, min(rows, -(-left // size) * size), X)[:left]
            kernels.fit_rcd(X, X_T, y, phi, w, D, *how, done, *recording, room)
        return w

    def _draw_directions(self, rng: np.random.Generator, done: int, rows: int, X: np.ndarray) -> np.ndarray:
        """Return the directions that follow `done` others, one per row: whole cycles, or a part of one.

        A cycle has as many directions as X has columns.
        """
        place = (done + np.arange(rows)) % X.shape[1]
        if self.variant == "ccd":
            D = np.zeros((rows, X.shape[1]))
            D[np.arange(rows), place] = 1.0
        else:
            D = self._draw_random_directions(rng, rows, X)
        if self.variant in ("bias", "conj-bias"):
            D[:, 0] = 0.0
            D[place == 0] = 0.0
            D[place == 0, 0] = 1.0
        if self.update == "2.4-fair":  # along -d the leftmost minimum is the rightmost along d
            D *= rng.choice([-1.0, 1.0], (D.shape[0], 1))
        return D

    def _draw_random_directions(self, rng: np.random.Generator, rows: int, X: np.ndarray) -> np.ndarray:
        size = X.shape[1]
        shape = rows, size
        D = rng.uniform(-1.0, 1.0, shape) if self.directions == "uniform" else rng.standard_normal(shape)
        if self.directions == "features":
            D[:, 1:] = X[:, 1:].mean(axis=0) + X[:, 1:].std(axis=0) * D[:, 1:]
        if self.variant in ("conj", "conj-bias"):
            first = int(self.variant == "conj-bias")
            cycles = D.reshape(-1, size, size)[:, first:, first:]
            cycles[:] = np.linalg.qr(cycles.transpose(0, 2, 1))[0].transpose(0, 2, 1)
        return D


def _copy_columns(X: np.ndarray) -> np.ndarray:
    """Return X', or an empty array if a copy would need too much memory."""
    return np.ascontiguousarray(X.T) if X.nbytes <= MAX_COPY_BYTES else np.empty((0, 0))


def _allocate_deltas(X: np.ndarray) -> np.ndarray:
    """Return an array for the changes along a block of directions; if large, about half the size of X."""
    n, size = X.shape
    rows = kernels.DIRECTIONS_PER_BLOCK
    if rows * n * X.itemsize > MAX_ROOM_BYTES:
        groups = max(round(MAX_ROOM_SHARE * size / LANES), 1)
        rows = min(rows, groups * LANES)  # as many are multiplied at a time: fewer cost as much
    return np.empty((rows, n))


MAX_DRAWS_PER_TRIAL = 50  # enough where starts are seldom worse than w*, or never
SCORES_PER_BLOCK = 1 << 20  # starts times samples
NUMBERS_PER_BLOCK = 1 << 24  # starts times features


@dataclass(eq=False, repr=False)
class RCDBoundClassifier(UnweightedLinearLearner):  # numpydoc ignore=PR02
    """One epoch of RCD-plain from starts at an angle to the best weights, with a bound on its success rate.

    The epoch succeeds if it ends with at most as many errors as the best weights w*. The classifier is w*
    itself.

    Parameters
    ----------
    angle : float in (0, 90], default=45.0
        Degrees between w* and the weights that an epoch starts from: phi of the theorem.
    trials : int >= 1, default=2000
        Number of epochs, each with its own start and direction.
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
        Number of epochs run: `trials`, or fewer if hardly any start is worse than w*.
    radius_ : float
        R, the radius of the largest ball around a unit vector in the region of w*.
    success_bound_ : float
        The bound v_m (R / sin phi)^m, a probability; nan if no start is worse than w*.
    success_share_ : float
        Share of the epochs that succeeded; nan if no start is worse than w*.

    Notes
    -----
    Weights that predict the same for all samples are a region, a cone in R^(m+1). The ball B(w*, R) lies in it
    if every hyperplane <x_i, w> = 0, with x_i = (1, x) of length 1, is at least R away: w* is the unit vector
    that separates the predicted classes with the largest margin, and R is this margin. The region is the one
    that the pivot heat bath finds; the theorem holds for every region.

    v_m is the volume of the unit ball in R^m over the surface of the unit sphere in R^(m+1). The integral in
    (6) is of r^(m-2) |d sqrt(1 - r^2)|: its differential is negative as it stands.

    As the theorem assumes, only starts with more errors than w* count; they are uniform among unit vectors at
    the angle phi. The bound is far from tight: the line along d is that along -d, the proof counts only lines
    that meet B(k w*, k R) for one k, the region is larger than its ball, and other regions may have as few
    errors. The epoch is that of `RCDClassifier` with variant 'plain' and directions 'gaussian'.

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

    angle: Annotated[
        float,
        Field(
            gt=0,
            le=90,
            description="degrees between w* and the weights that an epoch starts from: phi of the theorem",
        ),
    ] = 45.0
    trials: Annotated[
        int,
        Field(ge=1, description="number of epochs, each with its own start and direction"),
    ] = 2000
    steps: Annotated[int, Field(ge=1, description="number of steps of the search for w*")] = 20_000
    random_state: Any = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return w*, after all epochs from starts that are worse."""
        from zoloss_cli.learners.search.pivot import PivotClassifier  # late: RCD itself does not need it

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

    If the region is too thin for a ball, it is that of w, with radius 0.
    """
    from zoloss_cli.learners.mistake_bounds import compute_margin, find_widest_separator

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
        kernels.fit_rcd(X, X_T, problem.y, phi, w, d[None], False, buckets, 0, *NOT_RECORDED, room)
