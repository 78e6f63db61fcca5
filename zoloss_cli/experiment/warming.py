"""Compile kernels before anything is timed, by fitting each learner once to a few samples.

numba compiles a kernel at its first call and caches it for later processes. This takes seconds, so it is
announced, can be interrupted, and does not count as a learner's fit time.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba.core import event

from zoloss_cli.config.models import LearnerSpec, Prune
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.kernels.compilation import KEEPS_KERNELS
from zoloss_cli.registry import MEASURES, is_external, make_learner
from zoloss_cli.utils.processes import run_interruptibly
from zoloss_cli.utils.text import notify

# Settings that run every code path of a learner within a second.
SHORT_SETTINGS = {
    "epochs": 2,
    "rounds": 2,
    "steps": 300,
    "trials": 20,
    "lines": 20,
    "nodes": 300,
    "time_limit": 60.0,
    "permutations": 2,
    "s1": 0,
    "clusters": 6,
    "max_terms": 1,
    "target": None,
    "parts": 1,
}
DATA_SETTINGS = {"monotone", "require", "forbid", "conditions"}  # depend on the features of the actual data
# CPU seconds of `zoloss warmup LEARNER` with an empty kernel cache: for most learners that compile any, and by
# the first word of the name, which learners with the same kernels share.
COMPILE_SECONDS = 6
LONG_COMPILE_SECONDS = {"certify": 24}
ALL_COMPILE_SECONDS = 55  # of all learners: many share kernels
EXTERNAL_SECONDS = 0.5  # for the first fit of another package's search with a time limit
COMPLEXITY_COMPILE_SECONDS = 11.0  # of the kernels behind complexity and contributions
MIN_NOTICED_SECONDS = 2  # a shorter compilation ends before its notice is read
_warmed_up: set[object] = set()  # learners and pruning methods whose kernels this process has loaded


class _CompilationAnnouncer(event.Listener):
    """Announce the first compilation, with the estimated time of all."""

    def __init__(self, seconds: float):
        self.text = f"compiling kernels{', once' * KEEPS_KERNELS}, about {seconds:.0f} s"

    def on_start(self, event: event.Event) -> None:
        """Announce it once."""
        if self.text:
            notify(self.text)
            self.text = ""

    def on_end(self, event: event.Event) -> None:
        """Do nothing: numba requires this method."""


def announce_compilation(seconds: float) -> contextlib.AbstractContextManager[object]:
    """Return a context manager that announces the first compilation, with the estimated seconds."""
    if seconds < MIN_NOTICED_SECONDS:
        return contextlib.nullcontext()
    return event.install_listener("numba:compile", _CompilationAnnouncer(seconds))


def estimate_seconds(specs: Sequence[LearnerSpec]) -> float:
    """Estimate how long the kernels of learners take to compile with an empty cache."""
    learners = [candidate.learner for spec in specs for candidate in spec.tune or (spec,)]
    families = {name.partition("-")[0] for name in learners}
    seconds = sum(LONG_COMPILE_SECONDS.get(family, COMPILE_SECONDS) for family in families)
    return float(min(seconds, ALL_COMPILE_SECONDS))


def compile_kernels(specs: Sequence[LearnerSpec], report: Callable[[int, int], object] | None = None) -> float:
    """Warm up learners in this process, so that workers and later commands find compiled kernels.

    `report` is called with the number of learners done and the total. Return the seconds taken.
    """
    start = time.perf_counter()
    candidates = [candidate for spec in specs for candidate in (spec, *spec.tune)]
    with announce_compilation(estimate_seconds(specs)):
        for done, spec in enumerate(candidates, 1):
            _run_once((spec.name, spec.source), functools.partial(_fit_briefly, spec))
            if report is not None:
                report(done, len(candidates))
    return time.perf_counter() - start


def warm_up(spec: LearnerSpec) -> None:
    """Fit a learner once to a few samples, so that loading its kernels does not count as fit time."""
    if (spec.name, spec.source) not in _warmed_up:
        compile_kernels([spec])


def compile_for_cells(cells: Sequence[Cell]) -> float:
    """Compile what the tasks of cells need in this process, and return the seconds taken for learners."""
    seconds = compile_kernels([cell.learner for cell in cells])
    with announce_compilation(COMPLEXITY_COMPILE_SECONDS):
        for how in {cell.prune for cell in cells if cell.prune is not None}:
            _run_once(how, functools.partial(_prune_briefly, how))
    return seconds


def _run_once(key: object, run: Callable[[], None]) -> None:
    """Run a compiling function once per key, in a thread that Ctrl-C can abandon: compilers ignore signals."""
    if key in _warmed_up:
        return
    _warmed_up.add(key)
    if threading.current_thread() is threading.main_thread():
        run_interruptibly(run)
    else:
        run()


def find_unseeded(spec: LearnerSpec) -> str:
    """Return a sentence if two fits of an external estimator with the same seed differ; empty if they agree.

    One with a time limit is not checked: its result depends on the machine.
    """
    if dict(spec.settings).get("time_limit") is not None:
        return ""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (60, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first, second = (
                _compute_scores(make_learner(spec.source, spec.parameters, 0).fit(X, y), X) for _ in range(2)
            )
    except Exception:  # the error recurs, and is reported, in the learner's own tasks
        return ""
    if np.array_equal(first, second):
        return ""
    return (
        f"'{spec.learner}' gives different results for the same seed, so it is not reproducible: let it draw "
        "all random numbers from its parameter random_state"
    )


def _compute_scores(learner, X: np.ndarray) -> np.ndarray:
    """Return the scores of samples if a fitted learner has some, otherwise its predictions."""
    return learner.decision_function(X) if hasattr(learner, "decision_function") else learner.predict(X)


def _prune_briefly(how: Prune) -> None:
    from zoloss_cli.complexity.outliers import prune

    X = np.random.default_rng(0).uniform(-1, 1, (24, 2))
    prune(X, np.arange(24) % 2, how.model_copy(update={"permutations": 2}), 0)


def _fit_briefly(spec: LearnerSpec) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (24, 2)), np.arange(24) % 2
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        # Whatever is wrong with the learner recurs, and is reported, in its own tasks.
        warnings.simplefilter("ignore")
        learner = make_learner(spec.source, _shorten_settings(spec.parameters, spec.learner), 0)
        if spec.learner in MEASURES:
            learner.measure(X, y)
        else:
            learner.fit(X, y).predict(X)


def _shorten_settings(parameters: dict, learner: str = "") -> dict:
    """Return settings that run the same code within a second: two epochs, no settings that need other data."""
    short: dict[str, Any] = {
        k: _shorten_settings(v, str(v.get("learner", ""))) if isinstance(v, dict) else v
        for k, v in parameters.items()
    }
    limit = short.get("time_limit")
    short |= {k: v for k, v in SHORT_SETTINGS.items() if k in short}
    if limit is not None and is_external(learner.partition("@")[0]):
        short["time_limit"] = min(limit, EXTERNAL_SECONDS)  # it may have no other way to stop
    dropped = {"seeding"} if isinstance(short.get("seeding"), list) else set()  # weights for other data
    if not is_external(learner.partition("@")[0]):
        dropped |= DATA_SETTINGS
    return {k: v for k, v in short.items() if k not in dropped}
