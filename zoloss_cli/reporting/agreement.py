"""All published numbers in one table: how many are tested and agree, and what happened to the others."""

from __future__ import annotations

import math
from collections.abc import Callable

from zoloss_cli.config.models import Published
from zoloss_cli.reporting.compare import compare_run
from zoloss_cli.reporting.comparison import BETTER, EQUAL, CellComparison, drop_repeated
from zoloss_cli.reporting.derived_cells import DESCRIBING_TABLES
from zoloss_cli.reporting.published.fitted_choices import FITTED, NO_TEST, OTHER_DATA
from zoloss_cli.reporting.published.values import count_unpublished, name_place, read_published_tables
from zoloss_cli.reporting.render.grid import Grid
from zoloss_cli.reporting.run_result import RunResult

HEADER = [
    "published numbers",
    "count",
    "with z",
    "|z| <= 2",
    "|z| <= 3",
    "without z",
    "equal",
    "better",
]
Place = tuple[str, str]  # paper and table


def summarize_published(
    runs: list[RunResult], every: bool = True, compared: list[CellComparison] | None = None
) -> Grid:
    """Return how all published numbers compare, each counted in one row.

    Parameters
    ----------
    runs : list of RunResult
        The runs to compare.
    every : bool, default=True
        Whether numbers in tables that no run mirrors count as missing.
    compared : list of CellComparison or None, default=None
        The results of `compare_run` for these runs; None to compare them.

    Returns
    -------
    Grid
        Rows of numbers that are tested, counted apart, or not compared.
    """
    if compared is None:
        compared = [cell for run in runs for cell in compare_run(run)]
    distinct = drop_repeated(compared)
    tested = [cell for cell in distinct if not cell.apart and _is_tested(cell)]
    parts: dict[str, Callable[[CellComparison], bool]] = {
        "tested": lambda cell: True,
        "tested, on real data": lambda cell: not cell.generated,
        "tested, on generated data": lambda cell: cell.generated,
    }
    lines = [_count_row(name, [cell for cell in tested if part(cell)]) for name, part in parts.items()]
    fitted = [cell for cell in distinct if cell.apart == FITTED and _is_tested(cell)]
    other = [cell for cell in distinct if cell.apart == OTHER_DATA and _is_tested(cell)]
    lines += [
        _count_row("resting on fitted choices", fitted),
        _count_row("on other data", other),
        _count_row("tested, fitted or on other data", [*tested, *fitted, *other]),
        _count_row("without a test: too uncertain", [c for c in distinct if c.apart == NO_TEST]),
        _count_row("seconds", [c for c in distinct if c.comparison == "ratio"]),
        _build_row("repeated in a second table", len(compared) - len(distinct)),
    ]
    places = None if every else _find_places(runs)
    tables = {place: cells for place, cells in read_published_tables().items() if not places or place in places}
    n_published, n_none = sum(map(len, tables.values())), count_unpublished(places)
    n_unknown = sum(c.apart != NO_TEST and c.comparison == "z" and math.isnan(c.z) for c in distinct)
    if n_unknown:
        lines.append(_build_row("one split only", n_unknown))
    lines.append(_build_row("not in these results", n_published - len(_find_keys(compared))))
    if n_none:
        lines.append(_build_row("left empty in the paper", n_none))
    lines.append(_build_row("all", n_published + n_none))
    return Grid(header=HEADER, lines=lines)


def _is_tested(cell: CellComparison) -> bool:
    return cell.comparison == "match" or (cell.comparison == "z" and not math.isnan(cell.z))


def _find_keys(cells: list[CellComparison]) -> set[tuple[str, ...]]:
    return {(cell.paper, cell.table, cell.dataset, cell.learner, cell.metric) for cell in cells}


def _find_places(runs: list[RunResult]) -> set[Place]:
    """Return the published tables that runs mirror."""
    mirrored: list[Published] = [run.experiment.published for run in runs if run.experiment.published]
    described = {(run.paper, DESCRIBING_TABLES[n]) for run in runs if (n := run.full_name) in DESCRIBING_TABLES}
    return {(each.paper, name_place(each)) for each in mirrored} | described


def _build_row(name: str, count: int, *rest: str) -> list[str]:
    return [name, f"{count:,}", *(rest or ("",) * (len(HEADER) - 2))]


def _count_row(name: str, cells: list[CellComparison]) -> list[str]:
    known = [cell for cell in cells if not math.isnan(cell.z)]
    matched = [cell for cell in cells if math.isnan(cell.z) and cell.comparison == "match"]
    within = [sum(abs(cell.z) <= limit for cell in known) for limit in (2, 3)]
    shares = [f"{count} ({100 * count / len(known):.1f} %)" if known else "" for count in within]
    counts = [sum(cell.match == match for cell in matched) for match in (EQUAL, BETTER)]
    matches = [str(len(matched)), *map(str, counts)] if matched else ["", "", ""]
    return _build_row(name, len(cells), str(len(known)) if known else "", *shares, *matches)
