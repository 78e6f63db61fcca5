"""Data sets from any source, in one form: features, class indices and names."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from zoloss_cli.config.models import CsvData, DataSpec, EmbeddedData, GeneratedData
from zoloss_cli.datasets.catalog import catalog, compute_file_sha256
from zoloss_cli.datasets.csv_reader import read_content, read_table
from zoloss_cli.datasets.csv_table import read_for_training
from zoloss_cli.datasets.generators import foreign_content, generate
from zoloss_cli.datasets.labels import index_labels
from zoloss_cli.datasets.noise import add_noise, flip_labels
from zoloss_cli.datasets.plugin_datasets import find_entry
from zoloss_cli.errors import DataError, suggest_nearest


@dataclass(frozen=True)
class DataSet:
    """N x m features; y indexes `classes`, whose last one is the positive class of a binary problem.

    In the rows `flipped`, y is not the true class; `truth` is, and test rows are judged by it.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: list[str]
    features: list[str]
    notes: list[str] = field(default_factory=list)  # what its reader should know
    flipped: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    true_y: np.ndarray | None = None  # where it is not y

    @property
    def truth(self) -> np.ndarray:
        return self.y if self.true_y is None else self.true_y


def find_draw(spec: DataSpec, k: int) -> int:
    """The draw that split k is of, the same for every learner."""
    return k % spec.n_draws


@functools.lru_cache(maxsize=128)
def load_data(spec: DataSpec, draw: int = 0) -> DataSet:
    """The data set that a config entry names, checked and ready to split; `draw` is below `draws(spec)`."""
    if spec.flip is not None:
        return _flipped(spec, draw)
    if spec.noise is not None:
        # Through the cache again: the draws of the noise share what they are added to.
        clean = load_data(spec.model_copy(update={"noise": None}), draw % len(spec.pool_seeds))
        noise, classes, features, notes = spec.noise, clean.classes, clean.features, clean.notes
        one_class = _class_of_noise(spec, clean) if noise.labels == "one-class" else None
        X, y = add_noise(
            clean.X, clean.y, len(classes), noise.fraction, one_class, noise.seed, draw % noise.draws
        )
    elif isinstance(spec, GeneratedData):
        pool = generate(spec.generator, spec.pool_seeds[draw], size=spec.size, **dict(spec.settings))
        (X, y, classes, features), notes = pool, []
    elif isinstance(spec, CsvData):
        own = read_for_training(Path(spec.csv), spec.label, spec.missing)
        X, features, notes = own.X, own.features, own.all_notes()
        y, classes = own.classes(spec.positive)
    else:
        X, y, classes, features = _read_known(spec)
        notes = []
    X = np.ascontiguousarray(X, dtype=np.float64)
    X.setflags(write=False)
    y.setflags(write=False)
    return DataSet(spec.name, X, y, classes, features, notes)


def _flipped(spec: DataSpec, draw: int) -> DataSet:
    """The data set with some labels turned round; through the cache again, as noise is."""
    without = spec.model_copy(update={"flip": None})
    clean = load_data(without, find_draw(without, draw))
    flip, count = spec.flip, len(clean.classes)
    y, rows = flip_labels(clean.y, count, flip.share, flip.rows == "last", flip.seed, draw % flip.draws)
    y.setflags(write=False)
    return replace(clean, y=y, flipped=rows, true_y=clean.y)


def _class_of_noise(spec: DataSpec, clean: DataSet) -> int:
    label = spec.noise.label
    if label is None:
        return int(clean.y[0])
    if label not in clean.classes:
        raise DataError(f"data set '{spec.name}' has no class '{label}'{suggest_nearest(label, clean.classes)}")
    return clean.classes.index(label)


def _read_known(spec: EmbeddedData):
    known = find_entry(spec.dataset)
    path = data_path(spec)
    if spec.source == "embedded" and compute_file_sha256(path) != known.sha256:
        raise DataError(f"{path} was changed: its sha256 is not the one in catalog.yaml")
    table = read_table(path)
    positive = known.positive if spec.positive is None else spec.positive
    y, classes = index_labels(table.labels, positive, f"data set '{spec.dataset}'")
    return table.X, y, classes, table.features


def data_path(spec: EmbeddedData | CsvData) -> Path:
    """The file behind a data set."""
    if isinstance(spec, CsvData):
        return Path(spec.csv)
    if spec.source == "embedded":
        return find_entry(spec.dataset).path
    from zoloss_cli.datasets.uci.download import fetched_path

    path = fetched_path(spec.dataset)
    if not path.is_file():
        raise DataError(
            f"'{spec.dataset}' from UCI is not on this machine; run: zoloss datasets fetch {spec.dataset}"
        )
    return path


@functools.lru_cache(maxsize=256)
def compute_fingerprint(spec: DataSpec) -> dict:
    """What makes this data set this one: the content's sha256, or the generator, its seed and settings."""
    if isinstance(spec, GeneratedData):
        settings = {"size": spec.size, **dict(spec.settings)}
        foreign = foreign_content(spec.generator, spec.pool_seeds, **settings)
        content = {"generator": spec.generator, "seed": spec.seed, **settings, **foreign}
    elif isinstance(spec, CsvData):
        content = {
            "sha256": hashlib.sha256(read_content(data_path(spec))).hexdigest(),
            "label": spec.label,
            "missing": spec.missing,
            "positive": spec.positive,
        }
    else:
        known = find_entry(spec.dataset)
        sha256 = known.sha256 if spec.source == "embedded" else compute_file_sha256(data_path(spec))
        positive = known.positive if spec.positive is None else spec.positive
        content = {"sha256": sha256, "positive": positive}
    if spec.noise is not None:
        # What is at its default leaves no trace in the identity: it was not there when there was no choice.
        one_draw = {"draws"} if spec.noise.draws == 1 else None
        content["noise"] = spec.noise.model_dump(exclude=one_draw, exclude_none=True)
    if spec.flip is not None:
        content["flip"] = spec.flip.model_dump(exclude={"rows"} if spec.flip.rows == "random" else None)
    return content


__all__ = [
    "DataSet",
    "catalog",
    "data_path",
    "find_draw",
    "find_entry",
    "compute_fingerprint",
    "index_labels",
    "load_data",
]
