"""Runs on a cluster of several hosts of which workers, the scheduler and the client are killed at random."""

import time
from pathlib import Path
from random import Random

from torture.campaign import Campaign
from torture.children import Outcome, remove_folder
from torture.cluster_host import SCHEDULER_PORT
from torture.cluster_hosts import Hosts, Network, find_obstacle
from torture.judge import find_faults
from torture.launch import compare_records, count_lines, find_doubled, read_records

KILLS_PER_TRY = 30
VICTIMS = ("worker",) * 6 + ("client",) * 3 + ("scheduler",)
POLL_SECONDS = 0.01
HANG_SECONDS = 120.0
MAX_NEW_RECORDS = 25  # until the next kill
# Slow enough to be hit, and sent to the workers as code.
LEARNER = """
import os
import time

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeClassifier


class Slow(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        time.sleep(float(os.environ.get("SLOW_SECONDS", "0.02")))
        self.model_ = RidgeClassifier().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)
"""
ROWS = "a,b,label\n" + "".join(
    f"{i % 7},{(i * i) % 11},{'yn'[(i % 7 + i * i % 11) % 3 > 0]}\n" for i in range(60)
)
CONFIG = """name: small
datasets: {sonar: {}, mine: {csv: t.csv}}
split: {repeats: 50, seed: 5}
learners: {slow: {learner: 'slow.py:Slow'}, fld: {}}
"""
RUN = ["run", "c.yaml", "--out", "results", "--allow-code"]


class ClusterKills(Campaign):
    name = "cluster-kills"
    n_short = 0  # tests/faults/test_cluster_kills.py has one
    unit = f"rounds of {KILLS_PER_TRY} kills"

    def prepare(self) -> None:
        obstacle = find_obstacle()
        self.network = None if obstacle else Network(3)
        alone = [{"name": f"host{i}", "address": "127.0.0.1", "namespace": ""} for i in range(3)]
        self.counts["namespaces"] = 3 * (self.network is not None)
        self.hosts = Hosts(self.network.open() if self.network else alone, self.folder)
        self.address = f"tcp://{self.hosts.places[0]['address']}:{SCHEDULER_PORT}"
        self.workers: dict[int, int] = {}  # the process of each host
        self.scheduler = 0
        self.codes: dict[int, int] = {}  # of clients that have ended
        truth = self.make_folder("undisturbed")
        client = self.hosts.start(0, "plain", str(truth), [*RUN, "--jobs", "1"])
        self._wait_for_end(client)
        self.truth = read_records(truth / "results")
        if len(self.truth) != 200:
            raise RuntimeError(f"no run to compare with: {(truth / '.err').read_text(encoding='utf-8')}")

    def attack(self, seed: int) -> list[str]:
        """Kill something so many times; every run that ends in between must be as the undisturbed one."""
        rng, faults, number = self.rng(seed), list[str](), 0
        self._start_cluster()
        folder = self.make_folder(f"{seed}-0")
        client = self._start_client(folder)
        before: dict = {}
        for _ in range(KILLS_PER_TRY):
            if self._wait(rng, client, folder):
                faults += self._judge(folder, client)
                number, before = number + 1, {}
                folder = self.make_folder(f"{seed}-{number}")
                client = self._start_client(folder)
                self._wait(rng, client, folder)
            client, before = self._kill(rng, client, folder, before, faults)
        self._wait_for_end(client)
        faults += self._judge(folder, client)
        self._stop_cluster()
        return faults

    def close(self) -> None:
        self._stop_cluster()
        self.hosts.close()
        if self.network:
            self.network.close()

    def _kill(
        self, rng: Random, client: int, folder: Path, before: dict, faults: list[str]
    ) -> tuple[int, dict]:
        """Kill a worker, the scheduler or the client, and start it again."""
        victim = rng.choice(VICTIMS)
        self.counts[f"{victim}s killed"] += 1
        if victim == "worker":
            i = rng.choice(list(self.workers))
            self.hosts.kill(self.workers[i])
            self.workers[i] = self.hosts.start(i, "worker", self.address)
        elif victim == "scheduler":
            self._stop_cluster()
            self._start_cluster()
        else:
            self.hosts.kill(client)
            now = read_records(folder / "results")
            faults += compare_records(now, before, self.truth)
            return self._start_client(folder), now
        return client, before

    def _judge(self, folder: Path, client: int) -> list[str]:
        """Compare a run that has ended with the undisturbed one; what it left over is run again."""
        text = (folder / ".err").read_text(encoding="utf-8")
        faults = find_faults(Outcome(self.codes[client], "", text), shows_progress=True)
        if self.codes[client] == 5:  # tasks whose worker was killed again and again
            self.counts["runs with failed tasks"] += 1
            self._wait_for_end(again := self._start_client(folder))
            self.codes[client] = self.codes[again]
        if self.codes[client]:
            faults.append(f"exit code {self.codes[client]}: {text[-500:]}")
        now = read_records(folder / "results")
        faults += compare_records(now, self.truth, self.truth) + list(find_doubled(folder / "results"))
        if not faults:
            remove_folder(folder)
        self.counts["runs that ended"] += 1
        return faults

    def make_folder(self, title: object) -> Path:
        folder = super().make_folder(title)
        for name, text in (("c.yaml", CONFIG), ("slow.py", LEARNER), ("t.csv", ROWS)):
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    def _start_cluster(self) -> None:
        self.scheduler = self.hosts.start(0, "scheduler")
        self.workers = {i: self.hosts.start(i, "worker", self.address) for i in (1, 2)}

    def _stop_cluster(self) -> None:
        for pid in self.workers.values():
            self.hosts.kill(pid)
        self.workers = {}
        if self.scheduler:
            self.hosts.kill(self.scheduler)
        self.scheduler = 0

    def _start_client(self, folder: Path) -> int:
        return self.hosts.start(0, "client", str(folder), [*RUN, "--scheduler", self.address])

    def _has_ended(self, client: int) -> bool:
        if client not in self.codes and (code := self.hosts.find_code(client)) is not None:
            self.codes[client] = code
        return client in self.codes

    def _wait(self, rng: Random, client: int, folder: Path) -> bool:
        """Wait until some records more are stored; return whether the run has ended."""
        cells = folder / "results" / "cells"
        return self._wait_for_end(client, cells, count_lines(cells) + rng.randint(0, MAX_NEW_RECORDS))

    def _wait_for_end(self, client: int, cells: Path | None = None, n_wanted: int = 0) -> bool:
        began = time.monotonic()
        while not self._has_ended(client) and (cells is None or count_lines(cells) < n_wanted):
            if time.monotonic() - began > HANG_SECONDS:
                raise RuntimeError(f"nothing was stored for {HANG_SECONDS:.0f} s in {cells or self.folder}")
            time.sleep(POLL_SECONDS)
        return client in self.codes
