"""Results: changed after they were written, and with other contents and checksums that fit."""

import json
import os
import re
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from torture.campaign import InputCampaign
from torture.children import Command, Outcome, run_commands
from torture.mutations import VALUES, change_value, damage, edit

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
RUN = ["run", "first.yaml", "--out", "results", "--jobs", "1"]
SELDOM = 0.04  # of tries: commands that take longer than all others together
UNSTABLE = re.compile(rb'"(fit_time|time_to_best|wall_time)":[^,}]*|"check":"[0-9a-f]{8}"')


def make_results(folder: Path) -> dict[str, bytes]:
    write_folder(folder, {})
    for name in CONFIGS:
        (ended,) = run_commands([Command([*RUN[:1], f"{name}.yaml", *RUN[2:]], folder)])
        if ended.code:
            raise RuntimeError(f"no results: {ended.err}")
    return read_files(folder / "results")


def read_files(results: Path) -> dict[str, bytes]:
    parts = [sorted(results.glob(pattern)) for pattern in ("zoloss.json", "runs/*.json", "cells/*.jsonl")]
    paths = [path for part in parts for path in part]
    return {str(path.relative_to(results)): path.read_bytes() for path in paths}


def write_folder(folder: Path, files: dict[str, bytes], name: str = "results") -> Path:
    for part in ("runs", "cells") if files else ():
        (folder / name / part).mkdir(parents=True)
    folder.mkdir(exist_ok=True)
    for file, content in files.items():
        (folder / name / file).write_bytes(content)
    for config, text in CONFIGS.items():
        (folder / f"{config}.yaml").write_text(text, encoding="utf-8")
    return folder


class DamagedResults(InputCampaign):
    name = "changed-results"
    n_short = 8
    unit = "changes"
    batch = 50

    def prepare(self) -> None:
        super().prepare()
        self.files = make_results(self.folder / "made")
        self.truth = load_numbers(self.folder / "made" / "results")
        folders = {reader: write_folder(self.folder / f"truth-{reader}", self.files) for reader in READERS}
        commands = [Command(words, folders[reader]) for reader, words in READERS.items()]
        self.shown = {
            command.arguments[0]: (outcome.out, self._read_written(command.folder))
            for command, outcome in zip(commands, run_commands(commands), strict=True)
        }

    def build(self, rng: Random, folder: Path) -> Command:
        name = rng.choices(list(self.files), [len(content) for content in self.files.values()])[0]
        content = damage(self.files[name], rng)
        self.counts["changes that changed nothing"] += content == self.files[name]
        seldom = rng.random() < SELDOM
        reader = rng.choice(["report", "plot", "run"] if seldom else ["table", "compare", "stats", "status"])
        self.counts[reader] += 1
        write_folder(folder, self.files | {name: content})
        found = compare_numbers(folder / "results", self.truth, self.counts)
        faults = [f"{fault} [{name}]" for fault in found]
        return Command(READERS.get(reader, RUN), folder, about=faults, shows_progress=reader == "run")

    def judge(self, command: Command, outcome: Outcome) -> list[str]:
        reader = command.arguments[0]
        if reader == "run":
            return [*command.about, *self._judge_run(command, outcome)]
        out, written = self.shown[reader]
        now = self._read_written(command.folder)
        same = outcome.out == out and now == written
        said = "zoloss: " in outcome.err or "incomplete" in outcome.out or b"incomplete" in now
        if reader == "status":  # which is about what is there
            said |= "complete" not in outcome.out or " %" in outcome.out
        self.counts["same output" if same else "another output, with a word"] += same or said
        return [*command.about, *([] if same or said else [f"{reader} shows something else without a word"])]

    @staticmethod
    def _read_written(folder: Path) -> bytes:
        return b"".join(path.read_bytes() for path in [*folder.glob("page.html"), *folder.glob("ranks.svg")])

    def _judge_run(self, command: Command, outcome: Outcome) -> list[str]:
        """A run that continues ends with the records of one that nobody disturbed, or says that it cannot."""
        if "does not have the format of this version" in outcome.err:
            return []
        now, then = (
            {n: UNSTABLE.sub(b"", c) for n, c in files.items() if "cells" in n and "complexity" not in n}
            for files in (read_files(command.folder / "results"), self.files)
        )
        return [f"after run: {name} has other records" for name in then if now.get(name) != then[name]]


def load_numbers(results: Path) -> dict[str, Any]:
    from zoloss_cli.report.runs import load_runs

    runs, _ = load_runs(results)
    return {run.name: _describe(run) for run in runs}


def _describe(run: Any) -> dict:
    cells = {}
    for place, cell in run.cells.items():
        # The records of a pooled draw count one by one.
        single = [each for record in cell.records for each in getattr(record, "records", [record])]
        cells[place] = cell.sizes, {record.split: record for record in single}
    return {"experiment": run.experiment, "runs": run.manifest.runs, "cells": cells}


def compare_numbers(results: Path, truth: dict[str, Any], counts: Any) -> list[str]:
    """Return what a reader would show that nobody has written, or leave out without a word."""
    from zoloss_cli.errors import ResultsError
    from zoloss_cli.report.runs import load_runs

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


DEPTH = 100_000
COMMANDS = [
    *([READERS[name] for name in ("table", "compare", "stats", "status")] * 4),
    *(READERS["report"], READERS["plot"], ["plot", "results"]),
    *(["table", "results", "--format", name] for name in ("csv", "latex", "html", "markdown")),
    *(["stats", "results", "--format", name] for name in ("csv", "latex", "html")),
    ["run", "first.yaml", "--out", "results", "--dry-run"],
    *(["export", "results"], ["export", "results", "--out", "records.parquet"], ["diff", "results", "results"]),
    *(["merge", "results", "other", "--out", "merged"], ["show", "heart", "fld", "0", "--results", "results"]),
]


def add_check(body: bytes) -> bytes:
    return b'%s,"check":"%08x"}\n' % (body, crc32(body))


class ResultInputs(InputCampaign):
    name = "result-inputs"
    n_short = 20

    def prepare(self) -> None:
        super().prepare()
        self.files = make_results(self.folder / "made")
        names = ["first", "second", "heart", "fld", "test_error", "train_error", "complexity", "pocket"]
        self.values = [*VALUES, *names]

    def build(self, rng: Random, folder: Path) -> Command:
        files = dict(self.files)
        for _ in range(rng.choice([1, 1, 2])):
            name = rng.choice(list(files))
            files[name] = self._change(files[name], name, rng)
        write_folder(folder, files)
        write_folder(folder, self.files, "other")
        if rng.random() < 0.03:
            self._put_oddity(rng, folder / "results" / rng.choice(list(files)))
        return Command(rng.choice(COMMANDS), folder)

    def _change(self, content: bytes, name: str, rng: Random) -> bytes:
        from zoloss_cli.results.manifest import append_check

        how = rng.random()
        if how < 0.1:
            return edit(content, rng)
        if how < 0.13:
            return add_check(b'{"a":' + b"[" * DEPTH + b"]" * DEPTH) + content
        try:
            texts = [content] if name.endswith(".json") else content.splitlines()
            lines = [json.loads(text) for text in texts]
            has_check = [line.pop("check", None) is not None for line in lines]
            change_value(rng.choice(lines), rng, self.values)
            if name.endswith(".json"):
                text = json.dumps(lines[0], indent=1) + "\n"
                return (append_check(text) if has_check[0] else text).encode()
            return b"".join(add_check(json.dumps(line)[:-1].encode()) for line in lines)
        except (ValueError, RecursionError, AttributeError):  # a second change of what is no JSON any more
            return edit(content, rng)

    @staticmethod
    def _put_oddity(rng: Random, path: Path) -> None:
        path.unlink()
        kind = rng.choice(["pipe", "folder", "zeros", "loop", "nothing"])
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to({"zeros": "/dev/zero", "loop": path.name, "nothing": "nowhere"}[kind])
