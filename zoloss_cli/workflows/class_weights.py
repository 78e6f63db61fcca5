"""Class weights, for classes of very different sizes and errors of different costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.registry import LEARNERS, find_registration

BALANCED = "balanced"


@dataclass(frozen=True)
class Weighting:
    """The class weights that options set.

    Attributes
    ----------
    class_weight : tuple of str
        Only `balanced`, or CLASS=WEIGHT for some classes.
    cost_fp, cost_fn : float or None
        The costs of a false positive and of a false negative.
    """

    class_weight: tuple[str, ...] = ()
    cost_fp: float | None = None
    cost_fn: float | None = None

    def __post_init__(self) -> None:
        if self.class_weight and self.has_costs:
            raise ConfigError("--class-weight and --cost-fp/--cost-fn set the same weights; give one of them")
        if BALANCED in self.class_weight and len(self.class_weight) > 1:
            raise ConfigError("--class-weight: 'balanced' sets the weights of all classes; give nothing else")
        for option, cost in (("--cost-fp", self.cost_fp), ("--cost-fn", self.cost_fn)):
            if cost is not None and not (cost > 0.0 and math.isfinite(cost)):
                raise ConfigError(f"{option}: must be a number above 0 (got {cost:g})")

    @property
    def has_costs(self) -> bool:
        """Whether costs of errors are given."""
        return self.cost_fp is not None or self.cost_fn is not None

    @property
    def is_given(self) -> bool:
        """Whether weights other than equal ones are given."""
        return bool(self.class_weight) or self.has_costs

    def check_learner(self, spec: LearnerSpec) -> None:
        """Refuse a learner that takes no sample weights, and name those that do."""
        specs = [spec, *(value for _, value in spec.settings if isinstance(value, LearnerSpec))]
        for each in specs if self.is_given else []:
            if not find_registration(each.source).accepts_sample_weight:
                takers = [name for name, entry in LEARNERS.builtin.items() if entry.accepts_sample_weight]
                option = "--class-weight" if self.class_weight else "--cost-fp/--cost-fn"
                raise ConfigError(
                    f"{option}: the learner '{each.learner}' takes no sample weights; those that do: "
                    f"{', '.join(takers)}"
                )

    def compute(self, y: np.ndarray, classes: Sequence[str]) -> np.ndarray | None:
        """Return the weight of each class; None if all are equal.

        Parameters
        ----------
        y : ndarray of int of shape (n_samples,)
            Indices of classes.
        classes : sequence of str
            The classes; with two, the positive one is last.

        Returns
        -------
        ndarray of shape (n_classes,) or None
            Weights as given; balanced ones give all classes the same total weight, with mean 1 per sample.
        """
        if self.has_costs:
            if len(classes) > 2:
                raise DataError(
                    f"--cost-fp and --cost-fn are for two classes, but there are {len(classes)}; use "
                    "--class-weight CLASS=WEIGHT, or --positive CLASS"
                )
            return np.array([self.cost_fp or 1.0, self.cost_fn or 1.0])
        if self.class_weight == (BALANCED,):
            return len(y) / (len(classes) * np.bincount(y, minlength=len(classes)))
        if not self.class_weight:
            return None
        weights: dict[str, float] = {}
        for text in self.class_weight:
            name, weight = _parse_weight(text)
            if name not in classes:
                hint = suggest_nearest(name, classes)
                raise DataError(f"--class-weight {text}: there is no class '{name}'{hint}")
            if name in weights:
                raise ConfigError(f"--class-weight {text}: the class '{name}' is given more than once")
            weights[name] = weight
        return np.array([weights.get(name, 1.0) for name in classes])


def _parse_weight(text: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not equals or not (weight > 0.0 and math.isfinite(weight)):
        raise ConfigError(
            f"--class-weight {text}: write balanced, or CLASS=WEIGHT with a number above 0, such as yes=5"
        )
    return name, weight


def compute_weighted_rate(class_errors: np.ndarray, class_counts: np.ndarray, weights: np.ndarray) -> float:
    """Return the share of the total sample weight that is misclassified."""
    return float(weights @ class_errors / (weights @ class_counts))
