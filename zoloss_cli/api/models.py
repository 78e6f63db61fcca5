"""Write models to readable JSON files, and read and validate such files.

A linear rule is stored as weights in the table's own units; any other model as its learner, for scaled
features, and the state of its estimator. A digest of the contents detects later changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zoloss_cli import __version__
from zoloss_cli.api.fit import TableFit, describe_column
from zoloss_cli.api.rules import LinearRule, ScaledEstimator
from zoloss_cli.api.validation import Calibration, Number
from zoloss_cli.config.learners import build_learner_spec
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.columns import CsvColumn, list_feature_names
from zoloss_cli.data.new_rows import ModelColumns
from zoloss_cli.data.user_table import FILLING
from zoloss_cli.errors import ConfigError, ModelError, suggest_nearest
from zoloss_cli.experiment.fitting import walk_learners
from zoloss_cli.learners.base import Learner, add_bias_column
from zoloss_cli.registry import find_registration, is_external, make_learner
from zoloss_cli.utils.files import FileError, FileMissingError, read_file
from zoloss_cli.utils.text import show_controls

FORMAT = 1
RULE, CLASSIFIER = "zoloss linear rule", "zoloss classifier"
MAX_FILE_BYTES = 1 << 28
MAX_SHOWN_ERRORS, MAX_SHOWN_LENGTH = 5, 40
MAX_STORED_POINTS = 2**53  # beyond this, floats do not represent all integers
LETTERS = "-0+"  # of code words
SIDES = np.array([-1, 1])  # the classes of a binary member

Threshold = Number | None  # None for a constant prediction, whose threshold is below all values


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


# The state of an estimator in a file: only what its scores are computed from, in scaled units.


class StateContext:
    """The data that all states of one classifier share."""

    def __init__(self, n_features: int, points: list[list[float]]) -> None:
        self.n_features, self.points = n_features, points
        self.rows = add_bias_column(np.array(points, np.float64).reshape(len(points), n_features))
        self._index: dict[bytes, int] = {}

    def find_index(self, row: np.ndarray) -> int:
        """Return the index of the row (1, x) among the points; a new one is appended."""
        at = self._index.setdefault(row.tobytes(), len(self.points))
        if at == len(self.points):
            self.points.append(row[1:].tolist())
        return at


class EstimatorState(_Section):
    """The state of one estimator. Fields are lists of equal length unless a class says otherwise."""

    kind: str
    attributes: ClassVar[dict[str, str]] = {}  # of the estimator, by the name of the field

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        """Return the fields of the state of a fitted estimator."""
        return {field: getattr(estimator, name).tolist() for field, name in cls.attributes.items()}

    def restore(self, estimator: Any, context: StateContext) -> None:
        """Set the state of a new estimator, so that it scores like the original."""
        _check_same_length(**{field: getattr(self, field) for field in self.attributes})
        for field, name in self.attributes.items():
            values = np.array(getattr(self, field), np.float64)
            setattr(estimator, name, values)


class _LinearState(EstimatorState):
    """The score bias + the sum of weight times feature."""

    kind: Literal["linear"] = "linear"
    bias: Number
    weights: list[Number]

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        return {"bias": float(estimator.intercept_[0]), "weights": estimator.coef_[0].tolist()}

    def restore(self, estimator: Any, context: StateContext) -> None:
        _check_same_length(weights=self.weights, features=range(context.n_features))
        estimator.set_weights(np.array([self.bias, *self.weights]))


class _StumpState(EstimatorState):
    """The second class at or above the threshold, or below it if the direction is -1."""

    kind: Literal["stump"] = "stump"
    feature: int
    threshold: Threshold
    direction: Literal[-1, 1]

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        (threshold,) = _replace_infinity([estimator.threshold_])
        return {"feature": estimator.feature_, "threshold": threshold, "direction": estimator.direction_}

    def restore(self, estimator: Any, context: StateContext) -> None:
        _check_indices(context.n_features, features=[self.feature])
        (threshold,) = _restore_infinity([self.threshold])
        estimator.feature_, estimator.threshold_ = self.feature, float(threshold)
        estimator.direction_ = self.direction
        estimator.set_weights(estimator.build_weights(context.n_features))


class _BoostedStumpsState(EstimatorState):
    """The sum of coefficient times direction, with the opposite sign below a threshold."""

    kind: Literal["boosted stumps"] = "boosted stumps"
    features: list[int]
    thresholds: list[Threshold]
    directions: list[Literal[-1, 1]]
    coefficients: list[Number]

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        return {
            "features": estimator.features_.tolist(),
            "thresholds": _replace_infinity(estimator.thresholds_.tolist()),
            "directions": estimator.directions_.astype(int).tolist(),
            "coefficients": estimator.estimator_weights_.tolist(),
        }

    def restore(self, estimator: Any, context: StateContext) -> None:
        _check_same_length(**{key: getattr(self, key) for key in type(self).model_fields if key != "kind"})
        _check_indices(context.n_features, features=self.features)
        estimator.features_ = np.array(self.features, np.int64)
        estimator.thresholds_ = _restore_infinity(self.thresholds)
        estimator.directions_ = np.array(self.directions, np.float64)
        estimator.estimator_weights_ = np.array(self.coefficients, np.float64)


class _KernelState(EstimatorState):
    """The score bias + the sum of coefficient times the kernel with a support vector, a point of the file."""

    kind: Literal["kernel"] = "kernel"
    points: list[int]
    coefficients: list[Number]
    bias: Number

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        points = [context.find_index(row) for row in estimator.samples_[estimator.support_]]
        coefficients, bias = estimator.dual_coef_.tolist(), float(estimator.intercept_)
        return {"points": points, "coefficients": coefficients, "bias": bias}

    def restore(self, estimator: Any, context: StateContext) -> None:
        _check_same_length(points=self.points, coefficients=self.coefficients)
        _check_indices(len(context.points), points=self.points)
        estimator.samples_, estimator.support_ = context.rows, np.array(self.points, np.int64)
        estimator.dual_coef_, estimator.intercept_ = np.array(self.coefficients, np.float64), self.bias


class _VectorsState(EstimatorState):
    """The voted perceptron: weight vectors, bias first, that vote by their survival times."""

    kind: Literal["vectors"] = "vectors"
    vectors: Annotated[list[list[Number]], Field(min_length=1)]
    survival_times: list[Annotated[Number, Field(gt=0)]]
    attributes = {"vectors": "vectors_", "survival_times": "survival_times_"}

    def restore(self, estimator: Any, context: StateContext) -> None:
        for vector in self.vectors:
            _check_same_length(**{"weights after a bias": vector[1:], "features": range(context.n_features)})
        super().restore(estimator, context)


class _ScoringState(EstimatorState):
    """Conditions with points, and the lowest positive total; a feature without a cut counts by its value."""

    kind: Literal["scoring"] = "scoring"
    features: list[int]
    cuts: list[Number | None]
    points: list[int]
    threshold: int

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        return {
            "features": [condition.feature for condition in estimator.conditions_],
            "cuts": [condition.cut for condition in estimator.conditions_],
            "points": estimator.points_.tolist(),
            "threshold": estimator.threshold_,
        }

    def restore(self, estimator: Any, context: StateContext) -> None:
        from zoloss_cli.learners.scoring.conditions import Condition

        _check_same_length(features=self.features, cuts=self.cuts, points=self.points)
        _check_indices(context.n_features, features=self.features)
        if any(abs(value) > MAX_STORED_POINTS for value in (*self.points, self.threshold)):
            raise ValueError("points or threshold are too large for a scoring system")
        pairs = zip(self.features, self.cuts, strict=True)
        estimator.conditions_ = [Condition(feature, cut, f"x{feature}") for feature, cut in pairs]
        estimator.points_, estimator.threshold_ = np.array(self.points, np.int64), self.threshold


class _SharesState(EstimatorState):
    """The share of each class in the training samples, for any sample."""

    kind: Literal["shares"] = "shares"
    shares: list[Number]
    attributes = {"shares": "class_shares_"}

    def restore(self, estimator: Any, context: StateContext) -> None:
        _check_same_length(shares=self.shares, classes=estimator.classes_)
        super().restore(estimator, context)


class _VotesState(EstimatorState):
    """AdaBoost: the sum of coefficient times a member's prediction, -1 or +1."""

    kind: Literal["votes"] = "votes"
    coefficients: list[Number]
    members: list[AnyState]
    attributes = {"coefficients": "estimator_weights_"}

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        return super().collect(estimator, context) | {"members": _take_members(estimator, context)}

    def restore(self, estimator: Any, context: StateContext) -> None:
        _check_same_length(coefficients=self.coefficients, members=self.members)
        super().restore(estimator, context)
        estimator.estimators_ = _restore_members(estimator, self.members, estimator.classes_, context)
        estimator.n_rounds_ = len(self.members)


class _DirectionsState(EstimatorState):
    """AnyBoost and CGBoost: steps alpha along directions, each beta times the previous one plus a member."""

    kind: Literal["directions"] = "directions"
    alphas: list[Number]
    betas: list[Number]
    members: list[AnyState]
    attributes = {"alphas": "alphas_", "betas": "betas_"}

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        return super().collect(estimator, context) | {"members": _take_members(estimator, context)}

    def restore(self, estimator: Any, context: StateContext) -> None:
        from zoloss_cli.learners.boosting.adaboost import BoostingPath

        _check_same_length(alphas=self.alphas, betas=self.betas, members=self.members)
        estimator.estimators_ = _restore_members(estimator, self.members, estimator.classes_, context)
        estimator.path_ = BoostingPath(1.0, [], estimator.estimators_, self.alphas, self.betas)
        estimator.n_rounds_ = len(self.members)


class _CodeState(EstimatorState):
    """Code words of - 0 + for the classes, one letter per member, to compare with its predictions."""

    kind: Literal["code"] = "code"
    words: list[Annotated[str, Field(pattern="^[-0+]*$")]]
    coefficients: list[Number] | list[Annotated[list[Number], Field(min_length=2, max_length=2)]]
    members: list[AnyState]
    attributes = {"coefficients": "estimator_weights_"}

    @classmethod
    def collect(cls, estimator: Any, context: StateContext) -> dict[str, Any]:
        words = ["".join(LETTERS[letter + 1] for letter in word) for word in estimator.coding_matrix_]
        members = _take_members(estimator, context)
        return super().collect(estimator, context) | {"words": words, "members": members}

    def restore(self, estimator: Any, context: StateContext) -> None:
        _check_same_length(words=self.words, classes=estimator.classes_)
        for word in self.words:
            names = {"letters of a word": word, "members": self.members}
            _check_same_length(**names, coefficients=self.coefficients)
        super().restore(estimator, context)
        letters = [[LETTERS.index(letter) - 1 for letter in word] for word in self.words]
        estimator.coding_matrix_ = np.array(letters, np.int8).reshape(len(letters), len(self.members))
        estimator.estimators_ = _restore_members(estimator, self.members, SIDES, context)


AnyState = Annotated[
    _LinearState
    | _StumpState
    | _BoostedStumpsState
    | _KernelState
    | _VectorsState
    | _VotesState
    | _DirectionsState
    | _CodeState
    | _ScoringState
    | _SharesState,
    Field(discriminator="kind"),
]
for _state_type in (_VotesState, _DirectionsState, _CodeState):
    _state_type.model_rebuild()

# By an estimator's class or its nearest base class, given by name to avoid imports.
STATE_TYPES: dict[str, type[EstimatorState]] = {
    "zoloss_cli.learners.boosting.stumps:DecisionStumpClassifier": _StumpState,
    "zoloss_cli.learners.linear_base:LinearLearner": _LinearState,
    "zoloss_cli.learners.linear.perceptrons:VotedPerceptronClassifier": _VectorsState,
    "zoloss_cli.learners.boosting.stumps:BoostedStumpsClassifier": _BoostedStumpsState,
    "zoloss_cli.learners.kernel_svm:KernelSVMClassifier": _KernelState,
    "zoloss_cli.learners.boosting.adaboost:AdaBoostClassifier": _VotesState,
    "zoloss_cli.learners.boosting.anyboost:AnyBoostClassifier": _DirectionsState,
    "zoloss_cli.learners.multiclass.codes:CodedEnsemble": _CodeState,
    "zoloss_cli.learners.scoring.classifier:ScoringSystemClassifier": _ScoringState,
    "zoloss_cli.learners.majority:MajorityClassifier": _SharesState,
}


def _find_state_type(learner_class: type) -> type[EstimatorState] | None:
    names = (f"{base.__module__}:{base.__qualname__}" for base in learner_class.__mro__)
    return next((STATE_TYPES[name] for name in names if name in STATE_TYPES), None)


def _take_state(estimator: Learner, context: StateContext) -> EstimatorState:
    state_type = _find_state_type(type(estimator))
    assert state_type is not None, "check_serializable refuses such a learner before it is fitted"
    return state_type(**state_type.collect(estimator, context))


def _restore_state(state: EstimatorState, estimator: Learner, name: str, context: StateContext) -> None:
    needed = _find_state_type(type(estimator))
    kind = "" if needed is None else needed.model_fields["kind"].default
    if state.kind != kind:
        raise ValueError(f"'{name}' needs the kind '{kind}' (got '{state.kind}')")
    state.restore(estimator, context)


def _take_members(ensemble: Any, context: StateContext) -> list[EstimatorState]:
    return [_take_state(member, context) for member in ensemble.estimators_]


def _restore_members(
    ensemble: Any, states: Sequence[EstimatorState], classes: np.ndarray, context: StateContext
) -> list[Learner]:
    from zoloss_cli.learners.boosting.adaboost import BaseLearnerFactory

    base = BaseLearnerFactory(ensemble, ensemble.base)
    members = [base.build_unfitted(classes) for _ in states]
    for member, state in zip(members, states, strict=True):
        _restore_state(state, member, base.name, context)
    return members


def _check_same_length(**values: Sized) -> None:
    """Raise ValueError unless all have the same length."""
    counts = {name.replace("_", " "): len(each) for name, each in values.items()}
    if len(set(counts.values())) > 1:
        raise ValueError("there are " + " but ".join(f"{count} {name}" for name, count in counts.items()))


def _check_indices(count: int, **indices: list[int]) -> None:
    """Raise ValueError unless each index is valid for `count` entries."""
    ((name, values),) = indices.items()
    for value in values:
        if not 0 <= value < count:
            raise ValueError(f"{value} is not one of the {count} {name}")


def _replace_infinity(thresholds: list[float]) -> list[float | None]:
    return [None if np.isinf(value) else value for value in thresholds]


def _restore_infinity(thresholds: Sequence[float | None]) -> np.ndarray:
    return np.array([-np.inf if value is None else value for value in thresholds])


# The model file.


class _Column(_Section):
    name: str
    kind: Literal["number", "category"]
    levels: list[str] | None = None
    fill: Number | str | None = None
    indicator: bool = False


class _Scaling(_Section):
    how: Literal["standard", "minmax", "none"]
    centre: list[Number]
    spread: list[Number]


class _ModelFile(_Section):
    """The keys of every model file."""

    format: int
    kind: Literal["zoloss linear rule", "zoloss classifier"]
    zoloss: str
    learner: str
    parameters: dict[str, Any]
    seed: int
    label: str
    labels: Annotated[list[str], Field(min_length=2)]
    classes: Annotated[list[str], Field(min_length=2)]
    positive: str | None
    missing: Literal["error", "drop", "zero", "impute", "indicator"]
    columns: Annotated[list[_Column], Field(min_length=1)]
    features: list[str]
    scaling: _Scaling
    training: dict[str, Any]
    id: str | None = None
    calibration: Calibration | None = None
    sha256: str | None = None  # older files have none


class _RuleFile(_ModelFile):
    """The keys of a linear rule's file.

    A sample's score is score_at_centre plus the sum of weight * (value - centre).
    """

    classes: Annotated[list[str], Field(min_length=2, max_length=2)]
    weights: list[Number]
    bias: Number
    score_at_centre: Number


class _ClassifierFile(_ModelFile):
    """The keys of any other classifier's file; its samples are scaled, (value - centre) / spread."""

    versions: dict[str, str]
    points: list[list[Number]]
    learned: AnyState


@dataclass(frozen=True)
class SavedModel:
    """The validated content of a model file."""

    known: ModelColumns  # the columns, and what to do with missing values
    labels: tuple[str, ...]  # the labels of the training samples: several may make up the negative class
    classes: tuple[str, ...]  # the classes; with two, the positive one is last
    rule: LinearRule | ScaledEstimator  # the rule that scores samples
    notes: tuple[str, ...] = ()  # notes about the file
    calibration: Calibration | None = None  # the curves from scores to probabilities


def check_serializable(spec: LearnerSpec) -> None:
    """Reject a learner whose model cannot be saved, before it is fitted."""
    if any(is_external(each.learner) for each in walk_learners(spec)):
        raise ConfigError(
            f"--model: '{spec.learner}' is a class of a package or a file, but only zoloss's own learners can "
            "be saved: a model file holds numbers, not code"
        )
    for each in walk_learners(spec):
        if _find_state_type(find_registration(each.source).learner_class) is None:
            raise ConfigError(
                f"--model: the estimator of '{each.learner}' cannot be saved: it is neither linear nor made of "
                "linear rules"
            )


def render_model(fitted: TableFit, missing: str) -> str:
    """Return the content of a model file; `missing` is the policy for missing values in new samples."""
    table, rule = fitted.table, fitted.rule
    learned_part: dict[str, Any]
    if rule is None:
        context = StateContext(table.X.shape[1], [])
        learned = _take_state(fitted.estimator, context).model_dump()
        versions = _collect_versions(fitted.learner)
        learned_part = {"versions": versions, "points": context.points, "learned": learned}
    else:
        learned_part = {"weights": rule.weights.tolist(), "bias": rule.bias, "score_at_centre": rule.at_centre}
    content = {
        "format": FORMAT,
        "kind": CLASSIFIER if rule is None else RULE,
        "zoloss": __version__,
        "learner": fitted.learner.learner,
        "parameters": fitted.learner.parameters,
        "seed": fitted.seed,
        "label": table.label,
        "labels": sorted(set(table.labels or [])),
        "classes": fitted.classes,
        "positive": fitted.positive,
        "missing": missing,
        **({} if table.id is None else {"id": table.id}),
        "columns": [describe_column(column) for column in table.columns],
        "features": table.features,
        **learned_part,
        "scaling": {"how": fitted.scaling, "centre": fitted.centre.tolist(), "spread": fitted.spread.tolist()},
        **({} if fitted.calibration is None else {"calibration": fitted.calibration.model_dump()}),
        "training": {"file": show_controls(table.path.name), **fitted.summarize_training()},
    }
    content["sha256"] = _compute_digest(json.dumps(content, allow_nan=False))
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _compute_digest(text: str) -> str:
    """Return the sha256 of the contents except the digest itself, regardless of key order and white space.

    Numbers are hashed as written, including digits beyond the precision of a float.
    """
    content = json.loads(text, parse_float=str)
    content.pop("sha256", None)
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _collect_versions(spec: LearnerSpec) -> dict[str, str]:
    """Return the version of each algorithm, with its package if it is a plug-in."""
    entries = {each.learner: find_registration(each.source) for each in walk_learners(spec)}
    return {
        name: " of ".join(filter(None, [str(entry.learner_class.version), entry.package]))
        for name, entry in entries.items()
    }


def read_model(path: Path, trust: bool = False) -> SavedModel:
    """Read and validate a model file; errors name the key."""
    content, digest = _read_json(path)
    if "format" in content and content["format"] != FORMAT:
        raise ModelError(
            f"{path}: 'format' is {content['format']!r}, but zoloss {__version__} reads format {FORMAT}; "
            "fit the model again"
        )
    keys: type[_ModelFile] = _ClassifierFile if content.get("kind") == CLASSIFIER else _RuleFile
    try:
        checked = keys.model_validate(content)
    except ValidationError as error:
        raise ModelError("\n".join(_describe_errors(path, error, keys))) from None
    columns = tuple(_build_column(path, column, checked.missing) for column in checked.columns)
    _check_agreement(path, checked, columns)
    rule: LinearRule | ScaledEstimator
    if isinstance(checked, _ClassifierFile):
        rule = _build_estimator(path, checked)
    else:
        assert isinstance(checked, _RuleFile)
        rule = _build_rule(path, checked)
    notes: tuple[str, ...] = ()
    if checked.sha256 is None:
        notes = (f"{path} has no key 'sha256', so it is unknown whether it was changed since it was fitted",)
    elif checked.sha256 != digest:
        if not trust:
            raise ModelError(
                f"{path}: 'sha256' does not match the contents: the file was changed after it was fitted; fit "
                "the model again, or use it as it is with --trust"
            )
        notes = (f"{path} was changed after it was fitted, and is used as it is",)
    if checked.calibration is not None and (fault := checked.calibration.check(len(checked.classes))):
        raise ModelError(f"{path}: 'calibration': {fault}")
    known = ModelColumns(columns, checked.label, checked.missing, checked.id)
    return SavedModel(known, tuple(checked.labels), tuple(checked.classes), rule, notes, checked.calibration)


def _build_column(path: Path, column: _Column, missing: str) -> CsvColumn:
    """Return a column, checked against its kind and the policy for missing values."""
    where = f"{path}: 'columns': '{column.name}'"
    if (column.kind == "category") != bool(column.levels):
        raise ModelError(f"{where} is a {column.kind}, but its levels do not match")
    fits = column.fill in column.levels if column.levels else isinstance(column.fill, float)
    if (column.fill is not None) != (missing in FILLING) or not (column.fill is None or fits):
        raise ModelError(f"{where} has a 'fill' that does not match its kind and 'missing'")
    if column.indicator and missing != "indicator":
        raise ModelError(f"{where} has an 'indicator', but 'missing' is '{missing}'")
    return CsvColumn(
        column.name, tuple(column.levels) if column.levels else None, column.fill, column.indicator
    )


def _build_rule(path: Path, checked: _RuleFile) -> LinearRule:
    rule = LinearRule(np.array(checked.weights), np.array(checked.scaling.centre), checked.score_at_centre)
    try:
        agrees = rule.bias == checked.bias
    except OverflowError:
        agrees = False
    if not agrees:
        raise ModelError(
            f"{path}: 'bias' does not follow from weights, scaling.centre and score_at_centre: one was edited"
        )
    return rule


def _build_estimator(path: Path, checked: _ClassifierFile) -> ScaledEstimator:
    mistakes = InlineErrorCollector(f"{path}: 'parameters'")
    spec = build_learner_spec(checked.learner, dict(checked.parameters), None, mistakes)
    if spec is None or mistakes.lines:
        raise ModelError("\n".join(dict.fromkeys(mistakes.lines)))
    for name, version in _collect_versions(spec).items():
        if checked.versions.get(name) != version:
            raise ModelError(
                f"{path}: 'versions' has {checked.versions.get(name)!r} for '{name}', but zoloss {__version__} "
                f"has {version!r}; fit the model again"
            )
    try:
        context = StateContext(len(checked.features), checked.points)
        estimator = make_learner(spec.source, spec.parameters)
        estimator.classes_, estimator.n_features_in_ = np.arange(len(checked.classes)), context.n_features
        _restore_state(checked.learned, estimator, spec.learner, context)
    except ValueError as error:
        raise ModelError(f"{path}: 'learned': {error}") from None
    return ScaledEstimator(estimator, np.array(checked.scaling.centre), np.array(checked.scaling.spread))


def _read_json(path: Path) -> tuple[dict, str]:
    """Return the contents of a file, and their digest."""
    try:
        text = read_file(path, MAX_FILE_BYTES).decode("utf-8-sig")
        content = json.loads(text)
        digest = _compute_digest(text) if isinstance(content, dict) else ""
    except FileMissingError:
        beside = [p.name for p in path.parent.glob("*.json")] if path.parent.is_dir() else []
        raise ModelError(f"there is no model file {path}{suggest_nearest(path.name, beside)}") from None
    except FileError as error:
        raise ModelError(f"{path} {error}") from None
    except json.JSONDecodeError as error:
        raise ModelError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise ModelError(f"{path} is not a model file") from None
    if not isinstance(content, dict) or not content:
        raise ModelError(f"{path} is not a model file: it holds no keys")
    return content, digest


def _describe_errors(path: Path, error: ValidationError, keys: type[_ModelFile]) -> list[str]:
    lines = []
    for e in error.errors():
        key = ".".join(map(str, e["loc"]))
        if e["type"] == "missing":
            lines.append(f"{path}: the key '{key}' is missing")
        elif e["type"] == "extra_forbidden":
            lines.append(f"{path}: unknown key '{key}'{suggest_nearest(key, keys.model_fields)}")
        else:
            shown = repr(e["input"])
            if len(shown) > MAX_SHOWN_LENGTH:
                shown = f"{shown[: MAX_SHOWN_LENGTH - 3]}..."
            lines.append(f"{path}: '{key}': {e['msg'][:1].lower()}{e['msg'][1:]} (got {shown})")
    if len(lines) > MAX_SHOWN_ERRORS:
        lines[MAX_SHOWN_ERRORS:] = [f"{path}: and {len(lines) - MAX_SHOWN_ERRORS} more errors"]
    return lines


def _check_agreement(path: Path, checked: _ModelFile, columns: tuple[CsvColumn, ...]) -> None:
    """Check that redundant fields agree."""
    names = list_feature_names(columns)
    if len({c.name for c in columns}) < len(columns) or len(set(names)) < len(names):
        raise ModelError(f"{path}: 'columns' names a column or a level more than once")
    if checked.features != names:
        raise ModelError(f"{path}: 'features' does not name the features of 'columns' in order")
    lengths = {"scaling.centre": checked.scaling.centre, "scaling.spread": checked.scaling.spread}
    if isinstance(checked, _RuleFile):
        lengths["weights"] = checked.weights
    for key, values in lengths.items():
        if len(values) != len(names):
            raise ModelError(f"{path}: '{key}' has {len(values)} numbers for {len(names)} features")
    classes = checked.classes
    if len(set(classes)) < len(classes):
        duplicate = next(name for name in classes if classes.count(name) > 1)
        raise ModelError(f"{path}: 'classes' names '{duplicate}' twice")
    if len(classes) > 2:
        if checked.positive is not None or sorted(checked.labels) != sorted(classes):
            raise ModelError(f"{path}: of more than two 'classes', 'labels' must hold all and 'positive' none")
    elif checked.positive != classes[1]:
        raise ModelError(f"{path}: 'positive' is not the second of 'classes'")
    elif checked.positive not in checked.labels:
        raise ModelError(f"{path}: 'labels' does not hold the positive class '{checked.positive}'")
