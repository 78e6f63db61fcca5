"""Descriptions of the registered learners and measures."""

from __future__ import annotations

import inspect

from tabulate import tabulate

from zoloss_cli.config.foreign_spec import resolve_class
from zoloss_cli.errors import ConfigError
from zoloss_cli.learner_registrations import LearnerRegistration
from zoloss_cli.registry import LEARNERS, MEASURES, find_registration, is_foreign
from zoloss_cli.utils.parameter_docs import format_field_type, remove_section

MAX_FAULT_LENGTH = 1000


def describe_learner(name: str) -> str:
    """Return what a learner or measure is, and its parameters with values, defaults and meaning."""
    entry = find_registration(resolve_class(name).source if is_foreign(name) else name)
    if entry.is_foreign:
        return _describe_foreign(name, entry)
    lines = [
        [key, format_field_type(field), field.default, field.description or ""]
        for key, field in entry.parameter_model.model_fields.items()
    ]
    table = tabulate(
        lines,
        ["parameter", "values", "default", "meaning"],
        tablefmt="simple",
        maxcolwidths=[None, 32, 24, 50],
        disable_numparse=True,
    )
    # The table has the parameters that can be set, not those that the name fixes.
    text = remove_section(inspect.getdoc(entry.learner_class) or "", "Parameters")
    return f"{name}: {_call_text(entry)}\n\n{text}\n\n{table}"


def _describe_foreign(name: str, entry: LearnerRegistration) -> str:
    """Return the description of another package's estimator, and its parameters with their defaults."""
    fields = entry.parameter_model.model_fields.items()
    lines = [[key, "needed" if field.is_required() else repr(field.default)] for key, field in fields]
    table = tabulate(lines, ["parameter", "default"], tablefmt="simple", disable_numparse=True)
    package = f" of {entry.package}" if entry.package else ""
    text = (inspect.getdoc(entry.learner_class) or "").partition("\n\n")[0]
    return f"{name}: {entry.title}{package}\n\n{text}\n\n{table}"


def check_named_learner(name: str) -> list[str]:
    """Return what a learner lacks and, last, that it can be used; ConfigError says what is wrong with it."""
    from zoloss_cli.testing import check_learner

    if name in LEARNERS.builtin or name in MEASURES:
        raise ConfigError(f"--check: '{name}' is zoloss's own and has its own tests; name a class of yours")
    try:
        limits = check_learner(name)
    except Exception as error:  # whatever it raises is its fault
        lines = str(error).splitlines()
        one_each = all(line.startswith("the learner") for line in lines)
        text = str(error) if lines and one_each else " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(text[:MAX_FAULT_LENGTH]) from None
    return [*limits, f"{name} can be used in an experiment"]


def _call_text(entry: LearnerRegistration) -> str:
    fixed = ", ".join(f"{key}={value!r}" for key, value in entry.fixed.items())
    return f"{entry.learner_class.__name__}({fixed})"
