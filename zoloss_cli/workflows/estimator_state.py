"""Fitted estimators as plain states in model files, and back: a restored estimator scores exactly as before.

States of ensembles hold those of their members; the states of all other estimators are in `single_states`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.learners.base import Learner
from zoloss_cli.registry import find_registration, make_learner
from zoloss_cli.workflows.single_states import (
    BoostedStumpsState,
    EstimatorState,
    KernelState,
    LinearState,
    Number,
    ScoringState,
    SharesState,
    StateContext,
    StumpState,
    VectorsState,
    check_same_length,
)

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
        from zoloss_cli.learners.boosting.boosting_path import BoostingPath

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
    "zoloss_cli.learners.boosting.stump:DecisionStumpClassifier": StumpState,
    "zoloss_cli.learners.linear_base:LinearLearner": LinearState,
    "zoloss_cli.learners.linear.voted_perceptron:VotedPerceptronClassifier": VectorsState,
    "zoloss_cli.learners.boosting.boosted_stumps:BoostedStumpsClassifier": BoostedStumpsState,
    "zoloss_cli.learners.kernel_svm:KernelSVMClassifier": KernelState,
    "zoloss_cli.learners.boosting.adaboost:AdaBoostClassifier": VotesState,
    "zoloss_cli.learners.boosting.anyboost:AnyBoostClassifier": DirectionsState,
    "zoloss_cli.learners.multiclass.coding:CodedEnsemble": CodeState,
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
    from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory

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
