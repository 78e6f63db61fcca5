"""A readable linear rule: one scale, the largest effects first, and no more digits than needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.workflows.linear_rule import LinearRule, round_weights

MAX_SHOWN_FEATURES = 20


@dataclass(frozen=True)
class ReadableRule:
    """A rule in the units of the table, scaled so that the largest effect is 1.

    Attributes
    ----------
    names : list of str
        The features by the size of their effect, the largest first.
    weights : list of str
        The weight of each, with as few digits as give all samples their class.
    effects : ndarray of shape (n_features,)
        Weight times standard deviation: how much the sum typically varies because of this feature.
    threshold : str
        A sample is positive if the sum of weight times feature is at least this.
    indicators : dict of str to tuple of (str, str)
        Text columns with two levels, which have one indicator: the level where it is 0, and where it is 1.
    """

    names: list[str]
    weights: list[str]
    effects: np.ndarray
    threshold: str
    indicators: dict[str, tuple[str, str]]


def build_readable_rule(rule: LinearRule, table: CsvTable) -> ReadableRule:
    """Return a rule in the form in which it is shown.

    Two indicators of which one is always 1 are replaced by the second: the first adds its weight to every
    sample, which the threshold absorbs together with the difference of both weights.

    Parameters
    ----------
    rule : LinearRule
        The rule in the units of the table.
    table : CsvTable
        The table that it was fitted to.

    Returns
    -------
    ReadableRule
        The same rule.
    """
    X, weights, threshold = table.X, rule.weights.copy(), -rule.bias
    kept, indicators, at = np.ones(len(weights), bool), {}, 0
    for column in table.columns:
        count = len(column.features)
        levels = column.levels or ()
        if len(levels) == count == 2 and np.all(X[:, at] + X[:, at + 1] == 1.0):
            threshold -= weights[at]
            weights[at + 1] -= weights[at]
            kept[at] = False
            indicators[column.name] = levels[0], levels[1]
        at += count
    names = [name for name, is_kept in zip(table.features, kept, strict=True) if is_kept]
    X, weights = X[:, kept], weights[kept]
    effects = weights * X.std(axis=0)
    largest = float(np.max(np.abs(effects), initial=0.0))
    if largest == 0.0:  # a constant prediction
        largest = abs(threshold) or 1.0
    with np.errstate(over="ignore"):
        scaled = weights / largest, threshold / largest, effects / largest
    if not all(np.all(np.isfinite(part)) for part in scaled):
        scaled = weights, threshold, effects
    shown, at_least = round_weights(scaled[0], scaled[1], X, rule.score(table.X) >= 0.0)
    order = np.argsort(-np.abs(scaled[2]), kind="stable")
    return ReadableRule(
        [names[i] for i in order], [shown[i] for i in order], scaled[2][order], at_least, indicators
    )


def render_rule(readable: ReadableRule, positive: str, show_all: bool = False) -> list[str]:
    """Return a rule as lines of text, with at most 20 features unless all are requested."""
    from tabulate import tabulate

    count = len(readable.names) if show_all else min(len(readable.names), MAX_SHOWN_FEATURES)
    effects = [f"{effect:+.2f}" for effect in readable.effects]
    rows = list(zip(readable.names, readable.weights, effects, strict=True))[:count]
    table = tabulate(
        rows, ["feature", "weight", "effect"], disable_numparse=True, colalign=("left", "right", "right")
    )
    lines = [
        f"rule      '{positive}' where the sum of weight times feature is at least {readable.threshold}",
        "",
        table,
        "(weights in the units of the table; effect: weight times the feature's standard deviation)",
    ]
    left = len(readable.names) - count
    return lines + ([f"(and {left:,} more features of smaller effect: --all)"] if left else [])


def list_level_lines(table: CsvTable, readable: ReadableRule | None) -> list[str]:
    """Return how each text column became numbers, one sentence each."""
    pairs = {} if readable is None else readable.indicators
    found = []
    for column in table.columns:
        if column.levels is None:
            continue
        if column.name in pairs:
            zero, one = pairs[column.name]
            found.append(f"'{column.name}' has one indicator: 1 for {one}, 0 for {zero}")
        else:
            found.append(f"'{column.name}' has one indicator, 1 or 0, for each of: {', '.join(column.levels)}")
    return found
