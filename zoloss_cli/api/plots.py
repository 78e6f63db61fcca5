"""Figures of results or of your own data: the functions that plot on axes, and those of `zoloss plot`."""

from __future__ import annotations

import contextlib
import itertools
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tabulate import tabulate

from zoloss_cli.api.tables import RunSource, select_run
from zoloss_cli.config.learners import parse_learner_name
from zoloss_cli.config.loader import build_experiment
from zoloss_cli.config.messages import ErrorCollector
from zoloss_cli.data.columns import ALL_COLUMNS, ColumnSelection, index_labels
from zoloss_cli.data.dataset import DataSet
from zoloss_cli.data.splits import derive_seed
from zoloss_cli.errors import ConfigError, DataError, ResultsError, suggest_nearest
from zoloss_cli.experiment.fitting import SplitData, fit, load_split
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.figures import drawings, style
from zoloss_cli.figures.boundary import FittedRegions, draw_regions, predict_classes
from zoloss_cli.figures.drawings import Drawing, build_stem
from zoloss_cli.figures.figure_kinds import FIGURE_NAMES, FigureKind, find_figure, list_figures, load_figure
from zoloss_cli.figures.files import ANIMATION, render_animation, render_pages
from zoloss_cli.figures.nguyen_sanner import SHOWN_SPLIT
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.registry import GENERATORS, find_registration
from zoloss_cli.report.notes import describe_incomplete
from zoloss_cli.report.runs import DEFAULT_FOLDER, RunResult, build_column_titles, load_runs
from zoloss_cli.utils.imports import import_optional
from zoloss_cli.utils.text import list_options

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    AnyResults = str | PathLike[str] | RunSource | pd.DataFrame

MAX_CANDIDATES = 30  # features whose pairs are all tried
POOL_TRAINING_SAMPLES = 600  # from a generated pool of thousands, as in Li & Lin's experiments


@contextlib.contextmanager
def open_axes(ax: Axes | None, height: float) -> Iterator[Axes]:
    """Yield the given axes unchanged, or those of a new pyplot figure in the style of the package."""
    if ax is not None:
        yield ax
        return
    pyplot = import_optional("matplotlib.pyplot", style.NEEDED_BY)
    with style.apply_style():
        _, axes = pyplot.subplots(figsize=(1.4 * style.COLUMN, height), layout="constrained")
        yield axes


def choose_dataset(run: RunResult, wanted: str | None, found: list[str], what: str) -> str:
    """Return the data set to plot, which must be in `found`; by default, the only one."""
    if not found:
        raise ResultsError(f"'{run.name}' has no {what}")
    if wanted is None and len(found) > 1:
        raise ResultsError(f"'{run.name}' has several data sets; name one: {', '.join(found)}")
    if wanted is not None and wanted not in found:
        reason = f"has no {what} of" if wanted in run.datasets else "has no data set"
        raise ResultsError(f"'{run.name}' {reason} '{wanted}'{suggest_nearest(wanted, found)}")
    return wanted or found[0]


def plot_boxes(
    results: AnyResults,
    dataset: str | None = None,
    *,
    table: str | None = None,
    metric: str | None = None,
    learners: str | Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Plot the values of a metric over splits as boxes, one for each learner.

    Boxes span the quartiles around the median, diamonds are means, and whiskers span at most 1.5 box lengths.

    Parameters
    ----------
    results : str, path-like, RunSource or DataFrame
        A results folder, what `run_experiment` or `evaluate` returned, or rows of `load_results`.
    dataset : str or None, default=None
        The data set; None if there is only one.
    table : str or None, default=None
        The table's number or the run's name, if the results hold several.
    metric : str or None, default=None
        A metric other than the table's own.
    learners : str or sequence of str, default=()
        Only these learners; none for all.
    ax : Axes or None, default=None
        The axes to plot on; None for a new figure.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from zoloss_cli import evaluate, load_dataset, plot_boxes
    >>> result = evaluate(*load_dataset("heart"), ["fld", "majority"], n_splits=4)
    >>> ax = plot_boxes(result)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['FLD', 'majority']
    """
    from zoloss_cli.figures.comparisons import draw_boxes_on, find_boxed_datasets

    run, _ = select_run(results, table, metric=metric, learners=learners)
    chosen = choose_dataset(run, dataset, find_boxed_datasets(run), "values of several splits")
    with open_axes(ax, 0.3 * len(run.learners) + 1.0) as axes:
        draw_boxes_on(axes, run, chosen)
    return axes


def plot_differences(
    results: AnyResults,
    dataset: str | None = None,
    *,
    against: str | None = None,
    table: str | None = None,
    metric: str | None = None,
    learners: str | Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Plot how each learner differs from one of them, split by split, with the interval of the mean.

    Lines are 95 % intervals, corrected for overlapping splits (Nadeau and Bengio 2003), and coloured if they
    exclude zero; pale bars span the quartiles of the differences.

    Parameters
    ----------
    results : str, path-like, RunSource or DataFrame
        As in `plot_boxes`.
    dataset : str or None, default=None
        The data set; None if there is only one.
    against : str or None, default=None
        The learner to compare the others with; None for the one with the best mean.
    table : str or None, default=None
        The table's number or the run's name, if the results hold several.
    metric : str or None, default=None
        A metric other than the table's own.
    learners : str or sequence of str, default=()
        Only these learners; none for all.
    ax : Axes or None, default=None
        The axes to plot on; None for a new figure.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from zoloss_cli import evaluate, load_dataset, plot_differences
    >>> result = evaluate(*load_dataset("heart"), ["fld", "majority"], n_splits=4)
    >>> ax = plot_differences(result, against="majority")
    >>> ax.get_title()
    'data, minus majority'
    """
    from zoloss_cli.figures.comparisons import draw_differences_on, find_paired_datasets
    from zoloss_cli.report.statistics import check_comparable

    run, _ = select_run(results, table, metric=metric, learners=learners)
    check_comparable(run, against)
    chosen = choose_dataset(run, dataset, find_paired_datasets(run), "splits that two learners share")
    with open_axes(ax, 0.3 * len(run.learners) + 1.0) as axes:
        draw_differences_on(axes, run, chosen, against)
    return axes


def plot_ranks(
    results: AnyResults,
    *,
    table: str | None = None,
    metric: str | None = None,
    learners: str | Sequence[str] = (),
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Plot average ranks over data sets, and which learners Nemenyi's test does not distinguish.

    This is the diagram of Demšar (2006). Rows with the same data count as one data set.

    Parameters
    ----------
    results : str, path-like, RunSource or DataFrame
        As in `plot_boxes`, with at least three learners on at least two distinct data sets.
    table : str or None, default=None
        The table's number or the run's name, if the results hold several.
    metric : str or None, default=None
        A metric other than the table's own.
    learners : str or sequence of str, default=()
        Only these learners; none for all.
    alpha : float, default=0.05
        Significance level.
    ax : Axes or None, default=None
        The axes to plot on; None for a new figure. Names are written next to it.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> import pandas as pd
    >>> from zoloss_cli import plot_ranks
    >>> means = {"fld": [9, 8, 7], "pocket": [5, 6, 5], "svm": [7, 5, 6]}
    >>> rows = [(f"set {i}", x, error) for x, errors in means.items() for i, error in enumerate(errors)]
    >>> ax = plot_ranks(pd.DataFrame(rows, columns=["dataset", "learner", "test_error"]))
    >>> sorted(text.get_text() for text in ax.texts)[:2]
    ['FLD  3.00', 'SVM  1.67']
    """
    from zoloss_cli.figures.comparisons import count_rows, describe_tests, draw_ranks_on
    from zoloss_cli.report.statistics import compute_average_ranks

    run, _ = select_run(results, table, metric=metric, learners=learners)
    ranks = compute_average_ranks(run, alpha)
    with open_axes(ax, 0.22 * count_rows(ranks) + 1.3) as axes:
        draw_ranks_on(axes, ranks)
        axes.set_title(describe_tests(ranks))
    return axes


def plot_curves(
    results: AnyResults,
    dataset: str | None = None,
    *,
    part: str = "test",
    table: str | None = None,
    learners: str | Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Plot learning curves: errors by epoch, for learners that recorded them.

    Bands are one standard error wide on either side. Records hold epochs if the config sets `record_every`.

    Parameters
    ----------
    results : str, path-like or RunSource
        A results folder, or what `run_experiment` returned.
    dataset : str or None, default=None
        The data set; None if there is only one.
    part : {'train', 'test', 'cost'}, default='test'
        Errors on training or test samples, or the cost of boosting.
    table : str or None, default=None
        The table's number or the run's name, if the results hold several.
    learners : str or sequence of str, default=()
        Only these learners; none for all.
    ax : Axes or None, default=None
        The axes to plot on; None for a new figure.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from zoloss_cli import plot_curves, run_experiment
    >>> config = {"datasets": ["heart"], "split": {"repeats": 2},
    ...           "learners": {"pocket": {"epochs": 20, "record_every": 5}}}
    >>> with TemporaryDirectory() as folder:
    ...     ax = plot_curves(run_experiment(config, out=folder))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('epochs', 'test error (%)')
    """
    from zoloss_cli.figures.curves import AXIS_LABELS, draw_curves_on, find_curves

    names = {"train": "train_error", "test": "test_error", "cost": "cost"}
    if part not in names:
        raise ConfigError(f"part: there are no curves of '{part}'{suggest_nearest(part, names)}")
    run, _ = select_run(results, table, learners=learners)
    recorded = [d for d in run.datasets if find_curves(run, d, names[part])]
    what = f"recorded epochs with a {AXIS_LABELS[names[part]]}; set record_every in the config"
    chosen = choose_dataset(run, dataset, recorded, what)
    with open_axes(ax, 2.6) as axes:
        draw_curves_on(axes, run, chosen, names[part])
        axes.legend()
    return axes


def plot_time(
    results: AnyResults,
    dataset: str | None = None,
    *,
    table: str | None = None,
    learners: str | Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Plot the training errors that each learner reached against seconds.

    For searches that ran once on all samples, steps are the fewest errors so far; markers show when the result
    was found, and lines continue to the end of the fit.

    Parameters
    ----------
    results : str, path-like or RunSource
        A results folder, or what `run_experiment` returned.
    dataset : str or None, default=None
        The data set; None if there is only one.
    table : str or None, default=None
        The table's number or the run's name, if the results hold several.
    learners : str or sequence of str, default=()
        Only these learners; none for all.
    ax : Axes or None, default=None
        The axes to plot on; None for a new figure.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from zoloss_cli import evaluate, load_dataset, plot_time
    >>> result = evaluate(*load_dataset("heart"), ["fld", "majority"], n_splits=2)
    >>> ax = plot_time(result)
    >>> ax.get_xscale(), ax.get_ylabel()
    ('log', 'training errors')
    """
    from zoloss_cli.figures.curves import draw_searches_on

    run, _ = select_run(results, table, learners=learners)
    timed = list(dict.fromkeys(d for (d, _), cell in run.cells.items() if "fit_time" in cell))
    chosen = choose_dataset(run, dataset, timed, "times of fitting")
    with open_axes(ax, 2.6) as axes:
        draw_searches_on(axes, run, chosen)
        axes.set(xlabel="seconds", ylabel="training errors")
        axes.legend()
    return axes


def plot_boundary(estimator: Any, X: pd.DataFrame | ArrayLike, y: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Plot samples with two features, and the class that a fitted classifier predicts in each region.

    Any classifier with scikit-learn's interface works, including a pipeline with scaling and a model from
    `load_model`.

    Parameters
    ----------
    estimator : classifier
        A classifier fitted to two features.
    X : DataFrame or array-like of shape (n_samples, 2)
        The samples to show.
    y : array-like of shape (n_samples,)
        Their labels.
    ax : Axes or None, default=None
        The axes to plot on; None for a new figure.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from zoloss_cli import PocketClassifier, load_dataset, plot_boundary
    >>> X, y = load_dataset("yinyang", size=200)
    >>> ax = plot_boundary(PocketClassifier(random_state=0).fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1', 'predicted 0', 'predicted 1']
    """
    from zoloss_cli.figures.boundary import draw_predictions_on

    with open_axes(ax, 3.0) as axes:
        draw_predictions_on(axes, estimator.predict, X, y)
        axes.legend()
    return axes


@dataclass(frozen=True)
class PlotRequest:
    """A figure as described by the options of `zoloss plot`."""

    figure: str  # a word, PAPER/NUMBER, or the number alone if only one paper has it
    results: Path
    table: str | None  # the table's number or the run's name
    datasets: list[str]  # none for all; for a boundary also one generator or CSV file
    learners: list[str]  # none for all
    positive: str | None  # the positive class and the label column of your own data
    label: str | None
    metric: str | None = None  # other than the one that the table shows
    against: str | None = None  # the learner to compare the others with
    selection: ColumnSelection = ALL_COLUMNS  # of your own CSV file

    @property
    def is_of_own_data(self) -> bool:
        """Whether to fit learners on a data set that the options name, without results."""
        return self.figure == "boundary" and bool(self.datasets) and self.table is None

    @property
    def inputs(self) -> list[Path]:
        """The user's files to read; a file's name may have commas."""
        return [Path(",".join(self.datasets))] if self.is_of_own_data else []

    @property
    def is_animated(self) -> bool:
        """Whether the figure has frames, and so can be a GIF."""
        kind = self._find_without_results()
        return kind is not None and kind.frames is not None

    def validate(self) -> None:
        """Reject contradictory options."""
        if self.figure in FIGURE_NAMES:
            load_figure(self.figure).check_options(metric=self.metric, against=self.against)
        if self.is_of_own_data:
            if not self.learners:
                raise ConfigError("--learners: name those to fit on --dataset, such as rcd-bias,adaboost")
            return
        own_options = {"positive": self.positive, "label": self.label} | self.selection.to_keys()
        if given := [f"--{option}" for option, value in own_options.items() if value is not None]:
            raise ConfigError(
                f"{' and '.join(given)}: only for --figure boundary with --dataset and without --table"
            )
        if self._find_without_results() and (self.table is not None or self.datasets or self.learners):
            raise ConfigError(
                f"figure '{self.figure}' uses no results: leave out --table, --dataset and --learners"
            )

    def choose_drawing(self) -> tuple[Drawing, list[str]]:
        """Return the figure, not drawn yet, and notes on the results that it shows."""
        if self.is_of_own_data:
            data = ",".join(self.datasets)
            return build_boundary_drawing(data, self.learners, self.positive, self.label, self.selection), []
        if kind := self._find_without_results():
            return drawings.build_drawing_without_results(kind), []
        try:
            runs, store = load_runs(self.results, self.table)
        except ResultsError:
            find_figure(self.figure)  # report an unknown figure first
            raise
        kind = drawings.find_kind(self.figure, runs)
        drawing = drawings.choose_drawing(
            kind, runs, self.results, self.table, self.datasets, self.learners, self.metric, self.against
        )
        return drawing, [*store.notes, *describe_incomplete([run for run in runs if run.name == drawing.run])]

    def _find_without_results(self) -> FigureKind | None:
        """Return the figure if it needs no results; the others depend on them."""
        named = [name for name in FIGURE_NAMES if self.figure in (name, name.rpartition("/")[2])]
        kind = load_figure(named[0]) if len(named) == 1 else None
        return kind if kind is not None and not kind.needs_results else None


def render_drawing(drawing: Drawing, format: str) -> list[bytes]:
    """Return a figure as files: its pages, or its animation."""
    if format == ANIMATION:
        with style.apply_style():
            frames = drawing.kind.frames()  # type: ignore[misc]  # is_animated was checked before
        return [render_animation(frames)]
    return render_pages(drawing.draw_pages(), format)


def list_drawings(results: Path | None) -> tuple[str, list[str]]:
    """Return a table of all figures that can be drawn, with their commands, and notes on the results."""
    folder = results or DEFAULT_FOLDER
    runs: list[RunResult] = []
    notes: list[str] = []
    try:
        runs, store = load_runs(folder)
        notes += store.notes
    except ResultsError as error:
        if results is not None:
            raise
        notes.append(f"these need no results; for others, {error}")
    listed = drawings.find_drawings(runs, folder, only_quick=False)
    listed += [
        drawings.build_drawing_without_results(kind) for kind in list_figures() if not kind.needs_results
    ]
    listed.append(build_boundary_drawing("yinyang", ["rcd-bias", "adaboost"], None, None))
    lines = [[drawing.command, drawing.title] for drawing in listed]
    return tabulate(lines, ["command", "figure"], tablefmt="simple"), notes


class _PlotErrorCollector(ErrorCollector):
    """Collect errors in --dataset, --learners and --positive, which have no file and line."""

    def __init__(self) -> None:
        super().__init__(Path("--dataset"), None)

    def add(self, keys: tuple, message: str) -> None:
        """Add an error under its option."""
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

    The data are a data set, a generator or the path of a CSV file. `positive` is the class against the rest.
    """
    kind, stem = find_figure("boundary"), Path(dataset).stem
    options = {"dataset": dataset, "learners": ",".join(learners), "positive": positive, "label": label}
    words = list_options({"figure": "boundary", **options, **selection.to_keys()})
    command = shlex.join(["zoloss", "plot", *words])
    title = f"{kind.title} on {stem}"

    def draw(names: list[str]) -> Figure:
        fitted = fit_learners(dataset, names, positive, label, selection)
        figure = draw_regions(fitted)
        split_data = fitted[0].split_data
        counts = f"{stem}: {len(split_data.train)} training samples of split {SHOWN_SPLIT}"
        style.add_origin(figure, "; ".join([counts, *split_data.data.notes[-1:]]))
        return figure

    size = kind.learners_per_page
    parts = [learners[i : i + size] for i in range(0, len(learners), size)]
    pages = [partial(draw, part) for part in parts]
    name = f"{build_stem(kind)}-{stem}"
    return Drawing(kind, title, f"{title}. Drawn by: {command}", command, name, pages)


def fit_learners(
    dataset: str,
    learners: list[str],
    positive: str | None,
    label: str | None,
    selection: ColumnSelection = ALL_COLUMNS,
) -> list[FittedRegions]:
    """Fit each learner on split 0 with 80 % of the samples for training, scaled to [-1, 1].

    With several classes, binary learners are fitted to each class against the rest.
    """
    cells = _plan_cells(dataset, learners, positive, label, selection)
    split_data = load_split(cells[0], SHOWN_SPLIT)
    data = split_data.data
    if positive is not None and (positive != data.classes[-1] or len(data.classes) > 2):  # of a generated pool
        y, classes = index_labels([data.classes[i] for i in data.y], positive, f"data set '{data.name}'")
        split_data = split_data._replace(data=DataSet(data.name, data.X, y, classes, data.features))
    if data.X.shape[1] < 2:
        raise DataError(f"--dataset: '{dataset}' has 1 feature, and a boundary is drawn for two")
    split_data = _keep_two_features(split_data)
    titles = build_column_titles([cell.learner.label for cell in cells])
    return [_fit_cell(cell, split_data, titles[cell.learner.label]) for cell in cells]


def _keep_two_features(split_data: SplitData) -> SplitData:
    """Return the data with the two features that `choose_two_features` finds, and a note that names them."""
    data, train = split_data.data, split_data.train
    if data.X.shape[1] == 2:
        return split_data._replace(data=replace(data, notes=[]))
    pair = choose_two_features(split_data.scale(data.X[train]), data.y[train])
    names = [data.features[i] for i in pair]
    note = (
        f"fitted on {names[0]} and {names[1]}, those of {data.X.shape[1]} features with which least squares "
        "makes the fewest training errors"
    )
    samples = split_data.scaling_samples
    return split_data._replace(
        data=DataSet(data.name, data.X[:, pair], data.y, data.classes, names, [note]),
        scaling_samples=None if samples is None else samples[:, pair],
    )


def choose_two_features(X: np.ndarray, y: np.ndarray) -> list[int]:
    """Return the two features with which least squares on class indicators makes the fewest errors.

    With more than `MAX_CANDIDATES` features, only those most correlated with the classes are tried.
    """
    classes = np.unique(y)
    targets = (y[:, None] == classes[None, :]).astype(float)
    strength = np.abs((X - X.mean(axis=0)).T @ (targets - targets.mean(axis=0))).max(axis=1)
    strength /= np.maximum(X.std(axis=0), np.finfo(float).tiny)
    candidates = sorted(np.argsort(-strength, kind="stable")[:MAX_CANDIDATES].tolist())

    def count_errors(pair: Iterable[int]) -> int:
        A = np.column_stack([np.ones(len(X)), X[:, list(pair)]])
        found = A @ np.linalg.lstsq(A, targets, rcond=None)[0]
        return int((classes[found.argmax(axis=1)] != y).sum())

    return list(min(itertools.combinations(candidates, 2), key=count_errors))


def _plan_cells(
    dataset: str, learners: list[str], positive: str | None, label: str | None, selection: ColumnSelection
) -> list[Cell]:
    entry: dict[str, Any] = {}
    columns = {"label": label, **selection.to_keys()}
    if dataset in GENERATORS:
        size = GENERATORS[dataset].parameter_model.model_fields["size"].default
        if size > 2 * POOL_TRAINING_SAMPLES:
            entry["train"] = POOL_TRAINING_SAMPLES
    elif positive is not None:
        entry["positive"] = positive
    if dataset not in GENERATORS and (dataset.lower().endswith(".csv") or Path(dataset).is_file()):
        entry |= {"csv": dataset, **columns}
    elif option := next((key for key, value in columns.items() if value is not None), None):
        raise ConfigError(f"--{option} is for a CSV file, and '{dataset}' is not one")
    for name in learners:
        if learners.count(name) > 1:
            raise ConfigError(f"--learners: '{name}' is listed more than once")
    content = {
        "datasets": {Path(dataset).name: entry},
        "learners": {name: parse_learner_name(name) for name in learners},
        "split": {"repeats": 1},
    }
    return plan(build_experiment(content, "plot", Path(), _PlotErrorCollector()))


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
                f"--dataset: the training samples of split {SHOWN_SPLIT} do not include both class "
                f"'{data.classes[index]}' and others"
            )
        try:
            fitted.append(fit(cell.learner, X_train, y, seed)[0])
        except (ValueError, FloatingPointError) as error:
            raise DataError(f"'{cell.learner.name}' cannot be fitted on {data.name}: {error}") from None
    test_errors = int((predict_classes(fitted, X_test) != data.y[test]).sum())
    wrong = predict_classes(fitted, X_train) != y_train
    if len(data.classes) == 2:
        wrong = find_strict_errors(fitted[0].decision_function(X_train), np.where(y_train == 1, 1.0, -1.0))
    return FittedRegions(title, split_data, fitted, int(wrong.sum()), test_errors)
