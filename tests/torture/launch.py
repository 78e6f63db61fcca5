"""Runs that are started and disturbed: forks of a process that has imported everything, or whole commands.

The workers of forked runs come from one server of processes that is started once. Some runs are whole commands,
which start their own.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from processes import environment

from torture.campaign import import_everything
from torture.children import Command, Outcome, _read_output, _run_here, forget_main, share_server
from torture.cluster_host import fork, redirect

WHOLE_COMMANDS = 0.05
POLL_SECONDS = 0.002
HANG_SECONDS = 120.0
CONFIG = """name: small
datasets: [sonar, heart, ionosphere, pima]
split: {repeats: 60, seed: 5}
learners: [fld]
"""
RUN = ["run", "c.yaml", "--out", "results", "--jobs", "1"]
TIMES = {"fit_time": None, "wall_time": 0.0, "time_to_best": None}


@dataclass
class Child:
    pid: int
    folder: Path

    def wait(self) -> Outcome:
        began = time.monotonic()
        while True:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > HANG_SECONDS:
                self.signal(signal.SIGKILL)
            time.sleep(POLL_SECONDS)
        out, err = (_read_output(self.folder, name) for name in ("out", "err"))
        return Outcome(os.waitstatus_to_exitcode(status), out, err, usage.ru_utime + usage.ru_stime)

    def signal(self, number: int, group: bool = False) -> None:
        (os.killpg if group else os.kill)(self.pid, number)

    def is_over(self) -> bool:
        """Return whether it has ended; it is still to be waited for."""
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"


def start_server() -> int:
    from multiprocessing import forkserver

    from zoloss_cli.experiment.pool import start_process_pool

    # Killed runs cannot return their semaphores; that they are cleaned up at the end needs no word.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
    import_everything()
    start_process_pool(1).shutdown()
    return forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]


def start_fork(arguments: list[str], folder: Path, prepare: Callable[[], object] | None = None) -> Child:
    """Start a command in a fork of this process; `prepare` is called in it first."""

    def run() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        forget_main()
        share_server()
        if prepare is not None:
            prepare()
        return _run_here(Command(arguments, folder), limited=False).code

    return Child(fork(run), folder)


def start_whole(arguments: list[str], folder: Path) -> Child:
    def run() -> NoReturn:
        os.chdir(folder)
        redirect(".out", ".err")
        os.execve(sys.executable, [sys.executable, "-m", "zoloss_cli", *arguments], environment())

    return Child(fork(run), folder)


def find_children(parent: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def read_records(results: Path) -> dict[tuple[str, int], Any]:
    from zoloss_cli.results.store import read_cell_file

    return {
        (path.name, split): msgspec.structs.replace(record, **TIMES)  # type: ignore[type-var]
        for path in (results / "cells").glob("*.jsonl")
        for split, record in read_cell_file(path, path.name.split(".")[-2]).records.items()
    }


def count_lines(cells: Path) -> int:
    """Return about how many records are stored, without reading them: all lines but the headers."""
    return sum(path.read_bytes().count(b"\n") - 1 for path in cells.glob("*.jsonl"))


def find_doubled(results: Path) -> Iterator[str]:
    from zoloss_cli.results.record import decode_records

    for path in (results / "cells").glob("*.jsonl"):
        records, _, _ = decode_records(path.read_bytes().split(b"\n")[1:-1], "fit")
        if len({record.split for record in records}) < len(records):
            yield f"{path.name} has a split twice"


def compare_records(now: dict, before: dict, truth: dict) -> list[str]:
    """Return what is lost of what was there before, and what is not as an undisturbed run has it."""
    lost = before.keys() - now.keys()
    other = [place for place, record in now.items() if truth.get(place) != record]
    faults = [f"{len(lost)} records lost, such as {place}" for place in sorted(lost)[:1]]
    return faults + [f"{len(other)} records changed, such as {other[0]}" for _ in other[:1]]
