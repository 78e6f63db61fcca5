"""The rows of one split: which train, which of these are left out as noise, which test, and their scaling."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from zoloss_cli.config.models import ALL, Prune
from zoloss_cli.datasets.dataset import DataSet, find_draw, load_data
from zoloss_cli.datasets.scaling import scale_parts
from zoloss_cli.datasets.splits import derive_seed
from zoloss_cli.experiment.plan import Cell

PRUNING = "pruning"  # in the place of a learner's name: no learner shares its seed
KEPT_PRUNINGS = 4096


class Part(NamedTuple):
    """The data of one split: which rows train and which test, and how points are scaled for its learner."""

    data: DataSet
    train: np.ndarray
    test: np.ndarray
    how: str
    seen: np.ndarray | None  # what the scaling is fitted on, if not on the training rows
    pruned: np.ndarray = np.empty(0, np.int64)  # training rows that no learner sees

    def scaled(self, points: np.ndarray) -> np.ndarray:
        return scale_parts(self.data.X[self.train], points, self.how, self.seen)[1]

    @property
    def learned_from(self) -> np.ndarray:
        """The training rows that a learner sees, in their order."""
        return self.train[~np.isin(self.train, self.pruned)] if self.pruned.size else self.train


def part_of(cell: Cell, k: int) -> Part:
    """The data of split k."""
    part = _whole_part(cell, k)
    if cell.prune is None:
        return part
    # Learners share what is pruned, as they share splits.
    return part._replace(pruned=_pruned(replace(cell, learner=None, repeats=0, tuning=None), k))


def _whole_part(cell: Cell, k: int) -> Part:
    data = load_data(cell.data, find_draw(cell.data, k))
    train, test = cell.rule.select_indices(len(data.y), cell.stream, k)
    return Part(data, train, test, cell.scale, data.X if cell.fit_on == ALL else None)


@functools.lru_cache(maxsize=KEPT_PRUNINGS)
def _pruned(cell: Cell, k: int) -> np.ndarray:
    """The training rows of split k that are left out; of the cell, all but its learner matters."""
    from zoloss_cli.complexity.pruning import prune

    part = _whole_part(cell, k)
    seed = derive_seed(cell.rule.seed, cell.stream, k, PRUNING).generate_state(4)
    X, y = part.scaled(part.data.X[part.train]), part.data.y[part.train]
    return part.train[prune(X, y, cell.prune, seed).dropped]


@functools.cache
def warm_up_pruning(how: Prune) -> None:
    """Prune a handful of points, so that workers find compiled kernels."""
    from zoloss_cli.complexity.pruning import prune

    points = np.random.default_rng(0).uniform(-1, 1, (24, 2))
    prune(points, np.arange(24) % 2, how.model_copy(update={"permutations": 2}), 0)
