"""How well a set of cells agrees with print, in one line for each way to compare."""

from __future__ import annotations

import math
from statistics import median

from zoloss_cli.reporting.compare import BETTER, EQUAL, WORSE, Comparison
from zoloss_cli.reporting.metrics import BY_MATCH, BY_RATIO, BY_Z


def summary_lines(rows: list[Comparison]) -> list[str]:
    """Errors, losses and times apart, since they are compared in different ways."""
    exact = [row for row in rows if row.to_the_digit]
    ways = {BY_Z: _by_z, BY_MATCH: _by_match, BY_RATIO: _by_ratio}
    parts = {way: [row for row in rows if row.compared == way and row not in exact] for way in ways}
    lines = [ways[way](part) for way, part in parts.items() if part]
    return [*lines, _to_the_digit(exact)] if exact else lines


def _by_z(rows: list[Comparison]) -> str:
    known = [row for row in rows if not math.isnan(row.z)]
    if not known:
        return "no cell to compare (one split has no standard error)"
    rms = math.sqrt(sum(row.z**2 for row in known) / len(known))
    worst = max(known, key=lambda row: abs(row.z))
    return (
        f"{len(known)} cells: {_within(known, 2)}, {_within(known, 3).removeprefix('|z| ')}, rms z {rms:.2f}, "
        f"largest |z| {abs(worst.z):.1f} ({worst.learner} on {worst.dataset}, {worst.metric})"
    )


def _within(rows: list[Comparison], limit: int) -> str:
    count = sum(abs(row.z) <= limit for row in rows)
    return f"|z| <= {limit} in {count} ({100 * count / len(rows):.1f} %)"


def _by_match(rows: list[Comparison]) -> str:
    counts = [sum(row.match == match for row in rows) for match in (EQUAL, BETTER, WORSE)]
    text = "{} cells: {} equal, {} lower, {} higher".format(len(rows), *counts)
    if higher := [row for row in rows if row.match == WORSE]:
        worst = max(higher, key=lambda row: (row.difference / max(row.published, 1.0), row.difference))
        text += f" (worst: {worst.learner} on {worst.dataset}, {worst.mean:g} for {worst.published:g})"
    known = [row for row in rows if not math.isnan(row.z)]
    return f"{text}; print as one more of our draws: {_within(known, 2)}" if known else text


def _to_the_digit(rows: list[Comparison]) -> str:
    differ = [row for row in rows if row.match != EQUAL]
    text = f"{len(rows)} cells without randomness: {len(rows) - len(differ)} equal to the digit"
    shown = [f"{row.learner} on {row.dataset}, {row.mean:.2f} for {row.published:.2f}" for row in differ]
    return f"{text}; {len(differ)} differ: {'; '.join(shown)}" if differ else text


def _by_ratio(rows: list[Comparison]) -> str:
    known = [row for row in rows if row.ratio is not None]
    if not known:
        return "no time to compare"
    ratios = [row.ratio for row in known]
    slowest = max(known, key=lambda row: row.ratio)
    return (
        f"{len(known)} times: ours over printed {min(ratios):.2g} to {max(ratios):.2g}, median "
        f"{median(ratios):.2g} (slowest: {slowest.learner} on {slowest.dataset})"
    )
