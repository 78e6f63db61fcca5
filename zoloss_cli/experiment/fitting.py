"""One learner, fitted on one set of rows, as every unit does it."""

from __future__ import annotations

import time
import warnings

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.registry import make_learner


def fit(spec: LearnerSpec, X: np.ndarray, y: np.ndarray, seed: np.random.SeedSequence):
    """(the learner that `spec` names, fitted; the seconds that it took, by its own clock if it has one)."""
    learner = make_learner(spec.learner, spec.parameters, np.random.default_rng(seed))
    start = time.perf_counter()
    with warnings.catch_warnings():
        # A learner's doubts (an empty ensemble, say) show in the row; thousands of units must not print them.
        warnings.simplefilter("ignore", UserWarning)
        learner.fit(X, y)
    return learner, getattr(learner, "seconds_", time.perf_counter() - start)
