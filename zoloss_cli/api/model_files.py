"""Models as readable JSON files, and every reason not to trust such a file.

A linear rule is stored by its weights in the table's own units; anything else by its learner, for scaled
features, and the state of its estimator. A digest of the contents shows whether a file was changed later.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zoloss_cli import __version__
from zoloss_cli.api.fit import TableFit
from zoloss_cli.api.fit_text import describe_column
from zoloss_cli.api.rules import LinearRule, ScaledEstimator
from zoloss_cli.api.states import (
    AnyState,
    Number,
    StateContext,
    find_unserializable,
    list_specs,
    restore_estimator,
    take_state,
)
from zoloss_cli.api.validation import Calibration
from zoloss_cli.config.learners import build_learner_spec
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.columns import CsvColumn, list_feature_names
from zoloss_cli.data.new_rows import ModelColumns
from zoloss_cli.data.user_table import FILLING
from zoloss_cli.errors import ConfigError, ModelError, suggest_nearest
from zoloss_cli.registry import find_registration, is_foreign
from zoloss_cli.utils.files import FileError, FileMissingError, read_file
from zoloss_cli.utils.text import show_controls

FORMAT = 1
RULE, CLASSIFIER = "zoloss linear rule", "zoloss classifier"
MAX_FILE_BYTES = 1 << 28
MAX_SHOWN_ERRORS = 5


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


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
    """What a model file says about new samples.

    Attributes
    ----------
    known : ModelColumns
        The columns, and what to do with missing values.
    labels : tuple of str
        The labels of the training samples: several may make up the negative class.
    classes : tuple of str
        The classes; with two, the positive one is last.
    rule : LinearRule or ScaledEstimator
        The rule that scores samples.
    notes : tuple of str
        Notes about the file.
    calibration : Calibration or None
        The curves from scores to probabilities.
    """

    known: ModelColumns
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    rule: LinearRule | ScaledEstimator
    notes: tuple[str, ...] = ()
    calibration: Calibration | None = None


def check_serializable(spec: LearnerSpec) -> None:
    """Refuse a learner whose model cannot be saved, before it is fitted."""
    if any(is_foreign(each.learner) for each in list_specs(spec)):
        raise ConfigError(
            f"--model: '{spec.learner}' is a class of a package or a file, but only zoloss's own learners can "
            "be saved: a model file holds numbers, not code"
        )
    if name := find_unserializable(spec):
        raise ConfigError(
            f"--model: the estimator of '{name}' cannot be saved: it is neither linear nor made of linear rules"
        )


def render_model(fitted: TableFit, missing: str) -> str:
    """Return the content of a model file; `missing` says what to do with missing values in new samples."""
    table = fitted.table
    content = {
        "format": FORMAT,
        "kind": CLASSIFIER if fitted.rule is None else RULE,
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
        **(_describe_state(fitted) if fitted.rule is None else _describe_rule(fitted.rule)),
        "scaling": {
            "how": fitted.scaling,
            "centre": fitted.centre.tolist(),
            "spread": fitted.spread.tolist(),
        },
        **({} if fitted.calibration is None else {"calibration": fitted.calibration.model_dump()}),
        "training": {"file": show_controls(table.path.name), **fitted.summarize_training()},
    }
    content["sha256"] = _compute_digest(json.dumps(content, allow_nan=False))
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _compute_digest(text: str) -> str:
    """Return the sha256 of the contents except the digest itself, for any order of keys and any white space.

    Numbers count as written: digits beyond the precision of a float are part of the content, too.
    """
    content = json.loads(text, parse_float=str)
    content.pop("sha256", None)
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _describe_rule(rule: LinearRule) -> dict:
    return {"weights": rule.weights.tolist(), "bias": rule.bias, "score_at_centre": rule.at_centre}


def _describe_state(fitted: TableFit) -> dict:
    context = StateContext(fitted.table.X.shape[1], [])
    state = take_state(fitted.estimator, context).model_dump()
    return {"versions": _collect_versions(fitted.learner), "points": context.points, "learned": state}


def _collect_versions(spec: LearnerSpec) -> dict[str, str]:
    """Return the version of each algorithm, with the package if it is not ours."""
    entries = {each.learner: find_registration(each.source) for each in list_specs(spec)}
    return {
        name: " of ".join(filter(None, [_find_version(entry.learner_class), entry.package]))
        for name, entry in entries.items()
    }


def _find_version(learner_class: Any) -> str:
    return str(learner_class.version)


def read_model(path: Path, trust: bool = False) -> SavedModel:
    """Read and validate a model file; a mistake is named by its key.

    Parameters
    ----------
    path : Path
        The file.
    trust : bool, default=False
        Whether to read a file that was changed after it was written.

    Returns
    -------
    SavedModel
        What it says about new samples.

    Raises
    ------
    ModelError
        If it is not a model file, or was changed and is not trusted.
    """
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
    rule = _build_rule(path, checked) if isinstance(checked, _RuleFile) else _build_estimator(path, checked)
    notes = _check_digest(path, checked, digest, trust)
    known = ModelColumns(columns, checked.label, checked.missing, checked.id)
    if checked.calibration is not None and (fault := checked.calibration.check(len(checked.classes))):
        raise ModelError(f"{path}: 'calibration': {fault}")
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


def _check_digest(path: Path, checked: _ModelFile, digest: str, trust: bool) -> tuple[str, ...]:
    """Refuse a file that was changed, unless it is trusted; return notes about it."""
    if checked.sha256 is None:
        return (f"{path} has no key 'sha256', so it is unknown whether it was changed since it was fitted",)
    if checked.sha256 == digest:
        return ()
    if not trust:
        raise ModelError(
            f"{path}: 'sha256' does not match the rest: the file was changed after it was fitted; fit the "
            "model again, or use it as it is with --trust"
        )
    return (f"{path} was changed after it was fitted, and is used as it is",)


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


def _build_estimator(path: Path, checked: _ModelFile) -> ScaledEstimator:
    assert isinstance(checked, _ClassifierFile)
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
        estimator = restore_estimator(spec, checked.learned, len(checked.classes), context)
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
            lines.append(
                f"{path}: '{key}': {e['msg'][:1].lower()}{e['msg'][1:]} (got {_abbreviate(e['input'])})"
            )
    more = (
        [f"{path}: and {len(lines) - MAX_SHOWN_ERRORS} more mistakes"] if len(lines) > MAX_SHOWN_ERRORS else []
    )
    return lines[:MAX_SHOWN_ERRORS] + more


def _abbreviate(value: object, longest: int = 40) -> str:
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."


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
        twice = next(name for name in classes if classes.count(name) > 1)
        raise ModelError(f"{path}: 'classes' names '{twice}' twice")
    if len(classes) > 2:
        if checked.positive is not None or sorted(checked.labels) != sorted(classes):
            raise ModelError(f"{path}: of more than two 'classes', 'labels' must hold all and 'positive' none")
    elif checked.positive != classes[1]:
        raise ModelError(f"{path}: 'positive' is not the second of 'classes'")
    elif checked.positive not in checked.labels:
        raise ModelError(f"{path}: 'labels' does not hold the positive class '{checked.positive}'")
