"""Model files as objects that predict the samples of a DataFrame."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.datasets.new_rows import encode_rows
from zoloss_cli.datasets.raw_table import RawColumn, RawTable
from zoloss_cli.errors import DataError, ModelError
from zoloss_cli.learners.problem import refuse_masked
from zoloss_cli.workflows.model_io import SavedModel, read_model

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

SOURCE = Path("X")  # what messages call the samples


class Model:
    """A model written by `zoloss fit --model`, with the methods of a fitted scikit-learn classifier.

    Parameters
    ----------
    saved : SavedModel
        The contents of the file.
    path : Path
        The path of the file, for messages.

    Attributes
    ----------
    classes_ : ndarray of str
        The classes; with two, the positive one is last.
    feature_names_in_ : ndarray of str
        The columns that samples must have.
    n_features_in_ : int
        Number of these columns.
    """

    def __init__(self, saved: SavedModel, path: Path):
        self._saved, self._path = saved, path
        self.classes_ = np.array(saved.classes, dtype=object)
        self.feature_names_in_ = np.array([column.name for column in saved.known.columns], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def decision_function(self, X: pd.DataFrame | ArrayLike) -> np.ndarray:
        """Return the scores of samples.

        Parameters
        ----------
        X : DataFrame or array-like
            Samples: a DataFrame with the model's columns, in any order and possibly among others, or an array
            with exactly these columns.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score per sample, positive for the second of two classes; or, with more classes, one for each.
        """
        raw = _read_samples(X, list(self.feature_names_in_))
        rows = encode_rows(raw, self._saved.known, "error")
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._saved.rule.score(rows.table.X)
        wild = ~np.isfinite(scores.reshape(len(raw.lines), -1)).all(axis=1)
        if wild.any():
            raise DataError(f"X: row {int(np.argmax(wild))}: the values are too large for a finite score")
        return scores

    def predict(self, X: pd.DataFrame | ArrayLike) -> np.ndarray:
        """Return the class of each sample, as the training table named it.

        Parameters
        ----------
        X : DataFrame or array-like
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of str
            One class per sample.
        """
        return self.classes_[self._saved.rule.classify(self.decision_function(X))]

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> np.ndarray:
        """Return the probability of each class, if the model was calibrated.

        Parameters
        ----------
        X : DataFrame or array-like
            Samples, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        if self._saved.calibration is None:
            raise ModelError(
                f"{self._path} has no probabilities; fit it again with: zoloss fit --calibrate sigmoid"
            )
        found = self._saved.calibration.compute(self.decision_function(X))
        return np.column_stack([1.0 - found, found]) if found.ndim == 1 else found

    def __repr__(self) -> str:
        return (
            f"Model({str(self._path)!r}, classes={list(self._saved.classes)}, features={self.n_features_in_})"
        )


def load_model(path: str | PathLike[str], *, trust: bool = False) -> Model:
    """Return the model in a file that `zoloss fit --model` wrote.

    Reading runs no code: the file is JSON, and everything in it is checked.

    Parameters
    ----------
    path : str or path-like
        The file.
    trust : bool, default=False
        Whether to use a file that was changed after it was written.

    Returns
    -------
    Model
        With `predict`, `predict_proba` and `decision_function`.

    Raises
    ------
    ModelError
        If the file is not a model, or was changed and is not trusted.

    Examples
    --------
    >>> from zoloss_cli import load_model
    >>> model = load_model("no-such-model.json")
    Traceback (most recent call last):
    zoloss_cli.errors.ModelError: there is no model file no-such-model.json
    >>> model = load_model("heart.json")  # doctest: +SKIP
    >>> model.predict(frame)  # doctest: +SKIP
    """
    saved = read_model(Path(path), trust)
    for note in saved.notes:
        warnings.warn(note, stacklevel=2)
    return Model(saved, Path(path))


def _read_samples(X: Any, names: list[str]) -> RawTable:
    """Return samples as a table with named columns; rows are named by position."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        header = [str(name) for name in X.columns]
        columns = [_read_column(name, X.iloc[:, place]) for place, name in enumerate(header)]
    else:
        refuse_masked("predict", X=X)
        values = np.asarray(X, dtype=object)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise DataError(f"X must have two dimensions and {len(names)} columns (got shape {values.shape})")
        header = names
        columns = [_read_values(name, values[:, place].tolist()) for place, name in enumerate(names)]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise DataError(f"X has the column '{twice}' twice")
    n_rows = len(columns[0].missing) if columns else 0
    if not n_rows:
        raise DataError("X has no samples")
    return RawTable(SOURCE, header, columns, list(range(n_rows)))


def _read_column(name: str, series: pd.Series) -> RawColumn:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(series) and not is_bool_dtype(series):
        return RawColumn.from_numbers(name, series.to_numpy(dtype=float, na_value=np.nan))
    return _read_values(name, series.tolist())


def _read_values(name: str, values: list[Any]) -> RawColumn:
    if all(isinstance(each, int | float | np.number) and not isinstance(each, bool) for each in values):
        return RawColumn.from_numbers(name, np.array(values, dtype=float))
    return RawColumn.from_texts(name, ["" if _is_gap(each) else str(each) for each in values])


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value)) or type(value).__name__ == "NAType"
