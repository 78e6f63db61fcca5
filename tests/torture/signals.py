"""SIGINT and SIGTERM at random moments: their exit codes, no traceback, and finished tasks are kept."""

import os
import signal
import time
from pathlib import Path
from random import Random

from own_rows import GOOD

from torture.children import Outcome, remove_folder
from torture.kills import Kills
from torture.launch import RUN, read_records, start_fork

# Other commands, and at most how long they take to be disturbed.
OTHERS = {
    "fit": (["fit", "t.csv", "--learner", "pivot", "--set", "steps=3000000"], 1.0),
    "evaluate": (
        ["evaluate", "t.csv", "--learners", "fld", "--splits", "200", "--jobs", "1", "--out", "mine"],
        1.0,
    ),
    "complexity": (["complexity", "t.csv", "--permutations", "20000"], 1.0),
    "table": (["table", "done"], 0.1),
    "report": (["report", "done", "-o", "page.html"], 1.0),
    "status": (["status", "done"], 0.1),
}
RUNS = 0.6  # of tries are of `zoloss run`


class Signals(Kills):
    name = "signals"
    n_short = 2
    unit = "signals"

    def attack(self, seed: int) -> list[str]:
        rng, folder = self.rng(seed), self.make_folder(seed)
        name = "run" if rng.random() < RUNS else rng.choice(list(OTHERS))
        faults = self._disturb_run(rng, folder) if name == "run" else self._disturb(rng, folder, name)
        self.counts[name] += 1
        if not faults:
            remove_folder(folder)
        return [f"{fault} [{name}]" for fault in faults]

    def _disturb_run(self, rng: Random, folder: Path) -> list[str]:
        child = start_fork(RUN, folder)
        self._wait(rng, child, 0)
        ended, faults = self._send(rng, child)
        n_before = len(read_records(folder / "results"))
        said = "continue with: zoloss run" in ended.err or "0 tasks to go" in ended.err
        is_partial = 0 < n_before < len(self.truth)  # before a run listens, it just ends
        if ended.code > 128 and is_partial and not said:
            faults.append("it does not say how to continue")
        return faults + self.finish(folder)

    def _disturb(self, rng: Random, folder: Path, name: str) -> list[str]:
        (folder / "t.csv").write_text(GOOD, encoding="utf-8")
        os.symlink(self.done, folder / "done")
        arguments, seconds = OTHERS[name]
        child = start_fork(arguments, folder)
        time.sleep(rng.uniform(0, seconds))
        _, faults = self._send(rng, child)
        if any(path.suffix == ".tmp" for path in folder.iterdir()):
            faults.append("a temporary file is left")
        return faults

    def _send(self, rng: Random, child) -> tuple[Outcome, list[str]]:
        number = rng.choice([signal.SIGINT, signal.SIGTERM])
        child.signal(number, group=rng.random() < 0.5)
        ended = child.wait()
        faults = []
        if ended.code not in (0, 128 + number, -number):
            faults.append(f"exit code {ended.code} after {number.name} ({ended.err[-200:]!r})")
        if "Traceback" in ended.err:
            faults.append(f"a traceback after {number.name} ({ended.err[-300:]!r})")
        self.counts[f"{number.name}, exit {ended.code}"] += 1
        return ended, faults
