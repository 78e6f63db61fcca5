"""The partitions of classes that rule a boosted code, on a tangram: Figure 4.3 of Li's thesis (2006)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from zoloss_cli.datasets.generators import TANGRAM
from zoloss_cli.experiment.retrain import trained_again
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.boundary import TINT, TINTS
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles

COUNT = 2  # partitions of each learner
COLUMNS = 4
SIDE = 4.0  # of the square in which TANGRAM has its corners


class Partition(NamedTuple):
    """A split of the classes in two: +1 for the first class's side, and -1; 0 for classes left out."""

    column: np.ndarray
    rounds: int
    total: float  # of the coefficients of its rounds

    @property
    def mean(self) -> float:
        """The larger, the easier for the base learner."""
        return self.total / self.rounds


def dominating(coding_matrix: np.ndarray, alphas: np.ndarray) -> list[Partition]:
    """All partitions that the columns of the matrix are, those with the largest sum of coefficients first.

    A partition and its opposite are the same.
    """
    firsts = coding_matrix[np.argmax(coding_matrix != 0, axis=0), np.arange(alphas.size)]
    columns, which = np.unique(coding_matrix * firsts, axis=1, return_inverse=True)
    sums = np.bincount(which.ravel(), weights=alphas)
    rounds = np.bincount(which.ravel())
    order = np.argsort(-sums, kind="stable")
    return [Partition(columns[:, i], int(rounds[i]), float(sums[i])) for i in order]


def has_partitions(run: RunResult) -> bool:
    """Whether boosted codes ran on the first data set, and it is a tangram."""
    return run.generator(run.datasets[0]) == "tangram" and bool(_coded(run))


def on_the_tangram(run: RunResult):
    """The pieces of either side of the two dominating partitions of each learner, trained again on split 0."""
    titles = column_titles(run.learners)
    shown = []
    for learner in _coded(run):
        trained, _ = trained_again(run, run.datasets[0], learner)
        code = trained.learner
        found = dominating(code.coding_matrix_, code.estimator_weights_)
        shown += [(titles[learner], partition) for partition in found[:COUNT]]
    figure = style.new_figure(style.PAGE, 2.3 * math.ceil(len(shown) / COLUMNS))
    for panel, (title, partition) in zip(style.panels(figure, len(shown), COLUMNS), shown, strict=True):
        _pieces(panel, partition)
        panel.set_title(
            f"{style.shortened(title)}\nsum of α {partition.total:.2f}\n"
            f"mean α {partition.mean:.3f}, {partition.rounds} rounds"
        )
    return figure


def _coded(run: RunResult) -> list[str]:
    entries = run.experiment["learners"]
    coded = [entry["label"] for entry in entries if entry["learner"] in ("ecc", "erp")]
    return [x for x in coded if (run.datasets[0], x) in run.cells]


def _pieces(axes, partition: Partition) -> None:
    for number, (corners, side) in enumerate(zip(TANGRAM.values(), partition.column, strict=True), start=1):
        points = np.array(corners) / SIDE
        colour = {1: TINTS[0], -1: TINTS[1]}.get(int(side), "white")
        axes.fill(*points.T, facecolor=(colour, 2 * TINT), edgecolor="black", linewidth=0.8, joinstyle="round")
        axes.annotate(str(number), points.mean(axis=0), ha="center", va="center")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", anchor="S")
    axes.set_axis_off()
