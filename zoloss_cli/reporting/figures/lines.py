"""Points of two classes and the straight boundary of each learner: Figure 1 of Nguyen & Sanner (2013)."""

from __future__ import annotations

import numpy as np

from zoloss_cli.datasets.scaling import compute_scaling
from zoloss_cli.experiment.retrain import trained_again
from zoloss_cli.experiment.split_data import Part
from zoloss_cli.experiment.task import Trained
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles

MARGIN = 0.06  # room around the points, as a share of their range
CLASS_MARKERS = ("o", "+", "x", "s", "^", "v", "D", "*")


def has_points(run: RunResult) -> bool:
    """Whether the first data set, which is drawn, has some learner's result."""
    return any((run.datasets[0], learner) in run.cells for learner in run.learners)


def boundaries(run: RunResult):
    """One panel of all learners, with their numbers of training errors."""
    dataset = run.datasets[0]
    titles = column_titles(run.learners)
    figure = style.new_figure(style.COLUMN, 4.3)
    (axes,) = style.panels(figure, 1, 1)
    part = None
    for learner, look in zip(run.learners, style.looks(len(run.learners)), strict=True):
        if (dataset, learner) not in run.cells:
            continue
        trained, row = trained_again(run, dataset, learner)
        if part is None:
            part = trained.part
            box = show_points(axes, part)
        segment = clipped(*in_units_of_the_data(trained), box)
        name = f"{titles[learner]}: {row['train']} errors"
        axes.plot(
            *segment.T, color=look.colour, linestyle=look.dashes, linewidth=1.4, label=style.shortened(name)
        )
    style.legend_below(figure, [axes], 2)
    return figure


def show_points(axes, part: Part) -> np.ndarray:
    """The training points, marked by class; returns the corners of what is shown."""
    data, rows = part.data, part.train
    for index, name in enumerate(data.classes):
        X = data.X[rows[data.y[rows] == index]]
        marker = CLASS_MARKERS[index % len(CLASS_MARKERS)]
        hollow = {"markerfacecolor": "none"} if marker not in "+x" else {}
        axes.plot(
            *X.T, linestyle="none", marker=marker, color="#555555", markersize=2.6, markeredgewidth=0.6,
            label=style.shortened(name), **hollow,
        )  # fmt: skip
    low, high = data.X[rows].min(axis=0), data.X[rows].max(axis=0)
    room = MARGIN * (high - low) + (high == low)
    box = np.array([low - room, high + room])
    axes.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=data.features[0], ylabel=data.features[1])
    return box


def in_units_of_the_data(trained: Trained) -> tuple[np.ndarray, float]:
    """(weights, bias) of a linear learner for points that are not scaled."""
    part, learner = trained.part, trained.learner
    seen = part.data.X[part.train] if part.seen is None else part.seen
    centre, spread = compute_scaling(seen, part.how)
    weights = np.where(spread == 0.0, 0.0, learner.coef_[0] / np.where(spread == 0.0, 1.0, spread))
    return weights, float(learner.intercept_[0] - weights @ centre)


def clipped(weights: np.ndarray, bias: float, box: np.ndarray) -> np.ndarray:
    """The two ends of the line <weights, x> + bias = 0 within a box; none if it passes by."""
    ends = []
    for axis in (0, 1):
        other = 1 - axis
        if weights[other] == 0.0:
            continue
        for edge in box[:, axis]:
            across = -(bias + weights[axis] * edge) / weights[other]
            if box[0, other] <= across <= box[1, other]:
                ends.append((edge, across) if axis == 0 else (across, edge))
    if len(ends) < 2:
        return np.empty((0, 2))
    ends = np.array(sorted(ends))
    return ends[[0, -1]]
