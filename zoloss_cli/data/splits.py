"""Splits into training and test part, their seeds, and scaling that is fitted to the training part."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from zoloss_cli.config.models import ALL
from zoloss_cli.errors import DataError


@dataclass(frozen=True)
class SplitRule:
    """Sizes of the training and the test part, and the master seed of all splits."""

    # The count or share of training samples; with 'all', there is no test sample; None with folds.
    train: int | float | str | None
    test: int | None  # the count of test samples; None for all others
    seed: int
    predefined: bool = False  # the data set's own split, its first `train` samples: the same in every repeat
    folds: int | None = None  # of each random partition, in turn the test part

    def compute_sizes(self, n: int, where: str) -> tuple[int, int]:
        """Return (n_train, n_test) for n samples: round(share * n) or the count, and the rest or the count.

        The sizes of folds differ by at most one; these are those of the first, the largest.
        """
        if isinstance(self.train, str):
            return n, 0
        if self.train is None:
            assert self.folds is not None, "checked with the config"
            n_test = -(-n // self.folds)
            if n < self.folds or n - n_test < 2:
                raise DataError(f"{where} has {n} samples: too few for {self.folds} folds")
            return n - n_test, n_test
        n_train = self.train if isinstance(self.train, int) else round(self.train * n)
        n_test = n - n_train if self.test is None else self.test
        if n_train < 2 or n_test < 1 or n_train + n_test > n:
            raise DataError(
                f"{where} has {n} samples: too few for {n_train} to train and {max(n_test, 1)} to test"
            )
        return n_train, n_test

    def select_indices(self, n: int, dataset: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the training and test indices of split k: permuted, not stratified; or in the file's order.

        With folds, the test part is fold k mod folds of the random partition k div folds.
        """
        n_train, n_test = self.compute_sizes(n, f"data set '{dataset}'")
        if self.train == ALL or self.predefined:
            return np.arange(n_train), np.arange(n_train, n_train + n_test)
        partition, fold = divmod(k, self.folds or 1)
        order = np.random.default_rng(derive_seed(self.seed, dataset, partition)).permutation(n)
        if self.folds is not None:
            test = np.array_split(order, self.folds)[fold]
            return order[~np.isin(order, test)], test
        return order[:n_train], order[n_train : n_train + n_test]


def derive_seed(master: int, dataset: str, k: int, learner: str | None = None) -> np.random.SeedSequence:
    """Return the seed of split k of a data set, or of a learner on it, for any order of execution."""
    words = [master, zlib.crc32(dataset.encode()), k]
    if learner is not None:
        words.append(zlib.crc32(learner.encode()))
    return np.random.SeedSequence(words)


def scale_parts(
    train: np.ndarray, test: np.ndarray, how: str, fit_on: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Scale the training and the test part by statistics of the training part, or of the samples `fit_on`.

    'minmax' maps the samples to [-1, 1] as (x - (hi+lo)/2) / ((hi-lo)/2), a form on whose rounding the
    published test errors depend; test values may leave [-1, 1]. 'standard' gives mean 0 and variance 1 (ddof =
    1). A feature that is constant in the fitted samples becomes 0.
    """
    if how == "none":
        return train, test
    centre, spread = compute_scaling(train if fit_on is None else fit_on, how)
    return apply_scaling(train, centre, spread), apply_scaling(test, centre, spread)


def apply_scaling(X: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the samples minus the centre, divided by the spread; 0 where the spread is 0."""
    constant = spread == 0.0
    return np.where(constant, 0.0, (X - centre) / np.where(constant, 1.0, spread))


def compute_scaling(X: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre and the spread of each feature; a spread of 0 marks a constant feature."""
    if how == "none":
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    low, high = X.min(axis=0), X.max(axis=0)
    if how == "minmax":
        centre, half = (high + low) / 2.0, (high - low) / 2.0
    else:
        centre, half = X.mean(axis=0), X.std(axis=0, ddof=1)
    return centre, np.where(low == high, 0.0, half)


def compute_finite_scaling(
    X: np.ndarray, how: str, features: list[str], where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Call `compute_scaling`; raise DataError for a feature whose values are too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = compute_scaling(X, how)
    is_infinite = ~(np.isfinite(centre) & np.isfinite(spread))
    if np.any(is_infinite):
        name = features[int(np.flatnonzero(is_infinite)[0])]
        raise DataError(f"{where}: the values of '{name}' are too large to be scaled; use smaller units")
    return centre, spread
