"""Measurements of data sets by draw, in the form that figures need; draws without them are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from zoloss_cli.complexity.growth import compute_mean_growth
from zoloss_cli.metrics.pooled import PooledMeasurement
from zoloss_cli.reporting.run_result import Place, RunResult

T = TypeVar("T")


@dataclass(frozen=True)
class StoredDecomposition:
    """The complexity-error decomposition of one draw.

    Attributes
    ----------
    points : list of (int, int, int, list of int)
        Complexity and error of each principal point, its number of subsets, and some of these. The clusters of
        a subset are the bits of its number.
    pairs : list of (int, int)
        Complexity and error of all subsets examined.
    clusters : ndarray of int
        The cluster of each sample.
    is_exact : bool
        Whether all subsets were examined.
    counts : dict of str to int
        Numbers of principal points and subsets, by metric.
    """

    points: list[tuple[int, int, int, list[int]]]
    pairs: list[tuple[int, int]]
    clusters: np.ndarray
    is_exact: bool
    counts: dict[str, int]

    def find_samples(self, subset: int) -> np.ndarray:
        """Return the indices of a subset's samples."""
        return np.flatnonzero([subset >> int(cluster) & 1 for cluster in self.clusters])


@dataclass(frozen=True)
class OutlierScores:
    """How much each sample of a draw looks like an outlier, by the metric of its AUC.

    Attributes
    ----------
    scores : dict of str to ndarray
        The scores: there are two estimates of contributions.
    is_flipped : ndarray of bool
        Which samples have wrong labels: some, but not all.
    is_contribution : bool
        Whether the scores are contributions to the complexity.
    """

    scores: dict[str, np.ndarray]
    is_flipped: np.ndarray
    is_contribution: bool


def find_decompositions(run: RunResult) -> dict[Place, dict[int, StoredDecomposition]]:
    """Return the complexity-error decompositions of a run."""
    return _collect(run, _read_decomposition)


def find_growth_by_size(run: RunResult) -> dict[Place, dict[int, np.ndarray]]:
    """Return the mean growth of the complexity by subset size, from `compute_growth_by_size`."""
    return _collect(run, compute_growth_by_size)


def find_outlier_scores(run: RunResult) -> dict[Place, dict[int, OutlierScores]]:
    """Return the scores of samples some of which have wrong labels."""
    return _collect(run, _read_scores)


def find_contributions(run: RunResult) -> dict[Place, dict[int, OutlierScores]]:
    """Return the scores that are contributions to the complexity."""
    found = find_outlier_scores(run)
    return {place: draws for place, draws in found.items() if find_first_draw(draws)[1].is_contribution}


def find_first_draw(draws: dict[int, T]) -> tuple[int, T]:
    """Return number and measurement of the first draw."""
    return min(draws.items(), key=lambda item: item[0])


def _collect(run: RunResult, read: Callable[[PooledMeasurement], T | None]) -> dict[Place, dict[int, T]]:
    found = {}
    for place in ((dataset, learner) for dataset in run.datasets for learner in run.learners):
        measurements = run.measurements.get(place, {})
        draws = {k: value for k, each in measurements.items() if (value := read(each)) is not None}
        if draws:
            found[place] = draws
    return found


def _read_decomposition(measured: PooledMeasurement) -> StoredDecomposition | None:
    if not measured.points or not measured.pairs or not all(subsets for *_, subsets in measured.points):
        return None
    return StoredDecomposition(
        measured.points,
        measured.pairs,
        np.asarray(measured.clusters),
        bool(measured.exact),
        {
            "principal_points": measured.principal_points or 0,
            "principal_subsets": measured.principal_subsets or 0,
        },
    )


def compute_growth_by_size(measured: PooledMeasurement) -> np.ndarray | None:
    """Return the mean growth of the complexity by subset size, for right labels (row 0) and wrong ones (row 1).

    In every path, one sample joins at each size, so that the right labels account for the rest of all paths.
    The result is NaN where there are none, and None if it was not measured.
    """
    growth, wrong_growth = measured.growth_by_size, measured.flipped_growth_by_size
    wrong, paths = measured.flipped_times_by_size, measured.permutations
    if growth is None or wrong_growth is None or wrong is None or not paths or not len(wrong):
        return None
    times = np.array([paths - np.asarray(wrong, dtype=float), wrong])
    return compute_mean_growth(np.array([growth, wrong_growth], dtype=float), times)


def _read_scores(measured: PooledMeasurement) -> OutlierScores | None:
    average = measured.outlier_scores
    if average is None or not 0 < np.sum(measured.is_flipped) < len(average):
        return None
    scores = {"auc": np.asarray(average, dtype=float)}
    is_contribution = measured.growth is not None
    if is_contribution and measured.least_squares is not None:
        scores["auc_least_squares"] = np.asarray(measured.least_squares)
    return OutlierScores(scores, measured.is_flipped, is_contribution)
