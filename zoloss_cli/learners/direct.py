"""What learners share that search for the fewest training errors themselves (Nguyen & Sanner 2013)."""

from __future__ import annotations

import time

import numpy as np

from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.convex import LibLinearClassifier
from zoloss_cli.loss import strict_mistakes


class DirectOptimizer(LinearLearner):
    """A linear learner that minimizes the 0-1 loss itself and says how far it came.

    Attributes after fit, besides a linear learner's: `training_errors_`, recounted from the weights that
    are returned (a zero margin is an error); `training_loss_`, the share of the sample weight that is
    wrong; `seconds_`.
    """

    def train(self, problem):
        clock = time.perf_counter()
        super().train(problem)
        self.seconds_ = time.perf_counter() - clock
        wrong = strict_mistakes(self.scores(problem.X), problem.y)
        self.training_errors_ = int(wrong.sum())
        self.training_loss_ = float(problem.phi[wrong].sum())

    def _start(self, problem):
        """As every linear learner, or from LIBLINEAR's best: 'lr' or 'svm'."""
        losses = {"lr": "logistic", "svm": "squared-hinge"}
        seeding = getattr(self, "seeding", "lr")
        if isinstance(seeding, str) and seeding in losses:
            return LibLinearClassifier(losses[seeding]).learn(problem, np.zeros(problem.X.shape[1]))
        return super()._start(problem)
