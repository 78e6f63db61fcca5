"""Records and their lines: every field comes back, every change is noticed, every misfit is dropped."""

from __future__ import annotations

import json
from zlib import crc32

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.results.record import (
    FORMAT,
    CellHeader,
    FailedRecord,
    FitRecord,
    Measurement,
    MeasureRecord,
    decode_header,
    decode_records,
    encode_line,
    hash_identity,
)

counts = st.integers(0, 2**53)
seconds = st.floats(0, 1e9)
numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def lists(values, **more):
    return st.lists(values, max_size=4, **more)


confusions = st.integers(2, 3).flatmap(
    lambda n: st.lists(st.lists(counts, min_size=n, max_size=n), min_size=n, max_size=n)
)
FIT_FIELDS = {
    "split": counts,
    "train_errors": counts,
    "test_errors": counts,
    "train_confusion": confusions,
    "test_confusion": confusions,
    "train_errors_lenient": counts,
    "n_pruned": counts,
    "n_flipped": counts,
    "n_flipped_pruned": counts,
    "n_unseen": counts,
    "choice": texts,
    "fit_time": seconds,
    "time_to_best": seconds,
    "lower_bound": numbers,
    "time_to_bound": seconds,
    "proof": texts,
    "n_cones": counts,
    "part_bound": numbers,
    "n_parts": counts,
    "iterations": counts,
    "error_counts": counts,
    "cost": numbers,
    "n_unsplit": counts,
    "counted": numbers,
    "bound": numbers,
    "success_share": numbers,
    "success_bound": numbers,
    "trace": lists(st.tuples(numbers, numbers)),
    "epochs": lists(counts),
    "train_curve": lists(counts),
    "test_curve": lists(counts),
    "cost_curve": lists(numbers),
    "test_scores": st.tuples(lists(numbers), lists(numbers)),
    "test_probabilities": lists(lists(lists(numbers))),
    "wall_time": seconds,
}
REQUIRED = ("split", "train_errors")
optional = {name: values for name, values in FIT_FIELDS.items() if name not in REQUIRED}
fits = st.fixed_dictionaries({n: FIT_FIELDS[n] for n in REQUIRED}, optional=optional).map(
    lambda fields: FitRecord(**fields)
)


@st.composite
def build_measurements(draw):
    n = draw(st.integers(1, 4))
    integers = st.lists(st.integers(-(2**40), 2**40), min_size=n, max_size=n)
    tallies, values = st.lists(counts, min_size=n, max_size=n), st.lists(numbers, min_size=n, max_size=n)
    groups = [
        {"complexity": counts},
        {"solves": counts},
        {"scores": values},
        {"flipped": st.lists(st.integers(0, n - 1), max_size=n)},
        {
            "permutations": counts,
            "growth": integers,
            "times": tallies,
            "least_squares": values,
            "growth_by_size": integers,
        },
        {"flipped_growth_by_size": integers, "flipped_times_by_size": tallies},
        {
            "principal_points": counts,
            "principal_subsets": counts,
            "points": lists(st.tuples(counts, counts, counts, lists(counts))),
            "pairs": lists(st.tuples(counts, counts)),
            "clusters": integers,
            "exact": st.booleans(),
        },
    ]
    chosen = draw(st.lists(st.sampled_from(groups), unique_by=id))
    return Measurement(**{name: draw(values) for group in chosen for name, values in group.items()})


measures = st.builds(
    MeasureRecord,
    counts,
    build_measurements(),
    draw=st.none() | counts,
    fit_time=st.none() | seconds,
    wall_time=seconds,
)
failures = st.builds(FailedRecord, counts, texts, wall_time=seconds)


def to_lines(records):
    return [encode_line(record)[:-1] for record in records]


# -- every field comes back ---------------------------------------------------------------------------


def test_all_fields_are_tried():
    assert tuple(FIT_FIELDS) == FitRecord.__struct_fields__


@given(st.lists(fits, max_size=4))
def test_records_of_fits_come_back(records):
    assert decode_records(to_lines(records), "fit") == (records, [], 0)


@given(st.lists(measures, max_size=3))
def test_records_of_measures_come_back(records):
    assert decode_records(to_lines(records), "measure") == (records, [], 0)


@given(st.lists(st.one_of(fits, failures), max_size=6))
def test_failures_among_good_records_are_told_apart(records):
    good = [r for r in records if isinstance(r, FitRecord)]
    failed = [r for r in records if isinstance(r, FailedRecord)]
    assert decode_records(to_lines(records), "fit") == (good, failed, 0)


@given(st.lists(st.one_of(measures, failures), max_size=4))
def test_failures_among_measures_are_told_apart(records):
    good = [r for r in records if isinstance(r, MeasureRecord)]
    failed = [r for r in records if isinstance(r, FailedRecord)]
    assert decode_records(to_lines(records), "measure") == (good, failed, 0)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from(["fit", "measure"]),
    st.integers(1, 10**9),
    counts,
    st.dictionaries(texts, json_values, max_size=4),
)
def test_headers_come_back_with_the_key_of_their_identity(kind, n_train, n_test, identity):
    header = CellHeader(FORMAT, kind, n_train, n_test, identity)
    line = encode_line(header)
    assert decode_header(line[:-1]) == header
    assert hash_identity(decode_header(line[:-1]).identity) == hash_identity(identity)
    assert line.count(b"\n") == 1  # a file is read line by line


@given(fits)
def test_a_line_is_plain_json_that_others_can_read(record):
    line = encode_line(record)
    assert line.endswith(b"\n")
    read = json.loads(line)
    assert set(read) - {"check"} <= set(FIT_FIELDS)
    assert (read["split"], read["train_errors"]) == (record.split, record.train_errors)


def test_what_is_not_there_takes_no_room():
    assert encode_line(FitRecord(3, 7)) == b'{"split":3,"train_errors":7,"check":"06248aa1"}\n'


# -- every change is noticed --------------------------------------------------------------------------

FULL = FitRecord(
    12,
    30,
    9,
    train_confusion=[[90, 10], [20, 96]],
    test_confusion=[[25, 2], [7, 20]],
    train_errors_lenient=29,
    choice="C=0.5",
    fit_time=0.25,
    trace=[(0.0, 31.0), (0.125, 30.0)],
    epochs=[1, 2],
    train_curve=[33, 30],
    test_scores=([-1.5, 0.25], [2.0]),
    wall_time=1.5,
)
LINES = {
    "fit": encode_line(FULL),
    "bare": encode_line(FitRecord(0, 0)),
    "measure": encode_line(MeasureRecord(4, Measurement(complexity=7, scores=[0.5, 1.5], flipped=[1]), draw=0)),
    "failed": encode_line(FailedRecord(2, "ValueError: nein, “so” nicht")),
}


def change_every_byte(line: bytes):
    """Yield the line with one byte changed, in several ways: a bit, a digit, a letter's case, white space."""
    for i, byte in enumerate(line):
        digit = (byte - 48 + 1) % 10 + 48 if 48 <= byte <= 57 else 48
        for other in {byte ^ 1, byte ^ 0x20, byte ^ 0x80, digit, 0x0A, 0x20, 0} - {byte}:
            yield line[:i] + bytes([other]) + line[i + 1 :]


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("company", [0, 2])
def test_any_changed_byte_of_a_line_is_noticed(name, company):
    """Alone, and among good lines, with which it is read in one go."""
    kind = "measure" if name == "measure" else "fit"
    good = LINES["measure"] if name == "measure" else LINES["bare"]
    n_good = len(decode_records([LINES[name][:-1]], kind)[0])
    for changed in change_every_byte(LINES[name]):
        raw = good * company + changed + good * company
        *lines, tail = raw.split(b"\n")
        records, failed, damaged = decode_records(lines, kind)
        assert damaged + bool(tail) >= 1, changed
        # A changed line end may take the next line with it; nothing else is lost, and nothing is made up.
        assert 2 * company - 1 <= len(records) <= 2 * company
        assert not failed
        assert {*map(repr, records)} <= {repr(decode_records([good[:-1]], kind)[0][0])}
    assert n_good == (name != "failed")


def test_any_changed_byte_of_a_header_is_noticed():
    header = CellHeader(FORMAT, "fit", 216, 54, {"learner": "fld", "version": 1, "parameters": {"C": 0.5}})
    line = encode_line(header)
    for changed in change_every_byte(line[:-1]):
        with pytest.raises((ValueError, msgspec.MsgspecError)):
            decode_header(changed)


@given(st.data())
def test_lines_cut_or_joined_anywhere_are_noticed(data):
    raw = LINES["fit"] + LINES["bare"] + LINES["failed"]
    start = data.draw(st.integers(0, len(raw) - 1))
    end = data.draw(st.integers(start + 1, len(raw)))
    *lines, tail = (raw[:start] + raw[end:]).split(b"\n")
    records, failed, damaged = decode_records(lines, "fit")
    whole = [FULL, FitRecord(0, 0)]
    assert [r for r in whole if r in records] == records
    if not tail and not damaged:  # then whole lines were cut out, or what leaves the same
        assert set(lines) <= set(raw.splitlines())
    assert len(records) + len(failed) + damaged + bool(tail) <= 3


# -- every misfit is dropped --------------------------------------------------------------------------


def encode_content(content: dict) -> bytes:
    """Return a line with these keys and a check value that matches: written by us, but not a record."""
    fields = [(f"f{i}", object, msgspec.field(name=name)) for i, name in enumerate(content)]
    kind = msgspec.defstruct("Content", fields)
    return encode_line(kind(*content.values()))[:-1]


GOOD = {"split": 1, "train_errors": 2}


@pytest.mark.parametrize(
    "change",
    [
        {"split": -1},
        {"split": 1.5},
        {"split": "1"},
        {"split": None},
        {"split": True},
        {"train_errors": -2},
        {"train_errors": None},
        {"train_errors": [2]},
        {"test_errors": -1},
        {"test_errors": 0.5},
        {"train_confusion": [[1, -1], [0, 0]]},
        {"train_confusion": [1, 2]},
        {"test_confusion": "none"},
        {"fit_time": -0.5},
        {"fit_time": "soon"},
        {"wall_time": -1},
        {"wall_time": None},
        {"trace": [[0.5]]},
        {"trace": [[0.5, 1.0, 2.0]]},
        {"epochs": [1, "two"]},
        {"cost_curve": [None]},
        {"test_scores": [[0.5]]},
        {"test_scores": [[0.5], [0.5], [0.5]]},
        {"test_probabilities": [[0.5]]},
        {"choice": 3},
        {"seconds": 0.5},
        {"hand": "made"},
        {"measured": {}},
        {"failed": "ValueError"},
    ],
)
@pytest.mark.parametrize("company", [0, 1])
def test_what_does_not_fit_its_type_is_dropped_and_counted(change, company):
    """Also where the check value is right: some other version may have written it."""
    lines = (
        [encode_content(GOOD)] * company + [encode_content(GOOD | change)] + [encode_content(GOOD)] * company
    )
    assert decode_records(lines, "fit") == ([FitRecord(1, 2)] * 2 * company, [], 1)


@pytest.mark.parametrize(
    "measured",
    [
        {"complexity": -1},
        {"permutations": 5},
        {"growth": [1], "times": [1]},
        {"flipped_growth_by_size": [1]},
        {"principal_points": 3},
        {"scores": [0.5, 0.5], "flipped": [2]},
        {"scores": [0.5], "flipped_growth_by_size": [1, 2], "flipped_times_by_size": [1, 2]},
        {"scores": [None]},
        {"tea": 3},
        [],
    ],
)
def test_measurements_that_lack_a_part_are_dropped(measured):
    line = encode_content({"split": 0, "measured": measured})
    assert decode_records([line, LINES["measure"][:-1]], "measure")[2] == 1


def test_a_record_of_the_other_kind_is_dropped():
    assert decode_records([LINES["measure"][:-1]], "fit") == ([], [], 1)
    assert decode_records([LINES["fit"][:-1]], "measure") == ([], [], 1)
    assert decode_records([LINES["fit"][:-1], LINES["measure"][:-1]], "fit") == ([FULL], [], 1)


def test_nesting_without_end_is_a_damaged_line():
    body = b'{"split":0,"train_errors":0,"trace":' + b"[" * 100_000
    line = b'%s,"check":"%08x"}' % (body, crc32(body))
    assert decode_records([line], "fit") == ([], [], 1)
    assert decode_records([LINES["bare"][:-1], line], "fit") == ([FitRecord(0, 0)], [], 1)
