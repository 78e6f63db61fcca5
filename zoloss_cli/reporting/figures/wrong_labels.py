"""What distinguishes samples with wrong labels from others: Figures 1.11 and 1.12 of Li's thesis (2006)."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zoloss_cli.metrics.roc import compute_auc, compute_roc_curve
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.measurements import (
    OutlierScores,
    find_first_draw,
    find_growth_by_size,
    find_outlier_scores,
)
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAND_OPACITY = 0.2
PUBLISHED_LIMIT, LIMIT_LABEL = 2.5, "wrong, thesis: around 2.5"  # what contributions converge to
MAX_CURVE_NAME_LENGTH = style.MAX_NAME_LENGTH - len(": 0.000")
CORNER = 0.35  # side of the corner of good scores
ESTIMATORS = {"auc": "average contribution", "auc_least_squares": "least squares"}  # of contributions


def has_contribution_by_size(run: RunResult) -> bool:
    """Return whether contributions were measured by subset size."""
    return bool(find_growth_by_size(run))


def draw_contribution_by_size(run: RunResult) -> Figure:
    """Draw what a sample adds to a subset, by subset size: the mean of all draws and their range."""
    draws = next(iter(find_growth_by_size(run).values()))
    size = find_first_draw(draws)[1].shape[1]
    curves = [curve for curve in draws.values() if curve.shape[1] == size]
    several = "" if len(curves) == 1 else f", mean of {len(curves)} draws and their range"
    figure = style.new_figure(style.PAGE, 3.2)
    (axes,) = style.add_panels(figure, 1, 1)
    for name, group, colour in (("wrong", 1, style.VERMILION), ("right", 0, style.BLUE)):
        of_draws = np.array([curve[group] for curve in curves])
        counted = np.isfinite(of_draws).any(axis=0)  # in a few paths, no wrong label may have come this early
        x, of_draws = np.flatnonzero(counted), of_draws[:, counted]
        axes.plot(x, np.nanmean(of_draws, axis=0), color=colour, label=f"{name} labels")
        if several:
            low, high = np.nanmin(of_draws, axis=0), np.nanmax(of_draws, axis=0)
            axes.fill_between(x, low, high, color=colour, alpha=BAND_OPACITY, linewidth=0)
    axes.axhline(PUBLISHED_LIMIT, color=style.BLACK, linewidth=0.8, linestyle=style.DOTTED, label=LIMIT_LABEL)
    axes.set(xlim=(0, size), xlabel="subset size", ylabel="average complexity contribution")
    axes.set_title(f"{size} samples{several}")
    style.add_legend_below(figure, [axes], 3)
    return figure


class RocCurve(NamedTuple):
    """A ROC curve of one draw, and the AUC of every draw."""

    rates: tuple[np.ndarray, np.ndarray]
    areas: list[float]


def has_outlier_scores(run: RunResult) -> bool:
    """Return whether samples were scored some of which have wrong labels."""
    return bool(find_outlier_scores(run))


def draw_roc_curves(run: RunResult) -> Figure:
    """Draw the curves of one draw, whole and near their best corner, for every column that has it.

    It is the first draw of the first data set that most columns have. AUCs are means over the data set with the
    most draws, and the legend lists the best first.
    """
    places = find_outlier_scores(run)
    dataset = next(iter(places))[0]
    found = {learner: draws for (d, learner), draws in places.items() if d == dataset}
    common = Counter(draw for draws in found.values() for draw in draws)
    shown = max(sorted(common), key=lambda draw: common[draw])
    curves = {}
    for (learner, metric), name in _name_curves(run, found).items():
        if shown in found[learner]:
            scored = found[learner][shown]
            most = max((draws for (_, x), draws in places.items() if x == learner), key=len)
            curves[name] = RocCurve(
                compute_roc_curve(scored.scores[metric], scored.is_flipped),
                [compute_auc(each.scores[metric], each.is_flipped) for each in most.values()],
            )
    return _draw_panels(curves, shown)


def _name_curves(run: RunResult, found: dict[str, dict[int, OutlierScores]]) -> dict[tuple[str, str], str]:
    """Return the name of each column's and metric's curve: contributions have two estimators."""
    titles, names = build_column_titles(run.learners), {}
    firsts = {learner: find_first_draw(draws)[1] for learner, draws in found.items()}
    several = sum(first.is_contribution for first in firsts.values()) > 1
    for learner, first in firsts.items():
        for metric in first.scores:
            if not first.is_contribution:
                names[learner, metric] = titles[learner]
            elif not several:
                names[learner, metric] = ESTIMATORS[metric]
            else:
                names[learner, metric] = f"{titles[learner]}, {ESTIMATORS[metric].split()[0]}"
    return names


def _draw_panels(curves: dict[str, RocCurve], draw: int) -> Figure:
    figure = style.new_figure(style.PAGE, 4.0)
    panels = style.add_panels(figure, 2, 2)
    labels = {
        name: f"{style.shorten(name, MAX_CURVE_NAME_LENGTH)}: {fmean(curve.areas):.3f}"
        for name, curve in curves.items()
    }
    for panel, limit in zip(panels, (1.0, CORNER), strict=True):
        for (name, curve), look in zip(curves.items(), style.build_looks(len(curves)), strict=True):
            panel.plot(*curve.rates, color=look.colour, linestyle=look.dashes, label=labels[name])
        room = 0.02 * limit
        panel.set(xlim=(-room, limit), ylim=(-room, limit), xlabel="false positive rate", aspect="equal")
    panels[0].set_ylabel("false negative rate")
    counts = sorted({len(curve.areas) for curve in curves.values()})
    of = "AUC" if counts == [1] else f"mean AUC of {' or '.join(map(str, counts))} draws"
    panels[0].set_title(f"draw {draw}; in the legend: {of}")
    panels[1].set_title("the corner of the best")
    best_first = sorted(curves, key=lambda name: -fmean(curves[name].areas))
    style.add_legend_below(figure, panels, 3, [labels[name] for name in best_first])
    return figure
