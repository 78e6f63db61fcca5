"""Stored results as tidy numbers: for every run, every cell's mean, standard error and splits."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from zoloss_cli.errors import ResultsError, suggest_nearest
from zoloss_cli.reporting.curves import Curves, read_curves, read_trace
from zoloss_cli.reporting.learned import learned_values
from zoloss_cli.reporting.measured import measured_values, pooled
from zoloss_cli.reporting.metrics import KNOWN
from zoloss_cli.reporting.ratios import MEASURED, make_ratios
from zoloss_cli.results.store import TOLERATED, CellRows, Store
from zoloss_cli.utils.paths import PACKAGE_FOLDER


@dataclass(frozen=True)
class Stat:
    """A mean with its standard error and deviation over splits, in the metric's unit (errors in %)."""

    mean: float
    stderr: float
    splits: int
    deviation: float = math.nan


@dataclass
class RunResult:
    """What a manifest stands for: an experiment and the numbers found for its cells."""

    name: str
    experiment: dict
    manifest: dict
    cells: dict[tuple[str, str], dict[str, list[float]]] = field(default_factory=dict)
    choices: dict[tuple[str, str], str] = field(default_factory=dict)
    splits: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # their numbers, as in cells
    sizes: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)  # rows to train, to test
    curves: dict[tuple[str, str], Curves] = field(default_factory=dict)  # of learners that record epochs
    traces: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)  # of single units
    facts: dict[tuple[str, str], dict[int, dict]] = field(default_factory=dict)  # what was measured, by draw
    failed: int = 0
    units: int = 0  # finished ones, of all cells, chosen or not

    def add(
        self,
        dataset: str,
        learner: str,
        values: dict[str, list[float]],
        choice: str,
        splits: list[int] | None = None,
        sizes: tuple[int, int] | None = None,
        curves: Curves | None = None,
        trace: list[tuple[float, float]] | None = None,
        repeats: int | None = None,
    ) -> None:
        """A cell's numbers. Where several are given for one place, the one with the best mean is kept."""
        count = len(next(iter(values.values())))
        self.units += min(repeats or self.experiment["split"]["repeats"], count)
        measured = MEASURED if self.experiment.get("ratios") else self.metric
        if measured not in values:  # stored by a version that did not yet measure it
            return
        place = (dataset, learner)
        kept = self.cells.get(place)
        if kept is None or fmean(values[measured]) < fmean(kept[measured]):
            self.cells[place] = values
            self.choices[place] = choice
            self.splits[place] = list(range(count)) if splits is None else splits
            if sizes is not None:
                self.sizes[place] = sizes
            for kept_of, new in ((self.curves, curves), (self.traces, trace)):
                kept_of.pop(place, None)
                if new is not None:
                    kept_of[place] = new

    def add_measured(
        self, dataset: str, learner: str, rows: list[dict], sizes: tuple[int, int], repeats: int | None
    ) -> None:
        """What was measured in a cell: one value a draw of the data."""
        by_draw = pooled(rows)
        self.units += min(repeats or self.experiment["split"]["repeats"], len(rows))
        place, values = (dataset, learner), measured_values(by_draw)
        self.facts[place], self.sizes[place] = by_draw, sizes
        if self.metric in values:
            self.cells[place], self.splits[place] = values, list(by_draw)

    @property
    def planned(self) -> int:
        """How many units the run has when it is complete."""
        repeats = self.experiment["split"]["repeats"]
        if "cells" in self.manifest:
            return sum(cell.get("repeats", repeats) for cell in self.manifest["cells"])
        return repeats * len(self.datasets) * len(self.experiment["learners"])

    @property
    def places(self) -> int:
        """How many cells its table has when it is complete; a config may leave some out."""
        if self.experiment.get("ratios"):
            return len(self.datasets) * len(self.learners)
        return len({(cell["dataset"], cell["learner"]) for cell in self.manifest["cells"]})

    @property
    def published(self) -> dict:
        return self.experiment.get("published") or {}

    @property
    def table(self) -> str | None:
        return self.published.get("table")

    @property
    def metric(self) -> str:
        return self.experiment["metric"]

    @property
    def metrics(self) -> list[str]:
        """What a column shows, and what a second one beside it shows."""
        also = self.experiment.get("also")
        return [self.metric, also] if also else [self.metric]

    @property
    def datasets(self) -> list[str]:
        return [d["name"] for d in self.experiment["datasets"]]

    @property
    def learners(self) -> list[str]:
        """The labels of the columns."""
        if ratios := self.experiment.get("ratios"):
            return list(ratios)
        return list(dict.fromkeys(entry["label"] for entry in self.experiment["learners"]))

    def _data(self, dataset: str) -> dict:
        return next(d for d in self.experiment["datasets"] if d["name"] == dataset)

    def generator(self, dataset: str) -> str | None:
        """The generator behind a data set, or None for real data."""
        return self._data(dataset).get("generator")

    def draws(self, dataset: str) -> int:
        """How many draws of noise or pools the splits take in turn."""
        data = self._data(dataset)
        pools = data.get("seed")
        noise = [(data.get(key) or {}).get("draws", 1) for key in ("noise", "flip")]
        return math.lcm(len(pools) if isinstance(pools, list) else 1, *noise)

    def whole(self, dataset: str) -> bool:
        """Whether all rows train."""
        return (self._data(dataset).get("train") or self.experiment["split"].get("train")) == "all"

    def by_draw(self, dataset: str, learner: str, metric: str) -> list[list[float]]:
        """A cell's values, those of one draw together."""
        groups: dict[int, list[float]] = {}
        place, draws = (dataset, learner), self.draws(dataset)
        for k, value in zip(self.splits[place], self.cells[place][metric], strict=True):
            groups.setdefault(k % draws, []).append(value)
        return list(groups.values())

    def fixed(self, dataset: str, learner: str, metric: str) -> bool:
        """Whether all runs of a cell gave the same."""
        return len(set(self.cells[(dataset, learner)][metric])) == 1

    def runs_once(self, dataset: str, learner: str) -> bool:
        """Whether nothing in a cell is random, so that one run is all there is."""
        cells = self.manifest.get("cells", [])
        places = [(cell["dataset"], cell["learner"], cell.get("repeats")) for cell in cells]
        return (dataset, learner, 1) in places

    def columns(self) -> tuple[list[tuple[str, str]], dict[str, float]]:
        """(learner, metric) of each column; and what the second metric is where it never changes.

        That one number then says more than a column of it, if the metric is one to say so of.
        """
        columns, constant = [], {}
        for learner in self.learners:
            columns.append((learner, self.metric))
            for metric in self.metrics[1:]:
                seen = {v for d in self.datasets for v in self.cells.get((d, learner), {}).get(metric, [])}
                if len(seen) == 1 and KNOWN[metric].one_number_will_do:
                    constant[learner] = seen.pop()
                elif seen:
                    columns.append((learner, metric))
        return columns, constant

    def stat(self, dataset: str, learner: str, metric: str | None = None) -> Stat | None:
        values = self.cells.get((dataset, learner), {}).get(metric or self.metric)
        return summarize(values, KNOWN[metric or self.metric].average) if values else None


def summarize(values: list[float], average: str = "mean") -> Stat:
    if average == "median":
        return Stat(median(values), math.nan, len(values))
    if average == "largest":
        return Stat(max(values), math.nan, len(values))
    if average == "geometric":
        logarithm = summarize([math.log(v) for v in values])
        mean = math.exp(logarithm.mean)
        return Stat(mean, mean * logarithm.stderr, logarithm.splits, mean * logarithm.deviation)
    mean, n = fmean(values), len(values)
    # statistics.stdev computes in fractions, which takes longer than reading the results.
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else math.nan
    return Stat(mean, deviation / math.sqrt(n), n, deviation)


def load_results(folder: Path, wanted: str | None = None) -> tuple[list[RunResult], Store]:
    """All runs of a results folder, in the papers' order; damaged parts are left out and noted.

    With `wanted`, a table's number or a run's name, only its numbers are read, and those it refers to.
    """
    store = Store(folder)
    if not folder.is_dir():
        raise ResultsError(f"there is no folder {folder}; {_what_to_run(folder)}")
    if not store.is_ours():
        if others := sorted(p.name for p in folder.iterdir() if p.name not in TOLERATED):
            raise ResultsError(f"{folder} is no folder of results: it holds {others[0]}")
        raise ResultsError(f"{folder} holds no results yet; {_what_to_run(folder)}")
    runs = [RunResult(m["experiment"]["name"], m["experiment"], m) for m in store.manifests()]
    needed = [run for run in runs if wanted is None or wanted in (run.table, run.name)]
    needed += [other for run in needed if (other := baseline_of(run, runs)) and other not in needed]
    cache: dict[str, CellRows] = {}
    for run in needed:
        for cell in run.manifest["cells"]:
            filename, key = cell["file"], cell["key"]
            if filename not in cache:
                cache[filename] = store.read(filename, key)
                if cache[filename].fault:
                    store.notes.append(f"{store.path(filename)} {cache[filename].fault}; left out")
                elif dropped := cache[filename].dropped_lines:
                    lines = f"{dropped} damaged line{'s' * (dropped > 1)}"
                    store.notes.append(f"{store.path(filename)} has {lines}; left out")
            found = cache[filename]
            if found.fault:
                continue
            run.failed += len(found.failed)
            splits = sorted(found.rows)
            if splits:
                rows = [found.rows[k] for k in splits]
                sizes = (found.n_train, found.n_test)
                choice, place = cell.get("choice", ""), (cell["dataset"], cell["learner"])
                if all("measured" in row for row in rows):
                    run.add_measured(*place, rows, sizes, cell.get("repeats"))
                    continue
                values, curves = learned_values(rows, *sizes), read_curves(rows, *sizes)
                trace = read_trace(rows[0]) if len(rows) == 1 else None
                extra = {"curves": curves, "trace": trace, "repeats": cell.get("repeats")}
                run.add(*place, values, choice, splits, sizes, **extra)
        if run.experiment.get("ratios"):
            make_ratios(run)
    return sorted(runs, key=_paper_order), store


def baseline_of(run: RunResult, runs: list[RunResult]) -> RunResult | None:
    """The run that stars are measured against: the config names a table of the same paper, or a run."""
    wanted = run.experiment.get("baseline")
    hits = [
        r
        for r in runs
        if wanted
        and (r.name == wanted or (r.table == wanted and r.published["paper"] == run.published.get("paper")))
    ]
    return hits[0] if hits else None


def choose(runs: list[RunResult], wanted: str | None) -> list[RunResult]:
    """The runs to show: all, or the one with this table number or name."""
    if wanted is None:
        return runs
    hits = [r for r in runs if wanted in (r.table, r.name)]
    if not hits:
        names = [r.table or r.name for r in runs]
        raise ResultsError(f"there is no table '{wanted}' in these results{suggest_nearest(wanted, names)}")
    return hits


def _paper_order(run: RunResult):
    number = run.table or ""
    roman = {"I": 1, "II": 2, "III": 3, "IV": 4}
    parts = (roman[number],) if number in roman else tuple(int(p) for p in re.findall(r"\d+", number))
    return (not run.table, run.published.get("paper", ""), parts, run.name)


def _what_to_run(folder: Path) -> str:
    text = "run: zoloss run configs/table2.yaml"
    if str(folder) != "results":
        text += f" --out {folder}"
    reference = folder / "reference"
    if not reference.is_dir():
        reference = PACKAGE_FOLDER.parent / "results" / "reference"
    if reference.is_dir():
        text += f"; the reference results can be shown with: zoloss table {reference}"
    return text
