"""A learner trained on all rows of one's own table."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.datasets.scaling import compute_finite_scaling, scale_parts
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.fitting import check_classes, warm_up
from zoloss_cli.kernels.zero_one import strict_mistakes, wrong_classes
from zoloss_cli.learners.base import Learner, LinearLearner
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, progress_line
from zoloss_cli.registry import make_learner, registration
from zoloss_cli.workflows.linear_rule import LinearRule, rule_in_original_units


@dataclass(frozen=True)
class Fitted:
    """What was learned from a table; `rule` is None if the learner is not linear."""

    table: CsvTable
    learner: LearnerSpec
    seed: int
    scaling: str
    centre: np.ndarray
    spread: np.ndarray
    classes: list[str]  # of two the positive one last
    y: np.ndarray  # indices of classes
    estimator: Learner
    rule: LinearRule | None
    errors: int
    lower_bound: int | None
    exact: bool  # whether the bound is proved, or right up to rounding
    seconds: float
    notes: list[str] = field(default_factory=list)

    @property
    def positive(self) -> str | None:
        return self.classes[1] if len(self.classes) == 2 else None

    @property
    def optimal(self) -> bool | None:
        return None if self.lower_bound is None else self.errors <= self.lower_bound

    def training(self) -> dict:
        """How well it does on the rows that it was learned from; None where nothing is known."""
        return {
            "n": len(self.y),
            "d": self.table.X.shape[1],
            "dropped": self.table.dropped,
            "errors": self.errors,
            "error_rate": self.errors / len(self.y),
            "lower_bound": self.lower_bound,
            "optimal": self.optimal,
            "seconds": round(self.seconds, 3),
        }


def is_linear(name: str) -> bool:
    return issubclass(registration(name).learner_class, LinearLearner)


def train(table: CsvTable, learner: LearnerSpec, positive: str | None, scaling: str, seed: int) -> Fitted:
    """Scale the features, learn from all rows, and count the errors of the rule in the table's own units.

    A zero margin is an error; those of learners for several classes are wrong predictions. On a terminal a
    search shows how far it is. Ctrl-C ends it with its best rule, which a note says.
    """
    y, classes = table.classes(positive)
    check_classes(learner, classes, f"{table.path}: the label column '{table.label}'", "--positive CLASS")
    centre, spread = compute_finite_scaling(table.X, scaling, table.features, str(table.path))
    X = scale_parts(table.X, table.X, scaling)[0]
    warm_up(learner)  # compiling kernels must not use up a time limit
    estimator = make_learner(learner.learner, learner.parameters, seed)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught, progress_line():
            warnings.simplefilter("always")
            estimator.fit(X, y)
    except (ValueError, FloatingPointError) as error:
        raise DataError(f"'{learner.name}' cannot learn from {table.path}: {error}") from None
    seconds = getattr(estimator, "seconds_", time.perf_counter() - start)
    rule = None
    if is_linear(learner.learner):
        coefficients, intercept = estimator.coef_[0], estimator.intercept_[0]
        rule = rule_in_original_units(coefficients, intercept, centre, spread, table.features)
    if estimator.multiclass:
        errors = wrong_classes(estimator, X, y)
    else:
        scores = estimator.decision_function(X) if rule is None else rule.scores(table.X)
        errors = int(strict_mistakes(scores, np.where(y == 1, 1.0, -1.0)).sum())
    bound = getattr(estimator, "lower_bound_", None)
    bound = None if bound is None else math.ceil(bound - LOSS_TOLERANCE)  # errors are whole
    doubts = [str(w.message) for w in caught if w.category is UserWarning]
    notes = [*table.notes, *dict.fromkeys(doubts)]
    exact = getattr(estimator, "bound_is_exact_", False)
    scaled = (scaling, centre, spread)
    return Fitted(
        table, learner, seed, *scaled, classes, y, estimator, rule, errors, bound, exact, seconds, notes
    )
