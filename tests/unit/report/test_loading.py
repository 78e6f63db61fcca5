"""Which runs a name selects, and what is said where records cannot give what a table shows."""

from __future__ import annotations

import msgspec
import pytest
from built_runs import build_experiment, build_manifest, build_run
from places import TOP
from reference_runs import load_reference

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.report.agreement import build_comparison_report
from zoloss_cli.report.runs import CellResult, RunResult, drop_alternatives, explain_empty, select_runs
from zoloss_cli.report.tables import build_table
from zoloss_cli.results.record import FitRecord
from zoloss_cli.results.store import Store


def build_runs(*places):
    return [
        build_run(
            {("heart", "fld"): {"test_error": [20.0]}},
            name=name,
            published={"paper": paper, "table": table} if table else None,
        )
        for name, paper, table in places
    ]


RUNS = [
    ("table2", "li-lin-2007", "II"),
    ("thesis-1", "li-thesis-2006", "1"),
    ("nguyen-1", "nguyen-sanner-2013", "1"),
    ("nguyen-2", "nguyen-sanner-2013", "2"),
    ("mine", "", ""),
]


def test_full_names_numbers_and_names_of_runs_select():
    runs = build_runs(*RUNS)
    assert select_runs(runs, None) == runs
    for wanted, name in {
        "II": "table2",
        "li-lin-2007/II": "table2",
        "table2": "table2",
        "nguyen-sanner-2013/1": "nguyen-1",
        "li-thesis-2006/1": "thesis-1",
        "nguyen-1": "nguyen-1",
        "2": "nguyen-2",
        "mine": "mine",
    }.items():
        assert [run.name for run in select_runs(runs, wanted)] == [name]


def test_a_number_of_two_papers_is_refused_with_the_full_names():
    with pytest.raises(ResultsError) as caught:
        select_runs(build_runs(*RUNS), "1")
    assert str(caught.value) == (
        "several papers have a table '1'; name one: li-thesis-2006/1, nguyen-sanner-2013/1"
    )


def test_two_runs_of_one_table_are_both_selected():
    runs = build_runs(("first", "li-lin-2007", "II"), ("second", "li-lin-2007", "II"))
    assert select_runs(runs, "II") == select_runs(runs, "li-lin-2007/II") == runs
    assert select_runs(runs, "second") == [runs[1]]


def test_an_alternative_has_its_own_name_and_counts_only_alone():
    values, place = (
        {("heart", "rcd-bias"): {"train_error": [20.0, 21.0]}},
        {"paper": "li-lin-2007", "table": "II"},
    )
    runs = [first, second] = [
        build_run(values, name=name, metric="train_error", published=place | more)
        for name, more in (("first", {}), ("second", {"alternative": True}))
    ]
    assert (second.number, second.full_name) == ("second", "second")
    assert [select_runs(runs, name) for name in ("II", "second")] == [[first], [second]]
    assert (drop_alternatives(runs), drop_alternatives([second])) == ([first], [second])
    compared = [build_comparison_report(runs, TOP, name).all_cells for name in (None, "II", "second")]
    assert [len(cells) for cells in compared] == [1, 1, 1]


def test_other_names_are_refused_with_the_nearest():
    for wanted, nearest in {"III": "II", "li-lin-2006/II": "li-lin-2007/II", "tabel2": "table2"}.items():
        with pytest.raises(ResultsError) as caught:
            select_runs(build_runs(*RUNS), wanted)
        said = f"there is no table '{wanted}' in these results; did you mean '{nearest}'?"
        assert str(caught.value) == said


def test_every_table_of_the_reference_has_a_name_that_selects_it_alone():
    runs = load_reference()
    for run in runs:
        assert run in select_runs(runs, run.full_name)
        assert {r.full_name for r in select_runs(runs, run.full_name)} == {run.full_name}


CONFIG = "metric: {metric}\ndatasets: [heart, sonar]\nsplit: {{repeats: 2}}\nlearners: [fld, stump]\n"


def forget_confusion(folder, config):
    """Rewrite the cells as they were before records held confusion counts."""
    store, lost = Store(folder), {"train_confusion": None, "test_confusion": None}
    for cell in plan(load_config(config)):
        stored = store.read(cell.filename, cell.key)
        store._rewrite_cell(cell, stored, [msgspec.structs.replace(r, **lost) for r in stored.records.values()])


def test_where_nothing_can_be_shown_the_remedy_is_named_and_works(zoloss, write_config, tmp_path):
    config, out = write_config(CONFIG.format(metric="balanced_error")), tmp_path / "results"
    assert zoloss("run", config, "--out", out, "--jobs", 1).code == 0
    forget_confusion(out, config)
    remedy = f"zoloss run {config} --fresh --out {out}"
    ended = zoloss("table", out)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        "zoloss: 'small' cannot show balanced_error: fld on heart: its records hold no test_confusion; "
        f"recompute them with: {remedy}\n"
    )
    status = zoloss("status", out).out
    assert "complete" not in status
    assert all(part in status for part in ("0/4", "8/8", "lacks balanced_error"))
    # Other metrics of the same records are shown.
    other = write_config("also: balanced_error\n" + CONFIG.format(metric="test_error"), "both.yaml")
    assert "8 were done, 0 run" in zoloss("run", other, "--out", out, "--jobs", 1).err
    shown = zoloss("table", out)
    assert (shown.code, shown.out.count("±")) == (0, 4)
    assert "'small' cannot show balanced_error" in shown.err
    assert (
        f"(no balanced_error: its records hold no test_confusion; recompute them with: zoloss run {other}"
        in (shown.out)
    )
    assert zoloss(*remedy.split()[1:], "--jobs", 1).code == 0
    assert zoloss("table", out, "--table", "small").err == ""
    assert "complete" in zoloss("status", out).out


def build_old_run(**keys):
    """A run of two cells, of which one has records without confusion counts."""
    run = RunResult(build_manifest(build_experiment(["heart"], ["fld", "stump"], metric="f1", **keys)))
    old, new = FitRecord(0, 3, 2), FitRecord(0, 3, 2, test_confusion=[[1, 1], [1, 2]])
    for learner, record in (("fld", old), ("stump", new)):
        run.add(("heart", learner), CellResult([record], [0], Sizes(10, 5)))
        run.count_done(("heart", learner), run.experiment.split.repeats)
    return run


def test_missing_cells_are_kept_apart_and_explained():
    run = build_old_run()
    assert list(run.cells) == [("heart", "stump")]
    assert run.missing == {("heart", "fld"): "its records hold no test_confusion"}
    assert explain_empty(run) == ""
    assert build_table(run, [run]).notes == [
        "no f1 of fld on heart: its records hold no test_confusion; recompute them with: zoloss run "
        "configs/mine.yaml --fresh"
    ]
    run.cells.clear()
    assert explain_empty(run) == (
        "'mine' cannot show f1: fld on heart: its records hold no test_confusion; recompute them with: "
        "zoloss run configs/mine.yaml --fresh"
    )
    run.missing.clear()
    assert explain_empty(run) == "'mine' has no finished task yet; run: zoloss run configs/mine.yaml"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_cell_that_another_setting_gives_is_not_missing(order):
    run = RunResult(build_manifest(build_experiment(["heart"], ["fld"], metric="f1")))
    records = [FitRecord(0, 3, 2), FitRecord(0, 3, 2, test_confusion=[[1, 1], [1, 2]])]
    for i in order:
        run.add(("heart", "fld"), CellResult([records[i]], [0], Sizes(10, 5), choice=f"C={i}"))
    assert run.cells["heart", "fld"].choice == "C=1"
    assert run.missing == {}


def test_an_installed_package_says_where_the_reference_results_are(zoloss, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = zoloss("table", "results/reference")
    assert shown.err.endswith(f"zoloss table {TOP / 'results' / 'reference'}\n")
    monkeypatch.setattr("zoloss_cli.report.runs.PACKAGE_FOLDER", tmp_path / "site" / "zoloss_cli")
    refused = zoloss("table", "results/reference")
    assert refused.code == ResultsError.exit_code
    assert refused.err.startswith(
        "zoloss: there is no folder results/reference; the reference results are not part"
    )
    assert refused.err.endswith("zoloss run table2 --splits 20\n")
