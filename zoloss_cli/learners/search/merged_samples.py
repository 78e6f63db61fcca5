"""The form in which hyperplane searches use samples: equal ones merged, full rank, unit length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.kernels.line import compute_strict_loss
from zoloss_cli.learners.problem import Problem

RANK_TOLERANCE = 1e-10  # of the largest singular value
WEIGHT_TOLERANCE = 1e-12  # of the weight at one place: less counts as none
MARGIN_TOLERANCE = 1e-12  # of the lengths of a sample and of w: less counts as 0
MAX_MOVES = 20
MANY_SAMPLES = 100_000  # from here on, sorting all samples and all singular vectors take too long
MANY_BYTES = 64 << 20  # from here on, they take too much memory
VALUES_PER_BLOCK = 1 << 22  # of many samples, processed at a time
HASH_SEED = 20061


@dataclass(frozen=True)
class MergedSamples:
    """Signed samples: w classifies the i-th correctly if <Y_i, w> > 0.

    Equal samples are merged into one, with the weight by which one class prevails. The features are rotated to
    as many axes as they can distinguish. Samples have length 1, which changes no sign.

    Attributes
    ----------
    Y : ndarray of shape (n_merged, n_axes)
        The signed samples.
    c : ndarray of shape (n_merged,)
        Their weights, in mean sample weights.
    t : ndarray of shape (n_merged,)
        Their classes, -1.0 or 1.0: t_i Y_i points to the sample itself.
    lengths : ndarray of shape (n_merged,)
        The lengths that the samples were divided by.
    places : ndarray of shape (n_merged, n_features + 1)
        The samples before they were signed, rotated and divided; with many samples, those of the problem
        itself, or none if Y uses their memory.
    axes : ndarray of shape (n_axes, n_features + 1)
        Orthonormal: weights w here are w @ axes for the features of the problem.
    indices : ndarray of int of shape (n_merged,)
        For each of them, a sample of the problem that it represents.
    unavoidable_loss : float
        The weight that every w misclassifies.
    """

    Y: np.ndarray
    c: np.ndarray
    t: np.ndarray
    lengths: np.ndarray
    places: np.ndarray
    axes: np.ndarray
    indices: np.ndarray
    unavoidable_loss: float

    @property
    def raw(self) -> np.ndarray:
        """The signed samples before they were rotated and divided."""
        return self.places * self.t[:, None]

    def compute_loss(self, w: np.ndarray) -> float:
        """Return the loss of w, counting a margin within rounding error of 0 as an error."""
        return self.unavoidable_loss + compute_strict_loss(self.Y, self.c, w)

    def order_by_distance(self, w: np.ndarray) -> np.ndarray:
        """Return the indices of the samples sorted by |<w, x>|, the smallest first."""
        return np.argsort(np.abs(self.Y @ w) * self.lengths, kind="stable")


def merge_equal_samples(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray | slice, np.ndarray, np.ndarray, float]:
    """Merge equal samples into one.

    Where both labels occur, the lighter one is always misclassified, and the surplus of the heavier one
    remains.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        What must be equal.
    y : ndarray of shape (n_samples,)
        Classes, -1.0 or 1.0.
    weights : ndarray of shape (n_samples,)
        Sample weights.

    Returns
    -------
    kept : ndarray of int of shape (n_merged,), or slice
        For each merged sample one that it represents; all, as a slice, if there are many and none are equal.
    weights : ndarray of shape (n_merged,)
        The weights of the merged samples.
    signs : ndarray of shape (n_merged,)
        Their classes.
    unavoidable_loss : float
        The weight that every rule misclassifies.
    """
    if _are_many(X) and _are_all_different(X):
        return slice(None), np.array(weights, dtype=float), np.array(y, dtype=float), 0.0
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    place = place.ravel()
    net = np.bincount(place, y * weights, len(first))
    both = np.bincount(place, weights, len(first))
    kept = np.abs(net) > WEIGHT_TOLERANCE * both
    signs = np.sign(net[kept])
    unavoidable_loss = float(np.sum(both - np.abs(net)) / 2)
    return first[kept], np.abs(net[kept]), signs, unavoidable_loss


def _are_all_different(X: np.ndarray) -> bool:
    """Return True only if no two samples are equal, judging by a number for each that equal samples share."""
    rng = np.random.default_rng(HASH_SEED)
    numbers = np.zeros(len(X), np.uint64)
    for j in range(X.shape[1]):
        factor = rng.integers(0, 2**64, dtype=np.uint64)
        bits = (X[:, j] + 0.0).view(np.uint64)  # adding 0 makes both zeros equal
        numbers += (bits ^ (bits >> np.uint64(29))) * (factor | np.uint64(1))
    numbers.sort()
    return bool(np.all(numbers[1:] != numbers[:-1]))


def build_merged_samples(problem: Problem) -> MergedSamples:
    """Return the merged samples of a problem: those with equal values before scaling, if these are known."""
    keys = problem.X if problem.exact is None else problem.exact.keys
    kept, c, t, unavoidable_loss = merge_equal_samples(keys, problem.y, problem.unit_mean_weights)
    places = problem.X if isinstance(kept, slice) else problem.X[kept]
    indices = np.arange(len(problem.X))[kept]
    if len(places) == 0:
        return MergedSamples(places, c, t, c, places, np.eye(problem.X.shape[1]), indices, unavoidable_loss)
    many = _are_many(places)
    small = _reduce_rows(places) if many else places * t[:, None]
    _, sizes, axes = np.linalg.svd(small, full_matrices=False)
    axes = axes[sizes > RANK_TOLERANCE * sizes[0]]
    if places is problem.X and problem.features is not None and len(axes) == places.shape[1]:
        Y, places = _turn_in_place(places, axes), places[:0]
    else:
        Y = places @ axes.T
    Y *= t[:, None]
    lengths = _compute_lengths(Y) if many else np.sqrt(np.sum(Y**2, axis=1))
    Y /= lengths[:, None]
    return MergedSamples(Y, c, t, lengths, places, axes, indices, unavoidable_loss)


def _are_many(X: np.ndarray) -> bool:
    return len(X) > MANY_SAMPLES or X.nbytes > MANY_BYTES


def _list_blocks(X: np.ndarray) -> list[slice]:
    """Return blocks of rows, each with more rows than columns."""
    rows = max(2 * X.shape[1], min(MANY_SAMPLES, VALUES_PER_BLOCK // X.shape[1]))
    return [slice(start, start + rows) for start in range(0, len(X), rows)]


def _reduce_rows(X: np.ndarray) -> np.ndarray:
    """Return a square matrix with the same singular values and right singular vectors."""
    R: np.ndarray = np.empty((0, X.shape[1]))
    for block in _list_blocks(X):
        R = np.asarray(np.linalg.qr(np.vstack([R, X[block]]), mode="r"))
    return R


def _turn_in_place(X: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Replace samples by their coordinates along as many axes as there are columns; return the same array."""
    for block in _list_blocks(X):
        X[block] = X[block] @ axes.T
    return X


def _compute_lengths(X: np.ndarray) -> np.ndarray:
    """Return the length of each row, without a copy of the matrix."""
    return np.sqrt(np.einsum("ij,ij->i", X, X))


def move_off_samples(X: np.ndarray, w: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return w moved so little that no sample changes sides, until none has a margin of exactly 0.

    A search does not see samples that cancelled out, but a margin of 0 makes them errors for both classes.
    """
    lengths = _compute_lengths(X)
    for _ in range(MAX_MOVES):
        margins = np.abs(X @ w)
        away = margins > MARGIN_TOLERANCE * lengths * np.sqrt(w @ w)
        if np.all(away):
            break
        direction = rng.standard_normal(len(w))
        rates = np.abs(X @ direction)
        moving = away & (rates > 0.0)
        farthest = np.min(margins[moving] / rates[moving]) if np.any(moving) else 1.0
        w = w + 0.5 * farthest * direction
    return w
