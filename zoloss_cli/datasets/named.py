"""Load a data set by name, as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from zoloss_cli.config.data_spec import build_data_spec
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.datasets.dataset import load_data

if TYPE_CHECKING:
    import pandas as pd


@overload
def load_dataset(
    name: str, *, as_frame: Literal[False] = False, **settings: Any
) -> tuple[np.ndarray, np.ndarray]: ...


@overload
def load_dataset(name: str, *, as_frame: Literal[True], **settings: Any) -> tuple[pd.DataFrame, pd.Series]: ...


def load_dataset(name: str, *, as_frame: bool = False, **settings: Any) -> tuple[Any, Any]:
    """Return the samples and class indices of a data set from `zoloss datasets`.

    A wrong name or setting raises ConfigError, which suggests the nearest valid one.

    Parameters
    ----------
    name : str
        The name of a data set or generator.
    as_frame : bool, default=False
        Whether to return a DataFrame, with the features as named columns, and a Series.
    **settings
        As in a config's entry: `positive` for one class against the rest, `noise`, and a generator's `size`,
        `seed` and own parameters.

    Returns
    -------
    X : ndarray or DataFrame of shape (n_samples, n_features)
        The features as in the file: scale them as needed.
    y : ndarray or Series of shape (n_samples,)
        The class index of each sample; with two classes, the positive one is 1.

    Examples
    --------
    >>> from zoloss_cli import load_dataset
    >>> X, y = load_dataset("heart")
    >>> X.shape, int(y.sum())
    ((270, 13), 120)
    >>> X, y = load_dataset("yinyang", size=300, seed=7)
    >>> X.shape
    (300, 2)
    >>> X, y = load_dataset("iris", as_frame=True)
    >>> list(X.columns)
    ['sepal_length', 'sepal_width', 'petal_length', 'petal_width']
    """
    errors = InlineErrorCollector(f"load_dataset({name!r})")
    spec = build_data_spec(name, settings, Path(), errors)
    errors.raise_errors()
    assert spec is not None, "what is not a data set has an error"
    data = load_data(spec)
    if as_frame:
        import pandas as pd

        return pd.DataFrame(data.X.copy(), columns=data.features), pd.Series(data.y.copy(), name="label")
    return data.X.copy(), data.y.copy()  # the arrays of `load_data` are read-only
