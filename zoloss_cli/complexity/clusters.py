"""Clusters of samples of one class that are not too close to the other class (Li 2006, section 1.4.3)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.errors import ConfigError


def compute_squared_distances(problem: HardMarginProblem) -> np.ndarray:
    """Return the squared distances of samples in the kernel's space: 2 ||x - x'|| for -||x - x'||."""
    diagonal = np.diag(problem.K)
    return np.maximum(diagonal[:, None] + diagonal[None, :] - 2.0 * problem.K, 0.0)


def cluster_samples(problem: HardMarginProblem, count: int) -> np.ndarray:
    """Cluster the samples of each class.

    The thesis made its clusters by hand. Here, of all pairs of clusters of one class, the one whose union has
    the smallest diameter relative to its distance to the other class is merged, until `count` clusters are
    left.

    Parameters
    ----------
    problem : HardMarginProblem
        The samples and their kernel.
    count : int
        Number of clusters, for both classes together.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        The cluster of each sample, numbered in the order of their first samples.
    """
    fewest = len(np.unique(problem.y))
    if not fewest <= count <= len(problem):
        raise ConfigError(f"there can be {fewest} to {len(problem)} clusters of these samples, not {count}")
    D = compute_squared_distances(problem)
    same = problem.y[:, None] == problem.y[None, :]
    diameter = np.where(same, D, np.inf)  # of the union of two clusters; on the diagonal, of one
    gap = np.min(np.where(same, np.inf, D), axis=1) if fewest > 1 else np.ones(len(D))  # to the other class
    member = np.arange(len(problem))
    best, partner = np.full(len(D), np.inf), np.zeros(len(D), np.int64)  # of each cluster with a later one

    def update_partners(clusters: Iterable[int]) -> None:
        for i in clusters:
            scores = diameter[i, i + 1 :] / np.minimum(gap[i], gap[i + 1 :])
            if scores.size:
                partner[i] = i + 1 + np.argmin(scores)
                best[i] = scores[partner[i] - i - 1]

    update_partners(range(len(D)))
    for _ in range(len(problem) - count):
        a = int(np.argmin(best))
        b = int(partner[a])
        member[member == b] = a
        gap[a] = min(gap[a], gap[b])
        diameter[a] = np.maximum(np.maximum(diameter[a], diameter[b]), diameter[a, b])
        diameter[:, a] = diameter[a]
        diameter[b] = diameter[:, b] = np.inf
        # With a third cluster, a union never scores less than its parts did: only clusters whose partner was
        # one of them need a new one.
        update_partners(np.flatnonzero((partner == a) | (partner == b) | (np.arange(len(D)) == a)))
        best[b] = np.inf
    return np.unique(member, return_inverse=True)[1]
