"""What learners predict in the plane: training samples, and the class predicted in each region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.config.models import DataSpec, EmbeddedData
from zoloss_cli.data.dataset import find_entry, load_data
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.fitting import SplitData
from zoloss_cli.figures import style
from zoloss_cli.figures.figure_kinds import register_figure
from zoloss_cli.figures.nguyen_sanner import compute_box, draw_class, draw_training_samples, refit
from zoloss_cli.report.runs import Place, RunResult, build_column_titles
from zoloss_cli.results.record import FitRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRID_SIZE = 300  # points along each side
COLUMNS = 3
# Behind the samples, and therefore much lighter than a line. The first two differ in greyscale; more than two
# classes have outlines.
TINTS = (style.BLUE, style.YELLOW, style.VERMILION, style.SKY, style.GREEN, style.ORANGE, style.PURPLE)
TINT_OPACITY = 0.28


@dataclass(frozen=True)
class FittedRegions:
    """Learners fitted on one data set."""

    title: str
    split_data: SplitData
    learners: list[Any]  # one learner for all classes, or one for each class against the rest
    train_errors: int
    test_errors: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class indices of unscaled samples."""
        return predict_classes(self.learners, self.split_data.scale(X))

    @property
    def heading(self) -> str:
        """Return the title with the error rates below it."""
        counts = [
            ("training", self.train_errors, len(self.split_data.train)),
            ("test", self.test_errors, len(self.split_data.test)),
        ]
        rates = [f"{name} error {100.0 * errors / n:.1f} %" for name, errors, n in counts if n]
        return "\n".join([style.shorten(self.title), *rates])


def predict_classes(learners: list[Any], X: np.ndarray) -> np.ndarray:
    """Return class indices as predicted by one learner, or by the largest score of several."""
    if len(learners) == 1:
        return learners[0].predict(X)
    return np.argmax([learner.decision_function(X) for learner in learners], axis=0)


def _find_planar_cells(run: RunResult) -> list[Place]:
    """Return the run's cells with a fitted learner on data with two features."""
    planar = [data.name for data in run.experiment.datasets if _count_features(data) == 2]
    places = [(dataset, learner) for dataset in planar for learner in run.learners]
    return [place for place in places if place in run.cells and _is_fitted(run, place)]


@register_figure(
    "boundary",
    "Regions learned",
    _find_planar_cells,
    requirement="data of two features",
    datasets_per_page=1,
    learners_per_page=6,
    is_quick=False,
)
def draw_run(run: RunResult) -> Figure:
    """Draw all learners of a run on its data sets with two features, refitted on split 0."""
    titles = build_column_titles(run.learners)
    shown = []
    for dataset, learner in _find_planar_cells(run):
        fitted, record = refit(run, dataset, learner)
        title = f"{titles[learner]} on {dataset}"
        errors = record.train_errors, record.test_errors or 0
        shown.append(FittedRegions(title, fitted.split_data, [fitted.learner], *errors))
    return draw_regions(shown)


def _is_fitted(run: RunResult, place: Place) -> bool:
    return any(isinstance(record, FitRecord) for record in run.cells[place].records[:1])


def _count_features(data: DataSpec) -> int:
    if isinstance(data, EmbeddedData):
        return find_entry(data.dataset).features
    try:
        return load_data(data).X.shape[1]
    except DataError:  # a file that no longer exists
        return 0


def draw_regions(shown: list[FittedRegions]) -> Figure:
    """Draw one panel each, with its errors."""
    columns = min(COLUMNS, len(shown))
    row = 0.95 * (style.COLUMN if columns == 1 else style.PAGE) / columns + 0.25
    figure, axes, _ = style.new_panels(len(shown), COLUMNS, row, 0.35)
    for panel, fitted in zip(axes, shown, strict=True):
        panel.grid(visible=False)
        box = draw_training_samples(panel, fitted.split_data)
        _fill_regions(panel, fitted.predict(_build_grid(box)), len(fitted.split_data.data.classes), box)
        panel.set_title(fitted.heading)
    add_region_names(axes[0], shown[0].split_data.data.classes)
    style.add_legend_below(figure, axes, 2 if columns == 1 else 4)
    return figure


def add_region_names(axes: Axes, classes: Sequence[str]) -> None:
    """Name the tints of the regions in the legend: the class predicted there."""
    for place, name in enumerate(classes):
        tint: Any = (TINTS[place % len(TINTS)], TINT_OPACITY)
        label = f"predicted {style.shorten(name)}"
        axes.scatter([], [], s=45, marker="s", facecolor=tint, edgecolor="black", linewidth=0.5, label=label)


def draw_predictions_on(axes: Axes, predict: Callable[[Any], Any], X: Any, y: Any) -> None:
    """Draw samples with two features, and the class that a function predicts at each point."""
    values, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    if values.ndim != 2 or values.shape[1] != 2 or labels.shape != values.shape[:1]:
        raise DataError(
            "X must have two features, and y a label for each sample "
            f"(got shapes {values.shape} and {labels.shape})"
        )
    box = compute_box(values)
    grid: Any = _build_grid(box)
    if hasattr(X, "columns"):
        grid = type(X)(grid, columns=X.columns)  # in the form that the classifier saw
    found = np.asarray(predict(grid))
    classes = sorted({*labels.tolist(), *found.tolist()}, key=lambda label: (str(type(label)), label))
    places = {label: place for place, label in enumerate(classes)}
    _fill_regions(axes, np.array([places[label] for label in found.tolist()]), len(classes), box)
    for place, label in enumerate(classes):
        draw_class(axes, values[labels == label], place, str(label))
    add_region_names(axes, [str(label) for label in classes])
    axes.grid(visible=False)
    axes.set(xlim=box[:, 0], ylim=box[:, 1])
    if hasattr(X, "columns"):
        axes.set(xlabel=str(X.columns[0]), ylabel=str(X.columns[1]))


def _build_grid(box: np.ndarray) -> np.ndarray:
    x, y = (np.linspace(low, high, GRID_SIZE) for low, high in box.T)
    return np.column_stack([coordinate.ravel() for coordinate in np.meshgrid(x, y)])


def _fill_regions(axes: Axes, predicted: np.ndarray, count: int, box: np.ndarray) -> None:
    """Fill a box by the class index of each grid point."""
    from matplotlib.colors import ListedColormap

    x, y = (np.linspace(low, high, GRID_SIZE) for low, high in box.T)
    classes = predicted.reshape(GRID_SIZE, GRID_SIZE)
    colours = ListedColormap([TINTS[i % len(TINTS)] for i in range(count)])
    image: dict[str, Any] = {"alpha": TINT_OPACITY, "interpolation": "nearest", "zorder": 0}
    image |= {"extent": (*box[:, 0], *box[:, 1]), "origin": "lower", "aspect": "auto"}
    axes.imshow(classes, cmap=colours, vmin=-0.5, vmax=count - 0.5, **image)
    for index in range(count if count > 2 else 1):
        inside = (classes == index).astype(float)
        if 0.0 < inside.mean() < 1.0:
            axes.contour(x, y, inside, levels=[0.5], colors="black", linewidths=0.8)
