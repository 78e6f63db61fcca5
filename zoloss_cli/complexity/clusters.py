"""Clusters of examples of one class that are not too close to the other (Li 2006, section 1.4.3)."""

from __future__ import annotations

import numpy as np

from zoloss_cli.complexity.hard_margin import HardMarginProblem
from zoloss_cli.errors import ConfigError


def compute_squared_distances(problem: HardMarginProblem) -> np.ndarray:
    """How far examples are apart where the kernel puts them, squared; with -||x - x'|| it is 2 ||x - x'||."""
    diagonal = np.diag(problem.K)
    return np.maximum(diagonal[:, None] + diagonal[None, :] - 2.0 * problem.K, 0.0)


def cluster_samples(problem: HardMarginProblem, count: int) -> np.ndarray:
    """The cluster of each example, of `count` many, numbered by their first examples.

    The thesis made them by hand. Here the two clusters of one class are merged whose union has the smallest
    diameter, measured by its distance to the other class, until as many are left.
    """
    fewest = len(np.unique(problem.y))
    if not fewest <= count <= len(problem):
        raise ConfigError(f"there can be {fewest} to {len(problem)} clusters of these examples, not {count}")
    D = compute_squared_distances(problem)
    same = problem.y[:, None] == problem.y[None, :]
    diameter = np.where(same, D, np.inf)  # of the union of two clusters; on the diagonal, of one
    gap = np.min(np.where(same, np.inf, D), axis=1) if fewest > 1 else np.ones(len(D))  # to the other class
    member = np.arange(len(problem))
    best, partner = np.full(len(D), np.inf), np.zeros(len(D), np.int64)  # of each cluster with a later one

    def look_at(rows) -> None:
        for row in rows:
            scores = diameter[row, row + 1 :] / np.minimum(gap[row], gap[row + 1 :])
            if scores.size:
                partner[row] = row + 1 + np.argmin(scores)
                best[row] = scores[partner[row] - row - 1]

    look_at(range(len(D)))
    for _ in range(len(problem) - count):
        a = int(np.argmin(best))
        b = int(partner[a])
        member[member == b] = a
        gap[a] = min(gap[a], gap[b])
        diameter[a] = np.maximum(np.maximum(diameter[a], diameter[b]), diameter[a, b])
        diameter[:, a] = diameter[a]
        diameter[b] = diameter[:, b] = np.inf
        # A union scores no less with a third than its parts did: only who had one of them for a partner looks.
        look_at(np.flatnonzero((partner == a) | (partner == b) | (np.arange(len(D)) == a)))
        best[b] = np.inf
    return np.unique(member, return_inverse=True)[1]
