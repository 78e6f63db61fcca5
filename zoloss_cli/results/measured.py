"""Whether a row of what was measured is whole: one that was edited or damaged is left out, not read."""

from __future__ import annotations

import math

NUMBERS = ("complexity", "principal_points", "principal_subsets", "permutations")
BY_EXAMPLE = ("growth", "times", "least_squares", "scores")
BY_SIZE = ("growth_by_size", "flipped_growth_by_size", "flipped_times_by_size")
TOGETHER = (  # none of these is there without the others
    ("permutations", "growth", "times", "least_squares", "growth_by_size"),
    ("flipped_growth_by_size", "flipped_times_by_size"),
    ("principal_points", "principal_subsets", "points", "pairs", "clusters", "exact"),
)


def is_sound(facts) -> bool:
    """Whether all keys that belong together are there, and lists are of numbers and of one length."""
    if not isinstance(facts, dict):
        return False
    if any(len({key in facts for key in keys}) > 1 for keys in TOGETHER):
        return False
    if not all(_is_number(facts[key]) for key in NUMBERS if key in facts):
        return False
    lists = [facts[key] for key in (*BY_EXAMPLE, *BY_SIZE) if key in facts]
    if not all(_is_list(values) for values in lists) or len({len(values) for values in lists}) > 1:
        return False
    flipped = facts.get("flipped", [])
    rows = len(lists[0]) if lists else math.inf
    return _is_list(flipped) and all(isinstance(row, int) and 0 <= row < rows for row in flipped)


def _is_list(values) -> bool:
    return isinstance(values, list) and all(map(_is_number, values))


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
