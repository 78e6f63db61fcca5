"""Data sets from any source, in one form: features, class indices and names."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.config.data_models import CsvData, DataSpec, EmbeddedData, Flip, GeneratedData, Noise
from zoloss_cli.datasets.column_selection import ColumnSelection
from zoloss_cli.datasets.csv_reader import compute_file_sha256, read_content, read_table
from zoloss_cli.datasets.csv_table import find_unusual_label, read_for_training
from zoloss_cli.datasets.imputation import Gap
from zoloss_cli.datasets.labels import index_labels
from zoloss_cli.datasets.noise import add_noise, flip_labels
from zoloss_cli.datasets.pool import generate, hash_plugin_pools
from zoloss_cli.datasets.sent_files import find_sent_table
from zoloss_cli.datasets.tables import find_entry
from zoloss_cli.datasets.uci.cache import find_fetched_path
from zoloss_cli.errors import DataError, suggest_nearest

MAX_CACHED_DATASETS = 128
MAX_CACHED_FINGERPRINTS = 256


@dataclass(frozen=True)
class DataSet:
    """Samples with their classes.

    Attributes
    ----------
    name : str
        The name in tables.
    X : ndarray of shape (n_samples, n_features)
        The features; read-only.
    y : ndarray of shape (n_samples,)
        Indices into `classes`; read-only.
    classes : list of str
        The names of the classes; the last one is the positive class of a binary problem.
    features : list of str
        The names of the features.
    notes : list of str
        What readers of results should know about the data.
    flipped : ndarray of int
        The samples whose label is not the true class.
    true_y : ndarray or None
        The true classes, if they differ from `y`.
    gaps : tuple of Gap
        Where missing values were filled from all samples.
    long_numbers : dict of {int: list of str}
        The values, as written, of features that floating-point numbers do not hold exactly.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: list[str]
    features: list[str]
    notes: list[str] = field(default_factory=list)
    flipped: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    true_y: np.ndarray | None = None
    gaps: tuple[Gap, ...] = ()
    long_numbers: dict[int, list[str]] = field(default_factory=dict)

    @property
    def truth(self) -> np.ndarray:
        """The true classes, which test samples are judged by."""
        return self.y if self.true_y is None else self.true_y


def find_draw(spec: DataSpec, k: int) -> int:
    """Return the draw used by split k, the same for every learner."""
    return k % spec.n_draws


@functools.lru_cache(maxsize=MAX_CACHED_DATASETS)
def load_data(spec: DataSpec, draw: int = 0) -> DataSet:
    """Return the data set that a config entry names, checked and ready to split.

    Parameters
    ----------
    spec : EmbeddedData, GeneratedData or CsvData
        The entry.
    draw : int
        Which of its data sets, below ``spec.n_draws``.
    """
    # Through the cache again: the draws of noise and of flipped labels share the data they are made from.
    if spec.flip is not None:
        clean = spec.model_copy(update={"flip": None})
        data = _flip_labels(load_data(clean, find_draw(clean, draw)), spec.flip, draw)
    elif spec.noise is not None:
        clean = spec.model_copy(update={"noise": None})
        data = _add_noise(load_data(clean, find_draw(clean, draw)), spec.noise, draw)
    elif isinstance(spec, GeneratedData):
        seed = spec.pool_seeds[draw]
        data = DataSet(spec.name, *generate(spec.generator, seed, size=spec.size, **dict(spec.settings)))
    elif isinstance(spec, CsvData):
        selection = ColumnSelection(spec.drop, spec.features, spec.id)
        table = read_for_training(Path(spec.csv), spec.label, spec.missing, selection=selection)
        y, classes = table.index_classes(spec.positive)
        notes = table.list_notes()
        data = DataSet(spec.name, table.X, y, classes, table.features, notes, gaps=table.gaps)
        data = replace(data, long_numbers=table.long_numbers)
    else:
        data = _read_table(spec)
    data = replace(data, X=np.ascontiguousarray(data.X, dtype=np.float64))
    data.X.setflags(write=False)
    data.y.setflags(write=False)
    return data


def _flip_labels(data: DataSet, flip: Flip, draw: int) -> DataSet:
    is_last = flip.rows == "last"
    y, flipped = flip_labels(data.y, len(data.classes), flip.share, is_last, flip.seed, draw % flip.draws)
    return replace(data, y=y, flipped=flipped, true_y=data.y)


def _add_noise(data: DataSet, noise: Noise, draw: int) -> DataSet:
    one_class = _find_noise_class(data, noise) if noise.labels == "one-class" else None
    X, y = add_noise(
        data.X, data.y, len(data.classes), noise.fraction, one_class, noise.seed, draw % noise.draws
    )
    return replace(data, X=X, y=y, gaps=())  # noise is drawn in the range of all samples


def _find_noise_class(data: DataSet, noise: Noise) -> int:
    if noise.label is None:
        return int(data.y[0])
    if noise.label not in data.classes:
        hint = suggest_nearest(noise.label, data.classes)
        raise DataError(f"data set '{data.name}' has no class '{noise.label}'{hint}")
    return data.classes.index(noise.label)


def _read_table(spec: EmbeddedData) -> DataSet:
    entry, path = find_entry(spec.dataset), find_data_path(spec)
    if spec.source == "embedded" and compute_file_sha256(path) != entry.sha256:
        raise DataError(f"{path} was changed: its sha256 is not the one in catalog.yaml")
    table = read_table(path)
    positive = entry.positive if spec.positive is None else spec.positive
    y, classes = index_labels(table.labels, positive, f"data set '{spec.dataset}'")
    return DataSet(spec.name, table.X, y, classes, table.features)


def find_data_path(spec: EmbeddedData | CsvData) -> Path:
    """Return the file of a data set; DataError if it should have been fetched and was not."""
    if isinstance(spec, CsvData):
        return Path(spec.csv)
    if spec.source == "embedded":
        return find_entry(spec.dataset).path
    if sent := find_sent_table(spec.dataset):
        return sent
    path = find_fetched_path(spec.dataset)
    if not path.is_file():
        raise DataError(
            f"'{spec.dataset}' from UCI is not on this machine; run: zoloss datasets fetch {spec.dataset}"
        )
    return path


def describe_change(path: str) -> str:
    """Return the sentence about a file that changed since planning."""
    return f"{path} changed since the run was planned; run the same command again, which makes a new plan"


def _describe_csv(spec: CsvData) -> dict[str, Any]:
    """Return the content of the user's own table, and how it is read; later keys only if they are used."""
    path = find_data_path(spec)
    content = read_content(path)
    label = spec.label if spec.label is not None else find_unusual_label(path, content)
    described: dict[str, Any] = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "label": label,
        "missing": spec.missing,
        "positive": spec.positive,
    }
    return described | ColumnSelection(spec.drop, spec.features, spec.id).to_keys()


@functools.lru_cache(maxsize=MAX_CACHED_FINGERPRINTS)
def compute_fingerprint(spec: DataSpec) -> dict[str, Any]:
    """Return what identifies this data set in the identity of results.

    Returns
    -------
    dict
        The content's sha256, or the generator, its seed and settings; and noise and flipped labels.
    """
    if isinstance(spec, GeneratedData):
        settings = {"size": spec.size, **dict(spec.settings)}
        plugin_hash = hash_plugin_pools(spec.generator, spec.pool_seeds, **settings)
        content = {"generator": spec.generator, "seed": spec.seed, **settings, **plugin_hash}
    elif isinstance(spec, CsvData):
        content = _describe_csv(spec)
    else:
        entry = find_entry(spec.dataset)
        sha256 = entry.sha256 if spec.source == "embedded" else compute_file_sha256(find_data_path(spec))
        content = {"sha256": sha256, "positive": entry.positive if spec.positive is None else spec.positive}
    if spec.noise is not None:
        # Defaults do not appear in the identity: results stored before the option existed have none.
        one_draw = {"draws"} if spec.noise.draws == 1 else None
        content["noise"] = spec.noise.model_dump(exclude=one_draw, exclude_none=True)
    if spec.flip is not None:
        content["flip"] = spec.flip.model_dump(exclude={"rows"} if spec.flip.rows == "random" else None)
    return content
