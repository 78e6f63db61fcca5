"""What a task stores: one typed record, written and read as one line of JSON with a check value.

Only this module knows the format of a line. A cell's file has a header and one line per split; each ends with
the CRC-32 of what precedes it, so that a changed digit does not pass for a result.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sys
from array import array
from collections.abc import Sequence
from typing import Annotated, Literal
from zlib import crc32

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Confusion = list[list[Count]]

FORMAT = 2  # of cell files, manifests and the marker of a results folder
CHECK_LENGTH = len(b',"check":"00000000"}')


class FitRecord(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A learner fitted on one split of a data set.

    Attributes
    ----------
    split : int
        Number of the split.
    train_errors, test_errors : int
        Errors on the training and test samples. In training, a margin of 0 is an error; test errors are wrong
        predictions. ``test_errors`` is None if all samples train.
    train_confusion, test_confusion : list of list of int
        Counts of samples by true class (outer) and predicted class; the last of two classes is positive.
    train_errors_lenient : int
        Training errors if a margin of 0 is right, where this differs from ``train_errors``.
    fit_time, time_to_best, wall_time : float
        Seconds of fitting, of fitting until the result was found, and of the whole task.
    lower_bound : float
        Training errors that no linear rule can go below, as proved by the learner.
    time_to_bound : float
        Seconds of fitting until the bound was proved.
    proof : str
        What the bound rests on.
    n_cones : int
        Number of cones of directions searched for the last bound.
    part_bound, n_parts : float, int
        Training errors that no linear rule with a direction in the part of this split can go below, and the
        number of parts.
    iterations : int
        Rounds of boosting.
    error_counts : int
        How often the pocket algorithm counted its training errors.
    cost : float
        Value of the cost that boosting minimizes.
    counted, bound : float
        What a theorem bounds, and its bound.
    success_share, success_bound : float
        Share of epochs that found as few errors as the best weights have, and a lower bound on its expectation.
    n_pruned, n_flipped, n_flipped_pruned : int
        Training samples left out as noise, those with wrong labels, and those that are both.
    n_unseen : int
        Test samples of classes without training samples.
    n_unsplit : int
        1 if a code ended because no weight was left between the classes.
    choice : str
        Settings chosen by cross-validation.
    trace : list of (float, float)
        Seconds and errors whenever a search found fewer errors.
    epochs, train_curve, test_curve, cost_curve : list
        Recorded epochs or rounds, and errors and cost after each.
    test_scores : list of list of float
        Scores of the test samples of each of two classes, if the config requests them: decision values, or
        probabilities of the second class if the learner has none.
    test_probabilities : list of list of list of float
        Probabilities of all classes, for the test samples of each class, if the config requests them.
    """

    split: Count
    train_errors: Count
    test_errors: Count | None = None
    train_confusion: Confusion | None = None
    test_confusion: Confusion | None = None
    train_errors_lenient: Count | None = None
    n_pruned: Count | None = None
    n_flipped: Count | None = None
    n_flipped_pruned: Count | None = None
    n_unseen: Count = 0
    choice: str | None = None
    fit_time: Seconds | None = None
    time_to_best: Seconds | None = None
    lower_bound: float | None = None
    time_to_bound: Seconds | None = None
    proof: str | None = None
    n_cones: Count | None = None
    part_bound: float | None = None
    n_parts: Count | None = None
    iterations: Count | None = None
    error_counts: Count | None = None
    cost: float | None = None
    n_unsplit: Count = 0
    counted: float | None = None
    bound: float | None = None
    success_share: float | None = None
    success_bound: float | None = None
    trace: list[tuple[float, float]] | None = None
    epochs: list[Count] | None = None
    train_curve: list[Count] | None = None
    test_curve: list[Count] | None = None
    cost_curve: list[float] | None = None
    test_scores: tuple[list[float], list[float]] | None = None
    test_probabilities: list[list[list[float]]] | None = None
    wall_time: Seconds = 0.0


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
        """Refuse incomplete groups of fields, and lists of different lengths."""
        for group in FIELD_GROUPS:
            if len({getattr(self, name) is None for name in group}) > 1:
                raise ValueError(f"holds only a part of {', '.join(group)}")
        lists = [values for name in LISTS_BY_SAMPLE if (values := getattr(self, name)) is not None]
        if len({len(values) for values in lists}) > 1:
            raise ValueError(f"holds lists of different lengths among {', '.join(LISTS_BY_SAMPLE)}")
        if lists and any(sample >= len(lists[0]) for sample in self.flipped):
            raise ValueError("names a flipped sample that is not there")
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
    """First line of a cell's file: the cell's identity, and the numbers of training and test samples."""

    format: int
    kind: RecordKind
    n_train: Annotated[int, msgspec.Meta(ge=1)]
    n_test: Count
    identity: dict


TIMES = {
    "fit_time",
    "time_to_best",
    "time_to_bound",
    "wall_time",
    "trace",
}  # fields that differ when a task is rerun


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
_ONE: dict[str, msgspec.json.Decoder] = {
    "fit": msgspec.json.Decoder(FitRecord),
    "measure": msgspec.json.Decoder(MeasureRecord),
}
_MANY: dict[str, msgspec.json.Decoder] = {
    "fit": msgspec.json.Decoder(list[FitRecord]),
    "measure": msgspec.json.Decoder(list[MeasureRecord]),
}


def hash_identity(identity: dict) -> str:
    """Return a cell's key: a hash of its identity, the same on every machine."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def encode_line(content: msgspec.Struct) -> bytes:
    """Return a header or record as a line of JSON whose last key is its check value."""
    body = _ENCODER.encode(content)[:-1]
    return b'%s,"check":"%08x"}\n' % (body, crc32(body))


def decode_header(line: bytes) -> CellHeader:
    """Return the header of a cell's file; raise ValueError if the line is not a header or was changed."""
    body = _strip_check(line)
    if body is None:
        raise ValueError("its check value does not match")
    return _HEADER.decode(body)


def decode_records(lines: Sequence[bytes], kind: RecordKind) -> tuple[list[Record], list[FailedRecord], int]:
    """Return the records and failures that lines hold, and how many lines are damaged.

    Valid lines, which nearly all are, are decoded together: this is much faster than one by one.
    """
    bodies = [line[:-CHECK_LENGTH] for line in lines]
    if _verify_checks(bodies, lines):
        try:
            return (_MANY[kind].decode(b"[%s}]" % b"},".join(bodies)) if bodies else []), [], 0
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass  # a task failed, or a line does not match its type: find which
    records: list[Record] = []
    failed: list[FailedRecord] = []
    damaged = 0
    for line in lines:
        record = _decode_line(line, kind)
        if record is None:
            damaged += 1
        elif isinstance(record, FailedRecord):
            failed.append(record)
        else:
            records.append(record)
    return records, failed, damaged


def _verify_checks(bodies: list[bytes], lines: Sequence[bytes]) -> bool:
    """Return whether all check values match; the loops are in C, since there are hundreds of thousands."""
    tails = b"".join([line[-CHECK_LENGTH:] for line in lines])
    digits = tails.replace(b',"check":"', b"").replace(b'"}', b"")
    computed = array("I", map(crc32, bodies))
    if sys.byteorder == "little":
        computed.byteswap()  # the text has the highest digit first
    return computed.tobytes().hex().encode() == digits


def _decode_line(line: bytes, kind: RecordKind) -> AnyRecord | None:
    body = _strip_check(line)
    if body is not None:
        for decoder in (_ONE[kind], _FAILED):
            with contextlib.suppress(msgspec.MsgspecError, ValueError, RecursionError):
                return decoder.decode(body)
    return None


def _strip_check(line: bytes) -> bytes | None:
    """Return a line without its check value, or None if the value does not match."""
    body = line[:-CHECK_LENGTH]
    return body + b"}" if line == b'%s,"check":"%08x"}' % (body, crc32(body)) else None
