"""Disks that fill up while something is written, and two runs into one folder at a time."""

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from own_rows import GOOD

from torture.children import remove_folder
from torture.judge import find_faults
from torture.kills import Kills
from torture.launch import RUN, start_fork

FULL = "No space left on device"
LARGEST = 60  # kilobytes of a disk; the results take about 50
# What writes one file; a disk without room must leave none of it.
WRITERS = {
    "model": ["fit", "t.csv", "--learner", "fld", "--model", "results/m.json"],
    "page": ["report", "done", "-o", "results/page.html"],
    "figure": ["plot", "--figure", "nguyen-sanner-2013/2", "-o", "results/f.svg"],
    "config": ["evaluate", "t.csv", "--learners", "fld", "--dry-run", "--save-config", "results/c.yaml"],
    "pruned": ["prune", "t.csv", "--out", "results/p.csv"],
}


class Disks(Kills):
    name = "disks"
    n_short = 2
    unit = "disks and pairs of runs"

    def prepare(self) -> None:
        super().prepare()
        probe = self.folder / "probe"
        probe.mkdir()
        self.can_mount = os.geteuid() == 0 and self._mount(probe, 64)
        if self.can_mount:
            self._unmount(probe)

    def attack(self, seed: int) -> list[str]:
        rng, folder = self.rng(seed), self.make_folder(seed)
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

    def _limit_files(self, rng: Random, folder: Path) -> list[str]:
        """Let no file grow beyond a size: the same writes fail as on a full disk."""
        size = rng.randint(1, 12_000)

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        ended = start_fork(RUN, folder, limit).wait()
        self.counts[f"exit {ended.code}"] += 1
        return find_faults(ended, shows_progress=True) + self.finish(folder)

    def _fill_disk(self, rng: Random, folder: Path) -> list[str]:
        """Run into a disk that is too small, then with more room."""
        with self._small_disk(folder, 4 * rng.randint(1, LARGEST // 4)) as results:
            ended = start_fork(RUN, folder).wait()
            self.counts[f"exit {ended.code}"] += 1
            faults = find_faults(ended, shows_progress=True)
            if ended.code and FULL not in ended.err:
                faults.append(f"it does not say that the disk is full: {ended.err[-200:]}")
            self._mount(results, 4096, remount=True)
            return faults + self.finish(folder)

    def _fill_disk_with_one_file(self, rng: Random, folder: Path) -> list[str]:
        with self._small_disk(folder, 4) as results:
            (results / "filler").write_bytes(b"x" * 4096)
            name = rng.choice(list(WRITERS))
            ended = start_fork(WRITERS[name], folder).wait()
            self.counts[f"{name}, exit {ended.code}"] += 1
            faults = find_faults(ended, shows_progress=True)
            if ended.code == 0:
                faults.append(f"{name}: nothing was said of a full disk")
            left = sorted(path.name for path in results.iterdir() if path.name != "filler")
            return [f"{fault} ({name})" for fault in faults + [f"left behind: {path}" for path in left]]

    def _run_twice(self, rng: Random, folder: Path) -> list[str]:
        """Start two or three runs into one folder, nearly at once."""
        children = []
        (folder / "results").mkdir()
        for number in range(rng.choice([2, 2, 3])):
            place = folder / f"place-{number}"  # a working folder of its own, whose results are the shared ones
            place.mkdir()
            for name in ("results", "c.yaml"):
                os.symlink(folder / name, place / name)
            children.append(start_fork(RUN, place))
            time.sleep(rng.choice([0, 0, rng.uniform(0, self.seconds)]))
        ended = [child.wait() for child in children]
        faults = [fault for each in ended for fault in find_faults(each, shows_progress=True)]
        if all(each.code for each in ended):
            faults.append("none of the runs went through")
        faults += [f"exit code {each.code}" for each in ended if each.code not in (0, 4)]
        self.counts["runs that were refused"] += sum(each.code == 4 for each in ended)
        return faults + self.finish(folder)

    @contextlib.contextmanager
    def _small_disk(self, folder: Path, kilobytes: int) -> Iterator[Path]:
        results = folder / "results"
        results.mkdir()
        self._mount(results, kilobytes)
        try:
            yield results
        finally:
            self._unmount(results)

    @staticmethod
    def _mount(place: Path, kilobytes: int, remount: bool = False) -> bool:
        options = f"{'remount,' * remount}size={kilobytes}k"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    @staticmethod
    def _unmount(place: Path) -> None:
        subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)
