"""Clusters and principal subsets in the plane: Figures 1.4, 1.6, 1.7 and 1.9 of Li's thesis (2006)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.examples import Examples, can_be_made, examples_of, show
from zoloss_cli.reporting.figures.facts import Place, decompositions, first_draw
from zoloss_cli.reporting.figures.target import paint
from zoloss_cli.reporting.results import RunResult

FEW, MANY = 3, 11  # subsets that Figures 1.6 and 1.9 show
COLUMNS = 4
FAINT = "#B4B4B4"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Decomposed(NamedTuple):
    """The draw that the figures of a run show."""

    place: Place
    draw: int
    facts: dict

    def rows(self, subset: int) -> np.ndarray:
        """The examples of a subset, whose clusters are the bits of a number."""
        return np.flatnonzero([subset >> int(cluster) & 1 for cluster in self.facts["clusters"]])


def has_examples(run: RunResult) -> bool:
    return _shown(run) is not None


def _shown(run: RunResult) -> Decomposed | None:
    """The first draw of the first exact column, else of the first column."""
    found = {place: draws for place, draws in decompositions(run).items() if can_be_made(run, place[0])}
    firsts = [Decomposed(place, *first_draw(draws)) for place, draws in found.items()]
    return min(firsts, key=lambda one: not one.facts["exact"], default=None)


def _examples(run: RunResult, shown: Decomposed) -> Examples:
    return examples_of(run, shown.place, shown.draw, len(shown.facts["clusters"]))


# -- clusters ---------------------------------------------------------------------------------------------


def clusters(run: RunResult):
    """All examples, those of one cluster connected."""
    shown = _shown(run)
    examples, numbers = _examples(run, shown), np.asarray(shown.facts["clusters"])
    figure = style.new_figure(style.COLUMN, 4.1)
    (axes,) = style.panels(figure, 1, 1)
    paint(axes, examples.target)
    lines = [segment for number in np.unique(numbers) for segment in connected(examples.X[numbers == number])]
    gap = np.full(2, np.nan)
    path = np.array([point for segment in lines for point in (*segment, gap)]).reshape(-1, 2)
    axes.plot(*path.T, color=style.BLUE, linestyle=style.DOTTED, label="within a cluster")
    show(axes, examples)
    axes.set_title(f"draw {shown.draw}: {len(numbers)} examples in {len(np.unique(numbers))} clusters")
    style.legend_below(figure, [axes], 3)
    return figure


def connected(X: np.ndarray) -> list[np.ndarray]:
    """The lines, two ends each, of the shortest tree that connects these points."""
    inside, lines = [0], []
    while len(inside) < len(X):
        outside = [i for i in range(len(X)) if i not in inside]
        gaps = np.linalg.norm(X[inside][:, None, :] - X[outside][None, :, :], axis=2)
        a, b = np.unravel_index(np.argmin(gaps), gaps.shape)
        lines.append(np.array([X[inside[a]], X[outside[b]]]))
        inside.append(outside[b])
    return lines


# -- principal subsets ------------------------------------------------------------------------------------


def three_subsets(run: RunResult):
    return _subsets(run, FEW)


def eleven_subsets(run: RunResult):
    return _subsets(run, MANY)


def selected(points: list, count: int) -> list:
    """So many of a list, or all if they are fewer: the first, the last and others evenly between."""
    places = np.linspace(0, len(points) - 1, min(count, len(points)))
    return [points[round(place)] for place in places]


def _subsets(run: RunResult, count: int):
    """The first subset of selected principal points; examples outside of it are faint dots."""
    shown = _shown(run)
    examples = _examples(run, shown)
    points = selected(shown.facts["points"], count)
    columns = min(COLUMNS, len(points)) if len(points) != FEW else FEW
    size = style.PAGE / max(columns, FEW)
    figure = style.new_figure(style.PAGE, math.ceil(len(points) / columns) * (size + 0.14) + 0.5)
    panels = style.panels(figure, len(points), columns)
    for letter, panel, (complexity, error, _, subsets) in zip(LETTERS, panels, points, strict=False):
        paint(panel, examples.target)
        rows = shown.rows(subsets[0])
        rest = np.setdiff1d(np.arange(len(examples.y)), rows)
        faint = {"marker": ".", "markersize": 2, "color": FAINT}
        panel.plot(*examples.X[rest].T, linestyle="none", label="left out", **faint)
        show(panel, examples, rows, 2.0 * size if len(points) > FEW else 4.5)
        panel.set_xlabel(f"({letter}) ({complexity}, {error})")
    of = f"{len(points)} of {len(shown.facts['points'])} principal points"
    figure.suptitle(f"draw {shown.draw}: (complexity, error) of {of}", fontsize="medium")
    style.legend_below(figure, panels, 3)
    return figure
