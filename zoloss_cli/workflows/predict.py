"""Apply a saved model to new samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.csv_reader import is_missing
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.datasets.new_rows import read_for_prediction
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.reporting.render.csv import write_csv
from zoloss_cli.workflows.calibration import build_probability_columns
from zoloss_cli.workflows.model_io import SavedModel


@dataclass(frozen=True)
class Predictions:
    """Predictions for all rows of a file, in order.

    Attributes
    ----------
    classes : tuple of str
        The classes.
    predictions : list of str
        The class of each row; empty if there is a reason for none.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        One score per row, or one per class if there are more than two.
    notes : list of str
        Notes about the file, and the errors if it has labels.
    reasons : dict of int to str
        Why a row has no prediction.
    kept : dict of str to list of str
        Columns copied from the file.
    probabilities : dict of str to ndarray
        Columns of probabilities, if the model has them.
    """

    classes: tuple[str, ...]
    predictions: list[str]
    scores: np.ndarray
    notes: list[str]
    reasons: dict[int, str] = field(default_factory=dict)
    kept: dict[str, list[str]] = field(default_factory=dict)
    probabilities: dict[str, np.ndarray] = field(default_factory=dict)

    def render_csv(self) -> str:
        """Return the predictions and scores as CSV, after kept columns, and the reasons for missing ones."""
        columns = {"score": self.scores}
        if self.scores.ndim == 2:
            columns = {
                f"score={name}": scores for name, scores in zip(self.classes, self.scores.T, strict=True)
            }
        columns |= self.probabilities
        shown = {"prediction": self.predictions} | {key: self._blank(each) for key, each in columns.items()}
        if self.reasons:
            shown["reason"] = [self.reasons.get(row, "") for row in range(len(self.predictions))]
        if twice := [name for name in self.kept if name in shown]:
            raise ConfigError(
                f"--keep: '{twice[0]}' is also a column of the predictions; rename it in the table"
            )
        lines = zip(*self.kept.values(), *shown.values(), strict=True)
        return write_csv([*self.kept, *shown], lines) + "\n"

    def _blank(self, scores: np.ndarray) -> list:
        """Return scores, left empty where there is no prediction."""
        return ["" if row in self.reasons else score for row, score in enumerate(scores.tolist())]


def predict_table(
    model: SavedModel, path: Path, unknown: str | None = None, keep: Sequence[str] = ()
) -> Predictions:
    """Predict the class of each row of a table.

    Parameters
    ----------
    model : SavedModel
        The model.
    path : Path
        The table; `-` for standard input.
    unknown : {'error', 'ignore'} or None
        What to do with levels unseen in training; None: treat them as missing values.
    keep : sequence of str
        Columns to copy to the predictions.

    Returns
    -------
    Predictions
        One per row, or the reason for none. A table without a single prediction is a DataError.
    """
    if unknown == "ignore" and all(column.levels is None for column in model.known.columns):
        raise ConfigError("--unknown ignore: the model has no columns of text, so no level can be unknown")
    rows = read_for_prediction(path, model.known, unknown, keep)
    table, reasons = rows.table, dict(rows.reasons)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = model.rule.score(table.X)
    except ValueError as error:  # an estimator refuses numbers that it cannot compute with
        raise DataError(f"{table.path}: {error}") from None
    finite = np.isfinite(scores.reshape(len(table.lines), -1)).all(axis=1)
    for row in np.flatnonzero(~finite).tolist():
        reasons.setdefault(row, "the values are too large for a finite score")
    if reasons and (unknown == "error" or len(reasons) == len(table.lines)):
        first = min(reasons)
        raise DataError(f"{table.path}:{table.lines[first]}: {reasons[first]}")
    classes = model.rule.classify(np.where(np.isfinite(scores), scores, 0.0))
    predictions = ["" if row in reasons else model.classes[k] for row, k in enumerate(classes)]
    notes = [*table.notes, *_describe_reasons(table, reasons)]
    notes += [] if table.labels is None else _count_errors(model, table, table.labels, predictions)
    probabilities = build_probability_columns(model.calibration, model.classes, scores)
    return Predictions(model.classes, predictions, scores, notes, reasons, rows.kept, probabilities)


def _describe_reasons(table: CsvTable, reasons: dict[int, str]) -> list[str]:
    if not reasons:
        return []
    first = min(reasons)
    return [
        f"{table.path}: {len(reasons):,} of {len(table.lines):,} rows have no prediction; the column 'reason' "
        f"says why, as in line {table.lines[first]}: {reasons[first]}"
    ]


def _count_errors(model: SavedModel, table: CsvTable, labels: list[str], predictions: list[str]) -> list[str]:
    labelled = errors = 0
    strange: list[tuple[int, str]] = []
    for line, label, prediction in zip(table.lines, labels, predictions, strict=True):
        if is_missing(label) or not prediction:
            continue
        if label not in model.labels:
            strange.append((line, label))
        labelled += 1
        # With one class against the rest, the first stands for all others.
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
