"""The targets that label samples in the plane: white and grey areas, and distances to the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.config.data_models import GeneratedData
from zoloss_cli.datasets.geometry import DISK_RADII, LOBE_RADIUS, PLATE_RADIUS, YINYANG_RADIUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TARGET_GENERATORS = ("disks", "yinyang")
GREY, OUTLINE = "#DCDCDC", "#8C8C8C"
HORIZON = 10.0  # where the outline of a half-plane closes, far from everything
DRAWN_CORNERS, EXACT_CORNERS = 64, 2048  # of a circle for drawing, and for distances
SAMPLES_PER_BLOCK = 64  # whose distances are computed at once
MARGIN = 0.05  # around the samples


@dataclass(frozen=True)
class Target:
    """A generator's rule as areas; zoloss_cli/datasets/generators.py has it as a function of samples.

    Attributes
    ----------
    generator : {'disks', 'yinyang'}
        The generator.
    eye : float
        Radius of the eyes of the Yin-Yang.
    """

    generator: str
    eye: float = 0.0

    @property
    def width(self) -> float:
        """Return how much is shown on each side of the origin."""
        return MARGIN + (DISK_RADII[-1] if self.generator == "disks" else YINYANG_RADIUS)

    def build_areas(self, corners: int) -> list[tuple[np.ndarray, int]]:
        """Return outline and class of each area; later ones cover earlier ones, the rest is class 1, white."""
        if self.generator == "disks":
            inner, middle, _ = DISK_RADII
            return [(_build_arc(0.0, middle, corners), 0), (_build_arc(0.0, inner, corners), 1)]
        lobe = LOBE_RADIUS
        lower = _build_arc(-lobe, lobe, corners // 2, np.pi, 2.0 * np.pi)
        upper = _build_arc(lobe, lobe, corners // 2, np.pi, 0.0)
        far = HORIZON
        yin = np.vstack([[-far, 0.0], lower, upper, [far, 0.0], [far, -far], [-far, -far]])
        return [(yin, 0), (_build_arc(-lobe, self.eye, corners), 0), (_build_arc(lobe, self.eye, corners), 1)]

    def compute_distances(self, X: np.ndarray) -> np.ndarray:
        """Return the distance of each sample to the nearest outline, beyond which the class changes.

        Circles are approximated by polygons with enough corners for six correct decimals.
        """
        outlines = [outline for outline, _ in self.build_areas(EXACT_CORNERS)]
        starts = np.vstack(outlines)
        sides = np.vstack([np.roll(outline, -1, axis=0) - outline for outline in outlines])
        starts, sides = starts[np.any(sides != 0.0, axis=1)], sides[np.any(sides != 0.0, axis=1)]
        squares = np.sum(sides**2, axis=1)
        found = []
        for block in np.array_split(X, max(1, len(X) // SAMPLES_PER_BLOCK)):
            x, y = (block[:, [i]] - starts[:, i] for i in (0, 1))
            along = np.clip((x * sides[:, 0] + y * sides[:, 1]) / squares, 0.0, 1.0)
            nearest = np.min((x - along * sides[:, 0]) ** 2 + (y - along * sides[:, 1]) ** 2, axis=1)
            found.append(np.sqrt(nearest))
        return np.concatenate(found)


def build_target(data: GeneratedData) -> Target:
    """Return the target of a config's data, whose generator must be in TARGET_GENERATORS."""
    return Target(data.generator, dict(data.settings).get("eye", 0.0))


def draw_target(axes: Axes, target: Target) -> None:
    """Draw the target behind the contents of these axes, which become a plain square frame."""
    from matplotlib.patches import Circle, Polygon

    # Unlike add_patch, add_artist does not compute limits, which is slow; they are set below.
    for outline, side in target.build_areas(DRAWN_CORNERS):
        colour = GREY if side == 0 else "white"
        axes.add_artist(Polygon(outline, facecolor=colour, edgecolor="none", zorder=0.5))
    edge = {"facecolor": "none", "edgecolor": OUTLINE, "linewidth": 0.5, "zorder": 0.6}
    axes.add_artist(Circle((0.0, 0.0), PLATE_RADIUS, **edge))
    axes.grid(visible=False)
    limits = (-target.width, target.width)
    axes.set(xlim=limits, ylim=limits, xticks=[], yticks=[], aspect="equal")
    for spine in axes.spines.values():
        spine.set(visible=True, color=OUTLINE)


def _build_arc(
    x: float, radius: float, corners: int, start: float = 0.0, end: float = 2.0 * np.pi
) -> np.ndarray:
    """Return corners of a circle around (x, 0); the last one closes it if it is whole."""
    angles = np.linspace(start, end, corners + 1)
    return np.column_stack([x + radius * np.cos(angles), radius * np.sin(angles)])
