"""Samples of two classes and the straight boundary of each learner: Figure 1 of Nguyen & Sanner (2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.datasets.scaling import compute_scaling
from zoloss_cli.experiment.split_data import SplitData
from zoloss_cli.experiment.task import FittedTask
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.learner_looks import assign_looks
from zoloss_cli.reporting.figures.refit import refit
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 0.06  # room around the samples, as a share of their range
CLASS_MARKERS = ("o", "+", "x", "s", "^", "v", "D", "*")
SAMPLE_COLOUR = "#555555"


def has_boundaries(run: RunResult) -> bool:
    """Return whether some learner has a result on the first data set, which is drawn."""
    return any((run.datasets[0], learner) in run.cells for learner in run.learners)


def draw_boundaries(run: RunResult) -> Figure:
    """Draw one panel with all learners and their numbers of training errors."""
    dataset = run.datasets[0]
    titles = build_column_titles(run.learners)
    figure = style.new_figure(style.COLUMN, 4.3)
    (axes,) = style.add_panels(figure, 1, 1)
    box = None
    for learner, look in assign_looks(run).items():
        if (dataset, learner) not in run.cells:
            continue
        fitted, record = refit(run, dataset, learner)
        if box is None:
            box = draw_training_samples(axes, fitted.split_data)
        segment = clip_line(*unscale_rule(fitted), box)
        name = style.shorten(f"{titles[learner]}: {record.train_errors} errors")
        axes.plot(*segment.T, color=look.colour, linestyle=look.dashes, linewidth=1.4, label=name)
    style.add_legend_below(figure, [axes], 2)
    return figure


def draw_training_samples(axes: Axes, split_data: SplitData) -> np.ndarray:
    """Draw the training samples, with a marker for each class, and return the corners of the shown area."""
    data, indices = split_data.data, split_data.train
    for index, name in enumerate(data.classes):
        X = data.X[indices[data.y[indices] == index]]
        marker = CLASS_MARKERS[index % len(CLASS_MARKERS)]
        axes.plot(
            *X.T,
            linestyle="none",
            marker=marker,
            color=SAMPLE_COLOUR,
            markerfacecolor=SAMPLE_COLOUR if marker in "+x" else "none",
            markersize=2.6,
            markeredgewidth=0.6,
            label=style.shorten(name),
        )
    low, high = data.X[indices].min(axis=0), data.X[indices].max(axis=0)
    room = MARGIN * (high - low) + (high == low)
    box = np.array([low - room, high + room])
    axes.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=data.features[0], ylabel=data.features[1])
    return box


def unscale_rule(fitted: FittedTask) -> tuple[np.ndarray, float]:
    """Return weights and bias of a linear learner for unscaled samples."""
    split_data, learner = fitted.split_data, fitted.learner
    samples = split_data.scaling_samples
    if samples is None:
        samples = split_data.data.X[split_data.train]
    centre, spread = compute_scaling(samples, split_data.scaling)
    weights = np.where(spread == 0.0, 0.0, learner.coef_[0] / np.where(spread == 0.0, 1.0, spread))
    return weights, float(learner.intercept_[0] - weights @ centre)


def clip_line(weights: np.ndarray, bias: float, box: np.ndarray) -> np.ndarray:
    """Return the two ends of the line <weights, x> + bias = 0 within a box; none if it misses the box."""
    ends = []
    for axis in (0, 1):
        other = 1 - axis
        if weights[other] == 0.0:
            continue
        for edge in box[:, axis]:
            across = -(bias + weights[axis] * edge) / weights[other]
            if box[0, other] <= across <= box[1, other]:
                ends.append((edge, across) if axis == 0 else (across, edge))
    return np.array(sorted(ends))[[0, -1]] if len(ends) > 1 else np.empty((0, 2))
