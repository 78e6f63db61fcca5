"""Disks that fill up while something is written, and two runs into one folder at a time."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from own_rows import GOOD

from torture.children import remove_folder
from torture.judge import find_faults
from torture.kills import Kills
from torture.launch import RUN, compare_records, find_doubled, read_records, start_fork

FULL = "No space left on device"
SMALLEST, LARGEST = 1, 60  # kilobytes of a disk; the results take about 50
# What writes one file; a disk without room must leave none of it.
WRITERS = {
    "model": ["fit", "t.csv", "--learner", "fld", "--model", "results/m.json"],
    "page": ["report", "done", "-o", "results/page.html"],
    "figure": ["plot", "--figure", "nguyen-sanner-2013/2", "-o", "results/f.svg"],
    "config": ["evaluate", "t.csv", "--learners", "fld", "--dry-run", "--save-config", "results/c.yaml"],
    "pruned": ["prune", "t.csv", "--out", "results/p.csv"],
}


class Disks(Kills):
    """No room, or somebody else who writes."""

    name = "disks"
    n_short = 2
    unit = "disks and pairs of runs"

    def prepare(self) -> None:
        """See whether small disks can be made here."""
        super().prepare()
        probe = self.folder / "probe"
        probe.mkdir()
        self.can_mount = os.geteuid() == 0 and self._mount(probe, 64)
        if self.can_mount:
            self._unmount(probe)

    def attack(self, seed: int) -> list[str]:
        """Choose one of the ways."""
        rng, folder = self.rng(seed), self.make_folder(f"disks-{seed}")
        (folder / "t.csv").write_text(GOOD, encoding="utf-8")
        os.symlink(self.done, folder / "done")
        ways: list[Callable[[Random, Path], list[str]]] = [self._limit_files, self._run_twice, self._run_twice]
        if self.can_mount:
            ways += [self._fill_disk, self._fill_disk, self._fill_disk_with_one_file]
        way = rng.choice(ways)
        self.counts[way.__name__.strip("_").replace("_", " ")] += 1
        faults = way(rng, folder)
        if not faults:
            remove_folder(folder)
        return [f"{fault} [{way.__name__.strip('_')}]" for fault in faults]

    def _finish(self, folder: Path) -> list[str]:
        """Continue without a disturbance: all is as if there had been none."""
        before = read_records(folder / "results")
        faults = compare_records(before, before, self.truth)
        ended = start_fork(RUN, folder).wait()
        if ended.code:
            return [*faults, f"it does not continue: {ended.err[-200:]}"]
        now = read_records(folder / "results")
        return faults + compare_records(now, self.truth, self.truth) + list(find_doubled(folder / "results"))

    def _limit_files(self, rng: Random, folder: Path) -> list[str]:
        """Let no file grow beyond a size: the same writes fail as on a full disk."""
        size = rng.randint(1, 12_000)

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        ended = start_fork(RUN, folder, limit).wait()
        self.counts[f"exit {ended.code}"] += 1
        return find_faults(ended, shows_progress=True) + self._finish(folder)

    def _fill_disk(self, rng: Random, folder: Path) -> list[str]:
        """Run into a disk that is too small, then with more room."""
        results = folder / "results"
        results.mkdir()
        self._mount(results, 4 * rng.randint(SMALLEST, LARGEST // 4))
        try:
            ended = start_fork(RUN, folder).wait()
            self.counts[f"exit {ended.code}"] += 1
            faults = find_faults(ended, shows_progress=True)
            if ended.code and FULL not in ended.err:
                faults.append(f"it does not say that the disk is full: {ended.err[-200:]}")
            self._mount(results, 4096, remount=True)
            return faults + self._finish(folder)
        finally:
            self._unmount(results)

    def _fill_disk_with_one_file(self, rng: Random, folder: Path) -> list[str]:
        results = folder / "results"
        results.mkdir()
        self._mount(results, 4)
        (results / "filler").write_bytes(b"x" * 4096)
        try:
            name = rng.choice(list(WRITERS))
            ended = start_fork(WRITERS[name], folder).wait()
            self.counts[f"{name}, exit {ended.code}"] += 1
            faults = find_faults(ended, shows_progress=True)
            if ended.code == 0:
                faults.append(f"{name}: nothing was said of a full disk")
            left = sorted(path.name for path in results.iterdir() if path.name != "filler")
            return [f"{fault} ({name})" for fault in faults + [f"left behind: {path}" for path in left]]
        finally:
            self._unmount(results)

    def _run_twice(self, rng: Random, folder: Path) -> list[str]:
        """Start two or three runs into one folder, nearly at once."""
        children = []
        for _ in range(rng.choice([2, 2, 3])):
            children.append(start_fork(RUN, self._make_place(folder, len(children))))
            time.sleep(rng.choice([0, 0, rng.uniform(0, self.seconds)]))
        ended = [child.wait() for child in children]
        faults = [fault for each in ended for fault in find_faults(each, shows_progress=True)]
        if all(each.code for each in ended):
            faults.append("none of the runs went through")
        faults += [f"exit code {each.code}" for each in ended if each.code not in (0, 4)]
        self.counts["runs that were refused"] += sum(each.code == 4 for each in ended)
        return faults + self._finish(folder)

    @staticmethod
    def _make_place(folder: Path, number: int) -> Path:
        """Return a working folder of its own, whose results are the shared ones."""
        (folder / "results").mkdir(exist_ok=True)
        place = folder / f"place-{number}"
        place.mkdir()
        os.symlink(folder / "results", place / "results")
        os.symlink(folder / "c.yaml", place / "c.yaml")
        return place

    @staticmethod
    def _mount(place: Path, kilobytes: int, remount: bool = False) -> bool:
        options = f"{'remount,' * remount}size={kilobytes}k"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    @staticmethod
    def _unmount(place: Path) -> None:
        subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)
