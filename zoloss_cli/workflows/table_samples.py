"""Samples of your own table, to measure their complexity: scaled, without rows that contradict each other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zoloss_cli.complexity.hard_margin import InseparableError
from zoloss_cli.complexity.pruning import find_contradicted
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.datasets.labels import join_names
from zoloss_cli.datasets.scaling import apply_scaling, compute_finite_scaling
from zoloss_cli.errors import DataError

ADVICE = {
    "perceptron": "rows of different classes are nearly the same; remove some of them or use another --scale",
    "rbf": "use a larger --gamma, or --kernel perceptron",
}


@dataclass(frozen=True)
class TableSamples:
    """Samples of a table, scaled.

    Attributes
    ----------
    table : CsvTable
        The whole table.
    rows : ndarray of int
        The selected rows of the table.
    X : ndarray of shape (n_samples, n_features)
        Scaled features.
    y : ndarray of int of shape (n_samples,)
        Indices of classes.
    classes : list of str
        The classes that occur; with two, the negative one first.
    scaling : str
        How the features were scaled.
    contradicted : ndarray of int
        The rows of the table that were set apart: others have equal features and another label that is at least
        as frequent among them.
    absent : list of str
        The classes of the table that no sample has.
    """

    table: CsvTable
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray
    classes: list[str]
    scaling: str
    contradicted: np.ndarray
    absent: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lines(self) -> list[int]:
        """The line of the file where each sample begins."""
        return [self.table.lines[row] for row in self.rows]

    @cached_property
    def labels(self) -> list[str]:
        """The labels as in the file, where the rest may be several classes."""
        labels = self.table.labels or []
        return [labels[row] for row in self.rows]

    @property
    def n_available(self) -> int:
        """Number of rows that can be selected."""
        return len(self.table.lines) - len(self.contradicted)

    @property
    def is_subset(self) -> bool:
        """Whether only some of these rows were selected."""
        return len(self.rows) < self.n_available

    def list_notes(self) -> list[str]:
        """Return notes about the table, and about classes that were left out."""
        gone = f"no row is left of the class{'es' * (len(self.absent) > 1)} {join_names(self.absent)}"
        return [*self.table.notes, *([f"{self.table.path}: {gone}"] if self.absent else [])]


def load_samples(
    table: CsvTable, positive: str | None, scaling: str, sample: int | None = None, seed: int = 1
) -> TableSamples:
    """Select all samples of a table that contradict no others, or `sample` of them at random.

    They are scaled by the statistics of all of them, drawn or not.

    Parameters
    ----------
    table : CsvTable
        The table.
    positive : str or None
        The class against the rest; None for all classes.
    scaling : str
        How to scale features.
    sample : int or None
        Number of samples to draw; None for all.
    seed : int
        The seed of the draw.

    Returns
    -------
    TableSamples
        The samples, of at least two classes.
    """
    y, classes = table.index_classes(positive)
    contradicted = find_contradicted(table.X, y)
    rows = np.setdiff1d(np.arange(len(y)), contradicted)
    if len(np.unique(y[rows])) < 2:
        raise DataError(
            f"{table.path}: {len(contradicted)} of {len(y)} samples have equal features and different labels, "
            "and without them there is one class or none: nothing can be said about the others"
        )
    centre, spread = compute_finite_scaling(table.X[rows], scaling, table.features, str(table.path))
    if sample is not None and sample < len(rows):
        rows = np.sort(rows[np.random.default_rng(seed).choice(len(rows), sample, replace=False)])
        if len(np.unique(y[rows])) < 2:
            raise DataError(
                f"{table.path}: the label column '{table.label}' holds only one class in a --sample of "
                f"{sample} rows; draw more, or all"
            )
    present, codes = np.unique(y[rows], return_inverse=True)
    absent = [name for k, name in enumerate(classes) if k not in present]
    names = [classes[k] for k in present]
    X = apply_scaling(table.X[rows], centre, spread)
    return TableSamples(table, rows, X, codes.ravel(), names, scaling, contradicted, absent)


@contextlib.contextmanager
def explain_errors(samples: TableSamples) -> Iterator[None]:
    """Raise errors about these samples with the file and the line."""
    path = samples.table.path
    try:
        yield
    except InseparableError as error:
        advice = ADVICE.get(error.kernel, "use --kernel perceptron, which separates any rows")
        raise DataError(f"{path}:{samples.lines[error.sample]}: {error.what}: {advice}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except MemoryError:
        raise DataError(
            f"{path}: there is too little memory for the kernel matrix of {len(samples):,} samples; use fewer"
        ) from None
