"""Random coordinate descent on the 0/1 loss (Li & Lin 2007, section III; Li 2006, section 2.3)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import rcd as kernels
from zoloss_cli.kernels.line_search import choose_bucket_count
from zoloss_cli.kernels.numeric import LANES
from zoloss_cli.learners.base import Epochs, Problem, RecordEvery, Seeding
from zoloss_cli.learners.linear_base import LinearLearner

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
        description="update procedure of the thesis: 2.4 keeps the line's sense, 2.3 may also turn w around; "
        "2.4-fair looks along a line from either side, at random, so that ties favour no class"
    ),
]


class RCDClassifier(LinearLearner):
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
        Update procedure of the thesis: 2.4 keeps the line's sense, 2.3 may also turn w around; 2.4-fair looks
        along a line from either side, at random, so that ties favour no class.
    record_every : int >= 0, default=0
        Keep the weights after every this many epochs (0: only the last).
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

    Deviations: random components are uniform on [-1, 1] rather than on the range of each feature, which is the
    same for features scaled to [-1, 1]; 'gaussian' is N(0, 1), which equals the paper's Gaussian only for
    features with mean 0 and variance 1, and 'features' is the paper's own (with N(0, 1) for the bias); the
    vectors of a 'conj' cycle have unit length. As in the authors' program, w always moves, even if nothing
    improves.

    Ties: the papers ask for a minimum along the line and do not say which of several. Of equally good intervals
    the leftmost is used, as in the authors' program. This does not matter for directions that are as likely as
    their opposites, but along the bias axis, which is always searched upwards, the leftmost interval is the one
    that predicts the positive class most often. 'grad' and 'grad-batch' use the leftmost with '2.4-fair', too.

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

    def __init__(
        self,
        variant: Variant = "bias",
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        directions: Directions = "uniform",
        update: Update = "2.4",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.variant = variant
        self.epochs = epochs
        self.seeding = seeding
        self.directions = directions
        self.update = update
        self.record_every = record_every
        self.random_state = random_state

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
            self._refuse_conjugate_cycles(size)
            rows = kernels.DIRECTIONS_PER_BLOCK
        for done in range(0, self.epochs, rows):
            left = self.epochs - done
            D = self._draw_directions(problem.rng, done, min(rows, -(-left // size) * size), X)[:left]
            kernels.fit_rcd(X, X_T, y, phi, w, D, *how, done, *recording, room)
        return w

    def _refuse_conjugate_cycles(self, size: int) -> None:
        if self.variant in ("conj", "conj-bias"):
            raise ValueError(
                f"{type(self).__name__}: a cycle of {size:,} conjugate directions is a matrix of "
                f"{8e-9 * size**2:.1f} GB; use another variant, such as 'bias', or fewer features"
            )

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
