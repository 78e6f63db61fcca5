"""How long each learner takes to fit 1,000 samples of 20 features: the column `time` of `zoloss learners`.

`python tests/bench/learner_speeds.py FILE` (`make speeds`) fits every learner with default parameters to two
overlapping Gaussians, or to separable classes where it takes no others, on one core, after a first fit that
compiles its kernels. Searches have a limit of half a minute; one that reaches it has no number.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from sklearn.preprocessing import scale

from zoloss_cli import load_dataset, make_learner
from zoloss_cli.registry import LEARNERS
from zoloss_cli.utils.atomic_io import write_text

SAMPLES, FEATURES = 1000, 20
SEARCH_SECONDS = 30.0
DATA = ({"name": "gaussians", "dimensions": FEATURES}, {"name": "separable", "dimensions": FEATURES})


def measure(name: str) -> float | None:
    """Return the processor's seconds of one fit, which other work hardly changes; None if a limit ended it."""
    settings = (
        {"time_limit": SEARCH_SECONDS} if "time_limit" in LEARNERS[name].parameter_model.model_fields else {}
    )
    for data in DATA:
        try:
            X, y = load_dataset(**data, size=60, seed=1)
            make_learner(name, settings, random_state=1).fit(scale(X), y)  # compiles
            X, y = load_dataset(**data, size=SAMPLES, seed=1)
            X = scale(X)
            start, begun = time.process_time(), time.perf_counter()
            make_learner(name, settings, random_state=1).fit(X, y)
            seconds = time.process_time() - start
            return None if settings and time.perf_counter() - begun > 0.95 * SEARCH_SECONDS else seconds
        except ValueError:  # a perceptron that waits for a round without a mistake needs separable classes
            continue
    raise SystemExit(f"{name} takes none of the data")


def main(target: str) -> None:
    """Measure all built-in learners and write a CSV file."""
    lines = [["learner", "seconds"]]
    for name in LEARNERS.builtin:
        seconds = measure(name)
        lines.append([name, "" if seconds is None else f"{seconds:.2g}"])
        print(*lines[-1], flush=True)
    write_text(Path(target), "".join(",".join(line) + "\n" for line in lines))


if __name__ == "__main__":
    if os.environ.get("NUMBA_NUM_THREADS") != "1":  # read when numerical libraries are imported
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | threads)
    main(sys.argv[1])
