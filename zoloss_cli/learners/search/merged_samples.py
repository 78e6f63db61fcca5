"""Rows that hold the same example, and weights that leave an example at exactly 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.kernels.line import strict_loss

RANK = 1e-10


def merge_equal_samples(X, y, phi) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Equal rows as one: (rows y x, weights, signs y, the weight that is lost whatever w is).

    Where both labels occur, the lighter one is always wrong and the heavier one's surplus remains.
    """
    rows, place = np.unique(X, axis=0, return_inverse=True)
    place = place.ravel()
    net = np.bincount(place, y * phi, len(rows))
    both = np.bincount(place, phi, len(rows))
    kept = np.abs(net) > 1e-12 * both
    signs = np.sign(net[kept])
    lost = float(np.sum(both - np.abs(net)) / 2)
    return rows[kept] * signs[:, None], np.abs(net[kept]), signs, lost


@dataclass(frozen=True)
class MergedSamples:
    """A problem as the combinatorial searches see it: w is right on row i where <Y_i, w> > 0.

    Equal rows are one, with the weight by which one class is ahead; the features are turned to as many
    axes as they can tell apart; rows have length 1, which changes no sign.
    """

    Y: np.ndarray
    c: np.ndarray  # weights, in mean sample weights
    t: np.ndarray  # the class of the row, -1.0 or 1.0: t_i Y_i points to the example itself
    lengths: np.ndarray  # what was divided by
    raw: np.ndarray  # the rows before they were turned and divided
    axes: np.ndarray  # orthonormal; weights w here are w @ axes for the problem's features

    def loss(self, w) -> float:
        """The weight of the rows that are not right beyond doubt: a margin that rounding could give is none."""
        return strict_loss(self.Y, self.c, w)

    def nearest_first(self, w) -> np.ndarray:
        """The rows by |<w, x>|, the smallest first."""
        return np.argsort(np.abs(self.Y @ w) * self.lengths, kind="stable")


def build_merged_samples(problem) -> tuple[MergedSamples, float]:
    """The rows of a problem, and the weight that is lost whatever w is."""
    Y, c, t, lost = merge_equal_samples(problem.X, problem.y, problem.unit_mean_weights)
    if len(Y) == 0:
        return MergedSamples(Y, c, t, c, Y, np.eye(problem.X.shape[1])), lost
    _, sizes, axes = np.linalg.svd(Y, full_matrices=False)
    axes = axes[sizes > RANK * sizes[0]]
    turned = Y @ axes.T
    lengths = np.sqrt(np.sum(turned**2, axis=1))
    return MergedSamples(np.ascontiguousarray(turned / lengths[:, None]), c, t, lengths, Y, axes), lost


def move_off_samples(X: np.ndarray, w: np.ndarray, rng) -> np.ndarray:
    """w moved so little that no row changes sides, until none is at exactly 0.

    A search does not see rows that were merged away, but at 0 they count as errors for both classes.
    """
    lengths = np.sqrt(np.sum(X**2, axis=1))
    for _ in range(20):
        margins = np.abs(X @ w)
        away = margins > 1e-12 * lengths * np.sqrt(w @ w)
        if np.all(away):
            break
        direction = rng.standard_normal(len(w))
        rates = np.abs(X @ direction)
        moving = away & (rates > 0.0)
        farthest = np.min(margins[moving] / rates[moving]) if np.any(moving) else 1.0
        w = w + 0.5 * farthest * direction
    return w
