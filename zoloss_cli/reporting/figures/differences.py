"""Paired differences to one learner, with the interval of their mean: a panel for each data set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.boxes import (
    add_learner_panels,
    hide_repeated_labels,
    label_learners,
    name_metric,
)
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.statistics import find_best_learner
from zoloss_cli.reporting.titles import build_column_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONFIDENCE = 0.95
MIN_SPLITS = 2


@dataclass(frozen=True)
class PairedDifference:
    """A learner minus the reference on one data set.

    Attributes
    ----------
    mean : float
        Mean over the splits that both have.
    low, high : float
        Confidence interval of the mean, corrected for training samples shared by splits.
    quartiles : tuple of float
        First and third quartile of the differences themselves.
    """

    mean: float
    low: float
    high: float
    quartiles: tuple[float, float]


def has_pairs(run: RunResult) -> bool:
    """Return whether two learners share splits of a data set, in a metric with a direction."""
    return load_metric(run.metric).direction is not None and bool(find_paired_datasets(run))


def draw_differences(run: RunResult, against: str | None = None) -> Figure:
    """Draw a panel for each data set: differences from one learner, or from the data set's best."""
    datasets = find_paired_datasets(run)
    figure, panels = add_learner_panels(run, len(datasets))
    for place, (panel, dataset) in enumerate(zip(panels, datasets, strict=True)):
        draw_differences_on(panel, run, dataset, against)
        hide_repeated_labels(panel, place, len(datasets))
    return figure


def draw_differences_on(axes: Axes, run: RunResult, dataset: str, against: str | None = None) -> None:
    """Draw the differences on one data set: the mean, its interval, and a pale bar from quartile to quartile.

    An interval that excludes zero is drawn in the colour of its side: blue if the learner is better.
    """
    reference = against or find_best_learner(run, dataset)
    assert reference is not None
    better = load_metric(run.metric).sort_key
    for place, learner in enumerate(run.learners):
        if learner == reference:
            axes.plot([0.0], [place], marker="|", markersize=8, color=style.BLACK)
        elif found := compute_difference(run, dataset, learner, reference):
            beyond = found.low > 0.0 or found.high < 0.0
            side = style.BLUE if better(found.mean) < 0.0 else style.VERMILION
            colour = side if beyond else style.BLACK
            axes.plot(
                found.quartiles, [place, place], color=colour, alpha=0.25, linewidth=5.0, solid_capstyle="butt"
            )
            axes.plot([found.low, found.high], [place, place], color=colour)
            axes.plot([found.mean], [place], color=colour, marker="o" if beyond else "s")
    axes.axvline(0.0, color=style.BLACK, linewidth=0.6, linestyle=style.DOTTED)
    label_learners(axes, run)
    title = build_column_titles(run.learners)[reference]
    axes.set_xlabel(f"difference in {name_metric(run.metric)}")
    axes.set_title(f"{style.shorten(dataset)}, minus {style.shorten(title)}")


def compute_difference(run: RunResult, dataset: str, learner: str, reference: str) -> PairedDifference | None:
    """Return a learner minus the reference on the splits that both have; None if there are fewer than two.

    The variance of the mean over k splits is (1/k + n_test/n_train) s^2, as in the corrected t-test of Nadeau
    and Bengio (2003); if there are no test samples, repeats share none and it is s^2 / k.
    """
    import numpy as np
    from scipy import stats

    one, two = (run.get_values_by_split(dataset, x) for x in (learner, reference))
    differences = [one[split] - two[split] for split in sorted(one.keys() & two.keys())]
    k = len(differences)
    if k < MIN_SPLITS:
        return None
    sizes, mean = run.cells[dataset, learner].sizes, fmean(differences)
    share = sizes.n_test / sizes.n_train if sizes else 0.0
    variance = math.fsum((d - mean) ** 2 for d in differences) / (k - 1)
    half = float(stats.t.ppf((1.0 + CONFIDENCE) / 2.0, k - 1)) * math.sqrt((1.0 / k + share) * variance)
    first, third = np.quantile(differences, [0.25, 0.75])
    return PairedDifference(mean, mean - half, mean + half, (float(first), float(third)))


def find_paired_datasets(run: RunResult) -> list[str]:
    """Return the data sets where two learners share splits."""
    found = []
    for dataset in run.datasets:
        splits = [set(run.get_values_by_split(dataset, x)) for x in run.learners]
        if sum(len(each) >= MIN_SPLITS for each in splits) >= 2:
            found.append(dataset)
    return found
