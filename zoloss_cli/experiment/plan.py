"""What to run, without running it: cells (data set x learner), each with numbered splits.

A cell's identity is its content: data, split rule, scaling, learner, parameters and the algorithm's
version. Its key is a hash of that, so two configs that ask for the same thing share results, more
splits extend a cell, and a changed parameter makes a new one.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property

from zoloss_cli.config.catalog import find_embedded_entry
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
from zoloss_cli.datasets.dataset import compute_fingerprint, count_draws
from zoloss_cli.datasets.splits import SplitRule
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registry import MEASURES, find_registration, make_learner

FORMAT = 1
PRUNING_VERSION = 1  # raise when what is pruned changes, so that stored results are not taken for new ones


@dataclass(frozen=True)
class Cell:
    """One cell of a table: a data set, a learner and how they meet."""

    data: DataSpec
    learner: LearnerSpec
    rule: SplitRule
    scale: str
    repeats: int
    fit_on: str = "train"
    tuning: Tuning | None = None  # where the learner has something to tune
    prune: Prune | None = None

    @cached_property
    def identity(self) -> dict:
        """What the results depend on. Settings that came later are in it only where they are used."""
        identity = {
            "format": FORMAT,
            "data": compute_fingerprint(self.data),
            "split": {"train": self.rule.train, "test": self.rule.test, "seed": self.rule.seed},
            "scale": self.scale,
            **learner_identity(self.learner),
        }
        if self.rule.predefined:
            identity["split"]["given"] = True
        if self.fit_on != "train":
            identity["fit_on"] = self.fit_on
        if self.prune is not None:
            identity["prune"] = {"version": PRUNING_VERSION} | self.prune.model_dump(exclude_none=True)
        if self.tuning is not None:
            candidates = [learner_identity(spec) for spec in self.learner.tune]
            identity["tuning"] = self.tuning.model_dump(exclude_none=True) | {"candidates": candidates}
        return identity

    @cached_property
    def key(self) -> str:
        return identity_key(self.identity)

    @property
    def stream(self) -> str:
        """The data set's name in seeds: the same whatever a config calls it."""
        if isinstance(self.data, EmbeddedData):
            return self.data.dataset
        if isinstance(self.data, GeneratedData):
            return self.data.generator
        return compute_fingerprint(self.data)["sha256"][:16]

    @property
    def filename(self) -> str:
        source = "csv" if isinstance(self.data, CsvData) else self.stream
        return f"{_safe(source)}.{_safe(self.learner.name)}.{self.key}.jsonl"


def learner_identity(spec: LearnerSpec) -> dict:
    """A learner's name, version and parameters, and whose it is if not ours; the same for one inside it."""
    parameters = spec.parameters
    for key, value in spec.settings:
        if isinstance(value, LearnerSpec):
            parameters[key] = learner_identity(value)
    registered = find_registration(spec.learner)
    identity = {"learner": spec.learner, "version": registered.learner_class.version, "parameters": parameters}
    return identity | ({"package": registered.package} if registered.package else {})


def identity_key(identity: dict) -> str:
    """A hash of an identity; the same on every machine."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan(experiment: Experiment) -> list[Cell]:
    """All cells of an experiment, data set by data set."""
    return [
        _cell(experiment, data, learner)
        for data in experiment.datasets
        for learner in experiment.learners
        if learner.only is None or data.name in learner.only
    ]


def _cell(experiment: Experiment, data: DataSpec, learner: LearnerSpec) -> Cell:
    split = experiment.split
    rule = rule_of(split, data)
    how = experiment.preprocess
    # Where nothing is scaled or all rows train, both ways to fit are the same one.
    fit_on = "train" if how.scale == "none" or rule.train == ALL else how.fit_on
    repeats = data.repeats or split.repeats
    prune = how.prune if data.prune is None else data.prune or None
    tuning = experiment.tuning if learner.tune else None
    fixed = rule.predefined or (rule.train == ALL and learner.learner in MEASURES)
    if fixed and not (prune or tuning) and make_learner(learner.learner, learner.parameters).deterministic:
        repeats = min(repeats, count_draws(data))  # same rows and no randomness: the same result
    return Cell(data, learner, rule, how.scale, repeats, fit_on, tuning, prune)


def rule_of(split: Split, data: DataSpec) -> SplitRule:
    """How a data set is split: as the experiment says, or as its own entry does."""
    train, test = (split.train, split.test) if data.train is None else (data.train, data.test)
    if train == PREDEFINED:
        return SplitRule(find_embedded_entry(data.dataset).train_rows, None, split.seed, predefined=True)
    return SplitRule(train, test, split.seed)


def select(
    experiment: Experiment, datasets: list[str], learners: list[str], splits: int | None, seed: int | None
) -> Experiment:
    """The experiment with the command line's overrides: fewer rows or columns, other splits or seed."""
    changes = {}
    if datasets:
        changes["datasets"] = _chosen(experiment.datasets, "name", datasets, "data set", experiment.name)
    if learners:
        changes["learners"] = _chosen(experiment.learners, "label", learners, "learner", experiment.name)
    if splits is not None:
        kept = changes.get("datasets", experiment.datasets)
        changes["datasets"] = tuple(data.model_copy(update={"repeats": None}) for data in kept)
    overrides = {k: v for k, v in (("repeats", splits), ("seed", seed)) if v is not None}
    if overrides:
        changes["split"] = experiment.split.model_copy(update=overrides)
    return experiment.model_copy(update=changes)


def _chosen(entries, attribute: str, wanted: list[str], what: str, config: str):
    names = [getattr(e, attribute) for e in entries]
    for name in wanted:
        if name not in names:
            raise ConfigError(f"'{config}' has no {what} '{name}'{suggest_nearest(name, names)}")
    return tuple(e for e in entries if getattr(e, attribute) in wanted)


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40]
