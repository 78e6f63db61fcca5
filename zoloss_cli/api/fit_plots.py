"""How fits progressed and what they predict: learning curves, errors against time, and boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from zoloss_cli.api.axes import choose_dataset, open_axes
from zoloss_cli.api.sources import RunSource, select_run
from zoloss_cli.errors import ConfigError, suggest_nearest

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    AnyResults = str | PathLike[str] | RunSource | pd.DataFrame


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
    from zoloss_cli.reporting.figures.curves import AXIS_LABELS, draw_curves_on, find_curves

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
    from zoloss_cli.reporting.figures.times import draw_searches_on

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
    from zoloss_cli.reporting.figures.boundary import draw_predictions_on

    with open_axes(ax, 3.0) as axes:
        draw_predictions_on(axes, estimator.predict, X, y)
        axes.legend()
    return axes
