"""Parse learners and their parameters from options, choose learners by table size, and apply time limits."""

from __future__ import annotations

import contextlib
import json
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import yaml

from zoloss_cli.choices import DEFAULT_SCALING
from zoloss_cli.config.learners import build_learner_spec, parse_learner_name, resolve_class
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.experiment.fitting import fit
from zoloss_cli.learners.base import name_features
from zoloss_cli.registry import find_registration, is_external, make_learner
from zoloss_cli.utils.imports import name_class


class _ValueLoader(yaml.SafeLoader):
    """A safe YAML loader that parses 1e-3 as a number, although it has no decimal point."""


_ValueLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789")
)


class OptionErrorCollector(InlineErrorCollector):
    """Collect errors in options that represent config keys; --set names the learner before the parameter."""

    def __init__(self) -> None:
        super().__init__("--set")

    def add(self, keys: tuple, message: str) -> None:
        """Add an error under the option that represents the key."""
        option = "splits" if keys[-1] == "repeats" else keys[-1]
        if keys[:1] == ("learners",):
            option = f"set {'.'.join(map(str, keys[1:]))}"
        self.lines.append(f"--{option}: {message}")


def parse_learner(name: str, assignments: list[str], time_limit: float | None) -> LearnerSpec:
    """Parse a learner and its parameters."""
    values = parse_learner_name(name)
    known = find_parameters(name)
    for text in assignments:
        key, value = _split_assignment(text, "KEY=VALUE", f"{next(iter(known), 'epochs')}=500")
        _assign(values, name, known, key, value, text)
    if time_limit is not None:
        if "time_limit" not in known:
            raise ConfigError(f"--time-limit: the learner '{name}' has no time limit")
        if "time_limit" in values:
            raise ConfigError("--time-limit and --set time_limit set the same limit; give one of them")
        if not (time_limit > 0.0 and math.isfinite(time_limit)):
            raise ConfigError(f"--time-limit: must be a number of seconds above 0 (got {time_limit:g})")
        values["time_limit"] = time_limit
    mistakes = InlineErrorCollector("--set")
    spec = build_learner_spec(name, values, None, mistakes)
    if spec is None or mistakes.lines:
        raise ConfigError("\n".join(dict.fromkeys(mistakes.lines)))
    return spec


def parse_settings(names: list[str], assignments: list[str]) -> dict[str, dict]:
    """Parse the parameters of several learners."""
    columns = parse_labels(names)
    known = {label: find_parameters(name) for label, name in columns.items()}
    values = {
        label: parse_learner_name(name) or ({"learner": name} if name != label else {})
        for label, name in columns.items()
    }
    first = next(iter(columns))
    example = f"{first}.{next(iter(known[first]), 'epochs')}=500"
    for text in assignments:
        key, value = _split_assignment(text, "LEARNER.KEY=VALUE", example)
        label, _, parameter = key.rpartition(".")
        for each, name in reversed(columns.items()):  # a learner with a dotted name may be named in full
            for start in (f"{name}.", f"{each}."):
                if key.startswith(start):
                    label, parameter = each, key.removeprefix(start)
        if not label:
            label = _find_owner(key, known, text)
        elif label not in columns:
            hint = suggest_nearest(label, columns)
            raise ConfigError(f"--set {text}: '{label}' is not one of the learners here{hint}")
        _assign(values[label], columns[label], known[label], parameter, value, text)
    return values


def parse_labels(names: list[str], option: str = "--learners") -> dict[str, str]:
    """Return the learners of an option, keyed by column label."""
    columns: dict[str, str] = {}
    for text in names:
        label, equals, name = (part.strip() for part in text.rpartition("="))
        if equals and not (label and name):
            raise ConfigError(f"{option}: write '{text}' as LABEL=LEARNER, such as mine=rcd-bias")
        if not label:
            label = name_class(name) if is_external(name) else name
        if label in columns:
            hint = "" if name == columns[label] else "; give one of them another label, as in other=" + name
            raise ConfigError(f"{option}: '{label}' is listed more than once{hint}")
        columns[label] = name
    return columns


def find_parameters(name: str) -> dict:
    """Return the parameters of a learner, given by its name in a table or an option."""
    source = resolve_class(name).source if is_external(name) else name.partition(":")[0]
    return find_registration(source).parameter_model.model_fields


def _find_owner(key: str, known: dict[str, dict], text: str) -> str:
    owners = [name for name, fields in known.items() if key in fields]
    if not owners:
        every = dict.fromkeys(parameter for fields in known.values() for parameter in fields)
        raise ConfigError(f"--set {text}: no learner here has a parameter '{key}'{suggest_nearest(key, every)}")
    if len(owners) > 1:
        raise ConfigError(
            f"--set {text}: {', '.join(owners)} have a parameter '{key}'; name one, as in {owners[0]}.{text}"
        )
    return owners[0]


def _split_assignment(text: str, form: str, example: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise ConfigError(f"--set {text}: write it as {form}, such as {example}")
    return key, value


def _assign(values: dict, learner: str, known: dict, key: str, value: str, text: str) -> None:
    if key not in known:
        raise ConfigError(
            f"--set {text}: the learner '{learner}' has no parameter '{key}'{suggest_nearest(key, known)}"
        )
    if key in values:
        raise ConfigError(f"--set {text}: '{key}' is set more than once")
    try:
        values[key] = yaml.load(value, Loader=_ValueLoader)
        json.dumps(values[key], allow_nan=False)  # values must be JSON-serializable for model files
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        raise ConfigError(f"--set {text}: '{value}' is not a finite number, a text or a list in YAML") from None


LEARNER_FOR_FEW, LEARNER_FOR_MANY, LEARNER_FOR_SEVERAL = "pivot", "rcd-bias", "one-vs-one"
# Non-default settings of these learners: starting from Fisher's discriminant, random coordinate descent needs
# far fewer epochs with many features.
SETTINGS: dict[str, dict[str, str]] = {
    LEARNER_FOR_FEW: {},
    LEARNER_FOR_MANY: {"seeding": "fld"},
    LEARNER_FOR_SEVERAL: {"base": "{learner: rcd-bias, seeding: fld}"},
}
BASELINE = "majority"
OTHERS_FOR_FEW: tuple[str, ...] = ("rcd-bias", "soft-svm", "lr", "sla")
OTHERS_FOR_MANY: tuple[str, ...] = ("fld",)  # the only other one that takes only a few seconds
OTHERS_FOR_SEVERAL: tuple[str, ...] = ("one-vs-one:soft-svm", "ecc:stump", "erp:stump")
VERY_MANY_VALUES = 1_000_000  # above this, a hundred fits of the others take hours
MANY_VALUES = 50_000  # samples times features; above this, pivot's search takes more than seconds


def choose_learner(n_samples: int, n_features: int, n_classes: int) -> tuple[str, list[str], str]:
    """Choose a learner by the size of a table."""
    if n_classes > 2:
        name, reason = LEARNER_FOR_SEVERAL, f"{n_classes} classes"
    # With no more samples than weights, the classes are nearly always separable, and no search is needed.
    elif n_samples * (n_features + 1) <= MANY_VALUES or n_samples <= n_features + 1:
        name, reason = LEARNER_FOR_FEW, f"two classes, {n_samples:,} samples"
    else:
        name = LEARNER_FOR_MANY
        features = "" if n_samples > MANY_VALUES / 10 else f" of {n_features:,} features"
        reason = f"{n_samples:,} samples{features} are many for {LEARNER_FOR_FEW}"
    return name, [f"{key}={value}" for key, value in SETTINGS[name].items()], reason


def list_usual_learners(n_samples: int, n_features: int, n_classes: int) -> tuple[list[str], list[str]]:
    """Return the learners to compare on a table: the one that `fit` uses, others, and the majority class."""
    name, settings, _ = choose_learner(n_samples, n_features, n_classes)
    others = OTHERS_FOR_FEW if n_classes == 2 else OTHERS_FOR_SEVERAL
    if n_samples * (n_features + 1) > VERY_MANY_VALUES and name == LEARNER_FOR_MANY:
        others = OTHERS_FOR_MANY
    return list(dict.fromkeys([name, *others, BASELINE])), [f"{name}.{text}" for text in settings]


def parse_chosen_learner(
    size: tuple[int, int, int], assignments: list[str], time_limit: float | None
) -> tuple[LearnerSpec, str]:
    """Choose a learner by the size of a table, with parameters from options."""
    name, usual, reason = choose_learner(*size)
    given = {text.partition("=")[0].strip() for text in assignments}
    kept = [text for text in usual if text.partition("=")[0] not in given]
    limit = time_limit if name == LEARNER_FOR_FEW else None
    return parse_learner(name, [*kept, *assignments], limit), reason


SEARCH_SHARE = 0.75  # fraction of the time left for the fit; the rest is for its validation
LEAST_SHARE = 0.1  # minimum fraction of the limit, for a fit that starts late
TOLERANCE_SECONDS, TOLERANCE_SHARE = 1.0, 0.1  # by how much a limit may be exceeded without a note
PROBE_SAMPLES, PROBE_EPOCHS = 20_000, 100
SAFETY = 0.5  # safety factor: the time per sample grows with their number


@dataclass
class TimeBudget:
    """The time limit of a command, and the seconds that its phases took."""

    limit: float | None = None  # the time limit; None if there is none
    phases: dict[str, float] = field(default_factory=dict)  # the seconds of each phase
    start: float = field(default_factory=time.perf_counter)  # when the command began, by `time.perf_counter`

    def __post_init__(self) -> None:
        if self.limit is not None and not (self.limit > 0.0 and np.isfinite(self.limit)):
            raise ConfigError(f"--time-limit: must be a number of seconds above 0 (got {self.limit:g})")

    @contextlib.contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Measure the time of a phase."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.phases[phase] = self.phases.get(phase, 0.0) + time.perf_counter() - start

    def compute_seconds_left(self, share: float = 1.0) -> float | None:
        """Return a share of the seconds left, at least a tenth of the limit; None without a limit."""
        if self.limit is None:
            return None
        left = self.limit - (time.perf_counter() - self.start)
        return max(share * left, LEAST_SHARE * self.limit)

    def describe_excess(self) -> list[str]:
        """Return a sentence with the time of each phase, if the limit was exceeded."""
        if self.limit is None:
            return []
        seconds = time.perf_counter() - self.start
        if seconds <= self.limit + max(TOLERANCE_SECONDS, TOLERANCE_SHARE * self.limit):
            return []
        parts = ", ".join(f"{phase} {took:.1f} s" for phase, took in self.phases.items())
        return [f"{seconds:.1f} s passed, more than the time limit of {self.limit:g} s: {parts}"]


def limit_learner(
    spec: LearnerSpec, seconds: float | None, X: np.ndarray, y: np.ndarray
) -> tuple[LearnerSpec, list[str]]:
    """Return the learner with its search limited to this many seconds.

    A learner with the parameter `time_limit` receives it. Of any other with epochs, a few are timed on some of
    the samples, and their number is reduced to meet the limit.
    """
    if seconds is None:
        return spec, []
    settings = dict(spec.settings)
    if "time_limit" in settings:
        return _change_settings(spec, time_limit=min(seconds, settings["time_limit"] or seconds)), []
    inner = settings.get("base")
    owner = inner if isinstance(inner, LearnerSpec) else spec
    epochs = dict(owner.settings).get("epochs")
    if epochs is None or (possible := _estimate_epochs(spec, SAFETY * seconds, X, y)) >= epochs:
        return spec, []
    return _set_epochs(spec, possible), [f"{possible:,} of {epochs:,} epochs, for the time limit"]


def _estimate_epochs(spec: LearnerSpec, seconds: float, X: np.ndarray, y: np.ndarray) -> int:
    """Estimate how many epochs fit in the time, on evenly spaced samples."""
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), PROBE_SAMPLES)).astype(int))
    X_few, y_few = X[rows], y[rows]
    if len(np.unique(y_few)) < 2:
        return 1
    took = []
    for epochs in (1, 1 + PROBE_EPOCHS):
        start = time.perf_counter()
        fit(_set_epochs(spec, epochs), X_few, y_few, np.random.SeedSequence(0))
        took.append((time.perf_counter() - start) * len(y) / len(rows))
    one_epoch = max(took[1] - took[0], 1e-9) / PROBE_EPOCHS
    return max(1, int((seconds - took[0]) / one_epoch))


def _set_epochs(spec: LearnerSpec, epochs: int) -> LearnerSpec:
    inner = dict(spec.settings).get("base")
    if isinstance(inner, LearnerSpec):
        return _change_settings(spec, base=_change_settings(inner, epochs=epochs))
    return _change_settings(spec, epochs=epochs)


def _change_settings(spec: LearnerSpec, **changes) -> LearnerSpec:
    settings = tuple((key, changes.get(key, value)) for key, value in spec.settings)
    return spec.model_copy(update={"settings": settings})


SCORING_LEARNER = "scoring"


@dataclass(frozen=True)
class ScoringOptions:
    """The options for a scoring system; None if not given."""

    max_terms: int | None = None  # the maximum number of conditions, and the largest points
    max_points: int | None = None
    monotone: tuple[str, ...] = ()  # names of columns; in `monotone`, with a sign
    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()

    def list_assignments(self, learner: str | None) -> list[str]:
        """Return the options as parameters KEY=VALUE; ConfigError if the learner has no such parameters."""
        found: list[str] = []
        for key, value in vars(self).items():
            if value is None or value == ():
                continue
            if learner != SCORING_LEARNER:
                raise ConfigError(
                    f"--{key.replace('_', '-')} is for scoring systems; add --learner {SCORING_LEARNER}"
                )
            found.append(f"{key}={json.dumps(list(value) if isinstance(value, tuple) else value)}")
        return found


def check_has_card(learner: str | None) -> None:
    """Raise ConfigError for a learner without a card."""
    if learner != SCORING_LEARNER:
        raise ConfigError(f"--out: only scoring systems have a card; add --learner {SCORING_LEARNER}")


def takes_raw_features(spec: LearnerSpec) -> bool:
    """Return whether a learner's rule is in the table's units, so that its features are not scaled."""
    return bool(getattr(find_registration(spec.source).learner_class, "takes_raw_features", False))


def choose_scaling(spec: LearnerSpec, scaling: str) -> str:
    """Return how features are scaled for a learner; raise ConfigError if it requires unscaled ones."""
    if not takes_raw_features(spec):
        return scaling
    if scaling not in (DEFAULT_SCALING, "none"):
        raise ConfigError(
            f"--scale: the conditions of '{spec.learner}' are in the table's units, so its features are not "
            "scaled; leave out --scale"
        )
    return "none"


def check_scoring(table: CsvTable, y: np.ndarray, spec: LearnerSpec, max_terms: int | None) -> int:
    """Return the number of conditions of a table; raise DataError if it cannot meet the options."""
    with name_features(table.features):
        learner: Any = make_learner(spec.source, spec.parameters)
        try:
            count = learner.count_conditions(table.X, y)
        except ValueError as error:
            raise DataError(f"{table.path}: {error}") from None
    if max_terms is not None and max_terms > count:
        raise DataError(
            f"{table.path}: --max-terms is {max_terms:,}, more than the {count:,} conditions of "
            f"its {len(table.columns):,} columns; use at most {count:,}"
        )
    return count
