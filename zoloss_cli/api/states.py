"""States of estimators that hold no other estimators, for model files.

A state holds only what its estimator's scores are computed from, in scaled units: neither bounds nor traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.learners.base import Learner, add_bias_column
from zoloss_cli.registry import find_registration, make_learner

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


# States of ensembles hold those of their members; the states of all other estimators are in `single_states`.

LETTERS = "-0+"
SIDES = np.array([-1, 1])  # the classes of a binary member


class VotesState(EstimatorState):
    """AdaBoost: the sum of coefficient times a member's prediction, -1 or +1."""

    kind: Literal["votes"] = "votes"
    coefficients: list[Number]
    members: list[AnyState]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> VotesState:
        """Take the members and their coefficients."""
        members = _take_members(estimator, context)
        return cls(coefficients=estimator.estimator_weights_.tolist(), members=members)

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the members and their coefficients."""
        check_same_length(coefficients=len(self.coefficients), members=len(self.members))
        estimator.estimator_weights_ = np.array(self.coefficients, np.float64)
        estimator.estimators_ = _restore_members(estimator, self.members, estimator.classes_, context)
        estimator.n_rounds_ = len(self.members)


class DirectionsState(EstimatorState):
    """AnyBoost and CGBoost: steps alpha along directions, each beta times the previous one plus a member."""

    kind: Literal["directions"] = "directions"
    alphas: list[Number]
    betas: list[Number]
    members: list[AnyState]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> DirectionsState:
        """Take the members and the coefficients of steps and directions."""
        members = _take_members(estimator, context)
        return cls(alphas=estimator.alphas_.tolist(), betas=estimator.betas_.tolist(), members=members)

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the members and the coefficients of steps and directions."""
        from zoloss_cli.learners.boosting.adaboost import BoostingPath

        check_same_length(alphas=len(self.alphas), betas=len(self.betas), members=len(self.members))
        estimator.estimators_ = _restore_members(estimator, self.members, estimator.classes_, context)
        estimator.path_ = BoostingPath(1.0, [], estimator.estimators_, self.alphas, self.betas)
        estimator.n_rounds_ = len(self.members)


class CodeState(EstimatorState):
    """Words of - 0 + for the classes, one letter per member, to compare with the members' predictions."""

    kind: Literal["code"] = "code"
    words: list[Annotated[str, Field(pattern="^[-0+]*$")]]
    coefficients: list[Number] | list[Annotated[list[Number], Field(min_length=2, max_length=2)]]
    members: list[AnyState]

    @classmethod
    def from_estimator(cls, estimator: Any, context: StateContext) -> CodeState:
        """Take the code words, the members and their coefficients."""
        return cls(
            words=["".join(LETTERS[letter + 1] for letter in word) for word in estimator.coding_matrix_],
            coefficients=estimator.estimator_weights_.tolist(),
            members=_take_members(estimator, context),
        )

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the code words, the members and their coefficients."""
        check_same_length(words=len(self.words), classes=estimator.classes_.size)
        for word in self.words:
            check_same_length(
                **{"letters of a word": len(word), "members": len(self.members)},
                coefficients=len(self.coefficients),
            )
        letters = [[LETTERS.index(letter) - 1 for letter in word] for word in self.words]
        estimator.coding_matrix_ = np.array(letters, np.int8).reshape(len(letters), len(self.members))
        estimator.estimator_weights_ = np.array(self.coefficients, np.float64)
        estimator.estimators_ = _restore_members(estimator, self.members, SIDES, context)


AnyState = Annotated[
    LinearState
    | StumpState
    | BoostedStumpsState
    | KernelState
    | VectorsState
    | VotesState
    | DirectionsState
    | CodeState
    | ScoringState
    | SharesState,
    Field(discriminator="kind"),
]
for _state_type in (VotesState, DirectionsState, CodeState):
    _state_type.model_rebuild()

# By an estimator's class or its nearest base class; names, so that nothing is imported.
STATE_TYPES: dict[str, type[EstimatorState]] = {
    "zoloss_cli.learners.boosting.stumps:DecisionStumpClassifier": StumpState,
    "zoloss_cli.learners.linear_base:LinearLearner": LinearState,
    "zoloss_cli.learners.linear.perceptrons:VotedPerceptronClassifier": VectorsState,
    "zoloss_cli.learners.boosting.stumps:BoostedStumpsClassifier": BoostedStumpsState,
    "zoloss_cli.learners.kernel_svm:KernelSVMClassifier": KernelState,
    "zoloss_cli.learners.boosting.adaboost:AdaBoostClassifier": VotesState,
    "zoloss_cli.learners.boosting.anyboost:AnyBoostClassifier": DirectionsState,
    "zoloss_cli.learners.multiclass.codes:CodedEnsemble": CodeState,
    "zoloss_cli.learners.scoring.classifier:ScoringSystemClassifier": ScoringState,
    "zoloss_cli.learners.majority:MajorityClassifier": SharesState,
}


def list_specs(spec: LearnerSpec) -> list[LearnerSpec]:
    """Return the specification of a learner and of the learners inside it."""
    inside = [value for _, value in spec.settings if isinstance(value, LearnerSpec)]
    return [spec, *(each for value in inside for each in list_specs(value))]


def find_unserializable(spec: LearnerSpec) -> str | None:
    """Return the name of the first learner, among this one and those inside it, that has no state type."""
    classes = {each.learner: find_registration(each.source).learner_class for each in list_specs(spec)}
    return next((name for name, found in classes.items() if _find_state_type(found) is None), None)


def take_state(estimator: Learner, context: StateContext) -> EstimatorState:
    """Take the state of a fitted estimator."""
    return _get_state_type(estimator).from_estimator(estimator, context)


def restore_estimator(
    spec: LearnerSpec, state: EstimatorState, n_classes: int, context: StateContext
) -> Learner:
    """Build an estimator that scores like the one that the state was taken from.

    Parameters
    ----------
    spec : LearnerSpec
        The learner and its parameters.
    state : EstimatorState
        Its fitted state.
    n_classes : int
        The number of classes, whose indices are predicted.
    context : StateContext
        What the state refers to.

    Returns
    -------
    Learner
        A fitted estimator.

    Raises
    ------
    ValueError
        If parts of the state are inconsistent.
    """
    estimator = make_learner(spec.source, spec.parameters)
    estimator.classes_, estimator.n_features_in_ = np.arange(n_classes), context.n_features
    _restore(state, estimator, spec.learner, context)
    return estimator


def _find_state_type(learner_class: type) -> type[EstimatorState] | None:
    names = (f"{base.__module__}:{base.__qualname__}" for base in learner_class.__mro__)
    return next((STATE_TYPES[name] for name in names if name in STATE_TYPES), None)


def _get_state_type(estimator: Learner) -> type[EstimatorState]:
    state_type = _find_state_type(type(estimator))
    if state_type is None:
        raise TypeError(f"{type(estimator).__name__} has no state type")
    return state_type


def _take_members(ensemble: Any, context: StateContext) -> list[Any]:
    return [take_state(member, context) for member in ensemble.estimators_]


def _restore_members(
    ensemble: Any, states: Sequence[EstimatorState], classes: np.ndarray, context: StateContext
) -> list[Learner]:
    from zoloss_cli.learners.boosting.adaboost import BaseLearnerFactory

    base = BaseLearnerFactory(ensemble, ensemble.base)
    members = [base.build_unfitted(classes) for _ in states]
    for member, state in zip(members, states, strict=True):
        _restore(state, member, base.name, context)
    return members


def _restore(state: EstimatorState, estimator: Learner, name: str, context: StateContext) -> None:
    needed = _get_state_type(estimator).model_fields["kind"].default
    if state.kind != needed:
        raise ValueError(f"the kind '{state.kind}' stands where '{name}' needs '{needed}'")
    state.restore(estimator, context)
