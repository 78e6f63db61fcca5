"""The registry of fitted choices: which cells it names, and that tables, pages and comparisons tell it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from functools import cache

from reference_runs import REFERENCE, find_reference_run, load_reference

from zoloss_cli.config.loader import load_config
from zoloss_cli.report.compare import compare_run
from zoloss_cli.report.html.page import build_page
from zoloss_cli.report.papers import FITTED, OTHER_DATA, find_choices, name_choices, read_fitted_choices
from zoloss_cli.report.render import render_tables
from zoloss_cli.report.tables import build_table
from zoloss_cli.utils.files import shipped_folder


@cache
def choices_of(table):
    run = find_reference_run(table)
    return {(cell.dataset, cell.learner, cell.metric): cell for cell in compare_run(run)}


def test_every_choice_has_a_cell_in_every_table_that_it_names():
    runs = {name: run for run in load_reference() for name in (run.name, run.full_name)}
    names = [choice.name for choice in read_fitted_choices()]
    assert len(names) == len(set(names))
    for choice in read_fitted_choices():
        assert choice.kind in (FITTED, OTHER_DATA)
        assert not choice.sentence.endswith(".")  # a note adds what it needs
        unmet = [
            table
            for table in choice.tables
            if not any(choice.applies(runs[table], *place) for place in runs[table].cells)
        ]
        # Lists that several choices share name a table too many for some.
        assert set(unmet) <= {"li-thesis-2006/3.1", "li-thesis-2006/3.2", "table4-svm"}, choice.name


def test_what_a_cell_depends_on():
    for table, place, names in (
        ("IV", ("heart", "adaboost:soft-svm", "test_error"), "C-by-test-error"),
        ("IV", ("votes84", "adaboost:pocket", "test_error"), "resampling; votes84-records"),
        ("IV", ("heart", "adaboost:rcd-bias", "test_error"), ""),
        ("IV", ("yinyang", "adaboost:rcd-bias", "test_error"), "yinyang-eye"),
        ("2.4", ("heart", "adaboost:sgd-hinge", "iterations"), "resampling"),
        ("nguyen-sanner-2013/4", ("heart", "bpm", "test_error"), "one-noise-class; noise-class-of-heart"),
        ("nguyen-sanner-2013/2", ("heart", "improvement", "percent"), "random-noise-labels"),
        ("nguyen-sanner-2013/1", ("heart", "csa", "train_01_loss"), ""),
        ("nguyen-sanner-2013/1", ("indian", "data", "samples"), "indian-rows"),
    ):
        cell = choices_of(table)[place]
        assert (cell.choices, bool(cell.apart)) == (names, bool(names)), place


def test_indian_is_of_other_data_in_every_table():
    for table in "1234":
        cells = choices_of(f"nguyen-sanner-2013/{table}")
        kinds = Counter(cell.apart for (dataset, *_), cell in cells.items() if dataset == "indian")
        assert set(kinds) == {OTHER_DATA}
        assert OTHER_DATA not in {cell.apart for (dataset, *_), cell in cells.items() if dataset != "indian"}


def test_a_learner_that_is_set_otherwise_does_not_depend_on_the_choice(write_config):
    text = (shipped_folder("configs") / "table4.yaml").read_text(encoding="utf-8")
    run = find_reference_run("IV")
    other = load_config(write_config(text.replace("weighting: resample", "weighting: reweight")))
    changed = type(run)(type(run.manifest)("x", other, run.manifest.cells, []), cells=run.cells)
    assert name_choices(find_choices(run, "heart", "adaboost:pocket")) == "resampling"
    assert find_choices(changed, "heart", "adaboost:pocket") == []
    assert name_choices(find_choices(changed, "heart", "adaboost:soft-svm")) == "C-by-test-error"


def test_tables_tell_the_choices_below_them_and_a_csv_in_every_row():
    runs = load_reference()
    for table, format, parts in (
        ("IV", "latex", ["chosen on test error", "draw samples by weight", "all 435 records"]),
        ("prune", "html", ["fitted: soft-SVM in AdaBoost has one C for each data set, chosen on test error"]),
        (
            "nguyen-sanner-2013/4",
            "text",
            ["other data: indian has the 579 complete", "heart is of class 1"],
        ),
        ("3.1", "markdown", ["the stopping rule of the line search on the bisigmoid cost"]),
    ):
        text = render_tables([build_table(find_reference_run(table), runs)], format)
        for part in parts:
            assert part in text, (table, part)
    assert "fitted" not in render_tables([build_table(find_reference_run("4.2"), runs)], "text")
    text = render_tables([build_table(find_reference_run("IV"), runs)], "csv")
    rows = {(row["dataset"], row["learner"]): row["apart"] for row in csv.DictReader(io.StringIO(text))}
    assert rows["heart", "adaboost:rcd-plain"] == ""
    assert rows["yinyang", "adaboost:pocket"] == "resampling; yinyang-eye"


def test_the_page_tells_them_under_the_table_and_at_the_cell():
    page = build_page([find_reference_run("IV")], REFERENCE, [])
    assert "fitted: yinyang has eyes of radius 0.18" in page
    assert "reported separately: fitted (C-by-test-error)" in page
    assert "resting on fitted choices" in page
