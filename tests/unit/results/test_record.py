"""Records and their lines: every field comes back, every change is noticed, every misfit is dropped."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

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


def build_strategy(kind):
    """Return values of a type as msgspec describes it, so that a new field is tried without a word here."""
    if isinstance(kind, inspect.UnionType):
        (kind,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
    if isinstance(kind, inspect.ListType):
        return lists(build_strategy(kind.item_type))
    if isinstance(kind, inspect.TupleType):
        return st.tuples(*map(build_strategy, kind.item_types))
    if isinstance(kind, inspect.FloatType):
        return numbers if kind.ge is None else seconds
    return {inspect.IntType: counts, inspect.StrType: texts}[type(kind)]


FIT_FIELDS = {field.name: build_strategy(field.type) for field in inspect.type_info(FitRecord).fields}
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


# -- every field comes back ---------------------------------------------------------------------------


@given(st.lists(st.one_of(fits, failures), max_size=6), st.lists(st.one_of(measures, failures), max_size=4))
def test_records_and_failures_come_back(fitted, measured):
    for kind, records in (("fit", fitted), ("measure", measured)):
        good = [r for r in records if not isinstance(r, FailedRecord)]
        failed = [r for r in records if isinstance(r, FailedRecord)]
        assert decode_records([encode_line(record)[:-1] for record in records], kind) == (good, failed, 0)


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
def test_any_changed_byte_of_a_line_is_noticed(name):
    """Among good lines, of which a changed line end may take the next with it."""
    company = 2
    kind = "measure" if name == "measure" else "fit"
    good = LINES["measure"] if name == "measure" else LINES["bare"]
    for changed in change_every_byte(LINES[name]):
        raw = good * company + changed + good * company
        *lines, tail = raw.split(b"\n")
        records, failed, damaged = decode_records(lines, kind)
        assert damaged + bool(tail) >= 1, changed
        assert 2 * company - 1 <= len(records) <= 2 * company
        assert not failed
        assert {*map(repr, records)} <= {repr(decode_records([good[:-1]], kind)[0][0])}


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
    """Return a line with these keys and a checksum that matches: written by us, but not a record."""
    fields = [(f"f{i}", object, msgspec.field(name=name)) for i, name in enumerate(content)]
    kind = msgspec.defstruct("Content", fields)
    return encode_line(kind(*content.values()))[:-1]


GOOD = {"split": 1, "train_errors": 2}


MISFITS = [
    *({"split": wrong} for wrong in (-1, 1.5, "1", None, True)),
    *({"train_errors": wrong} for wrong in (-2, None, [2])),
    *({"test_errors": wrong} for wrong in (-1, 0.5)),
    *({"train_confusion": wrong} for wrong in ([[1, -1], [0, 0]], [1, 2], "none")),
    *({"fit_time": wrong} for wrong in (-0.5, "soon")),
    *({"wall_time": wrong} for wrong in (-1, None)),
    *({"trace": wrong} for wrong in ([[0.5]], [[0.5, 1.0, 2.0]])),
    *({"epochs": [1, "two"]}, {"cost_curve": [None]}, {"choice": 3}, {"test_probabilities": [[0.5]]}),
    *({"test_scores": wrong} for wrong in ([[0.5]], [[0.5], [0.5], [0.5]])),
    *({"seconds": 0.5}, {"hand": "made"}, {"measured": {}}, {"failed": "ValueError"}),
]
INCOMPLETE_MEASUREMENTS = [
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
]


def test_what_does_not_fit_its_type_is_dropped_and_counted():
    lines = [encode_content(GOOD), *(encode_content(GOOD | change) for change in MISFITS), encode_content(GOOD)]
    assert decode_records(lines, "fit") == ([FitRecord(1, 2)] * 2, [], len(MISFITS))


def test_measurements_that_lack_a_part_are_dropped():
    lines = [encode_content({"split": 0, "measured": measured}) for measured in INCOMPLETE_MEASUREMENTS]
    records, _, n_damaged = decode_records([*lines, LINES["measure"][:-1]], "measure")
    assert (len(records), n_damaged) == (1, len(lines))


def test_a_record_of_the_other_kind_is_dropped():
    assert decode_records([LINES["measure"][:-1]], "fit") == ([], [], 1)
    assert decode_records([LINES["fit"][:-1]], "measure") == ([], [], 1)
    assert decode_records([LINES["fit"][:-1], LINES["measure"][:-1]], "fit") == ([FULL], [], 1)
