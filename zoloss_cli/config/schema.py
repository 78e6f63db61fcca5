"""The JSON schema of configs, made from the same declarations that check them."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic import BaseModel

from zoloss_cli.config.models import (
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
from zoloss_cli.datasets.catalog import catalog
from zoloss_cli.datasets.generators import GENERATORS, find_generator, is_generated
from zoloss_cli.datasets.plugin_datasets import find_entry, plugin_datasets, working_names
from zoloss_cli.registry import MEASURES, METRICS, nested_learners, parameters, working_learners
from zoloss_cli.utils.signature import parameter_model

BEST_OF = {
    "type": "object",
    "additionalProperties": {"type": "array", "minItems": 1},
    "description": "parameters (such as base.C) and the values to try; the table shows each data set's best",
}
TUNE = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "array", "minItems": 1},
    "description": "parameters (such as base.C) and the values to choose from by the config's tuning",
}

ON = {
    "type": "object",
    "additionalProperties": {"anyOf": [{"type": "object"}, {"const": False}]},
    "description": "data sets and the settings that differ there, such as {letter: {rounds: 1000}}; or false",
}


def config_schema() -> dict:
    """A JSON schema (2020-12) that editors use to complete and check configs."""
    definitions: dict = {}
    embedded = _object(EmbeddedData, definitions)
    data_entries = {name: _optional(embedded, e.title) for name, e in catalog().items()}
    theirs = [name for name in working_names() if name in plugin_datasets()]
    data_entries |= {n: _optional(embedded, find_entry(n).title) for n in theirs if not is_generated(n)}
    for name in [*GENERATORS, *(n for n in theirs if is_generated(n))]:
        function = find_generator(name)
        own = _object(GeneratedData, definitions, drop=("settings",))
        extra = _object(parameter_model(function, frozenset({"rng"})), definitions)
        own["properties"] |= extra["properties"]
        data_entries[name] = _optional(own, function.__doc__.splitlines()[0])
    generated = _object(GeneratedData, definitions, drop=("settings",)) | {"additionalProperties": True}
    any_data = {"anyOf": [_object(CsvData, definitions), embedded, generated]}
    learner_entries, renamed = {}, []
    learners = working_learners()
    for name, registered in learners.items():
        own = _object(parameters(name), definitions)
        for key in nested_learners(parameters(name)):
            own["properties"][key] |= {"$ref": "#/$defs/learner"}
        own["properties"]["learner"] = {"const": name}
        own["properties"] |= {"best_of": BEST_OF, "tune": TUNE, "on": ON}
        learner_entries[name] = _optional(own, registered.learner_class.__doc__.splitlines()[0])
        renamed.append(own | {"required": ["learner"]})
    measure_entries, named = {}, []
    for name, registered in MEASURES.items():
        own = _object(parameters(name), definitions)
        own["properties"] |= {"measure": {"const": name}, "on": ON}
        measure_entries[name] = _optional(own, registered.learner_class.__doc__.splitlines()[0])
        named.append(own | {"required": ["measure"]})
    definitions["learner"] = {"anyOf": [{"enum": list(learners)}, *renamed]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "zoloss experiment",
        "type": "object",
        "required": ["datasets"],
        "oneOf": [{"required": ["learners"]}, {"required": ["measures"]}],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "description": "name of the results (default: the file's name)"},
            "title": {"type": "string", "description": "caption of the table"},
            "citation": {"type": "string", "description": "where the table was published"},
            "published": _object(Published, definitions),
            "metric": {"enum": list(METRICS), "default": "test_error", "description": "what the table shows"},
            "also": {
                "enum": list(METRICS),
                "description": "a second metric, in a column after each learner's",
            },
            "keep": {
                "const": "scores",
                "description": "store the scores of test samples too, as some metrics need",
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
            "datasets": _names_or_mapping(data_entries, any_data, list(data_entries)),
            "learners": _names_or_mapping(learner_entries, {"$ref": "#/$defs/learner"}, list(learners)),
            "measures": _names_or_mapping(measure_entries, {"anyOf": named}, list(MEASURES)),
        },
        "$defs": definitions,
    }


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


def _names_or_mapping(entries: dict, other: dict, names: list[str]) -> dict:
    return {
        "anyOf": [
            {"type": "array", "items": {"enum": names}, "minItems": 1},
            {"type": "object", "properties": entries, "additionalProperties": other, "minProperties": 1},
        ]
    }


def type_text(fact) -> str:
    """A parameter's type in words, for help texts."""
    text = _words(fact.annotation)
    limits = [
        f"{sign} {value:g}"
        for rule in fact.metadata
        for sign, attribute in ((">=", "ge"), (">", "gt"), ("<=", "le"), ("<", "lt"))
        if (value := getattr(rule, attribute, None)) is not None
    ]
    return " ".join([text, *limits])


def _words(annotation) -> str:
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if annotation is Any:  # the only parameter of any type is one that holds a learner
        return "learner"
    if origin is None:
        return getattr(annotation, "__name__", str(annotation))
    if getattr(origin, "__name__", "") == "Literal" or str(origin) == "typing.Literal":
        return " | ".join(str(a) for a in arguments)
    if origin is list:
        return f"list of {_words(arguments[0])}"
    if hasattr(annotation, "__metadata__"):
        return _words(arguments[0])
    return " | ".join(_words(a) for a in arguments)
