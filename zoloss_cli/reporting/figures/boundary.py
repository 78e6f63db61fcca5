"""What learners have learned in the plane: training points, and which region gets which class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zoloss_cli.config.catalog import find_embedded_entry
from zoloss_cli.config.models import DataSpec, EmbeddedData
from zoloss_cli.datasets.dataset import load_data
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.retrain import trained_again
from zoloss_cli.experiment.split_data import Part
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.lines import show_points
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles
from zoloss_cli.results.manifest import read_experiment

GRID = 300  # points along each side
COLUMNS = 3
# Behind the points, so much lighter than a line. In grey the first two differ; of more the outlines tell.
TINTS = (
    style.BLUE,
    style.YELLOW,
    style.VERMILLION,
    style.SKY,
    style.GREEN,
    style.ORANGE,
    style.PURPLE,
)
TINT = 0.28


@dataclass(frozen=True)
class Learned:
    """Learners on one data set: one for all its classes, or one for each class against the rest."""

    title: str
    part: Part
    learners: list
    train_errors: int
    test_errors: int

    def classes_at(self, X: np.ndarray) -> np.ndarray:
        """The class of each point, which is given as the data are."""
        return predicted(self.learners, self.part.scaled(X))

    @property
    def heading(self) -> str:
        counts = [
            ("training", self.train_errors, len(self.part.train)),
            ("test", self.test_errors, len(self.part.test)),
        ]
        return "\n".join(
            [
                style.shortened(self.title),
                *(f"{name} error {100.0 * k / n:.1f} %" for name, k, n in counts if n),
            ]
        )


def predicted(learners: list, X: np.ndarray) -> np.ndarray:
    """Class indices as one learner predicts them, or by the largest score of several."""
    if len(learners) == 1:
        return learners[0].predict(X)
    return np.argmax([learner.decision_function(X) for learner in learners], axis=0)


def in_a_plane(run: RunResult) -> bool:
    return bool(_flat(run))


def of_run(run: RunResult):
    """All learners of a run on its data sets of two features, trained again on split 0."""
    titles = column_titles(run.learners)
    shown = []
    for dataset, learner in _flat(run):
        trained, row = trained_again(run, dataset, learner)
        title = f"{titles[learner]} on {dataset}"
        shown.append(Learned(title, trained.part, [trained.learner], row["train"], row.get("test", 0)))
    return regions(shown)


def _flat(run: RunResult) -> list[tuple[str, str]]:
    """(data set, learner) of the run's cells with data of two features from which something was learned."""
    specs = {spec.name: spec for spec in read_experiment(run.manifest).datasets}
    flat = [d for d in run.datasets if _features(specs[d]) == 2]
    return [(d, x) for d in flat for x in run.learners if (d, x) in run.cells and (d, x) not in run.facts]


def _features(spec: DataSpec) -> int:
    if isinstance(spec, EmbeddedData):
        return find_embedded_entry(spec.dataset).features
    try:
        return load_data(spec).X.shape[1]
    except DataError:  # a file that is no longer there
        return 0


def regions(shown: list[Learned]):
    """A panel for each, with its errors."""
    columns = min(COLUMNS, len(shown))
    rows = math.ceil(len(shown) / columns)
    width = style.COLUMN if columns == 1 else style.PAGE
    figure = style.new_figure(width, rows * (0.95 * width / columns + 0.25) + 0.35)
    axes = style.panels(figure, len(shown), columns)
    for panel, learned in zip(axes, shown, strict=True):
        panel.grid(visible=False)
        box = show_points(panel, learned.part)
        _fill(panel, learned, box)
        panel.set_title(learned.heading)
    style.legend_below(figure, axes, 2 if columns == 1 else 4)
    return figure


def _fill(axes, learned: Learned, box: np.ndarray) -> None:
    from matplotlib.colors import ListedColormap

    x, y = (np.linspace(*side, GRID) for side in box.T)
    points = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    classes = learned.classes_at(points).reshape(GRID, GRID)
    count = len(learned.part.data.classes)
    tints = ListedColormap([TINTS[i % len(TINTS)] for i in range(count)])
    extent = (*box[:, 0], *box[:, 1])
    axes.imshow(
        classes, cmap=tints, vmin=-0.5, vmax=count - 0.5, alpha=TINT, extent=extent, origin="lower",
        aspect="auto", interpolation="nearest", zorder=0,
    )  # fmt: skip
    for index in range(count if count > 2 else 1):
        inside = (classes == index).astype(float)
        if 0.0 < inside.mean() < 1.0:
            axes.contour(x, y, inside, levels=[0.5], colors="black", linewidths=0.8)
