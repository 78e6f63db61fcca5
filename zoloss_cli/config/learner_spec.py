"""The learners or measures of a config, with all their parameters: one column of a table each."""

from __future__ import annotations

import copy
import itertools

from pydantic import ValidationError

from zoloss_cli.config.messages import ErrorCollector
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registry import MEASURES, learners, nested_learners, parameters, registration

WHAT_TO_LIST = "must be a mapping from a parameter (such as base.C) to the list of values to try"


def columns(
    label: str, entry: dict, datasets: list[str], seeding: str | None, tuning: bool, mistakes: ErrorCollector
) -> list[LearnerSpec]:
    """The learners of a column; `on` gives other settings on some data sets: {letter: {rounds: 1000}}.

    `false` for a data set leaves its cell out.
    """

    def make(given: dict) -> list[LearnerSpec]:
        return column(label, given, seeding, tuning, mistakes)

    return _by_data_set(make, entry, datasets, ("learners", label, "on"), mistakes)


def measured(label: str, entry: dict, datasets: list[str], mistakes: ErrorCollector) -> list[LearnerSpec]:
    """What is measured in a column: specs like those of learners, and `on` as there."""
    keys = ("measures", label)

    def make(given: dict) -> list[LearnerSpec]:
        given.setdefault("measure", label)
        spec = _spec(label, given, "measure", MEASURES, mistakes, keys)
        return [] if spec is None else [spec]

    return _by_data_set(make, entry, datasets, (*keys, "on"), mistakes)


def _by_data_set(
    make, entry: dict, datasets: list[str], keys: tuple, mistakes: ErrorCollector
) -> list[LearnerSpec]:
    """What `make` makes of an entry, and of what its `on` says differently of some data sets."""
    own = entry.pop("on", None) or {}
    if not isinstance(own, dict) or not all(isinstance(v, dict) or v is False for v in own.values()):
        mistakes.add(keys, "must be a mapping from data sets to the settings that differ there, or to false")
        return []
    if own and all(own.get(name) is False for name in datasets):
        mistakes.add(keys, "is false for all data sets: leave the learner out instead")
    for name in own:
        if name not in datasets:
            mistakes.add((*keys, name), f"the config has no data set '{name}'{suggest_nearest(name, datasets)}")
    specs = []
    for name, settings in own.items():
        if settings is False:
            continue
        varied = copy.deepcopy(entry) | {k: v for k, v in settings.items() if v is not None}
        for key in [k for k, v in settings.items() if v is None]:
            varied.pop(key, None)
        specs += [spec.model_copy(update={"only": (name,)}) for spec in make(varied)]
    rest = tuple(name for name in datasets if name not in own) if own else None
    if rest == ():
        return specs
    return [spec.model_copy(update={"only": rest}) for spec in make(entry)] + specs


def column(
    label: str, entry: dict, seeding: str | None, tuning: bool, mistakes: ErrorCollector
) -> list[LearnerSpec]:
    """The learner of a column, or one for each combination of the values that `best_of` lists.

    `tuning` says whether the config has that section, without which `tune` would have no rule.
    """
    shown, tuned, keys = entry.pop("best_of", None) or {}, "tune" in entry, ("learners", label)
    chosen = entry.pop("tune", None) or {}
    if tuned and not tuning:
        mistakes.add((*keys, "tune"), "the config does not say how: add the section tuning: {folds: 5}")
    specs = []
    for choice, varied in _variants(shown, entry, (*keys, "best_of"), mistakes):
        candidates = [
            spec.model_copy(update={"choice": text})
            for text, candidate in _variants(chosen, varied, (*keys, "tune"), mistakes)
            if (spec := build_learner_spec(label, candidate, seeding, mistakes)) is not None
        ]
        if tuned and not chosen:
            mistakes.add((*keys, "tune"), WHAT_TO_LIST)
        elif candidates:
            tune = tuple(candidates) if chosen else ()
            specs.append(candidates[0].model_copy(update={"choice": choice, "tune": tune}))
    return specs


def _variants(options, entry: dict, keys: tuple, mistakes: ErrorCollector) -> list[tuple[str, dict]]:
    """(what was chosen, the entry with it) for each combination of the values that `options` lists."""
    if not isinstance(options, dict) or not all(isinstance(v, list) and v for v in options.values()):
        mistakes.add(keys, WHAT_TO_LIST)
        return []
    variants = []
    for values in itertools.product(*options.values()):
        varied = copy.deepcopy(entry)
        for path, value in zip(options, values, strict=True):
            *outer, last = str(path).split(".")
            inside = varied
            for key in outer:
                inner = inside.get(key)
                inside[key] = inside = {"learner": inner} if isinstance(inner, str) else inner
                if not isinstance(inside, dict):
                    mistakes.add((*keys, path), f"'{path}' leads nowhere: there is no '{key}' in this entry")
                    return []
            inside[last] = value
        choice = ", ".join(f"{path}={value}" for path, value in zip(options, values, strict=True))
        variants.append((choice, varied))
    return variants


def parse_learner_name(name: str) -> dict:
    """The entry of a learner as tables name it: ecc:adaboost:stump is ECC over AdaBoost over stump."""
    outer, colon, base = name.partition(":")
    return {"learner": outer, "base": parse_learner_name(base) or base} if colon else {}


def build_learner_spec(
    label: str, entry: dict, seeding: str | None, mistakes: ErrorCollector, keys: tuple = ()
) -> LearnerSpec | None:
    """A learner with all its parameters; one inside another (its base) is checked in the same way."""
    entry.setdefault("learner", label)
    return _spec(label, entry, "learner", learners(), mistakes, keys or ("learners", label), seeding)


def _spec(
    label: str, entry: dict, kind: str, known, mistakes: ErrorCollector, keys: tuple, seeding: str | None = None
) -> LearnerSpec | None:
    """What an entry names under `kind`, of those that are known, with all its parameters."""
    name = entry.pop(kind)
    if name not in known:
        at = (*keys, kind) if mistakes.exists((*keys, kind)) else keys
        mistakes.add(at, f"no {kind} is called '{name}'{suggest_nearest(name, known)}")
        return None
    try:
        model = parameters(name)
    except ConfigError as broken:  # another package's learner
        mistakes.add(keys, str(broken))
        return None
    if seeding is not None and "seeding" in model.model_fields:
        entry.setdefault("seeding", seeding)
    inner = {}
    for key in nested_learners(model):
        given = entry.pop(key, model.model_fields[key].default)
        inner[key] = _inner_learner(given, seeding, mistakes, (*keys, key))
        entry[key] = "checked"
    try:
        filled = model.model_validate(entry).model_dump(warnings=False)
    except ValidationError as error:
        mistakes.add_all(keys, error, [*model.model_fields, kind])
        return None
    if None in inner.values():
        return None
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in filled.items()} | inner
    return LearnerSpec(label=label, learner=name, settings=tuple(sorted(settings.items())))


def _inner_learner(given, seeding: str | None, mistakes: ErrorCollector, keys: tuple) -> LearnerSpec | None:
    entry = {"learner": given} if isinstance(given, str) else given
    if not isinstance(entry, dict) or not isinstance(entry.get("learner"), str):
        mistakes.add(keys, f"must be a learner's name or {{learner: its name, ...}} (got {given!r})")
        return None
    spec = build_learner_spec(entry["learner"], dict(entry), seeding, mistakes, keys)
    if spec is not None and registration(spec.learner).takes_many_classes:
        mistakes.add(keys, f"'{spec.learner}' is for several classes, and a base must be one for two")
    elif spec is not None and not registration(spec.learner).takes_weights:
        mistakes.add(keys, f"'{spec.learner}' takes no sample weights, so it cannot be boosted")
    return spec
