"""The targets that examples in the plane are labelled by: white and grey areas, and how far the boundary is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.config.models import DataSpec

KNOWN = ("disks", "yinyang")  # generators
GREY, OUTLINE = "#DCDCDC", "#8C8C8C"
FAR = 10.0  # where the outline of a half-plane closes: nothing is near it
SEEN, MEASURED = 64, 2048  # corners of a circle where it is painted, and where distances are taken
CHUNK = 64  # examples whose distances are found at once


@dataclass(frozen=True)
class Target:
    """A generator's rule as areas; zoloss_cli/datasets/generators.py has the same as a function of a pool."""

    generator: str
    eye: float = 0.0  # of the Yin-Yang
    width: float = 1.05  # of what is shown to each side of the origin

    def areas(self, corners: int) -> list[tuple[np.ndarray, int]]:
        """(outline, class) of each; a later one lies on the earlier ones, and all else is class 1, white."""
        if self.generator == "disks":
            return [(_arc(0.0, 2.0 / 3.0, corners), 0), (_arc(0.0, 1.0 / 3.0, corners), 1)]
        lower = _arc(-0.5, 0.5, corners // 2, np.pi, 2.0 * np.pi)
        upper = _arc(0.5, 0.5, corners // 2, np.pi, 0.0)
        yin = np.vstack([[-FAR, 0.0], lower, upper, [FAR, 0.0], [FAR, -FAR], [-FAR, -FAR]])
        return [(yin, 0), (_arc(-0.5, self.eye, corners), 0), (_arc(0.5, self.eye, corners), 1)]

    def distances(self, X: np.ndarray) -> np.ndarray:
        """How far each point is from the nearest outline, beyond which the class is another.

        Circles are taken as polygons of so many corners that this is right to six digits after the point.
        """
        outlines = [outline for outline, _ in self.areas(MEASURED)]
        starts = np.vstack(outlines)
        sides = np.vstack([np.roll(outline, -1, axis=0) - outline for outline in outlines])
        starts, sides = starts[np.any(sides != 0.0, axis=1)], sides[np.any(sides != 0.0, axis=1)]
        squares = np.sum(sides**2, axis=1)
        found = []
        for part in np.array_split(X, max(1, len(X) // CHUNK)):
            ahead = part[:, None, :] - starts[None, :, :]
            along = np.clip(np.sum(ahead * sides, axis=2) / squares, 0.0, 1.0)
            found.append(np.min(np.linalg.norm(ahead - along[..., None] * sides, axis=2), axis=1))
        return np.concatenate(found)


def target_of(spec: DataSpec) -> Target:
    """The target behind the data of a config, whose generator must be one of those known here."""
    if spec.generator == "disks":
        return Target("disks")
    return Target("yinyang", dict(spec.settings)["eye"], 1.15)


def paint(axes, target: Target) -> None:
    """The target behind what is drawn on these axes, which become a plain square frame."""
    from matplotlib.patches import Circle

    for outline, side in target.areas(SEEN):
        axes.fill(*outline.T, facecolor=GREY if side == 0 else "white", edgecolor="none", zorder=0.5)
    axes.add_patch(Circle((0.0, 0.0), 1.0, facecolor="none", edgecolor=OUTLINE, linewidth=0.5, zorder=0.6))
    axes.grid(visible=False)
    side = (-target.width, target.width)
    axes.set(xlim=side, ylim=side, xticks=[], yticks=[], aspect="equal")
    for spine in axes.spines.values():
        spine.set(visible=True, color=OUTLINE)


def _arc(x: float, radius: float, corners: int, start: float = 0.0, end: float = 2.0 * np.pi) -> np.ndarray:
    """Points of a circle around (x, 0), of which the last closes it if it is a whole one."""
    angles = np.linspace(start, end, corners + 1)
    return np.column_stack([x + radius * np.cos(angles), radius * np.sin(angles)])
