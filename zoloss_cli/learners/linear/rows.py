"""Fits to samples in place: sparse matrices, and arrays mapped from a file."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from zoloss_cli.learners.problem import check_feature_sizes

ROWS_PER_PREDICTION = 65_536
NO_AVERAGE = np.empty(0)


class Rows(NamedTuple):
    """Samples in the form that `kernels.rows` takes.

    Attributes
    ----------
    data : ndarray of shape (n_values,)
        The values of all samples, one sample after the other.
    columns : ndarray
        The feature of each value; for a dense array, those of one sample.
    starts : ndarray of shape (n_samples + 1,)
        Where each sample begins.
    shares_columns : bool
        Whether the array is dense.
    """

    data: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    shares_columns: bool


def stays_in_place(X: Any) -> bool:
    """Return whether samples are sparse or mapped from a file, and so must not be copied."""
    return sparse.issparse(X) or isinstance(X, np.memmap)


def check_value_sizes(X: Any, name: str) -> None:
    """Raise ValueError if products of values overflow or vanish: in some feature, or for sparse samples in any.

    Parameters
    ----------
    X : sparse matrix or ndarray of shape (n_samples, n_features)
        Samples, all finite.
    name : str
        The caller, for the message.
    """
    if not sparse.issparse(X):
        check_feature_sizes(X, name)
    elif X.data.size:
        check_feature_sizes(X.data[:, None], name)


def view_rows(X: Any) -> Rows:
    """Return a view of validated samples: CSR, or a C contiguous array.

    Parameters
    ----------
    X : sparse matrix or ndarray of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    Rows
        The same values, not copied.
    """
    if sparse.issparse(X):
        return Rows(X.data, X.indices, X.indptr, False)
    n, m = X.shape
    return Rows(X.reshape(n * m), np.arange(m, dtype=np.int32), np.arange(n + 1, dtype=np.int64) * m, True)
