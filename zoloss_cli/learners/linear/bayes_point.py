"""The Bayes point machine by expectation propagation."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.expectation import fit_bayes_point
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.linear_base import UnweightedLinearLearner, rotate_into_span
from zoloss_cli.learners.search.progress import SearchResultMixin


class BayesPointClassifier(SearchResultMixin, UnweightedLinearLearner):
    """The Bayes point machine: the posterior mean of w, found by expectation propagation.

    The prior is N(0, I) over (b, w), the likelihood Phi(y <w, x>) with noise variance 1 [1]_. Nguyen & Sanner
    compare with it [2]_.

    Parameters
    ----------
    noise : float > 0, default=1.0
        Variance of the probit noise.
    sweeps : int >= 1, default=200
        Maximum number of sweeps over the samples.

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved, rather than right up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        Training errors that no linear classifier can go below: samples with equal features and both labels.
    n_features_in_ : int
        Number of features.
    n_sweeps_ : int
        Number of sweeps until the posterior converged.
    optimal_ : bool
        Whether `lower_bound_` is attained.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and training errors at the end of the fit.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the training samples that are misclassified.

    Notes
    -----
    Prior and likelihood are those of the authors' program. Sample weights are not supported.

    References
    ----------
    .. [1] Minka, T. P. (2001). Expectation propagation for approximate Bayesian inference.
    .. [2] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Section 6.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import BayesPointClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> BayesPointClassifier().fit(scale(X), y).training_errors_
    38
    """

    def __init__(
        self,
        noise: Annotated[float, Field(gt=0, description="variance of the probit noise")] = 1.0,
        sweeps: Annotated[int, Field(ge=1, description="maximum number of sweeps over the samples")] = 200,
    ):
        self.noise = noise
        self.sweeps = sweeps

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the posterior mean of the weights."""
        X, axes = problem.X, None
        if X.shape[1] > 1 + X.shape[0]:
            X, axes = rotate_into_span(X, 1)
        signed = np.ascontiguousarray(X * problem.y[:, None])
        weights, self.n_sweeps_ = fit_bayes_point(signed, float(self.noise), self.sweeps)
        return weights if axes is None else axes @ weights
