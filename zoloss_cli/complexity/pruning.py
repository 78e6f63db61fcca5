"""Which rows of a data set look like noise, and what is left without them (Li 2006, section 1.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.complexity.contribution import average_contributions, sum_paths_in_blocks
from zoloss_cli.complexity.growth import NOISY_THRESHOLD
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.complexity.outlier_scores import Progress, compute_neighbour_scores_in_blocks
from zoloss_cli.config.models import Prune
from zoloss_cli.errors import DataError

MAX_OPPOSED_SHARE = 0.5  # of the neighbours: more of them are of the other class than of one's own


@dataclass(frozen=True)
class PruningResult:
    """What was found of each row: its score, NaN for those that others contradict, and whether it stays."""

    kept: np.ndarray  # rows
    scores: np.ndarray
    contradicted: np.ndarray  # rows with equal features of another label, which is no rarer
    threshold: float
    spared: np.ndarray  # rows above the threshold that stay: nothing else would be left of their class

    @property
    def dropped(self) -> np.ndarray:
        return np.setdiff1d(np.arange(len(self.scores)), self.kept)


def prune(X, y, how: Prune, seed, progress: Progress | None = None) -> PruningResult:
    """Find the rows above the threshold, by random numbers that depend on the seed (a number or several) only.

    Equal rows with different labels come first, since no rule fits them: those of the rarest labels go, all of
    them where labels are equally frequent. A class keeps its row with the least score whatever that is.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    opposed = find_contradicted(X, y)
    rest = np.setdiff1d(np.arange(len(y)), opposed)
    if len(np.unique(y[rest])) < 2:
        raise DataError(
            f"{len(opposed)} of {len(y)} rows have equal features and different labels, and without them there "
            "is one class or none: nothing can be said of the others"
        )
    scores, threshold = np.full(len(y), np.nan), how.threshold
    if how.by == "neighbours":
        count = min(how.neighbours, len(rest) - 1)
        scores[rest] = compute_neighbour_scores_in_blocks(X[rest], y[rest], count, progress)
        threshold = MAX_OPPOSED_SHARE if threshold is None else threshold
    else:
        problem = build_problem(X[rest], y[rest])
        scores[rest] = average_contributions(
            sum_paths_in_blocks(problem, how.permutations, seed, progress=progress)
        )
        threshold = NOISY_THRESHOLD if threshold is None else threshold
    kept = rest[scores[rest] <= threshold]
    lost = np.setdiff1d(y[rest], y[kept])
    spared = [min(rest[y[rest] == label], key=lambda row: scores[row]) for label in lost]
    kept = np.sort(np.append(kept, spared)).astype(np.int64)
    return PruningResult(kept, scores, opposed, threshold, np.array(spared, dtype=np.int64))


def find_contradicted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows with equal features as others of a different label that is as frequent among them, or more."""
    _, place = np.unique(X, axis=0, return_inverse=True)
    labels, code = np.unique(y, return_inverse=True)
    counts = np.zeros((place.max() + 1, len(labels)), dtype=np.int64)
    np.add.at(counts, (place.ravel(), code.ravel()), 1)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1  # no other label is as frequent
    wins = (counts == most[:, None]) & alone[:, None]
    return np.flatnonzero(~wins[place.ravel(), code.ravel()])
