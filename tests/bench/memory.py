"""The most memory of a fit, as a multiple of the samples: ``memory.py N M LEARNER [parameter=value ...]``.

The samples themselves count, the interpreter and compiled kernels do not. Linux only: it reads /proc.
"""

import ast
import sys
import time
from pathlib import Path

import numpy as np

from zoloss_cli.registry import make_learner

ROWS_PER_DRAW = 10_000
BYTES_PER_KB = 1024


def read_status(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return BYTES_PER_KB * next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def main() -> None:
    n, m, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    settings = {key: ast.literal_eval(value) for key, value in (each.split("=") for each in sys.argv[4:])}
    rng = np.random.default_rng(0)
    few = rng.normal(size=(300, m))
    make_learner(name, settings, 1).fit(few, few[:, 0] > 0.1 * rng.normal(size=300))
    before = read_status("VmRSS")
    X = np.empty((n, m))
    for start in range(0, n, ROWS_PER_DRAW):
        X[start : start + ROWS_PER_DRAW] = rng.normal(size=(len(X[start : start + ROWS_PER_DRAW]), m))
    y = X @ rng.normal(size=m) + 1.5 * rng.normal(size=n) > 0.3
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    start_time = time.process_time()
    make_learner(name, settings, 1).fit(X, y)
    seconds = time.process_time() - start_time
    peak = (read_status("VmHWM") - before) / X.nbytes
    print(f"{name}, {n:,} x {m}: {peak:.2f} x the samples, {seconds:.1f} s of CPU time")


if __name__ == "__main__":
    main()
