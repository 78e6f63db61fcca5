"""All principal subsets of a draw: Figures 1.14, 1.15 and 1.16 of Li's thesis (2006)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.principal import ShownDraw, choose_draw, draw_subset
from zoloss_cli.reporting.figures.samples import PlaneSamples
from zoloss_cli.reporting.figures.target import draw_target
from zoloss_cli.reporting.run_result import RunResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_SUBSETS_PER_POINT = 2  # "only two are shown for space reason"
COLUMNS = 6


class ShownSubset(NamedTuple):
    """A principal subset: the complexity and error of its point, and its clusters as a number."""

    complexity: int
    error: int
    subset: int


def list_subsets(shown: ShownDraw, most: int | None = None) -> list[ShownSubset]:
    """Return the stored principal subsets by complexity, at most `most` for each point."""
    return [
        ShownSubset(complexity, error, subset)
        for complexity, error, _, subsets in shown.found.points
        for subset in subsets[:most]
    ]


def draw_all_subsets(run: RunResult) -> Figure:
    """Draw Figure 1.14: every principal subset of the first draw."""
    shown, samples = choose_draw(run)
    return _draw_panels(shown, samples, list_subsets(shown))


def draw_first_half(run: RunResult) -> Figure:
    """Draw Figure 1.15: the simpler half of the principal subsets, at most two of each point."""
    shown, samples = choose_draw(run)
    subsets = list_subsets(shown, MAX_SUBSETS_PER_POINT)
    return _draw_panels(shown, samples, subsets[: math.ceil(len(subsets) / 2)])


def draw_second_half(run: RunResult) -> Figure:
    """Draw Figure 1.16: the more complex half of the principal subsets, at most two of each point."""
    shown, samples = choose_draw(run)
    subsets = list_subsets(shown, MAX_SUBSETS_PER_POINT)
    return _draw_panels(shown, samples, subsets[math.ceil(len(subsets) / 2) :])


def _draw_panels(shown: ShownDraw, samples: PlaneSamples, subsets: list[ShownSubset]) -> Figure:
    columns = max(1, min(COLUMNS, len(subsets)))
    size = style.PAGE / COLUMNS
    figure = style.new_figure(style.PAGE, math.ceil(len(subsets) / columns) * (size + 0.12) + 0.6)
    panels = style.add_panels(figure, len(subsets), columns)
    for panel, (complexity, error, subset) in zip(panels, subsets, strict=True):
        draw_target(panel, samples.target)
        draw_subset(panel, samples, np.asarray(shown.found.find_samples(subset)), 2.6)
        panel.set_xlabel(f"({complexity}, {error})")
    of = sum(count for _, _, count, _ in shown.found.points)
    which = f"{len(subsets)} of {of} principal subsets"
    figure.suptitle(f"draw {shown.draw}: (complexity, error) of {which}", fontsize="medium")
    style.add_legend_below(figure, panels, 3)
    return figure
