"""Data sets from any source, in one form: features, class indices and names."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from zoloss_cli.config.catalog import (
    CatalogEntry,
    PackageFile,
    find_embedded_entry,
    find_fetched_path,
    find_generator,
    find_plugin_file,
)
from zoloss_cli.config.loader import build_data_spec
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.config.models import CsvData, DataSpec, EmbeddedData, Experiment, GeneratedData, Noise
from zoloss_cli.data.columns import ColumnSelection, Gap, index_labels
from zoloss_cli.data.generators import Pool
from zoloss_cli.data.read import compute_file_sha256, find_sent_table, read_content, read_table
from zoloss_cli.data.user_table import find_unusual_label, read_for_training
from zoloss_cli.errors import DataError, ZolossError, suggest_nearest
from zoloss_cli.registry import DATASET_PLUGINS

if TYPE_CHECKING:
    import pandas as pd

NOISE_STREAM, FLIP_STREAM = 0x6E6F697365, 0x666C6970  # for streams independent of a pool's


def add_noise(
    X: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    fraction: float,
    one_class: int | None,
    seed: int,
    draw: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Append floor(fraction * N) samples, uniform in [min - (max-min)/2, max + (max-min)/2] of each feature.

    All have `one_class`, or random classes if it is None: the paper says the former, but its Table 2 fits the
    latter. Draws of a seed differ, and draw 0 does not depend on how many there are.
    """
    rng = np.random.default_rng([seed, NOISE_STREAM, draw] if draw else [seed, NOISE_STREAM])
    extra = int(fraction * X.shape[0])
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * (high - low)
    samples = rng.uniform(low - half, high + half, (extra, X.shape[1]))
    labels = rng.integers(0, n_classes, extra) if one_class is None else np.full(extra, one_class)
    return np.vstack([X, samples]), np.concatenate([y, labels])


def flip_labels(
    y: np.ndarray, n_classes: int, share: float, is_last: bool, seed: int, draw: int
) -> tuple[np.ndarray, np.ndarray]:
    """Give floor(share * N) samples, random or the last ones, another class; return labels and samples."""
    rng = np.random.default_rng([seed, FLIP_STREAM, draw])
    order, count = rng.permutation(len(y)), int(share * len(y))
    flipped = np.arange(len(y) - count, len(y)) if is_last else np.sort(order[:count])
    wrong = y.copy()
    wrong[flipped] = (y[flipped] + rng.integers(1, n_classes, flipped.size)) % n_classes
    return wrong, flipped


def generate(name: str, seed: int, **settings: Any) -> Pool:
    """Return the pool of a generator, zoloss's own or another package's, for a seed and its own parameters."""
    registered = find_generator(name)
    rng = np.random.default_rng([seed, int.from_bytes(name.encode(), "big")])
    if registered.plugin is None:
        return registered.loaded(rng, **settings)
    try:
        pool = Pool(*registered.loaded(rng, **settings))
        X, y = np.asarray(pool.X, dtype=np.float64), np.asarray(pool.y)
    except Exception as error:
        raise registered.plugin.build_error(
            f"failed to return a pool: {type(error).__name__}: {error}"
        ) from error
    has_names = X.ndim == 2 and X.shape == (len(y), len(pool.features)) and np.all(np.isfinite(X))
    has_classes = y.ndim == 1 and y.dtype.kind in "iu" and set(np.unique(y)) <= set(range(len(pool.classes)))
    if not (has_names and has_classes):
        raise registered.plugin.build_error(
            "did not return a pool of N x m finite features, N class indices, and names of both"
        )
    return Pool(X, y.astype(int), [str(c) for c in pool.classes], [str(f) for f in pool.features])


def find_entry(name: str) -> CatalogEntry:
    """Return the entry of a fixed table, embedded or of a package; DataError if there is none."""
    if name in DATASET_PLUGINS and not DATASET_PLUGINS[name].is_generator:
        return _describe_plugin_table(name)
    return find_embedded_entry(name)


@functools.cache
def _describe_plugin_table(name: str) -> CatalogEntry:
    """Return the entry of another package's table, which is read to count its rows."""
    registration = DATASET_PLUGINS[name]
    plugin = registration.plugin
    assert plugin is not None, "every data set of this registry is a plug-in"
    path = Path(find_plugin_file(registration))
    try:
        table = read_table(path)
    except ZolossError as error:
        raise plugin.build_error(f"has a file that cannot be read: {error}") from error
    title, _, notes = (inspect.getdoc(registration.loaded) or "").partition("\n")
    package, _, version = plugin.package.partition(" ")
    classes = dict(sorted(Counter(table.labels).items()))
    return CatalogEntry(
        name=name,
        title=title,
        rows=len(table.labels),
        features=len(table.features),
        classes=classes,
        sha256=compute_file_sha256(path),
        licence=f"see {package}",
        attribution=f"see {package}",
        source=PackageFile(registry="installed", package=package, version=version, path=path.name),
        notes=notes.strip(),
        positive=max(classes) if len(classes) == 2 else None,
        path=path,
    )


@dataclass(frozen=True)
class DataSet:
    """Samples with their classes; the arrays are read-only."""

    name: str  # in tables
    X: np.ndarray
    y: np.ndarray  # indices into `classes`
    classes: list[str]  # the last one is the positive class of a binary problem
    features: list[str]
    notes: list[str] = field(default_factory=list)  # what readers of results should know about the data
    flipped: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # samples with a wrong label
    true_y: np.ndarray | None = None  # the true classes, if they differ from `y`
    gaps: tuple[Gap, ...] = ()  # where missing values were filled from all samples
    # The values, as written, of features that do not round-trip through floating-point numbers.
    long_numbers: dict[int, list[str]] = field(default_factory=dict)

    @property
    def truth(self) -> np.ndarray:
        """The true classes, by which test errors are counted."""
        return self.y if self.true_y is None else self.true_y


def find_draw(spec: DataSpec, k: int) -> int:
    """Return the draw used by split k, the same for every learner."""
    return k % spec.n_draws


@functools.lru_cache(maxsize=128)
def load_data(spec: DataSpec, draw: int = 0) -> DataSet:
    """Return the data set of a config entry, ready to split; `draw` is one of its `n_draws`."""
    # Recurse through the cache, so that draws of noise and of flipped labels share their data.
    if spec.flip is not None:
        clean, flip = spec.model_copy(update={"flip": None}), spec.flip
        data = load_data(clean, find_draw(clean, draw))
        y, flipped = flip_labels(
            data.y, len(data.classes), flip.share, flip.rows == "last", flip.seed, draw % flip.draws
        )
        data = replace(data, y=y, flipped=flipped, true_y=data.y)
    elif spec.noise is not None:
        clean = spec.model_copy(update={"noise": None})
        data = _add_noise(load_data(clean, find_draw(clean, draw)), spec.noise, draw)
    elif isinstance(spec, GeneratedData):
        seed = spec.pool_seeds[draw]
        data = DataSet(spec.name, *generate(spec.generator, seed, size=spec.size, **dict(spec.settings)))
    elif isinstance(spec, CsvData):
        table = read_for_training(Path(spec.csv), spec.label, spec.missing, selection=_select_columns(spec))
        y, classes = table.index_classes(spec.positive)
        notes, gaps, long_numbers = table.list_notes(), table.gaps, table.long_numbers
        data = DataSet(
            spec.name, table.X, y, classes, table.features, notes, gaps=gaps, long_numbers=long_numbers
        )
    else:
        data = _read_embedded(spec)
    data = replace(data, X=np.ascontiguousarray(data.X, dtype=np.float64))
    data.X.setflags(write=False)
    data.y.setflags(write=False)
    return data


def _select_columns(spec: CsvData) -> ColumnSelection:
    return ColumnSelection(spec.drop, spec.features, spec.id)


def _add_noise(data: DataSet, noise: Noise, draw: int) -> DataSet:
    one_class = None
    if noise.labels == "one-class":
        if noise.label is not None and noise.label not in data.classes:
            hint = suggest_nearest(noise.label, data.classes)
            raise DataError(f"data set '{data.name}' has no class '{noise.label}'{hint}")
        one_class = int(data.y[0]) if noise.label is None else data.classes.index(noise.label)
    X, y = add_noise(
        data.X, data.y, len(data.classes), noise.fraction, one_class, noise.seed, draw % noise.draws
    )
    return replace(data, X=X, y=y, gaps=())  # not refilled: noise was drawn in the range of all samples


def _read_embedded(spec: EmbeddedData) -> DataSet:
    entry, path = find_entry(spec.dataset), find_data_path(spec)
    if spec.source == "embedded" and compute_file_sha256(path) != entry.sha256:
        raise DataError(f"{path} was changed: its sha256 does not match catalog.yaml")
    table = read_table(path)
    positive = entry.positive if spec.positive is None else spec.positive
    y, classes = index_labels(table.labels, positive, f"data set '{spec.dataset}'")
    return DataSet(spec.name, table.X, y, classes, table.features)


def find_data_path(spec: EmbeddedData | CsvData) -> Path:
    """Return the file of a data set; DataError if it should have been fetched and was not."""
    if isinstance(spec, CsvData):
        return Path(spec.csv)
    if not is_fetched(spec):
        return find_entry(spec.dataset).path
    if sent := find_sent_table(spec.dataset):
        return sent
    path = find_fetched_path(spec.dataset)
    if not path.is_file():
        raise DataError(
            f"'{spec.dataset}' from UCI is not on this machine; run: zoloss datasets fetch {spec.dataset}"
        )
    return path


def is_fetched(spec: EmbeddedData) -> bool:
    """Return whether a data set is not the shipped copy, but from `zoloss datasets fetch`."""
    return spec.source == "uci" or find_entry(spec.dataset).otherwise is not None


def replace_unfetched(experiment: Experiment) -> tuple[Experiment, list[str]]:
    """Return an experiment with embedded data sets in place of those that are not fetched, and notes."""
    datasets, notes = list(experiment.datasets), []
    for k, spec in enumerate(datasets):
        if isinstance(spec, EmbeddedData) and (other := find_entry(spec.dataset).otherwise):
            if find_fetched_path(spec.dataset).is_file():
                continue
            datasets[k] = spec.model_copy(update={"dataset": other})
            notes.append(
                f"{spec.name}: '{other}' ({find_entry(other).rows} rows) takes the place of '{spec.dataset}' "
                f"({find_entry(spec.dataset).rows} rows), which is not on this machine; to have it, run: "
                f"zoloss datasets fetch {spec.dataset}"
            )
    return experiment.model_copy(update={"datasets": tuple(datasets)}), notes


def describe_change(path: str) -> str:
    """Return the message about a file that changed since planning."""
    return f"{path} changed since the run was planned; run the same command again, which makes a new plan"


@functools.lru_cache(maxsize=256)
def compute_fingerprint(spec: DataSpec) -> dict[str, Any]:
    """Return the data set's part of a cell's identity: its content, noise and flipped labels."""
    content: dict[str, Any]
    if isinstance(spec, GeneratedData):
        settings = {"size": spec.size, **dict(spec.settings)}
        content = {"generator": spec.generator, "seed": spec.seed, **settings}
        if find_generator(spec.generator).plugin is not None:  # which may change, unlike built-in ones
            digest = hashlib.sha256()
            for pool in (generate(spec.generator, seed, **settings) for seed in spec.pool_seeds):
                digest.update(np.ascontiguousarray(pool.X).tobytes() + pool.y.astype(np.int64).tobytes())
            content["sha256"] = digest.hexdigest()
    elif isinstance(spec, CsvData):
        path = Path(spec.csv)
        table = read_content(path)
        label = spec.label if spec.label is not None else find_unusual_label(path, table)
        content = {"sha256": hashlib.sha256(table).hexdigest(), "label": label}
        content |= {"missing": spec.missing, "positive": spec.positive, **_select_columns(spec).to_keys()}
    else:
        entry = find_entry(spec.dataset)
        sha256 = entry.sha256 if spec.source == "embedded" else compute_file_sha256(find_data_path(spec))
        content = {"sha256": sha256, "positive": entry.positive if spec.positive is None else spec.positive}
    if spec.noise is not None:
        # Defaults are omitted, so that results stored before the option existed keep their identity.
        one_draw = {"draws"} if spec.noise.draws == 1 else None
        content["noise"] = spec.noise.model_dump(exclude=one_draw, exclude_none=True)
    if spec.flip is not None:
        content["flip"] = spec.flip.model_dump(exclude={"rows"} if spec.flip.rows == "random" else None)
    return content


@overload
def load_dataset(
    name: str, *, as_frame: Literal[False] = False, **settings: Any
) -> tuple[np.ndarray, np.ndarray]: ...


@overload
def load_dataset(name: str, *, as_frame: Literal[True], **settings: Any) -> tuple[pd.DataFrame, pd.Series]: ...


def load_dataset(name: str, *, as_frame: bool = False, **settings: Any) -> tuple[Any, Any]:
    """Return the samples and class indices of a data set from `zoloss datasets`.

    A wrong name or setting raises ConfigError, which suggests the nearest valid one.

    Parameters
    ----------
    name : str
        The name of a data set or generator.
    as_frame : bool, default=False
        Whether to return a DataFrame, with the features as named columns, and a Series.
    **settings
        As in a config's entry: `positive` for one class against the rest, `noise`, and a generator's `size`,
        `seed` and own parameters.

    Returns
    -------
    X : ndarray or DataFrame of shape (n_samples, n_features)
        The features as in the file: scale them as needed.
    y : ndarray or Series of shape (n_samples,)
        The class index of each sample; with two classes, the positive one is 1.

    Examples
    --------
    >>> from zoloss_cli import load_dataset
    >>> X, y = load_dataset("heart")
    >>> X.shape, int(y.sum())
    ((270, 13), 120)
    >>> X, y = load_dataset("yinyang", size=300, seed=7)
    >>> X.shape
    (300, 2)
    >>> X, y = load_dataset("iris", as_frame=True)
    >>> list(X.columns)
    ['sepal_length', 'sepal_width', 'petal_length', 'petal_width']
    """
    errors = InlineErrorCollector(f"load_dataset({name!r})")
    spec = build_data_spec(name, settings, Path(), errors)
    errors.raise_errors()
    assert spec is not None, "what is not a data set has an error"
    data = load_data(spec)
    if as_frame:
        import pandas as pd

        return pd.DataFrame(data.X.copy(), columns=data.features), pd.Series(data.y.copy(), name="label")
    return data.X.copy(), data.y.copy()  # the arrays of `load_data` are read-only
