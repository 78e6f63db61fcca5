"""Pools of generated samples: a generator's name, a seed and settings determine each sample."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from zoloss_cli.config.catalog import find_generator
from zoloss_cli.datasets.generators import Pool
from zoloss_cli.plugins import Plugin


def generate(name: str, seed: int, **settings: Any) -> Pool:
    """Return the pool of a generator for a seed.

    Parameters
    ----------
    name : str
        A generator, zoloss's own or another package's.
    seed : int
        The seed of the pool.
    **settings
        The generator's own parameters, such as `size`.

    Returns
    -------
    Pool
        Samples, their class indices, and the names of classes and features.
    """
    registered = find_generator(name)
    rng = np.random.default_rng([seed, int.from_bytes(name.encode(), "big")])
    if registered.plugin is None:
        return registered.loaded(rng, **settings)
    try:
        pool = Pool(*registered.loaded(rng, **settings))
        X, y = np.asarray(pool.X, dtype=np.float64), np.asarray(pool.y)
    except Exception as error:
        raise registered.plugin.build_error(f"gives no pool: {type(error).__name__}: {error}") from error
    _check_pool(registered.plugin, X, y, pool)
    return Pool(X, y.astype(int), [str(c) for c in pool.classes], [str(f) for f in pool.features])


def _check_pool(plugin: Plugin, X: np.ndarray, y: np.ndarray, pool: Pool) -> None:
    has_names = X.ndim == 2 and X.shape == (len(y), len(pool.features)) and np.all(np.isfinite(X))
    has_classes = y.ndim == 1 and y.dtype.kind in "iu" and set(np.unique(y)) <= set(range(len(pool.classes)))
    if not (has_names and has_classes):
        raise plugin.build_error("gives no pool of N x m finite features, N class indices, and names of both")


def hash_plugin_pools(name: str, seeds: tuple[int, ...], **settings: Any) -> dict[str, str]:
    """Return the sha256 of the pools of another package's generator, which may change, unlike ours."""
    if find_generator(name).plugin is None:
        return {}
    digest = hashlib.sha256()
    for seed in seeds:
        pool = generate(name, seed, **settings)
        digest.update(np.ascontiguousarray(pool.X).tobytes() + pool.y.astype(np.int64).tobytes())
    return {"sha256": digest.hexdigest()}
