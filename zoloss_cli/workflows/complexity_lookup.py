"""Rows of a table that are cheaper to memorize than to explain: the rightmost segment and the lookup table."""

from __future__ import annotations

from zoloss_cli.complexity.lookup_table import LookupComplexity, compute_entry_cost, find_lookup_complexity
from zoloss_cli.errors import ConfigError
from zoloss_cli.workflows.complexity import MeasuredComplexity

MAX_SHOWN_REMOVED = 20


def choose_cost(cost: float | None, noise: float | None) -> float | None:
    """Return the cost of memorizing a row, or that of the probability of a wrong label; None without either.

    Parameters
    ----------
    cost, noise : float or None
        The options --cost and --noise; at most one may be given.
    """
    if noise is None:
        return cost
    if cost is not None:
        raise ConfigError("--cost and --noise set the same cost: leave out one of them")
    try:
        return compute_entry_cost(noise)
    except ConfigError as error:
        raise ConfigError(f"--noise: {error}") from None


def find_shortest(measured: MeasuredComplexity) -> LookupComplexity | None:
    """Return the shortest rule with a table of its errors among principal points, if these were requested."""
    cost, found = measured.options.cost, measured.decomposition
    if cost is None or found is None:
        return None
    return find_lookup_complexity([(point.complexity, point.error) for point in found.points], cost)


def describe_lookup(measured: MeasuredComplexity) -> dict | None:
    """Return the results for a JSON object; None without a cost."""
    removed, shortest = measured.rightmost, find_shortest(measured)
    if removed is None:
        return None
    return {
        "cost": measured.options.cost,
        "removed_lines": [measured.samples.lines[row] for row in removed.removed.tolist()],
        "complexities": removed.complexities.tolist(),
        "shortest": None if shortest is None else shortest._asdict(),
    }


def render_lookup(measured: MeasuredComplexity) -> list[str]:
    """Return the results as lines of text."""
    removed, cost, shortest = measured.rightmost, measured.options.cost, find_shortest(measured)
    assert removed is not None
    before, after, count = int(removed.complexities[0]), int(removed.complexities[-1]), len(removed.removed)
    text = []
    if not count:
        text.append(f"No row lowers the complexity by {cost:.3g} or more, the cost of memorizing it.")
    else:
        lines = [str(measured.samples.lines[row]) for row in removed.removed[:MAX_SHOWN_REMOVED]]
        more = f" and {count - MAX_SHOWN_REMOVED} more (--json has all)" if count > MAX_SHOWN_REMOVED else ""
        rows = f"{count} row{'s' * (count != 1)}"
        text += [
            f"memorized   {rows}, at a cost of {cost:.3g} each: the complexity falls from {before} to {after}",
            f"            lines {', '.join(lines)}{more}",
            "(greedy, the row that lowers it most first: a single contribution is a noisy sign)",
        ]
    if shortest is not None:
        text.append(
            f"shortest    {shortest.value:.4g}: a rule of complexity {shortest.complexity} and "
            f"{shortest.error} rows in a lookup table"
        )
    return text
