"""Read a results folder: all runs, or those needed for a table, in the papers' order."""

from __future__ import annotations

import re
from bisect import bisect_left
from pathlib import Path
from typing import cast

from zoloss_cli.errors import ResultsError, suggest_nearest
from zoloss_cli.metrics.base import PooledMeasurement, Sizes, pool_by_draw
from zoloss_cli.registry import load_metric
from zoloss_cli.report.runs import CellResult, RunResult, find_baseline, replace_by_ratios
from zoloss_cli.results.manifest import ManifestCell
from zoloss_cli.results.record import FitRecord, MeasureRecord
from zoloss_cli.results.store import IGNORED_FILES, Store, StoredCell
from zoloss_cli.utils.files import PACKAGE_FOLDER
from zoloss_cli.utils.processes import pause_garbage_collection

ROMAN_NUMBERS = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}


def load_runs(folder: Path, wanted: str | None = None) -> tuple[list[RunResult], Store]:
    """Read the runs of a results folder; damaged parts are left out and noted.

    Parameters
    ----------
    folder : Path
        The results folder.
    wanted : str or None, default=None
        The name of a table or run: then only its records, and those it refers to, are read.

    Returns
    -------
    runs : list of RunResult
        All runs, in the papers' order.
    store : Store
        The folder, whose notes say what was left out.
    """
    runs, store = open_results(folder)
    needed = runs if wanted is None else [run for run in runs if wanted in _list_names(run)]
    read_runs(store, runs, [*needed, *(b for x in needed if (b := find_baseline(x, runs)) and b not in needed)])
    return runs, store


def read_runs(store: Store, runs: list[RunResult], needed: list[RunResult]) -> None:
    """Read the cells of runs that have none yet.

    Parameters
    ----------
    store : Store
        The results folder, which notes what is damaged.
    runs : list of RunResult
        All runs of the folder.
    needed : list of RunResult
        Those to read, or parts of them.
    """
    reader = CellReader(store, runs)
    with pause_garbage_collection():  # hundreds of thousands of records are created, and none is garbage
        for run in needed:
            run.folder = store.folder
            for cell in run.manifest.cells:
                reader.add_cell(run, cell)
            if run.experiment.ratios:
                replace_by_ratios(run)


def open_results(folder: Path) -> tuple[list[RunResult], Store]:
    """Return the runs of a results folder without any cells, in the papers' order, and the folder."""
    store = Store(folder)
    if not folder.is_dir():
        raise ResultsError(f"there is no folder {folder}; {_suggest_run(folder)}")
    if not store.is_ours():
        if others := sorted(p.name for p in folder.iterdir() if p.name not in IGNORED_FILES):
            raise ResultsError(f"{folder} is not a results folder: it holds {others[0]}")
        raise ResultsError(f"{folder} holds no results yet; {_suggest_run(folder)}")
    store.check_format()
    return sorted(map(RunResult, store.read_manifests()), key=_order_as_in_papers), store


class CellReader:
    """Read the cells of runs and note what is damaged.

    Parameters
    ----------
    store : Store
        The results folder, which takes the notes.
    runs : list of RunResult
        All runs of the folder; they may share cells.
    """

    def __init__(self, store: Store, runs: list[RunResult]):
        self.store = store
        self._repeats: dict[str, int] = {}  # the most splits that any run plans for a file
        for run in runs:
            for cell in run.manifest.cells:
                repeats = cell.repeats or run.experiment.split.repeats
                self._repeats[cell.file] = max(repeats, self._repeats.get(cell.file, 0))
        self._stored: dict[str, StoredCell] = {}
        self._results: dict[tuple[str, str], CellResult] = {}

    def add_cell(self, run: RunResult, cell: ManifestCell) -> None:
        """Add what is stored for a cell to a run; a file that several runs share is read once."""
        if cell.file not in self._stored:
            self._stored[cell.file] = self.read(cell)
        stored = self._stored[cell.file]
        if stored.fault:
            return
        run.n_failed += len(stored.failed)
        if not stored.records:
            return
        key = (cell.file, cell.choice)
        if key not in self._results:
            self._results[key] = build_cell_result(stored, cell.choice)
        result, place = self._results[key], (cell.dataset, cell.learner)
        repeats = cell.repeats or run.experiment.split.repeats
        run.count_done(place, bisect_left(stored.splits, repeats))
        if stored.kind == "measure":
            records = cast(list[PooledMeasurement], result.records)
            run.measurements[place] = dict(zip(result.splits, records, strict=True))
        run.add(place, result)

    def read(self, cell: ManifestCell) -> StoredCell:
        """Return what is stored for a cell, and note what is wrong with its file."""
        stored = self.store.read(cell.file, cell.key)
        if fault := self._describe_fault(stored, self._repeats[cell.file]):
            self.store.notes.append(f"{self.store.path(cell.file)} {fault}")
        return stored

    @staticmethod
    def _describe_fault(stored: StoredCell, repeats: int) -> str:
        """Return what is wrong with a cell's file; empty if nothing is."""
        if stored.fault:
            return f"{stored.fault}; left out"
        faults = []
        if stored.n_damaged:
            faults.append(f"has {stored.n_damaged} damaged line{'s' * (stored.n_damaged > 1)}; left out")
        if n_outside := len(stored.splits) - bisect_left(stored.splits, repeats):
            records = f"{n_outside} record{'s' * (n_outside > 1)}"
            faults.append(f"has {records} of splits beyond the {repeats} that are planned")
        return "; ".join(faults)


def build_cell_result(stored: StoredCell, choice: str = "") -> CellResult:
    """Return the records of a cell in order, with those that measure the same draw pooled."""
    sizes, splits = Sizes(stored.n_train, stored.n_test), stored.splits
    records = [stored.records[split] for split in splits]
    if stored.kind == "measure":
        by_draw = pool_by_draw(cast(list[MeasureRecord], records))
        return CellResult(list(by_draw.values()), list(by_draw), sizes, choice)
    return CellResult(cast(list[FitRecord], records), splits, sizes, choice)


def select_runs(runs: list[RunResult], wanted: str | None) -> list[RunResult]:
    """Return the runs to show: all, or those of the table or run with this name.

    A table's full name is its paper and number, such as li-lin-2007/II. The number suffices if only one paper
    has it.
    """
    if wanted is None:
        return runs
    hits = [run for run in runs if wanted in _list_names(run)]
    if not hits:
        numbers, full_names = [run.number for run in runs], [run.full_name for run in runs]
        nearest = suggest_nearest(wanted, dict.fromkeys([*numbers, *full_names, *(run.name for run in runs)]))
        raise ResultsError(f"there is no table '{wanted}' in these results{nearest}")
    shared = sorted({run.full_name for run in hits if run.table == wanted})
    if len(shared) > 1:
        raise ResultsError(f"the table '{wanted}' is one of several papers; name one: {', '.join(shared)}")
    return hits


def explain_empty(run: RunResult) -> str:
    """Return why a run has nothing to show, and what to do; empty if it has something."""
    if run.cells:
        return ""
    if not run.missing:
        return f"'{run.name}' has no finished task yet; run: {run.command()}"
    (dataset, learner), reason = next(iter(run.missing.items()))
    return (
        f"'{run.name}' cannot show {load_metric(run.metric).name}: {learner} on {dataset}: {reason}"
        f"{run.describe_remedy(run.metric)}"
    )


def _list_names(run: RunResult) -> set[str]:
    return {run.name, run.full_name, *([run.table] if run.table else [])}


def _order_as_in_papers(run: RunResult) -> tuple:
    number = run.table
    if number in ROMAN_NUMBERS:
        parts: tuple[int, ...] = (ROMAN_NUMBERS[number],)
    else:
        parts = tuple(int(p) for p in re.findall(r"\d+", number))
    return (not run.table, run.paper, parts, run.name)


def _suggest_run(folder: Path) -> str:
    text = "run: zoloss run configs/table2.yaml"
    if str(folder) != "results":
        text += f" --out {folder}"
    reference = folder / "reference"
    if not reference.is_dir():
        reference = PACKAGE_FOLDER.parent / "results" / "reference"
    if reference.is_dir():
        text += f"; the reference results can be shown with: zoloss table {reference}"
    elif folder.name == "reference":
        text = (
            "the reference results are not part of an installed package but of the project's source, in its "
            "folder results/reference: name that one, or compute a table yourself with: zoloss run table2 "
            "--splits 20"
        )
    return text


def select_tables(runs: list[RunResult], table: str | None) -> list[RunResult]:
    """Return the run that `table` names, or without a name all runs except those of the papers' figures."""
    return [run for run in select_runs(runs, table) if table or not run.figure]


def select_comparable(runs: list[RunResult], table: str | None, against: str | None) -> list[RunResult]:
    """Return the runs whose learners can be compared by tests.

    Parameters
    ----------
    runs : list of RunResult
        All runs of a results folder.
    table : str or None
        The table's number or the run's name; None for all.
    against : str or None
        The learner to compare the others with; None for each data set's best.

    Returns
    -------
    list of RunResult
        At least one run.

    Raises
    ------
    ResultsError
        With the reason for each run, if there is no such run.
    """
    from zoloss_cli.report.statistics import check_comparable  # SciPy takes long to import

    comparable, reasons = [], []
    for run in select_tables(runs, table):
        try:
            check_comparable(run, against)
            comparable.append(run)
        except ResultsError as error:
            reasons.append(str(error))
    if not comparable:
        raise ResultsError("\n".join(reasons) or "there are no runs to compare learners of")
    return comparable
