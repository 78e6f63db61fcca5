"""What checksums and syncing cost of a run, and of reading results: `make bench`."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from places import REFERENCE, TOP

from zoloss_cli.cli import app as cli
from zoloss_cli.results import manifest, record

ROUNDS = 7
# Tables of the paper, of which a split takes seconds, and the quickest learner there is, the worst case.
RUNS = {
    "table2.yaml, 40 splits": [f"{TOP}/configs/table2.yaml", "--splits=40", "--datasets=heart,sonar,pima"],
    "fld, 500 splits": ["fld.yaml"],
}
CONFIG = "datasets: [sonar, heart]\nsplit: {repeats: 500}\nlearners: [fld]\n"


class Stopwatch:
    """Adds up the seconds that functions take, the time of its own reading of the clock among them."""

    def __init__(self) -> None:
        self.seconds, self.count = 0.0, 0

    def watch(self, function: Callable) -> Callable:
        def timed(*arguments: Any) -> Any:
            self.count += 1
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


def run_command(monkeypatch, *arguments: str, clock: Callable[[], float] = time.perf_counter) -> float:
    monkeypatch.setattr(sys, "argv", ["zoloss", *arguments])
    start = clock()
    with contextlib.suppress(SystemExit):
        cli.main()
    return clock() - start


def measure_cpu(command: list[str]) -> float:
    """Return the CPU seconds of a command in a process of its own, its start included."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@pytest.mark.parametrize("name", RUNS)
def test_checks_and_syncs_of_a_run(benchmark, monkeypatch, tmp_path, name):
    checks, syncs = Stopwatch(), Stopwatch()
    for module in (record, manifest):
        monkeypatch.setattr(module, "crc32", checks.watch(module.crc32))
    monkeypatch.setattr(os, "fsync", syncs.watch(os.fsync))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fld.yaml").write_text(CONFIG, encoding="utf-8")
    run_command(monkeypatch, "run", *RUNS[name], "--out", "warm", "--jobs", "1")
    checks.seconds, syncs.seconds, syncs.count = 0.0, 0.0, 0
    benchmark.group = "integrity"
    command = (monkeypatch, "run", *RUNS[name], "--out", "r", "--jobs", "1")
    total = benchmark.pedantic(run_command, command, rounds=1)
    benchmark.extra_info["note"] = (
        f"run of {name}: {total:.1f} s, checksums {100 * checks.seconds / total:.3f} %, "
        f"{syncs.count} syncs {1000 * syncs.seconds:.0f} ms, {100 * syncs.seconds / total:.2f} %"
    )


def test_checks_of_a_table(benchmark, monkeypatch):
    arguments = ["table", str(REFERENCE)]
    with_checks, without = [], []
    run_command(monkeypatch, *arguments)
    for _ in range(ROUNDS):  # by turns, and of this process alone: others may keep the machine busy
        with_checks.append(run_command(monkeypatch, *arguments, clock=time.process_time))
        with monkeypatch.context() as unchecked:
            unchecked.setattr(record, "_verify_checks", lambda bodies, lines: True)
            unchecked.setattr(record, "_strip_check", lambda line: line[: -record.CHECK_LENGTH] + b"}")
            unchecked.setattr(manifest, "_verify_check", lambda content, check: True)
            without.append(run_command(unchecked, *arguments, clock=time.process_time))
    whole = min(measure_cpu([sys.executable, "-m", "zoloss_cli", *arguments]) for _ in range(ROUNDS))
    checks = min(with_checks) - min(without)
    benchmark.group = "integrity"
    benchmark.pedantic(run_command, (monkeypatch, *arguments), rounds=1)
    benchmark.extra_info["note"] = (
        f"zoloss table results/reference: {whole:.2f} s of CPU time, checksums "
        f"{1000 * checks:.0f} ms, {100 * checks / whole:.1f} %"
    )
