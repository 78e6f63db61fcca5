"""All published numbers in one table: each is counted once, and the counts are those of the compared cells."""

from __future__ import annotations

import csv
import io
import math

import pytest
from places import TOP
from reference_runs import REFERENCE, compare_reference, find_reference_run, load_reference

from zoloss_cli.report.agreement import DIMENSIONS, HEADER, summarize_published
from zoloss_cli.report.compare import DATA, compare_run, drop_repeated
from zoloss_cli.report.papers import AGREEMENT, INDEPENDENT
from zoloss_cli.utils.files import PUBLISHED_FOLDER

PARTS = [
    *AGREEMENT.values(),
    "on other data",
    DIMENSIONS,
    "without a test: too uncertain",
    "seconds",
    "repeated in a second table",
    "not in these results",
    "left empty in the paper",
]


def read_published_rows():
    with (PUBLISHED_FOLDER / "tables.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def counts():
    grid = summarize_published(load_reference(), compare_reference())
    return {line[0]: dict(zip(HEADER[1:], line[1:], strict=True)) for line in grid.lines}


def count(row):
    return int(row["count"].replace(",", ""))


def test_every_published_number_is_counted_once(counts):
    rows = read_published_rows()
    assert count(counts["all"]) == len(rows)
    assert sum(count(counts[part]) for part in PARTS) == len(rows)
    assert count(counts["left empty in the paper"]) == sum(row["value"] == "" for row in rows)
    keys = [(row["paper"], row["table"], row["dataset"], row["learner"], row["metric"]) for row in rows]
    assert len(set(keys)) == len(keys)


def test_the_numbers_are_those_of_the_cells(counts):
    cells = [c for c in drop_repeated(compare_reference()) if not c.apart and c.learner != DATA]
    tested = [cell for cell in cells if not math.isnan(cell.z)]
    headline = "stated, or from the authors' program"
    classes = {words: {key} for key, words in AGREEMENT.items()}
    for name, keys in (classes | {headline: set(INDEPENDENT), "all four classes": set(AGREEMENT)}).items():
        part = [cell for cell in tested if cell.agreement in keys]
        assert int(counts[name]["with z"]) == len(part)
        within = sum(abs(cell.z) <= 2 for cell in part)
        assert counts[name]["|z| <= 2"] == f"{within} ({100 * within / len(part):.1f} %)"
    equal = [c for c in cells if c.match == "=" and c.agreement in INDEPENDENT]
    assert int(counts[headline]["equal"]) == len(equal)
    halves = [counts[f"- on {kind} data"] for kind in ("real", "generated")]
    assert sum(map(count, halves)) == count(counts[headline])


def test_one_table_alone_lacks_only_its_own_numbers():
    run = find_reference_run("4.5")
    rows = [row for row in read_published_rows() if (row["paper"], row["table"]) == ("li-thesis-2006", "4.5")]
    lines = {line[0]: line for line in summarize_published([run], compare_run(run), every=False).lines}
    assert int(lines["all"][1]) == len(rows)
    assert int(lines["not in these results"][1]) == len(rows) - len(run.cells)


def test_the_command_and_the_first_screen_of_readme(zoloss):
    ended = zoloss.ok("compare", REFERENCE, "--summary")
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    assert ended.out.strip() in readme.partition("\n## ")[0]
    table = zoloss("compare", REFERENCE, "--summary", "--format", "csv").out
    assert next(csv.reader(io.StringIO(table))) == HEADER
