"""The choices that papers leave open: which cells depend on them, and where they are shown."""

from __future__ import annotations

import csv

import pytest
from built_runs import build_run
from reference_runs import REFERENCE, compare_reference, find_reference_run, load_reference

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ConfigError
from zoloss_cli.report import papers
from zoloss_cli.report.compare import DATA
from zoloss_cli.report.html.page import build_page
from zoloss_cli.report.papers import AGREEMENT, OTHER_DATA, find_choices, name_choices, read_open_choices
from zoloss_cli.utils.files import PUBLISHED_FOLDER, shipped_folder


def test_every_choice_has_a_cell_in_every_table_that_it_names():
    runs = {name: run for run in load_reference() for name in (run.name, run.full_name)}
    names = [choice.name for choice in read_open_choices()]
    assert len(names) == len(set(names))
    for choice in read_open_choices():
        assert choice.kind in (*AGREEMENT, OTHER_DATA)
        assert not choice.sentence.endswith(".")  # a note adds what it needs
        unmet = [
            table
            for table in choice.tables
            if not any(choice.applies(runs[table], *place) for place in runs[table].cells)
        ]
        # Lists that several choices share name a table too many for some; data may have been fetched.
        needless = {"li-thesis-2006/3.1", "li-thesis-2006/3.2", "table4-svm"}
        assert choice.data or set(unmet) <= needless, choice.name


def test_a_learner_that_is_set_otherwise_does_not_depend_on_the_choice(write_config):
    text = (shipped_folder("configs") / "table4.yaml").read_text(encoding="utf-8")
    run = find_reference_run("IV")
    other = load_config(write_config(text.replace("weighting: resample", "weighting: reweight")))
    changed = type(run)(type(run.manifest)("x", other, run.manifest.cells, []), cells=run.cells)
    assert "resampling" in name_choices(find_choices(run, "heart", "adaboost:pocket"))
    assert "resampling" not in name_choices(find_choices(changed, "heart", "adaboost:pocket"))
    assert "C-by-test-error" in name_choices(find_choices(changed, "heart", "adaboost:soft-svm"))


def test_only_the_embedded_rows_of_indian_are_other_data():
    for dataset, names in (("indian", "indian-rows"), ("indian583", "")):
        data = [{"name": "indian", "dataset": dataset}]
        run = build_run({("indian", "lr"): {"test_error": [1.0]}}, name="nguyen-bounds", datasets=data)
        assert name_choices(find_choices(run, "indian", "lr")) == names


def test_the_class_of_a_number_is_its_weakest_choice():
    kinds, order = {choice.name: choice.kind for choice in read_open_choices()}, list(AGREEMENT)
    for cell in compare_reference():
        of_cell = [kinds[name] for name in cell.choices.split("; ") if name and kinds[name] != OTHER_DATA]
        weakest = max(of_cell, key=order.index, default="stated")
        assert cell.agreement == weakest, (cell.paper, cell.table, cell.dataset, cell.learner, cell.metric)
        assert cell.learner != DATA or cell.agreement == "stated"


@pytest.mark.parametrize(
    ("changed", "what"),
    [("", "no class of"), ("infered", "'infered' is no class.*did you mean 'inferred'")],
)
def test_a_number_without_a_class_is_rejected(changed, what, monkeypatch):
    with (PUBLISHED_FOLDER / "tables.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[7]["agreement"] = changed
    monkeypatch.setattr(papers, "_read_rows", lambda: rows)
    with pytest.raises(ConfigError, match=f"tables.csv: rcd-bias on breast .*: {what}"):
        papers.read_published_tables.__wrapped__()


def test_the_page_names_them_under_the_table_and_at_the_cell():
    page = build_page([find_reference_run("IV")], REFERENCE, [])
    assert "chosen for nearness: yinyang has eyes of radius 0.18" in page
    assert "agreement: chosen for nearness (odds-without-errors; C-by-test-error)" in page


def test_differences_show_the_standard_error_that_z_divides_by():
    cells = [cell for cell in compare_reference() if cell.difference_stderr == cell.difference_stderr]
    assert len(cells) > 500
    for cell in cells:
        assert cell.z == pytest.approx(cell.difference / cell.difference_stderr)
        assert cell.difference_stderr >= max(cell.published_stderr or 0.0, 0.0)
    pooled = [c for c in cells if c.table == "III" and c.dataset == "threenorm"]
    assert all(c.difference_stderr > 3 * (c.published_stderr + c.stderr / 5) for c in pooled)
