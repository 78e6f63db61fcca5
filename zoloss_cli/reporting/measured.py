"""What was measured of data sets: the rows of one draw together, and the numbers that tables show of them."""

from __future__ import annotations

import numpy as np

from zoloss_cli.metrics.roc import compute_auc

ADDED = (
    "permutations",
    "growth",
    "times",
    "growth_by_size",
    "flipped_growth_by_size",
    "flipped_times_by_size",
)
AVERAGED = ("scores", "least_squares")
AS_THEY_ARE = ("complexity", "principal_points", "principal_subsets")


def pooled(rows: list[dict]) -> dict[int, dict]:
    """Facts by draw. Sums over random paths are added, scores averaged; the rest is the same in every row."""
    by_draw: dict[int, list[dict]] = {}
    for row in rows:
        by_draw.setdefault(int(row.get("draw", row["k"])), []).append(row)
    return {draw: _together(several) for draw, several in sorted(by_draw.items())}


def _together(rows: list[dict]) -> dict:
    facts = [row["measured"] for row in rows]
    whole = dict(facts[0])
    for key in whole:
        if key in ADDED or key in AVERAGED:
            total = np.sum([each[key] for each in facts], axis=0)
            whole[key] = total / len(facts) if key in AVERAGED else total
    return whole | {"seconds": sum(float(row.get("seconds", 0.0)) for row in rows)}


def scores_of(facts: dict) -> dict[str, np.ndarray]:
    """How much each example looks like an outlier, by the metric of its AUC."""
    found = {}
    if "growth" in facts:
        found["auc"] = facts["growth"] / np.maximum(facts["times"], 1)
        found["auc_least_squares"] = np.asarray(facts["least_squares"])
    elif "scores" in facts:
        found["auc"] = np.asarray(facts["scores"])
    return found


def noise_of(facts: dict) -> np.ndarray:
    """Which examples have wrong labels."""
    count = len(next(iter(scores_of(facts).values())))
    return np.isin(np.arange(count), facts.get("flipped", []))


def measured_values(by_draw: dict[int, dict]) -> dict[str, list[float]]:
    """Every metric that the facts give, one value a draw."""
    values: dict[str, list[float]] = {}
    for facts in by_draw.values():
        shown = {key: float(facts[key]) for key in AS_THEY_ARE if key in facts}
        if facts.get("flipped"):
            noisy = noise_of(facts)
            shown |= {metric: compute_auc(scores, noisy) for metric, scores in scores_of(facts).items()}
        for key, value in ({"seconds": facts["seconds"]} | shown).items():
            values.setdefault(key, []).append(value)
    return {key: several for key, several in values.items() if len(several) == len(by_draw)}
