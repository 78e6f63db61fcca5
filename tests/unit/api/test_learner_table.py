"""The list of learners: a line each, what their classes say, and a width that is kept."""

from __future__ import annotations

import csv
import re

from zoloss_cli.api import info as learner_table
from zoloss_cli.registry import LEARNERS, MEASURES, find_registration
from zoloss_cli.utils.signature import find_source


def read(table):
    header, *lines = table.splitlines()
    starts = [header.index(word) for word in header.split()]
    cells = [[line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)] for line in lines]
    return {row[0]: dict(zip(header.split(), row, strict=True)) for row in cells}


def test_each_learner_and_measure_has_one_line_that_says_what_its_class_says():
    tables = learner_table.list_learners().split("\n\n")
    shown, measures = read(tables[0]), read(tables[1])
    assert list(shown) == list(LEARNERS.list_usable())
    assert list(measures) == list(MEASURES)
    assert (shown["ecc"]["classes"], shown["fld"]["classes"]) == ("several", "two")
    assert (shown["rcd-bias"]["weights"], shown["lr"]["weights"]) == ("yes", "no")
    assert shown["rcd-bias"]["source"] == "Li & Lin (2007), Section III"
    assert shown["pivot"]["source"] == "zoloss"
    assert all(row["source"] for row in shown.values())
    assert shown["rcd-bias"]["time"]


def test_measured_times_are_of_learners():
    with learner_table.SPEEDS.open(encoding="utf-8", newline="") as file:
        rows = {row["learner"]: row["seconds"] for row in csv.DictReader(file)}
    assert set(rows) <= set(LEARNERS.builtin)
    assert {"rcd-bias", "lr", "certify"} <= set(rows)
    assert all(not text or float(text) > 0 for text in rows.values())


def test_no_line_is_wider_than_the_terminal():
    for width in (200, 120, 80, 40, 10, 3):
        text = learner_table.list_learners(width)
        assert max(len(line) for line in text.partition("\n\nclasses:")[0].splitlines()) <= width
        assert len(text.partition("\n\n")[0].splitlines()) == 1 + len(LEARNERS.list_usable())


SOURCES = {
    "Li, L. and Lin, H.-T. (2007). Optimizing. IJCNN. Eq. (2).": "Li & Lin (2007), Eq. (2)",
    "Allwein, E. L., Schapire, R. E. and Singer, Y. (2000). Reducing.": "Allwein et al. (2000)",
    "Nguyen, T. and Sanner, S. (2013). For it. ICML. Section 3, Figure 3.": "Nguyen & Sanner (2013), Section 3",
    "Own algorithm, after Li, L. (2006).": "zoloss",
    'Course notes "The Perceptron" (003). Eq. (2).': '"The Perceptron", Eq. (2)',
}


def test_a_source_is_authors_year_and_place():
    for reference, source in SOURCES.items():
        text = f"Do it.\n\nReferences\n----------\n.. [1] {reference}\n\nExamples\n--------\n"
        assert find_source(text) == source
    assert find_source("Do it.") == ""


def test_the_page_of_a_learner_has_a_table_of_its_parameters_in_place_of_their_section():
    for name in (*LEARNERS.builtin, *MEASURES):
        text = learner_table.describe_learner(name)
        assert "Parameters\n---" not in text, name
        assert "Examples\n---" in text, name
        shown = re.findall(r"^(\w+)  ", text.rpartition("\n-----")[2], re.M)
        assert shown == list(find_registration(name).parameter_model.model_fields), name
    assert re.search(r"^tolerance +float in \(0, 1\) +", learner_table.describe_learner("anyboost"), re.M)
