"""Tables as the papers print them: rows are data sets, columns learners, cells mean ± standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean

from zoloss_cli.registry import LEARNERS
from zoloss_cli.reporting import improvement
from zoloss_cli.reporting.metrics import KNOWN, PERCENT_DECIMALS, decimals_of
from zoloss_cli.reporting.published.cells import Printed, printed_cells
from zoloss_cli.reporting.results import RunResult, Stat, baseline_of


@dataclass(frozen=True)
class CellText:
    """A number with its error and its marks: among the row's best, better than the baseline."""

    mean: float | None
    stderr: float | None = None
    best: bool = False
    star: bool = False
    decimals: int = PERCENT_DECIMALS
    choice: str = ""  # which of a column's settings it is
    deviation: float | None = None  # shown after ± in the place of the error
    signed: bool = False  # written with its sign


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
    splits: str  # what the numbers are means over
    incomplete: bool
    bold: str  # what bold cells are; empty where none is
    notes: list[str]

    @property
    def headings(self) -> list[str]:
        return [column.title for column in self.columns]


def make_table(run: RunResult, runs: list[RunResult]) -> TableView:
    """The table of a run, with the published numbers beside ours where there are any.

    `runs` are all runs of the results folder, among them the one that stars are measured against.
    """
    printed = printed_cells(run.published)
    columns, constant = run.columns()
    stars = starred(run, runs)
    deviations = run.published.get("spread") == "deviation"
    rows = []
    for dataset in run.datasets:
        stats = [run.stat(dataset, learner, metric) for learner, metric in columns]
        theirs = [printed.get((dataset, learner, metric)) for learner, metric in columns]
        if any(stats):
            ours = [
                replace(
                    _our_cell(stat, metric, deviations),
                    star=(dataset, learner) in stars and metric == run.metric,
                    choice=run.choices.get((dataset, learner), ""),
                )
                for stat, (learner, metric) in zip(stats, columns, strict=True)
            ]
            beside = [_printed_cell(cell, metric) for cell, (_, metric) in zip(theirs, columns, strict=True)]
            among = [metric == run.metric and KNOWN[metric].lower_is_better for _, metric in columns]
            ours, beside = mark_best(ours, among), mark_best(beside, among) if any(theirs) else []
            if run.experiment.get("improvement"):
                ours.append(_percent(improvement.our_improvement(run, dataset)))
                if beside:
                    beside.append(_percent(improvement.printed_improvement(run, printed, dataset)))
            rows.append(Row(dataset, ours, beside))
    titles = column_titles(run.learners)
    shown = [Column(x, metric, _heading(run, metric, titles[x])) for x, metric in columns]
    if run.experiment.get("improvement"):
        shown.append(Column(improvement.LEARNER, improvement.METRIC, improvement.HEADING))
    return TableView(
        run.table or run.name,
        run.experiment["title"],
        shown,
        rows,
        splits_text(run),
        run.units < run.planned,
        _bold(run),
        _notes(run, runs, {titles[x]: value for x, value in constant.items()}),
    )


def _heading(run: RunResult, metric: str, title: str) -> str:
    """A learner's name over its main column, with the metric where that has a short name; else only this."""
    own = KNOWN[metric].heading
    return " ".join(filter(None, [title, own])) if metric == run.metric else own


def splits_text(run: RunResult) -> str:
    """What a table's numbers are means over: 500 splits; the whole set, and how many draws of it."""
    counts = sorted({len(m[run.metric]) for m in run.cells.values()}) or [0]
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    if not all(run.whole(dataset) for dataset in run.datasets):
        return f"{number} splits"
    draws = max(run.draws(dataset) for dataset in run.datasets)
    if counts == [1]:
        return "whole set"
    if draws == 1:
        return f"whole set, {number} runs"
    return f"whole set, {number} draws" if counts[-1] <= draws else f"whole set, {number} runs of {draws} draws"


def _bold(run: RunResult) -> str:
    if not KNOWN[run.metric].lower_is_better:
        return ""
    single = all(len(m[run.metric]) == 1 for m in run.cells.values())
    return "the row's best" if single else "within one standard error of the row's best"


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
    limit = round(best.mean, best.decimals) + round(margin, best.decimals) + 1e-9
    return [
        replace(c, best=taking_part and c.mean is not None and round(c.mean, best.decimals) <= limit)
        for c, taking_part in zip(cells, among, strict=True)
    ]


def column_titles(labels: list[str]) -> dict[str, str]:
    """How the papers call these columns. `adaboost:x` is just x where all columns are boosted.

    Where all columns have the same base, what is around it makes the difference: `ecc:max-cut:stump`.
    """
    known = LEARNERS
    ensembles = {label.rpartition(":")[0] for label in labels}
    bases = {label.rpartition(":")[2] for label in labels}
    titles = {}
    for label in labels:
        ensemble, _, base = label.rpartition(":")
        title = known[base].title if base in known else base
        if len(labels) > 1 and len(bases) == 1 and ensemble:
            first, *rest = ensemble.split(":")
            titles[label] = " ".join([known[first].title if first in known else first, *rest])
            continue
        outer = known[ensemble].title if ensemble in known else ensemble
        titles[label] = title if len(ensembles) == 1 or not ensemble else f"{outer} {title}"
    return titles


def _our_cell(stat: Stat | None, metric: str, deviations: bool) -> CellText:
    if stat is None:
        return CellText(None)
    decimals = decimals_of(metric, stat.mean, stat.splits)
    if not KNOWN[metric].has_error:
        return CellText(stat.mean, None, decimals=decimals)
    return CellText(stat.mean, stat.stderr, decimals=decimals, deviation=stat.deviation if deviations else None)


def _printed_cell(cell: Printed | None, metric: str) -> CellText:
    if cell is None:
        return CellText(None)
    decimals = PERCENT_DECIMALS if metric.endswith("_error") else cell.decimals
    return CellText(cell.value, cell.stderr, star=cell.star, decimals=decimals, deviation=cell.deviation)


def _percent(value: float | None) -> CellText:
    return CellText(value, decimals=1, signed=True)


def _notes(run: RunResult, runs: list[RunResult], constant: dict[str, float]) -> list[str]:
    notes = []
    for value in dict.fromkeys(constant.values()):
        names = [title for title, v in constant.items() if v == value]
        notes.append(f"{KNOWN[run.metrics[1]].heading} of {', '.join(names)}: {value:g} in every split")
    notes += [note for metric in run.metrics if (note := KNOWN[metric].note)]
    if run.published.get("spread") == "deviation":
        notes.append("±: standard deviation over runs, as in print")
    if sides := run.experiment.get("improvement"):
        of, over = (_best(list(column_titles(sides[key]).values())) for key in ("of", "over"))
        notes.append(f"%: by how much {of} is below {over}")
    notes += _leaks(run)
    notes += choice_notes(run)
    notes += _pruning(run)
    notes += _oddities(run)
    if wanted := run.experiment.get("baseline"):
        if baseline := baseline_of(run, runs):
            notes.append(f"*: better than the best of Table {baseline.table or wanted} by one standard error")
        else:
            notes.append(f"no *: these results hold no table {wanted} to improve on")
    return notes


def choice_notes(run: RunResult) -> list[str]:
    """Which columns show the best of several settings."""
    columns: dict[str, list[str]] = {}
    for learner, title in column_titles(run.learners).items():
        entries = [e for e in run.experiment["learners"] if e["label"] == learner]
        options = list(dict.fromkeys(e["choice"] for e in entries if e.get("choice")))
        if options:
            tried = options[0].partition("=")[0]
            note = f"each data set's best of {len(options)} settings of {tried} by the number shown"
            columns.setdefault(note, []).append(title)
    return [f"{', '.join(titles)}: {note}" for note, titles in columns.items()]


def _pruning(run: RunResult) -> list[str]:
    """How much of the training rows was left out as noise, and how much of their wrong labels with it."""
    shares = {}
    for (dataset, learner), values in run.cells.items():
        if "pruned" in values:  # the same for all learners
            n = run.sizes[(dataset, learner)][0]
            text = f"{dataset} {100 * fmean(values['pruned']) / n:.0f} %"
            if sum(values.get("flipped", [])):
                text += f" ({100 * sum(values['caught']) / sum(values['flipped']):.0f} %)"
            shares.setdefault(dataset, text)
    wrong = " (and of their wrong labels)" if any(text.endswith(")") for text in shares.values()) else ""
    return [f"training rows left out as noise{wrong}: {', '.join(shares.values())}"] if shares else []


def _oddities(run: RunResult) -> list[str]:
    """Splits that leave a class out of the training rows, and runs of boosting that ended without a split."""
    titles, unseen, unsplit = column_titles(run.learners), {}, []
    for (dataset, learner), values in run.cells.items():
        if run.metric == "test_error" and "unseen" in values:  # the same for all learners
            unseen[dataset] = max(unseen.get(dataset, []), values["unseen"], key=len)
        if ended := sum(values.get("unsplit", [])):
            runs = f"{ended:.0f} of {len(values['unsplit'])} runs"
            unsplit.append(f"{titles[learner]} on {dataset}: {runs} ended early, with no split of classes left")
    return [
        f"{dataset}: in {sum(c > 0 for c in counts)} of {len(counts)} splits some test rows, {sum(counts):.0f} "
        "in all, are of a class that no training row has; they count as errors"
        for dataset, counts in unseen.items()
    ] + unsplit


def _best(titles: list[str]) -> str:
    return titles[0] if len(titles) == 1 else f"the best of {', '.join(titles)}"


def _leaks(run: RunResult) -> list[str]:
    """What was fitted with a look at the test rows, as a reader of a table of test errors must know."""
    if run.metric != "test_error":
        return []
    leaks = []
    if run.experiment.get("preprocess", {}).get("fit_on") == "all":
        leaks.append("scaling is fitted on all rows, the test rows among them")
    tuning = run.experiment.get("tuning") or {}
    titles = column_titles(run.learners)
    names = dict.fromkeys(titles[e["label"]] for e in run.experiment["learners"] if e.get("tune"))
    if names:
        where = "all rows, the test rows among them" if tuning["on"] == "all" else "the training rows"
        how = f"{tuning['folds']}-fold cross-validation"
        if share := tuning.get("held_out"):
            how = f"{tuning['folds']} times {100 * share:g} % held out"
        leaks.append(f"{', '.join(names)}: settings by {how} on {where}")
    return leaks
