"""The registered learners and measures as people read about them."""

from __future__ import annotations

import inspect

from tabulate import tabulate

from zoloss_cli.registry import (
    LEARNERS,
    MEASURES,
    LearnerRegistration,
    build_parameter_model,
    find_registration,
)
from zoloss_cli.utils.parameter_docs import format_field_type, remove_section


def list_learners() -> str:
    """Return tables of all learners, broken ones of other packages included, and of all measures."""
    learners = [_summarize(name, entry) for name, entry in LEARNERS.list_usable().items()]
    learners += [[plugin.name, "broken", reason] for plugin, reason in LEARNERS.list_broken()]
    measures = [_summarize(name, entry) for name, entry in MEASURES.items()]
    return f"{_render('name', learners)}\n\n{_render('measure', measures)}"


def describe_learner(name: str) -> str:
    """Return what a learner or measure is, and its parameters with values, defaults and meaning."""
    entry = find_registration(name)
    lines = [
        [key, format_field_type(field), field.default, field.description or ""]
        for key, field in build_parameter_model(name).model_fields.items()
    ]
    table = tabulate(
        lines,
        ["parameter", "values", "default", "meaning"],
        tablefmt="simple",
        maxcolwidths=[None, 32, 24, 50],
        disable_numparse=True,
    )
    # The table has the parameters that are free to set: those that the name fixes are not among them.
    text = remove_section(inspect.getdoc(entry.learner_class) or "", "Parameters")
    return f"{name}: {_call_text(entry)}\n\n{text}\n\n{table}"


def _call_text(entry: LearnerRegistration) -> str:
    fixed = ", ".join(f"{key}={value!r}" for key, value in entry.fixed.items())
    return f"{entry.learner_class.__name__}({fixed})"


def _summarize(name: str, entry: LearnerRegistration) -> list[str]:
    return [name, _call_text(entry), (entry.learner_class.__doc__ or "").partition("\n")[0]]


def _render(first: str, lines: list[list[str]]) -> str:
    header = [first, "estimator", "what it is"]
    return tabulate(lines, header, tablefmt="simple", maxcolwidths=[None, None, 80])
