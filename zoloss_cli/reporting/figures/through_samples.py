"""Why lines through samples suffice: Figure 4 of Nguyen & Sanner (2013). It needs no results.

H has the fewest errors of all lines. H' goes through the two samples A and B, and every other sample is on the
same side of both, so that the errors are the same.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zoloss_cli.complexity.hard_margin import build_problem, fit_hard_margin_svm
from zoloss_cli.config.data_models import GeneratedData
from zoloss_cli.datasets.dataset import load_data
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.lines import CLASS_MARKERS, MARGIN, SAMPLE_COLOUR, clip_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Few enough samples to see each, and two overlapping classes.
DATA = GeneratedData(name="gaussians", generator="gaussians", size=20, seed=3, settings=(("dimensions", 2),))


class Line(NamedTuple):
    """The line <weights, x> + bias = 0."""

    weights: np.ndarray
    bias: float

    def compute_sides(self, X: np.ndarray) -> np.ndarray:
        """Return the signed distances of samples to the line."""
        return (X @ self.weights + self.bias) / np.linalg.norm(self.weights)


class BestLines(NamedTuple):
    """A best line, and one through two samples with the same sides.

    Attributes
    ----------
    best : Line
        H, as far as possible from all samples.
    through : Line
        H', through the samples of `pair`.
    pair : tuple of int
        A and B.
    errors : int
        The errors of both; A and B count as they do for H.
    """

    best: Line
    through: Line
    pair: tuple[int, int]
    errors: int


def build_line(first: np.ndarray, second: np.ndarray) -> Line:
    """Return the line through two samples."""
    weights = np.array([first[1] - second[1], second[0] - first[0]])
    return Line(weights, -float(weights @ first))


def find_best_lines(X: np.ndarray, signs: np.ndarray) -> BestLines:
    """Return H and H' by trying all lines through two samples, which must be in general position.

    A line through A and B can be moved slightly to put each of them on either side: they are not errors. Lines
    with all samples on one side are skipped.
    """
    found = []
    for pair in combinations(range(len(X)), 2):
        line = build_line(*X[list(pair)])
        others = np.setdiff1d(np.arange(len(X)), pair)
        right = np.sign(line.compute_sides(X[others])) == signs[others]
        for turned in (False, True):
            errors = int(np.sum(right if turned else ~right))
            sides = signs.copy()
            sides[others] = np.where(right != turned, signs[others], -signs[others])
            if np.ptp(sides) > 0.0:
                found.append((errors, pair, sides))
    errors, _, sides = min(found, key=lambda item: item[0])
    best = _separate(X, sides)
    pairs = [pair for count, pair, other in found if count == errors and np.array_equal(other, sides)]
    nearest = min(pairs, key=lambda pair: np.abs(best.compute_sides(X[list(pair)])).sum())
    return BestLines(best, build_line(*X[list(nearest)]), nearest, errors)


def _separate(X: np.ndarray, sides: np.ndarray) -> Line:
    """Return the line with the largest margin between two sides."""
    svm = fit_hard_margin_svm(build_problem(X, sides, "linear"))
    weights = svm.coefficients @ X[svm.support]
    middle = [float(edge(X[sides == side] @ weights)) for edge, side in ((np.min, 1.0), (np.max, -1.0))]
    return Line(weights, -sum(middle) / 2.0)


def draw_lines_through_samples() -> Figure:
    """Draw the samples, H, and H' through A and B."""
    data = load_data(DATA)
    signs = np.where(data.y == 1, 1.0, -1.0)
    found = find_best_lines(data.X, signs)
    figure = style.new_figure(style.COLUMN, 3.4)
    (axes,) = style.add_panels(figure, 1, 1)
    for side, marker in ((-1.0, CLASS_MARKERS[0]), (1.0, CLASS_MARKERS[1])):
        axes.plot(*data.X[signs == side].T, marker, color=SAMPLE_COLOUR, markerfacecolor="none")
    room = MARGIN * np.ptp(data.X, axis=0)
    box = np.array([data.X.min(axis=0) - room, data.X.max(axis=0) + room])
    for line, name, colour, dashes in (
        (found.best, f"H: {found.errors} errors, the fewest", style.BLUE, style.SOLID),
        (found.through, "H′: through A and B", style.VERMILION, style.DASHED),
    ):
        axes.plot(*clip_line(*line, box).T, color=colour, linestyle=dashes, label=name)
    for letter, sample in zip("AB", found.pair, strict=True):
        axes.annotate(letter, data.X[sample], (4, 4), textcoords="offset points")
    axes.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=data.features[0], ylabel=data.features[1])
    style.add_legend_below(figure, [axes], 2)
    return figure
