"""Summarize the agreement with published values: counts, remarks, and the contents of `zoloss compare`."""

from __future__ import annotations

import functools
import math
import textwrap
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

from zoloss_cli.config.models import Published
from zoloss_cli.errors import CheckError, ResultsError
from zoloss_cli.report.compare import (
    BETTER,
    COLUMNS,
    DATA,
    DESCRIBING_TABLES,
    EQUAL,
    WORSE,
    CellComparison,
    compare_run,
    compare_stars,
    drop_repeated,
    find_single_pools,
    load_compared_metric,
)
from zoloss_cli.report.notes import describe_incomplete
from zoloss_cli.report.papers import (
    AGREEMENT,
    INDEPENDENT,
    NO_TEST,
    OTHER_DATA,
    count_unpublished,
    name_place,
    name_place_in_text,
    read_published_tables,
)
from zoloss_cli.report.render import Grid, format_cell, render_grid, render_objects_csv
from zoloss_cli.report.runs import RunResult, drop_alternatives, find_baseline, select_runs
from zoloss_cli.report.tables import TableCell
from zoloss_cli.utils.files import PUBLISHED_FOLDER

HEADER = ["published numbers", "count", "with z", "|z| <= 2", "|z| <= 3", "without z", "equal", "better"]
DIMENSIONS = "dimensions of data sets"
Place = tuple[str, str]  # paper and table


def summarize_published(runs: list[RunResult], compared: list[CellComparison], every: bool = True) -> Grid:
    """Return how all published numbers compare, each counted in one row.

    `compared` are the cells of these runs. With `every`, tables that no run mirrors count as missing.
    """
    distinct = drop_repeated(compared)
    judged = [cell for cell in distinct if not cell.apart and _is_tested(cell) and cell.learner != DATA]
    independent = [cell for cell in judged if cell.agreement in INDEPENDENT]
    parts = {
        "stated, or from the authors' program": independent,
        "- on real data": [cell for cell in independent if not cell.generated],
        "- on generated data": [cell for cell in independent if cell.generated],
        **{words: [c for c in judged if c.agreement == key] for key, words in AGREEMENT.items()},
        "all four classes": judged,
        "on other data": [cell for cell in distinct if cell.apart == OTHER_DATA and _is_tested(cell)],
        DIMENSIONS: [cell for cell in distinct if cell.learner == DATA],
    }
    lines = [_count_row(name, cells) for name, cells in parts.items()]
    lines += [
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
    n_compared = len({(c.paper, c.table, c.dataset, c.learner, c.metric) for c in compared})
    lines.append(_build_row("not in these results", n_published - n_compared))
    if n_none:
        lines.append(_build_row("left empty in the paper", n_none))
    lines.append(_build_row("all", n_published + n_none))
    return Grid(header=HEADER, lines=lines)


def _is_tested(cell: CellComparison) -> bool:
    return cell.comparison == "match" or (cell.comparison == "z" and not math.isnan(cell.z))


def _find_places(runs: list[RunResult]) -> set[Place]:
    """Return the published tables that the runs mirror."""
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


def summarize_agreement(cells: list[CellComparison]) -> list[str]:
    """Return a summary line for each class of agreement and kind of comparison."""
    counted = [cell for cell in cells if not cell.apart and cell.learner != DATA]
    ways = {"z": _summarize_z, "match": _summarize_matches, "ratio": _summarize_ratios}
    lines = []
    for key, words in AGREEMENT.items():
        part = [cell for cell in counted if cell.agreement == key]
        by_way = {w: [c for c in part if c.comparison == w and not c.is_exact] for w in ways}
        texts = [ways[way](found) for way, found in by_way.items() if found]
        if exact := [cell for cell in part if cell.is_exact]:
            texts.append(_summarize_exact(exact))
        lines += [f"{words}: {text}" for text in texts]
    separate = {
        DIMENSIONS: [cell for cell in cells if cell.learner == DATA and not cell.apart],
        "cells on other data": [cell for cell in cells if cell.apart == OTHER_DATA],
        "cells without a test": [cell for cell in cells if cell.apart == NO_TEST],
    }
    texts = [_summarize_separate(name, part) for name, part in separate.items() if part]
    return [*lines, f"reported separately: {'; '.join(texts)}"] if texts else lines


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
    text = f"{len(cells)} deterministic cells: {len(cells) - len(differ)} equal to the digit"
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


def _summarize_separate(name: str, cells: list[CellComparison]) -> str:
    """Return how many cells are reported separately, and how many agree."""
    known = [cell for cell in cells if not math.isnan(cell.z)]
    matched = [cell for cell in cells if math.isnan(cell.z) and cell.comparison == "match"]
    details = [_count_within(known, 2)] if known else []
    if matched:
        details.append(f"{sum(cell.match == EQUAL for cell in matched)} of {len(matched)} equal")
    return f"{len(cells)} {name}" + (f" ({', '.join(details)})" if details else "")


REMARKABLE_Z = 2.0
MAX_NAMED_CELLS = 5


@dataclass(frozen=True)
class ComparisonReport:
    """The contents of `zoloss compare`."""

    cells: list[CellComparison]  # the cells to list
    remarks: list[str]  # known reasons why listed cells differ
    summary: list[str]  # counts for each table, over all its cells, and for all tables
    notes: list[str]  # which runs are incomplete
    all_cells: list[CellComparison]  # all cells, listed or not


def build_comparison_report(
    runs: list[RunResult], folder: Path, table: str | None, beyond: float | None = None
) -> ComparisonReport:
    """Compare the cells of runs that mirror published tables with the published values."""
    selected = select_runs(runs, table) if table else drop_alternatives(runs)
    by_run = [(run, cells) for run in selected if (cells := compare_run(run))]
    every = [cell for _, cells in by_run for cell in cells]
    if not every:
        raise ResultsError(f"nothing in {folder} mirrors a published table")
    listed = every if beyond is None else [cell for cell in every if cell.is_beyond(beyond)]
    remarks = format_remarks([cell for cell in listed if cell.is_beyond(REMARKABLE_Z)])
    summary = [line for run, cells in by_run for line in _summarize_run(run, cells, runs)]
    if len(by_run) > 1:
        summary += [f"all distinct: {line}" for line in summarize_agreement(drop_repeated(every))]
    if single := find_single_pools(selected):
        summary.append(
            f"only one pool of {', '.join(single)}: z omits the variance between pools and is too large"
        )
    return ComparisonReport(listed, remarks, summary, describe_incomplete([run for run, _ in by_run]), every)


def check_agreement(cells: list[CellComparison], limit: float) -> list[str]:
    """Raise CheckError if a cell is beyond a limit; times, which depend on the machine, are ignored."""
    checked = [cell for cell in drop_repeated(cells) if cell.comparison != "ratio"]
    if beyond := [cell for cell in checked if cell.fails(limit)]:
        named = ", ".join(map(_name_cell, beyond[:MAX_NAMED_CELLS]))
        more = f" and {len(beyond) - MAX_NAMED_CELLS:,} more" if len(beyond) > MAX_NAMED_CELLS else ""
        subject = f"{len(beyond):,} of {len(checked):,} cells"
        raise CheckError(f"{subject} are beyond |z| = {limit:g} or do not match: {named}{more}")
    unchecked = [cell for cell in checked if cell.comparison == "z" and math.isnan(cell.z)]
    sizes = {cell: "too large a" if cell.apart == NO_TEST else "no" for cell in unchecked}
    return [
        f"{_name_cell(cell)} has {size} standard error, so it was not checked" for cell, size in sizes.items()
    ]


def _name_cell(cell: CellComparison) -> str:
    how = cell.match if math.isnan(cell.z) else f"z {cell.z:+.1f}"
    shown = f" {cell.metric}" if load_compared_metric(cell.metric).heading else ""
    return f"{cell.learner} on {cell.dataset}{shown} ({cell.paper}/{cell.table}{', ' * bool(how)}{how})"


def _summarize_run(run: RunResult, cells: list[CellComparison], runs: list[RunResult]) -> list[str]:
    by_table: dict[str, list[CellComparison]] = {}
    for cell in cells:
        by_table.setdefault(cell.table, []).append(cell)
    lines = [
        f"{name_place_in_text(table)}: {line}"
        for table, part in by_table.items()
        for line in summarize_agreement(part)
    ]
    if find_baseline(run, runs):
        same, differ = compare_stars(run, runs)
        others = f"{len(differ)} differ: {', '.join(differ)}" if differ else "none differs"
        lines.append(f"table {run.table}, stars: {same} cells as published; {others}")
    return lines


def format_our_value(cell: CellComparison) -> str:
    """Return our value of a compared cell as text."""
    return format_cell(TableCell(cell.mean, cell.stderr, decimals=count_decimals(cell)))


def format_published_value(cell: CellComparison) -> str:
    """Return the published value of a compared cell as text."""
    metric = load_compared_metric(cell.metric)
    decimals = metric.decimals if metric.comparison_decimals is None else metric.comparison_decimals
    if cell.comparison == "match" and not cell.is_exact:
        decimals = metric.published_decimals or 0
    return format_cell(TableCell(cell.published, cell.published_stderr, decimals=decimals))


def format_difference(cell: CellComparison) -> str:
    """Return ours minus the published value, and the standard error of this difference, which z uses."""
    decimals = count_decimals(cell)
    error = cell.difference_stderr
    return f"{cell.difference:+.{decimals}f}" + (
        "" if math.isnan(error) else f" ± {error:.{max(decimals, 1)}f}"
    )


def count_decimals(cell: CellComparison) -> int:
    """Return the number of decimals to show for a compared cell."""
    metric = load_compared_metric(cell.metric)
    if cell.comparison == "z":
        return metric.decimals if metric.comparison_decimals is None else metric.comparison_decimals
    return metric.count_decimals(cell.mean, cell.splits)


def render_comparison(cells: list[CellComparison], format: str, standalone: bool = False) -> str:
    """Return a comparison with published values in a format; see :func:`render_tables` for `standalone`."""
    if format == "csv":
        return render_objects_csv(COLUMNS, cells)
    marks = {
        "z": _format_z,
        "match": lambda cell: cell.match,
        "ratio": lambda cell: "" if cell.ratio is None else f"{cell.ratio:.2g}",
        "agreement": lambda cell: cell.apart or AGREEMENT[cell.agreement],
    }
    # Omit empty columns: errors have no ratios, and times no z.
    marks = {name: mark for name, mark in marks.items() if not cells or any(mark(cell) for cell in cells)}
    header = ["table", "data set", "learner", "ours", "published", "difference", *marks]
    lines = [
        [
            cell.table,
            cell.dataset,
            " ".join(filter(None, [cell.learner, load_compared_metric(cell.metric).heading])),
            format_our_value(cell),
            format_published_value(cell),
            format_difference(cell),
            *(mark(cell) for mark in marks.values()),
        ]
        for cell in cells
    ]
    return render_grid(Grid(header=header, lines=lines, n_left=3), format, standalone)


def _format_z(cell: CellComparison) -> str:
    if math.isnan(cell.z):
        return "" if cell.comparison != "z" else "–"
    return f"{cell.z:+.1f}"


REMARKS = PUBLISHED_FOLDER / "remarks.yaml"
UNEXPLAINED = "Not investigated yet."


@functools.cache
def read_remarks() -> list[dict]:
    """Return the entries of remarks.yaml."""
    return yaml.safe_load(REMARKS.read_text(encoding="utf-8"))


def find_remark(cell: CellComparison) -> str:
    """Return the known reason why a cell differs from the published value; empty if there is none."""
    for entry in read_remarks():
        if (
            cell.paper in entry["papers"]
            and cell.table in entry.get("tables", [cell.table])
            and cell.learner in entry.get("learners", [cell.learner])
            and cell.metric == entry.get("metric", cell.metric)
            and cell.dataset in entry.get("datasets", [cell.dataset])
        ):
            return entry["remark"]
    return ""


def group_by_remark(cells: list[CellComparison]) -> dict[str, list[CellComparison]]:
    """Group cells by their remark, in order; those without one come last."""
    groups: dict[str, list[CellComparison]] = {}
    for cell in cells:
        groups.setdefault(find_remark(cell) or UNEXPLAINED, []).append(cell)
    if UNEXPLAINED in groups:
        groups[UNEXPLAINED] = groups.pop(UNEXPLAINED)
    return groups


def format_remarks(cells: list[CellComparison]) -> list[str]:
    """Return the remarks on these cells as lines of text, each preceded by the cells that it concerns."""
    lines = [""] if cells else []
    for remark, part in group_by_remark(cells).items():
        places: dict[str, dict[str, None]] = {}
        for cell in part:
            places.setdefault(f"{cell.learner}, {cell.metric}", {})[cell.dataset] = None
        names = "; ".join(f"{learner} on {', '.join(datasets)}" for learner, datasets in places.items())
        lines += textwrap.wrap(f"- {names}: {remark}", 110, subsequent_indent="  ")
    return lines
