"""Typed records of tasks, each stored as one line of JSON with a checksum.

Only this module knows the format of a line. A cell's file has a header and one line per split; each ends with
the CRC-32 of what precedes it, so that corruption is detected.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from typing import Annotated, Literal
from zlib import crc32

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Confusion = list[list[Count]]

FORMAT = 2  # of cell files, manifests and the marker of a results folder
CHECK_LENGTH = len(b',"check":"00000000"}')


class FitRecord(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A learner fitted on one split of a data set."""

    split: Count
    # In training, a margin of 0 is an error; test errors are wrong predictions, or None if all samples train.
    train_errors: Count
    test_errors: Count | None = None
    # Samples by true class (outer) and predicted class; the last of two classes is positive.
    train_confusion: Confusion | None = None
    test_confusion: Confusion | None = None
    train_errors_lenient: Count | None = None  # with a margin of 0 as correct, if different
    n_pruned: Count | None = None  # training samples left out as noise
    n_flipped: Count | None = None  # training samples with wrong labels
    n_flipped_pruned: Count | None = None  # both
    n_unseen: Count = 0  # test samples of classes without training samples
    choice: str | None = None  # settings chosen by cross-validation
    fit_time: Seconds | None = None
    time_to_best: Seconds | None = None  # of fitting, until the result was found
    # Lower bound on the training errors of any linear rule, as proved by the learner; seconds until then, what
    # the bound rests on, and the number of cones of directions searched for it.
    lower_bound: float | None = None
    time_to_bound: Seconds | None = None
    proof: str | None = None
    n_cones: Count | None = None
    part_bound: float | None = None  # the same for directions in the part of this split
    n_parts: Count | None = None
    iterations: Count | None = None  # rounds of boosting
    error_counts: Count | None = None  # how often the pocket algorithm counted its training errors
    cost: float | None = None  # that boosting minimizes
    n_unsplit: Count = 0  # 1 if a code ended because no weight was left between the classes
    counted: float | None = None  # what a theorem bounds
    bound: float | None = None  # its bound
    success_share: float | None = None  # of epochs that found as few errors as the best weights have
    success_bound: float | None = None  # a lower bound on its expectation
    trace: list[tuple[float, float]] | None = None  # seconds and errors whenever a search found fewer errors
    epochs: list[Count] | None = None  # recorded epochs or rounds; errors and cost after each follow
    train_curve: list[Count] | None = None
    test_curve: list[Count] | None = None
    cost_curve: list[float] | None = None
    # Of the test samples of each of two classes, if the config requests them: decision values, or probabilities
    # of the second class if the learner has none.
    test_scores: tuple[list[float], list[float]] | None = None
    test_probabilities: list[list[list[float]]] | None = None  # of all classes, for the test samples of each
    wall_time: Seconds = 0.0  # of the whole task


class Measurement(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The measurements of one draw of a data set: complexity, principal points, contributions or scores."""

    complexity: Count | None = None
    principal_points: Count | None = None
    principal_subsets: Count | None = None
    points: list[tuple[Count, Count, Count, list[Count]]] | None = None
    pairs: list[tuple[Count, Count]] | None = None
    clusters: list[int] | None = None
    exact: bool | None = None
    solves: Count | None = None
    permutations: Count | None = None
    growth: list[int] | None = None
    times: list[Count] | None = None
    least_squares: list[float] | None = None
    growth_by_size: list[int] | None = None
    flipped_growth_by_size: list[int] | None = None
    flipped_times_by_size: list[Count] | None = None
    scores: list[float] | None = None
    flipped: list[Count] = []

    def __post_init__(self) -> None:
        """Reject incomplete groups of fields, and lists of different lengths."""
        for group in FIELD_GROUPS:
            if len({getattr(self, name) is None for name in group}) > 1:
                raise ValueError(f"holds only a part of {', '.join(group)}")
        lists = [values for name in LISTS_BY_SAMPLE if (values := getattr(self, name)) is not None]
        if len({len(values) for values in lists}) > 1:
            raise ValueError(f"holds lists of different lengths among {', '.join(LISTS_BY_SAMPLE)}")
        if lists and any(sample >= len(lists[0]) for sample in self.flipped):
            raise ValueError("names a flipped sample that does not exist")
        if not all(map(math.isfinite, [*(self.least_squares or ()), *(self.scores or ())])):
            raise ValueError("holds a number that is not finite")


# No field of a group is present without the others.
FIELD_GROUPS = (
    ("permutations", "growth", "times", "least_squares", "growth_by_size"),
    ("flipped_growth_by_size", "flipped_times_by_size"),
    ("principal_points", "principal_subsets", "points", "pairs", "clusters", "exact"),
)
LISTS_BY_SAMPLE = (
    *("growth", "times", "least_squares", "scores"),
    *("growth_by_size", "flipped_growth_by_size", "flipped_times_by_size"),
)


class MeasureRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A measure of one split or draw of a data set."""

    split: Count
    measured: Measurement
    draw: Count | None = None
    fit_time: Seconds | None = None
    wall_time: Seconds = 0.0


class FailedRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A task that failed, and why; the next run tries it again."""

    split: Count
    failed: str
    wall_time: Seconds = 0.0


Record = FitRecord | MeasureRecord
AnyRecord = FitRecord | MeasureRecord | FailedRecord
RecordKind = Literal["fit", "measure"]


class CellHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of a cell's file: the cell's identity, and the numbers of training and test samples."""

    format: int
    kind: RecordKind
    n_train: Annotated[int, msgspec.Meta(ge=1)]
    n_test: Count
    identity: dict


# Fields that differ when a task is rerun.
TIMES = {"fit_time", "time_to_best", "time_to_bound", "wall_time", "trace"}


def have_same_result(one: Record, other: Record) -> bool:
    """Return whether two records agree in everything that both have, except times."""
    return type(one) is type(other) and all(
        getattr(one, name) == getattr(other, name) or None in (getattr(one, name), getattr(other, name))
        for name in one.__struct_fields__
        if name not in TIMES
    )


_ENCODER = msgspec.json.Encoder()
_HEADER = msgspec.json.Decoder(CellHeader)
_FAILED = msgspec.json.Decoder(FailedRecord)
_DECODERS: dict[str, msgspec.json.Decoder] = {
    "fit": msgspec.json.Decoder(FitRecord),
    "measure": msgspec.json.Decoder(MeasureRecord),
}


def hash_identity(identity: dict) -> str:
    """Return a cell's key: a hash of its identity, the same on every machine."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def encode_line(content: msgspec.Struct) -> bytes:
    """Return a header or record as a line of JSON whose last key is its checksum."""
    body = _ENCODER.encode(content)[:-1]
    return b'%s,"check":"%08x"}\n' % (body, crc32(body))


def decode_header(line: bytes) -> CellHeader:
    """Return the header of a cell's file; raise ValueError if the line is not a header or was changed."""
    body = _strip_check(line)
    if body is None:
        raise ValueError("its checksum does not match")
    return _HEADER.decode(body)


def decode_records(lines: Iterable[bytes], kind: RecordKind) -> tuple[list[Record], list[FailedRecord], int]:
    """Return the records and failures that lines hold, and how many lines are damaged."""
    records: list[Record] = []
    failed: list[FailedRecord] = []
    n_damaged = 0
    for line in lines:
        body = _strip_check(line) or b""
        try:
            records.append(_DECODERS[kind].decode(body))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            try:
                failed.append(_FAILED.decode(body))
            except (msgspec.MsgspecError, ValueError, RecursionError):
                n_damaged += 1
    return records, failed, n_damaged


def _strip_check(line: bytes) -> bytes | None:
    """Return a line without its checksum, or None if that does not match."""
    body = line[:-CHECK_LENGTH]
    return body + b"}" if line == b'%s,"check":"%08x"}' % (body, crc32(body)) else None
