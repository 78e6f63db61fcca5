"""Estimators of other packages and classes in files, as learners of a config."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from zoloss_cli.config.messages import ErrorCollector, Keys, shorten
from zoloss_cli.config.models import LearnerSpec, SettingMapping
from zoloss_cli.errors import ConfigError
from zoloss_cli.registry import find_registration, make_learner
from zoloss_cli.utils.code_files import CodeSource, is_code_name, read_code
from zoloss_cli.utils.signature import RANDOM_STATE

MAX_DEPTH = 10
WRONG_PARAMETER = re.compile(r"The '(\w+)' parameter of \w+ (.*)", re.S)

InnerBuilder = Callable[[Keys, Any], LearnerSpec | None]


class NamedClass(NamedTuple):
    """A class of a package or in a file.

    Attributes
    ----------
    learner : str
        Its name in tables and seeds: a dotted name, or the name of the file without its folder.
    source : str
        The name by which the registry finds it, with the content of its file.
    code : CodeSource or None
        The file.
    """

    learner: str
    source: str
    code: CodeSource | None = None


def resolve_class(name: str, folder: Path | None = None) -> NamedClass:
    """Return the class that a learner's name refers to; a file is read, but nothing is run or imported.

    Parameters
    ----------
    name : str
        Such as sklearn.svm.LinearSVC or mine.py:MyClass.
    folder : Path or None
        The folder that files must be in; None for any, as for options.
    """
    if not is_code_name(name):
        return NamedClass(name, name)
    learner, code = read_code(name, folder)
    return NamedClass(learner, f"{learner}@{code.sha256}", code)


def build_unchecked_spec(label: str, named: NamedClass, entry: dict) -> LearnerSpec:
    """Return a learner whose class was not loaded, so that its parameters are unchecked."""
    settings = tuple(sorted((str(key), repr(value)) for key, value in entry.items()))
    return LearnerSpec(label=label, learner=named.learner, settings=settings, code=named.code)


def build_foreign_spec(
    label: str, named: NamedClass, entry: dict, keys: Keys, errors: ErrorCollector, build_inner: InnerBuilder
) -> LearnerSpec | None:
    """Return another package's estimator with the given parameters, which it has checked itself.

    Parameters
    ----------
    label : str
        The name of its column.
    named : NamedClass
        The class, which is allowed.
    entry : dict
        The parameters.
    keys : tuple
        Their place in the config.
    errors : ErrorCollector
        Collects what is wrong.
    build_inner : callable
        Builds the specification of a learner that is a parameter.
    """
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
            settings.append((key, _freeze(value, functools.partial(build_inner, (*keys, key)))))
        except ConfigError as error:
            errors.add((*keys, key), str(error))
            return None
        if settings[-1][1] is None and value is not None:
            return None  # the errors of the learner inside are already reported
    spec = LearnerSpec(label=label, learner=named.learner, settings=tuple(settings), code=named.code)
    return spec if _check_values(spec, keys, errors) else None


def _freeze(value: Any, build_inner: Callable[[Any], LearnerSpec | None], depth: int = 0) -> Any:
    """Return a parameter's value in a form that can be hashed and stored."""
    if isinstance(value, dict) and isinstance(value.get("learner"), str):
        return build_inner(value)
    if depth > MAX_DEPTH or not isinstance(value, dict | list | str | int | float | None):
        raise ConfigError(f"must be a number, a text, a list, a mapping or a learner (got {shorten(value)})")
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"must be finite (got {value})")
    if isinstance(value, dict):
        # Keys in a config are text, but those of such a mapping are classes, which estimators know as numbers.
        keys = [int(k) if isinstance(k, str) and k.isdecimal() else k for k in value]
        frozen = [_freeze(each, build_inner, depth + 1) for each in value.values()]
        return SettingMapping(pairs=tuple(zip(keys, frozen, strict=True)))
    return tuple(_freeze(each, build_inner, depth + 1) for each in value) if isinstance(value, list) else value


def _check_values(spec: LearnerSpec, keys: Keys, errors: ErrorCollector) -> bool:
    """Return whether the estimator can be built and, if it checks them, finds its parameters valid."""
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
