"""One learner, fitted on one set of rows, as every unit does it."""

from __future__ import annotations

import contextlib
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.labels import join_names
from zoloss_cli.errors import DataError
from zoloss_cli.registry import MEASURES, find_registration, list_multiclass_learners, make_learner

if TYPE_CHECKING:
    from zoloss_cli.learners.base import Learner

SHORT = {"epochs": 2, "rounds": 2, "steps": 300, "lines": 20, "nodes": 300, "time_limit": 60.0}
SHORT |= {"permutations": 2, "s1": 0, "clusters": 6}
_warm: set[str] = set()  # learners whose kernels this process has loaded


def check_classes(spec: LearnerSpec, classes: list[str], where: str, how: str) -> None:
    """Refuse more classes than the learner takes; `how` is what makes two of them."""
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
    spec: LearnerSpec, X: np.ndarray, y: np.ndarray, seed: np.random.SeedSequence, *, quiet: bool = True
) -> tuple[Learner, float]:
    """(the learner that `spec` names, fitted; the seconds that it took, by its own clock if it has one)."""
    warm_up(spec)
    with warnings.catch_warnings():
        # A learner's doubts (an empty ensemble, say) show in the row; thousands of units must not print them.
        if quiet:
            warnings.simplefilter("ignore", UserWarning)
        learner = make_learner(spec.learner, spec.parameters, np.random.default_rng(seed))
        start = time.perf_counter()
        learner.fit(X, y)
    return learner, getattr(learner, "seconds_", time.perf_counter() - start)


def warm_up(spec: LearnerSpec) -> None:
    """Run a learner once on a handful of points: loading its kernels must not count as its time."""
    if spec.name in _warm:
        return
    _warm.add(spec.name)
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (24, 2)), np.arange(24) % 2
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        # Whatever is wrong with the learner shows again, and is reported, in its own units.
        warnings.simplefilter("ignore")
        made = make_learner(spec.learner, _shortened(spec.parameters), 0)
        made.measure(X, y) if spec.learner in MEASURES else made.fit(X, y).predict(X)


def _shortened(parameters: dict) -> dict:
    """The same code paths in a moment: two epochs, two rounds, no weights made for other data."""
    short = {k: _shortened(v) if isinstance(v, dict) else v for k, v in parameters.items()}
    short |= {k: v for k, v in SHORT.items() if k in short}
    return {k: v for k, v in short.items() if not (k == "seeding" and isinstance(v, list))}
