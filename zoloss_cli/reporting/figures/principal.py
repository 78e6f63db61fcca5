"""Clusters and principal subsets in the plane: Figures 1.4, 1.6, 1.7 and 1.9 of Li's thesis (2006)."""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.measurements import (
    StoredDecomposition,
    find_decompositions,
    find_first_draw,
)
from zoloss_cli.reporting.figures.samples import PlaneSamples, can_generate, draw_by_class, generate_samples
from zoloss_cli.reporting.figures.target import draw_target
from zoloss_cli.reporting.run_result import Place, RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")

FEW, MANY = 3, 11  # subsets in Figures 1.6 and 1.9
COLUMNS = 4
FAINT = "#B4B4B4"


class ShownDraw(NamedTuple):
    """The draw that the figures of a run show."""

    place: Place
    draw: int
    found: StoredDecomposition


def has_samples(run: RunResult) -> bool:
    """Return whether a draw was decomposed whose samples can be regenerated."""
    return bool(_find_draws(run))


def _find_draws(run: RunResult) -> list[ShownDraw]:
    found = find_decompositions(run)
    return [
        ShownDraw(place, *find_first_draw(draws))
        for place, draws in found.items()
        if can_generate(run, place[0])
    ]


def choose_draw(run: RunResult) -> tuple[ShownDraw, PlaneSamples]:
    """Return the first draw of the first exact column, or else of the first column, and its samples."""
    shown = min(_find_draws(run), key=lambda one: not one.found.is_exact)
    return shown, generate_samples(run, shown.place, shown.draw, len(shown.found.clusters))


def draw_clusters(run: RunResult) -> Figure:
    """Draw all samples, with those of one cluster connected."""
    shown, samples = choose_draw(run)
    clusters = shown.found.clusters
    figure = style.new_figure(style.COLUMN, 4.1)
    (axes,) = style.add_panels(figure, 1, 1)
    draw_target(axes, samples.target)
    lines = [
        segment for cluster in np.unique(clusters) for segment in build_tree(samples.X[clusters == cluster])
    ]
    gap = np.full(2, np.nan)
    path = np.array([end for segment in lines for end in (*segment, gap)]).reshape(-1, 2)
    axes.plot(*path.T, color=style.BLUE, linestyle=style.DOTTED, label="within a cluster")
    draw_by_class(axes, samples)
    count = len(np.unique(clusters))
    axes.set_title(f"draw {shown.draw}: {len(clusters)} samples in {count} clusters")
    style.add_legend_below(figure, [axes], 3)
    return figure


def build_tree(X: np.ndarray) -> list[np.ndarray]:
    """Return the lines, two ends each, of the shortest tree that connects these samples."""
    inside, lines = [0], []
    while len(inside) < len(X):
        outside = [i for i in range(len(X)) if i not in inside]
        gaps = np.linalg.norm(X[inside][:, None, :] - X[outside][None, :, :], axis=2)
        a, b = np.unravel_index(np.argmin(gaps), gaps.shape)
        lines.append(np.array([X[inside[a]], X[outside[b]]]))
        inside.append(outside[b])
    return lines


def draw_three_subsets(run: RunResult) -> Figure:
    """Draw Figure 1.6: three principal subsets."""
    return _draw_subsets(run, FEW)


def draw_eleven_subsets(run: RunResult) -> Figure:
    """Draw Figure 1.9: eleven principal subsets."""
    return _draw_subsets(run, MANY)


def select_evenly(items: list[T], count: int) -> list[T]:
    """Return `count` items of a list, or all if fewer: the first, the last, and others evenly between."""
    places = np.linspace(0, len(items) - 1, min(count, len(items)))
    return [items[round(place)] for place in places]


def _draw_subsets(run: RunResult, count: int) -> Figure:
    """Draw the first subset of selected principal points; samples outside of it are faint dots."""
    shown, samples = choose_draw(run)
    points = select_evenly(shown.found.points, count)
    columns = min(COLUMNS, len(points)) if len(points) != FEW else FEW
    size = style.PAGE / max(columns, FEW)
    figure = style.new_figure(style.PAGE, math.ceil(len(points) / columns) * (size + 0.14) + 0.5)
    panels = style.add_panels(figure, len(points), columns)
    for letter, panel, point in zip(string.ascii_lowercase, panels, points, strict=False):
        complexity, error, _, subsets = point
        draw_target(panel, samples.target)
        inside = shown.found.find_samples(subsets[0])
        draw_subset(panel, samples, inside, 2.0 * size if len(points) > FEW else 4.5)
        panel.set_xlabel(f"({letter}) ({complexity}, {error})")
    of = f"{len(points)} of {len(shown.found.points)} principal points"
    figure.suptitle(f"draw {shown.draw}: (complexity, error) of {of}", fontsize="medium")
    style.add_legend_below(figure, panels, 3)
    return figure


def draw_subset(panel: Axes, samples: PlaneSamples, inside: np.ndarray, size: float) -> None:
    """Draw the samples of a subset by class, and those outside of it as faint dots."""
    outside = np.setdiff1d(np.arange(len(samples.y)), inside)
    faint = samples.X[outside].T
    panel.plot(*faint, linestyle="none", marker=".", markersize=2, color=FAINT, label="left out")
    draw_by_class(panel, samples, inside, size)
