"""Complexity-error plots with principal points, and how many there are: Figures 1.5 and 1.8 of Li's thesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.measurements import (
    StoredDecomposition,
    find_decompositions,
    find_first_draw,
)
from zoloss_cli.reporting.published.values import find_published_cells
from zoloss_cli.reporting.run_result import Place, RunResult
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

COUNTS = {"principal_points": "points", "principal_subsets": "subsets"}
PAIR_COLOUR = "#6E6E6E"
MAX_ERROR_OF_LARGE_DOTS = 40  # maximum error with room for larger dots
MAX_SPREAD, SPREAD_STEP = 0.7, 0.16  # of equal numbers from several draws, as shares of their line's height


def has_pairs(run: RunResult) -> bool:
    """Return whether some draw of a data set was decomposed."""
    return bool(find_decompositions(run))


def draw_complexity_error(run: RunResult) -> Figure:
    """Draw the pairs of each complete column's first draw above, and the counts of all draws below."""
    found = find_decompositions(run)
    exact = _select_one_a_column(found, lambda place: find_first_draw(found[place])[1].is_exact)
    shown = exact or [next(iter(found))]
    counted = _select_one_a_column(found, lambda place: len(found[place]))
    figure = style.new_figure(style.PAGE, 3.5 + 0.44 * len(counted))
    grid = figure.add_gridspec(2, len(shown), height_ratios=[2.6, 0.44 * len(counted) + 0.2])
    titles = build_column_titles(run.learners)
    panels = [figure.add_subplot(grid[0, i]) for i in range(len(shown))]
    for panel, place in zip(panels, shown, strict=True):
        _draw_pairs(panel, titles[place[1]], *find_first_draw(found[place]))
    below = figure.add_subplot(grid[1, :])
    _draw_counts(below, run, {place: list(found[place].values()) for place in counted})
    style.add_legend_below(figure, [*panels, below], 4)
    return figure


def _select_one_a_column(found: dict[Place, dict], rate: Callable[[Place], int]) -> list[Place]:
    """Return for each column the data set with the highest rating, the first on a tie; none if that is 0."""
    best: dict[str, Place] = {}
    for place in found:
        if rate(place) and (place[1] not in best or rate(place) > rate(best[place[1]])):
            best[place[1]] = place
    return list(best.values())


def _draw_pairs(axes: Axes, title: str, draw: int, found: StoredDecomposition) -> None:
    principal = [point[:2] for point in found.points]
    others = [pair for pair in found.pairs if tuple(pair) not in principal]
    is_small = max(error for _, error in found.pairs) > MAX_ERROR_OF_LARGE_DOTS
    dots: dict[str, Any] = {
        "linestyle": "none",
        "color": PAIR_COLOUR,
        "marker": ".",
        "markersize": 1.4 if is_small else 2.5,
    }
    axes.plot(*_transpose(principal), **dots)
    if others:
        axes.plot(*_transpose(others), **dots, label="pair of a subset")
    circle_principal_points(axes, *_transpose(principal))
    only = "" if found.is_exact else " (principal points only)"
    counts = ", ".join(f"{found.counts[metric]} principal {what}" for metric, what in COUNTS.items())
    axes.set(title=f"{style.shorten(title)}, draw {draw}{only}\n{counts}")
    axes.set(xlabel="complexity (support vectors)", ylabel="error (samples left out)")


def circle_principal_points(axes: Axes, complexities: ArrayLike, errors: ArrayLike) -> None:
    """Draw circles around the principal points of a complexity-error plot."""
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 6, "markerfacecolor": "none"}
    axes.plot(complexities, errors, **look, color=style.VERMILION, label="principal point")


def _transpose(points: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [c for c, _ in points], [e for _, e in points]


def _draw_counts(axes: Axes, run: RunResult, columns: dict[Place, list[StoredDecomposition]]) -> None:
    """Draw a line for each column and kind of count, a dot per draw, and the published value."""
    cells = find_published_cells(run.experiment.published)
    published = {(learner, metric): cell.value for (_, learner, metric), cell in cells.items()}
    titles = build_column_titles(run.learners)
    names: list[str] = []
    for (_, learner), draws in columns.items():
        for metric, what in COUNTS.items():
            height = len(names)
            names.append(f"{style.shorten(titles[learner])}: {what}")
            values = [found.counts[metric] for found in draws]
            axes.plot(
                values,
                spread_equal(values, height),
                linestyle="none",
                marker="o",
                markersize=2.5,
                color=style.BLUE,
                label="count, one dot per draw",
            )
            if (learner, metric) in published:
                axes.plot(
                    published[learner, metric],
                    height,
                    linestyle="none",
                    marker="|",
                    markersize=14,
                    markeredgewidth=1.6,
                    color=style.BLACK,
                    label="published value",
                )
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axes.set(xlim=(0, 1.03 * axes.get_xlim()[1]), xlabel="principal points and subsets")


def spread_equal(values: list[int], height: float) -> list[float]:
    """Return a height for each value, near the given one, so that equal values are drawn side by side."""
    counts, met, places = Counter(values), Counter[int](), []
    for value in values:
        step = min(SPREAD_STEP, MAX_SPREAD / counts[value])
        places.append(height + step * (met[value] - (counts[value] - 1) / 2.0))
        met[value] += 1
    return places
