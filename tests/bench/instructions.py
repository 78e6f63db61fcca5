"""Instructions of a trial, an epoch and a step of the kernels, whatever else the machine does.

``python tests/bench/instructions.py`` counts them with valgrind's callgrind. Valgrind does not know the newest
instructions, so kernels are compiled for a processor with AVX2, once outside of valgrind, into a folder of
their own. Each unit is counted over a number of them and over twice as many: the difference has no share of
calls, checks and set-up.
"""

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

HEADER = Path("/usr/include/valgrind/callgrind.h")
SWITCH = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void finish(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
EPOCHS = 50  # of an online learner, and of RCD
STEPS = 500  # of the pivot walk
TOP = Path(__file__).resolve().parents[2]


def list_units() -> Iterator[tuple[str, int, Callable[[int], object]]]:
    """Yield what is counted, how many units one call has, and the call with a number of times that."""
    import numpy as np
    from growth import draw_samples
    from test_online_speed import LEARNERS, NAMES, load_table

    from zoloss_cli.kernels.pivot import slide_to_vertex, walk_vertices
    from zoloss_cli.learners.base import Problem
    from zoloss_cli.registry import make_learner

    def learn(learner, X, y, start):
        rows = np.column_stack([np.ones(len(y)), X])
        learner.learn(Problem(rows, y, np.full(len(y), 1 / len(y)), np.random.default_rng(1)), start.copy())

    for name in NAMES:
        _, X, y, start = load_table(name)
        for title, (learner_class, parameters, _) in LEARNERS.items():
            make, data = partial(learner_class, **parameters), (X, y, start)
            fit = lambda k, make=make, data=data: learn(make(epochs=k * EPOCHS), *data)  # noqa: E731
            yield f"{title} trial, {name}", EPOCHS * len(y), fit
    X, y = draw_samples(600, 20)
    samples = X[:, 1:], y, np.zeros(21)
    rcd = lambda k: learn(make_learner("rcd-plain", {"epochs": k * EPOCHS}, 1), *samples)  # noqa: E731
    yield "RCD epoch, N=600, m=20", EPOCHS, rcd
    Y = X * (y / np.sqrt(np.einsum("ij,ij->i", X, X)))[:, None]
    w, B, V = np.ones(21), np.zeros(20, np.int64), np.zeros((20, 21))
    slide_to_vertex(Y, w, B, V, np.uint64(1))

    def walk(k: int) -> None:
        state = w.copy(), B.copy(), V.copy()
        seed = np.uint64(1)
        walk_vertices(Y, np.ones(600), *state, k * STEPS, 0.5, 0.5, seed, np.zeros(21), -1.0)

    yield "pivot step, N=600, m=20", STEPS, walk


def run_units(switch: str) -> None:
    """Call every unit; with a library that switches callgrind on and off, count both calls of each."""
    library = ctypes.CDLL(switch) if switch else None
    for title, count, call in list_units():
        call(1)
        for times in (1, 2):
            if library is not None:
                library.begin()
            call(times)
            if library is not None:
                library.finish(f"{title}|{count}|{times}".encode())


def find_obstacle() -> str:
    if platform.machine() not in ("x86_64", "AMD64"):
        return "kernels are compiled for x86-64"
    missing = [name for name in ("valgrind", "cc") if shutil.which(name) is None]
    missing += [] if HEADER.exists() else [str(HEADER)]
    return f"{missing[0]} is missing" if missing else ""


def count_instructions() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "switch.c").write_text(SWITCH, encoding="ascii")
        library = folder / "switch.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, folder / "switch.c"], check=True)
        environment = os.environ | {
            "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(folder / "kernels"),
            "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(TOP / "tests" / "support"),
        }  # fmt: skip
        program = [sys.executable, __file__, "--run"]
        subprocess.run([*program, ""], env=environment, cwd=TOP, check=True)  # compiles
        counting = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"]
        counting += [f"--callgrind-out-file={folder / 'counts'}", *program, str(library)]
        subprocess.run(counting, env=environment, cwd=TOP, check=True)
        return read_counts(folder)


def read_counts(folder: Path) -> dict[str, float]:
    totals: dict[tuple[str, int], dict[int, int]] = {}
    for path in folder.glob("counts.*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        trigger = re.search(r"Trigger: Client Request: (.+)\|(\d+)\|(\d)$", text, re.MULTILINE)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
        if trigger and total:
            totals.setdefault((trigger[1], int(trigger[2])), {})[int(trigger[3])] = int(total[1])
    return {title: (both[2] - both[1]) / count for (title, count), both in totals.items()}


def main() -> None:
    """Print a line for each unit, or why there is none."""
    if sys.argv[1:2] == ["--run"]:
        run_units(sys.argv[2])
        return
    if obstacle := find_obstacle():
        print(f"instructions: not counted, {obstacle}")
        return
    for title, instructions in sorted(count_instructions().items()):
        print(f"{title:<34} {instructions:>12,.1f} instructions")


if __name__ == "__main__":
    main()
