"""Figures of chapters 3 and 4 of Li's thesis (2006): cost functions of boosting, and codes."""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.generators import TANGRAM
from zoloss_cli.figures import style
from zoloss_cli.figures.boundary import TINT_OPACITY, TINTS
from zoloss_cli.figures.curves import STANDARD_ERRORS, Curves, find_curves, plot_with_band
from zoloss_cli.figures.figure_kinds import register_figure
from zoloss_cli.figures.nguyen_sanner import refit
from zoloss_cli.figures.style import LineStyle
from zoloss_cli.kernels.stumps import BISIGMOID, EXPONENTIAL, compute_cost_and_slope
from zoloss_cli.report.runs import RunResult, build_column_titles, build_learner_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KAPPA = 1.2  # kappa_-, the largest in section 3.4; the caption names none
MARGINS = np.linspace(-2.0, 2.0, 201)


def compute_costs(kind: int, kappa: float, m: np.ndarray) -> np.ndarray:
    """Return the cost of each margin alone, by the kernel that AnyBoost and CGBoost minimize."""
    one, still = np.ones(1), np.zeros(1)
    parts = [compute_cost_and_slope(kind, kappa, m[i : i + 1], still, one, 0.0) for i in range(m.size)]
    return np.array([level + rest for level, rest, _ in parts])


@register_figure(
    "li-thesis-2006/3.2",
    "Three margin cost functions",
    origin="functions of the margin of one sample, without data",
)
def draw_cost_functions() -> Figure:
    """Draw the exponential, the sigmoid 1 - tanh (the bisigmoid with kappa_- = 1) and a bisigmoid cost."""
    curves = {
        "exponential": compute_costs(EXPONENTIAL, 1.0, MARGINS),
        "sigmoid": compute_costs(BISIGMOID, 1.0, MARGINS),
        f"bisigmoid, κ₊ = 1, κ₋ = {KAPPA}": compute_costs(BISIGMOID, KAPPA, MARGINS),
    }
    figure, axes = style.new_axes(2.6)
    for i, (pen, (name, cost)) in enumerate(zip(style.build_line_styles(3), curves.items(), strict=True)):
        style.plot_line(axes, MARGINS, cost, pen, name, shift=8 * i)
    axes.set(xlabel="margin", ylabel="cost", xlim=(MARGINS[0], MARGINS[-1]), ylim=(0.0, 4.0))
    axes.legend(loc="upper right")
    return figure


# A margin far below 0 has the bisigmoid cost 2 and is one error: in %, that is 50 times the cost.
SCALES = {"cost": 50.0, "train_error": 1.0, "test_error": 1.0}
LINES = {
    "cost": (f"{SCALES['cost']:.0f} × cost", style.BLACK, "o"),
    "train_error": ("training error", style.BLUE, "s"),
    "test_error": ("test error", style.VERMILION, "^"),
}


def _group_by_cost_function(run: RunResult) -> dict[str, list[LearnerSpec]]:
    """Return the learners of each cost function that recorded everything shown, on the first data set."""
    found: dict[str, list[LearnerSpec]] = {}
    recorded = find_curves(run, run.datasets[0])
    for spec in run.experiment.learners:
        curves, cost = recorded.get(spec.label), dict(spec.settings).get("cost")
        if cost and curves and LINES.keys() <= curves.values.keys():
            found.setdefault(cost, []).append(spec)
    return found


@register_figure(
    "li-thesis-2006/3.1",
    "CGBoost (solid) and AnyBoost (dashed) with two cost functions",
    _group_by_cost_function,
    **STANDARD_ERRORS,
)
def draw_two_costs(run: RunResult) -> Figure:
    """Draw cost, training and test errors by round, a panel per cost function; CGBoost solid, others dashed."""
    groups = _group_by_cost_function(run)
    curves = find_curves(run, run.datasets[0])
    width = style.PAGE if len(groups) > 1 else style.COLUMN
    figure, axes = style.new_grid(width, 3.2, len(groups), len(groups), sharey=True)
    for panel, letter, (cost, specs) in zip(axes, string.ascii_lowercase, groups.items(), strict=False):
        for metric in LINES:
            for spec in sorted(specs, key=_is_dashed):
                _draw_line(panel, curves[spec.label], spec, metric)
        panel.set_xlim(left=0)
        panel.set(xlabel="rounds", title=f"({letter}) {cost} cost")
    axes[0].set_ylabel("error (%), scaled cost")
    style.add_legend_below(figure, axes, 3 if len(groups) > 1 else 2)
    return figure


def _draw_line(axes: Axes, curves: Curves, spec: LearnerSpec, metric: str) -> None:
    name, colour, marker = LINES[metric]
    dashed = _is_dashed(spec)
    step = len(curves.epochs) // style.MARKERS_PER_LINE // (2 * len(LINES))
    shift = (2 * list(LINES).index(metric) + dashed) * step
    pen = LineStyle(colour, style.DASHED if dashed else style.SOLID, marker)
    title = f"{name}, {build_learner_title(spec.learner)}"
    plot_with_band(axes, curves, metric, pen, title, shift, SCALES[metric])


def _is_dashed(spec: LearnerSpec) -> bool:
    return spec.learner != "cgboost"


PARTITIONS_PER_LEARNER = 2
COLUMNS = 4
TANGRAM_SIDE = float(np.max([corner for corners in TANGRAM.values() for corner in corners]))


class Partition(NamedTuple):
    """A partition of the classes into two."""

    column: np.ndarray  # 1 for classes on the first class's side, -1 for the others, 0 for classes left out
    rounds: int  # number of boosting rounds that used it
    total: float  # the sum of the coefficients of these rounds

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


@register_figure(
    "li-thesis-2006/4.3",
    "Dominating partitions in the tangram experiment",
    has_partitions,
    legend="Of split 0: the two partitions with the largest sums of coefficients α, blue against yellow.",
    is_quick=False,
)
def draw_partitions(run: RunResult) -> Figure:
    """Draw the pieces on either side of the two dominating partitions of each learner, fitted on split 0."""
    titles = build_column_titles(run.learners)
    shown = []
    for learner in _find_codes(run):
        code = refit(run, run.datasets[0], learner)[0].learner
        found = find_dominating_partitions(code.coding_matrix_, code.estimator_weights_)
        shown += [(titles[learner], partition) for partition in found[:PARTITIONS_PER_LEARNER]]
    height = 2.3 * math.ceil(len(shown) / COLUMNS)
    figure, panels = style.new_grid(style.PAGE, height, len(shown), COLUMNS)
    for panel, (title, partition) in zip(panels, shown, strict=True):
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
        edge: dict[str, Any] = {"edgecolor": "black", "linewidth": 0.8, "joinstyle": "round"}
        axes.fill(*outline.T, facecolor=(colour, 2 * TINT_OPACITY), **edge)
        axes.annotate(str(number), outline.mean(axis=0), ha="center", va="center")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", anchor="S")
    axes.set_axis_off()


@register_figure(
    "li-thesis-2006/4.1",
    "The tangram with seven pieces",
    origin="the pieces that samples are drawn from, without samples",
)
def draw_tangram() -> Figure:
    """Draw the pieces with the numbers of their classes."""
    figure, axes = style.new_axes(style.COLUMN)
    draw_pieces(axes, Partition(np.zeros(len(TANGRAM), np.int8), 0, 0.0))
    return figure
