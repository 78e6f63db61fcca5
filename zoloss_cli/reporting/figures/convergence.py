"""How often a search is at the minimum after each epoch: Theorem 1 of Li & Lin (2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.curves import find_curves
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 1e-9  # of errors in percent, which are multiples of 100 over the number of samples


def find_minimum(run: RunResult, dataset: str) -> np.ndarray | None:
    """Return the training errors (%) that some learner proved minimal in every split, if one did."""
    for learner in run.learners:
        cell = run.cells.get((dataset, learner))
        if cell is None or "lower_bound" not in cell or "train_01_loss" not in cell:
            continue
        if np.array_equal(cell["lower_bound"], cell["train_01_loss"]):
            return np.asarray(cell["train_error"], dtype=float)
    return None


def has_minimum(run: RunResult) -> bool:
    """Return whether the first data set has a known minimum, and learners with recorded epochs."""
    dataset = run.datasets[0]
    return bool(find_curves(run, dataset, "train_error")) and find_minimum(run, dataset) is not None


def compute_shares(run: RunResult, dataset: str) -> dict[str, np.ndarray]:
    """Return for each learner the share of splits (%) at the minimum after each recorded epoch."""
    minimum = find_minimum(run, dataset)
    assert minimum is not None
    curves = find_curves(run, dataset, "train_error")
    return {
        learner: 100.0 * np.mean(found.values["train_error"] <= minimum[:, None] + TOLERANCE, axis=0)
        for learner, found in curves.items()
        if len(found.values["train_error"]) == len(minimum)
    }


def draw_shares(run: RunResult) -> Figure:
    """Draw the shares of the first data set by epoch."""
    dataset = run.datasets[0]
    titles, curves = build_column_titles(run.learners), find_curves(run, dataset, "train_error")
    shares = compute_shares(run, dataset)
    figure = style.new_figure(style.COLUMN, 3.2)
    (axes,) = style.add_panels(figure, 1, 1)
    for i, (look, (learner, share)) in enumerate(
        zip(style.build_looks(len(shares)), shares.items(), strict=True)
    ):
        style.plot_line(axes, curves[learner].epochs, share, look, titles[learner], shift=3 * i)
    axes.set(xlabel="epochs", ylabel="splits at the minimum (%)", ylim=(-3.0, 103.0))
    axes.set_xlim(left=0)
    style.add_legend_below(figure, [axes], 2)
    return figure
