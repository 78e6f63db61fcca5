"""The choice of a learner's settings: those with the fewest errors on held-out samples.

Folds are drawn from coordinates, as splits are: the same for every learner and any order of work.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from zoloss_cli.config.data_models import ALL
from zoloss_cli.config.models import LearnerSpec, Tuning
from zoloss_cli.datasets.dataset import DataSet, find_draw, load_data
from zoloss_cli.datasets.scaling import scale_parts
from zoloss_cli.datasets.splits import derive_seed
from zoloss_cli.experiment.fitting import fit
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.split_data import load_split

FOLDS = "folds of the tuning"  # in place of a learner's name: no learner shares their seed


class Fold(NamedTuple):
    """The samples that a candidate is fitted to and those it is judged by, scaled."""

    X: np.ndarray
    y: np.ndarray
    X_held_out: np.ndarray
    y_held_out: np.ndarray


def tune(cell: Cell, split: int) -> LearnerSpec:
    """Return the candidate that a split of this cell uses."""
    assert cell.tuning is not None
    if cell.tuning.on == ALL:
        return _choose_on_all(cell, find_draw(cell.data, split))
    data = load_split(cell, split)
    return _choose(cell, data.data, data.fit_indices, split)


@functools.lru_cache(maxsize=256)
def _choose_on_all(cell: Cell, draw: int) -> LearnerSpec:
    """Return the choice for all splits of a draw. It sees their test samples, as in Nguyen & Sanner."""
    data = load_data(cell.data, draw)
    return _choose(cell, data, np.arange(len(data.y)), draw)


def _choose(cell: Cell, data: DataSet, indices: np.ndarray, coordinate: int) -> LearnerSpec:
    """Return the first of the candidates with the fewest wrong predictions over all folds.

    The one with the fewest so far is judged on its next fold: once it has seen all, no other can be better.
    """
    from zoloss_cli.learners.kernel_svm import share_kernels
    from zoloss_cli.learners.search.direct_optimizer import share_starts

    folds = _build_folds(cell, data, indices, coordinate)
    seeds = derive_seed(cell.rule.seed, cell.seed_name, coordinate, cell.learner.name).spawn(len(folds))
    trials = cell.learner.trials or cell.learner.tune
    errors, seen = [0] * len(trials), [0] * len(trials)
    with share_starts(), share_kernels():
        while seen[best := errors.index(min(errors))] < len(folds):
            fold = folds[seen[best]]
            learner, _ = fit(trials[best], fold.X, fold.y, seeds[seen[best]])
            errors[best] += int(np.count_nonzero(learner.predict(fold.X_held_out) != fold.y_held_out))
            seen[best] += 1
    return cell.learner.tune[best]


def _build_folds(cell: Cell, data: DataSet, indices: np.ndarray, coordinate: int) -> list[Fold]:
    """Return the folds of a cell's tuning; scaling sees the samples fitted to, or else all samples."""
    assert cell.tuning is not None
    rng = np.random.default_rng(derive_seed(cell.rule.seed, cell.seed_name, coordinate, FOLDS))
    folds = []
    for kept, out in _draw_folds(cell.tuning, indices, rng):
        seen = data.X if cell.fit_on == ALL else None
        X, X_held_out = scale_parts(data.X[kept], data.X[out], cell.scale, seen)
        folds.append(Fold(X, data.y[kept], X_held_out, data.y[out]))
    return folds


def _draw_folds(
    tuning: Tuning, indices: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield indices to fit to and to judge by: random folds of nearly equal size, or held-out parts."""
    if tuning.held_out is not None:
        for _ in range(tuning.folds):
            order, size = rng.permutation(indices), round(tuning.held_out * len(indices))
            yield order[size:], order[:size]
        return
    parts = np.array_split(rng.permutation(indices), tuning.folds)
    for i, out in enumerate(parts):
        yield np.concatenate(parts[:i] + parts[i + 1 :]), out
