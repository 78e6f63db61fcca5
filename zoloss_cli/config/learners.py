"""Learners in a config: names, parameters, tuning, and classes of other packages."""

from __future__ import annotations

import copy
import itertools
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from zoloss_cli.config.messages import ErrorCollector, Keys, shorten
from zoloss_cli.config.models import LearnerSpec, SettingMapping
from zoloss_cli.errors import ConfigError, ZolossError
from zoloss_cli.external import check_package_installed, explain_refusal
from zoloss_cli.registry import (
    LEARNERS,
    MEASURES,
    find_nested_learners,
    find_registration,
    is_external,
    is_unchecked,
    make_learner,
)
from zoloss_cli.utils.imports import CodeSource, find_code_policy, is_code_name, read_code
from zoloss_cli.utils.signature import RANDOM_STATE

MAX_DEPTH = 10
WRONG_PARAMETER = re.compile(r"The '(\w+)' parameter of \w+ (.*)", re.S)


class NamedClass(NamedTuple):
    """A class of a package or in a file."""

    learner: str  # its name in tables and seeds: a dotted name, or that of the file without its folder
    source: str  # the name by which the registry finds it, with the hash of its file
    code: CodeSource | None = None


def resolve_class(name: str, folder: Path | None = None) -> NamedClass:
    """Return the class that a name refers to; a file, which must be in `folder` if given, is not run."""
    if not is_code_name(name):
        return NamedClass(name, name)
    learner, code = read_code(name, folder)
    return NamedClass(learner, f"{learner}@{code.sha256}", code)


def build_external_spec(
    label: str, named: NamedClass, entry: dict, keys: Keys, errors: ErrorCollector
) -> LearnerSpec | None:
    """Return the specification of another package's estimator, which validates its parameters itself."""
    model = find_registration(named.source).parameter_model
    if RANDOM_STATE in entry:
        errors.add(
            (*keys, RANDOM_STATE), "every task has a seed of its own, derived from split.seed: leave it out"
        )
        return None
    try:
        model.model_validate(entry)
    except ValidationError as error:
        errors.add_validation_error(keys, error, model, ["learner"])
        return None
    settings: list[tuple[str, Any]] = []
    for key, value in sorted(entry.items()):
        try:
            settings.append((key, _freeze(value, (*keys, key), errors)))
        except ConfigError as error:
            errors.add((*keys, key), str(error))
            return None
        if settings[-1][1] is None and value is not None:
            return None  # the errors of the nested learner are already reported
    spec = LearnerSpec(label=label, learner=named.learner, settings=tuple(settings), code=named.code)
    return spec if _check_values(spec, keys, errors) else None


def _freeze(value: Any, keys: Keys, errors: ErrorCollector, depth: int = 0) -> Any:
    """Return a parameter's value in a form that can be hashed and stored; a learner becomes a specification."""
    if isinstance(value, dict) and isinstance(value.get("learner"), str):
        return build_learner_spec(value["learner"], dict(value), None, errors, keys)
    if depth > MAX_DEPTH or not isinstance(value, dict | list | str | int | float | None):
        raise ConfigError(f"must be a number, a text, a list, a mapping or a learner (got {shorten(value)})")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"must be finite (got {value})")
    if isinstance(value, dict):
        # Keys in a config are text, but class labels may be integers.
        labels = [int(k) if isinstance(k, str) and k.isdecimal() else k for k in value]
        frozen = [_freeze(each, keys, errors, depth + 1) for each in value.values()]
        return SettingMapping(pairs=tuple(zip(labels, frozen, strict=True)))
    return tuple(_freeze(each, keys, errors, depth + 1) for each in value) if isinstance(value, list) else value


def _check_values(spec: LearnerSpec, keys: Keys, errors: ErrorCollector) -> bool:
    """Return whether the estimator can be built and, if it validates its parameters, accepts them."""
    try:
        estimator = make_learner(spec.source, spec.parameters).estimator
    except ConfigError as error:
        errors.add(keys, str(error))
        return False
    validate = getattr(estimator, "_validate_params", None)  # scikit-learn's own check at the start of a fit
    try:
        if callable(validate) and hasattr(estimator, "_parameter_constraints"):  # otherwise it has no check
            validate()
    except Exception as error:
        text = " ".join(str(error).split())
        wrong = WRONG_PARAMETER.fullmatch(text)
        errors.add((*keys, wrong[1]) if wrong else keys, wrong[2] if wrong else text)
        return False
    return True


# An entry becomes specifications in three steps: `on` splits it by data sets, `best_of` and `tune` split it by
# values of parameters, and the rest is validated against the registered learner.

MAX_VARIANTS = 1000
WHILE_TUNING = "while_tuning"
MAPPING_EXPECTED = "must be a mapping from parameters (such as rounds) to their values"
LIST_EXPECTED = "must be a mapping from a parameter (such as base.C) to the list of values to try"


@dataclass(frozen=True)
class ColumnBuilder:
    """Build the specifications of the entries of a section."""

    section: str  # learners or measures
    datasets: list[str]  # names of the config's data sets
    errors: ErrorCollector
    seeding: str | None = None  # the default of the learners' parameter `seeding`
    has_tuning: bool = False  # whether the config has a section `tuning`, which `tune` requires

    def build(self, label: str, entry: dict) -> list[LearnerSpec]:
        """Return the specifications of an entry, one for each variant."""
        return [
            spec.model_copy(update={"only": only})
            for only, part in self._split_by_dataset(label, entry)
            for spec in self._build_variants(label, part)
        ]

    def _split_by_dataset(self, label: str, entry: dict) -> list[tuple[tuple[str, ...] | None, dict]]:
        """Return (data sets, entry) pairs; `on` overrides settings by data set, or skips it with false."""
        keys, own = (self.section, label, "on"), entry.pop("on", None) or {}
        if not isinstance(own, dict) or not all(isinstance(v, dict) or v is False for v in own.values()):
            message = "must be a mapping from data sets to the settings that differ there, or to false"
            self.errors.add(keys, message)
            return []
        if not own:
            return [(None, entry)]
        if all(own.get(name) is False for name in self.datasets):
            self.errors.add(keys, "is false for all data sets: leave the learner out instead")
        for name in own:
            if name not in self.datasets:
                hint = self.errors.suggest(name, self.datasets)
                self.errors.add((*keys, name), f"the config has no data set '{name}'{hint}")
        rest = tuple(name for name in self.datasets if name not in own)
        parts: list[tuple[tuple[str, ...] | None, dict]] = [(rest, entry)] if rest else []
        parts += [((name,), _override(entry, changes)) for name, changes in own.items() if changes is not False]
        return parts

    def _build_variants(self, label: str, entry: dict) -> list[LearnerSpec]:
        """Return a specification for each combination of the values that `best_of` lists."""
        keys = (self.section, label)
        if self.section == "measures":
            entry.setdefault("measure", label)
            spec = _build_spec(label, entry, "measure", keys, self.errors, None)
            return [] if spec is None else [spec]
        has_tune, best_of, tune = "tune" in entry, entry.pop("best_of", None) or {}, entry.pop("tune", None)
        trial_keys = (*keys, WHILE_TUNING)
        trial = self._find_trial_settings(entry, trial_keys, bool(tune))
        if has_tune and not self.has_tuning:
            self.errors.add((*keys, "tune"), "requires the section tuning, such as tuning: {folds: 5}")
        if has_tune and not tune:
            self.errors.add((*keys, "tune"), LIST_EXPECTED)
        specs = []
        for choice, variant in _list_variants(best_of, entry, (*keys, "best_of"), self.errors):
            candidates = self._build_candidates(label, variant, tune or {}, (*keys, "tune"))
            if candidates:
                update = {"choice": choice, "tune": tuple(candidates) if tune else ()}
                for _, changed in _list_variants(trial, variant, trial_keys, self.errors) if trial else ():
                    update["trials"] = tuple(self._build_candidates(label, changed, tune, trial_keys))
                specs.append(candidates[0].model_copy(update=update))
        return specs

    def _build_candidates(self, label: str, entry: dict, tune: Any, keys: Keys) -> list[LearnerSpec]:
        """Return a specification for each combination of the values that `tune` lists."""
        return [
            spec.model_copy(update={"choice": text})
            for text, candidate in _list_variants(tune, entry, keys, self.errors)
            if (spec := build_learner_spec(label, candidate, self.seeding, self.errors)) is not None
        ]

    def _find_trial_settings(self, entry: dict, keys: Keys, is_tuned: bool) -> dict[str, list]:
        """Remove and return the settings that candidates have only during cross-validation, one value each."""
        given = entry.pop(WHILE_TUNING, None)
        if given is None:
            return {}
        if isinstance(given, dict) and given and is_tuned:
            return {path: [value] for path, value in given.items()}
        wrong = "requires `tune`, which this learner does not have" if not is_tuned else MAPPING_EXPECTED
        self.errors.add(keys, wrong)
        return {}


def _override(entry: dict, settings: dict) -> dict:
    """Return a copy of an entry with other settings; null removes one."""
    changed = copy.deepcopy(entry) | settings
    return {key: value for key, value in changed.items() if settings.get(key, key) is not None}


def _list_variants(options: Any, entry: dict, keys: Keys, errors: ErrorCollector) -> list[tuple[str, dict]]:
    """Return (choice, the entry with it) for each combination of the values that `options` lists."""
    if not isinstance(options, dict) or not all(isinstance(v, list) and v for v in options.values()):
        errors.add(keys, LIST_EXPECTED)
        return []
    if (count := math.prod(map(len, options.values()))) > MAX_VARIANTS:
        errors.add(keys, f"lists {count:,} combinations, more than the {MAX_VARIANTS:,} that can be tried")
        return []
    variants = []
    for values in itertools.product(*options.values()):
        variant = copy.deepcopy(entry)
        for path, value in zip(options, values, strict=True):
            missing = _set_parameter(variant, str(path), value)
            if missing:
                errors.add((*keys, path), f"'{path}' is not a parameter: there is no '{missing}' in this entry")
                return []
        choice = ", ".join(f"{path}={value}" for path, value in zip(options, values, strict=True))
        variants.append((choice, variant))
    return variants


def _set_parameter(entry: dict, path: str, value: Any) -> str:
    """Set a parameter such as C, or base.C of the learner inside; return the missing key, if any."""
    *outer, last = path.split(".")
    for key in outer:
        inner = entry.get(key)
        if isinstance(inner, str):
            inner = {"learner": inner}
        if not isinstance(inner, dict):
            return key
        entry[key] = entry = inner
    entry[last] = value
    return ""


def parse_learner_name(name: str) -> dict:
    """Return the entry of a learner named as in tables: ecc:adaboost:stump is ECC over AdaBoost over stump."""
    if is_code_name(name):
        return {}
    outer, colon, base = name.partition(":")
    return {"learner": outer, "base": parse_learner_name(base) or base} if colon else {}


def build_learner_spec(
    label: str, entry: dict, seeding: str | None, errors: ErrorCollector, keys: Keys = ()
) -> LearnerSpec | None:
    """Return a learner with all its parameters; nested learners (its base) are validated in the same way."""
    entry.setdefault("learner", label)
    return _build_spec(label, entry, "learner", keys or ("learners", label), errors, seeding)


def _build_spec(
    label: str, entry: dict, kind: str, keys: Keys, errors: ErrorCollector, seeding: str | None
) -> LearnerSpec | None:
    """Return the learner or measure that an entry names under `kind`, with all its parameters."""
    name, known = entry.pop(kind), MEASURES if kind == "measure" else LEARNERS
    at = (*keys, kind) if errors.has_keys((*keys, kind)) else keys
    named = None
    if not isinstance(name, str) or name not in known:
        if kind == "measure" or not isinstance(name, str) or not is_external(name):
            errors.add(at, f"unknown {kind} '{name}'{errors.suggest(name, known)}")
            return None
        named = _find_class(name, at, errors)
        if named is None:
            return None
        if is_unchecked(name):
            unchecked = tuple(sorted((str(key), repr(value)) for key, value in entry.items()))
            return LearnerSpec(label=label, learner=named.learner, settings=unchecked, code=named.code)
        name = named.source
    try:
        registered = find_registration(name)
        model = registered.parameter_model
    except ZolossError as error:  # another package's learner
        errors.add(at if named else keys, str(error))
        return None
    if registered.is_external and named:
        return build_external_spec(label, named, entry, keys, errors)
    if seeding is not None and "seeding" in model.model_fields:
        entry.setdefault("seeding", seeding)
    inner = {}
    for key in find_nested_learners(model):
        given = entry.pop(key, model.model_fields[key].default)
        inner[key] = _build_inner_spec(given, seeding, errors, (*keys, key))
        entry[key] = "validated"
    try:
        filled = model.model_validate(entry).model_dump(warnings=False)
    except ValidationError as error:
        errors.add_validation_error(keys, error, model, [kind])
        return None
    if None in inner.values():
        return None
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in filled.items()} | inner
    learner, code = (named.learner, named.code) if named else (name, None)
    return LearnerSpec(label=label, learner=learner, settings=tuple(sorted(settings.items())), code=code)


def _find_class(name: str, keys: Keys, errors: ErrorCollector) -> NamedClass | None:
    """Return the class of a package or in a file that a name refers to, if it exists and is allowed."""
    if name.endswith(".py"):
        errors.add(keys, f"'{name}' is a file: name the class in it, as in {name}:MyClass")
        return None
    try:
        named = resolve_class(name, errors.code_folder)
        check_package_installed(name)
    except ZolossError as error:
        errors.add(keys, str(error))
        return None
    if is_unchecked(name) and find_code_policy() == "refuse":
        errors.add(keys, explain_refusal(name))
        return None
    return named


def _build_inner_spec(
    given: Any, seeding: str | None, errors: ErrorCollector, keys: Keys
) -> LearnerSpec | None:
    """Return the specification of a base learner, which must support boosting."""
    entry = {"learner": given} if isinstance(given, str) else given
    if not isinstance(entry, dict) or not isinstance(entry.get("learner"), str):
        errors.add(keys, f"must be a learner's name or {{learner: its name, ...}} (got {shorten(given)})")
        return None
    spec = build_learner_spec(entry["learner"], dict(entry), seeding, errors, keys)
    if spec is None or is_unchecked(spec.learner):
        return spec
    if find_registration(spec.source).is_external:
        errors.add(keys, f"'{spec.learner}' does not derive from zoloss's BinaryLearner, as a base must")
    elif find_registration(spec.source).is_multiclass:
        errors.add(keys, f"'{spec.learner}' is a multiclass learner, but a base must be binary")
    elif not find_registration(spec.source).accepts_sample_weight:
        errors.add(keys, f"'{spec.learner}' takes no sample weights, so it cannot be boosted")
    return spec
