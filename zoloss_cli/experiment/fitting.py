"""One learner, fitted on one set of samples, as every task and every command does it."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.labels import join_names
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.warming import warm_up
from zoloss_cli.registry import MEASURES, find_registration, list_multiclass_learners, make_learner


def check_classes(spec: LearnerSpec, classes: list[str], where: str, how: str) -> None:
    """Refuse more classes than the learner takes.

    Parameters
    ----------
    spec : LearnerSpec
        The learner, or the candidates that it is tuned over.
    classes : list of str
        The classes of the data set.
    where : str
        How messages call the data set.
    how : str
        What makes two classes of several, such as "positive: CLASS".
    """
    for candidate in spec.tune or (spec,):
        if len(classes) > 2 and not find_registration(candidate.learner).is_multiclass:
            several = f", or a learner for several classes ({', '.join(list_multiclass_learners())})"
            raise DataError(
                f"{where} has {len(classes)} classes ({join_names(classes)}), and '{candidate.learner}' "
                f"separates two: use {how} for one class against the rest"
                f"{several * (candidate.learner not in MEASURES)}"
            )
        try:
            make_learner(candidate.learner, candidate.parameters).check_classes(len(classes))
        except ValueError as error:
            raise DataError(f"{where}: {error}") from None


def fit(
    spec: LearnerSpec,
    X: np.ndarray,
    y: np.ndarray,
    seed: np.random.SeedSequence,
    *,
    quiet: bool = True,
    sample_weight: np.ndarray | None = None,
) -> tuple[Any, float]:
    """Fit the learner that a specification names.

    Parameters
    ----------
    spec : LearnerSpec
        The learner with all its parameters.
    X : ndarray of shape (n_samples, n_features)
        Training samples.
    y : ndarray of shape (n_samples,)
        Class indices.
    seed : SeedSequence
        Seed of the learner's random numbers.
    quiet : bool, default=True
        Whether the learner's warnings are not shown.
    sample_weight : ndarray of shape (n_samples,) or None
        The weights of the samples, for a learner that takes some; None: all are equal.

    Returns
    -------
    learner : Learner
        The fitted learner.
    fit_time : float
        Seconds that it took, by its own clock if it has one.
    """
    warm_up(spec)
    with warnings.catch_warnings():
        # A learner's doubts (an empty ensemble, say) show in the record; thousands of tasks would repeat them.
        if quiet:
            warnings.simplefilter("ignore", UserWarning)
        learner = make_learner(spec.learner, spec.parameters, np.random.default_rng(seed))
        start = time.perf_counter()
        learner.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    return learner, getattr(learner, "seconds_", time.perf_counter() - start)
