"""Axes to plot on, given or new, and the choice of the data set to plot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from zoloss_cli.api.tables import RunSource, select_run
from zoloss_cli.errors import ConfigError, ResultsError, suggest_nearest
from zoloss_cli.figures import style
from zoloss_cli.report.runs import RunResult
from zoloss_cli.utils.imports import import_optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    AnyResults = str | PathLike[str] | RunSource | pd.DataFrame
    from numpy.typing import ArrayLike


@contextlib.contextmanager
def open_axes(ax: Axes | None, height: float) -> Iterator[Axes]:
    """Yield the given axes unchanged, or those of a new pyplot figure with our settings."""
    if ax is not None:
        yield ax
        return
    pyplot = import_optional("matplotlib.pyplot", style.NEEDED_BY)
    with style.apply_style():
        _, axes = pyplot.subplots(figsize=(1.4 * style.COLUMN, height), layout="constrained")
        yield axes


def choose_dataset(run: RunResult, wanted: str | None, found: list[str], what: str) -> str:
    """Return the data set to plot, which must be among `found`; without a name, the only one there is."""
    if not found:
        raise ResultsError(f"'{run.name}' has no {what}")
    if wanted is None and len(found) == 1:
        return found[0]
    if wanted is None:
        raise ResultsError(f"'{run.name}' has several data sets; name one: {', '.join(found)}")
    if wanted not in found:
        reason = f"has no {what} of" if wanted in run.datasets else "has no data set"
        raise ResultsError(f"'{run.name}' {reason} '{wanted}'{suggest_nearest(wanted, found)}")
    return wanted


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
        Where to plot; None for a new figure.

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
        Where to plot; None for a new figure.

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
    """Plot average ranks over data sets, and which learners Nemenyi's test cannot tell apart.

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
        Where to plot; None for a new figure. Names are written next to it.

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
        Where to plot; None for a new figure.

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
    """Plot training errors against seconds: how few each learner reached, and when.

    Steps are the fewest errors so far, for searches that ran once on all samples; markers show when the result
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
        Where to plot; None for a new figure.

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

    Any classifier with scikit-learn's interface works, also a pipeline with scaling or a model from
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
        Where to plot; None for a new figure.

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
