"""Pairs of complexity and error, and a path through them: Figures 1.2, 1.3 and 1.10 of Li's thesis (2006).

The thesis's own figures are fictional. These are measured on the concentric disks of the first draw of
configs/thesis/figure1.5.yaml, and need no results. Hypotheses are the SVMs of all unions of clusters, so that
each point of the second set belongs to one of the first; |h| is the number of support vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zoloss_cli.complexity.clusters import cluster_samples
from zoloss_cli.complexity.contribution import descend_rightmost_segment
from zoloss_cli.complexity.hard_margin import (
    HardMarginProblem,
    build_problem,
    compute_path_complexities,
    fit_hard_margin_svm,
)
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.complexity_error import PAIR_COLOUR, circle_principal_points
from zoloss_cli.reporting.figures.example_subsets import DISKS, DISKS_CONFIG
from zoloss_cli.reporting.figures.samples import load_first_draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_CLUSTERS = 10  # with 1,023 unions
PATH_SEED = 1
SUBSETS, HYPOTHESES = "subsets, Ω₁", "hypotheses, Ω₂"


class Pairs(NamedTuple):
    """Pairs of complexity and error, equally many of both kinds.

    Attributes
    ----------
    subsets : ndarray of int of shape (n_unions, 2)
        The complexity of each union of clusters, and the number of samples it leaves out: Eq. (1.9).
    hypotheses : ndarray of int of shape (n_unions, 2)
        The complexity of the SVM of each union, and its errors on all samples.
    """

    subsets: np.ndarray
    hypotheses: np.ndarray


def measure_pairs(problem: HardMarginProblem, clusters: np.ndarray) -> Pairs:
    """Return the pairs of all nonempty unions of clusters.

    Parameters
    ----------
    problem : HardMarginProblem
        The samples.
    clusters : ndarray of int of shape (n_samples,)
        The cluster of each sample, from 0.
    """
    subsets, hypotheses = [], []
    for union in range(1, 2 ** (int(clusters.max()) + 1)):
        inside = np.flatnonzero(union >> clusters & 1)
        svm = fit_hard_margin_svm(problem, inside)
        scores = problem.K[:, svm.support] @ svm.coefficients + svm.bias
        complexity = len(svm.support)
        subsets.append((complexity, len(problem) - len(inside)))
        hypotheses.append((complexity, int(np.sum(predict_signs(scores) != problem.y))))
    return Pairs(np.array(subsets), np.array(hypotheses))


def find_principal_pairs(pairs: np.ndarray) -> np.ndarray:
    """Return the pairs that no other pair equals or beats in both (Definition 1.4), by complexity."""
    kept: list[np.ndarray] = []
    for pair in np.unique(pairs, axis=0):  # by complexity, then by error
        if not kept or pair[1] < kept[-1][1]:
            kept.append(pair)
    return np.array(kept)


def draw_pairs_of_both_kinds() -> Figure:
    """Draw Figure 1.2: the pairs of subsets next to those of hypotheses, with equal axes."""
    pairs = measure_pairs(*_load_clusters())
    figure = style.new_figure(style.PAGE, 3.0)
    panels = style.add_panels(figure, 2, 2, sharex=True, sharey=True)
    for panel, title, found in zip(panels, (SUBSETS, HYPOTHESES), pairs, strict=True):
        _plot_pairs(panel, found)
        panel.set_title(title)
    return figure


def draw_principal_pairs() -> Figure:
    """Draw Figure 1.3: the pairs of subsets, the principal points circled."""
    found = measure_pairs(*_load_clusters()).subsets
    figure = style.new_figure(style.COLUMN, 3.0)
    (axes,) = style.add_panels(figure, 1, 1)
    _plot_pairs(axes, found)
    circle_principal_points(axes, *find_principal_pairs(found).T)
    axes.legend(loc="upper right")
    return figure


def draw_complexity_error_path() -> Figure:
    """Draw Figure 1.10: samples join one by one in a random order; and the descent from all of them."""
    problem, _ = _load_clusters()
    order = np.random.default_rng(PATH_SEED).permutation(len(problem))
    complexities = compute_path_complexities(problem, order)
    errors = len(problem) - np.arange(len(complexities))
    figure = style.new_figure(style.COLUMN, 3.4)
    (axes,) = style.add_panels(figure, 1, 1)
    grows = np.diff(complexities) > 0
    for wanted, colour, name in (
        (False, style.BLUE, "agrees with the rule so far"),
        (True, style.VERMILION, "makes the rule more complex"),
    ):
        path = [(complexities[[n, n + 1, n]], errors[[n, n + 1, n]]) for n in np.flatnonzero(grows == wanted)]
        x, y = (np.concatenate([[*part[k][:2], np.nan] for part in path]) for k in (0, 1))
        axes.plot(x, y, color=colour, marker=".", markersize=3, label=name)
    removed = descend_rightmost_segment(problem)
    axes.plot(
        removed.complexities,
        np.arange(len(removed.complexities)),
        color=style.BLACK,
        linestyle=style.DASHED,
        marker="s",
        markersize=3,
        label="largest contribution removed",
    )
    _label_axes(axes)
    style.add_legend_below(figure, [axes], 1)
    return figure


def _load_clusters() -> tuple[HardMarginProblem, np.ndarray]:
    samples = load_first_draw(DISKS_CONFIG, DISKS)
    problem = build_problem(samples.X, samples.y)
    return problem, cluster_samples(problem, N_CLUSTERS)


def _plot_pairs(axes: Axes, pairs: np.ndarray) -> None:
    dots: dict[str, Any] = {"linestyle": "none", "color": PAIR_COLOUR, "marker": ".", "markersize": 2.5}
    axes.plot(*np.unique(pairs, axis=0).T, **dots)
    _label_axes(axes)


def _label_axes(axes: Axes) -> None:
    axes.set(xlabel="complexity (support vectors)", ylabel="error (samples)")
