"""Stored results as numbers: for every run, the values of each cell's metrics over its splits."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from zoloss_cli.config.models import ALL, DataSpec, Experiment, GeneratedData
from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.metrics.base import Sizes, Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.report.papers import PublishedValue
from zoloss_cli.results.manifest import Manifest
from zoloss_cli.results.record import FitRecord

if TYPE_CHECKING:
    from zoloss_cli.figures.curves import Curves
    from zoloss_cli.metrics.base import PooledMeasurement

Place = tuple[str, str]  # data set and learner
UNDEFINED = "it is not defined"  # how the reason for a missing number begins
DEFAULT_FOLDER = Path("results")  # of `zoloss run`


class CellResult:
    """What is stored for a cell; the values of a metric are computed on demand.

    Parameters
    ----------
    records : sequence of FitRecord or PooledMeasurement
        One per split or draw.
    splits : sequence of int
        Their numbers.
    sizes : Sizes or None
        Numbers of training and test samples; None if unknown.
    choice : str
        Which of a column's settings it has.
    values : mapping of str to list of float
        Values of metrics that are already known, in the order of the splits.
    """

    def __init__(
        self,
        records: Sequence[FitRecord | PooledMeasurement] = (),
        splits: Sequence[int] = (),
        sizes: Sizes | None = None,
        choice: str = "",
        values: Mapping[str, list[float]] | None = None,
    ):
        self.records, self.splits, self.sizes, self.choice = records, list(splits), sizes, choice
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
            compute, sizes = load_metric(metric).compute, self.sizes
            try:
                values = [compute(record, sizes) for record in self.records]
            except ConfigError:
                raise
            except Exception as error:  # from another package's metric, or unforeseen records
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
        except KeyError:  # it is undefined somewhere, which only its values show
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
        return build_curves(fits, self.sizes) if fits and fits[0].epochs and self.sizes else None

    @property
    def trace(self) -> list[tuple[float, float]] | None:
        """Return the loss trace of a search that ran once: seconds and errors; None if there is none."""
        first = self.records[0] if len(self.records) == 1 else None
        return first.trace or None if isinstance(first, FitRecord) else None


@dataclass
class RunResult:
    """A manifest's contents: a typed experiment, and the results found for its cells.

    Attributes
    ----------
    manifest : Manifest
        What was requested, and the runs that made it.
    cells : dict of Place to CellResult
        Cells whose records provide the metric that the table shows.
    measurements : dict of Place to dict
        Measurements by draw, for the cells of measures.
    partial : dict of Place to CellResult
        Cells whose records do not provide that metric, but may provide the others.
    missing : dict of Place to str
        Why they do not.
    n_failed : int
        Failed tasks of all cells, chosen or not.
    n_done_at : dict of Place to int
        Finished tasks of each cell, for all its settings together.
    folder : Path or None
        The results folder that it was read from.
    """

    manifest: Manifest
    cells: dict[Place, CellResult] = field(default_factory=dict)
    measurements: dict[Place, dict[int, PooledMeasurement]] = field(default_factory=dict)
    partial: dict[Place, CellResult] = field(default_factory=dict)
    missing: dict[Place, str] = field(default_factory=dict)
    n_failed: int = 0
    n_done_at: dict[Place, int] = field(default_factory=dict)
    folder: Path | None = None

    def count_done(self, place: Place, n_tasks: int) -> None:
        """Add finished tasks of a cell."""
        self.n_done_at[place] = self.n_done_at.get(place, 0) + n_tasks

    @property
    def n_done(self) -> int:
        """Return the number of finished tasks of all cells."""
        return sum(self.n_done_at.values())

    def command(self, fresh: bool = False) -> str:
        """Return what to type to run what is missing, or everything again, into the same folder."""
        command = self.manifest.command(fresh)
        if self.folder in (None, DEFAULT_FOLDER) or not command.startswith("zoloss run "):
            return command
        return f"{command} --out {shlex.quote(str(self.folder))}"

    def describe_remedy(self, metric: str) -> str:
        """Return the end of a sentence about records without a metric: what to do about it."""
        from zoloss_cli.config.checks import find_kept

        if load_metric(metric).is_joint:
            return f"; run the others with: {self.command()}"
        kept = find_kept(load_metric(metric))
        if self.experiment.keep in kept:
            return ", because its learner gives none"
        if kept:
            return f"; add 'keep: {kept[0]}' to its config, and run: {self.command()}"
        return f"; make new records with: {self.command(fresh=True)}"

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
        """Return how many cells its complete table has; a config may leave some out."""
        if self.experiment.ratios:
            return len(self.datasets) * len(self.learners)
        return len({(cell.dataset, cell.learner) for cell in self.manifest.cells})

    @property
    def paper(self) -> str:
        """Return the paper that it mirrors; empty if none."""
        return self.experiment.published.paper if self.experiment.published else ""

    @property
    def table(self) -> str:
        """Return the number of the published table that it mirrors; empty if none."""
        return (self.experiment.published.table or "") if self.experiment.published else ""

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
        """Return the metric that a column shows, and those next to it."""
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
        """Return whether all samples train."""
        return (self.get_data(dataset).train or self.experiment.split.train) == ALL

    def group_by_draw(self, dataset: str, learner: str, metric: str) -> list[list[float]]:
        """Return a cell's values, grouped by draw."""
        groups: dict[int, list[float]] = {}
        cell, n_draws = self.cells[dataset, learner], self.count_draws(dataset)
        for split, value in zip(cell.splits, cell[metric], strict=True):
            groups.setdefault(split % n_draws, []).append(value)
        return list(groups.values())

    def is_constant(self, dataset: str, learner: str, metric: str) -> bool:
        """Return whether all splits of a cell gave the same value."""
        return len(set(self.cells[dataset, learner][metric])) == 1

    def runs_once(self, dataset: str, learner: str) -> bool:
        """Return whether nothing in a cell is random, so that it has only one task."""
        return (dataset, learner, 1) in [(c.dataset, c.learner, c.repeats) for c in self.manifest.cells]

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

    def iterate_values(self, learner: str, metric: str) -> Iterator[float]:
        """Yield all values of a learner's metric, data set by data set."""
        for dataset in self.datasets:
            cell = self.find_cell(dataset, learner)
            yield from (cell.get(metric) or ()) if cell is not None else ()

    def choose_columns(self) -> tuple[list[tuple[str, str]], dict[tuple[str, str], float]]:
        """Return learner and metric of each column, and the value of additional metrics that never change.

        A single number then says more than a column, if the metric allows that.
        """
        columns: list[tuple[str, str]] = []
        constant: dict[tuple[str, str], float] = {}
        for learner in self.learners:
            columns.append((learner, self.metric))
            for metric in self.metrics[1:]:
                seen = set(self.iterate_values(learner, metric))
                if len(seen) == 1 and load_metric(metric).collapse_if_constant:
                    constant[learner, metric] = seen.pop()
                elif seen:
                    columns.append((learner, metric))
        return columns, constant


MAX_LOG_ERROR = 0.5  # beyond this, a number 2.7 times as large would agree


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


def compute_ratio_z(ours: Stat, published: PublishedValue, runs: int) -> float:
    """Return the distance of two geometric means: the difference of their logarithms over its standard error.

    No error is published: the `runs` trials behind the number are assumed to spread as ours do. NaN if that is
    not a test: a few separable splits make the error of the logarithm so large that anything would agree, or
    the number is published as 0.0000, which has no logarithm.
    """
    if published.value == 0.0 or ours.mean == 0.0:
        return math.nan
    rounding = 10.0**-published.decimals / math.sqrt(12.0) / published.value
    error_of_log = ours.stderr / ours.mean
    error = math.hypot(error_of_log, error_of_log * math.sqrt(ours.splits / runs), rounding)
    return math.log(ours.mean / published.value) / error if error <= MAX_LOG_ERROR else math.nan


ROUNDING = 1e-9


def find_baseline(run: RunResult, runs: list[RunResult]) -> RunResult | None:
    """Return the run that stars refer to: the config names a table of the same paper, or a run."""
    wanted = run.experiment.baseline
    for other in runs:
        if wanted and (other.name == wanted or (other.table == wanted and other.paper == run.paper)):
            return other
    return None


def find_stars(run: RunResult, runs: list[RunResult]) -> set[Place]:
    """Return the cells that are better than the best of the baseline table by one standard error."""
    baseline, metric = find_baseline(run, runs), load_metric(run.metric)
    key, decimals = metric.sort_key, metric.decimals
    stars: set[Place] = set()
    for dataset in run.datasets if baseline else []:
        assert baseline is not None
        stats = [s for x in baseline.learners if (s := baseline.get_stat(dataset, x, run.metric))]
        if not stats:
            continue
        best = min(stats, key=lambda s: key(s.mean))
        margin = 0.0 if math.isnan(best.stderr) else best.stderr
        # Compared as published: values that look equal are equal.
        limit = key(round(best.mean, decimals)) - round(margin, decimals) + ROUNDING
        for learner in run.learners:
            ours = run.get_stat(dataset, learner)
            if ours and key(round(ours.mean, decimals)) <= limit:
                stars.add((dataset, learner))
    return stars


# A published number rests on one draw of its noise or pool. Ours are often means over several, which separate
# the two sources: a one-way analysis of variance.


@dataclass(frozen=True)
class Spread:
    """Variances between draws and of splits within one.

    Attributes
    ----------
    between, within : float
        The two variances.
    n_draws, n_values : int
        Number of draws and values that they are estimated from.
    """

    between: float
    within: float
    n_draws: int
    n_values: int

    @property
    def stderr(self) -> float:
        """Return the standard error of the mean over all values."""
        return math.sqrt(self.between / self.n_draws + self.within / self.n_values)


def compute_spread(groups: list[list[float]]) -> Spread:
    """Return the spread of values grouped by draw.

    If every draw has only one value, the two cannot be distinguished, and everything counts as between draws.
    """
    n_values = sum(len(group) for group in groups)
    within = fmean(_compute_variance(group) for group in groups)
    if len(groups) < 2:
        return Spread(0.0, within, 1, n_values)
    between = _compute_variance([fmean(g) for g in groups]) - within / min(len(g) for g in groups)
    return Spread(max(0.0, between), within, len(groups), n_values)


def _compute_variance(values: list[float]) -> float:
    # statistics.variance computes in fractions, which takes longer than reading the results.
    mean, n = fmean(values), len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (n - 1) if n > 1 else 0.0
