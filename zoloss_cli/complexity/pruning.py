"""Samples of a data set that look like noise, and what remains without them (Li 2006, section 1.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zoloss_cli.complexity.contribution import (
    Progress,
    Seed,
    average_contributions,
    list_one_vs_rest,
    share_progress,
    sum_paths_in_blocks,
)
from zoloss_cli.complexity.decomposition import NOISY_THRESHOLD
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.complexity.outliers import compute_neighbour_scores_in_blocks
from zoloss_cli.config.models import Prune
from zoloss_cli.errors import DataError

MAX_OPPOSED_SHARE = 0.5  # of the neighbours: beyond, more of them have the other class than the sample


@dataclass(frozen=True)
class PruningResult:
    """Which samples are kept, and why others are not.

    Attributes
    ----------
    kept : ndarray of int
        Indices of the kept samples.
    scores : ndarray of shape (n_samples,)
        The score of each sample; NaN for those that others contradict.
    contradicted : ndarray of int
        Samples that equal others whose label is at least as frequent among them.
    threshold : float
        Larger scores count as noise.
    spared : ndarray of int
        Samples above the threshold that are kept because their class would otherwise be empty.
    """

    kept: np.ndarray
    scores: np.ndarray
    contradicted: np.ndarray
    threshold: float
    spared: np.ndarray

    @property
    def dropped(self) -> np.ndarray:
        """Return the indices of the dropped samples."""
        return np.setdiff1d(np.arange(len(self.scores)), self.kept)


def prune(
    X: ArrayLike, y: ArrayLike, how: Prune, seed: Seed, progress: Progress | None = None
) -> PruningResult:
    """Find the samples whose score is above the threshold.

    Equal samples with different labels are dropped first, since no rule fits them: those with the rarer labels,
    or all of them if labels are equally frequent. A class always keeps its sample with the smallest score. With
    more than two classes, contributions are to the problems of one class against the rest, and the largest of a
    sample is its score; neighbours count if they have any other label.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels of two classes or more.
    how : Prune
        Which score to use, how to compute it, and the threshold.
    seed : int or sequence of int
        Seed of all random draws.
    progress : callable, optional
        Called with the number of samples or permutations done and the total.

    Returns
    -------
    PruningResult
        The kept samples, and the scores.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    opposed = find_contradicted(X, y)
    rest = np.setdiff1d(np.arange(len(y)), opposed)
    if len(np.unique(y[rest])) < 2:
        raise DataError(
            f"{len(opposed)} of {len(y)} samples have equal features and different labels, and without them "
            "there is one class or none: nothing can be said about the others"
        )
    scores, threshold = np.full(len(y), np.nan), how.threshold
    if how.by == "neighbours":
        count = min(how.neighbours, len(rest) - 1)
        scores[rest] = compute_neighbour_scores_in_blocks(X[rest], y[rest], count, progress)
        threshold = MAX_OPPOSED_SHARE if threshold is None else threshold
    else:
        scores[rest] = _compute_contributions(X[rest], y[rest], how.permutations, seed, progress)
        threshold = NOISY_THRESHOLD if threshold is None else threshold
    kept = rest[scores[rest] <= threshold]
    lost = np.setdiff1d(y[rest], y[kept])
    spared = [min(rest[y[rest] == label], key=lambda i: scores[i]) for label in lost]
    kept = np.sort(np.append(kept, spared)).astype(np.int64)
    return PruningResult(kept, scores, opposed, threshold, np.array(spared, dtype=np.int64))


def _compute_contributions(
    X: np.ndarray, y: np.ndarray, permutations: int, seed: Seed, progress: Progress | None
) -> np.ndarray:
    problems = list_one_vs_rest(y)
    scores = []
    for k, labels in enumerate(problems):
        report = None if progress is None else share_progress(progress, k, len(problems))
        sums = sum_paths_in_blocks(build_problem(X, labels), permutations, seed, progress=report)
        scores.append(average_contributions(sums))
    return np.max(scores, axis=0)


def find_contradicted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the samples that equal others whose different label is at least as frequent among them."""
    _, place = np.unique(X, axis=0, return_inverse=True)
    labels, code = np.unique(y, return_inverse=True)
    counts = np.zeros((place.max() + 1, len(labels)), dtype=np.int64)
    np.add.at(counts, (place.ravel(), code.ravel()), 1)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1  # no other label is as frequent
    wins = (counts == most[:, None]) & alone[:, None]
    return np.flatnonzero(~wins[place.ravel(), code.ravel()])
