"""The JSON schema of configs, built from the same declarations that validate them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from zoloss_cli.config.catalog import find_generator, has_generator, list_usable_datasets, load_catalog
from zoloss_cli.config.loader import CLUSTER_EXAMPLES
from zoloss_cli.config.models import (
    ClusterSettings,
    CsvData,
    EmbeddedData,
    GeneratedData,
    Improvement,
    Preprocess,
    Published,
    Ratio,
    Split,
    Tuning,
)
from zoloss_cli.registry import (
    DATASET_PLUGINS,
    GENERATORS,
    LEARNERS,
    MEASURES,
    LearnerRegistration,
    Registry,
    find_nested_learners,
    list_metrics,
)
from zoloss_cli.utils.text import MAX_NAME_BYTES

BEST_OF = {
    "type": "object",
    "additionalProperties": {"type": "array", "minItems": 1},
    "description": "parameters (such as base.C) and the values to try; the table shows each data set's best",
}
TUNE = {"type": "object", "minProperties": 1} | BEST_OF
TUNE["description"] = "parameters (such as base.C) and the values to choose from by the config's tuning"
WHILE_TUNING = {
    "type": "object",
    "minProperties": 1,
    "description": "parameters of candidates only during cross-validation, such as {rounds: 20}",
}

ON = {
    "type": "object",
    "additionalProperties": {"anyOf": [{"type": "object"}, {"const": False}]},
    "description": "settings that differ by data set, such as {letter: {rounds: 1000}}; false skips a data set",
}
VARIANTS = {"best_of": BEST_OF, "tune": TUNE, "while_tuning": WHILE_TUNING, "on": ON}


# A class of an installed package or in a file next to the config; only the class knows its parameters.
CLASS_PATTERN = r"^(.+\.py:\w+|[A-Za-z_]\w*(\.[A-Za-z_]\w*)+)$"
CLUSTER_PATTERN = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"
CLASS_NAME = {
    "type": "string",
    "pattern": CLASS_PATTERN,
    "description": "a class, such as sklearn.svm.LinearSVC, or one in a file beside this one, mine.py:MyClass",
}
CLASS_ENTRY = {"type": "object", "required": ["learner"], "properties": {"learner": CLASS_NAME} | VARIANTS}


def build_config_schema() -> dict:
    """Return a JSON schema (2020-12) that editors use to complete and check configs."""
    definitions: dict = {}
    data_entries, any_data = _build_data_entries(definitions)
    learner_entries, any_learner = _build_entries("learner", LEARNERS, VARIANTS, definitions)
    definitions["learner"] = {"anyOf": [{"enum": list(learner_entries)}, CLASS_NAME, *any_learner, CLASS_ENTRY]}
    measure_entries, any_measure = _build_entries("measure", MEASURES, {"on": ON}, definitions)
    metrics = list_metrics()
    several = {"type": "array", "items": {"enum": metrics}, "minItems": 1, "uniqueItems": True}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "zoloss experiment",
        "type": "object",
        "required": ["datasets"],
        "oneOf": [{"required": ["learners"]}, {"required": ["measures"]}],
        "additionalProperties": False,
        "properties": {
            "name": {
                "type": "string",
                "pattern": r"^[^./\\][^/\\]*$",
                "maxLength": MAX_NAME_BYTES,
                "description": "name of the results and of their manifest (default: the config's file name)",
            },
            "title": {"type": "string", "description": "caption of the table"},
            "citation": {"type": "string", "description": "where the table was published"},
            "published": _object(Published, definitions),
            "metric": {"enum": metrics, "default": "test_error", "description": "what the table shows"},
            "also": {
                "anyOf": [{"enum": metrics}, several],
                "description": "a second metric, or several, in columns after each learner's",
            },
            "metrics": several | {"description": "all metrics in one list, instead of metric and also"},
            "keep": {
                "enum": ["scores", "probabilities"],
                "description": "store scores of test samples, or also probabilities, as some metrics need",
            },
            "baseline": {
                "type": "string",
                "description": "* marks what is better than the best of this table by one standard error",
            },
            "split": _object(Split, definitions),
            "preprocess": _object(Preprocess, definitions),
            "tuning": _object(Tuning, definitions),
            "improvement": _object(Improvement, definitions),
            "ratios": {
                "type": "object",
                "additionalProperties": _object(Ratio, definitions),
                "minProperties": 1,
                "description": "the columns of a table of cost_ratio, each by its label",
            },
            "datasets": _names_or_mapping(data_entries, any_data),
            "learners": _add_classes(_names_or_mapping(learner_entries, {"$ref": "#/$defs/learner"})),
            "measures": _names_or_mapping(measure_entries, {"anyOf": any_measure}),
            "run": _build_run_section(definitions),
        },
        "$defs": definitions,
    }


def _build_run_section(definitions: dict) -> dict:
    """Return the schema of the section `run`: a scheduler, or a cluster class with its settings."""
    section = _object(ClusterSettings, definitions, drop=("cluster", "settings"))
    settings = {"type": ["object", "null"], "description": "keyword arguments of the class"}
    return section | {
        "properties": section["properties"] | dict.fromkeys(CLUSTER_EXAMPLES, settings),
        "patternProperties": {CLUSTER_PATTERN: settings},
        "description": "a cluster to run on, instead of processes on this machine",
    }


def _build_data_entries(definitions: dict) -> tuple[dict, dict]:
    """Return the schema of each data set's entry by name, and that of entries with other names."""
    embedded = _object(EmbeddedData, definitions)
    entries = {name: _optional(embedded, e.title) for name, e in load_catalog().items()}
    of_plugins = [name for name in list_usable_datasets() if name in DATASET_PLUGINS]
    for name in of_plugins:
        if not has_generator(name):
            entries[name] = _optional(embedded, _first_line(DATASET_PLUGINS[name].loaded))
    for name in [*GENERATORS, *(n for n in of_plugins if has_generator(n))]:
        generator = find_generator(name)
        own = _object(GeneratedData, definitions, drop=("settings",))
        own["properties"] |= _object(generator.parameter_model, definitions)["properties"]
        entries[name] = _optional(own, _first_line(generator.loaded))
    generated = _object(GeneratedData, definitions, drop=("settings",)) | {"additionalProperties": True}
    return entries, {"anyOf": [_object(CsvData, definitions), embedded, generated]}


def _build_entries(
    kind: str, registry: Registry[LearnerRegistration], more: dict, definitions: dict
) -> tuple[dict, list[dict]]:
    """Return the schema of each learner's or measure's entry by name, and those of entries with other names."""
    entries, renamed = {}, []
    for name, registered in registry.list_usable().items():
        own = _object(registered.parameter_model, definitions)
        for key in find_nested_learners(registered.parameter_model):
            own["properties"][key] |= {"$ref": "#/$defs/learner"}
        own["properties"] |= {kind: {"const": name}} | more
        entries[name] = _optional(own, _first_line(registered.learner_class))
        renamed.append(own | {"required": [kind]})
    return entries, renamed


def _first_line(documented: Any) -> str:
    return documented.__doc__.splitlines()[0]


def _object(model: type[BaseModel], definitions: dict, drop: tuple[str, ...] = ()) -> dict:
    schema = model.model_json_schema(ref_template="#/$defs/{model}")
    definitions.update(schema.pop("$defs", {}))
    properties = {k: v for k, v in schema["properties"].items() if k not in drop}
    kept = {"type": "object", "additionalProperties": False, "properties": properties}
    if schema.get("required"):
        kept["required"] = schema["required"]
    return kept


def _optional(schema: dict, description: str) -> dict:
    return {"anyOf": [{"type": "null"}, schema], "description": description}


def _add_classes(learners: dict) -> dict:
    """Return the schema of the learners of a config, which may also be names of classes."""
    names, entries = learners["anyOf"]
    names = names | {"items": {"anyOf": [names["items"], CLASS_NAME]}}
    by_class = {k: v for k, v in CLASS_ENTRY.items() if k != "required"}
    entries = entries | {"patternProperties": {CLASS_PATTERN: {"anyOf": [{"type": "null"}, by_class]}}}
    return {"anyOf": [names, entries]}


def _names_or_mapping(entries: dict, other: dict) -> dict:
    return {
        "anyOf": [
            {"type": "array", "items": {"enum": list(entries)}, "minItems": 1},
            {"type": "object", "properties": entries, "additionalProperties": other, "minProperties": 1},
        ]
    }
