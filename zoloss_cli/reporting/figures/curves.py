"""Errors and costs after each epoch or round, of any run that records them.

Figures 3 and 4 of Li & Lin (2007); Figures 4.2, 4.4 and 4.5 of Li's thesis (2006).
"""

from __future__ import annotations

import math

import numpy as np

from zoloss_cli.registry import LEARNERS
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.style import Look
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles

QUANTITIES = {"train_error": "training error (%)", "test_error": "test error (%)", "cost": "cost"}
STEEP = 10  # points at the beginning of a curve


def has_curves(run: RunResult) -> bool:
    return any(place in run.curves for place in _places(run))


def has_costs(run: RunResult) -> bool:
    return any(_recorded(run, dataset, "cost") for dataset in run.datasets)


def rcd_variants(run: RunResult):
    """Figure 3: one panel; variants by colour and marker, the seeding by the kind of line."""
    names, looks = {}, {}
    variants = list(dict.fromkeys(entry["learner"] for entry in run.experiment["learners"]))
    by_variant = dict(zip(variants, style.looks(len(variants)), strict=True))
    for entry in run.experiment["learners"]:
        from_fld = dict(entry["settings"]).get("seeding") == "fld"
        title, look = LEARNERS[entry["learner"]].title, by_variant[entry["learner"]]
        names[entry["label"]] = f"{title}, {'FLD' if from_fld else 'zero'}"
        looks[entry["label"]] = Look(look.colour, style.SOLID if from_fld else style.DASHED, look.marker)
    high, low = _far_apart(run, run.datasets[0], "train_error")
    figure = style.new_figure(style.COLUMN, 3.4)
    axes = style.panels(figure, 2 if high else 1, 1, sharex=True, height_ratios=[1, 3] if high else None)
    _draw(axes[-1], run, run.datasets[0], "train_error", names, looks, low)
    if high:
        _draw(axes[0], run, run.datasets[0], "train_error", names, looks, high)
        axes[0].set(xlabel="", ylabel="")
        _break_axis(*axes)
    style.legend_below(figure, axes, 2, list(names.values()))
    return figure


def _far_apart(run: RunResult, dataset: str, metric: str) -> tuple[list[str], list[str]]:
    """(learners far above all others, the others): where a third of the height is empty, the axis is broken."""
    means = {x: run.curves[dataset, x].mean(metric) for x in _recorded(run, dataset, metric)}
    ranges = {x: (mean.min(), mean.max()) for x, mean in means.items()}
    upward = sorted(ranges, key=lambda x: ranges[x][0])
    bottom, top = min(r[0] for r in ranges.values()), max(r[1] for r in ranges.values())
    for i in range(1, len(upward)):
        below = max(ranges[x][1] for x in upward[:i])
        if ranges[upward[i]][0] - below > (top - bottom) / 3.0:
            return upward[i:], upward[:i]
    return [], upward


def _break_axis(upper, lower) -> None:
    """Slanted strokes where a piece of the axis is left out."""
    upper.spines["bottom"].set_visible(False)
    upper.tick_params(axis="x", length=0)
    slanted = {"marker": [(-1, -0.5), (1, 0.5)], "markersize": 6, "color": "black", "clip_on": False}
    upper.plot([0], [0], transform=upper.transAxes, linestyle="none", **slanted)
    lower.plot([0], [1], transform=lower.transAxes, linestyle="none", **slanted)


def by_epoch(run: RunResult):
    """Figure 4 and any other: a row for each data set, training errors beside test errors."""
    return _side_by_side(run, ["train_error", "test_error"])


def costs_by_round(run: RunResult):
    """Figures 4.2, 4.4 and 4.5 of the thesis: a row for each data set, the cost beside test errors.

    Both fall by a lot in the first rounds: only logarithms show what sets learners apart in the end.
    """
    figure = _side_by_side(run, ["cost", "test_error"])
    for axes in figure.axes:
        style.logarithmic(axes)
    return figure


def _side_by_side(run: RunResult, metrics: list[str]):
    names = column_titles(run.learners)
    looks = dict(zip(run.learners, style.looks(len(run.learners)), strict=True))
    sides = [m for m in metrics if any(_recorded(run, d, m) for d in run.datasets)]
    recorded = [d for d in run.datasets if any(_recorded(run, d, m) for m in sides)]
    places = [(dataset, metric) for dataset in recorded for metric in sides]
    lines = math.ceil(len(run.learners) / 4)  # of the legend
    height = 2.1 * len(recorded) + 0.25 * lines
    figure = style.new_figure(style.PAGE if len(sides) == 2 else style.COLUMN, height + 0.2)
    axes = style.panels(figure, len(places), len(sides))
    for panel, (dataset, metric) in zip(axes, places, strict=True):
        _draw(panel, run, dataset, metric, names, looks)
        if len(recorded) > 1:
            panel.set_title(dataset)
    style.legend_below(figure, axes, math.ceil(len(run.learners) / lines) if len(sides) == 2 else 2)
    return figure


def _places(run: RunResult) -> list[tuple[str, str]]:
    return [(dataset, learner) for dataset in run.datasets for learner in run.learners]


def _recorded(run: RunResult, dataset: str, metric: str) -> list[str]:
    places = {x: run.curves.get((dataset, x)) for x in run.learners}
    return [x for x, curves in places.items() if curves and metric in curves.values]


def _draw(
    axes, run: RunResult, dataset: str, metric: str, names: dict[str, str], looks: dict[str, Look], of=None
) -> None:
    shown = [x for x in _recorded(run, dataset, metric) if of is None or x in of]
    for i, learner in enumerate(shown):
        curves, look = run.curves[dataset, learner], looks[learner]
        mean, stderr = curves.mean(metric), curves.stderr(metric)
        step = len(mean) // style.MARKS_A_LINE // max(1, len(shown))
        with_band(axes, curves.epochs, mean, stderr, look, names[learner], shift=i * step)
    axes.set_xlim(left=0)
    axes.set_xlabel("rounds" if any("cost" in run.curves[dataset, x].values for x in shown) else "epochs")
    axes.set_ylabel(QUANTITIES[metric])


def with_band(axes, x, mean, stderr, look: Look, name: str, shift: int) -> None:
    """A line with its standard error around it, if there is one."""
    style.plot(axes, x, mean, look, name, shift)
    if np.all(np.isfinite(stderr)):
        # Where the line is steep all its points; later, as files stay small, every third will do.
        at = np.unique([*range(min(STEEP, len(mean))), *range(STEEP, len(mean), 3), len(mean) - 1])
        low, high = (mean - stderr)[at], (mean + stderr)[at]
        axes.fill_between(np.array(x)[at], low, high, color=look.colour, alpha=0.2, linewidth=0)
