"""Fit learners on one split of a data set that the user names, without results, and draw their regions."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.config.learners import parse_learner_name
from zoloss_cli.config.loader import build_experiment
from zoloss_cli.config.messages import ErrorCollector
from zoloss_cli.data.columns import ALL_COLUMNS, ColumnSelection, index_labels
from zoloss_cli.data.dataset import DataSet
from zoloss_cli.data.splits import derive_seed
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.fitting import SplitData, fit, load_split
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.figures.boundary import FittedRegions, draw_regions, predict_classes
from zoloss_cli.figures.catalog import Drawing, build_command, build_stem, draw_in_style
from zoloss_cli.figures.nguyen_sanner import SHOWN_SPLIT
from zoloss_cli.figures.registry import find_figure
from zoloss_cli.figures.style import add_origin
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.registry import GENERATORS, find_registration
from zoloss_cli.report.cells import build_column_titles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_CANDIDATES = 30  # features whose pairs are all tried
POOL_TRAINING_SAMPLES = 600  # from a generated pool of thousands, as in Li & Lin's experiments


class PlotErrorCollector(ErrorCollector):
    """Collect mistakes in --dataset, --learners and --positive, which have no file and line."""

    def __init__(self) -> None:
        super().__init__(Path("--dataset"), None)

    def add(self, keys: tuple, message: str) -> None:
        """Add a mistake under its option."""
        option = {"datasets": "--dataset", "learners": "--learners"}[keys[0]]
        self.lines.append(f"{option} {': '.join([*map(str, keys[1:]), message])}")


def build_boundary_drawing(
    dataset: str,
    learners: list[str],
    positive: str | None,
    label: str | None,
    selection: ColumnSelection = ALL_COLUMNS,
) -> Drawing:
    """Return the figure of the regions that learners predict, not drawn yet.

    Parameters
    ----------
    dataset : str
        The name of a data set or generator, or the path of a CSV file. If it has more than two features, two
        are chosen.
    learners : list of str
        The learners' names.
    positive : str or None
        The class against the rest; None for all classes.
    label : str or None
        The label column of a CSV file.
    selection : ColumnSelection
        The columns of a CSV file to use as features.

    Returns
    -------
    Drawing
        The figure with its caption and command.
    """
    kind, stem = find_figure("boundary"), Path(dataset).stem
    options = {"dataset": dataset, "learners": ",".join(learners), "positive": positive, "label": label}
    columns = {"drop": ",".join(selection.drop), "features": ",".join(selection.features), "id": selection.id}
    command = build_command("zoloss plot --figure boundary", options | columns)
    title = f"{kind.title} on {stem}"

    def draw(names: list[str]) -> Figure:
        fitted = fit_learners(dataset, names, positive, label, selection)
        figure = draw_regions(fitted)
        add_origin(figure, describe_samples(fitted[0].split_data, stem))
        return figure

    size = kind.learners_per_page
    parts = [learners[i : i + size] for i in range(0, len(learners), size)]
    first, *later = [draw_in_style(partial(draw, part)) for part in parts]
    caption = f"{title}. Drawn by: {command}"
    name = f"{build_stem(kind)}-{stem}"
    return Drawing(kind, title, caption, command, name, first, later_pages=tuple(later))


def describe_samples(split_data: SplitData, name: str) -> str:
    """Return which samples a boundary shows, and which of their features."""
    counts = f"{len(split_data.train)} training samples of split {SHOWN_SPLIT}"
    return "; ".join([f"{name}: {counts}", *split_data.data.notes[-1:]])


def fit_learners(
    dataset: str,
    learners: list[str],
    positive: str | None,
    label: str | None,
    selection: ColumnSelection = ALL_COLUMNS,
) -> list[FittedRegions]:
    """Fit each learner on split 0 with 80 % of the samples for training, scaled to [-1, 1].

    If the data have more than two features, two are kept, by `keep_two_features`. If a learner is for two
    classes, several classes are fitted one against the rest. The parameters are those of
    `build_boundary_drawing`.
    """
    cells = _plan_cells(dataset, learners, positive, label, selection)
    split_data = _relabel(load_split(cells[0], SHOWN_SPLIT), positive)
    n_features = split_data.data.X.shape[1]
    if n_features < 2:
        raise DataError(f"--dataset: '{dataset}' has {n_features} feature, and a boundary is drawn for two")
    split_data = keep_two_features(split_data)
    titles = build_column_titles([cell.learner.label for cell in cells])
    return [_fit_cell(cell, split_data, titles[cell.learner.label]) for cell in cells]


def keep_two_features(split_data: SplitData) -> SplitData:
    """Return the data with the two features that `choose_two_features` finds, and a note that names them."""
    data, train = split_data.data, split_data.train
    if data.X.shape[1] == 2:
        return split_data._replace(data=replace(data, notes=[]))
    pair = choose_two_features(split_data.scale(data.X[train]), data.y[train])
    names = [data.features[i] for i in pair]
    note = (
        f"fitted on {names[0]} and {names[1]}, of {data.X.shape[1]} features the two by which least squares "
        "makes the fewest training errors"
    )
    samples = split_data.scaling_samples
    return split_data._replace(
        data=DataSet(data.name, data.X[:, pair], data.y, data.classes, names, [note]),
        scaling_samples=None if samples is None else samples[:, pair],
    )


def choose_two_features(X: np.ndarray, y: np.ndarray) -> list[int]:
    """Return the two features with which least squares on class indicators makes the fewest errors.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Scaled samples.
    y : ndarray of int of shape (n_samples,)
        Indices of their classes.

    Returns
    -------
    list of int
        The two, in order; the first of equally good pairs. With more than `MAX_CANDIDATES` features, only
        those most related to the classes are tried.
    """
    classes = np.unique(y)
    targets = (y[:, None] == classes[None, :]).astype(float)
    strength = np.abs((X - X.mean(axis=0)).T @ (targets - targets.mean(axis=0))).max(axis=1)
    strength /= np.maximum(X.std(axis=0), np.finfo(float).tiny)
    candidates = sorted(np.argsort(-strength, kind="stable")[:MAX_CANDIDATES].tolist())
    best: tuple[int, list[int]] | None = None
    for pair in itertools.combinations(candidates, 2):
        A = np.column_stack([np.ones(len(X)), X[:, pair]])
        found = A @ np.linalg.lstsq(A, targets, rcond=None)[0]
        errors = int((classes[found.argmax(axis=1)] != y).sum())
        if best is None or errors < best[0]:
            best = errors, list(pair)
    assert best is not None
    return best[1]


def _plan_cells(
    dataset: str, learners: list[str], positive: str | None, label: str | None, selection: ColumnSelection
) -> list[Cell]:
    entry: dict[str, Any] = {}
    if dataset in GENERATORS:
        size = GENERATORS[dataset].parameter_model.model_fields["size"].default
        if size > 2 * POOL_TRAINING_SAMPLES:
            entry["train"] = POOL_TRAINING_SAMPLES
    else:
        if dataset.lower().endswith(".csv") or Path(dataset).is_file():
            entry |= {"csv": dataset, "label": label, **selection.to_keys()}
        if positive is not None:
            entry["positive"] = positive
    for option, value in {"label": label, **selection.to_keys()}.items():
        if value is not None and "csv" not in entry:
            raise ConfigError(f"--{option} is for a CSV file, and '{dataset}' is not one")
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
    """Return a generated pool with one class against the rest, as data from files have it in their entry."""
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
