"""Which of its settings a learner uses: those with the fewest mistakes on held-out rows.

Folds are drawn from coordinates, as splits are: the same for every learner and for any order of work.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from zoloss_cli.config.models import ALL, LearnerSpec, Tuning
from zoloss_cli.datasets.dataset import DataSet, find_draw, load_data
from zoloss_cli.datasets.scaling import scale_parts
from zoloss_cli.datasets.splits import derive_seed
from zoloss_cli.experiment.fitting import fit
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.split_data import part_of
from zoloss_cli.kernels.zero_one import wrong_classes

FOLDS = "folds of the tuning"  # in the place of a learner's name: no learner shares their seed


class Fold(NamedTuple):
    """What a candidate learns from and what it is judged by, scaled."""

    X: np.ndarray
    y: np.ndarray
    X_left_out: np.ndarray
    y_left_out: np.ndarray


def tuned(cell: Cell, k: int) -> LearnerSpec:
    """The candidate that split k of this cell uses."""
    if cell.tuning.on == ALL:
        return _chosen_on_all(cell, find_draw(cell.data, k))
    part = part_of(cell, k)
    return _fewest_mistakes(cell, part.data, part.learned_from, k)


@functools.lru_cache(maxsize=256)
def _chosen_on_all(cell: Cell, draw: int) -> LearnerSpec:
    """The choice for all splits of a draw. It sees their test rows, as in Nguyen & Sanner's experiments."""
    data = load_data(cell.data, draw)
    return _fewest_mistakes(cell, data, np.arange(len(data.y)), draw)


def _fewest_mistakes(cell: Cell, data: DataSet, rows: np.ndarray, coordinate: int) -> LearnerSpec:
    """The first of the candidates with the least number of wrong predictions over all folds."""
    from zoloss_cli.learners.search.direct_optimizer import share_starts

    folds = _folds(cell, data, rows, coordinate)
    best, fewest = cell.learner.tune[0], np.inf
    with share_starts():
        for spec in cell.learner.tune:
            seeds = derive_seed(cell.rule.seed, cell.stream, coordinate, cell.learner.name).spawn(len(folds))
            mistakes = 0
            for fold, seed in zip(folds, seeds, strict=True):
                learner, _ = fit(spec, fold.X, fold.y, seed)
                mistakes += wrong_classes(learner, fold.X_left_out, fold.y_left_out)
                if mistakes >= fewest:
                    break
            if mistakes < fewest:
                best, fewest = spec, mistakes
    return best


def _folds(cell: Cell, data: DataSet, rows: np.ndarray, coordinate: int) -> list[Fold]:
    """Random folds of nearly equal size, or parts held out; scaling sees what is left in, or else all rows."""
    rng = np.random.default_rng(derive_seed(cell.rule.seed, cell.stream, coordinate, FOLDS))
    folds = []
    for kept, out in _held_out(cell.tuning, rows, rng):
        seen = data.X if cell.fit_on == ALL else None
        X, X_left_out = scale_parts(data.X[kept], data.X[out], cell.scale, seen)
        folds.append(Fold(X, data.y[kept], X_left_out, data.y[out]))
    return folds


def _held_out(tuning: Tuning, rows: np.ndarray, rng) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(rows to learn from, rows to judge by) of each fold."""
    if tuning.held_out is not None:
        for _ in range(tuning.folds):
            order, size = rng.permutation(rows), round(tuning.held_out * len(rows))
            yield order[size:], order[:size]
        return
    parts = np.array_split(rng.permutation(rows), tuning.folds)
    for i, out in enumerate(parts):
        yield np.concatenate(parts[:i] + parts[i + 1 :]), out
