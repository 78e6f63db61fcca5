"""How well a set of cells agrees with the published values, in one line for each way to compare."""

from __future__ import annotations

import math
from statistics import median

from zoloss_cli.reporting.compare import BETTER, EQUAL, WORSE, CellComparison


def summarize_agreement(cells: list[CellComparison]) -> list[str]:
    """Return a line each for errors, losses and times, since they are compared in different ways."""
    exact = [cell for cell in cells if cell.is_exact]
    ways = {"z": _summarize_z, "match": _summarize_matches, "ratio": _summarize_ratios}
    parts = {way: [cell for cell in cells if cell.comparison == way and not cell.is_exact] for way in ways}
    lines = [ways[way](part) for way, part in parts.items() if part]
    return [*lines, _summarize_exact(exact)] if exact else lines


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
    text = "{} cells: {} equal, {} lower, {} higher".format(len(cells), *counts)
    if higher := [cell for cell in cells if cell.match == WORSE]:
        worst = max(higher, key=lambda cell: (cell.difference / max(cell.published, 1.0), cell.difference))
        text += f" (worst: {worst.learner} on {worst.dataset}, {worst.mean:g} for {worst.published:g})"
    known = [cell for cell in cells if not math.isnan(cell.z)]
    return f"{text}; consistent with one more of our draws: {_count_within(known, 2)}" if known else text


def _summarize_exact(cells: list[CellComparison]) -> str:
    differ = [cell for cell in cells if cell.match != EQUAL]
    text = f"{len(cells)} cells without randomness: {len(cells) - len(differ)} equal to the digit"
    shown = [f"{cell.learner} on {cell.dataset}, {cell.mean:.2f} for {cell.published:.2f}" for cell in differ]
    return f"{text}; {len(differ)} differ: {'; '.join(shown)}" if differ else text


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
