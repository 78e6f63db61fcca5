"""A learner trained on all rows of one's own table."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets import index_labels
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.fitting import warm_up
from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.search import EQUAL, progress_line
from zoloss_cli.loss import strict_mistakes
from zoloss_cli.preprocess import centre_and_spread, scale
from zoloss_cli.registry import make_learner, registration
from zoloss_cli.usage.rule import LinearRule, rule_in_original_units
from zoloss_cli.usage.table import OwnTable

SHOWN_CLASSES = 10


@dataclass(frozen=True)
class Fitted:
    """What was learned from a table; `rule` is None if the learner is not linear."""

    table: OwnTable
    learner: LearnerSpec
    seed: int
    scaling: str
    spread: np.ndarray
    classes: list[str]  # the positive one last
    y: np.ndarray  # indices of classes
    rule: LinearRule | None
    errors: int
    lower_bound: int | None
    exact: bool  # whether the bound is proved, or right up to rounding
    seconds: float
    notes: list[str] = field(default_factory=list)

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


def two_classes(table: OwnTable, positive: str | None) -> tuple[np.ndarray, list[str]]:
    """Class indices and the two classes, the positive one last: the one named, else the last in order."""
    names = sorted(set(table.labels))
    where = f"{table.path}: the label column '{table.label}'"
    if len(names) == 1:
        raise DataError(f"{where} holds one class only, '{names[0]}'; fit needs two classes")
    if len(names) > 2 and positive is None:
        shown = ", ".join(names[:SHOWN_CLASSES])
        more = f" and {len(names) - SHOWN_CLASSES} more" if len(names) > SHOWN_CLASSES else ""
        raise DataError(
            f"{where} holds {len(names)} classes ({shown}{more}); name one with --positive to separate it from "
            "the rest, or the right column with --label"
        )
    return index_labels(table.labels, positive, where)


def train(table: OwnTable, learner: LearnerSpec, positive: str | None, scaling: str, seed: int) -> Fitted:
    """Scale the features, learn from all rows, and count the errors of the rule in the table's own units.

    On a terminal a search shows how far it is. Ctrl-C ends it with its best rule, which a note says.
    """
    y, classes = two_classes(table, positive)
    centre, spread = _scaling(table, scaling)
    X = scale(table.X, table.X, scaling)[0]
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
    scores = estimator.decision_function(X) if rule is None else rule.scores(table.X)
    errors = int(strict_mistakes(scores, np.where(y == 1, 1.0, -1.0)).sum())
    bound = getattr(estimator, "lower_bound_", None)
    bound = None if bound is None else math.ceil(bound - EQUAL)  # errors are whole
    doubts = [str(w.message) for w in caught if w.category is UserWarning]
    notes = [*table.notes, *dict.fromkeys(doubts)]
    exact = getattr(estimator, "bound_is_exact_", False)
    return Fitted(table, learner, seed, scaling, spread, classes, y, rule, errors, bound, exact, seconds, notes)


def _scaling(table: OwnTable, how: str) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = centre_and_spread(table.X, how)
    wild = ~(np.isfinite(centre) & np.isfinite(spread))
    if np.any(wild):
        name = table.features[int(np.flatnonzero(wild)[0])]
        raise DataError(f"{table.path}: the values of '{name}' are too large to be scaled; use smaller units")
    return centre, spread
