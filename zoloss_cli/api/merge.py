"""Merge results folders, such as those of shards, if they agree in every number."""

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
from zoloss_cli.report.runs import open_results
from zoloss_cli.results.manifest import Manifest
from zoloss_cli.results.record import TIMES, Record, RecordKind
from zoloss_cli.results.store import CELLS, Store, StoredCell, explain_os_errors

MAX_SHOWN_SETTING = 40


def _merge_manifests(by_folder: list[tuple[Path, list[Manifest]]]) -> list[Manifest]:
    """Return one manifest for each run, with the times and versions of all folders."""
    merged: dict[str, tuple[Path, Manifest]] = {}
    for folder, manifests in by_folder:
        for manifest in manifests:
            name = manifest.experiment.name
            if name not in merged:
                merged[name] = folder, manifest
                continue
            first_folder, first = merged[name]
            _check_equal(name, f"{first_folder} and {folder}", first, manifest)
            runs = [*first.runs, *(run for run in manifest.runs if run not in first.runs)]
            runs.sort(key=lambda run: run.started)
            merged[name] = first_folder, replace(first, runs=runs)
    return [manifest for _, manifest in merged.values()]


def _check_equal(name: str, folders: str, one: Manifest, other: Manifest) -> None:
    if difference := _find_difference(_describe_experiment(one), _describe_experiment(other)):
        raise ResultsError(
            f"'{name}' is not the same experiment in {folders}: {difference}; merge results of one config, or "
            "give one run another name"
        )
    for cell, same in zip(one.cells, other.cells, strict=False):
        if cell != same:
            raise ResultsError(
                f"'{name}' has different versions in {folders}: {cell.learner} on {cell.dataset} has the key "
                f"{cell.key} and {same.key}, so the data or the algorithm changed in between; rerun one of "
                f"them: {one.command()}"
            )
    if len(one.cells) != len(other.cells):
        raise ResultsError(f"'{name}' does not have the same cells in {folders}; run it again: {one.command()}")


def _describe_experiment(manifest: Manifest) -> dict[str, Any]:
    """Return an experiment as plain values, without the paths of files, which may differ between machines."""
    content = manifest.experiment.model_dump(mode="json")
    for data in content["datasets"]:
        if "csv" in data:
            data["csv"] = PurePath(data["csv"]).name
    _drop_code_paths(content["learners"])
    return content


def _drop_code_paths(value: Any) -> None:
    """Drop the paths of learners' code files; their content and hash remain."""
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
    return _shorten(text, MAX_SHOWN_SETTING)


# A task is identified by its cell key and split: all its records must agree in everything but times.
# The records of the merged folder are in the order in which a single run would have written them.

CELL_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*\.([0-9a-f]{16})\.jsonl")
MAX_LISTED_CONFLICTS = 10
MAX_SHOWN_VALUE = 60


@dataclass
class MergeSummary:
    """The summary of a merge."""

    n_folders: int  # number of folders, cells and records, and of records that were in several folders
    n_cells: int = 0
    n_records: int = 0
    n_shared: int = 0
    runs: list[tuple[Manifest, int]] = field(default_factory=list)  # each with its number of finished tasks
    notes: list[str] = field(default_factory=list)  # damaged content that was skipped, and other notes


@dataclass(frozen=True)
class MergedCell:
    """What the store needs to write a merged cell."""

    key: str
    filename: str
    identity: dict
    kind: RecordKind


def merge_folders(folders: list[Path], out: Path) -> MergeSummary:
    """Merge results folders into a new one; nothing is written unless everything agrees."""
    _check_folders(folders, out)
    opened = [open_results(folder) for folder in folders]
    stores = [store for _, store in opened]
    manifests = _merge_manifests(
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
    summary.notes = [note for each in stores for note in each.notes]
    for manifest in manifests:
        repeats = manifest.experiment.split.repeats
        done = [s for c in manifest.cells for s in merger.done.get(c.key, ()) if s < (c.repeats or repeats)]
        summary.runs.append((manifest, len(done)))
        versions = sorted({run.zoloss for run in manifest.runs})
        if len(versions) > 1:  # the algorithms are the same, since the cell keys are
            summary.notes.append(f"'{manifest.experiment.name}' was run by zoloss {' and '.join(versions)}")
    return summary


def render_summary(summary: MergeSummary, out: Path) -> list[str]:
    """Return the summary as lines of text."""
    shared = f", {summary.n_shared:,} of them in several" if summary.n_shared else ""
    counts = f"{summary.n_records:,} records of {summary.n_cells:,} cells"
    lines = [f"{out}: {counts} from {summary.n_folders} folders{shared}"]
    for manifest, n_done in summary.runs:
        where = f" --out {shlex.quote(str(out))}" if manifest.command().startswith("zoloss run ") else ""
        rest = f"incomplete; complete it with: {manifest.command()}{where}"
        state = "complete" if n_done >= manifest.n_tasks else rest
        lines.append(f"{manifest.experiment.name}: {n_done:,} of {manifest.n_tasks:,} tasks, {state}")
    return lines


def _check_folders(folders: list[Path], out: Path) -> None:
    if len(folders) < 2:
        raise ResultsError("a merge needs at least two results folders")
    places = [folder.resolve() for folder in folders]
    for folder, place in zip(folders, places, strict=True):
        if places.count(place) > 1:
            raise ResultsError(f"{folder} is named twice; a merge needs different folders")
        if place in out.resolve().parents:
            raise OutputError(f"{out} is in the input folder {folder}; choose another --out")
    with explain_os_errors(out):
        if out.exists() and not (out.is_dir() and not any(out.iterdir())):
            raise OutputError(f"{out} exists; results are merged into a new folder: choose another --out")
        if not out.resolve().parent.is_dir():
            raise OutputError(f"cannot write {out}: there is no folder {out.parent}")


@contextlib.contextmanager
def _write_new_folder(out: Path) -> Iterator[Store]:
    """Write a results folder under a temporary name, and rename it when it is complete."""
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
    """Merge the files with the same name in several folders, and collect conflicts."""

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
        """Return the names of all cell files, and note other files."""
        names: set[str] = set()
        for store in self.stores:
            for path in sorted((store.folder / CELLS).glob("*.jsonl")):
                if CELL_FILE.fullmatch(path.name):
                    names.add(path.name)
                else:
                    store.notes.append(f"{path} is not a cell file; left out")
        return sorted(names)

    def merge(self, filename: str) -> tuple[MergedCell | None, StoredCell]:
        """Return a cell with its records from all folders; the cell is None if there are none."""
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
            for name in ("kind", "n_train", "n_test"):
                if (one := getattr(merged, name)) != (other := getattr(stored, name)):
                    self._add_conflict(key, "", name, (first, one), (store, other))
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
        """Raise ResultsError if there are conflicts."""
        if not self.conflicts:
            return
        count, listed = len(self.conflicts), self.conflicts[:MAX_LISTED_CONFLICTS]
        if count > len(listed):
            listed.append(f"and {count - len(listed):,} more")
        subject = "1 task has" if count == 1 else f"{count:,} tasks have"
        raise ResultsError(
            f"{subject} different numbers in these folders, so nothing was written; leave out the folder whose "
            "results are wrong, or run it again with --fresh:\n" + "\n".join(listed)
        )

    def _join(self, key: str, one: tuple[Store, Record], other: tuple[Store, Record]) -> Record:
        """Merge two records of one task, and add a conflict if they differ."""
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
        shown = [f"{_shorten(str(value), MAX_SHOWN_VALUE)} in {store.folder}" for store, value in (one, other)]
        self.conflicts.append(f"{place}{where}: {name} is {shown[0]} and {shown[1]}")


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}..."
