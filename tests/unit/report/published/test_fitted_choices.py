"""The registry of fitted choices: which cells it names, and that tables, pages and comparisons tell it."""

from __future__ import annotations

from reference_runs import REFERENCE, find_reference_run, load_reference

from zoloss_cli.config.loader import load_config
from zoloss_cli.report.html.page import build_page
from zoloss_cli.report.papers import FITTED, OTHER_DATA, find_choices, name_choices, read_fitted_choices
from zoloss_cli.utils.files import shipped_folder


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


def test_a_learner_that_is_set_otherwise_does_not_depend_on_the_choice(write_config):
    text = (shipped_folder("configs") / "table4.yaml").read_text(encoding="utf-8")
    run = find_reference_run("IV")
    other = load_config(write_config(text.replace("weighting: resample", "weighting: reweight")))
    changed = type(run)(type(run.manifest)("x", other, run.manifest.cells, []), cells=run.cells)
    assert name_choices(find_choices(run, "heart", "adaboost:pocket")) == "resampling"
    assert find_choices(changed, "heart", "adaboost:pocket") == []
    assert name_choices(find_choices(changed, "heart", "adaboost:soft-svm")) == "C-by-test-error"


def test_the_page_tells_them_under_the_table_and_at_the_cell():
    page = build_page([find_reference_run("IV")], REFERENCE, [])
    assert "fitted: yinyang has eyes of radius 0.18" in page
    assert "reported separately: fitted (C-by-test-error)" in page
    assert "resting on fitted choices" in page
