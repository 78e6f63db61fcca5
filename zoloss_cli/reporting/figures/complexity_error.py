"""Complexity-error plots with principal points, and how many there are: Figures 1.5 and 1.8 of Li's thesis."""

from __future__ import annotations

from collections import Counter

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.facts import Place, decompositions, first_draw
from zoloss_cli.reporting.published.cells import printed_cells
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles

COUNTED = {"principal_points": "points", "principal_subsets": "subsets"}
DOT = "#6E6E6E"
APART = 40  # errors between which there is room for larger dots
ROOM, STEP = 0.7, 0.16  # for equal numbers of several draws, as shares of their line's height


def has_pairs(run: RunResult) -> bool:
    return bool(decompositions(run))


def plots(run: RunResult):
    """Above, the pairs of the first draw of every column that has all; below, the counts of all draws."""
    found = decompositions(run)
    exact = _one_a_column(found, lambda place: first_draw(found[place])[1]["exact"])
    shown = exact or [next(iter(found))]
    counted = _one_a_column(found, lambda place: len(found[place]))
    figure = style.new_figure(style.PAGE, 3.5 + 0.44 * len(counted))
    grid = figure.add_gridspec(2, len(shown), height_ratios=[2.6, 0.44 * len(counted) + 0.2])
    titles = column_titles(run.learners)
    panels = [figure.add_subplot(grid[0, i]) for i in range(len(shown))]
    for panel, place in zip(panels, shown, strict=True):
        _pairs(panel, titles[place[1]], *first_draw(found[place]))
    below = figure.add_subplot(grid[1, :])
    _counts(below, run, {titles[place[1]]: (place, list(found[place].values())) for place in counted})
    style.legend_below(figure, [*panels, below], 4)
    return figure


def _one_a_column(found: dict[Place, dict], worth) -> list[Place]:
    """For each column the data set that is worth most, the first of several; none where none is."""
    best: dict[str, Place] = {}
    for place in found:
        if worth(place) and (place[1] not in best or worth(place) > worth(best[place[1]])):
            best[place[1]] = place
    return list(best.values())


def _pairs(axes, title: str, draw: int, facts: dict) -> None:
    principal = [point[:2] for point in facts["points"]]
    others = [pair for pair in facts["pairs"] if list(pair) not in principal]
    size = 2.5 if max(e for _, e in facts["pairs"]) <= APART else 1.4
    dots = {"linestyle": "none", "color": DOT, "marker": ".", "markersize": size}
    axes.plot(*_columns(principal), **dots)
    if others:
        axes.plot(*_columns(others), **dots, label="pair of a subset")
    axes.plot(
        *_columns(principal), linestyle="none", marker="o", markersize=6, markerfacecolor="none",
        color=style.VERMILLION, label="principal point",
    )  # fmt: skip
    only = "" if facts["exact"] else " (principal points only)"
    counts = f"{facts['principal_points']} principal points, {facts['principal_subsets']} principal subsets"
    axes.set(title=f"{style.shortened(title)}, draw {draw}{only}\n{counts}")
    axes.set(xlabel="complexity (support vectors)", ylabel="error (examples left out)")


def _columns(points: list) -> tuple[list, list]:
    return [c for c, _ in points], [e for _, e in points]


def _counts(axes, run: RunResult, columns: dict[str, tuple[Place, list[dict]]]) -> None:
    """A line for each column and kind of count, a dot a draw, and what is printed."""
    printed = {(x, metric): cell.value for (_, x, metric), cell in printed_cells(run.published).items()}
    names = []
    for title, (place, draws) in columns.items():
        for metric, what in COUNTED.items():
            height = len(names)
            names.append(f"{style.shortened(title)}: {what}")
            values = [facts[metric] for facts in draws]
            axes.plot(
                values, spread(values, height), linestyle="none", marker="o", markersize=2.5,
                color=style.BLUE, label="count, one dot a draw",
            )  # fmt: skip
            if (place[1], metric) in printed:
                axes.plot(
                    printed[place[1], metric], height, linestyle="none", marker="|", markersize=14,
                    markeredgewidth=1.6, color=style.BLACK, label="printed in the thesis",
                )  # fmt: skip
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axes.set(xlim=(0, 1.03 * axes.get_xlim()[1]), xlabel="principal points and subsets")


def spread(values: list, height: float) -> list[float]:
    """A place above or below a line's height for each value, so that equal ones are seen beside each other."""
    often, met, places = Counter(values), Counter(), []
    for value in values:
        step = min(STEP, ROOM / often[value])
        places.append(height + step * (met[value] - (often[value] - 1) / 2.0))
        met[value] += 1
    return places
