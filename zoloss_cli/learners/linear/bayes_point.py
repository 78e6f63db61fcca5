"""The Bayes point machine by expectation propagation."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.expectation import bayes_point
from zoloss_cli.learners.base import UnweightedLinearLearner
from zoloss_cli.learners.search.result_mixin import SearchResultMixin


class BayesPointClassifier(SearchResultMixin, UnweightedLinearLearner):
    """The Bayes point machine (Minka 2001): the posterior mean of w, found by expectation propagation.

    Nguyen & Sanner (2013), section 6, compare with it. The prior is N(0, I) over (b, w), the likelihood
    Phi(y <w, x>) with noise variance 1, as in the authors' program. `n_sweeps_` tells when it settled.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import BayesPointClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> BayesPointClassifier().fit(scale(X), y).training_errors_
    38
    """

    def __init__(
        self,
        noise: Annotated[float, Field(gt=0, description="variance of the probit noise")] = 1.0,
        sweeps: Annotated[int, Field(ge=1, description="the most sweeps over the examples")] = 200,
    ):
        self.noise = noise
        self.sweeps = sweeps

    def learn(self, problem, start):
        rows = np.ascontiguousarray(problem.X * problem.y[:, None])
        weights, self.n_sweeps_ = bayes_point(rows, float(self.noise), self.sweeps)
        return weights
