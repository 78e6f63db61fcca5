"""The same boosting with several cost functions, one panel each: Figure 3.1 of Li's thesis (2006)."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.curves import find_curves, plot_with_band
from zoloss_cli.reporting.figures.style import Look
from zoloss_cli.reporting.recorded import Curves
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_learner_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A margin far below 0 has the bisigmoid cost 2 and is one error: in %, that is 50 times the cost.
SCALES = {"cost": 50.0, "train_error": 1.0, "test_error": 1.0}
LINES = {
    "cost": (f"{SCALES['cost']:.0f} × cost", style.BLACK, "o"),
    "train_error": ("training error", style.BLUE, "s"),
    "test_error": ("test error", style.VERMILION, "^"),
}


def has_cost_functions(run: RunResult) -> bool:
    """Return whether some learner with a cost function recorded cost, training and test errors."""
    return bool(_group_by_cost_function(run))


def draw_cost_functions(run: RunResult) -> Figure:
    """Draw cost, training and test errors by round, a panel per cost function; CGBoost solid, others dashed."""
    groups = _group_by_cost_function(run)
    curves = find_curves(run, run.datasets[0])
    figure = style.new_figure(style.PAGE if len(groups) > 1 else style.COLUMN, 3.2)
    axes = style.add_panels(figure, len(groups), len(groups), sharey=True)
    for panel, letter, (cost, specs) in zip(axes, string.ascii_lowercase, groups.items(), strict=False):
        for metric in LINES:
            for spec in sorted(specs, key=_is_dashed):
                _draw_line(panel, curves[spec.label], spec, metric)
        panel.set_xlim(left=0)
        panel.set(xlabel="rounds", title=f"({letter}) {cost} cost")
    axes[0].set_ylabel("error (%), scaled cost")
    style.add_legend_below(figure, axes, 3 if len(groups) > 1 else 2)
    return figure


def _group_by_cost_function(run: RunResult) -> dict[str, list[LearnerSpec]]:
    """Return the learners of each cost function that recorded everything shown, on the first data set."""
    found: dict[str, list[LearnerSpec]] = {}
    recorded = find_curves(run, run.datasets[0])
    for spec in run.experiment.learners:
        curves, cost = recorded.get(spec.label), dict(spec.settings).get("cost")
        if cost and curves and LINES.keys() <= curves.values.keys():
            found.setdefault(cost, []).append(spec)
    return found


def _draw_line(axes: Axes, curves: Curves, spec: LearnerSpec, metric: str) -> None:
    name, colour, marker = LINES[metric]
    dashed, scale = _is_dashed(spec), SCALES[metric]
    mean, stderr = scale * curves.compute_mean(metric), scale * curves.compute_stderr(metric)
    step = len(mean) // style.MARKERS_PER_LINE // (2 * len(LINES))
    shift = (2 * list(LINES).index(metric) + dashed) * step
    look = Look(colour, style.DASHED if dashed else style.SOLID, marker)
    title = f"{name}, {build_learner_title(spec.learner)}"
    plot_with_band(axes, curves.epochs, (mean, stderr), look, title, shift)


def _is_dashed(spec: LearnerSpec) -> bool:
    return spec.learner != "cgboost"
