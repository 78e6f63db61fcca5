"""Smooth 0-1 loss approximation."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.smooth import sla
from zoloss_cli.learners.search.direct_optimizer import DirectOptimizer

PRECISIONS = (2.0, 20.0, 200.0)  # K from 2 to 200, tenfold
RADII = (8.0, 4.0, 2.0)  # R
STEPS = (0.2, 0.1, 0.05)  # eps_S
LAST_RADIUS, LAST_STEP = 10.0, 0.05


class SmoothLossClassifier(DirectOptimizer):
    """SLA: coordinate and gradient descent on a sigmoid that sharpens to the 0-1 loss.

    Nguyen & Sanner (2013), section 5, Figures 7 and 8, with their constants. Rules that the paper leaves
    out, the authors' program's: the start is logistic regression's best over C rather than the SVM's; max
    rate 0.1, min rate 1e-6, eps_L 0.1, eps_G 0.01; a last pass probes the 0-1 loss itself along each
    weight (radius 10, step 0.05). Meant for features of mean 0 and variance 1.

    Deviation: sample weights multiply each example's loss, with mean 1, which the paper has no need of.
    LIBLINEAR's start knows no weights.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import SmoothLossClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> SmoothLossClassifier().fit(scale(X), y).training_errors_ <= 30  # its start has 39
    True
    """

    def __init__(
        self,
        seeding: Annotated[
            Literal["lr", "svm", "zero", "fld"] | list[float],
            Field(description="start from LIBLINEAR's best 'lr' or 'svm', 'zero', 'fld', or these weights"),
        ] = "lr",
        decay: Annotated[
            float, Field(ge=0, description="weight of |w|^2 / 2 in the loss, the regularizer of Table 4")
        ] = 0.0,
    ):
        self.seeding = seeding
        self.decay = decay

    def learn(self, problem, start):
        rows = np.ascontiguousarray(problem.X * problem.y[:, None])
        phi = problem.phi * problem.phi.size
        stages = (np.array(values) for values in (PRECISIONS, RADII, STEPS))
        sla(rows, phi, start, *stages, float(self.decay), LAST_RADIUS, LAST_STEP)
        return start
