"""From an original UCI file to the embedded table: what each recipe key of `catalog.yaml` means.

Every original is a headerless text file with one record a line; what differs is the separator, the place
of the class, and a few columns and codes. The recipe lists those differences, so that a reader can check
them against the archive's description without reading code.
"""

from __future__ import annotations

import csv
import functools
import re
from collections import Counter
from pathlib import Path

from zoloss_cli.datasets.catalog import Entry

Row = list[str]

LISTED_DIFFERENCES = 20
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class UnexpectedFileError(ValueError):
    """The text does not have the shape that the recipe describes; the message says where."""


@functools.lru_cache(maxsize=2**16)
def plain(value: str) -> str:
    """A number in its shortest spelling, as the embedded files write it; other text unchanged.

    Spellings are equal exactly when the numbers are equal as doubles, so rows can be compared as text.
    """
    if not NUMBER.fullmatch(value):
        return value
    return repr(float(value) + 0.0).removesuffix(".0")


def embedded_table(entry: Entry) -> tuple[Row, list[Row]]:
    """Header and rows of the embedded copy, which the fetched table has to reproduce."""
    with entry.path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, [[plain(value) for value in row] for row in rows]


def convert(entry: Entry, filename: str, content: bytes) -> list[Row]:
    """The rows of one original file: features in the embedded order, then the label."""
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise UnexpectedFileError(f"{filename} is not a text file") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            row = _converted_record(entry, f"line {number} of {filename}", line)
            if row is not None:
                rows.append(row)
    if not rows:
        raise UnexpectedFileError(f"{filename} holds no records")
    return rows


def _converted_record(entry: Entry, place: str, line: str) -> Row | None:
    """One record as a row of the embedded table, or None where the recipe drops it."""
    recipe = entry.uci
    letters = recipe.get("letters")
    dropped_columns = recipe.get("drop", [])
    separator = recipe["separator"]
    fields = line.split() if separator == "whitespace" else [field.strip() for field in line.split(separator)]
    expected = (1 if letters else entry.features) + len(dropped_columns) + 1
    if len(fields) != expected:
        raise UnexpectedFileError(f"{place} has {len(fields)} fields, not {expected}")

    label_column = 0 if recipe["label"] == "first" else len(fields) - 1
    label = fields[label_column]
    features = [field for i, field in enumerate(fields) if i != label_column and i not in dropped_columns]
    if recipe.get("drop_rows_with") in features:
        return None
    if letters:
        (sequence,) = features
        if not set(sequence) <= set(letters):
            return None
        features = [indicator for letter in sequence for indicator in letters[letter]]
        if len(features) != entry.features:
            raise UnexpectedFileError(f"{place} gives {len(features)} features, not {entry.features}")

    recode = recipe.get("recode", {})
    features = [recode.get("features", {}).get(value, value) for value in features]
    label = recode.get("label", {}).get(label, label)
    return [plain(value) for value in (*features, label)]


def differences(entry: Entry, header: Row, fetched: list[Row], embedded: list[Row]) -> list[str]:
    """How the fetched rows differ from the embedded ones, a line each; nothing if every value is equal."""
    if fetched == embedded:
        return []
    if entry.uci.get("row_order") == "lost":
        partition = ""
        if entry.train_rows:
            partition = f" and the first {entry.train_rows} rows are not the training set"
        order = f"the embedded row order is unknown to the archive: compared as multisets{partition}"
        return [order, *_unmatched_rows(fetched, embedded)]
    if len(fetched) != len(embedded):
        counts = f"{len(fetched)} rows, the embedded copy has {len(embedded)}"
        return [counts, *_unmatched_rows(fetched, embedded)]
    found = [
        f"row {number}, column {column}: {new}, the embedded copy has {old}"
        for number, (new_row, old_row) in enumerate(zip(fetched, embedded, strict=True), start=1)
        for column, new, old in zip(header, new_row, old_row, strict=True)
        if new != old
    ]
    unlisted = len(found) - LISTED_DIFFERENCES
    return found[:LISTED_DIFFERENCES] + ([f"and {unlisted} more values"] if unlisted > 0 else [])


def _unmatched_rows(fetched: list[Row], embedded: list[Row]) -> list[str]:
    """Counts of the rows that only one side has, whatever their order, and where the first one is."""
    lines = []
    sides = (("fetched file", fetched, embedded), ("embedded copy", embedded, fetched))
    for side, rows, others in sides:
        surplus = Counter(map(tuple, rows)) - Counter(map(tuple, others))
        if surplus:
            first = next(number for number, row in enumerate(rows, start=1) if tuple(row) in surplus)
            lines.append(f"rows only in the {side}: {surplus.total()}, the first is row {first}")
    return lines


def write_table(path: Path, header: Row, rows: list[Row]) -> None:
    """The table in the embedded files' CSV dialect, so that equal tables are equal files."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
