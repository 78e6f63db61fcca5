"""What to run, without running it: cells (a data set and a learner), each with numbered splits.

A cell's identity is its content: data, split rule, scaling, learner, parameters and the algorithm's
version. Its key is a hash of that, so two configs that ask for the same thing share results, more
splits extend a cell, and a changed parameter makes a new one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from zoloss_cli.config.catalog import find_embedded_entry
from zoloss_cli.config.data_models import ALL, PREDEFINED, CsvData, DataSpec, EmbeddedData, GeneratedData, Prune
from zoloss_cli.config.metric_checks import find_kept_fields
from zoloss_cli.config.models import Experiment, LearnerSpec, Split, Tuning
from zoloss_cli.datasets.dataset import compute_fingerprint
from zoloss_cli.datasets.splits import SplitRule
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.learner_registrations import FOREIGN_VERSION, name_package
from zoloss_cli.registry import MEASURES, find_registration, is_foreign, make_learner
from zoloss_cli.results.record import RecordKind, hash_identity

IDENTITY_FORMAT = 1  # a part of every identity, and so of every key
PRUNING_VERSION = 1  # raise when pruning changes, so that stored results are not reused


@dataclass(frozen=True)
class Cell:
    """One cell of a table: a data set, a learner, and how they are combined.

    Attributes
    ----------
    data : DataSpec
        The data set.
    learner : LearnerSpec
        The learner or measure, with all its parameters.
    rule : SplitRule
        How many samples train and test, and the master seed.
    scale : str
        How features are scaled.
    repeats : int
        Number of splits.
    fit_on : {'train', 'all'}
        The samples that the scaling is fitted to.
    tuning : Tuning or None
        How settings are chosen, if the learner has several candidates.
    prune : Prune or None
        Which training samples are left out as noise.
    keep : frozenset of {'test_scores', 'test_probabilities'}
        What records hold about test samples besides counts, if the learner provides it. Not part of the
        identity: it changes no number.
    """

    data: DataSpec
    learner: LearnerSpec
    rule: SplitRule
    scale: str
    repeats: int
    fit_on: str = "train"
    tuning: Tuning | None = None
    prune: Prune | None = None
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
        """Return the data set's name in seeds, which is the same whatever a config calls it."""
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
    """Return a learner's name, version and parameters, its package if not ours, and the learners inside."""
    parameters = spec.parameters
    for key, value in spec.settings:
        if isinstance(value, LearnerSpec):
            parameters[key] = build_learner_identity(value)
    if is_foreign(spec.learner):
        return _build_foreign_identity(spec, parameters)
    registered = find_registration(spec.learner)
    identity = {"learner": spec.learner, "version": registered.version, "parameters": parameters}
    return identity | ({"package": registered.package} if registered.package else {})


def _build_foreign_identity(spec: LearnerSpec, parameters: dict) -> dict:
    """Return the identity of a class of a package or a file, without loading it."""
    stored = json.loads(json.dumps(parameters))  # as in a file: keys of mappings are text
    identity = {"learner": spec.learner, "version": FOREIGN_VERSION, "parameters": stored}
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
    return not is_foreign(spec.learner) and make_learner(spec.learner, spec.parameters).deterministic


def find_split_rule(split: Split, data: DataSpec) -> SplitRule:
    """Return how a data set is split: according to its own entry, or to the experiment."""
    train, test = (split.train, split.test) if data.train is None else (data.train, data.test)
    if train == PREDEFINED and isinstance(data, EmbeddedData):
        n_train = find_embedded_entry(data.dataset).train_rows
        assert n_train is not None, "checked with the config"
        return SplitRule(n_train, None, split.seed, predefined=True)
    return SplitRule(train, test, split.seed)


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
