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

from zoloss_cli import load_dataset, make_learner
from zoloss_cli.registry import LEARNERS
from zoloss_cli.utils.atomic_io import write_text

SAMPLES, FEATURES = 1000, 20
SEARCH_SECONDS = 30.0
DATA = ({"name": "gaussians", "dimensions": FEATURES}, {"name": "separable", "dimensions": FEATURES})


def measure(name: str) -> float:
    """Return the processor's seconds of one fit, which other work on the machine hardly changes."""
    settings = (
        {"time_limit": SEARCH_SECONDS} if "time_limit" in LEARNERS[name].parameter_model.model_fields else {}
    )
    for data in DATA:
        try:
            X, y = load_dataset(**data, size=60, seed=1)
            make_learner(name, settings, random_state=1).fit(X, y)  # compiles
            X, y = load_dataset(**data, size=SAMPLES, seed=1)
            start = time.process_time()
            make_learner(name, settings, random_state=1).fit(X, y)
            return time.process_time() - start
        except ValueError:  # a perceptron that waits for a round without a mistake needs separable classes
            continue
    raise SystemExit(f"{name} takes none of the data")


def main(target: str) -> None:
    """Measure all built-in learners and write a CSV file."""
    lines = [["learner", "seconds"]]
    for name in LEARNERS.builtin:
        start = time.perf_counter()
        seconds = measure(name)
        has_limit = "time_limit" in LEARNERS[name].parameter_model.model_fields
        is_stopped = has_limit and time.perf_counter() - start > SEARCH_SECONDS
        lines.append([name, "" if is_stopped else f"{seconds:.2g}"])  # empty: it did not come to its end
        print(*lines[-1], flush=True)
    write_text(Path(target), "".join(",".join(line) + "\n" for line in lines))


if __name__ == "__main__":
    if os.environ.get("NUMBA_NUM_THREADS") != "1":  # read when numerical libraries are imported
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | threads)
    main(sys.argv[1])
