"""Tables as the papers print them: rows are data sets, columns learners, cells mean ± standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from zoloss_cli.registry import learners
from zoloss_cli.report.published import Printed, published
from zoloss_cli.report.results import RunResult, Stat, baseline_of

PERCENT_DECIMALS = 2
HEADINGS = {"iterations": "#ite"}


@dataclass(frozen=True)
class CellText:
    """A number with its error and its marks: among the row's best, better than the baseline."""

    mean: float | None
    stderr: float | None = None
    best: bool = False
    star: bool = False
    decimals: int = PERCENT_DECIMALS
    choice: str = ""  # which of a column's settings it is


@dataclass(frozen=True)
class Column:
    """A learner's results in one metric."""

    learner: str
    metric: str
    title: str


@dataclass(frozen=True)
class Row:
    dataset: str
    ours: list[CellText]
    printed: list[CellText]


@dataclass(frozen=True)
class TableView:
    """A table ready to be written in any format."""

    number: str
    title: str
    columns: list[Column]
    rows: list[Row]
    splits: str
    incomplete: bool
    notes: list[str]

    @property
    def headings(self) -> list[str]:
        return [column.title for column in self.columns]


def make_table(run: RunResult, runs: list[RunResult]) -> TableView:
    """The table of a run, with the published numbers beside ours where there are any.

    `runs` are all runs of the results folder, among them the one that stars are measured against.
    """
    printed = published().get((run.published.get("paper", ""), run.table or ""), {})
    columns, constant = run.columns()
    stars = starred(run, runs)
    rows = []
    for dataset in run.datasets:
        stats = [run.stat(dataset, learner, metric) for learner, metric in columns]
        theirs = [printed.get((dataset, learner, metric)) for learner, metric in columns]
        if any(stats):
            ours = [
                replace(
                    _our_cell(stat, metric),
                    star=(dataset, learner) in stars and metric == run.metric,
                    choice=run.choices.get((dataset, learner), ""),
                )
                for stat, (learner, metric) in zip(stats, columns, strict=True)
            ]
            beside = [_printed_cell(cell, metric) for cell, (_, metric) in zip(theirs, columns, strict=True)]
            among = [metric == run.metric for _, metric in columns]
            rows.append(Row(dataset, mark_best(ours, among), mark_best(beside, among) if any(theirs) else []))
    counts = sorted({len(m[run.metric]) for m in run.cells.values()})
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "0"
    columns_a_row = len(run.experiment["learners"])
    incomplete = run.units < run.experiment["split"]["repeats"] * len(run.datasets) * columns_a_row
    titles = column_titles(run.learners)
    return TableView(
        run.table or run.name,
        run.experiment["title"],
        [Column(x, metric, HEADINGS.get(metric, titles[x])) for x, metric in columns],
        rows,
        splits,
        incomplete,
        _notes(run, runs, {titles[x]: value for x, value in constant.items()}),
    )


def starred(run: RunResult, runs: list[RunResult]) -> set[tuple[str, str]]:
    """(data set, learner) of cells better than the best of the baseline table by one standard error."""
    baseline = baseline_of(run, runs)
    stars = set()
    for dataset in run.datasets if baseline else []:
        stats = [s for x in baseline.learners if (s := baseline.stat(dataset, x, run.metric))]
        if not stats:
            continue
        best = min(stats, key=lambda s: s.mean)
        margin = 0.0 if math.isnan(best.stderr) else best.stderr
        # Compared as printed, here and below: what looks equal is equal.
        limit = round(best.mean, PERCENT_DECIMALS) - round(margin, PERCENT_DECIMALS) + 1e-9
        for learner in run.learners:
            ours = run.stat(dataset, learner)
            if ours and round(ours.mean, PERCENT_DECIMALS) <= limit:
                stars.add((dataset, learner))
    return stars


def mark_best(cells: list[CellText], among: list[bool] | None = None) -> list[CellText]:
    """Mark the cells within one standard error of the row's best, as the papers do."""
    among = among or [True] * len(cells)
    present = [c for c, taking_part in zip(cells, among, strict=True) if taking_part and c.mean is not None]
    if not present:
        return cells
    best = min(present, key=lambda c: c.mean)
    margin = best.stderr if best.stderr is not None and not math.isnan(best.stderr) else 0.0
    limit = round(best.mean, PERCENT_DECIMALS) + round(margin, PERCENT_DECIMALS) + 1e-9
    return [
        replace(c, best=taking_part and c.mean is not None and round(c.mean, PERCENT_DECIMALS) <= limit)
        for c, taking_part in zip(cells, among, strict=True)
    ]


def column_titles(labels: list[str]) -> dict[str, str]:
    """How the papers call these columns. `adaboost:x` is just x where all columns are boosted."""
    known = learners()
    ensembles = {label.rpartition(":")[0] for label in labels}
    titles = {}
    for label in labels:
        ensemble, _, base = label.rpartition(":")
        title = known[base].title if base in known else base
        outer = known[ensemble].title if ensemble in known else ensemble
        titles[label] = title if len(ensembles) == 1 or not ensemble else f"{outer} {title}"
    return titles


def _our_cell(stat: Stat | None, metric: str) -> CellText:
    if stat is None:
        return CellText(None)
    if metric in HEADINGS:
        return CellText(stat.mean, None, decimals=1)
    return CellText(stat.mean, stat.stderr)


def _printed_cell(cell: Printed | None, metric: str) -> CellText:
    if cell is None:
        return CellText(None)
    decimals = cell.decimals if metric in HEADINGS else PERCENT_DECIMALS
    return CellText(cell.value, cell.stderr, star=cell.star, decimals=decimals)


def _notes(run: RunResult, runs: list[RunResult], constant: dict[str, float]) -> list[str]:
    notes = []
    for value in dict.fromkeys(constant.values()):
        names = [title for title, v in constant.items() if v == value]
        notes.append(f"{HEADINGS[run.metrics[1]]} of {', '.join(names)}: {value:g} in every split")
    for learner, title in column_titles(run.learners).items():
        options = [e["choice"] for e in run.experiment["learners"] if e["label"] == learner and e.get("choice")]
        if options:
            tried = options[0].partition("=")[0]
            notes.append(
                f"{title}: each data set's best of {len(options)} settings of {tried} by the number shown"
            )
    if wanted := run.experiment.get("baseline"):
        if baseline := baseline_of(run, runs):
            notes.append(f"*: better than the best of Table {baseline.table or wanted} by one standard error")
        else:
            notes.append(f"no *: these results hold no table {wanted} to improve on")
    return notes
