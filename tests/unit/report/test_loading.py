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
from zoloss_cli.report.loading import explain_empty, load_runs, select_runs
from zoloss_cli.report.notes import collect_notes
from zoloss_cli.report.runs import CellResult, RunResult
from zoloss_cli.results.record import FitRecord
from zoloss_cli.results.store import Store

# -- names of tables ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("II", "table2"),
        ("li-lin-2007/II", "table2"),
        ("table2", "table2"),
        ("nguyen-sanner-2013/1", "nguyen-1"),
        ("li-thesis-2006/1", "thesis-1"),
        ("nguyen-1", "nguyen-1"),
        ("2", "nguyen-2"),
        ("mine", "mine"),
    ],
)
def test_full_names_numbers_and_names_of_runs_select(wanted, name):
    assert [run.name for run in select_runs(build_runs(*RUNS), wanted)] == [name]


def test_without_a_name_all_are_selected():
    runs = build_runs(*RUNS)
    assert select_runs(runs, None) == runs


def test_a_number_of_two_papers_is_refused_with_the_full_names():
    with pytest.raises(ResultsError) as caught:
        select_runs(build_runs(*RUNS), "1")
    assert str(caught.value) == (
        "the table '1' is one of several papers; name one: li-thesis-2006/1, nguyen-sanner-2013/1"
    )


def test_two_runs_of_one_table_are_both_selected():
    runs = build_runs(("first", "li-lin-2007", "II"), ("second", "li-lin-2007", "II"))
    assert select_runs(runs, "II") == select_runs(runs, "li-lin-2007/II") == runs
    assert select_runs(runs, "second") == [runs[1]]


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [
        ("III", "II"),
        ("li-lin-2007/III", "li-lin-2007/II"),
        ("li-lin-2006/II", "li-lin-2007/II"),
        ("nguyen-saner-2013/2", "nguyen-sanner-2013/2"),
        ("min", "mine"),
        ("tabel2", "table2"),
    ],
)
def test_other_names_are_refused_with_the_nearest(wanted, nearest):
    with pytest.raises(ResultsError) as caught:
        select_runs(build_runs(*RUNS), wanted)
    assert str(caught.value) == f"there is no table '{wanted}' in these results; did you mean '{nearest}'?"


def test_every_table_of_the_reference_has_a_name_that_selects_it_alone():
    runs = load_reference()
    for run in runs:
        assert run in select_runs(runs, run.full_name)
        assert {r.full_name for r in select_runs(runs, run.full_name)} == {run.full_name}


@pytest.mark.parametrize("command", ["table", "compare", "stats"])
def test_commands_take_both_names(zoloss, shared, command):
    by_number, by_name = (zoloss(command, shared, "--table", name) for name in ("II", "li-lin-2007/II"))
    assert by_number.code == 0, by_number.err
    assert (by_number.out, by_number.err) == (by_name.out, by_name.err)
    ended = zoloss(command, shared, "--table", "1")
    assert (ended.code, ended.out) == (4, "")
    assert "name one: li-thesis-2006/1, nguyen-sanner-2013/1" in ended.err
    assert zoloss(command, shared, "--table", "nguyen-sanner-2013/1").code == 0
    ended = zoloss(command, shared, "--table", "li-lin-2007/IV")
    assert (ended.code, ended.out) == (4, "")
    assert "there is no table 'li-lin-2007/IV' in these results; did you mean 'li-lin-2007/II'?" in ended.err


MIRROR = """
metric: {metric}
published: {{paper: {paper}, table: "{table}"}}
datasets: [heart, sonar]
split: {{train: {train}, repeats: 2}}
learners: {{bpm: , rcd-plain: {{epochs: 3}}}}
"""


@pytest.fixture
def shared(zoloss, write_config, tmp_path):
    """A folder in which two papers have a table 1."""
    out = tmp_path / "shared"
    for paper, table, metric, train in (
        ("li-lin-2007", "II", "train_error", 0.8),
        ("nguyen-sanner-2013", "1", "train_01_loss", "all"),
        ("li-thesis-2006", "1", "test_error", 0.8),
    ):
        text = MIRROR.format(paper=paper, table=table, metric=metric, train=train)
        assert zoloss("run", write_config(text, f"{paper}.yaml"), "--out", out, "--jobs", 1).code == 0
    return out


# -- records that lack what a table shows -------------------------------------------------------------

CONFIG = "metric: {metric}\ndatasets: [heart, sonar]\nsplit: {{repeats: 3}}\nlearners: [fld, stump]\n"


def forget_confusion(folder, config, names=("heart", "sonar")):
    """Rewrite the cells of some data sets as they were before records held confusion counts."""
    store = Store(folder)
    for cell in plan(load_config(config)):
        stored = store.read(cell.filename, cell.key)
        changes = {"train_confusion": None, "test_confusion": None} if cell.data.name in names else {}
        store._rewrite_cell(
            cell, stored, [msgspec.structs.replace(r, **changes) for r in stored.records.values()]
        )


@pytest.fixture
def old_records(zoloss, write_config, tmp_path):
    config, out = write_config(CONFIG.format(metric="balanced_error")), tmp_path / "results"
    assert zoloss("run", config, "--out", out, "--jobs", 1).code == 0
    forget_confusion(out, config)
    return config, out


@pytest.mark.parametrize("format", ["text", "csv"])
def test_a_table_that_nothing_can_be_shown_in_is_an_error_with_a_remedy(zoloss, old_records, format):
    config, out = old_records
    ended = zoloss("table", out, "--format", format)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        "zoloss: 'small' cannot show balanced_error: fld on heart: its records hold no test_confusion; make "
        f"new records with: zoloss run {config} --fresh --out {out}\n"
    )


def test_the_remedy_works(zoloss, old_records):
    config, out = old_records
    command = zoloss("table", out).err.partition("with: zoloss ")[2].split()
    assert command == ["run", str(config), "--fresh", "--out", str(out)]
    assert zoloss(*command, "--jobs", 1).code == 0
    shown = zoloss("table", out)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.count("±") == 4
    assert "complete" in zoloss("status", out).out


def test_status_does_not_call_it_complete(zoloss, old_records):
    _, out = old_records
    shown = zoloss("status", out).out
    assert "complete" not in shown
    assert "0/4" in shown
    assert "12/12" in shown
    assert "lacks balanced_error" in shown


def test_what_can_be_shown_is_shown_with_a_note(zoloss, old_records, write_config):
    config, out = old_records
    assert zoloss("run", config, "--out", out, "--fresh", "--jobs", 1).code == 0
    forget_confusion(out, config, ["sonar"])
    shown = zoloss("table", out)
    assert shown.code == 0
    assert shown.out.count("±") == 2
    assert (
        "(no balanced_error of fld on sonar, stump on sonar: its records hold no test_confusion; make new "
        f"records with: zoloss run {config} --fresh --out {out})"
    ) in shown.out
    assert "sonar" not in zoloss("table", out, "--format", "csv").out
    status = zoloss("status", out).out
    assert "2/4" in status
    assert "lacks balanced_error" in status


def test_other_metrics_of_the_same_records_are_shown(zoloss, old_records, write_config):
    _, out = old_records
    other = write_config(CONFIG.format(metric="test_error"), "errors.yaml")
    assert "12 were done, 0 run" in zoloss("run", other, "--out", out, "--jobs", 1).err
    shown = zoloss("table", out)
    assert shown.code == 0
    assert shown.out.count("±") == 4
    assert "'small' cannot show balanced_error" in shown.err


def test_a_second_metric_that_no_record_gives_is_said(zoloss, old_records, write_config):
    _, out = old_records
    both = write_config("also: balanced_error\n" + CONFIG.format(metric="test_error"), "both.yaml")
    assert zoloss("run", both, "--out", out, "--jobs", 1).code == 0
    shown = zoloss("table", out, "--table", "both")
    assert shown.code == 0
    assert (
        f"(no balanced_error: its records hold no test_confusion; make new records with: zoloss run {both}"
        in (shown.out)
    )


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
    assert collect_notes(run, [run], {}) == [
        "no f1 of fld on heart: its records hold no test_confusion; make new records with: zoloss run "
        "configs/mine.yaml --fresh"
    ]
    run.cells.clear()
    assert explain_empty(run) == (
        "'mine' cannot show f1: fld on heart: its records hold no test_confusion; make new records with: "
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


def test_a_run_without_a_task_says_how_to_start(zoloss, small_config, tmp_path):
    out = tmp_path / "results"
    assert zoloss("run", small_config, "--out", out, "--jobs", 1).code == 0
    for path in (out / "cells").glob("*.jsonl"):
        path.unlink()
    ended = zoloss("table", out)
    assert (ended.code, ended.out) == (4, "")
    command = f"zoloss run {small_config} --out {out}"
    assert ended.err == f"zoloss: 'small' has no finished task yet; run: {command}\n"
    (run,) = load_runs(out)[0]
    assert (run.n_done, run.n_tasks) == (0, 24)


def test_an_installed_package_says_where_the_reference_results_are(zoloss, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = zoloss("table", "results/reference")
    assert shown.err.endswith(f"zoloss table {TOP / 'results' / 'reference'}\n")
    monkeypatch.setattr("zoloss_cli.report.loading.PACKAGE_FOLDER", tmp_path / "site" / "zoloss_cli")
    refused = zoloss("table", "results/reference")
    assert refused.code == ResultsError.exit_code
    assert refused.err.startswith(
        "zoloss: there is no folder results/reference; the reference results are not part"
    )
    assert refused.err.endswith("zoloss run table2 --splits 20\n")
