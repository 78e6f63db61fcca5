"""A data set by its name, as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.config.data_spec import build_data_spec
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.datasets.dataset import load_data


def load_dataset(name: str, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples and class indices of one of `zoloss datasets`.

    A wrong name or setting is a ConfigError, which suggests the nearest one.

    Parameters
    ----------
    name : str
        A data set or generator.
    **settings
        As in a config's entry: `positive` for one class against the rest, `noise`, and a generator's `size`,
        `seed` and own parameters.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features as in the file: scale them as you need.
    y : ndarray of shape (n_samples,)
        The number of each sample's class; of two classes the positive one is 1.

    Examples
    --------
    >>> from zoloss_cli import load_dataset
    >>> X, y = load_dataset("heart")
    >>> X.shape, int(y.sum())
    ((270, 13), 120)
    >>> X, y = load_dataset("yinyang", size=300, seed=7)
    >>> X.shape
    (300, 2)
    """
    errors = InlineErrorCollector(f"load_dataset({name!r})")
    spec = build_data_spec(name, settings, Path(), errors)
    errors.raise_errors()
    assert spec is not None, "what is no data set has an error"
    data = load_data(spec)
    return data.X.copy(), data.y.copy()  # what `load_data` keeps cannot be written to
