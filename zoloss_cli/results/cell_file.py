"""Read a cell's file: its records by split, what failed, and what is damaged."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Protocol, cast

import msgspec

from zoloss_cli.results.record import (
    FORMAT,
    CellHeader,
    FailedRecord,
    FitRecord,
    Record,
    RecordKind,
    decode_header,
    decode_records,
    hash_identity,
    have_same_result,
)
from zoloss_cli.utils.files import FileError, FileMissingError, read_file

MAX_CELL_BYTES = 1 << 29
# Fields of hundreds of thousands of records, read in C.
GET_SPLIT, GET_TRAIN_ERRORS, GET_TEST_ERRORS = map(attrgetter, ("split", "train_errors", "test_errors"))


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
    """The contents of a cell's file.

    Attributes
    ----------
    records : dict of int to Record
        Finished tasks by split.
    failed : dict of int to FailedRecord
        Failed tasks by split.
    n_damaged : int
        Number of dropped lines.
    n_replaced : int
        Number of records replaced by a later one with the same result.
    fault : str
        Why the whole file cannot be used; empty if it can.
    kind : {'fit', 'measure'}
        The kind of its records.
    n_train, n_test : int
        Number of training and test samples.
    identity : dict
        What its records depend on; empty if there is no file, or none that can be used.
    """

    records: dict[int, Record] = field(default_factory=dict)
    failed: dict[int, FailedRecord] = field(default_factory=dict)
    n_damaged: int = 0
    n_replaced: int = 0
    fault: str = ""
    kind: RecordKind = "fit"
    n_train: int = 0
    n_test: int = 0
    identity: dict = field(default_factory=dict)

    @cached_property
    def splits(self) -> list[int]:
        """Return the finished splits in order."""
        found = list(self.records)
        in_order = list(range(len(found)))
        return found if found == in_order else sorted(found)  # nearly all files are complete and in order


def read_cell_file(path: Path, key: str) -> StoredCell:
    """Return the contents of the file of the cell with this key; see :class:`StoredCell`."""
    stored = StoredCell()
    try:
        raw = read_file(path, MAX_CELL_BYTES)
    except FileMissingError:
        return stored
    except FileError as error:
        stored.fault = str(error)
        return stored
    lines = raw.split(b"\n")
    try:
        header = decode_header(lines[0])
        found_key = hash_identity(header.identity)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # A run killed during its first write leaves at most a part of a header, and no split.
        stored.fault = "has no readable header"
        return stored
    if header.format != FORMAT:
        stored.fault = "was written by another version of zoloss"
        return stored
    if found_key != key:
        stored.fault = "is not the cell that its name says"
        return stored
    stored.kind, stored.n_train, stored.n_test = header.kind, header.n_train, header.n_test
    stored.identity = header.identity
    records, failed, stored.n_damaged = decode_records(lines[1:-1], header.kind)
    stored.n_damaged += bool(lines[-1])
    sound = _drop_oversized(records, header)
    stored.n_damaged += len(records) - len(sound)
    stored.records = dict(zip(map(GET_SPLIT, sound), sound, strict=True))
    if len(stored.records) < len(sound):
        stored.records, n_damaged = _drop_doubled(sound)
        stored.n_damaged += n_damaged
        stored.n_replaced = len(sound) - n_damaged - len(stored.records)
    stored.failed = {r.split: r for r in failed if r.split not in stored.records}
    return stored


def _drop_oversized(records: list[Record], header: CellHeader) -> list[Record]:
    """Return the records with no more errors than samples; without test samples, no test errors."""
    if header.kind == "measure":
        return records
    fits = cast(list[FitRecord], records)
    trains, tests = list(map(GET_TRAIN_ERRORS, fits)), list(map(GET_TEST_ERRORS, fits))
    allowed = range(header.n_test + 1) if header.n_test else (None,)
    if max(trains, default=0) <= header.n_train and all(count in allowed for count in set(tests)):
        return records  # as almost always
    return [
        record
        for record, train, test in zip(records, trains, tests, strict=True)
        if train <= header.n_train and test in allowed
    ]


def _drop_doubled(records: list[Record]) -> tuple[dict[int, Record], int]:
    """Return the last record of each split, and the number of damaged lines.

    A split that was rerun, to keep its scores, has a second record with the same result. An equal record is a
    duplicated line. If two contradict each other, neither is trusted.
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
