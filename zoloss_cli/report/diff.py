"""Compare two results folders: the cells whose numbers differ, with tests on their common splits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zoloss_cli.errors import ResultsError
from zoloss_cli.registry import load_metric
from zoloss_cli.report.render import Grid, render_grid, render_objects_csv
from zoloss_cli.report.runs import CellResult, Place, RunResult
from zoloss_cli.report.statistics import compute_corrected_t_test
from zoloss_cli.results.record import have_same_result

UNTIMED_METRICS = ("test_error", "train_01_loss")  # for cells whose table shows only times


@dataclass(frozen=True)
class CellDifference:
    """A metric of a cell whose records differ: its means over the splits that both folders have."""

    run: str  # name of the run, and of its table, or the run again
    table: str
    dataset: str  # the cell, and the metric compared
    learner: str
    metric: str
    first: float  # the means, and second minus first
    second: float
    difference: float
    splits: int  # number of splits that both have, and of those with different records, ignoring times
    n_differ: int
    t: float | None  # the corrected resampled t-test of the differences; None if there is none
    p: float | None
    # whether data, parameters and versions are the same, so that the numbers should be, too
    is_same_task: bool


@dataclass
class ResultsDifference:
    """What differs between two results folders."""

    # cells with different records, one entry per metric
    cells: list[CellDifference] = field(default_factory=list)
    # number of cells that both folders have, of those with equal records, and of compared splits
    n_cells: int = 0
    n_same: int = 0
    n_splits: int = 0
    only_first: list[str] = field(default_factory=list)  # runs, cells and splits that only one folder has
    only_second: list[str] = field(default_factory=list)

    @property
    def n_changed(self) -> int:
        """Return the number of cells with different records."""
        return self.n_cells - self.n_same

    @property
    def is_empty(self) -> bool:
        """Return whether both folders hold the same results."""
        return not (self.n_changed or self.only_first or self.only_second)


def compare_results(first: list[RunResult], second: list[RunResult]) -> ResultsDifference:
    """Return what differs between the runs of two folders, which are matched by name."""
    others, found = {run.name: run for run in second}, ResultsDifference()
    names = [run.name for run in first]
    found.only_first = [f"run '{name}'" for name in names if name not in others]
    found.only_second = [f"run '{name}'" for name in others if name not in names]
    known: dict[tuple[int, int], tuple[int, int]] = {}  # shared cells are compared once
    for run in first:
        if run.name in others:
            _compare_runs(run, others[run.name], found, known)
    if not found.n_cells and not found.only_first and not found.only_second:
        raise ResultsError("there is no finished task to compare in either folder")
    return found


def _compare_runs(
    one: RunResult, other: RunResult, found: ResultsDifference, known: dict[tuple[int, int], tuple[int, int]]
) -> None:
    keys = [_collect_keys(run) for run in (one, other)]
    for place in dict.fromkeys([*one.cells, *other.cells]):
        cells = one.cells.get(place), other.cells.get(place)
        name = f"{place[1]} on {place[0]} of '{one.name}'"
        if cells[0] is None or cells[1] is None:
            (found.only_second if cells[0] is None else found.only_first).append(name)
            continue
        pair = id(cells[0]), id(cells[1])
        if pair not in known:
            known[pair] = _count_differing(cells[0], cells[1], one.metric)
        n_common, n_differ = known[pair]
        _note_lone_splits(name, cells[0], cells[1], found)
        found.n_cells += 1
        found.n_splits += n_common
        if not n_differ:
            found.n_same += 1
            continue
        is_same_task = keys[0].get((place, cells[0].choice)) == keys[1].get((place, cells[1].choice))
        found.cells += _compare_metrics(one, place, (cells[0], cells[1]), n_differ, is_same_task)


def _collect_keys(run: RunResult) -> dict[tuple[Place, str], str]:
    return {((cell.dataset, cell.learner), cell.choice): cell.key for cell in run.manifest.cells}


def _note_lone_splits(name: str, one: CellResult, other: CellResult, found: ResultsDifference) -> None:
    for mine, theirs, noted in ((one, other, found.only_first), (other, one, found.only_second)):
        if count := len(set(mine.splits) - set(theirs.splits)):
            noted.append(f"{count:,} split{'s' * (count > 1)} of {name}")


def _count_differing(one: CellResult, other: CellResult, metric: str) -> tuple[int, int]:
    """Return how many splits both cells have, and on how many the records differ, ignoring times."""
    has_records = bool(one.records and other.records)  # otherwise they are ratios of other cells
    mine, theirs = (
        dict(zip(cell.splits, cell.records if has_records else cell[metric], strict=True))
        for cell in (one, other)
    )
    common = mine.keys() & theirs.keys()
    if one.sizes != other.sizes:
        return len(common), len(common)
    return len(common), sum(not _is_same(mine[split], theirs[split]) for split in common)


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two records, or pooled measurements of a draw, are equal except for times."""
    if one == other:
        return True
    if isinstance(one, float):
        return False
    records = [getattr(each, "records", None) or [each] for each in (one, other)]
    return len(records[0]) == len(records[1]) and all(map(have_same_result, *records))


def _compare_metrics(
    run: RunResult, place: Place, cells: tuple[CellResult, CellResult], n_differ: int, is_same_task: bool
) -> list[CellDifference]:
    metrics = [name for name in run.metrics if load_metric(name).comparison != "ratio"] or list(UNTIMED_METRICS)
    compared = []
    for metric in metrics:
        values = [cell.get(metric) for cell in cells]
        if None in values:  # undefined in some split
            continue
        one, two = (dict(zip(cell.splits, v or (), strict=True)) for cell, v in zip(cells, values, strict=True))
        common = sorted(one.keys() & two.keys())
        aggregate = load_metric(metric).aggregate
        first, second = (aggregate([values[k] for k in common]).mean for values in (one, two))
        t, p = _test_differences([two[k] - one[k] for k in common], metric, cells)
        name = (run.name, run.number, *place, metric)
        counts = (len(common), n_differ, t, p)
        compared.append(CellDifference(*name, first, second, second - first, *counts, is_same_task))
    return compared


def _test_differences(
    differences: list[float], metric: str, cells: tuple[CellResult, CellResult]
) -> tuple[float | None, float | None]:
    """Return t and p of the corrected t-test; None if it does not apply, or there is only one split."""
    sizes = cells[0].sizes
    if load_metric(metric).part != "test" or sizes is None or sizes != cells[1].sizes or not sizes.n_test:
        return None, None
    return compute_corrected_t_test(differences, *sizes) if len(differences) > 1 else (None, None)


COLUMNS = (
    *("run", "table", "dataset", "learner", "metric", "first", "second", "difference"),
    *("splits", "n_differ", "t", "p", "is_same_task"),
)
MAX_LISTED = 8
OTHER_TASK = "†"


def render_difference(found: ResultsDifference, format: str, standalone: bool = False) -> str:
    """Return the differing cells in a format; empty, or only a header, if there are none."""
    if format == "csv":
        return render_objects_csv(COLUMNS, found.cells)
    if not found.cells:
        return ""
    header = ["table", "data set", "learner", "metric", "first", "second", "difference", "differ", "p"]
    notes = [
        "means over the splits that both folders have; differ: on how many of these the records differ",
        "p: corrected t-test of Nadeau & Bengio (2003), not corrected for multiple testing",
    ]
    if any(not cell.is_same_task for cell in found.cells):
        notes.append(f"{OTHER_TASK}: data, seed, parameters or version are not the same in both")
    grid = Grid(header=header, lines=[_format_line(cell) for cell in found.cells], n_left=4, notes=notes)
    return render_grid(grid, format, standalone)


def summarize_difference(found: ResultsDifference, first: Path, second: Path) -> list[str]:
    """Return how many cells differ, and what only one folder has, one sentence each."""
    cells = f"{found.n_cells:,} cell{'s' * (found.n_cells != 1)}"
    splits = f"{found.n_splits:,} split{'s' * (found.n_splits != 1)}"
    if found.is_empty:
        return [f"no difference: {first} and {second} have the same numbers in {cells} and {splits}"]
    lines = []
    if found.n_changed:
        lines.append(f"{found.n_changed:,} of {found.n_cells:,} cells differ; {splits} compared")
    elif found.n_cells:
        lines.append(f"the numbers of {cells} are the same on the {splits} that both folders have")
    for folder, names in ((first, found.only_first), (second, found.only_second)):
        if names:
            more = f", and {len(names) - MAX_LISTED:,} more" if len(names) > MAX_LISTED else ""
            lines.append(f"only in {folder}: {', '.join(names[:MAX_LISTED])}{more}")
    return lines


def _format_line(cell: CellDifference) -> list[str]:
    metric = load_metric(cell.metric)
    decimals = metric.count_decimals(cell.second, cell.splits)
    return [
        cell.table,
        cell.dataset,
        cell.learner + (f" {OTHER_TASK}" if not cell.is_same_task else ""),
        cell.metric,
        f"{cell.first:.{decimals}f}",
        f"{cell.second:.{decimals}f}",
        f"{cell.difference:+.{decimals}f}",
        f"{cell.n_differ:,} of {cell.splits:,}",
        "" if cell.p is None else f"{cell.p:.2g}" if cell.p >= 0.001 else "<0.001",
    ]
