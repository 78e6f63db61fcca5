"""A saved model applied to new samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.csv_reader import is_missing
from zoloss_cli.datasets.csv_table import CsvTable, read_for_prediction
from zoloss_cli.errors import DataError, suggest_nearest
from zoloss_cli.reporting.render.csv import write_csv
from zoloss_cli.workflows.model_io import SavedModel


@dataclass(frozen=True)
class Predictions:
    """Predictions for all rows of a file, in its order.

    Attributes
    ----------
    classes : tuple of str
        The classes.
    predictions : list of str
        The class of each row.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        One score each, or one a class if there are more than two.
    notes : list of str
        What to tell about the file, and the errors where it has labels.
    """

    classes: tuple[str, ...]
    predictions: list[str]
    scores: np.ndarray
    notes: list[str]

    def render_csv(self) -> str:
        """Return the predictions and scores as CSV."""
        columns = {"score": self.scores}
        if self.scores.ndim == 2:
            columns = {
                f"score={name}": scores for name, scores in zip(self.classes, self.scores.T, strict=True)
            }
        lines = zip(self.predictions, *(scores.tolist() for scores in columns.values()), strict=True)
        return write_csv(["prediction", *columns], lines) + "\n"


def predict_table(model: SavedModel, path: Path) -> Predictions:
    """Predict the class of each row of a CSV file."""
    table = read_for_prediction(path, model.columns, model.label, model.missing)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = model.rule.score(table.X)
    except ValueError as error:  # an estimator's refusal of numbers that it cannot compute with
        raise DataError(f"{path}: {error}") from None
    finite = np.isfinite(scores.reshape(len(table.lines), -1)).all(axis=1)
    if not finite.all():
        line = table.lines[int(np.flatnonzero(~finite)[0])]
        raise DataError(f"{path}:{line}: the values are too large for a finite score")
    predictions = [model.classes[k] for k in model.rule.classify(scores)]
    errors = [] if table.labels is None else [_count_errors(model, table, table.labels, predictions)]
    return Predictions(model.classes, predictions, scores, [*table.notes, *errors])


def _count_errors(model: SavedModel, table: CsvTable, labels: list[str], predictions: list[str]) -> str:
    labelled = errors = 0
    for line, label, prediction in zip(table.lines, labels, predictions, strict=True):
        if is_missing(label):
            continue
        if label not in model.labels:
            raise DataError(
                f"{table.path}:{line}: column '{table.label}' holds the class '{label}', which the model "
                f"does not know{suggest_nearest(label, model.labels)}"
            )
        labelled += 1
        # Of one class against the rest, the first stands for all others.
        errors += prediction != (label if label in model.classes else model.classes[0])
    share = f" ({100 * errors / labelled:.2f} %)" if labelled else ""
    return f"{errors:,} errors in {labelled:,} rows with a label{share}"
