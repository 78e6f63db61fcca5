"""A results folder: read and write the files of cells, and manifests."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec

from zoloss_cli.errors import ResultsError
from zoloss_cli.results.manifest import Manifest, RunInfo, decode_manifest, encode_manifest
from zoloss_cli.results.record import (
    FORMAT,
    AnyRecord,
    CellHeader,
    FailedRecord,
    FitRecord,
    Record,
    RecordKind,
    decode_header,
    decode_records,
    encode_line,
    hash_identity,
    have_same_result,
)
from zoloss_cli.utils.files import FileError, FileMissingError, read_file, write_bytes
from zoloss_cli.utils.text import check_file_name

MAX_CELL_BYTES = 1 << 29


class CellAddress(Protocol):
    """What the store needs to know about a planned cell."""

    @property
    def key(self) -> str:
        """Hash of the identity."""

    @property
    def filename(self) -> str:
        """Name of its file."""

    @property
    def identity(self) -> dict:
        """What its results depend on."""

    @property
    def kind(self) -> RecordKind:
        """Whether a learner is fitted or a measure is computed."""


@dataclass
class StoredCell:
    """The contents of a cell's file."""

    records: dict[int, Record] = field(default_factory=dict)  # of finished tasks, by split
    failed: dict[int, FailedRecord] = field(default_factory=dict)
    n_damaged: int = 0  # lines that were dropped
    n_replaced: int = 0  # records replaced by a later one with the same result
    fault: str = ""  # why the whole file cannot be used
    kind: RecordKind = "fit"
    n_train: int = 0
    n_test: int = 0
    identity: dict = field(default_factory=dict)  # empty if there is no file, or none that can be used

    @cached_property
    def splits(self) -> list[int]:
        """Return the finished splits in order."""
        return sorted(self.records)

    @cached_property
    def folds(self) -> int:
        """Return the number of folds of each partition; 0 if splits have the same sizes."""
        rule = self.identity.get("split")
        folds = rule.get("folds") if isinstance(rule, dict) else None
        return folds if isinstance(folds, int) and folds > 1 else 0

    def count_samples(self, split: int) -> tuple[int, int]:
        """Return the numbers of training and test samples of a split; later folds may test one fewer."""
        if not self.folds:
            return self.n_train, self.n_test
        n = self.n_train + self.n_test
        n_test = n // self.folds + (split % self.folds < n % self.folds)
        return n - n_test, n_test


def read_cell_file(path: Path, key: str) -> StoredCell:
    """Return the contents of the file of the cell with this key."""
    try:
        raw = read_file(path, MAX_CELL_BYTES)
    except FileMissingError:
        return StoredCell()
    except FileError as error:
        return StoredCell(fault=str(error))
    lines = raw.split(b"\n")
    try:
        header = decode_header(lines[0])
        found_key = hash_identity(header.identity)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # A run killed during its first write leaves at most a part of a header, and no split.
        return StoredCell(fault="has no readable header")
    if header.format != FORMAT:
        return StoredCell(fault="was written by another version of zoloss")
    if found_key != key:
        return StoredCell(fault="does not match the key in its name")
    stored = StoredCell(kind=header.kind, n_train=header.n_train, n_test=header.n_test)
    stored.identity = header.identity
    records, failed, stored.n_damaged = decode_records(lines[1:-1], header.kind)
    stored.n_damaged += bool(lines[-1])
    sound = [record for record in records if _is_plausible(record, stored)]
    stored.n_damaged += len(records) - len(sound)
    stored.records = {record.split: record for record in sound}
    if len(stored.records) < len(sound):
        stored.records, n_damaged = _drop_duplicates(sound)
        stored.n_damaged += n_damaged
        stored.n_replaced = len(sound) - n_damaged - len(stored.records)
    stored.failed = {r.split: r for r in failed if r.split not in stored.records}
    return stored


def _is_plausible(record: Record, stored: StoredCell) -> bool:
    """Return whether a record has no more errors than samples, and no test errors without test samples."""
    if not isinstance(record, FitRecord):
        return True
    n_train, n_test = stored.count_samples(record.split)
    has_test_errors = record.test_errors is not None
    return (
        record.train_errors <= n_train
        and has_test_errors == (n_test > 0)
        and (record.test_errors or 0) <= n_test
    )


def _drop_duplicates(records: list[Record]) -> tuple[dict[int, Record], int]:
    """Return the last record of each split, and the number of damaged lines.

    A split that was rerun, to keep its scores, has a second record with the same result. An equal record is a
    duplicate line, which counts as damaged. If two records conflict, neither is used.
    """
    kept: dict[int, Record] = {}
    contradicted: set[int] = set()
    n_damaged = 0
    for record in records:
        earlier = kept.get(record.split, record)
        if record.split in kept and record == earlier:
            n_damaged += 1
        elif not have_same_result(earlier, record):
            contradicted.add(record.split)
        kept[record.split] = record
    believed = {split: record for split, record in kept.items() if split not in contradicted}
    if contradicted:
        n_damaged = len(records) - len(believed)
    return believed, n_damaged


# results/
#   zoloss.json          marks a results folder
#   runs/<name>.json     one manifest per run: the resolved config, its cells, versions, times
#   cells/<...>.jsonl    one file per cell: a header with the cell's identity, then one record per line
#
# Records are appended and flushed by one process at a time, and synced to disk with the first append after
# SYNC_SECONDS and at the end of a run: a killed process loses none of them, a power failure at most those
# appended within SYNC_SECONDS of the last sync. Everything else is written to a temporary file, synced and
# renamed.
#
# A torn, changed or duplicated line is dropped on load; a file that does not match its name is set aside.

MARKER = "zoloss.json"
RUNS = "runs"
CELLS = "cells"
ASIDE = "set-aside"
KEPT = "; finished tasks are kept"
MAX_MARKER_BYTES = 1 << 16
MAX_MANIFEST_BYTES = 1 << 27
SYNC_SECONDS = 5.0  # a sync takes milliseconds: far below 1 % of a run
# What a results folder may contain besides zoloss's own files and dot-files.
IGNORED_FILES = {"README.md", "reference"}


class Store:
    """A results folder, which need not exist yet."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.notes: list[str] = []  # what was damaged and repaired, for the user
        self._unsynced: set[Path] = set()
        self._last_sync = time.monotonic()

    # -- the folder ---------------------------------------------------------------------------------

    def is_ours(self) -> bool:
        """Return whether the folder is marked as a results folder."""
        return (self.folder / MARKER).is_file()

    @contextlib.contextmanager
    def writing(self) -> Iterator[Store]:
        """Prepare and lock the folder; raise ResultsError if another run holds the lock."""
        from filelock import FileLock, Timeout  # not imported by readers

        with explain_os_errors(self.folder):
            if self.folder.exists() and not self.folder.is_dir():
                raise ResultsError(f"{self.folder} is a file, not a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign_files()
            lock = FileLock(self.folder / ".lock", timeout=0)
            try:
                lock.acquire()
            except Timeout:
                raise ResultsError(
                    f"another run is writing to {self.folder}; wait for it or choose another --out"
                ) from None
            with lock:
                if not self.is_ours():  # before anything else: later runs refuse a folder without it
                    self.write_marker()
                for sub in (RUNS, CELLS):
                    (self.folder / sub).mkdir(exist_ok=True)
                try:
                    yield self
                finally:
                    self.sync()

    def sync(self) -> None:
        """Wait until everything written since the last sync, and the names of files, are on disk."""
        folders = {path.parent for path in self._unsynced}
        for path in [*self._unsynced, *folders]:
            with contextlib.suppress(OSError):  # removed meanwhile, or a file system that cannot sync folders
                descriptor = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        self._unsynced.clear()
        self._last_sync = time.monotonic()

    def write_marker(self) -> None:
        """Mark the folder as a results folder of this format."""
        content = json.dumps({"results_of": "zoloss", "format": FORMAT})
        write_bytes(self.folder / MARKER, f"{content}\n".encode())

    def check_format(self) -> None:
        """Raise ResultsError for a folder whose format this version does not read."""
        path = self.folder / MARKER
        try:
            marker = json.loads(read_file(path, MAX_MARKER_BYTES))
            version = marker["format"] if marker["results_of"] == "zoloss" else None
        except (ValueError, KeyError, TypeError, RecursionError):
            version = None
        except FileError as error:
            raise ResultsError(f"{path} {error}") from None
        if version != FORMAT:
            raise ResultsError(
                f"{path} does not have the format of this version of zoloss; choose another folder"
            )

    def _refuse_foreign_files(self) -> None:
        if self.is_ours():
            self.check_format()
            return
        foreign = sorted(
            p.name
            for p in self.folder.iterdir()
            if not p.name.startswith(".") and p.name not in IGNORED_FILES and not _is_empty_part(p)
        )
        if foreign:
            raise ResultsError(
                f"{self.folder} holds files that zoloss did not write (such as {foreign[0]}); "
                "choose another --out"
            )

    # -- cells --------------------------------------------------------------------------------------

    def path(self, filename: str) -> Path:
        """Return the path of a cell's file."""
        return self.folder / CELLS / filename

    def read(self, filename: str, key: str) -> StoredCell:
        """Return the contents of a cell's file; damaged lines are left out and counted."""
        return read_cell_file(self.path(filename), key)

    def open_cell(self, cell: CellAddress) -> StoredCell:
        """Read a cell and repair its file for appending: set it aside, or drop damaged lines."""
        path = self.path(cell.filename)
        stored = read_cell_file(path, cell.key)
        if stored.fault:
            self.notes.append(f"{path} {stored.fault}; moved to {self.set_aside(cell)}")
            return StoredCell()
        if stored.n_damaged:
            self.notes.append(f"{path}: {stored.n_damaged} damaged line(s) dropped, their splits run again")
        if stored.n_damaged or stored.failed:
            self._rewrite_cell(cell, stored, list(stored.records.values()))
        return stored

    def set_aside(self, cell: CellAddress) -> Path | None:
        """Move a cell's file out of the way without losing it, and return its new path."""
        path, folder = self.path(cell.filename), self.folder / ASIDE
        if not path.exists():
            return None
        folder.mkdir(exist_ok=True)
        taken = {p.name for p in folder.iterdir()}
        name = next(n for i in itertools.count() if (n := f"{path.name}.{i}" if i else path.name) not in taken)
        os.replace(path, folder / name)
        return folder / name

    def append(self, cell: CellAddress, records: Sequence[AnyRecord], sizes: tuple[int, int]) -> None:
        """Append records to a cell's file, and flush them to the operating system."""
        path = self.path(cell.filename)
        with explain_os_errors(path):
            content = b"".join(map(encode_line, records))
            if not path.exists():
                content = encode_line(CellHeader(FORMAT, cell.kind, *sizes, cell.identity)) + content
            with path.open("ab") as file:
                file.write(content)
        self._unsynced.add(path)
        if time.monotonic() - self._last_sync > SYNC_SECONDS:
            self.sync()

    def sort_cell(self, cell: CellAddress) -> None:
        """Rewrite a cell's file with its splits in order and one record each, unless it is already sorted."""
        stored = read_cell_file(self.path(cell.filename), cell.key)
        in_order = list(stored.records) == stored.splits and not stored.n_replaced
        if stored.records and not stored.fault and not in_order:
            self._rewrite_cell(cell, stored, [*stored.records.values(), *stored.failed.values()])

    def _rewrite_cell(self, cell: CellAddress, stored: StoredCell, records: list[AnyRecord]) -> None:
        header = CellHeader(FORMAT, cell.kind, stored.n_train, stored.n_test, cell.identity)
        in_order = sorted(records, key=lambda r: (isinstance(r, FailedRecord), r.split))
        path = self.path(cell.filename)
        with explain_os_errors(path):
            write_bytes(path, b"".join(map(encode_line, [header, *in_order])))
        self._unsynced.add(path)

    # -- manifests ----------------------------------------------------------------------------------

    def write_manifest(self, manifest: Manifest) -> Path:
        """Write the manifest of a run, named after its experiment."""
        try:  # no path traversal, even by an unvalidated model
            name = check_file_name(manifest.experiment.name)
        except ValueError as error:
            raise ResultsError(f"{self.folder}: the name of a run {error}") from None
        path = self.folder / RUNS / f"{name}.json"
        with explain_os_errors(path):
            write_bytes(path, encode_manifest(manifest).encode())
        self._unsynced.add(path)
        return path

    def find_earlier_runs(self, name: str, keys: set[str]) -> list[RunInfo]:
        """Return the earlier runs in the manifest with this name, if it has any of these cells."""
        for manifest in self.read_manifests():
            if manifest.experiment.name == name and keys & {cell.key for cell in manifest.cells}:
                return manifest.runs
        return []

    def read_manifests(self) -> list[Manifest]:
        """Return all manifests; those that cannot be read are left out and noted."""
        manifests: list[Manifest] = []
        for path in sorted((self.folder / RUNS).glob("*.json")):
            try:
                manifests.append(decode_manifest(read_file(path, MAX_MANIFEST_BYTES)))
            except FileError as error:
                self.notes.append(f"{path} {error}; left out")
            except (ValueError, RecursionError) as error:
                reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
                self.notes.append(f"{path} is not a manifest of this version of zoloss ({reason}); left out")
        if n_unchecked := sum(not manifest.is_checked for manifest in manifests):
            subject = "1 manifest has" if n_unchecked == 1 else f"{n_unchecked} manifests have"
            self.notes.append(
                f"{self.folder / RUNS}: {subject} no checksum (written by an older version); "
                "running the config again adds it"
            )
        return manifests


def _is_empty_part(path: Path) -> bool:
    """Return whether this is an empty subfolder of a run that stopped before it marked its folder."""
    return path.name in (RUNS, CELLS) and path.is_dir() and not any(path.iterdir())


@contextlib.contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Convert file system errors into a ResultsError."""
    try:
        yield
    except OSError as error:
        kept = _describe_kept(path)
        if kept == KEPT and error.errno in (errno.ENOSPC, errno.EDQUOT):
            kept += ": free disk space, and the same command continues"
        raise ResultsError(f"cannot write to {path}: {error.strerror or error}{kept}") from None


def _describe_kept(path: Path) -> str:
    """Return what happened to earlier results when a file or the whole folder could not be written."""
    in_store = path.parent.name in (CELLS, RUNS)
    if path.exists() or (in_store and path.parent.is_dir()):
        return KEPT
    return f"; the folder {path.parent} was removed, with its contents" if in_store else ""
