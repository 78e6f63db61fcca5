"""Data sets from any source, in one form: features, class indices and names."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zoloss_cli.config.models import CsvData, DataSpec, EmbeddedData, GeneratedData
from zoloss_cli.datasets.catalog import catalog, entry, file_sha256
from zoloss_cli.datasets.generators import generate
from zoloss_cli.datasets.noise import add_noise
from zoloss_cli.datasets.table_file import read_table
from zoloss_cli.errors import DataError, nearest


@dataclass(frozen=True)
class DataSet:
    """N x m features; y indexes `classes`, whose last one is the positive class of a binary problem."""

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: list[str]
    features: list[str]


def draws(spec: DataSpec) -> int:
    """How many different data sets an entry stands for: draws of its noise, pools of its generator."""
    return math.lcm(len(_pool_seeds(spec)), spec.noise.draws if spec.noise else 1)


def draw_of(spec: DataSpec, k: int) -> int:
    """The draw that split k is of, the same for every learner."""
    return k % draws(spec)


def _pool_seeds(spec: DataSpec) -> tuple[int, ...]:
    seed = spec.seed if isinstance(spec, GeneratedData) else 0
    return seed if isinstance(seed, tuple) else (seed,)


@functools.lru_cache(maxsize=64)
def load(spec: DataSpec, draw: int = 0) -> DataSet:
    """The data set that a config entry names, checked and ready to split; `draw` is below `draws(spec)`."""
    if spec.noise is not None:
        # Through the cache again: the draws of the noise share what they are added to.
        clean = load(spec.model_copy(update={"noise": None}), draw % len(_pool_seeds(spec)))
        noise, classes, features = spec.noise, clean.classes, clean.features
        one_class = _class_of_noise(spec, clean) if noise.labels == "one-class" else None
        X, y = add_noise(
            clean.X, clean.y, len(classes), noise.fraction, one_class, noise.seed, draw % noise.draws
        )
    elif isinstance(spec, GeneratedData):
        pool = generate(spec.generator, _pool_seeds(spec)[draw], size=spec.size, **dict(spec.settings))
        X, y, classes, features = pool
    else:
        X, labels, features, positive, where = _read(spec)
        y, classes = index_labels(labels, positive, where)
    X = np.ascontiguousarray(X, dtype=np.float64)
    X.setflags(write=False)
    y.setflags(write=False)
    return DataSet(spec.name, X, y, classes, features)


def _class_of_noise(spec: DataSpec, clean: DataSet) -> int:
    label = spec.noise.label
    if label is None:
        return int(clean.y[0])
    if label not in clean.classes:
        raise DataError(f"data set '{spec.name}' has no class '{label}'{nearest(label, clean.classes)}")
    return clean.classes.index(label)


def _read(spec: EmbeddedData | CsvData):
    if isinstance(spec, CsvData):
        path = Path(spec.csv)
        table = read_table(path, spec.label, spec.missing)
        return table.X, table.labels, table.features, spec.positive, str(path)
    known = entry(spec.dataset)
    path = data_path(spec)
    if spec.source == "embedded" and file_sha256(path) != known.sha256:
        raise DataError(f"{path} was changed: its sha256 is not the one in catalog.yaml")
    table = read_table(path, symbolic=True)
    positive = known.positive if spec.positive is None else spec.positive
    return table.X, table.labels, table.features, positive, f"data set '{spec.dataset}'"


def data_path(spec: EmbeddedData | CsvData) -> Path:
    """The file behind a data set."""
    if isinstance(spec, CsvData):
        return Path(spec.csv)
    if spec.source == "embedded":
        return entry(spec.dataset).path
    from zoloss_cli.datasets.uci import fetched_path

    path = fetched_path(spec.dataset)
    if not path.is_file():
        raise DataError(
            f"'{spec.dataset}' from UCI is not on this machine; run: zoloss datasets fetch {spec.dataset}"
        )
    return path


def index_labels(labels: list[str], positive: str | None, where: str):
    """Class indices. With a positive class the problem is that class against the rest."""
    names = sorted(set(labels))
    if len(names) < 2:
        raise DataError(f"{where} holds one class only: '{names[0]}'")
    if positive is not None:
        if str(positive) not in names:
            raise DataError(f"{where} has no class '{positive}'{nearest(positive, names)}")
        others = [n for n in names if n != str(positive)]
        rest = others[0] if len(others) == 1 else "rest" if str(positive) != "rest" else "others"
        y = np.array([int(label == str(positive)) for label in labels])
        return y, [rest, str(positive)]
    if len(names) > 2:  # ties between classes go to the first of them: 2 before 10
        names = _by_number(names)
    index = {name: i for i, name in enumerate(names)}
    return np.array([index[label] for label in labels]), names


def _by_number(names: list[str]) -> list[str]:
    """In the order of their numbers, if all are numbers."""
    try:
        return sorted(names, key=float)
    except ValueError:
        return names


@functools.lru_cache(maxsize=256)
def fingerprint(spec: DataSpec) -> dict:
    """What makes this data set this one: the content's sha256, or the generator, its seed and settings."""
    if isinstance(spec, GeneratedData):
        content = {"generator": spec.generator, "size": spec.size, "seed": spec.seed, **dict(spec.settings)}
    elif isinstance(spec, CsvData):
        path = data_path(spec)
        if not path.is_file():
            raise DataError(f"there is no file {path}")
        content = {
            "sha256": file_sha256(path),
            "label": spec.label,
            "missing": spec.missing,
            "positive": spec.positive,
        }
    else:
        known = entry(spec.dataset)
        sha256 = known.sha256 if spec.source == "embedded" else file_sha256(data_path(spec))
        positive = known.positive if spec.positive is None else spec.positive
        content = {"sha256": sha256, "positive": positive}
    if spec.noise is not None:
        # What is at its default leaves no trace in the identity: it was not there when there was no choice.
        one_draw = {"draws"} if spec.noise.draws == 1 else None
        content["noise"] = spec.noise.model_dump(exclude=one_draw, exclude_none=True)
    return content


__all__ = [
    "DataSet",
    "catalog",
    "data_path",
    "draw_of",
    "draws",
    "entry",
    "fingerprint",
    "index_labels",
    "load",
]
