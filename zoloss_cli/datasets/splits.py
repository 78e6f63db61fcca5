"""Which rows train and which test. Seeds come from coordinates, never from the order of work."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from zoloss_cli.config.models import ALL
from zoloss_cli.errors import DataError


@dataclass(frozen=True)
class SplitRule:
    """How many rows train and test, and the master seed of all splits. Where `train` is 'all', none tests.

    `predefined`: the data set's own partition, its first `train` rows; it is the same in every repeat.
    """

    train: int | float | str
    test: int | None
    seed: int
    predefined: bool = False

    def compute_sizes(self, n: int, where: str) -> tuple[int, int]:
        """(n_train, n_test): round(share * N) or the count, and the rest or the count."""
        if self.train == ALL:
            return n, 0
        n_train = self.train if isinstance(self.train, int) else round(self.train * n)
        n_test = n - n_train if self.test is None else self.test
        if n_train < 2 or n_test < 1 or n_train + n_test > n:
            raise DataError(
                f"{where} has {n} rows: too few for {n_train} to train and {max(n_test, 1)} to test"
            )
        return n_train, n_test

    def select_indices(self, n: int, dataset: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows of split k: a random permutation, not stratified; or in file order."""
        n_train, n_test = self.compute_sizes(n, f"data set '{dataset}'")
        if self.train == ALL or self.predefined:
            return np.arange(n_train), np.arange(n_train, n_train + n_test)
        order = np.random.default_rng(derive_seed(self.seed, dataset, k)).permutation(n)
        return order[:n_train], order[n_train : n_train + n_test]


def derive_seed(master: int, dataset: str, k: int, learner: str | None = None) -> np.random.SeedSequence:
    """The seed of split k of a data set, or of a learner on it: the same for any order of work."""
    words = [master, zlib.crc32(dataset.encode()), k]
    if learner is not None:
        words.append(zlib.crc32(learner.encode()))
    return np.random.SeedSequence(words)
