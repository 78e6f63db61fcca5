"""Samples, labels and weights in the form that kernels take."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zoloss_cli.kernels.line_search import to_fixed_point

# Weights below this share of the largest one do not change a solution.
NEGLIGIBLE_WEIGHT_SHARE = 1e-9
# Of a feature: fourth powers of values in this range, and their sums, are still normal numbers.
MAX_FEATURE_SIZE = 1e75
MIN_FEATURE_SIZE = 1e-75
ROWS_PER_LOOK = 16_384


@dataclass(frozen=True)
class Samples:
    """Samples in the form that kernels take, with a cache of what was computed from them.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 1 + n_features)
        One sample per row, the constant 1 first.
    """

    X: np.ndarray
    _cache: dict[Hashable, Any] = field(default_factory=dict, kw_only=True, repr=False)

    def cached_by_X(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute`, called once for all problems that share these samples.

        Parameters
        ----------
        key : hashable
            What is computed, and with which parameters.
        compute : callable
            Computes the value from X alone.

        Returns
        -------
        object
            The value that the first call for this key computed.
        """
        return _compute_once(self._cache, key, compute)

    def build_problem(
        self,
        y: np.ndarray,
        phi: np.ndarray,
        rng: np.random.Generator,
        label_cache: dict[Hashable, Any],
    ) -> Problem:
        """Return the binary problem on the samples whose label is not 0.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Labels: -1.0 or +1.0, or 0.0 to leave a sample out.
        phi : ndarray of shape (n_samples,)
            Sample weights; those of labelled samples sum to 1.
        rng : numpy.random.Generator
            Source of random draws.
        label_cache : dict
            Cache to share with other problems on the same samples and labels.

        Returns
        -------
        Problem
            The problem, which shares the cache of these samples.
        """
        if np.all(y):
            return Problem(self.X, y, phi, rng, label_cache, _cache=self._cache)
        subset = np.flatnonzero(y)
        return Problem(self.X[subset], y[subset], phi[subset], rng, label_cache, (self, subset))


@dataclass(frozen=True)
class Problem(Samples):
    """A validated binary classification problem in the form that kernels take.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 1 + n_features)
        One sample per row, the constant 1 first.
    y : ndarray of shape (n_samples,)
        Labels, -1.0 or +1.0.
    phi : ndarray of shape (n_samples,)
        Sample weights, which sum to 1.
    rng : numpy.random.Generator
        Source of random draws.
    subset_of : tuple of (Samples, ndarray) or None
        The samples that these were taken from, and their indices.
    features : ndarray of shape (n_samples, n_features) or None
        X without the constant, if it is so large that a learner may use X as workspace and restore it.
    exact : ExactFeatures or None
        The values that bounds are about, for learners that prove any.
    """

    y: np.ndarray
    phi: np.ndarray
    rng: np.random.Generator
    _label_cache: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    subset_of: tuple[Samples, np.ndarray] | None = None
    features: np.ndarray | None = None
    exact: Any = None

    def restore_samples(self) -> None:
        """Restore X after it was used as workspace."""
        self.X[:, 0] = 1.0
        self.X[:, 1:] = self.features

    def cached_by_X_and_y(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute`, called once for problems that differ only in their weights.

        Parameters
        ----------
        key : hashable
            What is computed.
        compute : callable
            Computes the value from X and y, which rounds of boosting share; they differ in `phi`.

        Returns
        -------
        object
            The value that the first call for this key computed.
        """
        return _compute_once(self._label_cache, key, compute)

    @property
    def all_samples(self) -> tuple[Samples, np.ndarray | slice]:
        """All known samples, and which of them this problem has."""
        return self.subset_of or (self, slice(None))

    @property
    def unit_mean_weights(self) -> np.ndarray:
        """Sample weights with mean 1: exactly 1 if all are equal, so that their sums are counts."""
        return np.ones(self.phi.size) if np.ptp(self.phi) == 0.0 else self.phi * self.phi.size

    @property
    def phi_fixed(self) -> np.ndarray:
        """Sample weights as fixed-point integers, whose sums do not depend on their order."""
        return to_fixed_point(self.phi)

    def draw_kernel_seed(self) -> np.uint64:
        """Return a seed for the random draws of a kernel."""
        return self.rng.integers(0, 2**64, dtype=np.uint64)


def _compute_once(cache: dict[Hashable, Any], key: Hashable, compute: Callable[[], Any]) -> Any:
    if key not in cache:
        cache[key] = compute()
    return cache[key]


def build_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator from an int, None, SeedSequence, Generator or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def check_feature_sizes(X: np.ndarray, name: str) -> None:
    """Raise ValueError if a feature cannot be used: products of its values overflow or vanish.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features, all finite.
    name : str
        The caller, for the message.
    """
    sizes = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    wrong = (sizes > MAX_FEATURE_SIZE) | ((sizes < MIN_FEATURE_SIZE) & (sizes > 0.0))
    if np.any(wrong):
        j = int(np.argmax(wrong))
        extreme = "large" if sizes[j] > 1.0 else "small"
        raise ValueError(
            f"{name}: feature {j} (counted from 0) has values of size {sizes[j]:.3g}, too {extreme} to compute "
            f"with; measure them on another scale, or scale the features"
        )


def refuse_masked(name: str, **arrays: Any) -> None:
    """Raise ValueError if a value of an array is masked: its number means nothing.

    Parameters
    ----------
    name : str
        The caller, for the message.
    **arrays : array-like
        The arrays by their names.
    """
    for key, values in arrays.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise ValueError(
                f"{name}: {key} has masked values, {np.ma.count_masked(values)} of {values.size}: leave these "
                f"samples out, or fill them in with {key}.filled(VALUE)"
            )


def drop_tiny_values(X: np.ndarray) -> np.ndarray:
    """Return X with 0 for values that are too small to divide by; X itself if there are none."""
    for start in range(0, len(X), ROWS_PER_LOOK):  # in parts: all at once would take as much memory as X
        part = np.abs(X[start : start + ROWS_PER_LOOK])
        if np.any((part < MIN_FEATURE_SIZE) & (part > 0.0)):
            return np.where(np.abs(X) < MIN_FEATURE_SIZE, 0.0, X)
    return X


def add_bias_column(X: np.ndarray) -> np.ndarray:
    """Return the samples (1, x)."""
    design = np.empty((X.shape[0], X.shape[1] + 1))
    design[:, 0] = 1.0
    design[:, 1:] = X
    return design
