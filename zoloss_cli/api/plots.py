"""Values, differences and ranks of results, on matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from zoloss_cli.api.axes import choose_dataset, open_axes
from zoloss_cli.api.sources import RunSource, select_run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    AnyResults = str | PathLike[str] | RunSource | pd.DataFrame


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
    from zoloss_cli.reporting.figures.boxes import draw_boxes_on, find_boxed_datasets

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
    from zoloss_cli.reporting.figures.differences import draw_differences_on, find_paired_datasets
    from zoloss_cli.reporting.statistics import check_comparable

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
    from zoloss_cli.reporting.figures.ranks import count_rows, describe_tests, draw_ranks_on
    from zoloss_cli.reporting.statistics import compute_average_ranks

    run, _ = select_run(results, table, metric=metric, learners=learners)
    ranks = compute_average_ranks(run, alpha)
    with open_axes(ax, 0.22 * count_rows(ranks) + 1.3) as axes:
        draw_ranks_on(axes, ranks)
        axes.set_title(describe_tests(ranks))
    return axes
