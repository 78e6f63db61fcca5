"""Compile kernels before anything is timed: a learner is fitted once to a few samples.

numba compiles a kernel when it is first called, and keeps it for later processes. This takes seconds, which
users have to know about, must be able to interrupt, and must not find in a learner's time.
"""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba.core import event

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.kernels import KEEPS_KERNELS
from zoloss_cli.registry import MEASURES, is_foreign, make_learner
from zoloss_cli.utils.interrupt import run_interruptibly
from zoloss_cli.utils.text import notify

# Settings that run every code path of a learner in a moment.
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
DATA_SETTINGS = {"monotone", "require", "forbid", "conditions"}  # made for other data than a few samples
# CPU seconds of `zoloss warmup LEARNER` with no kernel compiled, by the first word of the learner's name:
# learners that share it share kernels.
COMPILE_SECONDS = {
    "adaboost": 7,
    "bnb": 6,
    "bpm": 2,
    "ccd": 6,
    "certify": 24,
    "csa": 9,
    "ecc": 8,
    "erp": 8,
    "inseparable": 6,
    "one": 9,
    "pcs": 5,
    "pivot": 11,
    "pocket": 6,
    "rcd": 6,
    "scoring": 6,
    "sla": 3,
    "soft": 5,
}
OTHER_COMPILE_SECONDS = 1
ALL_COMPILE_SECONDS = 55  # of all learners: many share kernels
FOREIGN_SECONDS = 0.5  # for the first fit of another package's search with a time limit
COMPLEXITY_COMPILE_SECONDS = 11.0  # of the kernels behind complexity and contributions
MIN_NOTICED_SECONDS = 2  # a shorter compilation ends before its notice is read
_warmed_up: set[str] = set()  # learners whose kernels this process has loaded


class _CompilationAnnouncer(event.Listener):
    """Announce the first compilation, and about how long all will take."""

    def __init__(self, seconds: float):
        self.text = f"compiling kernels{', once' * KEEPS_KERNELS}, about {seconds:.0f} s"
        self.told = False

    def on_start(self, event: event.Event) -> None:
        """Announce it once."""
        if not self.told:
            self.told = True
            notify(self.text)

    def on_end(self, event: event.Event) -> None:
        """Do nothing: numba requires this method."""


def ignore_steps(n_done: int, n_all: int) -> None:
    """Report nothing."""


@contextlib.contextmanager
def announce_compilation(seconds: float) -> Iterator[None]:
    """Within this block, announce a compilation when it starts, with the seconds that it may take."""
    if seconds < MIN_NOTICED_SECONDS:
        yield
        return
    with event.install_listener("numba:compile", _CompilationAnnouncer(seconds)):
        yield


def estimate_seconds(specs: Sequence[LearnerSpec]) -> float:
    """Return about how long the kernels of learners take to compile if there are none yet."""
    learners = [candidate.learner for spec in specs for candidate in spec.tune or (spec,)]
    families = {name.partition("-")[0] for name in learners}
    seconds = sum(COMPILE_SECONDS.get(family, OTHER_COMPILE_SECONDS) for family in families)
    return float(min(seconds, ALL_COMPILE_SECONDS))


def compile_kernels(specs: Sequence[LearnerSpec], report: Callable[[int, int], object] = ignore_steps) -> float:
    """Warm up learners in this process, so that workers and later commands find compiled kernels.

    Parameters
    ----------
    specs : sequence of LearnerSpec
        The learners, and the candidates that they are tuned over.
    report : callable
        Called with the number of learners done and the total.

    Returns
    -------
    float
        Seconds taken.
    """
    start = time.perf_counter()
    each = [candidate for spec in specs for candidate in (spec, *spec.tune)]
    with announce_compilation(estimate_seconds(specs)):
        for done, spec in enumerate(each, 1):
            _warm_up(spec)
            report(done, len(each))
    return time.perf_counter() - start


def warm_up(spec: LearnerSpec) -> None:
    """Fit a learner once to a few samples: loading its kernels must not count as its time."""
    if _build_key(spec) not in _warmed_up:
        with announce_compilation(estimate_seconds([spec])):
            _warm_up(spec)


def _warm_up(spec: LearnerSpec) -> None:
    """Fit it, in a thread that Ctrl-C can abandon: a compiler ignores signals for seconds."""
    if _build_key(spec) in _warmed_up:
        return
    _warmed_up.add(_build_key(spec))
    if threading.current_thread() is threading.main_thread():
        run_interruptibly(lambda: _fit_briefly(spec))
    else:
        _fit_briefly(spec)


def _build_key(spec: LearnerSpec) -> str:
    """Return what identifies kernels: a learner's name, and the content of its file."""
    return f"{spec.name} {spec.source}"


def find_unseeded(spec: LearnerSpec) -> str:
    """Return a sentence if two fits of a foreign estimator with the same seed differ; empty if they agree.

    Parameters
    ----------
    spec : LearnerSpec
        The learner. One with a time limit is not checked: its result depends on the machine.
    """
    if dict(spec.settings).get("time_limit") is not None:
        return ""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (60, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = [_answer(make_learner(spec.source, spec.parameters, 0).fit(X, y), X) for _ in range(2)]
    except Exception:  # it recurs, and is reported, in its own tasks
        return ""
    if np.array_equal(answers[0], answers[1]):
        return ""
    return (
        f"'{spec.learner}' gives two results for the same seed, so its numbers cannot be reproduced: let it "
        "draw from its parameter random_state alone"
    )


def _answer(learner, X: np.ndarray) -> np.ndarray:
    """Return the scores of samples if a fitted learner has some, otherwise its predictions."""
    return learner.decision_function(X) if hasattr(learner, "decision_function") else learner.predict(X)


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
    """Return settings that run the same code in a moment: two epochs, two rounds, no weights for other data."""
    short: dict[str, Any] = {
        k: _shorten_settings(v, str(v.get("learner", ""))) if isinstance(v, dict) else v
        for k, v in parameters.items()
    }
    limit = short.get("time_limit")
    short |= {k: v for k, v in SHORT_SETTINGS.items() if k in short}
    if limit is not None and is_foreign(learner.partition("@")[0]):
        short["time_limit"] = min(limit, FOREIGN_SECONDS)  # it may have no other way to stop
    short = {k: v for k, v in short.items() if not (k == "seeding" and isinstance(v, list))}
    return short if is_foreign(learner.partition("@")[0]) else _drop_data_settings(short)


def _drop_data_settings(short: dict) -> dict:
    return {k: v for k, v in short.items() if k not in DATA_SETTINGS}
