"""The weights of AdaBoost.ECC and AdaBoost.ERP: how much each sample is confused with each other class."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.codes import compute_class_preferences, compute_pair_weights, update_joint_weights
from zoloss_cli.learners.multiclass.coding import ColumnFitter

RESCALE_FACTOR = 1e5  # D is rescaled once its sum is this far from K


class JointWeights:
    """D(n, k), proportional to exp(-rho_k(x_n, y_n)): how much sample n is still confused with class k.

    The entry for a sample's own class is 0.

    Parameters
    ----------
    fitter : ColumnFitter
        The samples, their classes and weights.

    Attributes
    ----------
    cost : float
        The margin cost (4.2) over N (K - 1), the mean of all entries for other classes.
    D : ndarray of shape (n_samples, n_classes)
        The weights.

    Notes
    -----
    Rounding decides between equal cuts, at mu = 0 and between the stumps of AdaBoost, and hence published
    digits. Therefore D starts from the sample weights and is scaled as in the author's program: not in every
    round, but only when its sum is far from K.
    """

    def __init__(self, fitter: ColumnFitter):
        n, K = fitter.codes.size, fitter.n_classes
        self.codes = fitter.codes
        self.D = np.repeat(fitter.phi[:, None], K, axis=1)
        self.D[np.arange(n), self.codes] = 0.0
        self._by_class = np.zeros((K, K))
        self._sum = update_joint_weights(
            self.D, self.codes, np.ones(K, np.int8), np.ones(n), np.zeros(2), self._by_class
        )
        self._weights = np.empty(n)
        # The last column asked for, with the result.
        self._latest: tuple[np.ndarray, float, np.ndarray | None] | None = None
        self.cost = 1.0

    @property
    def confusion(self) -> np.ndarray:
        """The K x K weights that a column gains by separating two classes."""
        return self._by_class + self._by_class.T

    def compute_column_weights(self, column: np.ndarray) -> tuple[float, np.ndarray | None]:
        """Return the weight that a column separates, in total and by sample.

        Parameters
        ----------
        column : ndarray of shape (n_classes,)
            -1, 0 or +1 for each class.

        Returns
        -------
        U : float
            The weight that the column separates, as a share of the total.
        D_t : ndarray of shape (n_samples,) or None
            Sample weights to fit the column with, which sum to 1; None if U is 0.
        """
        if self._latest is None or not np.array_equal(column, self._latest[0]):
            U = compute_pair_weights(self.D, self.codes, column, self._weights)
            D_t = self._weights * (1.0 / U) if np.finfo(np.float64).tiny <= U else None
            self._latest = column, U / self._sum, D_t
        return self._latest[1:]

    def find_best_column(self, outputs: np.ndarray) -> np.ndarray:
        """Return the column that best suits a base classifier: step 8 of Algorithm 4.2, +1 on a tie."""
        return np.where(compute_class_preferences(self.D, self.codes, outputs) >= 0.0, 1, -1).astype(np.int8)

    def add_classifier(self, column: np.ndarray, outputs: np.ndarray, alphas: np.ndarray) -> None:
        """Update the weights and the cost for a base classifier that joins the ensemble.

        Parameters
        ----------
        column : ndarray of shape (n_classes,)
            The column that it was fitted to.
        outputs : ndarray of shape (n_samples,)
            Its predictions, -1.0 or +1.0.
        alphas : ndarray of shape (2,)
            Its coefficients for the predictions -1 and +1.
        """
        before, self._sum = (
            self._sum,
            update_joint_weights(self.D, self.codes, column, outputs, alphas, self._by_class),
        )
        self.cost *= self._sum / before
        scale = self.D.shape[1] / self._sum
        if not 1.0 / RESCALE_FACTOR < scale < RESCALE_FACTOR:
            for values in (self.D, self._by_class):
                values *= scale
            self._sum *= scale
        self._latest = None
