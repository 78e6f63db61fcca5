"""The list of learners: a line each, what their classes say, and a width that is kept."""

from __future__ import annotations

import csv

import pytest

from zoloss_cli.api import info as learner_table
from zoloss_cli.registry import LEARNERS, MEASURES
from zoloss_cli.utils.signature import find_source


@pytest.fixture(scope="module")
def tables():
    return learner_table.list_learners().split("\n\n")


def read(table):
    header, *lines = table.splitlines()
    starts = [header.index(word) for word in header.split()]
    cells = [[line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)] for line in lines]
    return {row[0]: dict(zip(header.split(), row, strict=True)) for row in cells}


def test_each_learner_and_measure_has_one_line(tables):
    learners, measures = read(tables[0]), read(tables[1])
    assert list(learners) == list(LEARNERS.list_usable())
    assert list(measures) == list(MEASURES)


def test_columns_say_what_the_classes_say(tables):
    shown = read(tables[0])
    assert (shown["ecc"]["classes"], shown["fld"]["classes"]) == ("several", "two")
    assert (shown["rcd-bias"]["weights"], shown["lr"]["weights"]) == ("yes", "no")
    assert shown["rcd-bias"]["source"] == "Li & Lin (2007), Section III"
    assert shown["pivot"]["source"] == "zoloss"
    assert all(row["source"] and row["time"] for row in shown.values())


def test_every_built_in_learner_was_measured():
    with learner_table.SPEEDS.open(encoding="utf-8", newline="") as file:
        rows = {row["learner"]: row["seconds"] for row in csv.DictReader(file)}
    assert list(rows) == list(LEARNERS.builtin), "run `make speeds`"
    assert all(not text or float(text) > 0 for text in rows.values())


@pytest.mark.parametrize("width", [200, 120, 100, 80, 60, 40, 10, 3])
def test_no_line_is_wider_than_the_terminal(width):
    text = learner_table.list_learners(width)
    assert max(len(line) for line in text.partition("\n\nclasses:")[0].splitlines()) <= width
    assert len(text.partition("\n\n")[0].splitlines()) == 1 + len(LEARNERS.list_usable())


def test_a_description_is_cut_at_a_word_and_left_out_where_it_would_be_too_narrow():
    lines = [["fld", "Fisher's linear discriminant of two classes"]]
    cut = learner_table.render_lines(["name", "text"], lines, 32)
    assert cut.splitlines()[1] == "fld   Fisher's linear ..."
    assert learner_table.render_lines(["name", "text"], lines, 12) == "name\nfld"
    assert learner_table.render_lines(["name", "text"], [["fld", "short"]], 12).splitlines()[1] == "fld   short"


@pytest.mark.parametrize(
    ("reference", "source"),
    [
        ("Li, L. and Lin, H.-T. (2007). Optimizing. IJCNN. Eq. (2).", "Li & Lin (2007), Eq. (2)"),
        ("Allwein, E. L., Schapire, R. E. and Singer, Y. (2000). Reducing.", "Allwein et al. (2000)"),
        (
            "Nguyen, T. and Sanner, S. (2013). Algorithms for it. ICML. Section 3, Figure 3.",
            "Nguyen & Sanner (2013), Section 3",
        ),
        ("Own algorithm, after Li, L. (2006).", "zoloss"),
        ('Course notes "The Perceptron" (003). Eq. (2).', '"The Perceptron", Eq. (2)'),
    ],
)
def test_a_source_is_authors_year_and_place(reference, source):
    assert (
        find_source(f"Do it.\n\nReferences\n----------\n.. [1] {reference}\n\nExamples\n--------\n") == source
    )
    assert find_source("Do it.") == ""
