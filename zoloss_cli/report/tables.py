"""Tables as the papers print them: rows are data sets, columns learners, cells mean ± standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass

from zoloss_cli.registry import learners
from zoloss_cli.report.published import published
from zoloss_cli.report.results import RunResult

PERCENT_DECIMALS = 2


@dataclass(frozen=True)
class CellText:
    """A number with its error, and whether it is among the row's best."""

    mean: float | None
    stderr: float | None = None
    best: bool = False


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
    columns: list[str]
    rows: list[Row]
    splits: str
    incomplete: bool


def make_table(run: RunResult) -> TableView:
    """The table of a run, with the published numbers beside ours where there are any."""
    printed = published().get((run.published.get("paper", ""), run.table or ""), {})
    rows = []
    for dataset in run.datasets:
        stats = [run.stat(dataset, learner) for learner in run.learners]
        theirs = [printed.get((dataset, learner, run.metric)) for learner in run.learners]
        if any(stats):
            ours = mark_best([CellText(s.mean, s.stderr) if s else CellText(None) for s in stats])
            beside = mark_best([CellText(t.value, t.stderr) if t else CellText(None) for t in theirs])
            rows.append(Row(dataset, ours, beside if any(theirs) else []))
    counts = sorted({len(m[run.metric]) for m in run.cells.values()})
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "0"
    wanted = run.experiment["split"]["repeats"]
    incomplete = len(run.cells) < len(run.datasets) * len(run.learners) or min(counts, default=0) < wanted
    titles = {name: entry.title for name, entry in learners().items()}
    return TableView(
        run.table or run.name,
        run.experiment["title"],
        [titles.get(label, label) for label in run.learners],
        rows,
        splits,
        incomplete,
    )


def mark_best(cells: list[CellText]) -> list[CellText]:
    """Mark the cells within one standard error of the row's best, as the papers do."""
    present = [c for c in cells if c.mean is not None]
    if not present:
        return cells
    best = min(present, key=lambda c: c.mean)
    margin = best.stderr if best.stderr is not None and not math.isnan(best.stderr) else 0.0
    # Compared as printed: what looks equal is equal.
    limit = round(best.mean, PERCENT_DECIMALS) + round(margin, PERCENT_DECIMALS) + 1e-9
    return [
        CellText(c.mean, c.stderr, c.mean is not None and round(c.mean, PERCENT_DECIMALS) <= limit)
        for c in cells
    ]
