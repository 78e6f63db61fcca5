"""Read a results folder: its runs, the records of their cells, and metrics over splits."""

from __future__ import annotations

import math
import re
import shlex
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from zoloss_cli.config.models import ALL, DataSpec, Experiment, GeneratedData
from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.metrics.base import PooledMeasurement, Sizes, Stat, pool_by_draw
from zoloss_cli.registry import LEARNERS, is_external, load_metric
from zoloss_cli.results.manifest import Manifest, ManifestCell
from zoloss_cli.results.record import FitRecord, MeasureRecord
from zoloss_cli.results.store import IGNORED_FILES, RUNS, Store, StoredCell
from zoloss_cli.utils.files import PACKAGE_FOLDER
from zoloss_cli.utils.imports import name_class

if TYPE_CHECKING:
    from zoloss_cli.figures.curves import Curves

Place = tuple[str, str]  # data set and learner
Column = tuple[str, str]  # learner and metric
UNDEFINED = "it is not defined"  # start of the reason why a metric is undefined
DEFAULT_FOLDER = Path("results")  # of `zoloss run`
ROMAN_NUMBERS = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}


class CellResult:
    """What is stored for a cell; the values of a metric are computed on demand."""

    def __init__(
        self,
        records: Sequence[FitRecord | PooledMeasurement] = (),
        splits: Sequence[int] = (),
        sizes: Sizes | None = None,
        choice: str = "",
        values: Mapping[str, list[float]] | None = None,
        fold_sizes: Sequence[Sizes] = (),
    ):
        self.records, self.splits, self.sizes, self.choice = records, list(splits), sizes, choice
        self.all_sizes = fold_sizes or [cast(Sizes, sizes)] * len(records)  # by record; those of folds differ
        self._values = dict(values or {})
        self._faults: dict[str, str] = {}
        self._stats: dict[str, Stat] = {}

    def __len__(self) -> int:
        return len(self.splits)

    def __contains__(self, metric: str) -> bool:
        return metric in self._values or not self.explain_missing(metric)

    def __getitem__(self, metric: str) -> list[float]:
        if metric not in self._values:
            if reason := self.explain_missing(metric):
                raise KeyError(f"{metric}: {reason}")
            compute = load_metric(metric).compute
            try:
                values = list(map(compute, self.records, self.all_sizes))
            except ConfigError:
                raise
            except Exception as error:  # from a plug-in's metric, or unexpected records
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise ResultsError(f"the metric '{metric}' cannot be computed: {reason}") from error
            if undefined := sum(map(math.isnan, values)):
                self._faults[metric] = f"{UNDEFINED} in {undefined} of its {len(values)} splits"
                raise KeyError(f"{metric}: {self._faults[metric]}")
            self._values[metric] = values
        return self._values[metric]

    def get(self, metric: str, default: list[float] | None = None) -> list[float] | None:
        """Return the values of a metric, or the default if the records cannot provide it."""
        try:
            return default if self.explain_missing(metric) else self[metric]
        except KeyError:  # undefined in some split, which only computing it shows
            return default

    def get_stat(self, metric: str) -> Stat | None:
        """Return the aggregate of a metric over splits; None if the records cannot provide it."""
        if metric not in self._stats and (values := self.get(metric)):
            self._stats[metric] = load_metric(metric).aggregate(values)
        return self._stats.get(metric)

    def explain_missing(self, metric: str) -> str:
        """Return why the records cannot provide a metric; empty if they can."""
        if metric in self._values:
            return ""
        if metric not in self._faults:
            found = load_metric(metric)
            if found.ratio_of or not self.records:
                self._faults[metric] = f"its records hold no {metric}"
            else:
                self._faults[metric] = found.explain_missing(self.records)
        return self._faults[metric]

    def get_counts(self, name: str) -> Sequence[float]:
        """Return a field of all records that is not a metric; empty if a record lacks it."""
        if name in self._values:
            return self._values[name]
        if not self.records or getattr(self.records[0], name, None) is None:
            return []
        counts = [getattr(record, name) for record in self.records]
        return [] if None in counts else counts

    @cached_property
    def curves(self) -> Curves | None:
        """Return the errors and costs after each recorded epoch; None if the records have none."""
        from zoloss_cli.figures.curves import build_curves

        fits = [record for record in self.records if isinstance(record, FitRecord)]
        return build_curves(fits, self.all_sizes) if fits and fits[0].epochs and self.sizes else None

    @property
    def trace(self) -> list[tuple[float, float]] | None:
        """Return the loss trace of a search that ran once: seconds and errors; None if there is none."""
        first = self.records[0] if len(self.records) == 1 else None
        return first.trace or None if isinstance(first, FitRecord) else None


@dataclass
class RunResult:
    """The experiment of a manifest, and the results found for its cells."""

    manifest: Manifest  # what was requested, and the runs that computed it
    # cells whose records provide the metric that the table shows
    cells: dict[Place, CellResult] = field(default_factory=dict)
    # measurements by draw, for the cells of measures
    measurements: dict[Place, dict[int, PooledMeasurement]] = field(default_factory=dict)
    # cells whose records do not provide that metric, but may provide the others
    partial: dict[Place, CellResult] = field(default_factory=dict)
    missing: dict[Place, str] = field(default_factory=dict)  # reasons why they do not
    n_failed: int = 0  # failed tasks of all cells, shown or not
    # finished tasks of each cell, for all its settings together
    n_done_at: dict[Place, int] = field(default_factory=dict)
    folder: Path | None = None  # the results folder that it was read from

    def count_done(self, place: Place, n_tasks: int) -> None:
        """Add finished tasks of a cell."""
        self.n_done_at[place] = self.n_done_at.get(place, 0) + n_tasks

    @property
    def n_done(self) -> int:
        """Return the number of finished tasks of all cells."""
        return sum(self.n_done_at.values())

    def command(self, fresh: bool = False) -> str:
        """Return the command that completes this run, or repeats it, in the same folder."""
        command = self.manifest.command(fresh)
        if self.folder in (None, DEFAULT_FOLDER) or not command.startswith("zoloss run "):
            return command
        return f"{command} --out {shlex.quote(str(self.folder))}"

    def describe_remedy(self, metric: str) -> str:
        """Return the remedy for records without a metric, as the end of a sentence."""
        from zoloss_cli.config.loader import find_kept

        if load_metric(metric).is_joint:
            return f"; run the others with: {self.command()}"
        kept = find_kept(load_metric(metric))
        if self.experiment.keep in kept:
            return ", because its learner provides none"
        if kept:
            return f"; add 'keep: {kept[0]}' to its config, and run: {self.command()}"
        return f"; recompute them with: {self.command(fresh=True)}"

    def add(self, place: Place, cell: CellResult) -> None:
        """Add a cell. If several are given for one place, the one with the best mean is kept."""
        metric = load_metric(self.metric)
        shown = metric.ratio_of or self.metric
        if reason := cell.explain_missing(shown):
            if place not in self.cells:
                self.missing[place], self.partial[place] = reason, cell
            return
        kept = self.cells.get(place)
        if kept is None or self._rank(cell.get(shown)) < self._rank(kept.get(shown)):
            self.cells[place] = cell
            self.missing.pop(place, None)
            self.partial.pop(place, None)

    def _rank(self, values: list[float] | None) -> float:
        return load_metric(self.metric).sort_key(math.fsum(values) / len(values)) if values else math.inf

    @property
    def experiment(self) -> Experiment:
        """Return the experiment described by its config."""
        return self.manifest.experiment

    @property
    def name(self) -> str:
        """Return the name of the run."""
        return self.experiment.name

    @property
    def n_tasks(self) -> int:
        """Return how many tasks the complete run has."""
        return self.manifest.n_tasks

    @property
    def n_cells(self) -> int:
        """Return how many cells its complete table has, which may be fewer than data sets times learners."""
        if self.experiment.ratios:
            return len(self.datasets) * len(self.learners)
        return len({(cell.dataset, cell.learner) for cell in self.manifest.cells})

    @property
    def paper(self) -> str:
        """Return the paper that it mirrors; empty if none."""
        return self.experiment.published.paper if self.experiment.published else ""

    @property
    def table(self) -> str:
        """Return the number of the published table that it mirrors; empty if none, or as an alternative."""
        published = self.experiment.published
        return published.table or "" if published and not published.alternative else ""

    @property
    def figure(self) -> str:
        """Return the number of the published figure that it mirrors; empty if none."""
        return (self.experiment.published.figure or "") if self.experiment.published else ""

    @property
    def number(self) -> str:
        """Return the number of its table, or its own name."""
        return self.table or self.name

    @property
    def full_name(self) -> str:
        """Return paper and number of its table, such as li-lin-2007/II, or its own name."""
        return f"{self.paper}/{self.table}" if self.table else self.name

    @property
    def metric(self) -> str:
        """Return the metric that its table shows."""
        return self.experiment.metric

    @property
    def metrics(self) -> list[str]:
        """Return the metric that its table shows, and the additional ones."""
        return self.experiment.metrics

    @property
    def datasets(self) -> list[str]:
        """Return the names of its data sets."""
        return [data.name for data in self.experiment.datasets]

    @property
    def learners(self) -> list[str]:
        """Return the labels of its columns."""
        if self.experiment.ratios:
            return list(self.experiment.ratios)
        return list(dict.fromkeys(spec.label for spec in self.experiment.learners))

    def get_data(self, dataset: str) -> DataSpec:
        """Return the specification of a data set."""
        return next(data for data in self.experiment.datasets if data.name == dataset)

    def get_generator(self, dataset: str) -> str | None:
        """Return the generator behind a data set, or None for real data."""
        data = self.get_data(dataset)
        return data.generator if isinstance(data, GeneratedData) else None

    def count_draws(self, dataset: str) -> int:
        """Return how many draws of noise or pools the splits use in turn."""
        return self.get_data(dataset).n_draws

    def trains_on_all(self, dataset: str) -> bool:
        """Return whether all samples are used for training."""
        return self.experiment.split.choose_parts(self.get_data(dataset)).train == ALL

    def group_by_draw(self, dataset: str, learner: str, metric: str) -> list[list[float]]:
        """Return a cell's values, grouped by draw."""
        groups: dict[int, list[float]] = {}
        cell, n_draws = self.cells[dataset, learner], self.count_draws(dataset)
        for split, value in zip(cell.splits, cell[metric], strict=True):
            groups.setdefault(split % n_draws, []).append(value)
        return list(groups.values())

    def get_stat(self, dataset: str, learner: str, metric: str | None = None) -> Stat | None:
        """Return the aggregate of a cell's values; None if there are none."""
        cell = self.cells.get((dataset, learner))
        return cell.get_stat(metric or self.metric) if cell is not None else None

    def get_values(self, dataset: str, learner: str) -> list[float]:
        """Return a cell's values of the shown metric, one per split; empty if there are none."""
        cell = self.cells.get((dataset, learner))
        return (cell.get(self.metric) or []) if cell is not None else []

    def get_values_by_split(self, dataset: str, learner: str) -> dict[int, float]:
        """Return a cell's values of the shown metric, by the number of the split."""
        values = self.get_values(dataset, learner)
        return dict(zip(self.cells[dataset, learner].splits, values, strict=True)) if values else {}

    def show_metric(self, metric: str) -> RunResult:
        """Return the run with another metric instead of the one that its table shows.

        Cells whose records do not provide it are left out; if no record does, ResultsError is raised.
        """
        experiment = self.experiment.model_copy(update={"metric": load_metric(metric).name})
        faults = {place: cell.explain_missing(experiment.metric) for place, cell in self.cells.items()}
        kept = {place: cell for place, cell in self.cells.items() if not faults[place]}
        if self.cells and not kept:
            reason = next(iter(faults.values()))
            raise ResultsError(f"'{self.name}' has no {experiment.metric}: {reason}")
        return replace(self, manifest=replace(self.manifest, experiment=experiment), cells=kept)

    def find_cell(self, dataset: str, learner: str) -> CellResult | None:
        """Return what is stored for a cell, whether or not it provides the metric of the table."""
        return self.cells.get((dataset, learner)) or self.partial.get((dataset, learner))

    def choose_columns(self) -> tuple[list[Column], dict[Column, float]]:
        """Return learner and metric of each column, and the values of constant additional metrics.

        A constant metric is one number in a note instead of a column, if the metric allows that.
        """
        columns: list[Column] = []
        constant: dict[Column, float] = {}
        for learner in self.learners:
            columns.append((learner, self.metric))
            cells = [cell for dataset in self.datasets if (cell := self.find_cell(dataset, learner))]
            for metric in self.metrics[1:]:
                seen = {value for cell in cells for value in cell.get(metric) or ()}
                if len(seen) == 1 and load_metric(metric).collapse_if_constant:
                    constant[learner, metric] = seen.pop()
                elif seen:
                    columns.append((learner, metric))
        return columns, constant


def find_baseline(run: RunResult, runs: list[RunResult]) -> RunResult | None:
    """Return the run that stars refer to: the config names a table of the same paper, or a run."""
    wanted = run.experiment.baseline
    for other in runs:
        if wanted and (other.name == wanted or (other.table == wanted and other.paper == run.paper)):
            return other
    return None


def replace_by_ratios(run: RunResult) -> None:
    """Replace the two learners' own cells by the ratios that the config names."""
    cells: dict[Place, CellResult] = {}
    shown = [name for name in run.metrics if load_metric(name).ratio_of]
    metric = load_metric(run.metric).ratio_of
    for dataset in run.datasets:
        for label, ratio in (run.experiment.ratios or {}).items():
            pair = [run.cells.get((dataset, side)) for side in (ratio.of, ratio.over)]
            if None in pair:
                continue
            of, over = (dict(zip(cell.splits, cell[metric], strict=True)) for cell in pair if cell is not None)
            if both := sorted(of.keys() & over.keys()):
                ratios = [of[k] / over[k] for k in both]
                cells[dataset, label] = CellResult(splits=both, values=dict.fromkeys(shown, ratios))
    run.cells = cells


def list_directed(columns: list[Column]) -> list[str]:
    """Return the metrics among columns in which some values are better than others.

    An additional metric that only one learner provides has nothing to be compared with.
    """
    counts = Counter(metric for _, metric in columns)
    first = columns[0][1] if columns else ""
    return [m for m, n in counts.items() if (n > 1 or m == first) and load_metric(m).direction is not None]


def build_column_titles(labels: list[str]) -> dict[str, str]:
    """Return the papers' names of these columns. `adaboost:x` is just x if all columns are boosted.

    If all columns have the same base, the rest distinguishes them: `ecc:max-cut:stump`.
    """
    known = LEARNERS
    registered = [label for label in labels if not _is_class(label)]
    ensembles = {label.rpartition(":")[0] for label in registered}
    bases = {label.rpartition(":")[2] for label in registered}
    titles: dict[str, str] = {}
    for label in labels:
        if _is_class(label):  # an external class, whose own name suffices if it is unique
            short = name_class(label)
            titles[label] = short if short not in titles.values() and short not in labels else label
            continue
        ensemble, _, base = label.rpartition(":")
        title = known[base].title if base in known else base
        if len(labels) > 1 and len(bases) == 1 and ensemble:
            first, *rest = ensemble.split(":")
            titles[label] = " ".join([known[first].title if first in known else first, *rest])
            continue
        outer = known[ensemble].title if ensemble in known else ensemble
        titles[label] = title if len(ensembles) == 1 or not ensemble else f"{outer} {title}"
    return titles


def build_learner_title(learner: str) -> str:
    """Return the papers' name of a learner; for a class of a package or a file, its own name."""
    return name_class(learner) if is_external(learner) else LEARNERS[learner].title


def _is_class(label: str) -> bool:
    """Return whether a label names a class, which begins with a capital, and does not just contain a dot."""
    return "." in label and is_external(label) and name_class(label)[:1].isupper()


def load_runs(folder: Path, wanted: str | None = None) -> tuple[list[RunResult], Store]:
    """Read the runs of a results folder, with the cells of those that `wanted` names: see `select_runs`.

    Damaged parts are left out and noted.
    """
    runs, store = open_results(folder)
    needed = runs if wanted is None else [run for run in runs if wanted in _list_names(run)]
    read_runs(store, runs, [*needed, *(b for x in needed if (b := find_baseline(x, runs)) and b not in needed)])
    return runs, store


def read_runs(store: Store, runs: list[RunResult], needed: list[RunResult]) -> None:
    """Read the cells of runs that have none yet."""
    reader = CellReader(store, runs)
    for run in needed:
        run.folder = store.folder
        for cell in run.manifest.cells:
            reader.add_cell(run, cell)
        if run.experiment.ratios:
            replace_by_ratios(run)


def open_results(folder: Path) -> tuple[list[RunResult], Store]:
    """Return the runs of a results folder without any cells, in the papers' order, and the folder.

    A folder without runs that has a subfolder of reference results, as in a fresh clone, is read from there.
    """
    store = Store(folder)
    if not folder.is_dir():
        raise ResultsError(f"there is no folder {folder}; {_suggest_run(folder)}")
    if not store.is_ours() and (others := {p.name for p in folder.iterdir()} - IGNORED_FILES):
        raise ResultsError(f"{folder} is not a results folder: it holds {min(others)}")
    if not any((folder / RUNS).glob("*.json")) and (reference := Store(folder / "reference")).is_ours():
        reference.notes.append(f"{folder} holds no runs of its own; reading {reference.folder}")
        store = reference
    elif not store.is_ours():
        raise ResultsError(f"{folder} holds no results yet; {_suggest_run(folder)}")
    store.check_format()
    return sorted(map(RunResult, store.read_manifests()), key=_order_as_in_papers), store


class CellReader:
    """Reads the cells of runs, and notes damaged files."""

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
        """Return what is stored for a cell, and note any fault of its file."""
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
    fold_sizes = [Sizes(*stored.count_samples(split)) for split in splits] if stored.folds else ()
    return CellResult(cast(list[FitRecord], records), splits, sizes, choice, fold_sizes=fold_sizes)


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
        raise ResultsError(f"several papers have a table '{wanted}'; name one: {', '.join(shared)}")
    return hits


def drop_alternatives(runs: list[RunResult]) -> list[RunResult]:
    """Return the runs without alternatives to another of them."""
    mirrored = {(run.paper, run.table) for run in runs if run.table}
    return [
        run
        for run in runs
        if run.table or not (p := run.experiment.published) or (p.paper, p.table) not in mirrored
    ]


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
    reference = PACKAGE_FOLDER.parent / "results" / "reference"
    if reference.is_dir():
        text += f"; the reference results can be shown with: zoloss table {reference}"
    elif folder.name == "reference":
        text = (
            "the reference results are not part of an installed package; they are in results/reference of the "
            "project's source: pass that folder, or compute a table yourself with: zoloss run table2 "
            "--splits 20"
        )
    return text


def select_tables(runs: list[RunResult], table: str | None) -> list[RunResult]:
    """Return the run that `table` names, or without a name all runs except those of the papers' figures."""
    return [run for run in select_runs(runs, table) if table or not run.figure]


def select_comparable(runs: list[RunResult], table: str | None, against: str | None) -> list[RunResult]:
    """Return the runs whose learners can be compared by tests."""
    from zoloss_cli.report.statistics import check_comparable  # SciPy is slow to import

    comparable, reasons = [], []
    for run in select_tables(runs, table):
        try:
            check_comparable(run, against)
            comparable.append(run)
        except ResultsError as error:
            reasons.append(str(error))
    if not comparable:
        raise ResultsError("\n".join(reasons) or "no run has learners to compare")
    return comparable
