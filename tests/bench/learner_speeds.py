"""How long each learner takes to fit 1,000 samples of 20 features: the column `time` of `zoloss learners`.

`python tests/bench/learner_speeds.py FILE` (`make speeds`) fits every learner with default parameters to two
overlapping Gaussians, or to separable classes where it takes no others, on one core, after a first fit that
compiles its kernels. Searches have a limit of half a minute; one that reaches it has no number. Names after
FILE (`make speeds ONLY=scoring`) measure these alone, and leave the lines of others.
"""

import os
import sys
import time
from pathlib import Path

from sklearn.preprocessing import scale

from zoloss_cli import load_dataset, make_learner
from zoloss_cli.registry import LEARNERS
from zoloss_cli.utils.files import write_bytes

SAMPLES, FEATURES = 1000, 20
SEARCH_SECONDS, FIRST_SECONDS = 30.0, 5.0
DATA = ({"name": "gaussians", "dimensions": FEATURES}, {"name": "separable", "dimensions": FEATURES})


def measure(name: str) -> float | None:
    """Return the processor's seconds of one fit, which other work hardly changes; None if a limit ended it."""
    has_limit = "time_limit" in LEARNERS[name].parameter_model.model_fields

    def fit(data: dict, size: int, limit: float) -> tuple[float, bool]:
        X, y = load_dataset(**data, size=size, seed=1)
        learner = make_learner(name, {"time_limit": limit} if has_limit else {}, random_state=1)
        start, begun = time.process_time(), time.perf_counter()
        learner.fit(scale(X), y)
        return time.process_time() - start, time.perf_counter() - begun > 0.95 * limit

    for data in DATA:
        try:
            fit(data, 60, FIRST_SECONDS)  # compiles
            seconds, is_late = fit(data, SAMPLES, SEARCH_SECONDS)
            return None if has_limit and is_late else seconds
        except ValueError:  # a perceptron that waits for a round without a mistake needs separable classes
            continue
    raise SystemExit(f"{name} takes none of the data")


def main(target: str, *names: str) -> None:
    stored = dict(line.split(",") for line in Path(target).read_text().splitlines()[1:]) if names else {}
    for name in names or LEARNERS.builtin:
        seconds = measure(name)
        stored[name] = "" if seconds is None else f"{seconds:.2g}"
        print(name, stored[name], flush=True)
    lines = ["learner,seconds", *(f"{name},{stored[name]}" for name in LEARNERS.builtin)]
    write_bytes(Path(target), "".join(f"{line}\n" for line in lines).encode())


if __name__ == "__main__":
    if os.environ.get("NUMBA_NUM_THREADS") != "1":  # read when numerical libraries are imported
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | threads)
    main(*sys.argv[1:])
