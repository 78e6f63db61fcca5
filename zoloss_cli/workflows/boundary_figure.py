"""Learners fitted on one split of a data set that the user names, without any results, and their regions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.config.learner_spec import parse_learner_name
from zoloss_cli.config.loader import build_experiment
from zoloss_cli.config.messages import ErrorCollector
from zoloss_cli.datasets.dataset import DataSet
from zoloss_cli.datasets.labels import index_labels
from zoloss_cli.datasets.splits import derive_seed
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.fitting import fit
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.split_data import SplitData, load_split
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.registry import GENERATORS, find_registration
from zoloss_cli.reporting.figures.boundary import FittedRegions, draw_regions, predict_classes
from zoloss_cli.reporting.figures.catalog import Drawing, build_command, build_stem, draw_in_style
from zoloss_cli.reporting.figures.refit import SHOWN_SPLIT
from zoloss_cli.reporting.figures.registry import find_figure
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POOL_TRAINING_SAMPLES = 600  # of a generated pool of thousands, as in Li & Lin's experiments


class PlotErrorCollector(ErrorCollector):
    """Mistakes in --dataset, --learners and --positive; there is no file to name a line of."""

    def __init__(self) -> None:
        super().__init__(Path("--dataset"), None)

    def add(self, keys: tuple, message: str) -> None:
        """Add a mistake under the option that it is in."""
        option = {"datasets": "--dataset", "learners": "--learners"}[keys[0]]
        self.lines.append(f"{option} {': '.join([*map(str, keys[1:]), message])}")


def build_boundary_drawing(
    dataset: str, learners: list[str], positive: str | None, label: str | None
) -> Drawing:
    """Return the figure of the regions that learners predict, not yet drawn.

    Parameters
    ----------
    dataset : str
        The name of a data set or generator, or the path of a CSV file, with two features.
    learners : list of str
        The learners' names.
    positive : str or None
        The class against the rest; None for all classes.
    label : str or None
        The label column of a CSV file.

    Returns
    -------
    Drawing
        The figure with its caption and command.
    """
    kind, stem = find_figure("boundary"), Path(dataset).stem
    options = {"dataset": dataset, "learners": ",".join(learners), "positive": positive, "label": label}
    command = build_command("zoloss plot --figure boundary", options)
    title = f"{kind.title} on {stem}"

    def draw() -> Figure:
        return draw_regions(fit_learners(dataset, learners, positive, label))

    caption = f"{title}. Drawn by: {command}"
    return Drawing(kind, title, caption, command, f"{build_stem(kind)}-{stem}", draw_in_style(draw))


def fit_learners(
    dataset: str, learners: list[str], positive: str | None, label: str | None
) -> list[FittedRegions]:
    """Fit each learner on split 0 with 80 % of the samples to train, scaled to [-1, 1].

    Several classes are fitted one against the rest, where the learner is for two. The parameters are those of
    `build_boundary_drawing`.
    """
    cells = _plan_cells(dataset, learners, positive, label)
    split_data = _relabel(load_split(cells[0], SHOWN_SPLIT), positive)
    n_features = split_data.data.X.shape[1]
    if n_features != 2:
        raise DataError(f"--dataset: '{dataset}' has {n_features} features, and a boundary is drawn for two")
    titles = build_column_titles([cell.learner.label for cell in cells])
    return [_fit_cell(cell, split_data, titles[cell.learner.label]) for cell in cells]


def _plan_cells(dataset: str, learners: list[str], positive: str | None, label: str | None) -> list[Cell]:
    entry: dict[str, str | int | None] = {}
    if dataset in GENERATORS:
        size = GENERATORS[dataset].parameter_model.model_fields["size"].default
        if size > 2 * POOL_TRAINING_SAMPLES:
            entry["train"] = POOL_TRAINING_SAMPLES
    else:
        if dataset.lower().endswith(".csv") or Path(dataset).is_file():
            entry["csv"], entry["label"] = dataset, label
        if positive is not None:
            entry["positive"] = positive
    if label is not None and "csv" not in entry:
        raise ConfigError(f"--label is for a CSV file, and '{dataset}' is none")
    for name in learners:
        if learners.count(name) > 1:
            raise ConfigError(f"--learners: '{name}' is listed more than once")
    content = {
        "datasets": {Path(dataset).name: entry},
        "learners": {name: parse_learner_name(name) for name in learners},
        "split": {"repeats": 1},
    }
    return plan(build_experiment(content, "plot", Path(), PlotErrorCollector()))


def _relabel(split_data: SplitData, positive: str | None) -> SplitData:
    """Return a generated pool with one class against the rest, as data from a file have it by their entry."""
    data = split_data.data
    if positive is None or (positive == data.classes[-1] and len(data.classes) == 2):
        return split_data
    y, classes = index_labels([data.classes[i] for i in data.y], positive, f"data set '{data.name}'")
    return split_data._replace(data=DataSet(data.name, data.X, y, classes, data.features))


def _fit_cell(cell: Cell, split_data: SplitData, title: str) -> FittedRegions:
    data, train, test = split_data.data, split_data.train, split_data.test
    X_train, X_test = (split_data.scale(data.X[indices]) for indices in (train, test))
    y_train = data.y[train]
    problems = {index: (y_train == index).astype(int) for index in range(len(data.classes))}
    if len(data.classes) == 2 or find_registration(cell.learner.source).is_multiclass:
        problems = {1: y_train}
    seed = derive_seed(cell.rule.seed, cell.seed_name, SHOWN_SPLIT, cell.learner.name)
    fitted = []
    for index, y in problems.items():
        if np.ptp(y) == 0:
            raise DataError(
                f"--dataset: no training sample of split {SHOWN_SPLIT} tells class '{data.classes[index]}' "
                "from the rest"
            )
        try:
            fitted.append(fit(cell.learner, X_train, y, seed)[0])
        except (ValueError, FloatingPointError) as error:
            raise DataError(f"'{cell.learner.name}' cannot be fitted on {data.name}: {error}") from None
    test_errors = int((predict_classes(fitted, X_test) != data.y[test]).sum())
    if len(data.classes) == 2:
        wrong = find_strict_errors(fitted[0].decision_function(X_train), np.where(y_train == 1, 1.0, -1.0))
    else:
        wrong = predict_classes(fitted, X_train) != y_train
    return FittedRegions(title, split_data, fitted, int(wrong.sum()), test_errors)
