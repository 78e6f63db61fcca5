"""The bound of the cone search in the plane, where a cone is an interval of angles. It needs no results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.figures import style
from zoloss_cli.figures.nguyen_sanner import CLASS_MARKERS, SAMPLE_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DATA = EmbeddedData(name="iris", dataset="iris", positive="Iris-versicolor")
FEATURES = (1, 3)  # width of sepals and of petals
SHOWN_CONE = (120.0, 150.0)  # degrees, on the left
N_ROOTS = 3  # cones that the search starts with
N_ANGLES = 721
MAX_FRAMES = 24
ORIGIN = "iris, versicolor (+) against the rest (o): all 150 samples, two of four features"
MIN_DEGREES = 0.01  # of a cone: samples on a grid tie in some directions


@dataclass(frozen=True)
class AngleCone:
    """A cone of directions in the plane, and the pairs that conflict in it.

    Attributes
    ----------
    first, last : float
        Its angles, in degrees.
    pairs : list of tuple of (int, int)
        A maximum matching of conflicting pairs: indices of a positive and a negative sample.
    """

    first: float
    last: float
    pairs: list[tuple[int, int]]


def load_plane() -> tuple[np.ndarray, np.ndarray]:
    """Return the positive and the negative samples."""
    data = load_data(DATA)
    X = data.X[:, FEATURES]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[data.y == 1], X[data.y == 0]


def _project(X: np.ndarray, degrees: float) -> np.ndarray:
    return X @ np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def match_conflicts(positive: np.ndarray, negative: np.ndarray, first: float, last: float) -> AngleCone:
    """Return the cone between two angles with a maximum matching of its conflicting pairs."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    conflicts = np.ones((len(positive), len(negative)), bool)
    for angle in (first, last):
        conflicts &= _project(positive, angle)[:, None] <= _project(negative, angle)[None, :] + 1e-12
    mates = maximum_bipartite_matching(csr_matrix(conflicts), perm_type="column")
    return AngleCone(first, last, [(i, int(j)) for i, j in enumerate(mates) if j >= 0])


def split_cones(positive: np.ndarray, negative: np.ndarray, target: int) -> list[AngleCone]:
    """Return cones that cover all directions, each with `target` pairs, or thin."""
    waiting = [(360.0 * k / N_ROOTS, 360.0 * (k + 1) / N_ROOTS) for k in reversed(range(N_ROOTS))]
    leaves = []
    while waiting:
        first, last = waiting.pop()
        cone = match_conflicts(positive, negative, first, last)
        if len(cone.pairs) >= target or last - first < MIN_DEGREES:
            leaves.append(cone)
        else:
            middle = (first + last) / 2
            waiting += [(middle, last), (first, middle)]
    return leaves


def count_fewest_errors(positive: np.ndarray, negative: np.ndarray, degrees: float) -> int:
    """Return the errors of the best threshold in one direction, with positive samples above it.

    In one direction, the fewest errors equal the size of a maximum matching of conflicting pairs (König's
    theorem).
    """
    above, below = np.sort(_project(positive, degrees)), np.sort(_project(negative, degrees) + 1e-12)
    lost = np.searchsorted(above, below, side="right")  # positive samples at or below a negative one
    kept = np.arange(len(below), 0, -1) - 1  # negative samples above that threshold
    return int(min((lost + kept).min(), len(below)))


def draw_cone_bound() -> Figure:
    """Draw a cone with its conflicting pairs, and the bounds of the cones of a whole search."""
    positive, negative = load_plane()
    angles = np.linspace(0.0, 360.0, N_ANGLES)
    errors = np.array([count_fewest_errors(positive, negative, angle) for angle in angles])
    figure = style.new_figure(style.PAGE, 3.4)
    left, right = style.add_panels(figure, 2, 2)
    _draw_pairs(left, positive, negative, match_conflicts(positive, negative, *SHOWN_CONE))
    _draw_search(right, angles, errors, split_cones(positive, negative, int(errors.min())))
    style.add_origin(figure, ORIGIN)
    return figure


def draw_search_frames() -> list[Figure]:
    """Draw the search cone by cone: each frame adds one of the cones that prove the bound."""
    positive, negative = load_plane()
    angles = np.linspace(0.0, 360.0, N_ANGLES // 2)
    errors = np.array([count_fewest_errors(positive, negative, angle) for angle in angles])
    leaves = split_cones(positive, negative, int(errors.min()))
    numbers = sorted({round(n) for n in np.linspace(1, len(leaves), min(MAX_FRAMES, len(leaves)))})
    return [_draw_frame(positive, negative, angles, errors, leaves, number) for number in numbers]


def _draw_frame(
    positive: np.ndarray,
    negative: np.ndarray,
    angles: np.ndarray,
    errors: np.ndarray,
    leaves: list[AngleCone],
    number: int,
) -> Figure:
    figure = style.new_figure(style.PAGE, 3.4)
    left, right = style.add_panels(figure, 2, 2)
    _draw_pairs(left, positive, negative, leaves[number - 1])
    left.set_title(f"cone {number} of {len(leaves)}: {len(leaves[number - 1].pairs)} disjoint pairs conflict")
    _draw_search(right, angles, errors, leaves[:number])
    done = leaves[number - 1].last / 3.6
    right.set_title(f"{done:.0f} % of all directions have at least {errors.min()} errors")
    style.add_origin(figure, ORIGIN)
    return figure


def _draw_pairs(axes: Axes, positive: np.ndarray, negative: np.ndarray, cone: AngleCone) -> None:
    for X, marker in ((negative, CLASS_MARKERS[0]), (positive, CLASS_MARKERS[1])):
        axes.plot(*X.T, marker, color=SAMPLE_COLOUR, markersize=3, markerfacecolor="none", linewidth=0)
    for i, j in cone.pairs:
        axes.plot(*np.array([positive[i], negative[j]]).T, color=style.VERMILION, linewidth=0.6)
    for angle in (cone.first, cone.last):
        tip = (1.2 * float(np.cos(np.radians(angle))), 1.2 * float(np.sin(np.radians(angle))))
        axes.annotate("", tip, (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": style.BLUE})
    axes.set(xlabel="sepal width, scaled", ylabel="petal width, scaled")
    axes.set_title(f"{len(cone.pairs)} disjoint pairs conflict between {cone.first:g}° and {cone.last:g}°")
    axes.set_aspect("equal", "datalim")


def _draw_search(axes: Axes, angles: np.ndarray, errors: np.ndarray, leaves: list[AngleCone]) -> None:
    axes.plot(angles, errors, color=SAMPLE_COLOUR, linewidth=1.0, label="fewest errors in a direction")
    for number, cone in enumerate(leaves):
        label = "pairs that conflict in a cone" if number == 0 else None
        height = [len(cone.pairs)] * 2
        axes.plot([cone.first, cone.last], height, color=style.VERMILION, linewidth=2.0, label=label)
        axes.axvline(cone.last, color=style.BLUE, linewidth=0.3)
    axes.set(xlabel="direction, degrees", ylabel="errors", xlim=(0.0, 360.0), ylim=(0.0, None))
    axes.set_title(f"{len(leaves)} cones prove {errors.min()} errors")
    axes.legend(loc="lower right")
