"""A rerun task as text: data, learner, record, whether it matches the stored one, and the rule."""

from __future__ import annotations

import json
from typing import Any

from zoloss_cli.results.record import TIMES, FailedRecord, Record
from zoloss_cli.workflows.fit import TableFit
from zoloss_cli.workflows.fit_text import describe_classes
from zoloss_cli.workflows.rule_text import build_readable_rule, list_level_lines, render_rule
from zoloss_cli.workflows.show_task import ShownTask

MAX_SHOWN_LENGTH = 60
ZERO_BY_DEFAULT = ("n_unseen", "n_unsplit")


def render_task(shown: ShownTask, fit: TableFit | None, show_all: bool = False) -> str:
    """Return a task as text.

    Parameters
    ----------
    shown : ShownTask
        The task.
    fit : TableFit or None
        Its learner as a model; None for a measure.
    show_all : bool, default=False
        Whether to show the weights of all features instead of only the largest.

    Returns
    -------
    str
        The text.
    """
    cell, address = shown.address.cell, shown.address
    spec = cell.learner if shown.fitted is None else shown.fitted.spec
    lines = [
        f"task      {cell.learner.label} on {cell.data.name}, split {address.split} of '{address.run}'",
        f"learner   {spec.name} {json.dumps(spec.parameters, ensure_ascii=False)}",
    ]
    if shown.fitted is not None:
        split = shown.fitted.split_data
        sizes = f"{len(split.train):,} samples train, {len(split.test):,} test"
        pruned = f", {split.pruned.size:,} left out as noise" if split.pruned.size else ""
        lines.append(f"data      {sizes}{pruned}, {split.data.X.shape[1]:,} features, scaled: {split.scaling}")
        lines.append(f"classes   {describe_classes(split.data.classes, split.data.y[split.fit_indices])}")
    lines += [f"record    {text}" for text in _list_fields(shown.record)]
    lines.append(f"stored    {describe_agreement(shown)}")
    if fit is None:
        return "\n".join(lines)
    if fit.rule is None:
        return "\n".join([*lines, f"rule      '{spec.name}' is not a linear rule: it has no weights to show"])
    readable = build_readable_rule(fit.rule, fit.table)
    lines += [f"levels    {text}" for text in list_level_lines(fit.table, readable)]
    return "\n".join([*lines, *render_rule(readable, fit.classes[1], show_all)])


def describe_agreement(shown: ShownTask) -> str:
    """Return whether the task reproduces its stored record."""
    stored = shown.address.stored
    if stored is None:
        return "no record of this task is stored"
    if isinstance(stored, FailedRecord):
        return f"the task had failed: {stored.failed}"
    differences = shown.list_differences()
    return f"other numbers: {'; '.join(differences)}" if differences else "the same numbers"


def _list_fields(record: Record) -> list[str]:
    """Return the fields of a record as text, except times and the split."""
    values: dict[str, Any] = {name: getattr(record, name) for name in record.__struct_fields__}
    if (measured := values.pop("measured", None)) is not None:
        values |= {name: getattr(measured, name) for name in measured.__struct_fields__}
    shown = {name: value for name, value in values.items() if name not in TIMES | {"split"}}
    return [
        f"{name} {_shorten(value)}"
        for name, value in shown.items()
        if value not in (None, []) and not (name in ZERO_BY_DEFAULT and value == 0)
    ]


def _shorten(value: Any) -> str:
    text = str(value)
    if len(text) <= MAX_SHOWN_LENGTH:
        return text
    return f"{text[:MAX_SHOWN_LENGTH]}... ({len(value):,} values)" if hasattr(value, "__len__") else text
