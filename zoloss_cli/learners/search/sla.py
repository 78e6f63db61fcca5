"""Smooth 0-1 loss approximation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.smooth import fit_sla
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.base import DirectOptimizer, Start

PRECISIONS = (2.0, 20.0, 200.0)  # K from 2 to 200, tenfold
RADII = (8.0, 4.0, 2.0)  # R
STEPS = (0.2, 0.1, 0.05)  # eps_S
LAST_RADIUS, LAST_STEP = 10.0, 0.05


@dataclass(eq=False, repr=False)
class SmoothLossClassifier(DirectOptimizer):  # numpydoc ignore=PR02
    """Smooth 0-1 loss approximation (SLA).

    Coordinate and gradient descent on a sigmoid that sharpens to the 0-1 loss. Meant for standardized
    features.

    Parameters
    ----------
    seeding : {'lr', 'svm', 'zero', 'fld'} or list of float, default='lr'
        Weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', 'zero', those of
        Fisher's linear discriminant 'fld', or a list (bias first).
    decay : float >= 0, default=0.0
        Weight of |w|^2 / 2 in the loss: the regularizer of Table 4.

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        No linear classifier has a smaller loss, in mean sample weights (errors if all weights are equal).
    n_features_in_ : int
        Number of features.
    optimal_ : bool
        Whether the loss attains `lower_bound_`.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the sample weight that is misclassified.

    Notes
    -----
    The constants are those of the paper. Rules that it leaves out follow the authors' program: max rate 0.1,
    min rate 1e-6, eps_L 0.1, eps_G 0.01; a last pass probes the 0-1 loss itself along each weight (radius 10,
    step 0.05).

    Deviations: the start is the best logistic regression over C, the last one on a tie, which gives the
    published numbers; the paper says SVM, which is ``seeding="svm"``. Sample weights multiply the losses.

    References
    ----------
    .. [1] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Section 5, Figures 7 and 8.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import SmoothLossClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> SmoothLossClassifier().fit(scale(X), y).training_errors_ <= 30  # its start has 39
    True
    """

    seeding: Start = "lr"
    decay: Annotated[
        float, Field(ge=0, description="weight of |w|^2 / 2 in the loss: the regularizer of Table 4")
    ] = 0.0

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights at the end of the descent."""
        Z = np.ascontiguousarray(problem.X * problem.y[:, None])
        phi = problem.phi * problem.phi.size
        precisions, radii, steps = np.array(PRECISIONS), np.array(RADII), np.array(STEPS)
        fit_sla(Z, phi, start, precisions, radii, steps, float(self.decay), LAST_RADIUS, LAST_STEP)
        return start
