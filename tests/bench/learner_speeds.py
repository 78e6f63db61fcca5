"""How long each learner takes to fit 1,000 samples of 20 features: the column `time` of `zoloss learners`.

`python tests/bench/learner_speeds.py FILE` (`make speeds`) fits every learner with default parameters to two
overlapping Gaussians, or to separable classes where it takes no others, on one core, after a first fit that
compiles its kernels. Searches have a limit of half a minute of the processor's time; one that reaches it has no
number. Names after FILE (`make speeds ONLY=scoring`) measure these alone, and leave the lines of others.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.preprocessing import scale

from zoloss_cli import load_dataset, make_learner
from zoloss_cli.registry import LEARNERS
from zoloss_cli.utils.files import write_text

SAMPLES, FEATURES = 1000, 20
SEARCH_SECONDS, FIRST_SECONDS = 30.0, 5.0
MAX_TRIES = 3
DATA = ({"name": "gaussians", "dimensions": FEATURES}, {"name": "separable", "dimensions": FEATURES})


def measure(name: str) -> float | None:
    """Return the processor's seconds of one fit, which other work hardly changes; None if a limit ended it."""
    for data in DATA:
        try:
            X, y = load_dataset(**data, size=60, seed=1)
            fit(name, X, y, FIRST_SECONDS)  # compiles
            return measure_search(name, *load_dataset(**data, size=SAMPLES, seed=1))
        except ValueError:  # a perceptron that waits for a round without a mistake needs separable classes
            continue
    raise SystemExit(f"{name} takes none of the data")


def measure_search(name: str, X: np.ndarray, y: np.ndarray) -> float | None:
    """Return the processor's seconds of a fit that may take half a minute of them; None if it takes more.

    A search has a clock on the wall, which goes on while others have the processor: if it ended early for that
    reason, it has more time in the next try.
    """
    limit = SEARCH_SECONDS
    for _ in range(MAX_TRIES):
        used, passed = fit(name, X, y, limit)
        if not has_limit(name) or passed < 0.95 * limit:
            return used
        if used > 0.95 * SEARCH_SECONDS:
            return None
        limit *= 1.2 * passed / used
    raise SystemExit(
        f"{name} had too little of the processor in {MAX_TRIES} tries: measure it with less beside it"
    )


def fit(name: str, X: np.ndarray, y: np.ndarray, limit: float) -> tuple[float, float]:
    """Return the seconds of the processor and on the wall of one fit, a search's within a limit."""
    settings = {"time_limit": limit} if has_limit(name) else {}
    X = scale(X)
    start, begun = time.process_time(), time.perf_counter()
    make_learner(name, settings, random_state=1).fit(X, y)
    return time.process_time() - start, time.perf_counter() - begun


def has_limit(name: str) -> bool:
    """Return whether a learner is a search that can be given a time limit."""
    return "time_limit" in LEARNERS[name].parameter_model.model_fields


def main(target: str, *names: str) -> None:
    """Measure all built-in learners, or some, and write a CSV file."""
    stored = dict(line.split(",") for line in Path(target).read_text().splitlines()[1:]) if names else {}
    for name in names or LEARNERS.builtin:
        seconds = measure(name)
        stored[name] = "" if seconds is None else f"{seconds:.2g}"
        print(name, stored[name], flush=True)
    lines = ["learner,seconds", *(f"{name},{stored[name]}" for name in LEARNERS.builtin)]
    write_text(Path(target), "".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    if os.environ.get("NUMBA_NUM_THREADS") != "1":  # read when numerical libraries are imported
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | threads)
    main(*sys.argv[1:])
