"""Regenerate the samples that something was measured on, and draw them in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.config.data_models import GeneratedData
from zoloss_cli.config.loader import load_config
from zoloss_cli.datasets.dataset import DataSet
from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.retrain import find_cell
from zoloss_cli.experiment.split_data import load_split
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.target import TARGET_GENERATORS, Target, build_target
from zoloss_cli.reporting.run_result import Place, RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLASS_MARKERS = ("x", "+")  # of class 0, on grey, and class 1, on white: as in the thesis
CLASS_COLOURS = ("grey", "white")


@dataclass(frozen=True)
class PlaneSamples:
    """Generated samples with two features and two classes.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 2)
        The samples.
    y : ndarray of shape (n_samples,)
        Their labels, 0 or 1.
    is_right : ndarray of bool of shape (n_samples,)
        Whether the label is that of the target.
    classes : list of str
        Names of the classes.
    target : Target
        The rule behind the labels.
    """

    X: np.ndarray
    y: np.ndarray
    is_right: np.ndarray
    classes: list[str]
    target: Target


def can_generate(run: RunResult, dataset: str) -> bool:
    """Return whether all samples of a data set were measured and its target can be drawn."""
    return run.get_generator(dataset) in TARGET_GENERATORS and run.trains_on_all(dataset)


def generate_samples(run: RunResult, place: Place, draw: int, count: int) -> PlaneSamples:
    """Return the samples of a draw, as many as were measured."""
    cell = find_cell(run.manifest, *place)
    split = load_split(cell, draw)
    data, indices = split.data, split.fit_indices
    if len(indices) != count or not isinstance(cell.data, GeneratedData):
        raise ResultsError(
            f"{place[1]} on {place[0]} was measured of {count} samples where draw {draw} has {len(indices)}: "
            f"the results of '{run.name}' were changed; run: {run.manifest.command(fresh=True)}"
        )
    return _build_samples(data, indices, cell.data)


def load_first_draw(config: Path, dataset: str) -> PlaneSamples:
    """Return the samples in the first draw of a config's data set; no results are needed."""
    cell = next(cell for cell in plan(load_config(config)) if cell.data.name == dataset)
    split = load_split(cell, 0)
    if not isinstance(cell.data, GeneratedData):
        raise ConfigError(f"{config}: '{dataset}' is not generated, and has no target to draw")
    return _build_samples(split.data, split.fit_indices, cell.data)


def _build_samples(data: DataSet, indices: np.ndarray, spec: GeneratedData) -> PlaneSamples:
    y = data.y[indices]
    return PlaneSamples(data.X[indices], y, y == data.truth[indices], data.classes, build_target(spec))


def draw_by_class(
    axes: Axes, samples: PlaneSamples, indices: np.ndarray | None = None, size: float = 4.0
) -> None:
    """Draw these samples, or all, with a marker for each class."""
    indices = np.arange(len(samples.y)) if indices is None else indices
    for index, (marker, colour) in enumerate(zip(CLASS_MARKERS, CLASS_COLOURS, strict=True)):
        X = samples.X[indices[samples.y[indices] == index]]
        axes.plot(
            *X.T,
            linestyle="none",
            marker=marker,
            color=style.BLACK,
            markersize=size,
            markeredgewidth=0.8,
            label=f"class {samples.classes[index]} ({colour})",
        )
