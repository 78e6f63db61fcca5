"""Changed digits, bits, bytes and lines in results: readers show the same, or say what they left out."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

from torture.campaign import Campaign
from torture.children import Command, remove_folder, run_commands, warm_up
from torture.fuzzing import import_everything
from torture.judge import find_faults
from torture.mutations import DAMAGES, change_digit, flip_bit

FIRST = """name: first
title: First
published: {paper: li-lin-2007, table: II}
metric: train_error
datasets: [heart, sonar, ionosphere]
split: {train: 0.8, repeats: 4, seed: 5}
learners: {ave-perc: {epochs: 5}, pocket: {epochs: 5}, fld: }
"""
SECOND = """name: second
datasets: {yinyang: {size: 20}}
split: {train: all, repeats: 3, seed: 5}
metric: complexity
measures: [complexity]
"""
CONFIGS = {"first": FIRST, "second": SECOND}
READERS = {
    "table": ["table", "results"],
    "compare": ["compare", "results", "--format", "csv"],
    "stats": ["stats", "results"],
    "status": ["status", "results"],
    "report": ["report", "results", "-o", "page.html"],
    "plot": ["plot", "results", "--figure", "ranks", "--table", "II", "-o", "ranks.svg"],
}
SELDOM = 0.04  # of tries: commands that take longer than all others together
TIMES = re.compile(rb'"(fit_time|time_to_best|wall_time)":[^,}]*')


def make_results(folder: Path) -> Path:
    """Run two small experiments and return their results folder."""
    folder.mkdir(exist_ok=True)
    for name, text in CONFIGS.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        arguments = ["run", f"{name}.yaml", "--out", "results", "--jobs", "1"]
        (ended,) = run_commands([Command(arguments, folder)])
        if ended.code:
            raise RuntimeError(f"no results: {ended.err}")
    return folder / "results"


def read_files(results: Path) -> dict[str, bytes]:
    """Return the files of a results folder that hold anything."""
    paths = [
        results / "zoloss.json",
        *sorted(results.glob("runs/*.json")),
        *sorted(results.glob("cells/*.jsonl")),
    ]
    return {str(path.relative_to(results)): path.read_bytes() for path in paths}


def damage_file(files: dict[str, bytes], rng: random.Random) -> tuple[str, bytes]:
    """Choose a file, the larger the likelier, and change it; half of the changes are of one digit or bit."""
    name = rng.choices(list(files), [len(content) for content in files.values()])[0]
    change = rng.choice([change_digit, flip_bit] if rng.random() < 0.5 else DAMAGES)
    return name, change(files[name], rng)


class DamagedResults(Campaign):
    """Results that were changed after they were written."""

    name = "changed-results"
    n_short = 20
    unit = "changes"
    batch = 50

    def prepare(self) -> None:
        """Make results, and what every reader shows of them."""
        import_everything()
        made = make_results(self.folder / "made")
        self.files = read_files(made)
        self.truth = load_numbers(made)
        self.commands = {name: self._ask(name, self.files, "truth") for name in READERS}
        self.shown = {
            name: (outcome.out, self._read_written(command.folder))
            for (name, command), outcome in zip(
                self.commands.items(), run_commands(list(self.commands.values())), strict=True
            )
        }

    def warm_up(self) -> None:
        """Read and draw once in this process."""
        warm_up(list(self.commands.values()))

    def attack_many(self, seeds: list[int]) -> dict[int, list[str]]:
        """Change a file in each of several copies; read these here, and by commands in children."""
        faults: dict[int, list[str]] = {}
        commands: dict[int, tuple[str, Command]] = {}
        for seed in seeds:
            rng = self.rng(seed)
            name, content = damage_file(self.files, rng)
            slow = rng.random() < SELDOM
            reader = rng.choice(["report", "plot", "run"] if slow else ["table", "compare", "stats", "status"])
            files = self.files | {name: content}
            command = self._ask(reader, files, f"{self.name}-{seed}")
            commands[seed] = reader, command
            self.counts["changes that changed nothing"] += content == self.files[name]
            found = compare_numbers(command.folder / "results", self.truth, self.counts)
            faults[seed] = [f"{fault} [{name}]" for fault in found]
        outcomes = run_commands([command for _, command in commands.values()])
        for (seed, (reader, command)), outcome in zip(commands.items(), outcomes, strict=True):
            self.counts[reader] += 1
            faults[seed] += [
                f"{fault} [{reader}]" for fault in find_faults(outcome, shows_progress=reader == "run")
            ]
            faults[seed] += (
                self._judge_run(command) if reader == "run" else self._judge(reader, command, outcome)
            )
            if not faults[seed]:
                remove_folder(command.folder)
        return faults

    def attack(self, seed: int) -> list[str]:
        """Change one file."""
        return self.attack_many([seed])[seed]

    def _ask(self, reader: str, files: dict[str, bytes], title: str) -> Command:
        folder = self.folder / (f"{title}-{reader}" if title == "truth" else title)
        remove_folder(folder)
        for part in ("runs", "cells"):
            (folder / "results" / part).mkdir(parents=True)
        for name, content in files.items():
            (folder / "results" / name).write_bytes(content)
        for name, text in CONFIGS.items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        continuing = ["run", "first.yaml", "--out", "results", "--jobs", "1"]
        return Command(READERS.get(reader, continuing), folder)

    @staticmethod
    def _read_written(folder: Path) -> bytes:
        return b"".join(path.read_bytes() for path in [*folder.glob("page.html"), *folder.glob("ranks.svg")])

    def _judge(self, reader: str, command: Command, outcome: Any) -> list[str]:
        """A reader that shows other numbers has to say why."""
        out, written = self.shown[reader]
        same = outcome.out == out and self._read_written(command.folder) == written
        said = "zoloss: " in outcome.err or "incomplete" in outcome.out
        if reader == "status":  # which is about what is there
            said |= "complete" not in outcome.out or " %" in outcome.out
        if reader == "report":
            said |= b"incomplete" in self._read_written(command.folder)
        self.counts["same output" if same else "another output, with a word"] += same or said
        return [] if same or said else [f"{reader} shows something else without a word"]

    def _judge_run(self, command: Command) -> list[str]:
        """A run that continues ends with the records of one that nobody disturbed, or says that it cannot."""
        results = command.folder / "results"
        if "is not of this version" in (command.folder / ".err").read_text(encoding="utf-8"):
            return []
        now = {
            n: TIMES.sub(b"", c)
            for n, c in read_files(results).items()
            if "cells" in n and "complexity" not in n
        }
        now = {n: re.sub(rb'"check":"[0-9a-f]{8}"', b"", c) for n, c in now.items()}
        then = {n: TIMES.sub(b"", c) for n, c in self.files.items() if "cells" in n and "complexity" not in n}
        then = {n: re.sub(rb'"check":"[0-9a-f]{8}"', b"", c) for n, c in then.items()}
        return [f"after run: {name} has other records" for name in then if now.get(name) != then[name]]


def load_numbers(results: Path) -> dict[str, Any]:
    """Return what readers compute with: records, sizes and settings of each cell of each run."""
    from zoloss_cli.report.loading import load_runs

    runs, _ = load_runs(results)
    return {run.name: _describe(run) for run in runs}


def _describe(run: Any) -> dict:
    cells = {}
    for place, cell in run.cells.items():
        single = [
            each for record in cell.records for each in getattr(record, "records", [record])
        ]  # of a pooled draw
        cells[place] = cell.sizes, {record.split: record for record in single}
    return {"experiment": run.experiment, "runs": run.manifest.runs, "cells": cells}


def compare_numbers(results: Path, truth: dict[str, Any], counts: Any) -> list[str]:
    """Return what a reader would show that nobody has written, or leave out without a word."""
    from zoloss_cli.errors import ResultsError
    from zoloss_cli.report.loading import load_runs

    try:
        runs, store = load_runs(results)
    except ResultsError:
        counts["folders refused"] += 1
        return []
    faults = []
    found = {run.name: _describe(run) for run in runs}
    for name, parts in found.items():
        true = truth.get(name)
        if true is None or (parts["experiment"], parts["runs"]) != (true["experiment"], true["runs"]):
            faults.append(f"a run '{name}' that was never made")
            continue
        for place, (sizes, records) in parts["cells"].items():
            true_sizes, true_records = true["cells"].get(place, (None, {}))
            if sizes != true_sizes or any(
                true_records.get(split) != record for split, record in records.items()
            ):
                faults.append(f"other numbers of {place}")
    complete = found == truth
    counts["noticed" if store.notes else "equal" if complete else "incomplete"] += 1
    short = any(run.n_done < run.n_tasks for run in runs)
    if not complete and not store.notes and not short:
        faults.append("something is left out without a word")
    return faults
