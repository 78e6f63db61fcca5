"""Remove rows that look like noise from a table: kept lines are unchanged, dropped rows have reasons."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from zoloss_cli.api.complexity import MAX_SAMPLES, TableSamples, explain_errors, load_samples
from zoloss_cli.api.fit import describe_classes, describe_table
from zoloss_cli.complexity.outliers import PruningResult, prune
from zoloss_cli.config.models import Prune
from zoloss_cli.data.columns import ALL_COLUMNS, ColumnSelection
from zoloss_cli.data.read import PARQUET, ZIP, convert_to_utf8, name_source, parse_rows, read_source, unpack
from zoloss_cli.data.user_table import CsvTable, read_for_training
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.warming import COMPLEXITY_COMPILE_SECONDS, announce_compilation
from zoloss_cli.report.render import write_csv

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
MISSING = "missing value"  # the reason for dropping a row
COLUMN_SIDES = ("left", "right", "right")


@dataclass(frozen=True)
class SourceFile:
    """A table, and the exact bytes that it was read from."""

    table: CsvTable
    content: bytes

    @cached_property
    def records(self) -> list[tuple[int, str]]:
        """The line where each row begins and its label, including rows with missing values."""
        encoded, _ = convert_to_utf8(self.table.path, self.content)
        header, rows = parse_rows(self.table.path, encoded.decode())
        at = header.index(self.table.label)
        return [(line, row[at]) for line, row in rows]

    def remove_rows(self, lines: set[int]) -> bytes:
        """Return the file without the rows that begin on these lines; all others are unchanged."""
        # A row ends where the next one begins: a quoted field may span several lines.
        texts, starts = LINE.findall(self.content), [line for line, _ in self.records]
        ends = [*(start - 1 for start in starts[1:]), len(texts)]
        parts = [texts[: starts[0] - 1]]
        parts += [texts[start - 1 : end] for start, end in zip(starts, ends, strict=True) if start not in lines]
        return b"".join(text for part in parts for text in part)


def read_source_file(
    path: Path, label: str | None, missing: str, selection: ColumnSelection = ALL_COLUMNS
) -> SourceFile:
    """Read a table of text lines and keep its bytes, uncompressed."""
    content = unpack(name_source(path), read_source(path))
    if content.startswith((PARQUET, ZIP, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path} has no lines that could be kept unchanged: save it as CSV in UTF-8 first")
    return SourceFile(read_for_training(path, label, missing, content, selection), content)


@dataclass(frozen=True)
class DroppedRow:
    """A dropped row, by its line and label; `score` is None if no score was needed."""

    line: int
    label: str
    score: float | None
    reason: str


@dataclass(frozen=True)
class PrunedTable:
    """The result of pruning a file."""

    source: SourceFile  # the file
    samples: TableSamples  # its samples, without missing values and contradicted samples
    y: np.ndarray  # the class of each row of the table
    classes: list[str]
    how: Prune  # the noise criterion
    result: PruningResult  # which samples are kept and dropped
    dropped: list[DroppedRow]  # the dropped rows, by line

    def render_kept(self) -> bytes:
        """Return the file without the dropped rows."""
        return self.source.remove_rows({row.line for row in self.dropped})

    def render_report(self) -> bytes:
        """Return the dropped rows as CSV."""
        lines = [
            [row.line, row.label, "" if row.score is None else row.score, row.reason] for row in self.dropped
        ]
        return (write_csv(["line", "label", "score", "reason"], lines) + "\n").encode()

    def count_rows(self) -> list[tuple[str, int, int]]:
        """Return each class with its numbers of kept and dropped rows, without missing values."""
        kept, y = np.zeros(len(self.y), bool), self.y
        kept[self.samples.rows[self.result.kept]] = True
        return [
            (name, int(np.sum(kept & (y == k))), int(np.sum(~kept & (y == k))))
            for k, name in enumerate(self.classes)
        ]

    def list_notes(self) -> list[str]:
        """Return notes about the table, and about rows that are kept although they look like noise."""
        table, lines = self.source.table, self.samples.lines
        spared = [
            f"{table.path}:{lines[row]}: above the threshold, but kept as the last row of the class "
            f"'{self.samples.classes[self.samples.y[row]]}'"
            for row in self.result.spared
        ]
        return [*self.samples.list_notes(), *spared]


def build_prune_settings(
    by: str, threshold: float | None, permutations: int | None, neighbours: int | None
) -> Prune:
    """Return how to prune, and reject contradictory options; None means a default."""
    if threshold is not None and math.isnan(threshold):
        raise ConfigError("--threshold: must be a number (got nan)")
    if permutations is not None and by != "contribution":
        raise ConfigError("--permutations belongs to --by contribution; leave it out")
    if neighbours is not None and by != "neighbours":
        raise ConfigError("--neighbours belongs to --by neighbours; leave it out, or add that")
    settings = {"by": by, "threshold": threshold, "permutations": permutations, "neighbours": neighbours}
    return Prune.model_validate({key: value for key, value in settings.items() if value is not None})


def choose_targets(out: Path | None, report: Path | None) -> tuple[Path, Path]:
    """Return the files to write: the kept rows, and the report on dropped ones."""
    if out is None:
        raise ConfigError("--out FILE is needed for the kept rows; --dry-run only counts them")
    return out, report or out.with_name(f"{out.stem}.dropped.csv")


def prune_table(
    source: SourceFile, how: Prune, positive: str | None, scaling: str, seed: int, start_progress: Callable
) -> PrunedTable:
    """Find the rows of a file to drop."""
    samples = load_samples(source.table, positive, scaling)
    n, path = len(samples), source.table.path
    if how.by == "contribution" and n > MAX_SAMPLES:
        raise DataError(
            f"{path} has {n:,} rows, but contributions are limited to {MAX_SAMPLES:,}: use --by neighbours"
        )
    with explain_errors(samples), announce_compilation(COMPLEXITY_COMPILE_SECONDS):
        result = prune(samples.X, samples.y, how, seed, start_progress())
    y, classes = source.table.index_classes(positive)
    read = set(source.table.lines)
    dropped = [
        *_list_contradicted(source.table, y, samples.contradicted),
        *_list_noise(samples, how, result),
        *(DroppedRow(line, label, None, MISSING) for line, label in source.records if line not in read),
    ]
    dropped.sort(key=lambda row: row.line)
    return PrunedTable(source, samples, y, classes, how, result, dropped)


def render_text(pruned: PrunedTable) -> str:
    """Return how many rows of each class are kept and dropped."""
    from tabulate import tabulate

    samples, how, result = pruned.samples, pruned.how, pruned.result
    counts = pruned.count_rows()
    counts.append(("all", sum(kept for _, kept, _ in counts), sum(dropped for *_, dropped in counts)))
    above = len(result.dropped) - len(result.contradicted)
    opposed, several = len(samples.contradicted) + len(result.contradicted), len(samples.classes) > 2
    other = "another" if several else "the other"
    largest = ", the largest of one class against the rest" * several
    by = (
        f"contribution above {result.threshold:g}, on average over {how.permutations:,} random orders{largest}"
        if how.by == "contribution"
        else f"share of {how.neighbours:,} neighbours with {other} label above {result.threshold:g}"
    )
    shown = [[name, f"{kept:,}", f"{dropped:,}"] for name, kept, dropped in counts]
    n_missing = pruned.source.table.dropped
    missing = f", {n_missing:,} have a missing value" if n_missing else ""
    table = tabulate(shown, ["class", "kept", "dropped"], disable_numparse=True, colalign=COLUMN_SIDES)
    return (
        f"data      {describe_table(samples.table)}\n"
        f"classes   {describe_classes(pruned.classes, pruned.y)}\n"
        f"noise     {by}\n\n{table}\n"
        f"(dropped: {above:,} as noise, {opposed:,} with equal features and {other} label{missing})"
    )


def _list_noise(samples: TableSamples, how: Prune, result: PruningResult) -> list[DroppedRow]:
    """Return the rows above the threshold, and those that equal others once scaled."""
    lines, labels = samples.lines, samples.labels
    other = "another" if len(samples.classes) > 2 else "the other"
    neighbours = min(how.neighbours, len(lines) - len(result.contradicted) - 1)
    dropped = []
    for row in result.dropped.tolist():
        score = float(result.scores[row])
        reason = f"contribution {score:g} above {result.threshold:g}"
        if math.isnan(score):
            reason = "equal features once scaled, other label"
        elif how.by == "neighbours":
            opposed = f"{round(score * neighbours)} of {neighbours} neighbours have {other} label"
            reason = f"{opposed}, a share above {result.threshold:g}"
        dropped.append(DroppedRow(lines[row], labels[row], None if math.isnan(score) else score, reason))
    return dropped


def _list_contradicted(table: CsvTable, y: np.ndarray, contradicted: np.ndarray) -> list[DroppedRow]:
    """Return the contradicted rows, each with the number and the first line of those that contradict it."""
    place = np.unique(table.X, axis=0, return_inverse=True)[1].ravel()
    members: dict[int, list[int]] = {}
    for row in np.flatnonzero(np.isin(place, place[contradicted])).tolist():
        members.setdefault(place[row], []).append(row)
    dropped, labels = [], table.labels or []
    for row in contradicted.tolist():
        others = [each for each in members[place[row]] if y[each] != y[row]]
        count = f"{len(others):,} row{'s' * (len(others) != 1)}"
        reason = f"equal features, other label in {count}, first in line {table.lines[others[0]]}"
        dropped.append(DroppedRow(table.lines[row], labels[row], None, reason))
    return dropped
