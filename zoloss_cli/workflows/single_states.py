"""States of estimators that hold no other estimators, for model files.

A state holds only what its estimator's scores are computed from, in scaled units: neither bounds nor traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from zoloss_cli.learners.problem import add_bias_column

MAX_STORED_POINTS = 2**53  # beyond this, floats do not represent all integers

Number = Annotated[float, Field(allow_inf_nan=False)]
Threshold = Number | None  # none: a constant prediction, whose threshold is below all values


class StateContext:
    """What all states of one classifier refer to.

    Parameters
    ----------
    n_features : int
        The number of features.
    points : list of list of float
        The samples that kernels are evaluated at; it grows as states of new estimators are taken.

    Attributes
    ----------
    rows : ndarray of shape (n_points, 1 + n_features)
        The points with a leading 1.
    """

    def __init__(self, n_features: int, points: list[list[float]]) -> None:
        self.n_features, self.points = n_features, points
        self.rows = add_bias_column(np.array(points, np.float64).reshape(len(points), n_features))
        self._index: dict[bytes, int] = {}

    def find_index(self, row: np.ndarray) -> int:
        """Return the index of the row (1, x) among the points; a new one becomes the last."""
        at = self._index.setdefault(row.tobytes(), len(self.points))
        if at == len(self.points):
            self.points.append(row[1:].tolist())
        return at


class EstimatorState(BaseModel):
    """The state of one estimator: `from_estimator` takes it, and `restore` gives it to another."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: str

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> EstimatorState:
        """Take the state of a fitted estimator."""
        raise NotImplementedError

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Make a new estimator score like the one that the state was taken from."""
        raise NotImplementedError


class LinearState(EstimatorState):
    """The score bias + the sum of weight times feature."""

    kind: Literal["linear"] = "linear"
    bias: Number
    weights: list[Number]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> LinearState:
        """Take the weights."""
        return cls(bias=float(estimator.intercept_[0]), weights=estimator.coef_[0].tolist())

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the weights."""
        check_same_length(weights=len(self.weights), features=context.n_features)
        estimator.set_weights(np.array([self.bias, *self.weights]))


class StumpState(EstimatorState):
    """The second class at or above the threshold, or below it if the direction is -1."""

    kind: Literal["stump"] = "stump"
    feature: int
    threshold: Threshold
    direction: Literal[-1, 1]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> StumpState:
        """Take feature, threshold and direction."""
        (threshold,) = _replace_infinity([estimator.threshold_])
        return cls(feature=estimator.feature_, threshold=threshold, direction=estimator.direction_)

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set feature, threshold, direction, and the weights that follow from them."""
        check_indices(context.n_features, features=[self.feature])
        (threshold,) = _restore_infinity([self.threshold])
        estimator.feature_, estimator.threshold_ = self.feature, float(threshold)
        estimator.direction_ = self.direction
        estimator.set_weights(estimator.build_weights(context.n_features))


class BoostedStumpsState(EstimatorState):
    """The sum of coefficient times direction, with the opposite sign below a threshold."""

    kind: Literal["boosted stumps"] = "boosted stumps"
    features: list[int]
    thresholds: list[Threshold]
    directions: list[Literal[-1, 1]]
    coefficients: list[Number]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> BoostedStumpsState:
        """Take the stumps and their coefficients."""
        return cls(
            features=estimator.features_.tolist(),
            thresholds=_replace_infinity(estimator.thresholds_.tolist()),
            directions=estimator.directions_.astype(int).tolist(),
            coefficients=estimator.estimator_weights_.tolist(),
        )

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the stumps and their coefficients."""
        check_same_length(**{key: len(getattr(self, key)) for key in type(self).model_fields if key != "kind"})
        check_indices(context.n_features, features=self.features)
        estimator.features_ = np.array(self.features, np.int64)
        estimator.thresholds_ = _restore_infinity(self.thresholds)
        estimator.directions_ = np.array(self.directions, np.float64)
        estimator.estimator_weights_ = np.array(self.coefficients, np.float64)


class KernelState(EstimatorState):
    """The score bias + the sum of coefficient times the kernel with a point of the file."""

    kind: Literal["kernel"] = "kernel"
    points: list[int]
    coefficients: list[Number]
    bias: Number

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> KernelState:
        """Take the support vectors, which join the points of the context, and their coefficients."""
        points = [context.find_index(row) for row in estimator.samples_[estimator.support_]]
        return cls(points=points, coefficients=estimator.dual_coef_.tolist(), bias=float(estimator.intercept_))

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the support vectors and their coefficients."""
        check_same_length(points=len(self.points), coefficients=len(self.coefficients))
        check_indices(len(context.points), points=self.points)
        estimator.samples_, estimator.support_ = context.rows, np.array(self.points, np.int64)
        estimator.dual_coef_, estimator.intercept_ = np.array(self.coefficients, np.float64), self.bias


class VectorsState(EstimatorState):
    """The voted perceptron: weight vectors, bias first, that vote by their survival times."""

    kind: Literal["vectors"] = "vectors"
    vectors: Annotated[list[list[Number]], Field(min_length=1)]
    survival_times: list[Annotated[Number, Field(gt=0)]]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> VectorsState:
        """Take the vectors and their survival times."""
        return cls(vectors=estimator.vectors_.tolist(), survival_times=estimator.survival_times_.tolist())

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the vectors and their survival times."""
        check_same_length(vectors=len(self.vectors), **{"survival times": len(self.survival_times)})
        for vector in self.vectors:
            check_same_length(**{"weights after a bias": len(vector) - 1}, features=context.n_features)
        estimator.vectors_ = np.array(self.vectors, np.float64)
        estimator.survival_times_ = np.array(self.survival_times, np.float64)


class ScoringState(EstimatorState):
    """Conditions with points, and the lowest positive total; a feature without a cut counts by its value."""

    kind: Literal["scoring"] = "scoring"
    features: list[int]
    cuts: list[Number | None]
    points: list[int]
    threshold: int

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> ScoringState:
        """Take conditions, points and threshold."""
        return cls(
            features=[condition.feature for condition in estimator.conditions_],
            cuts=[condition.cut for condition in estimator.conditions_],
            points=estimator.points_.tolist(),
            threshold=estimator.threshold_,
        )

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set conditions, points and threshold."""
        from zoloss_cli.learners.scoring.conditions import Condition

        check_same_length(features=len(self.features), cuts=len(self.cuts), points=len(self.points))
        check_indices(context.n_features, features=self.features)
        if any(abs(value) > MAX_STORED_POINTS for value in (*self.points, self.threshold)):
            raise ValueError("points or threshold are too large for a scoring system")
        pairs = zip(self.features, self.cuts, strict=True)
        estimator.conditions_ = [Condition(feature, cut, f"x{feature}") for feature, cut in pairs]
        estimator.points_ = np.array(self.points, np.int64)
        estimator.threshold_ = self.threshold


class SharesState(EstimatorState):
    """The share of each class in the training samples, for any sample."""

    kind: Literal["shares"] = "shares"
    shares: list[Number]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> SharesState:
        """Take the shares."""
        return cls(shares=estimator.class_shares_.tolist())

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the shares."""
        check_same_length(shares=len(self.shares), classes=estimator.classes_.size)
        estimator.class_shares_ = np.array(self.shares)


def check_same_length(**counts: int) -> None:
    """Raise ValueError unless all counts are equal."""
    if len(set(counts.values())) > 1:
        raise ValueError("there are " + " but ".join(f"{count} {name}" for name, count in counts.items()))


def check_indices(count: int, **indices: list[int]) -> None:
    """Raise ValueError unless each index is valid for `count` entries."""
    ((name, values),) = indices.items()
    for value in values:
        if not 0 <= value < count:
            raise ValueError(f"{value} is not one of the {count} {name}")


def _replace_infinity(thresholds: list[float]) -> list[float | None]:
    return [None if np.isinf(value) else value for value in thresholds]


def _restore_infinity(thresholds: Sequence[float | None]) -> np.ndarray:
    return np.array([-np.inf if value is None else value for value in thresholds])
