"""Learners after fit as plain parts of a model file, and back: what is read again scores exactly as it did.

A part holds what its learner's scores are made of, in scaled units, and no more: neither bounds nor traces.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.learners.base import Learner, LinearLearner, with_bias
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.boosting.base_learner import Base
from zoloss_cli.learners.boosting.boosted_stumps import BoostedStumpsClassifier
from zoloss_cli.learners.boosting.margin_boost import AnyBoostClassifier, Run
from zoloss_cli.learners.boosting.stump import DecisionStumpClassifier
from zoloss_cli.learners.kernel_svm import KernelSVMClassifier
from zoloss_cli.learners.multiclass.coding import SIDES, CodedEnsemble
from zoloss_cli.registry import make_learner, registration

LETTERS = "-0+"

Number = Annotated[float, Field(allow_inf_nan=False)]
Threshold = Number | None  # none: a constant answer, whose threshold is below all values


class Shared:
    """What all parts of one classifier refer to: how many features there are, and the points of kernels."""

    def __init__(self, features: int, points: list[list[float]]):
        self.features, self.points = features, points
        self.rows = with_bias(np.array(points, np.float64).reshape(len(points), features))
        self._index: dict[bytes, int] = {}

    def index(self, row: np.ndarray) -> int:
        """Where the row (1, x) is among the points; a new one becomes the last."""
        at = self._index.setdefault(row.tobytes(), len(self.points))
        if at == len(self.points):
            self.points.append(row[1:].tolist())
        return at


class Part(BaseModel):
    """One learner: `of` takes what it has learned, and `give` gives that to another."""

    model_config = ConfigDict(extra="forbid", strict=True)


class LinearPart(Part):
    """The score bias + the sum of weight times feature."""

    kind: Literal["linear"] = "linear"
    bias: Number
    weights: list[Number]

    @classmethod
    def of(cls, learner, shared):
        return cls(bias=float(learner.intercept_[0]), weights=learner.coef_[0].tolist())

    def give(self, learner, shared):
        _same_length(weights=len(self.weights), features=shared.features)
        learner.set_weights(np.array([self.bias, *self.weights]))


class StumpPart(Part):
    """The second class from the threshold on, or below it where the direction is -1."""

    kind: Literal["stump"] = "stump"
    feature: int
    threshold: Threshold
    direction: Literal[-1, 1]

    @classmethod
    def of(cls, learner, shared):
        (threshold,) = _finite([learner.threshold_])
        return cls(feature=learner.feature_, threshold=threshold, direction=learner.direction_)

    def give(self, learner, shared):
        _below(shared.features, features=[self.feature])
        (threshold,) = _with_infinity([self.threshold])
        learner.feature_, learner.threshold_, learner.direction_ = (
            self.feature,
            float(threshold),
            self.direction,
        )
        learner.set_weights(learner.as_weights(shared.features))


class BoostedStumpsPart(Part):
    """The sum of coefficient times direction, with the other sign below a threshold."""

    kind: Literal["boosted stumps"] = "boosted stumps"
    features: list[int]
    thresholds: list[Threshold]
    directions: list[Literal[-1, 1]]
    coefficients: list[Number]

    @classmethod
    def of(cls, learner, shared):
        return cls(
            features=learner.features_.tolist(),
            thresholds=_finite(learner.thresholds_.tolist()),
            directions=[int(d) for d in learner.directions_],
            coefficients=learner.estimator_weights_.tolist(),
        )

    def give(self, learner, shared):
        _same_length(**{key: len(getattr(self, key)) for key in type(self).model_fields if key != "kind"})
        _below(shared.features, features=self.features)
        learner.features_ = np.array(self.features, np.int64)
        learner.thresholds_ = _with_infinity(self.thresholds)
        learner.directions_ = np.array(self.directions, np.float64)
        learner.estimator_weights_ = np.array(self.coefficients, np.float64)


class KernelPart(Part):
    """The score bias + the sum of coefficient times the kernel with a point; points are those of the file."""

    kind: Literal["kernel"] = "kernel"
    points: list[int]
    coefficients: list[Number]
    bias: Number

    @classmethod
    def of(cls, learner, shared):
        points = [shared.index(row) for row in learner.rows_[learner.support_]]
        return cls(points=points, coefficients=learner.dual_coef_.tolist(), bias=float(learner.intercept_))

    def give(self, learner, shared):
        _same_length(points=len(self.points), coefficients=len(self.coefficients))
        _below(len(shared.points), points=self.points)
        learner.rows_, learner.support_ = shared.rows, np.array(self.points, np.int64)
        learner.dual_coef_, learner.intercept_ = np.array(self.coefficients, np.float64), self.bias


class VotesPart(Part):
    """AdaBoost: the sum of coefficient times what a member says, -1 or +1."""

    kind: Literal["votes"] = "votes"
    coefficients: list[Number]
    members: list[AnyPart]

    @classmethod
    def of(cls, learner, shared):
        return cls(
            coefficients=learner.estimator_weights_.tolist(), members=_parts_of(learner.estimators_, shared)
        )

    def give(self, learner, shared):
        _same_length(coefficients=len(self.coefficients), members=len(self.members))
        learner.estimator_weights_ = np.array(self.coefficients, np.float64)
        learner.estimators_ = _members(learner, self.members, learner.classes_, shared)
        learner.n_rounds_ = len(self.members)


class DirectionsPart(Part):
    """AnyBoost and CGBoost: steps alpha along directions, each beta times the last one plus a member."""

    kind: Literal["directions"] = "directions"
    alphas: list[Number]
    betas: list[Number]
    members: list[AnyPart]

    @classmethod
    def of(cls, learner, shared):
        return cls(
            alphas=learner.alphas_.tolist(),
            betas=learner.betas_.tolist(),
            members=_parts_of(learner.estimators_, shared),
        )

    def give(self, learner, shared):
        _same_length(alphas=len(self.alphas), betas=len(self.betas), members=len(self.members))
        learner.estimators_ = _members(learner, self.members, learner.classes_, shared)
        learner.run_ = Run(1.0, [], learner.estimators_, self.alphas, self.betas)
        learner.n_rounds_ = len(self.members)


class CodePart(Part):
    """Words of - 0 + for the classes, a letter a member, to be compared with what the members say."""

    kind: Literal["code"] = "code"
    words: list[Annotated[str, Field(pattern="^[-0+]*$")]]
    coefficients: list[Number]
    members: list[AnyPart]

    @classmethod
    def of(cls, learner, shared):
        return cls(
            words=["".join(LETTERS[letter + 1] for letter in word) for word in learner.coding_matrix_],
            coefficients=learner.estimator_weights_.tolist(),
            members=_parts_of(learner.estimators_, shared),
        )

    def give(self, learner, shared):
        _same_length(words=len(self.words), classes=learner.classes_.size)
        for word in self.words:
            _same_length(
                **{"letters of a word": len(word), "members": len(self.members)},
                coefficients=len(self.coefficients),
            )
        letters = [[LETTERS.index(letter) - 1 for letter in word] for word in self.words]
        learner.coding_matrix_ = np.array(letters, np.int8).reshape(len(letters), len(self.members))
        learner.estimator_weights_ = np.array(self.coefficients, np.float64)
        learner.estimators_ = _members(learner, self.members, SIDES, shared)


AnyPart = Annotated[
    LinearPart | StumpPart | BoostedStumpsPart | KernelPart | VotesPart | DirectionsPart | CodePart,
    Field(discriminator="kind"),
]
for _part in (VotesPart, DirectionsPart, CodePart):
    _part.model_rebuild()

# The first that a learner's class is derived from.
KEPT_BY: dict[type, type[Part]] = {
    DecisionStumpClassifier: StumpPart,
    LinearLearner: LinearPart,
    BoostedStumpsClassifier: BoostedStumpsPart,
    KernelSVMClassifier: KernelPart,
    AdaBoostClassifier: VotesPart,
    AnyBoostClassifier: DirectionsPart,
    CodedEnsemble: CodePart,
}


def specs_in(spec: LearnerSpec) -> list[LearnerSpec]:
    """The learner and those inside it."""
    inside = [value for _, value in spec.settings if isinstance(value, LearnerSpec)]
    return [spec, *(each for value in inside for each in specs_in(value))]


def cannot_be_kept(spec: LearnerSpec) -> str | None:
    """The name of the learner, or of one inside it, that no part can hold."""
    names = [each.learner for each in specs_in(spec)]
    return next((name for name in names if _part_class(registration(name).learner_class) is None), None)


def part_of(learner: Learner, shared: Shared) -> Part:
    """What a learner has learned."""
    return _part_class(type(learner)).of(learner, shared)


def restored(spec: LearnerSpec, part: Part, classes: int, shared: Shared) -> Learner:
    """The learner with what the part holds; ValueError says what does not fit together."""
    learner = make_learner(spec.learner, spec.parameters)
    learner.classes_, learner.n_features_in_ = np.arange(classes), shared.features
    _give(part, learner, spec.learner, shared)
    return learner


def _part_class(learner_class: type) -> type[Part] | None:
    return next((part for base, part in KEPT_BY.items() if issubclass(learner_class, base)), None)


def _parts_of(learners: list, shared: Shared) -> list[Part]:
    return [part_of(learner, shared) for learner in learners]


def _members(owner: Learner, parts: list[Part], classes: np.ndarray, shared: Shared) -> list[Learner]:
    base = Base(owner, owner.base)
    members = [base.blank(classes) for _ in parts]
    for member, part in zip(members, parts, strict=True):
        _give(part, member, base.name, shared)
    return members


def _give(part: Part, learner: Learner, name: str, shared: Shared) -> None:
    needed = _part_class(type(learner)).model_fields["kind"].default
    if part.kind != needed:
        raise ValueError(f"the kind '{part.kind}' stands where '{name}' needs '{needed}'")
    part.give(learner, shared)


def _same_length(**counts: int) -> None:
    if len(set(counts.values())) > 1:
        raise ValueError("there are " + " but ".join(f"{count} {name}" for name, count in counts.items()))


def _below(count: int, **indices: list[int]) -> None:
    ((name, values),) = indices.items()
    for value in values:
        if not 0 <= value < count:
            raise ValueError(f"{value} is none of the {count} {name}")


def _finite(thresholds: list[float]) -> list[float | None]:
    return [None if np.isinf(value) else value for value in thresholds]


def _with_infinity(thresholds: list[float | None]) -> np.ndarray:
    return np.array([-np.inf if value is None else value for value in thresholds])
