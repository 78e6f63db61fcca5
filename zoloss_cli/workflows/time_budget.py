"""The time limit of a command: how long each phase may take, and what took too long."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.fitting import fit

SEARCH_SHARE = 0.75  # of the time left, for the fit; the rest is for its validation
LEAST_SHARE = 0.1  # of the limit, for a fit that starts late
TOLERANCE_SECONDS, TOLERANCE_SHARE = 1.0, 0.1  # by how much a limit may be exceeded without a note
PROBE_SAMPLES, PROBE_EPOCHS = 20_000, 100
SAFETY = 0.5  # of the estimated time: many samples are slower than few


@dataclass
class TimeBudget:
    """The seconds that a command may take, and those that its phases have taken.

    Attributes
    ----------
    limit : float or None
        The time limit; None if there is none.
    phases : dict of str to float
        The seconds of each phase.
    start : float
        When the command began, by `time.perf_counter`.
    """

    limit: float | None = None
    phases: dict[str, float] = field(default_factory=dict)
    start: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        if self.limit is not None and not (self.limit > 0.0 and np.isfinite(self.limit)):
            raise ConfigError(f"--time-limit: must be a number of seconds above 0 (got {self.limit:g})")

    @contextlib.contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Measure a phase of the command."""
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
        """Return a sentence on what took the time, if the limit was exceeded."""
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
    """Return the learner in a form that can be fitted in this many seconds.

    A learner with the parameter `time_limit` gets it. For any other with epochs, a few are timed on some of the
    samples, and their number is reduced to what the time allows.

    Parameters
    ----------
    spec : LearnerSpec
        The learner.
    seconds : float or None
        The time; None for as long as it takes.
    X, y : ndarray
        The samples, scaled, and their class indices.

    Returns
    -------
    spec : LearnerSpec
        The learner, possibly with fewer epochs.
    notes : list of str
        What was changed.
    """
    if seconds is None:
        return spec, []
    settings = dict(spec.settings)
    if "time_limit" in settings:
        return _change_settings(spec, time_limit=min(seconds, settings["time_limit"] or seconds)), []
    inner = settings.get("base")
    owner = inner if isinstance(inner, LearnerSpec) else spec
    epochs = dict(owner.settings).get("epochs")
    if epochs is None:
        return spec, []
    possible = _estimate_epochs(spec, SAFETY * seconds, X, y)
    if possible >= epochs:
        return spec, []
    return _set_epochs(spec, possible), [f"{possible:,} of {epochs:,} epochs, for the time limit"]


def _estimate_epochs(spec: LearnerSpec, seconds: float, X: np.ndarray, y: np.ndarray) -> int:
    """Return how many epochs fit in the time, estimated on a few evenly spaced samples."""
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
