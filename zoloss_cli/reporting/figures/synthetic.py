"""One learner's loss against that of others, data set by data set: Figure 9 of Nguyen & Sanner (2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.learner_looks import assign_looks
from zoloss_cli.reporting.improvement import compute_our_improvement
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def has_paired_losses(run: RunResult) -> bool:
    """Return whether all learners to compare have run."""
    sides = run.experiment.improvement
    if sides is None:
        return False
    return all((d, x) in run.cells for d in run.datasets for x in (*sides.of, *sides.over))


def draw_paired_losses(run: RunResult) -> Figure:
    """Draw a panel per data set of the run, with a marker for each draw; above the line, the others lose."""
    sides = run.experiment.improvement
    assert sides is not None
    titles = build_column_titles(run.learners)
    figure = style.new_figure(style.PAGE, 3.2)
    axes = style.add_panels(figure, len(run.datasets), 2)
    looks = assign_looks(run)
    name = " or ".join(titles[x] for x in sides.of)
    for panel, dataset in zip(axes, run.datasets, strict=True):
        ours = _find_least_losses(run, dataset, sides.of)
        for learner in sides.over:
            look = looks[learner]
            theirs = _find_least_losses(run, dataset, [learner])
            both = sorted(ours.keys() & theirs.keys())
            panel.plot(
                [ours[split] for split in both],
                [theirs[split] for split in both],
                linestyle="none",
                color=look.colour,
                label=style.shorten(titles[learner]),
                marker=look.marker,
                markerfacecolor="none",
                markersize=3,
                markeredgewidth=0.7,
            )
        limits = {"xlim": panel.get_xlim(), "ylim": panel.get_ylim()}
        panel.axline((0.0, 0.0), slope=1.0, color="black", linewidth=0.6, linestyle=style.DASHED)
        panel.set(**limits, xlabel=f"0–1 loss of {name}", ylabel="0–1 loss of the others")
        less = compute_our_improvement(run, dataset)
        panel.set_title(dataset if less is None else f"{dataset}: {less:.1f} % below the best of them")
    style.add_legend_below(figure, axes, 4)
    return figure


def _find_least_losses(run: RunResult, dataset: str, learners: Sequence[str]) -> dict[int, float]:
    """Return the smallest loss of some learners in each split that all of them have."""
    cells = [run.cells[dataset, learner] for learner in learners]
    found = [dict(zip(cell.splits, cell[run.metric], strict=True)) for cell in cells]
    return {k: min(losses[k] for losses in found) for k in set.intersection(*map(set, found))}
