"""Tables of your own with several classes in configs and `zoloss evaluate`; rare and absent classes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zoloss_cli.api.choose import list_usual_learners
from zoloss_cli.api.evaluate import EvaluationRequest, adapt_to_packages
from zoloss_cli.config.loader import load_config
from zoloss_cli.data.user_table import MAX_CLASSES, read_for_training
from zoloss_cli.errors import DataError
from zoloss_cli.experiment import fitting as packages
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_task
from zoloss_cli.registry import list_multiclass_learners
from zoloss_cli.utils.files import shipped_folder

HEART = shipped_folder("datasets") / "heart.csv"
QUICK = ["--learners", "one-vs-one:fld,ecc:stump", "--set", "rounds=5", "--splits", "3", "--jobs", "1"]


def clouds(counts: dict[str, int], seed: int = 0) -> str:
    """A table of two features and so many rows of each class."""
    rng = np.random.default_rng(seed)
    lines = ["a,b,label"]
    for k, (name, count) in enumerate(counts.items()):
        lines += [f"{a:.3f},{b:.3f},{name}" for a, b in rng.normal(size=(count, 2)) + [k, -k]]
    return "\n".join(lines) + "\n"


def config(write_config, learners: str, repeats: int = 6, more: str = "") -> object:
    data = f"datasets: {{own: {{csv: mine.csv{more}}}}}"
    split = f"split: {{train: 0.6, repeats: {repeats}}}"
    return load_config(write_config(f"{data}\n{split}\nlearners: {{{learners}}}\n"))


def test_classes_are_in_the_order_of_their_numbers_or_names(table):
    for labels, wanted in ((["10", "9", "2"], ["2", "9", "10"]), (["10", "b", "9"], ["10", "9", "b"])):
        y, classes = read_for_training(table(clouds(dict.fromkeys(labels, 1)))).index_classes(None)
        assert classes == wanted
        assert [classes[k] for k in y] == labels


def test_a_column_of_measurements_is_not_one_of_classes(table):
    most = {f"c{i}.5": 1 for i in range(MAX_CLASSES)}
    assert len(read_for_training(table(clouds(most))).index_classes(None)[1]) == MAX_CLASSES
    own = read_for_training(table(clouds(most | {"7": 1})))
    with pytest.raises(
        DataError, match=r"holds 101 classes \(7, c0\.5, .* and 91 more\).*set label to the right column"
    ):
        own.index_classes(None)
    assert own.index_classes("7")[1] == ["rest", "7"]
    numbers = read_for_training(table(clouds({f"{i}.5": 1 for i in range(30)})))
    with pytest.raises(
        DataError, match=r"holds 30 different numbers \(0\.5, .* column of classes with --label"
    ):
        numbers.index_classes(None)


def test_the_usual_learners_suit_the_number_of_classes(zoloss, table, tmp_path):
    own = table(clouds({"x": 20, "y": 20, "z": 20}))
    command = ["evaluate", own, "--splits", 3, "--dry-run", "--save-config"]
    several, two = (list_usual_learners(60, 2, count)[0] for count in (3, 2))
    assert (several[0], two[0], several[-1], two[-1]) == ("one-vs-one", "pivot", "majority", "majority")
    for i, (options, names) in enumerate((([], several), (["--positive", "z"], two))):
        path = tmp_path / f"{i}.yaml"
        ended = zoloss.ok(*command, path, *options)
        assert [spec.label for spec in load_config(path).learners] == names
        assert ("has 3 classes, so these learners are compared: one-vs-one, " in ended.err) == (i == 0)
        assert f"# zoloss evaluate {command[1]} --learners {','.join(names)} " in path.read_text(
            encoding="utf-8"
        )


def test_the_usual_learners_do_not_cut_many_classes_exactly(zoloss, table, tmp_path):
    path, saved = table(clouds({str(i): 4 for i in range(14)})), tmp_path / "c.yaml"
    zoloss.ok("evaluate", path, "--splits", 2, "--dry-run", "--save-config", saved)
    (spec,) = (s for s in load_config(saved).learners if s.learner == "ecc")
    assert spec.parameters["partition"] == "greedy"


def test_evaluate_compares_learners_for_several_classes(zoloss, table, tmp_path):
    path = table(clouds({"x": 20, "y": 20, "z": 20}))
    ended = zoloss.ok("evaluate", path, *QUICK, "--out", tmp_path / "out", "--save-config", tmp_path / "c.yaml")
    assert "one-vs-one FLD" in ended.out
    assert "AdaBoost.ECC stump" in ended.out
    assert "has the lowest mean on mine" in ended.out
    assert "no training row" not in ended.out
    again = zoloss("run", tmp_path / "c.yaml", "--out", tmp_path / "out")
    assert "6 were done, 0 run" in again.err


def test_rows_of_a_class_that_no_training_row_has_are_errors_and_counted(zoloss, table, write_config, tmp_path):
    """Of one row: it is a test row in some splits, and then nobody can be right."""
    path = table(clouds({"x": 20, "y": 20, "rare": 1}))
    (cell,) = plan(config(write_config, "one-vs-one: {base: fld}", repeats=12))
    absent = []
    for k in range(12):
        _, test = cell.rule.select_indices(41, cell.seed_name, k)
        record = run_task(cell, k)
        absent.append(40 in test)  # the last row of the file
        unseen = record.n_unseen
        assert unseen == int(absent[-1])
        assert record.test_errors >= unseen
    assert 0 < sum(absent) < 12
    out = tmp_path / "out"
    options = ["--learners", "one-vs-one:fld,ecc:stump", "--set", "rounds=3", "--splits", 12, "--train", 0.6]
    ended = zoloss.ok("evaluate", path, *options, "--out", out, "--jobs", 1)
    count = sum(absent)
    note = f"(mine: in {count} of 12 splits some test samples, {count} in all, are of a class that no training "
    for text in (ended.out, zoloss("table", out).out):
        assert text.count(note) == 1
        assert "nan" not in text.lower()


def test_a_training_part_of_one_class_fails_and_is_no_result(zoloss, table, tmp_path):
    path, out = table(clouds({"x": 9, "y": 1, "z": 1})), tmp_path / "out"
    options = ["--learners", "one-vs-one:fld", "--train", 3, "--splits", 8, "--jobs", 1]
    ended = zoloss("evaluate", path, *options, "--out", out)
    assert ended.code == 5
    assert "OneVsOneClassifier needs two classes with weight, but y holds one class: '0'" in ended.err
    rows = [
        json.loads(line) for file in (out / "cells").iterdir() for line in file.read_text().splitlines()[1:]
    ]
    assert {"failed" in row for row in rows} == {True, False}
    assert f"({sum('failed' not in row for row in rows)} splits; incomplete)" in ended.out


@pytest.mark.parametrize(("learner", "unsplit"), [("erp", 1), ("ecc", 0)])
def test_features_that_tell_no_class_leave_an_empty_code_and_a_note(
    zoloss, table, write_config, tmp_path, learner, unsplit
):
    """A constant classifier likes all classes on one side: ERP has no split left, and ECC no better one."""
    table("a,label\n" + "3,x\n3,y\n3,z\n" * 10)
    text = "datasets: {own: {csv: mine.csv}}\nmetric: train_error\nsplit: {train: all, repeats: 4}\n"
    path, out = write_config(f"{text}learners: {{{learner}: {{base: stump}}}}\n"), tmp_path / "out"
    zoloss.ok("run", path, "--out", out, "--jobs", 1)
    (file,) = (out / "cells").iterdir()
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()[1:]):
        # All are taken for the first class.
        assert (row["iterations"], row["cost"], row["train_errors"]) == (0, 1.0, 20)
        assert row.get("n_unsplit", 0) == unsplit
    note = "(AdaBoost.ERP on own: 4 of 4 splits ended early, with no split of classes left)"
    shown = zoloss("table", out).out
    assert (note in shown) == bool(unsplit)
    assert "nan" not in shown.lower()


def test_a_class_of_one_row_can_be_learned(zoloss, table):
    path = table(clouds({"x": 12, "y": 12, "rare": 1}))
    for learner in list_multiclass_learners():
        name = learner if learner == "majority" else f"{learner}:stump"
        ended = zoloss.ok("fit", path, "--learner", name, "--no-validate")
        assert "classes   'rare' (1 sample), 'x' (12 samples) and 'y' (12 samples)\n" in ended.out


def request_of(*learners: str, assignments: tuple[str, ...] = ()) -> EvaluationRequest:
    return EvaluationRequest(HEART, list(learners), 2, assignments=list(assignments))


def test_learners_are_left_out_or_start_elsewhere(monkeypatch):
    whole = request_of("lr", "sla", "mip")
    assert adapt_to_packages(whole) == (whole, [])
    monkeypatch.setattr(packages, "is_installed", lambda module: False)
    fisher = ["sla.seeding=fld", "pivot.seeding=fld"]
    for learners, left, assignments, note in (
        (["fld", "rcd-bias"], ["fld", "rcd-bias"], [], None),
        (
            ["fld", "lr", "svm", "sla", "pivot"],
            ["fld", "sla", "pivot"],
            fisher,
            "liblinear-official is not installed, so lr and svm are left out, and sla and pivot start from "
            "Fisher's linear discriminant: pip install liblinear-official",
        ),
        (  # of a learner inside another no parameter is set
            ["fld", "adaboost:sla", "mip"],
            ["fld"],
            [],
            "liblinear-official and cvxpy are not installed, so adaboost:sla and mip are left out: pip install "
            "liblinear-official cvxpy",
        ),
    ):
        adapted, notes = adapt_to_packages(request_of(*learners))
        assert (adapted.learners, adapted.assignments, notes) == (left, assignments, [note] if note else [])
        assert adapt_to_packages(adapted) == (adapted, [])  # what is left can be fitted
        adapted.to_experiment()
    seeded = request_of("sla", assignments=("sla.seeding=zero",))  # as the user sets it
    assert adapt_to_packages(seeded) == (seeded, [])
