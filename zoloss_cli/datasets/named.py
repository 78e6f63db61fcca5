"""A data set by its name, as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from zoloss_cli.config.data_spec import build_data_spec
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.datasets.dataset import load_data
from zoloss_cli.errors import ConfigError


def load_dataset(name: str, **settings) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of one of `zoloss datasets`: N x m features, and the number of each row's class.

    Of two classes the positive one is 1. Settings are those of a config's entry: `positive` for one class
    against the rest, `noise`, and a generator's `size`, `seed` and own ones. Features are as in the file:
    scale them as you need.

    >>> from zoloss_cli import load_dataset
    >>> X, y = load_dataset("heart")
    >>> X.shape, int(y.sum())
    ((270, 13), 120)
    >>> X, y = load_dataset("yinyang", size=300, seed=7)
    >>> X.shape
    (300, 2)
    """
    mistakes = InlineErrorCollector(f"load_dataset({name!r})")
    spec = build_data_spec(name, settings, Path(), mistakes)
    if spec is None or mistakes.lines:
        raise ConfigError("\n".join(dict.fromkeys(mistakes.lines)))
    data = load_data(spec)
    return data.X.copy(), data.y.copy()  # what `load` keeps cannot be written to
