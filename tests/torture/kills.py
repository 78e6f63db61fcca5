"""Runs that are killed at random moments and continued: no record is lost, doubled or changed."""

import atexit
import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path
from random import Random
from typing import ClassVar

from torture.campaign import Campaign
from torture.children import Command, remove_folder, warm_up
from torture.judge import find_faults
from torture.launch import (
    CONFIG,
    POLL_SECONDS,
    RUN,
    WHOLE_COMMANDS,
    Child,
    compare_records,
    count_lines,
    find_children,
    find_doubled,
    read_records,
    start_fork,
    start_server,
    start_whole,
)

MAX_KILLS = 16  # of one folder, until it may finish
WORKERS = 0.12  # of kills are of a worker, not of the command
AT_ANY_TIME = 0.15  # of kills; the others wait for a record
SOON_SECONDS = 0.01
MAX_RUNS = 4  # until all is there: a task whose worker was killed is tried again in the next run


class Kills(Campaign):
    undisturbed: ClassVar[tuple[Path, dict, float] | None] = None

    name = "kills"
    n_short = 1
    unit = "runs into a folder of their own"

    def prepare(self) -> None:
        """Run once without a disturbance, for all campaigns that disturb this run."""
        self.server = start_server()
        if Kills.undisturbed is None:
            folder = Path(tempfile.mkdtemp(prefix="torture-undisturbed-"))
            atexit.register(remove_folder, folder)
            warm_up([Command(RUN, self.make_folder("warm"))])
            (folder / "c.yaml").write_text(CONFIG, encoding="utf-8")
            began = time.monotonic()
            ended = start_fork(RUN, folder).wait()
            records = read_records(folder / "results")
            if ended.code or not records:
                raise RuntimeError(f"no run to compare with: {ended.err}")
            Kills.undisturbed = folder / "results", records, time.monotonic() - began
        self.done, self.truth, self.seconds = Kills.undisturbed

    def make_folder(self, title: object) -> Path:
        folder = super().make_folder(title)
        (folder / "c.yaml").write_text(CONFIG, encoding="utf-8")
        return folder

    def compare_finished(self, folder: Path) -> list[str]:
        """Return how the records of a finished run differ from those of the undisturbed one."""
        results = folder / "results"
        return compare_records(read_records(results), self.truth, self.truth) + list(find_doubled(results))

    def finish(self, folder: Path) -> list[str]:
        """Continue a run that was disturbed: all is as if it had not been."""
        before = read_records(folder / "results")
        faults = compare_records(before, before, self.truth)
        ended = start_fork(RUN, folder).wait()
        if ended.code:
            return [*faults, f"it does not continue: {ended.err[-200:]}"]
        return faults + self.compare_finished(folder)

    def attack(self, seed: int) -> list[str]:
        """Kill a run and continue it, several times; let it finish, and compare it with the undisturbed one."""
        rng, folder = self.rng(seed), self.make_folder(seed)
        faults: list[str] = []
        before: dict = {}
        for _ in range(rng.randint(1, MAX_KILLS)):
            if len(before) < len(self.truth):
                before = self._kill_once(rng, folder, before, faults)
        for _ in range(MAX_RUNS):
            ended = start_fork(RUN, folder).wait()
            faults += [f"{fault} [last run]" for fault in find_faults(ended, shows_progress=True)]
            if ended.code == 0:
                break
        faults += self.compare_finished(folder)
        if not faults:
            remove_folder(folder)
        return faults

    def _kill_once(self, rng: Random, folder: Path, before: dict, faults: list[str]) -> dict:
        """Start a run, kill it or one of its workers, and return the records that are there then."""
        whole = rng.random() < WHOLE_COMMANDS
        kills_worker = not whole and rng.random() < WORKERS
        child = (start_whole if whole else start_fork)(RUN, folder)
        self._wait(rng, child, len(before))
        if child.is_over():
            self.counts["runs that had ended"] += 1
        elif kills_worker and (workers := find_children(self.server)):
            self.counts["workers killed"] += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
        else:
            child.signal(signal.SIGKILL)
            self.counts["whole commands killed" if whole else "forked commands killed"] += 1
        ended = child.wait()
        if ended.code != -signal.SIGKILL:
            faults += [f"{fault} [a worker was killed]" for fault in find_faults(ended, shows_progress=True)]
        now = read_records(folder / "results")
        faults += compare_records(now, before, self.truth)
        return now

    def _wait(self, rng: Random, child: Child, n_before: int) -> None:
        """Wait for a moment at random: of the whole time, or soon after a record at random was stored."""
        if rng.random() < AT_ANY_TIME:
            time.sleep(rng.uniform(0, self.seconds))
            return
        wanted = n_before + rng.randint(0, (len(self.truth) - n_before) // 12)
        cells = child.folder / "results" / "cells"
        while not child.is_over() and count_lines(cells) < wanted:
            time.sleep(POLL_SECONDS)
        time.sleep(rng.uniform(0, SOON_SECONDS))
