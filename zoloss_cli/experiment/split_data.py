"""The samples of one split: which train, which of these are left out as noise, which test; their scaling."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from zoloss_cli.config.data_models import ALL, CsvData, Prune
from zoloss_cli.datasets.csv_table import merge_long_numbers
from zoloss_cli.datasets.dataset import (
    DataSet,
    compute_fingerprint,
    describe_change,
    find_draw,
    load_data,
)
from zoloss_cli.datasets.imputation import refill
from zoloss_cli.datasets.scaling import scale_parts
from zoloss_cli.datasets.splits import derive_seed
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.learners.search.exact_features import ExactFeatures

PRUNING = "pruning"  # in place of a learner's name: no learner shares its seed
MAX_CACHED_PRUNINGS = 4096


class SplitData(NamedTuple):
    """The data of one split.

    Attributes
    ----------
    data : DataSet
        The whole data set.
    train, test : ndarray of int
        Indices of the training and test samples.
    scaling : str
        How features are scaled.
    scaling_samples : ndarray or None
        The samples that the scaling is fitted to, if not the training samples.
    pruned : ndarray of int
        Training samples that no learner sees.
    """

    data: DataSet
    train: np.ndarray
    test: np.ndarray
    scaling: str
    scaling_samples: np.ndarray | None
    pruned: np.ndarray = np.empty(0, np.int64)

    def scale(self, X: np.ndarray) -> np.ndarray:
        """Return samples scaled as the learner of this split sees them."""
        return scale_parts(self.data.X[self.train], X, self.scaling, self.scaling_samples)[1]

    def get_exact_features(self) -> ExactFeatures:
        """Return the values before scaling of the training samples that a learner sees, for proofs."""
        data = self.data
        values = merge_long_numbers(data.X, data.long_numbers, data.features)
        return ExactFeatures(values[self.fit_indices])

    @property
    def fit_indices(self) -> np.ndarray:
        """Return the training samples that a learner sees, in order."""
        return self.train[~np.isin(self.train, self.pruned)] if self.pruned.size else self.train


def load_split(cell: Cell, split: int) -> SplitData:
    """Return the data of a split of a cell."""
    data = _load_unpruned(cell, split)
    if cell.prune is None:
        return data
    # Learners share pruning, as they share splits: everything in the cell but the learner matters.
    shared = replace(cell, learner=None, repeats=0, tuning=None, keep=frozenset())  # type: ignore[arg-type]
    return data._replace(pruned=_find_pruned(shared, split))


def _load_unpruned(cell: Cell, split: int) -> SplitData:
    if isinstance(cell.data, CsvData) and compute_fingerprint(cell.data) != cell.identity["data"]:
        raise DataError(describe_change(cell.data.csv))  # otherwise its records would get another cell's key
    data = load_data(cell.data, find_draw(cell.data, split))
    train, test = cell.rule.select_indices(len(data.y), cell.seed_name, split)
    if data.gaps and cell.fit_on != ALL:
        data = replace(data, X=refill(data.X, data.gaps, train), gaps=())
    return SplitData(data, train, test, cell.scale, data.X if cell.fit_on == ALL else None)


@functools.lru_cache(maxsize=MAX_CACHED_PRUNINGS)
def _find_pruned(cell: Cell, split: int) -> np.ndarray:
    from zoloss_cli.complexity.pruning import prune

    assert cell.prune is not None
    data = _load_unpruned(cell, split)
    seed = derive_seed(cell.rule.seed, cell.seed_name, split, PRUNING).generate_state(4)
    X, y = data.scale(data.data.X[data.train]), data.data.y[data.train]
    return data.train[prune(X, y, cell.prune, seed).dropped]


@functools.cache
def warm_up_pruning(how: Prune) -> None:
    """Prune a few samples, so that workers find compiled kernels."""
    from zoloss_cli.complexity.pruning import prune

    X = np.random.default_rng(0).uniform(-1, 1, (24, 2))
    prune(X, np.arange(24) % 2, how.model_copy(update={"permutations": 2}), 0)
