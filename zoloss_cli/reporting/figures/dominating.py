"""The partitions of classes that dominate a boosted code, on a tangram: Figure 4.3 of Li's thesis (2006)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zoloss_cli.datasets.generators import TANGRAM
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.boundary import TINT_OPACITY, TINTS
from zoloss_cli.reporting.figures.refit import refit
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTITIONS_PER_LEARNER = 2
COLUMNS = 4
TANGRAM_SIDE = float(np.max([corner for corners in TANGRAM.values() for corner in corners]))


class Partition(NamedTuple):
    """A partition of the classes into two.

    Attributes
    ----------
    column : ndarray of int
        1 for classes on the first class's side, -1 for the others, 0 for classes left out.
    rounds : int
        Number of boosting rounds that used it.
    total : float
        The sum of the coefficients of these rounds.
    """

    column: np.ndarray
    rounds: int
    total: float

    @property
    def mean(self) -> float:
        """Return the mean coefficient: the larger, the easier for the base learner."""
        return self.total / self.rounds


def find_dominating_partitions(coding_matrix: np.ndarray, alphas: np.ndarray) -> list[Partition]:
    """Return all partitions among the columns of a code, those with the largest sum of coefficients first.

    A partition and its opposite are the same.
    """
    firsts = coding_matrix[np.argmax(coding_matrix != 0, axis=0), np.arange(alphas.size)]
    columns, which = np.unique(coding_matrix * firsts, axis=1, return_inverse=True)
    sums = np.bincount(which.ravel(), weights=alphas)
    rounds = np.bincount(which.ravel())
    order = np.argsort(-sums, kind="stable")
    return [Partition(columns[:, i], int(rounds[i]), float(sums[i])) for i in order]


def has_partitions(run: RunResult) -> bool:
    """Return whether boosted codes ran on the first data set and it is a tangram."""
    return run.get_generator(run.datasets[0]) == "tangram" and bool(_find_codes(run))


def draw_partitions(run: RunResult) -> Figure:
    """Draw the pieces on either side of the two dominating partitions of each learner, fitted on split 0."""
    titles = build_column_titles(run.learners)
    shown = []
    for learner in _find_codes(run):
        code = refit(run, run.datasets[0], learner)[0].learner
        found = find_dominating_partitions(code.coding_matrix_, code.estimator_weights_)
        shown += [(titles[learner], partition) for partition in found[:PARTITIONS_PER_LEARNER]]
    figure = style.new_figure(style.PAGE, 2.3 * math.ceil(len(shown) / COLUMNS))
    for panel, (title, partition) in zip(style.add_panels(figure, len(shown), COLUMNS), shown, strict=True):
        draw_pieces(panel, partition)
        panel.set_title(
            f"{style.shorten(title)}\nsum of α {partition.total:.2f}\n"
            f"mean α {partition.mean:.3f}, {partition.rounds} rounds"
        )
    return figure


def _find_codes(run: RunResult) -> list[str]:
    codes = [spec.label for spec in run.experiment.learners if spec.learner in ("ecc", "erp")]
    return [learner for learner in codes if (run.datasets[0], learner) in run.cells]


def draw_pieces(axes: Axes, partition: Partition) -> None:
    """Draw the numbered pieces of the tangram in the colours of a partition; those left out are white."""
    for number, (corners, side) in enumerate(zip(TANGRAM.values(), partition.column, strict=True), start=1):
        outline = np.array(corners) / TANGRAM_SIDE
        colour = {1: TINTS[0], -1: TINTS[1]}.get(int(side), "white")
        axes.fill(
            *outline.T,
            facecolor=(colour, 2 * TINT_OPACITY),
            edgecolor="black",
            linewidth=0.8,
            joinstyle="round",
        )
        axes.annotate(str(number), outline.mean(axis=0), ha="center", va="center")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", anchor="S")
    axes.set_axis_off()
