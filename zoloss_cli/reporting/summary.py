"""How well a set of cells agrees with the published values, in one line for each kind of comparison."""

from __future__ import annotations

import math
from statistics import median

from zoloss_cli.reporting.comparison import BETTER, EQUAL, WORSE, CellComparison
from zoloss_cli.reporting.published.fitted_choices import FITTED, NO_TEST, OTHER_DATA
from zoloss_cli.reporting.render.numbers import format_our_value, format_published_value

APART = {FITTED: "fitted to the published values", OTHER_DATA: "of other data", NO_TEST: "without a test"}


def summarize_agreement(cells: list[CellComparison]) -> list[str]:
    """Return a line each for errors, losses and times, which are compared differently, and for the rest.

    Cells that are fitted, on other data or without a test are counted only in the last line.
    """
    counted = [cell for cell in cells if not cell.apart]
    exact = [cell for cell in counted if cell.is_exact]
    ways = {"z": _summarize_z, "match": _summarize_matches, "ratio": _summarize_ratios}
    parts = {way: [cell for cell in counted if cell.comparison == way and not cell.is_exact] for way in ways}
    lines = [ways[way](part) for way, part in parts.items() if part]
    lines += [_summarize_exact(exact)] if exact else []
    texts = [text for kind in APART if (text := _summarize_apart(cells, kind))]
    return [*lines, f"counted apart: {'; '.join(texts)}"] if texts else lines


def _summarize_z(cells: list[CellComparison]) -> str:
    known = [cell for cell in cells if not math.isnan(cell.z)]
    if not known:
        return "no cell to compare (one split has no standard error)"
    rms = math.sqrt(sum(cell.z**2 for cell in known) / len(known))
    worst = max(known, key=lambda cell: abs(cell.z))
    return (
        f"{len(known)} cells: {_count_within(known, 2)}, {_count_within(known, 3).removeprefix('|z| ')}, "
        f"rms z {rms:.2f}, largest |z| {abs(worst.z):.1f} ({worst.learner} on {worst.dataset}, {worst.metric})"
    )


def _count_within(cells: list[CellComparison], limit: int) -> str:
    count = sum(abs(cell.z) <= limit for cell in cells)
    return f"|z| <= {limit} in {count} ({100 * count / len(cells):.1f} %)"


def _summarize_matches(cells: list[CellComparison]) -> str:
    counts = [sum(cell.match == match for cell in cells) for match in (EQUAL, BETTER, WORSE)]
    text = "{} cells: {} equal, {} better, {} worse".format(len(cells), *counts)
    if higher := [cell for cell in cells if cell.match == WORSE]:
        worst = max(higher, key=lambda cell: abs(cell.difference) / max(cell.published, 1.0))
        text += f" (worst: {worst.learner} on {worst.dataset}, {worst.mean:g} for {worst.published:g})"
    known = [cell for cell in cells if not math.isnan(cell.z)]
    return f"{text}; consistent with one more of our draws: {_count_within(known, 2)}" if known else text


def _summarize_exact(cells: list[CellComparison]) -> str:
    differ = [cell for cell in cells if cell.match != EQUAL]
    text = f"{len(cells)} cells without randomness: {len(cells) - len(differ)} equal to the digit"
    shown = [
        f"{cell.learner} on {cell.dataset}, {format_our_value(cell)} for {format_published_value(cell)}"
        for cell in differ
    ]
    verb = "differs" if len(differ) == 1 else "differ"
    return f"{text}; {len(differ)} {verb}: {'; '.join(shown)}" if differ else text


def _summarize_ratios(cells: list[CellComparison]) -> str:
    known = [(cell.ratio, cell) for cell in cells if cell.ratio is not None]
    if not known:
        return "no time to compare"
    ratios = [ratio for ratio, _ in known]
    _, slowest = max(known, key=lambda pair: pair[0])
    return (
        f"{len(known)} times: ours over published {min(ratios):.2g} to {max(ratios):.2g}, median "
        f"{median(ratios):.2g} (slowest: {slowest.learner} on {slowest.dataset})"
    )


def _summarize_apart(cells: list[CellComparison], kind: str) -> str:
    """Return how many cells are apart for a reason, and how many of these agree; empty if there are none."""
    part = [cell for cell in cells if cell.apart == kind]
    known = [cell for cell in part if not math.isnan(cell.z)]
    matched = [cell for cell in part if math.isnan(cell.z) and cell.comparison == "match"]
    details = [_count_within(known, 2)] if known else []
    if matched:
        details.append(f"{sum(cell.match == EQUAL for cell in matched)} of {len(matched)} equal")
    return f"{len(part)} {APART[kind]}" + (f" ({', '.join(details)})" if details else "") if part else ""
