"""A saved rule applied to new rows."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zoloss_cli.datasets.own_table import OwnTable, read_new
from zoloss_cli.datasets.table_file import is_missing
from zoloss_cli.errors import DataError, nearest
from zoloss_cli.usage.model_file import Model


@dataclass(frozen=True)
class Predicted:
    """The answers for all rows, in the file's order."""

    predictions: list[str]
    scores: np.ndarray
    notes: list[str]

    def csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["prediction", "score"])
        writer.writerows(zip(self.predictions, self.scores.tolist(), strict=True))
        return out.getvalue()


def apply(model: Model, path: Path) -> Predicted:
    """Predictions and scores for the rows of a CSV; a score of 0 stands for the positive class."""
    table = read_new(path, model.columns, model.label, model.missing)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = model.rule.scores(table.X)
    if not np.all(np.isfinite(scores)):
        line = table.lines[int(np.flatnonzero(~np.isfinite(scores))[0])]
        raise DataError(f"{path}, line {line}: the values are too large for a finite score")
    predictions = [model.classes[int(score >= 0.0)] for score in scores]
    counted = [] if table.labels is None else [_count_errors(model, table, predictions)]
    return Predicted(predictions, scores, [*table.notes, *counted])


def _count_errors(model: Model, table: OwnTable, predictions: list[str]) -> str:
    negative, positive = model.classes
    labelled = errors = 0
    for line, label, prediction in zip(table.lines, table.labels, predictions, strict=True):
        if is_missing(label):
            continue
        if label not in model.labels:
            raise DataError(
                f"{table.path}, line {line}: column '{table.label}' holds the class '{label}', which the model "
                f"does not know{nearest(label, model.labels)}"
            )
        labelled += 1
        errors += prediction != (positive if label == positive else negative)
    share = f" ({100 * errors / labelled:.2f} %)" if labelled else ""
    return f"{errors:,} errors in {labelled:,} rows with a label{share}"
