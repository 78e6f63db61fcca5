"""From an original UCI file to the embedded table: what each recipe key of `catalog.yaml` means.

Every original is a headerless text file with one record per line; they differ in the separator, the place of
the class, and a few columns and codes. The recipe lists those differences, so that readers can check them
against the archive's description without reading code.
"""

from __future__ import annotations

import csv
import functools
import io
import re
from collections import Counter

from zoloss_cli.config.catalog import CatalogEntry, UciRecipe

Row = list[str]

MAX_LISTED_DIFFERENCES = 20
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class UnexpectedFileError(ValueError):
    """A file does not have the shape that the recipe describes; the message says where."""


@functools.lru_cache(maxsize=2**16)
def shorten_number(value: str) -> str:
    """Return a number in its shortest spelling, as the embedded files write it; other text unchanged.

    Spellings are equal exactly when the numbers are equal as doubles, so rows can be compared as text.
    """
    if not NUMBER.fullmatch(value):
        return value
    return repr(float(value) + 0.0).removesuffix(".0")


def read_embedded_rows(entry: CatalogEntry) -> tuple[Row, list[Row]]:
    """Return header and rows of the embedded copy, which the fetched table must reproduce."""
    with entry.path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, [[shorten_number(value) for value in row] for row in rows]


def convert_file(entry: CatalogEntry, recipe: UciRecipe, filename: str, content: bytes) -> list[Row]:
    """Return the rows of one original file: features in the embedded order, then the label.

    Parameters
    ----------
    entry : CatalogEntry
        The embedded table.
    recipe : UciRecipe
        How it is made from the original.
    filename : str
        The original's name, for messages.
    content : bytes
        The original.

    Raises
    ------
    UnexpectedFileError
        If the file is not what the recipe describes.
    """
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise UnexpectedFileError(f"{filename} is not a text file") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            row = _convert_record(recipe, entry.features, f"line {number} of {filename}", line)
            if row is not None:
                rows.append(row)
    if not rows:
        raise UnexpectedFileError(f"{filename} holds no records")
    return rows


def _convert_record(recipe: UciRecipe, n_features: int, place: str, line: str) -> Row | None:
    """Return one record as a row of the embedded table, or None if the recipe drops it."""
    if recipe.separator == "whitespace":
        fields = line.split()
    else:
        fields = [field.strip() for field in line.split(recipe.separator)]
    expected = (1 if recipe.letters else n_features) + len(recipe.drop) + 1
    if len(fields) != expected:
        raise UnexpectedFileError(f"{place} has {len(fields)} fields, not {expected}")

    label_column = 0 if recipe.label == "first" else len(fields) - 1
    label = fields[label_column]
    features = [field for i, field in enumerate(fields) if i != label_column and i not in recipe.drop]
    if recipe.drop_rows_with in features:
        return None
    if recipe.letters:
        (sequence,) = features
        if not set(sequence) <= set(recipe.letters):
            return None
        features = [indicator for letter in sequence for indicator in recipe.letters[letter]]
        if len(features) != n_features:
            raise UnexpectedFileError(f"{place} gives {len(features)} features, not {n_features}")

    features = [recipe.recode.features.get(value, value) for value in features]
    label = recipe.recode.label.get(label, label)
    return [shorten_number(value) for value in (*features, label)]


def list_differences(entry: CatalogEntry, header: Row, fetched: list[Row], embedded: list[Row]) -> list[str]:
    """Return how the fetched rows differ from the embedded ones, one line each; empty if they do not."""
    if fetched == embedded:
        return []
    if entry.uci is not None and entry.uci.row_order == "lost":
        partition = ""
        if entry.train_rows:
            partition = f" and the first {entry.train_rows} rows are not the training set"
        order = f"the embedded row order is unknown to the archive: compared as multisets{partition}"
        return [order, *_count_unmatched_rows(fetched, embedded)]
    if len(fetched) != len(embedded):
        counts = f"{len(fetched)} rows, the embedded copy has {len(embedded)}"
        return [counts, *_count_unmatched_rows(fetched, embedded)]
    found = [
        f"row {number}, column {column}: {new}, the embedded copy has {old}"
        for number, (new_row, old_row) in enumerate(zip(fetched, embedded, strict=True), start=1)
        for column, new, old in zip(header, new_row, old_row, strict=True)
        if new != old
    ]
    unlisted = len(found) - MAX_LISTED_DIFFERENCES
    return found[:MAX_LISTED_DIFFERENCES] + ([f"and {unlisted} more values"] if unlisted > 0 else [])


def _count_unmatched_rows(fetched: list[Row], embedded: list[Row]) -> list[str]:
    """Return counts of the rows that only one side has, in any order, and where the first one is."""
    lines = []
    sides = (("fetched file", fetched, embedded), ("embedded copy", embedded, fetched))
    for side, rows, others in sides:
        surplus = Counter(map(tuple, rows)) - Counter(map(tuple, others))
        if surplus:
            first = next(number for number, row in enumerate(rows, start=1) if tuple(row) in surplus)
            lines.append(f"rows only in the {side}: {surplus.total()}, the first is row {first}")
    return lines


def format_rows(header: Row, rows: list[Row]) -> bytes:
    """Return a table in the CSV dialect of the embedded files, so that equal tables are equal files."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()
