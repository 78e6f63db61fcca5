"""Plan an experiment: cells (a data set and a learner), each with numbered splits.

A cell's identity is its content: data, split rule, scaling, learner, parameters and the algorithm's
version. Its key is a hash of that, so two configs with the same cell share its results, more
splits extend a cell, and a changed parameter makes a new one.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

from zoloss_cli.config.catalog import find_embedded_entry
from zoloss_cli.config.loader import find_kept_fields
from zoloss_cli.config.models import (
    ALL,
    PREDEFINED,
    CsvData,
    DataSpec,
    EmbeddedData,
    Experiment,
    GeneratedData,
    LearnerSpec,
    Prune,
    Split,
    Tuning,
)
from zoloss_cli.data.dataset import compute_fingerprint
from zoloss_cli.data.splits import SplitRule
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.external import EXTERNAL_VERSION, name_package
from zoloss_cli.registry import MEASURES, find_registration, is_external, make_learner
from zoloss_cli.results.record import FitRecord, Record, RecordKind, hash_identity
from zoloss_cli.results.store import Store, StoredCell

IDENTITY_FORMAT = 1  # a part of every identity, and so of every key
PRUNING_VERSION = 1  # raise when pruning changes, so that stored results are not reused


@dataclass(frozen=True)
class Cell:
    """One cell of a table: a data set, a learner, and how they are combined."""

    data: DataSpec
    learner: LearnerSpec  # or measure, with all its parameters
    rule: SplitRule  # how many samples train and test, and the master seed
    scale: str
    repeats: int  # number of splits
    fit_on: str = "train"  # the samples that the scaling is fitted to; or "all"
    tuning: Tuning | None = None  # how settings are chosen, if the learner has several candidates
    prune: Prune | None = None  # which training samples are left out as noise
    # "test_scores" or "test_probabilities" in records, besides counts. Not part of the identity: it changes no
    # number.
    keep: frozenset[str] = frozenset()

    @cached_property
    def identity(self) -> dict:
        """Return what the results depend on. Settings introduced later appear only if they are used."""
        identity = {
            "format": IDENTITY_FORMAT,
            "data": compute_fingerprint(self.data),
            "split": {"train": self.rule.train, "test": self.rule.test, "seed": self.rule.seed},
            "scale": self.scale,
            **build_learner_identity(self.learner),
        }
        if self.rule.predefined:
            identity["split"]["given"] = True
        if self.rule.folds is not None:
            identity["split"]["folds"] = self.rule.folds
        if self.fit_on != "train":
            identity["fit_on"] = self.fit_on
        if self.prune is not None:
            identity["prune"] = {"version": PRUNING_VERSION} | self.prune.model_dump(exclude_none=True)
        if self.tuning is not None:
            candidates = [build_learner_identity(spec) for spec in self.learner.tune]
            identity["tuning"] = self.tuning.model_dump(exclude_none=True) | {"candidates": candidates}
            if self.learner.trials:
                identity["tuning"]["trials"] = list(map(build_learner_identity, self.learner.trials))
        return identity

    @cached_property
    def key(self) -> str:
        """Return the hash of the identity."""
        return hash_identity(self.identity)

    @property
    def kind(self) -> RecordKind:
        """Return whether a learner is fitted or a measure is computed."""
        return "measure" if self.learner.learner in MEASURES else "fit"

    @property
    def seed_name(self) -> str:
        """Return the data set's name in seeds, which does not depend on its name in a config."""
        if isinstance(self.data, EmbeddedData):
            return self.data.dataset
        if isinstance(self.data, GeneratedData):
            return self.data.generator
        return compute_fingerprint(self.data)["sha256"][:16]

    @property
    def filename(self) -> str:
        """Return the name of the file that holds its records."""
        source = "csv" if isinstance(self.data, CsvData) else self.seed_name
        return f"{_clean_name(source)}.{_clean_name(self.learner.name)}.{self.key}.jsonl"


def build_learner_identity(spec: LearnerSpec) -> dict:
    """Return a learner's name, version and parameters, its package if external, and its nested learners."""
    parameters = spec.parameters
    for key, value in spec.settings:
        if isinstance(value, LearnerSpec):
            parameters[key] = build_learner_identity(value)
    if is_external(spec.learner):
        return _build_external_identity(spec, parameters)
    registered = find_registration(spec.learner)
    identity = {"learner": spec.learner, "version": registered.version, "parameters": parameters}
    return identity | ({"package": registered.package} if registered.package else {})


def _build_external_identity(spec: LearnerSpec, parameters: dict) -> dict:
    """Return the identity of a class of a package or a file, without loading it."""
    stored = json.loads(json.dumps(parameters))  # as in a file: keys of mappings are text
    identity = {"learner": spec.learner, "version": EXTERNAL_VERSION, "parameters": stored}
    return identity | ({"code": spec.code.sha256} if spec.code else {"package": name_package(spec.learner)})


def plan(experiment: Experiment) -> list[Cell]:
    """Return all cells of an experiment, data set by data set."""
    return [
        _build_cell(experiment, data, learner)
        for data in experiment.datasets
        for learner in experiment.learners
        if learner.only is None or data.name in learner.only
    ]


def _build_cell(experiment: Experiment, data: DataSpec, learner: LearnerSpec) -> Cell:
    split = experiment.split
    rule = find_split_rule(split, data)
    how = experiment.preprocess
    # If nothing is scaled or all rows train, both ways to fit are the same.
    fit_on = "train" if how.scale == "none" or rule.train == ALL else how.fit_on
    repeats = data.repeats or split.repeats
    prune = how.prune if data.prune is None else data.prune or None
    tuning = experiment.tuning if learner.tune else None
    fixed = rule.predefined or (rule.train == ALL and learner.learner in MEASURES)
    if fixed and not (prune or tuning) and _is_deterministic(learner):
        repeats = min(repeats, data.n_draws)  # same rows and no randomness: the same result
    keep = frozenset(find_kept_fields(experiment.keep, learner))
    return Cell(data, learner, rule, how.scale, repeats, fit_on, tuning, prune, keep)


def _is_deterministic(spec: LearnerSpec) -> bool:
    """Return whether a learner has no randomness; other packages' classes are not run to find out."""
    return not is_external(spec.learner) and make_learner(spec.learner, spec.parameters).deterministic


def find_split_rule(split: Split, data: DataSpec) -> SplitRule:
    """Return how a data set is split: according to its own entry, or to the experiment."""
    parts = split.choose_parts(data)
    if parts.train == PREDEFINED and isinstance(data, EmbeddedData):
        n_train = find_embedded_entry(data.dataset).train_rows
        assert n_train is not None, "checked with the config"
        return SplitRule(n_train, None, split.seed, predefined=True)
    return SplitRule(parts.train, parts.test, split.seed, folds=parts.folds)


def select_part(
    experiment: Experiment, datasets: list[str], learners: list[str], splits: int | None, seed: int | None
) -> Experiment:
    """Return the experiment with fewer data sets or learners, or with other splits or another seed."""
    changes: dict[str, Any] = {}
    if datasets:
        changes["datasets"] = _select(experiment.datasets, "name", datasets, "data set", experiment.name)
    if learners:
        changes["learners"] = _select(experiment.learners, "label", learners, "learner", experiment.name)
    if splits is not None:
        kept = changes.get("datasets", experiment.datasets)
        changes["datasets"] = tuple(data.model_copy(update={"repeats": None}) for data in kept)
    overrides = {k: v for k, v in (("repeats", splits), ("seed", seed)) if v is not None}
    if overrides:
        changes["split"] = experiment.split.model_copy(update=overrides)
    return experiment.model_copy(update=changes)


def _select(entries, attribute: str, wanted: list[str], what: str, config: str):
    names = [getattr(e, attribute) for e in entries]
    for name in wanted:
        if name not in names:
            raise ConfigError(f"'{config}' has no {what} '{name}'{suggest_nearest(name, names)}")
    return tuple(e for e in entries if getattr(e, attribute) in wanted)


def _clean_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40]


MAX_SHARDS = 100_000


@dataclass(frozen=True)
class Shard:
    """One of several parts of the tasks: every n-th split of each cell.

    Which tasks these are depends only on the cell and the split, not on the rest of the config or on what is
    stored, so that the shards partition the run.
    """

    number: int = 1  # from 1 to the count
    count: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def select_splits(self, cell: Cell) -> range:
        """Return the splits of a cell in this shard; cells start with different shards."""
        first = (self.number - 1 - crc32(cell.key.encode())) % self.count if self.count > 1 else 0
        return range(first, cell.repeats, self.count)

    def name_folder(self, out: Path) -> Path:
        """Return the folder of this shard, next to that of the run."""
        width = len(str(self.count))
        return out.with_name(f"{out.name}-shard-{self.number:0{width}}-of-{self.count}")

    def list_folders(self, name: str) -> str:
        """Return a pattern for the folders of all shards, from the name of one."""
        return re.sub(r"-shard-[0-9]+-of-", "-shard-*-of-", name)


WHOLE = Shard()


def parse_shard(text: str) -> Shard:
    """Return the shard given by a text such as 3/20."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
    if found is None:
        raise ConfigError(f"--shard: '{text}' is not a shard such as 3/20, the third of twenty")
    number, count = int(found[1]), int(found[2])
    if not 1 <= number <= count <= MAX_SHARDS:
        raise ConfigError(
            f"--shard: '{text}' is not a shard: the first number must be from 1 to the second, at most "
            f"{MAX_SHARDS:,}"
        )
    return Shard(number, count)


CHUNK_SECONDS = 0.5
MAX_CHUNK_TASKS = 200  # in chunks of half a second; more in longer ones


class SplitQueue:
    """Splits in order; a range of ten million takes no more memory than one of ten."""

    def __init__(self, splits: Sequence[int]):
        self._splits, self._start = splits, 0
        self._returned: deque[int] = deque()

    def __len__(self) -> int:
        return len(self._returned) + len(self._splits) - self._start

    def extendleft(self, splits: Iterable[int]) -> None:
        """Put splits before the others, one by one."""
        self._returned.extendleft(splits)

    def popleft(self) -> int:
        """Remove and return the first split."""
        if self._returned:
            return self._returned.popleft()
        self._start += 1
        return self._splits[self._start - 1]


@dataclass
class PendingCell:
    """The pending splits of a cell, and what is known about their cost."""

    cell: Cell
    splits: SplitQueue  # without a stored record
    seconds: float = 0.0  # of all timed tasks of the cell
    n_timed: int = 0
    n_tasks: int = 0  # done or not; for a shard, only its own

    @property
    def mean_seconds(self) -> float | None:
        """Return the mean time of a task, or None if none was timed."""
        return self.seconds / self.n_timed if self.n_timed else None

    def take_chunk(self, seconds: float, most: int) -> list[int]:
        """Remove and return at most `most` splits that together take about this long."""
        most = min(round(MAX_CHUNK_TASKS * max(1.0, seconds / CHUNK_SECONDS)), most)
        if (mean := self.mean_seconds) is not None:
            most = min(most, int(seconds / max(mean, 1e-6)))
        size = max(1, most)
        return [self.splits.popleft() for _ in range(min(size, len(self.splits)))]

    def add_times(self, seconds: list[float]) -> None:
        """Update the cost with the times of finished tasks."""
        self.seconds += sum(seconds)
        self.n_timed += len(seconds)


def find_pending(cell: Cell, stored: StoredCell, shard: Shard = WHOLE) -> PendingCell:
    """Return what is left to run of a cell, or of a shard of it."""
    wanted = shard.select_splits(cell)
    left = [k for k in wanted if not _is_done(cell, stored.records.get(k))] if stored.records else wanted
    pending = PendingCell(cell, SplitQueue(left), n_tasks=len(wanted))
    pending.add_times([record.wall_time for record in stored.records.values()])
    return pending


def _is_done(cell: Cell, record: Record | None) -> bool:
    """Return whether a record holds everything that the config requests."""
    if record is None:
        return False
    if not isinstance(record, FitRecord) or record.test_errors is None:
        return True
    wanted = set(cell.keep)
    if len(record.test_confusion or ()) > 2:
        wanted.discard("test_scores")  # which are for two classes
    return all(getattr(record, name) for name in wanted)


def open_pending(cells: list[Cell], store: Store, fresh: bool, shard: Shard = WHOLE) -> list[PendingCell]:
    """Return what is left to run of each cell; two columns with the same cell share it.

    With `fresh`, stored results are first set aside.
    """
    pending: dict[str, PendingCell] = {}
    for cell in cells:
        if cell.key not in pending:
            if fresh:
                store.set_aside(cell)
            pending[cell.key] = find_pending(cell, store.open_cell(cell), shard)
    return list(pending.values())


def estimate_seconds(pending: list[PendingCell], jobs: int) -> float | None:
    """Estimate the time left from timed tasks: of the cell, or else of its learner, or else of all."""
    seconds, counts = defaultdict[str, float](float), Counter[str]()
    for part in pending:
        seconds[part.cell.learner.label] += part.seconds
        counts[part.cell.learner.label] += part.n_timed
    if not any(counts.values()):
        return None
    overall = sum(seconds.values()) / counts.total()
    left = 0.0
    for part in pending:
        label, mean = part.cell.learner.label, part.mean_seconds
        if mean is None:
            mean = seconds[label] / counts[label] if counts[label] else overall
        left += len(part.splits) * mean
    return left / jobs
