"""A linear rule as a readable JSON file, and every reason not to trust such a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zoloss_cli import __version__
from zoloss_cli.datasets.own_table import Column, feature_names
from zoloss_cli.errors import ModelError, nearest
from zoloss_cli.usage.rule import LinearRule
from zoloss_cli.usage.train import Fitted

FORMAT = 1
KIND = "zoloss linear rule"
SHOWN = 5

Number = Annotated[float, Field(allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Column(_Part):
    name: str
    kind: Literal["number", "category"]
    levels: list[str] | None = None


class _Scaling(_Part):
    how: Literal["standard", "minmax", "none"]
    centre: list[Number]
    spread: list[Number]


class _ModelFile(_Part):
    """The keys of the file. A row's score is score_at_centre plus the sum of weight * (value - centre)."""

    format: int
    kind: Literal["zoloss linear rule"]
    zoloss: str
    learner: str
    parameters: dict[str, Any]
    seed: int
    label: str
    labels: Annotated[list[str], Field(min_length=2)]
    classes: Annotated[list[str], Field(min_length=2, max_length=2)]
    positive: str
    missing: Literal["error", "drop", "zero"]
    columns: Annotated[list[_Column], Field(min_length=1)]
    features: list[str]
    weights: list[Number]
    bias: Number
    score_at_centre: Number
    scaling: _Scaling
    training: dict[str, Any]


@dataclass(frozen=True)
class Model:
    """What a model file says about new rows."""

    columns: tuple[Column, ...]
    label: str
    labels: tuple[str, ...]  # of the training rows: several may stand behind the negative class
    classes: tuple[str, str]  # the positive one last
    missing: str
    rule: LinearRule


def model_text(fitted: Fitted, missing: str) -> str:
    """The file's content for a linear rule."""
    table, rule = fitted.table, fitted.rule
    content = {
        "format": FORMAT,
        "kind": KIND,
        "zoloss": __version__,
        "learner": fitted.learner.learner,
        "parameters": fitted.learner.parameters,
        "seed": fitted.seed,
        "label": table.label,
        "labels": sorted(set(table.labels)),
        "classes": fitted.classes,
        "positive": fitted.classes[1],
        "missing": missing,
        "columns": [described(column) for column in table.columns],
        "features": table.features,
        "weights": rule.weights.tolist(),
        "bias": rule.bias,
        "score_at_centre": rule.at_centre,
        "scaling": {
            "how": fitted.scaling,
            "centre": rule.centre.tolist(),
            "spread": fitted.spread.tolist(),
        },
        "training": {"file": table.path.name, **fitted.training()},
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def described(column: Column) -> dict:
    """A column as the file and --json name it."""
    if column.levels is None:
        return {"name": column.name, "kind": "number"}
    return {"name": column.name, "kind": "category", "levels": list(column.levels)}


def read_model(path: Path) -> Model:
    """Read and check a model file; a mistake is named by its key."""
    content = _read_json(path)
    if "format" in content and content["format"] != FORMAT:
        raise ModelError(
            f"{path}: 'format' is {content['format']!r}, but zoloss {__version__} reads format {FORMAT}; "
            "fit the model again"
        )
    try:
        checked = _ModelFile.model_validate(content)
    except ValidationError as error:
        raise ModelError("\n".join(_sentences(path, error))) from None
    for column in checked.columns:
        if (column.kind == "category") != bool(column.levels):
            raise ModelError(f"{path}: 'columns': '{column.name}' is a {column.kind}, but not by its levels")
    columns = tuple(Column(c.name, tuple(c.levels) if c.levels else None) for c in checked.columns)
    _check_agreement(path, checked, columns)
    rule = LinearRule(np.array(checked.weights), np.array(checked.scaling.centre), checked.score_at_centre)
    try:
        agrees = rule.bias == checked.bias
    except OverflowError:
        agrees = False
    if not agrees:
        raise ModelError(
            f"{path}: 'bias' does not follow from weights, scaling.centre and score_at_centre: one was edited"
        )
    classes = (checked.classes[0], checked.classes[1])
    return Model(columns, checked.label, tuple(checked.labels), classes, checked.missing, rule)


def _read_json(path: Path) -> dict:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*.json")] if path.parent.is_dir() else []
        raise ModelError(f"there is no model file {path}{nearest(path.name, beside)}") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from None
    except json.JSONDecodeError as error:
        raise ModelError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise ModelError(f"{path} is not a model file") from None
    if not isinstance(content, dict) or not content:
        raise ModelError(f"{path} is not a model file: it holds no keys")
    return content


def _sentences(path: Path, error: ValidationError) -> list[str]:
    lines = []
    for e in error.errors():
        key = ".".join(map(str, e["loc"]))
        if e["type"] == "missing":
            lines.append(f"{path}: the key '{key}' is missing")
        elif e["type"] == "extra_forbidden":
            lines.append(f"{path}: unknown key '{key}'{nearest(key, _ModelFile.model_fields)}")
        else:
            lines.append(f"{path}: '{key}': {e['msg'][:1].lower()}{e['msg'][1:]} (got {_short(e['input'])})")
    more = [f"{path}: and {len(lines) - SHOWN} more mistakes"] if len(lines) > SHOWN else []
    return lines[:SHOWN] + more


def _short(value, longest: int = 40) -> str:
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _check_agreement(path: Path, checked: _ModelFile, columns: tuple[Column, ...]) -> None:
    """Keys that say the same thing must say the same thing."""
    names = feature_names(columns)
    if len({c.name for c in columns}) < len(columns) or len(set(names)) < len(names):
        raise ModelError(f"{path}: 'columns' names a column or a level more than once")
    if checked.features != names:
        raise ModelError(f"{path}: 'features' does not name what 'columns' makes, in its order")
    lengths = {
        "weights": checked.weights,
        "scaling.centre": checked.scaling.centre,
        "scaling.spread": checked.scaling.spread,
    }
    for key, values in lengths.items():
        if len(values) != len(names):
            raise ModelError(f"{path}: '{key}' has {len(values)} numbers for {len(names)} features")
    if checked.classes[0] == checked.classes[1]:
        raise ModelError(f"{path}: 'classes' names '{checked.positive}' twice")
    if checked.positive != checked.classes[1]:
        raise ModelError(f"{path}: 'positive' is not the second of 'classes'")
    if checked.positive not in checked.labels:
        raise ModelError(f"{path}: 'labels' does not hold the positive class '{checked.positive}'")
