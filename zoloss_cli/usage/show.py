"""What was learned, as text for people and as one JSON object for programs."""

from __future__ import annotations

import json

from zoloss_cli.usage.model_file import described
from zoloss_cli.usage.rule import short_rule
from zoloss_cli.usage.train import Fitted


def as_json(fitted: Fitted) -> str:
    rule = fitted.rule
    content = {
        "learner": fitted.learner.learner,
        "parameters": fitted.learner.parameters,
        "seed": fitted.seed,
        "scale": fitted.scaling,
        **fitted.training(),
        "weights": None if rule is None else rule.weights.tolist(),
        "bias": None if rule is None else rule.bias,
        "features": fitted.table.features,
        "columns": [described(column) for column in fitted.table.columns],
        "label": fitted.table.label,
        "classes": fitted.classes,
        "positive": fitted.classes[1],
        "notes": fitted.notes,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def as_text(fitted: Fitted) -> str:
    table, (negative, positive) = fitted.table, fitted.classes
    n, ones = len(fitted.y), int(fitted.y.sum())
    dropped = f" ({table.dropped} with missing values left out)" if table.dropped else ""
    lines = [
        f"data      {table.path}: {n:,} rows{dropped}, {table.X.shape[1]:,} features, label '{table.label}'",
        f"classes   '{negative}' ({n - ones:,} rows) and '{positive}' ({ones:,} rows, positive)",
        f"learner   {fitted.learner.name}, {fitted.seconds:.1f} seconds",
        f"errors    {fitted.errors:,} of {n:,} training rows ({100 * fitted.errors / n:.2f} %)",
    ]
    if fitted.lower_bound is not None:
        optimal = "proved optimal" if fitted.exact else "optimal up to rounding; certify proves it"
        verdict = optimal if fitted.optimal else "not proved optimal"
        lines.append(f"bound     every linear rule makes at least {fitted.lower_bound:,} errors: {verdict}")
    lines += [f"levels    {text}" for text in table.level_texts()]
    return "\n".join(lines + ([] if fitted.rule is None else _rule_lines(fitted)))


def _rule_lines(fitted: Fitted) -> list[str]:
    from tabulate import tabulate

    weights, threshold = short_rule(fitted.rule, fitted.table.X)
    rows = list(zip(fitted.table.features, weights, strict=True))
    table = tabulate(rows, ["feature", "weight"], disable_numparse=True, colalign=("left", "right"))
    return [
        f"rule      '{fitted.classes[1]}' where the sum of weight times feature is at least {threshold}",
        "",
        table,
    ]
