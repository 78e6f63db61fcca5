"""One's own table without the rows that look like noise: the lines as they were, and why others are gone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from zoloss_cli.complexity.pruning import PruningResult, find_contradicted, prune
from zoloss_cli.config.models import Prune
from zoloss_cli.datasets.csv_reader import read_content, read_rows
from zoloss_cli.datasets.csv_table import CsvTable, read_for_training
from zoloss_cli.errors import DataError
from zoloss_cli.workflows.complexity import MOST_ROWS, Examples, examples_of, explained
from zoloss_cli.workflows.fit_text import classes_text, table_text

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
MISSING = "missing value"
SIDES = ("left", "right", "right")


@dataclass(frozen=True)
class OwnFile:
    """A table and the very bytes that it was read from."""

    table: CsvTable
    content: bytes

    @cached_property
    def records(self) -> list[tuple[int, str]]:
        """(the line where it begins, label) of each row, also of those with missing values."""
        header, rows = read_rows(self.table.path, self.content)
        at = header.index(self.table.label)
        return [(line, row[at]) for line, row in rows]

    def without(self, lines: set[int]) -> bytes:
        """The file without the rows that begin on these lines; all others are as they were."""
        # A row ends where the next one begins: a quoted field may go over several lines.
        texts, starts = LINE.findall(self.content), [line for line, _ in self.records]
        ends = [*(start - 1 for start in starts[1:]), len(texts)]
        parts = [texts[: starts[0] - 1]]
        parts += [texts[start - 1 : end] for start, end in zip(starts, ends, strict=True) if start not in lines]
        return b"".join(text for part in parts for text in part)


def read_own_file(path: Path, label: str | None, missing: str) -> OwnFile:
    content = read_content(path)
    return OwnFile(read_for_training(path, label, missing, content), content)


@dataclass(frozen=True)
class Dropped:
    """A row that is left out; `score` is None where no score was needed."""

    line: int
    label: str
    score: float | None
    reason: str


@dataclass(frozen=True)
class Cleaned:
    """What became of a file's rows."""

    file: OwnFile
    examples: Examples
    how: Prune
    pruned: PruningResult
    dropped: list[Dropped]  # by line

    def kept_text(self) -> bytes:
        return self.file.without({row.line for row in self.dropped})

    def report_text(self) -> bytes:
        """The rows that are left out, as CSV."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["line", "label", "score", "reason"])
        writer.writerows(
            [row.line, row.label, "" if row.score is None else row.score, row.reason] for row in self.dropped
        )
        return out.getvalue().encode()

    def counts(self) -> list[tuple[str, int, int]]:
        """(class, rows that are kept, rows that are left out) of each class, without missing values."""
        kept, y = np.zeros(len(self.examples), bool), self.examples.y
        kept[self.pruned.kept] = True
        return [
            (name, int(np.sum(kept & (y == k))), int(np.sum(~kept & (y == k))))
            for k, name in enumerate(self.examples.classes)
        ]

    def notes(self) -> list[str]:
        table, lines = self.file.table, self.examples.lines
        spared = [
            f"{table.path}, line {lines[row]}: above the threshold, but nothing else would be left of the "
            f"class '{self.examples.classes[self.examples.y[row]]}', so it stays"
            for row in self.pruned.spared
        ]
        return [*table.notes, *spared]


def as_text(cleaned: Cleaned) -> str:
    """What is kept and left out, by class."""
    from tabulate import tabulate

    examples, how, pruned = cleaned.examples, cleaned.how, cleaned.pruned
    rows = cleaned.counts()
    rows.append(("all", *(sum(row[i] for row in rows) for i in (1, 2))))
    opposed = len(pruned.contradicted)
    above = len(pruned.dropped) - opposed
    by = (
        f"contribution above {pruned.threshold:g}, on average over {how.permutations:,} random orders"
        if how.by == "contribution"
        else f"share of {how.neighbours:,} neighbours with the other label above {pruned.threshold:g}"
    )
    shown = [[name, f"{kept:,}", f"{dropped:,}"] for name, kept, dropped in rows]
    missing = f", {cleaned.file.table.dropped:,} have a missing value" * bool(cleaned.file.table.dropped)
    return "\n".join(
        [
            f"data      {table_text(examples.table)}",
            f"classes   {classes_text(examples.classes, examples.y)}",
            f"noise     {by}",
            "",
            tabulate(shown, ["class", "kept", "dropped"], disable_numparse=True, colalign=SIDES),
            f"(dropped: {above:,} as noise, {opposed:,} whose equals have the other label{missing})",
        ]
    )


def clean(file: OwnFile, how: Prune, positive: str | None, scaling: str, seed: int, tell: Callable) -> Cleaned:
    """Find the rows to leave out; `tell` starts a stage and returns its progress callback."""
    examples = examples_of(file.table, positive, scaling)
    n, path = len(examples), file.table.path
    if how.by == "contribution" and n > MOST_ROWS:
        raise DataError(
            f"{path} has {n:,} rows, and contributions are found of {MOST_ROWS:,} at most: take --by neighbours"
        )
    rest = np.setdiff1d(np.arange(n), find_contradicted(examples.X, examples.y))  # those that get a score
    with explained(examples, rest):
        pruned = prune(examples.X, examples.y, how, seed, tell())
    return Cleaned(file, examples, how, pruned, _dropped_rows(file, examples, how, pruned))


def _dropped_rows(file: OwnFile, examples: Examples, how: Prune, pruned: PruningResult) -> list[Dropped]:
    lines, labels, opposed = examples.lines, examples.labels, _oppositions(examples, pruned.contradicted)
    how = how.model_copy(update={"neighbours": min(how.neighbours, len(lines) - len(opposed) - 1)})
    found = []
    for row in pruned.dropped.tolist():
        score = None if row in opposed else float(pruned.scores[row])
        reason = opposed[row] if row in opposed else _excess(how, score, pruned.threshold)
        found.append(Dropped(lines[row], labels[row], score, reason))
    read = set(file.table.lines)
    found += [Dropped(line, label, None, MISSING) for line, label in file.records if line not in read]
    return sorted(found, key=lambda row: row.line)


def _oppositions(examples: Examples, contradicted_rows: np.ndarray) -> dict[int, str]:
    """For each of these rows, what is known of those with equal features and another label."""
    place = np.unique(examples.X, axis=0, return_inverse=True)[1].ravel()
    members: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(np.isin(place, place[contradicted_rows])).tolist():
        members.setdefault((place[row], examples.y[row]), []).append(row)
    found = {}
    for row in contradicted_rows.tolist():
        others = members[place[row], 1 - examples.y[row]]
        count = f"{len(others):,} row{'s' * (len(others) != 1)}"
        found[row] = f"equal features, other label in {count}, first in line {examples.lines[others[0]]}"
    return found


def _excess(how: Prune, score: float, threshold: float) -> str:
    if how.by == "neighbours":
        opposed = round(score * how.neighbours)
        return f"{opposed} of {how.neighbours} neighbours have the other label, a share above {threshold:g}"
    return f"contribution {score:g} above {threshold:g}"
