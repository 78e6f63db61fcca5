"""`zoloss run CONFIG --add-learner`: other people's learners beside those of the published tables."""

from __future__ import annotations

import re

from cases import parse_cases
from external_classes import CLASSES
from own_rows import refused
from places import TOP

from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_tasks
from zoloss_cli.results.store import Store

EXAMPLE = TOP / "docs" / "examples" / "my_search.py"
SEARCH = f"{EXAMPLE}:CoordinateSearch"


def read_run(folder):
    """The manifest of the only run, and its records by data set and learner."""
    store = Store(folder)
    (manifest,) = store.read_manifests()
    cells = {(cell.dataset, cell.learner): store.read(cell.file, cell.key).records for cell in manifest.cells}
    return manifest, {place: records for place, records in cells.items() if records}


def test_a_stranger_s_search_stands_in_table_2(zoloss, tmp_path):
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 45
    options = ("--datasets", "heart,sonar", "--learners", "fld2,CoordinateSearch", "--splits", "2")
    options += ("--out", tmp_path)
    added = ("--add-learner", SEARCH, "--add-learner", "fld2=fld")
    ended = zoloss("run", "table2", *added, *options)
    assert (ended.code, list(tmp_path.iterdir())) == (2, [])
    assert "'my_search.py:CoordinateSearch' is code from a file" in ended.err
    ended = zoloss.ok("run", "table2", *added, *options, "--jobs", "2", "--allow-code", "--set", "restarts=2")
    manifest, cells = read_run(tmp_path)
    assert {place: len(records) for place, records in cells.items()} == {
        (dataset, learner): 2 for dataset in ("heart", "sonar") for learner in ("fld2", "CoordinateSearch")
    }
    # The numbers of any number of workers are those of this process.
    for cell in plan(manifest.experiment):
        if cell.learner.label == "CoordinateSearch" and cell.data.name == "sonar":
            here = [record.train_errors for record in run_tasks(cell, [0, 1])]
            assert here == [record.train_errors for record in cells["sonar", "CoordinateSearch"].values()]
    table = zoloss("table", tmp_path).out
    assert re.search(r"data set +RCD-plain .* soft-SVM +CoordinateSearch +fld2", table)
    assert re.search(r"published +9\.48 ± 0\.05 .* – +–", table)  # as before, beside columns without any


def test_scikit_learn_stands_in_table_3_with_no_code_and_stays_there(zoloss, tmp_path):
    names = "sklearn.linear_model.LogisticRegression,sklearn.svm.LinearSVC"
    run = ("run", "table3", "--splits", "1", "--out", tmp_path, "--jobs", "1")
    added = ("--add-learner", names, "--set", "LinearSVC.C=2")
    ended = zoloss.ok(*run, *added, "--learners", "LogisticRegression,LinearSVC")
    manifest, cells = read_run(tmp_path)
    assert len(cells) == 24  # all data sets
    assert (
        manifest.command()
        == f"zoloss run table3 --add-learner {names.replace(',', ' --add-learner ')} --set LinearSVC.C=2"
    )
    # Without the option the columns stay, and nothing of them runs.
    ended = zoloss.ok(*run, "--learners", "ave-perc", "--datasets", "heart")
    assert "has results of LogisticRegression, LinearSVC, added by an earlier run" in ended.err
    assert "1 tasks: 0 were done, 1 run" in ended.err
    manifest, cells = read_run(tmp_path)
    assert len(cells) == 25
    assert manifest.command() == "zoloss run table3"
    table = zoloss("table", tmp_path).out
    assert re.search(r"soft-SVM +LogisticRegression +LinearSVC", table)


NOT_ADDED = """
--add-learner rcd-bias | --add-learner: 'table2' has a column 'rcd-bias': give this one another label
--add-learner rcd-bais | unknown learner 'rcd-bais'; did you mean 'rcd-bias'?
--add-learner fld,fld | --add-learner: 'fld' is listed more than once
--add-learner a=fld,a=pivot | 'a' is listed more than once; give one of them another label
--add-learner =fld | --add-learner: write '=fld' as LABEL=LEARNER
--set C=1 | --set C=1: there is no learner to set it for: name one with --add-learner
--add-learner sklearn.svm.LinearSVC --set C=-1 | --set LinearSVC.C: must be a float
--add-learner sklearn.svm.LinearSVC --set SVC.C=1 | 'SVC' is not one of the learners here
--add-learner sklearn.svm.LinearSVC --set D=1 | no learner here has a parameter 'D'
--add-learner mine.py:Ducks --allow-code | mine.py has no class 'Ducks'; did you mean 'Duck'?
--add-learner mien.py:Duck --allow-code | there is no file mien.py; did you mean 'mine.py'?
--add-learner mine.py:Nothing --allow-code | 'mine.py:Nothing' is not an estimator
--add-learner nobody.Has --allow-code | needs the package 'nobody', which is not installed
"""


def test_a_learner_that_cannot_be_added_is_one_sentence(zoloss, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CLASSES)
    run = ("run", "table2", "--out", "results", "--splits", "1", "--datasets", "heart")
    for arguments, message in parse_cases(NOT_ADDED):
        refused(zoloss(*run, *arguments.split()), 8 if "nobody" in message else 2, message)
        assert not (tmp_path / "results").exists()
    ended = zoloss("run", "thesis/figure1.5", "--add-learner", "fld", "--out", tmp_path / "results")
    assert ended.code == 2
    assert "measures data, so no learner can be added to it" in ended.err


def test_validating_runs_no_code_unless_it_is_allowed(zoloss, write_config, tmp_path):
    (tmp_path / "mine.py").write_text(CLASSES + "\nprint('was run')\n")
    config = write_config("datasets: [heart]\nlearners: {mine: {learner: 'mine.py:Duck', ordr: 1}}\n")
    ended = zoloss.ok("validate", config)
    assert ended.out == f"{config}: valid; 1 cell, 500 tasks\n"
    assert ended.err == (
        f"zoloss: {config}: 'mine.py:Duck' and its parameters were not checked, since that runs its code: add "
        "--allow-code\n"
    )
    ended = zoloss("validate", config, "--allow-code")
    assert ended.code == 2
    assert "learners.mine.ordr: unknown key 'ordr'; did you mean 'order'?" in ended.err


def test_fit_and_evaluate_take_classes_too(zoloss, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CLASSES)
    ended = zoloss.ok("fit", "heart", "--learner", "sklearn.svm.SVC", "--set", "C=3", "--no-validate")
    assert "learner   sklearn.svm.SVC" in ended.out
    for options, message in (
        (["sklearn.svm.SVC", "--model", "m.json"], "only zoloss's own learners can be saved"),
        (["mine.py:Duck"], "--allow-code"),
        (["mine.py:Duck", "--calibrate", "sigmoid", "--allow-code"], "has no decision_function and no predict"),
    ):
        ended = zoloss("fit", "heart", "--learner", *options)
        assert (ended.code, message in ended.err) == (2, True)
    compared = ("--learners", "fld,mine.py:Duck", "--splits", "2", "--jobs", "1", "--save-config", "saved.yaml")
    ended = zoloss.ok("evaluate", "heart", *compared, "--allow-code")
    assert re.search(r"data set +FLD +Duck", ended.out)
    ended = zoloss("run", "saved.yaml", "--allow-code")
    assert "4 tasks: 4 were done, 0 run" in ended.err
    away = ("--save-config", "away/saved.yaml", "--out", "other", "--allow-code")
    (tmp_path / "away").mkdir()
    ended = zoloss("evaluate", "heart", *compared[:-2], *away)
    assert ended.code == 2
    assert "'mine.py:Duck' is not in its folder" in ended.err
