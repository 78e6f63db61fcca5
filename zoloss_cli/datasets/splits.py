"""Which samples train and which test. Seeds depend on coordinates, never on the order of work."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from zoloss_cli.config.data_models import ALL
from zoloss_cli.errors import DataError


@dataclass(frozen=True)
class SplitRule:
    """How many samples train and test, and the master seed of all splits.

    Attributes
    ----------
    train : int, float or 'all'
        The count or share of training samples; with 'all', there is no test sample.
    test : int or None
        The count of test samples; None for all others.
    seed : int
        The master seed.
    predefined : bool
        Whether the split is the data set's own, its first `train` samples: then it is the same in every repeat.
    """

    train: int | float | str
    test: int | None
    seed: int
    predefined: bool = False

    def compute_sizes(self, n: int, where: str) -> tuple[int, int]:
        """Return (n_train, n_test) for n samples: round(share * n) or the count, and the rest or the count."""
        if isinstance(self.train, str):
            return n, 0
        n_train = self.train if isinstance(self.train, int) else round(self.train * n)
        n_test = n - n_train if self.test is None else self.test
        if n_train < 2 or n_test < 1 or n_train + n_test > n:
            raise DataError(
                f"{where} has {n} samples: too few for {n_train} to train and {max(n_test, 1)} to test"
            )
        return n_train, n_test

    def select_indices(self, n: int, dataset: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the training and test indices of split k: permuted, not stratified; or in the file's order."""
        n_train, n_test = self.compute_sizes(n, f"data set '{dataset}'")
        if self.train == ALL or self.predefined:
            return np.arange(n_train), np.arange(n_train, n_train + n_test)
        order = np.random.default_rng(derive_seed(self.seed, dataset, k)).permutation(n)
        return order[:n_train], order[n_train : n_train + n_test]


def derive_seed(master: int, dataset: str, k: int, learner: str | None = None) -> np.random.SeedSequence:
    """Return the seed of split k of a data set, or of a learner on it: the same for any order of work."""
    words = [master, zlib.crc32(dataset.encode()), k]
    if learner is not None:
        words.append(zlib.crc32(learner.encode()))
    return np.random.SeedSequence(words)
