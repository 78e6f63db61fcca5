"""Apply a saved model to new samples."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.api.models import SavedModel, read_model
from zoloss_cli.data.new_rows import encode_rows, read_for_prediction
from zoloss_cli.data.read import RawColumn, RawTable, is_missing
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError, ModelError
from zoloss_cli.learners.base import refuse_masked
from zoloss_cli.report.render import write_csv

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Predictions:
    """Predictions for all rows of a file, in order."""

    classes: tuple[str, ...]
    predictions: list[str]  # the class of each row; empty if there is a reason for none
    scores: np.ndarray  # one score per row, or one per class if there are more than two
    notes: list[str]  # notes about the file, and the errors if it has labels
    reasons: dict[int, str] = field(default_factory=dict)  # why a row has no prediction
    kept: dict[str, list[str]] = field(default_factory=dict)  # columns copied from the file
    probabilities: dict[str, np.ndarray] = field(default_factory=dict)

    def render_csv(self) -> str:
        """Return the predictions and scores as CSV, after kept columns, and the reasons for missing ones."""
        columns = {"score": self.scores}
        if self.scores.ndim == 2:
            columns = {
                f"score={name}": scores for name, scores in zip(self.classes, self.scores.T, strict=True)
            }
        shown: dict[str, list] = {"prediction": self.predictions}
        for name, values in (columns | self.probabilities).items():  # empty where there is no prediction
            shown[name] = ["" if row in self.reasons else value for row, value in enumerate(values.tolist())]
        if self.reasons:
            shown["reason"] = [self.reasons.get(row, "") for row in range(len(self.predictions))]
        if duplicates := [name for name in self.kept if name in shown]:
            raise ConfigError(
                f"--keep: '{duplicates[0]}' is also a column of the predictions; rename it in the table"
            )
        lines = zip(*self.kept.values(), *shown.values(), strict=True)
        return write_csv([*self.kept, *shown], lines) + "\n"


def predict_table(
    model: SavedModel, path: Path, unknown: str | None = None, keep: Sequence[str] = ()
) -> Predictions:
    """Predict the class of each row of a table."""
    if unknown == "ignore" and all(column.levels is None for column in model.known.columns):
        raise ConfigError("--unknown ignore: the model has no columns of text, so no level can be unknown")
    rows = read_for_prediction(path, model.known, unknown, keep)
    table, reasons = rows.table, dict(rows.reasons)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = model.rule.score(table.X)
    except ValueError as error:  # an estimator rejects numbers that it cannot compute with
        raise DataError(f"{table.path}: {error}") from None
    finite = np.isfinite(scores.reshape(len(table.lines), -1)).all(axis=1)
    for row in np.flatnonzero(~finite).tolist():
        reasons.setdefault(row, "the values are too large for a finite score")
    if reasons and (unknown == "error" or len(reasons) == len(table.lines)):
        first = min(reasons)
        raise DataError(f"{table.path}:{table.lines[first]}: {reasons[first]}")
    classes = model.rule.classify(np.where(np.isfinite(scores), scores, 0.0))
    predictions = ["" if row in reasons else model.classes[k] for row, k in enumerate(classes)]
    notes = list(table.notes)
    if reasons:
        first = min(reasons)
        notes.append(
            f"{table.path}: {len(reasons):,} of {len(table.lines):,} rows have no prediction; the column "
            f"'reason' says why, as in line {table.lines[first]}: {reasons[first]}"
        )
    notes += [] if table.labels is None else _count_errors(model, table, table.labels, predictions)
    probabilities: dict[str, np.ndarray] = {}
    if model.calibration is not None:
        found = model.calibration.compute(scores)
        names = ["probability"] if found.ndim == 1 else [f"probability={name}" for name in model.classes]
        probabilities = dict(zip(names, found.reshape(len(found), -1).T, strict=True))
    return Predictions(model.classes, predictions, scores, notes, reasons, rows.kept, probabilities)


def _count_errors(model: SavedModel, table: CsvTable, labels: list[str], predictions: list[str]) -> list[str]:
    labelled = errors = 0
    strange: list[tuple[int, str]] = []
    for line, label, prediction in zip(table.lines, labels, predictions, strict=True):
        if is_missing(label) or not prediction:
            continue
        if label not in model.labels:
            strange.append((line, label))
        labelled += 1
        # With one class against the rest, the first class represents all others.
        is_other = label in model.classes or label not in model.labels
        errors += prediction != (label if is_other else model.classes[0])
    share = f" ({100 * errors / labelled:.2f} %)" if labelled else ""
    notes = [f"{errors:,} errors in {labelled:,} rows with a label{share}"]
    if strange:
        line, label = strange[0]
        count = f"{len(strange):,} row{'s' * (len(strange) != 1)}"
        notes.append(
            f"{table.path}:{line}: column '{table.label}' holds the class '{label}', which the model does not "
            f"know; {count} with such classes counted as errors"
        )
    return notes


SOURCE = Path("X")  # the name of the samples in messages


class Model:
    """A model written by `zoloss fit --model`, with the methods of a fitted scikit-learn classifier.

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
        overflows = ~np.isfinite(scores.reshape(len(raw.lines), -1)).all(axis=1)
        if overflows.any():
            raise DataError(f"X: row {int(np.argmax(overflows))}: the values are too large for a finite score")
        return scores

    def predict(self, X: pd.DataFrame | ArrayLike) -> np.ndarray:
        """Return the class of each sample, as named in the training table.

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
    """Load a model from a file that `zoloss fit --model` wrote.

    Loading executes no code: the file is JSON, and is validated completely.

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
        duplicate = next(name for name in header if header.count(name) > 1)
        raise DataError(f"X has the column '{duplicate}' twice")
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
