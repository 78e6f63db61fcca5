"""Fit one learner to one set of samples, in the same way for every task and command."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.labels import join_names
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.warming import warm_up
from zoloss_cli.learners.search.exact_features import ExactFeatures, use_exact_features
from zoloss_cli.registry import MEASURES, find_registration, is_foreign, list_multiclass_learners, make_learner
from zoloss_cli.utils.code_files import allow_code, remember_code


@contextlib.contextmanager
def allow_planned_code(spec: LearnerSpec) -> Iterator[None]:
    """Within this block, allow the classes that a learner names: whoever planned its task allowed them.

    Worker processes and other hosts run the text that travels with the task, not the current content of its
    file.

    Parameters
    ----------
    spec : LearnerSpec
        The learner of a planned task.
    """
    found = [each for each in walk_learners(spec) if is_foreign(each.learner)]
    for each in found:
        if each.code is not None:
            remember_code(each.code)
    with allow_code() if found else contextlib.nullcontext():
        yield


def walk_learners(spec: LearnerSpec) -> Iterator[LearnerSpec]:
    """Yield a learner, its candidates, and the learners inside them."""
    yield spec
    for inner in (
        *spec.tune,
        *spec.trials,
        *(value for _, value in spec.settings if isinstance(value, LearnerSpec)),
    ):
        yield from walk_learners(inner)


def check_classes(spec: LearnerSpec, classes: list[str], where: str, how: str) -> None:
    """Refuse more classes than the learner takes.

    Parameters
    ----------
    spec : LearnerSpec
        The learner, or the candidates that it is tuned over.
    classes : list of str
        The classes of the data set.
    where : str
        The name of the data set in messages.
    how : str
        What makes two classes out of several, such as "positive: CLASS".
    """
    for candidate in spec.tune or (spec,):
        if len(classes) > 2 and not find_registration(candidate.source).is_multiclass:
            several = f", or a learner for several classes ({', '.join(list_multiclass_learners())})"
            raise DataError(
                f"{where} has {len(classes)} classes ({join_names(classes)}), and '{candidate.learner}' "
                f"separates two: use {how} for one class against the rest"
                f"{several * (candidate.learner not in MEASURES)}"
            )
        try:
            make_learner(candidate.source, candidate.parameters).check_classes(len(classes))
        except ValueError as error:
            raise DataError(f"{where}: {error}") from None


def assign_part(spec: LearnerSpec, split: int) -> LearnerSpec:
    """Return a learner whose work is divided into parts with the part of a split, and any other unchanged."""
    settings = dict(spec.settings)
    if settings.get("parts", 1) == 1 or settings.get("part", 0) is not None:
        return spec
    settings["part"] = split % settings["parts"]
    return spec.model_copy(update={"settings": tuple(settings.items())})


def fit(
    spec: LearnerSpec,
    X: np.ndarray,
    y: np.ndarray,
    seed: np.random.SeedSequence,
    *,
    quiet: bool = True,
    sample_weight: np.ndarray | None = None,
    exact: Callable[[], ExactFeatures] | None = None,
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
        Whether to suppress the learner's warnings.
    sample_weight : ndarray of shape (n_samples,) or None
        The sample weights, if the learner takes them; None: all are equal.
    exact : callable or None
        Returns the values before scaling, for learners whose bounds are about these.

    Returns
    -------
    learner : Learner
        The fitted learner.
    fit_time : float
        Seconds taken, by its own clock if it has one.
    """
    warm_up(spec)
    with warnings.catch_warnings():
        # A learner's warnings (an empty ensemble, say) show in the record; thousands of tasks would repeat
        # them.
        if quiet:
            warnings.simplefilter("ignore", UserWarning)
        learner = make_learner(spec.source, spec.parameters, np.random.default_rng(seed))
        start = time.perf_counter()
        has_bound = "lower_bound" in getattr(learner, "reports", ())
        with use_exact_features(exact() if exact is not None and has_bound else None):
            learner.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    return learner, getattr(learner, "seconds_", time.perf_counter() - start)
