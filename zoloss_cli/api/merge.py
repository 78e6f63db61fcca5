"""Manifests of one run in several folders: one experiment, or a sentence on how they differ."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

import msgspec

from zoloss_cli.errors import OutputError, ResultsError
from zoloss_cli.report.loading import open_results
from zoloss_cli.results.manifest import Manifest
from zoloss_cli.results.record import TIMES, Record, RecordKind
from zoloss_cli.results.store import CELLS, Store, StoredCell, explain_os_errors

MAX_SHOWN_SETTING = 40


def merge_manifests(by_folder: list[tuple[Path, list[Manifest]]]) -> list[Manifest]:
    """Return one manifest for each run, with the times and versions of all folders.

    Parameters
    ----------
    by_folder : list of (Path, list of Manifest)
        The folders and their manifests.

    Returns
    -------
    list of Manifest
        In the order of their first occurrence.

    Raises
    ------
    ResultsError
        If two folders have different experiments, data sets or algorithms under one name.
    """
    merged: dict[str, tuple[Path, Manifest]] = {}
    for folder, manifests in by_folder:
        for manifest in manifests:
            name = manifest.experiment.name
            if name not in merged:
                merged[name] = folder, manifest
                continue
            first_folder, first = merged[name]
            _check_equal(name, (first_folder, first), (folder, manifest))
            runs = [*first.runs, *(run for run in manifest.runs if run not in first.runs)]
            runs.sort(key=lambda run: run.started)
            merged[name] = first_folder, replace(first, runs=runs)
    return [manifest for _, manifest in merged.values()]


def _check_equal(name: str, one: tuple[Path, Manifest], other: tuple[Path, Manifest]) -> None:
    folders = f"{one[0]} and {other[0]}"
    if difference := _find_difference(_describe_experiment(one[1]), _describe_experiment(other[1])):
        raise ResultsError(
            f"'{name}' is not the same experiment in {folders}: {difference}; merge results of one config, or "
            "give one run another name"
        )
    for cell, same in zip(one[1].cells, other[1].cells, strict=False):
        if cell != same:
            raise ResultsError(
                f"'{name}' is not of one version in {folders}: {cell.learner} on {cell.dataset} has the key "
                f"{cell.key} and {same.key}, so the data or the algorithm changed in between; run one of them "
                f"again: {one[1].command()}"
            )
    if len(one[1].cells) != len(other[1].cells):
        raise ResultsError(
            f"'{name}' does not have the same cells in {folders}; run it again: {one[1].command()}"
        )


def _describe_experiment(manifest: Manifest) -> dict[str, Any]:
    """Return an experiment as plain values, without the paths of files, which may differ between machines."""
    content = manifest.experiment.model_dump(mode="json")
    for data in content["datasets"]:
        if "csv" in data:
            data["csv"] = PurePath(data["csv"]).name
    _drop_code_paths(content["learners"])
    return content


def _drop_code_paths(value: Any) -> None:
    """Leave out where the files of learners' classes were read; their text and its hash remain."""
    if isinstance(value, dict):
        if isinstance(value.get("code"), dict):
            value["code"].pop("path", None)
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        _drop_code_paths(each)


def _find_difference(one: Any, other: Any, where: str = "") -> str:
    """Return the first key at which two values differ, with both values; empty if they are equal."""
    if one == other:
        return ""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if found := _find_difference(one.get(key), other.get(key), f"{where}.{key}" if where else str(key)):
                return found
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            if found := _find_difference(*pair, f"{where}.{_name_entry(pair[0], i)}"):
                return found
    return f"{where} is {_shorten_setting(one)} and {_shorten_setting(other)}"


def _name_entry(entry: Any, i: int) -> str:
    """Return the name of a list entry: a data set's, a learner's, or its position."""
    return str((entry.get("name") or entry.get("label") if isinstance(entry, dict) else None) or i)


def _shorten_setting(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        names = ", ".join(_name_entry(each, i) for i, each in enumerate(value))
        value = f"[{names}]"
    text = repr(value) if isinstance(value, str) and not value.startswith("[") else str(value)
    return text if len(text) <= MAX_SHOWN_SETTING else f"{text[:MAX_SHOWN_SETTING]}..."


# Tasks are the same if their cell keys and splits are: then both records must agree in everything but times.
# The records of the merged folder are in the order in which a run would have written them.

CELL_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*\.([0-9a-f]{16})\.jsonl")
MAX_LISTED_CONFLICTS = 10
MAX_SHOWN_VALUE = 60


@dataclass(frozen=True)
class MergedRun:
    """A run of the merged folder, and how complete it is."""

    name: str
    n_done: int
    n_tasks: int
    command: str


@dataclass
class MergeSummary:
    """What was merged.

    Attributes
    ----------
    n_folders, n_cells, n_records, n_shared : int
        Number of folders, cells and records, and of records that were in several folders.
    runs : list of MergedRun
        The runs, and how complete they are.
    notes : list of str
        What was damaged and left out, and other notes.
    """

    n_folders: int
    n_cells: int = 0
    n_records: int = 0
    n_shared: int = 0
    runs: list[MergedRun] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class MergedCell:
    """Where a merged cell goes: what the store needs to write it."""

    key: str
    filename: str
    identity: dict
    kind: RecordKind


def merge_folders(folders: list[Path], out: Path) -> MergeSummary:
    """Join results folders into a new one; nothing is written unless everything agrees.

    Parameters
    ----------
    folders : list of Path
        Two or more results folders.
    out : Path
        The new folder, which must not exist yet or be empty.

    Returns
    -------
    MergeSummary
        What was merged.

    Raises
    ------
    ResultsError
        If a folder is not a results folder or has another format, if two folders have different experiments
        under one name, or if records of one task contradict each other.
    OutputError
        If the new folder already exists, or is inside one of the others.
    """
    _check_folders(folders, out)
    opened = [open_results(folder) for folder in folders]
    stores = [store for _, store in opened]
    manifests = merge_manifests(
        [(folder, [run.manifest for run in runs]) for folder, (runs, _) in zip(folders, opened, strict=True)]
    )
    summary, merger = MergeSummary(len(folders)), _CellMerger(stores, manifests)
    with _write_new_folder(out) as store:
        for filename in merger.list_files():
            cell, stored = merger.merge(filename)
            if cell is not None and not merger.conflicts:
                in_order = [stored.records[split] for split in stored.splits]
                failed = [stored.failed[split] for split in sorted(stored.failed)]
                store.append(cell, [*in_order, *failed], (stored.n_train, stored.n_test))
                summary.n_cells += 1
                summary.n_records += len(stored.records)
                merger.done[cell.key] = stored.splits
        merger.refuse_conflicts()
        for manifest in manifests:
            store.write_manifest(manifest)
    summary.n_shared = merger.n_shared
    summary.runs = [_describe_run(manifest, merger.done) for manifest in manifests]
    summary.notes = [note for each in stores for note in each.notes] + _describe_versions(manifests)
    return summary


def render_summary(summary: MergeSummary, out: Path) -> list[str]:
    """Return what was merged as lines of text."""
    shared = f", {summary.n_shared:,} of them in several" if summary.n_shared else ""
    counts = f"{summary.n_records:,} records of {summary.n_cells:,} cells"
    lines = [f"{out}: {counts} from {summary.n_folders} folders{shared}"]
    for run in summary.runs:
        where = f" --out {shlex.quote(str(out))}" if run.command.startswith("zoloss run ") else ""
        rest = "complete" if run.n_done >= run.n_tasks else f"incomplete; the rest: {run.command}{where}"
        lines.append(f"{run.name}: {run.n_done:,} of {run.n_tasks:,} tasks, {rest}")
    return lines


def _check_folders(folders: list[Path], out: Path) -> None:
    if len(folders) < 2:
        raise ResultsError("a merge takes two results folders or more")
    places = [folder.resolve() for folder in folders]
    for folder, place in zip(folders, places, strict=True):
        if places.count(place) > 1:
            raise ResultsError(f"{folder} is named twice; a merge takes different folders")
        if place in out.resolve().parents:
            raise OutputError(f"{out} is in {folder}, which is read; choose another --out")
    with explain_os_errors(out):
        if out.exists() and not (out.is_dir() and not any(out.iterdir())):
            raise OutputError(f"{out} exists; results are merged into a new folder: choose another --out")
        if not out.resolve().parent.is_dir():
            raise OutputError(f"cannot write {out}: there is no folder {out.parent}")


@contextlib.contextmanager
def _write_new_folder(out: Path) -> Iterator[Store]:
    """Write a results folder next to its final place, and move it there when it is complete."""
    target = out.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with Store(temporary).writing() as store:
            yield store
        with explain_os_errors(out):
            (temporary / ".lock").unlink(missing_ok=True)
            if target.exists():
                target.rmdir()
            os.rename(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


class _CellMerger:
    """Join the files with the same name in several folders, and collect contradictions."""

    def __init__(self, stores: list[Store], manifests: list[Manifest]):
        self.stores = stores
        self.conflicts: list[str] = []
        self.n_shared = 0
        self.done: dict[str, list[int]] = {}
        self._places = {
            cell.key: f"{manifest.experiment.name}: {cell.learner} on {cell.dataset}"
            for manifest in reversed(manifests)
            for cell in manifest.cells
        }

    def list_files(self) -> list[str]:
        """Return the names of all cell files; other files are noted."""
        names: set[str] = set()
        for store in self.stores:
            for path in sorted((store.folder / CELLS).glob("*.jsonl")):
                if CELL_FILE.fullmatch(path.name):
                    names.add(path.name)
                else:
                    store.notes.append(f"{path} is not a cell file; left out")
        return sorted(names)

    def merge(self, filename: str) -> tuple[MergedCell | None, StoredCell]:
        """Return what all folders have for a cell; None for the cell if they have nothing."""
        found = CELL_FILE.fullmatch(filename)
        assert found is not None
        key, merged = found[1], StoredCell()
        sources: dict[int, Store] = {}
        for store in self.stores:
            stored = store.read(filename, key)
            if stored.fault or stored.n_damaged:
                fault = stored.fault or f"has {stored.n_damaged} damaged line{'s' * (stored.n_damaged > 1)}"
                store.notes.append(f"{store.path(filename)} {fault}; left out")
            if not stored.identity:
                continue
            if not merged.identity:
                merged = StoredCell(
                    kind=stored.kind, n_train=stored.n_train, n_test=stored.n_test, identity=stored.identity
                )
                first = store
            self._check_sizes(key, (first, merged), (store, stored))
            for split, record in stored.records.items():
                if split in merged.records:
                    self.n_shared += 1
                    record = self._join(key, (sources[split], merged.records[split]), (store, record))
                merged.records[split] = record
                sources.setdefault(split, store)
            for split, failed in stored.failed.items():
                merged.failed.setdefault(split, failed)
        merged.failed = {k: failed for k, failed in merged.failed.items() if k not in merged.records}
        if not merged.identity:
            return None, merged
        return MergedCell(key, filename, merged.identity, merged.kind), merged

    def refuse_conflicts(self) -> None:
        """Raise ResultsError if anything is contradictory."""
        if not self.conflicts:
            return
        count = len(self.conflicts)
        listed = self.conflicts[:MAX_LISTED_CONFLICTS]
        more = [f"and {count - len(listed):,} more"] if count > len(listed) else []
        subject = "1 task has" if count == 1 else f"{count:,} tasks have"
        raise ResultsError(
            "\n".join(
                [
                    f"{subject} different numbers in these folders, so nothing was written; leave out the "
                    "folder whose results are wrong, or run it again with --fresh:",
                    *listed,
                    *more,
                ]
            )
        )

    def _check_sizes(self, key: str, one: tuple[Store, StoredCell], other: tuple[Store, StoredCell]) -> None:
        for name in ("kind", "n_train", "n_test"):
            values = [getattr(stored, name) for _, stored in (one, other)]
            if values[0] != values[1]:
                self._add_conflict(key, "", name, (one[0], values[0]), (other[0], values[1]))

    def _join(self, key: str, one: tuple[Store, Record], other: tuple[Store, Record]) -> Record:
        """Return a record with everything from two records of one task; a contradiction is a conflict."""
        first, second = one[1], other[1]
        if type(first) is not type(second):
            return first  # their cells are of different kinds, which is already reported
        missing = {}
        for name in first.__struct_fields__:
            values = getattr(first, name), getattr(second, name)
            if name in TIMES or values[0] == values[1] or values[1] is None:
                continue
            if values[0] is None:
                missing[name] = values[1]
                continue
            self._add_conflict(key, f", split {first.split}", name, (one[0], values[0]), (other[0], values[1]))
            return first
        return msgspec.structs.replace(first, **missing) if missing else first

    def _add_conflict(
        self, key: str, where: str, name: str, one: tuple[Store, object], other: tuple[Store, object]
    ) -> None:
        place = self._places.get(key, f"cell {key}")
        shown = [f"{_shorten(value)} in {store.folder}" for store, value in (one, other)]
        self.conflicts.append(f"{place}{where}: {name} is {shown[0]} and {shown[1]}")


def _shorten(value: object) -> str:
    text = str(value)
    return text if len(text) <= MAX_SHOWN_VALUE else f"{text[:MAX_SHOWN_VALUE]}..."


def _describe_run(manifest: Manifest, done: dict[str, list[int]]) -> MergedRun:
    repeats = manifest.experiment.split.repeats
    n_done = sum(
        split < (cell.repeats or repeats) for cell in manifest.cells for split in done.get(cell.key, ())
    )
    return MergedRun(manifest.experiment.name, n_done, manifest.n_tasks, manifest.command())


def _describe_versions(manifests: list[Manifest]) -> list[str]:
    """Return which runs come from several versions of zoloss; by their keys, the algorithms are the same."""
    notes = []
    for manifest in manifests:
        versions = sorted({run.zoloss for run in manifest.runs})
        if len(versions) > 1:
            notes.append(f"'{manifest.experiment.name}' was run by zoloss {' and '.join(versions)}")
    return notes
