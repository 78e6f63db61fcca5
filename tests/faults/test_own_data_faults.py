"""Own data with bad tables, options, models and targets: one sentence each, nothing lost."""

from __future__ import annotations

import json
import os

import pytest

GOOD = "a,colour,label\n1,red,x\n3,blue,y\n5,red,x\n2,blue,y\n"
MANY = "a,code,label\n" + "".join(f"1,c{i},{'xy'[i % 2]}\n" for i in range(101))


@pytest.fixture
def model(zoloss, table, tmp_path):
    """A saved rule of the good table, learned quickly."""
    path = tmp_path / "m.json"
    ended = zoloss("fit", table(GOOD), "--learner", "fld", "--model", path)
    assert ended.code == 0, ended.err
    return path


SEVERAL = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11},{'xyz'[i % 3]}\n" for i in range(30))
FOURTEEN = "a,label\n" + "".join(f"{i},c{i % 14}\n" for i in range(56))


@pytest.fixture
def classifier(zoloss, table, tmp_path):
    """A saved code of three classes over support vectors, stumps or whatever is named."""

    def fitted(learner: str):
        path = tmp_path / "m.json"
        quick = ["--set", "rounds=4"] if learner.startswith("e") else []
        ended = zoloss("fit", table(SEVERAL), "--learner", learner, *quick, "--model", path, "--force")
        assert ended.code == 0, ended.err
        return path

    return fitted


def refused(ended, code: int, *parts: str) -> None:
    assert ended.code == code, ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert "--debug" not in ended.err  # nothing that nobody thought of
    for part in parts:
        assert part in ended.err


BAD_TABLES = [
    ("", "is empty"),
    ("\n\n", "is empty"),
    ("a,b,label\n", "a header but no rows"),
    ("a,a,label\n1,2,x\n", "the column 'a' 2 times"),
    (",a,label\n0,2,x\n", ":1: column 1 has no name"),
    ("a,b,label\n1,2,x\n1,2\n", ":3: 2 fields where the header has 3"),
    ('a,b,label\n1,"p\nq",x\n1,2\n', ":4: 2 fields"),
    ("a,b,label\n1,inf,x\n1,2,y\n", ":2: column 'b' is inf, not a finite number"),
    ("a,b,label\n1,1e999,x\n1,2,y\n", "not a finite number"),
    (
        "a,label\n1,x\n,y\n",
        ":3: column 'a' has no value; set missing to 'drop' to leave such rows out, or to 'zero'",
    ),
    ("a,label\n1,x\n2,\n", ":3: the label column 'label' has no value"),
    ("a,label\n1,x\n2,x\n", "one class only, 'x'; two are needed"),
    ("a,label\n1,x\n", "two are needed"),
    ("a,label\n1,x\n2,y\n3,z\n", "3 classes (x, y, z), and 'fld' separates two: use --positive CLASS"),
    ("label\nx\ny\n", "no features"),
    ("a;label\n1,5;x\n2,5;y\n", ":2: column 'a' holds the text '1,5': numbers need a decimal point"),
    ('a,b,label\n1,"2,x\n', "not a CSV file"),
    (b"a,b\n\xff\xfe,1\n", "not a UTF-8 text file"),
    (MANY, ":2: column 'code' holds the text 'c0' and has 101 levels, more than the 100"),
    ("c,c=p,label\np,1,x\nq,2,y\n", "two features would be called 'c=p'"),
    ("a,label\n1e200,x\n-1e200,y\n", "the values of 'a' are too large to be scaled"),
]


@pytest.mark.parametrize(("text", "part"), BAD_TABLES)
def test_tables_that_cannot_be_learned_from(zoloss, table, text, part):
    path = table(text)
    refused(zoloss("fit", path, "--learner", "fld"), 3, part, str(path))


@pytest.mark.parametrize(("text", "part"), BAD_TABLES)
def test_tables_that_learners_cannot_be_compared_on(zoloss, table, tmp_path, text, part):
    # Scaling to [-1, 1] stands more than dividing by a deviation does.
    path = table(text.replace("1e200", "1e308") if isinstance(text, str) else text)
    files = ["--out", tmp_path / "out", "--save-config", tmp_path / "c.yaml"]
    refused(zoloss("evaluate", path, "--learners", "fld", *files), 3, part)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--learners", "pivto,lr"], "unknown learner 'pivto'; did you mean 'pivot'?"),
        (["--learners", "lr,,fld"], "'lr,,fld' is not a list of names separated by commas"),
        (["--learners", ""], "--learners: name at least one learner"),
        (["--learners", "lr,fld,lr"], "--learners: 'lr' is listed more than once"),
        (["--train", "1.5"], "--train: must be a share between 0 and 1 (both excluded) or a count"),
        (["--train", "all"], "--train: must be a share between 0 and 1"),
        (["--train", "1"], "or a count of at least 2 (got 1)"),
        (["--train", "nan"], "--train: must be"),
        (["--scale", "standrad"], "--scale: 'standrad' is not valid; did you mean 'standard'?"),
        (["--missing", "0"], "--missing: '0' is not valid; valid: error, drop, zero"),
        (["--splits", "2000000"], "--splits: input should be less than or equal to 1000000"),
        (["--format", "txt"], "--format: 'txt' is not valid"),
        (["--set", "pivot.stepz=5"], "the learner 'pivot' has no parameter 'stepz'; did you mean 'steps'?"),
        (["--set", "pivot.steps=0"], "--set pivot.steps: input should be greater than or equal to 1 (got 0)"),
        (["--set", "pivot.steps"], "write it as LEARNER.KEY=VALUE, such as pivot."),
        (["--set", "pocket.epochs=5"], "'pocket' is none of the learners here; valid: pivot, rcd-bias"),
        (["--set", "stepz=5"], "no learner here has a parameter 'stepz'; did you mean 'steps'?"),
        (
            ["--set", "seeding=zero"],
            "pivot, rcd-bias have a parameter 'seeding'; name one, as in pivot.seeding=zero",
        ),
        (["--set", "steps=5", "--set", "pivot.steps=6"], "'steps' is set more than once"),
        (["--set", "steps=.inf"], "is not a finite number"),
    ],
)
def test_options_of_evaluate_that_are_wrong(zoloss, table, tmp_path, options, part):
    command = ["evaluate", table(GOOD), "--learners", "pivot,rcd-bias", "--out", tmp_path / "out"]
    refused(zoloss(*command, *options), 2, part)
    assert not (tmp_path / "out").exists()


def test_evaluate_names_what_is_not_there(zoloss, table, tmp_path):
    path, out = table(GOOD), ["--learners", "fld", "--out", tmp_path / "out"]
    refused(
        zoloss("evaluate", path, "--label", "lable", *out), 3, "no label column 'lable'; did you mean 'label'?"
    )
    refused(zoloss("evaluate", path, "--label", "7", *out), 3, "is no column index; there are 3 columns")
    refused(zoloss("evaluate", path, "--positive", "w", *out), 3, "has no class 'w'; valid: x, y")
    refused(zoloss("evaluate", tmp_path / "min.csv", *out), 3, "there is no file", "did you mean 'mine.csv'?")
    refused(zoloss("evaluate", tmp_path, *out), 3, "cannot be read: Is a directory")
    refused(zoloss("evaluate", path, "--train", "9", *out), 3, "has 4 samples: too few for 9 to train")
    assert not (tmp_path / "out").exists()


def test_evaluate_overwrites_no_config(zoloss, table, tmp_path):
    path, config = table(GOOD), table("precious: true\n", "c.yaml")
    command = ["evaluate", path, "--learners", "fld", "--train", "0.5", "--out", tmp_path / "out", "--dry-run"]
    refused(zoloss(*command, "--save-config", config), 7, "c.yaml exists; --force overwrites it")
    assert config.read_text() == "precious: true\n"
    refused(zoloss(*command, "--save-config", path, "--force"), 7, "is also what is read")
    refused(zoloss(*command, "--save-config", tmp_path / "no" / "c.yaml"), 7, "there is no folder")
    refused(zoloss(*command, "--save-config", tmp_path), 7, "is a folder")
    assert zoloss(*command, "--save-config", config, "--force").code == 0
    assert "csv: mine.csv" in config.read_text()


def test_a_hundred_levels_are_fine(zoloss, table):
    text = MANY.replace("1,c100,x\n", "")
    assert zoloss("fit", table(text), "--learner", "ave-perc", "--set", "epochs=2").code == 0


def test_paths_that_are_no_tables(zoloss, tmp_path, model, table):
    table(GOOD)
    for command in (["fit"], ["predict", model]):
        refused(zoloss(*command, tmp_path), 3, "cannot be read: Is a directory")
        refused(zoloss(*command, tmp_path / "min.csv"), 3, "there is no file", "did you mean 'mine.csv'?")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--learner", "pivto"], "unknown learner 'pivto'; did you mean 'pivot'?"),
        (["--set", "stepz=5"], "the learner 'pivot' has no parameter 'stepz'; did you mean 'steps'?"),
        (["--set", "steps=many"], "--set steps: input should be a valid integer"),
        (["--set", "steps=0"], "--set steps: input should be greater than or equal to 1 (got 0)"),
        (["--set", "steps"], "write it as KEY=VALUE, such as steps=500"),
        (["--set", "steps=[1"], "is not a finite number, a text or a list in YAML"),
        (["--set", "time_limit=.nan"], "is not a finite number"),
        (["--set", "steps=!!python/object:os.system {}"], "in YAML"),
        (["--set", "steps=5", "--set", "steps=6"], "'steps' is set more than once"),
        (["--set", "learner=fld"], "the learner 'pivot' has no parameter 'learner'"),
        (["--learner", "sgd-hinge", "--set", "cost=mls"], "the learner 'sgd-hinge' has no parameter 'cost'"),
        (["--learner", "adaboost", "--set", "base=pockte"], "did you mean 'pocket'?"),
        (["--learner", "adaboost", "--set", "base={learner: pocket, epoch: 2}"], "did you mean 'epochs'?"),
        (["--learner", "pocket", "--time-limit", "5"], "--time-limit: the learner 'pocket' has no time limit"),
        (["--time-limit", "0"], "--time-limit: must be a number of seconds above 0 (got 0)"),
        (["--time-limit", "nan"], "--time-limit: must be"),
        (["--time-limit", "5", "--set", "time_limit=5"], "give one of them"),
        (["--scale", "standrad"], "--scale: 'standrad' is not valid; did you mean 'standard'?"),
        (["--missing", "0"], "--missing: '0' is not valid; valid: error, drop, zero"),
        (["--learner", "adaboost:ecc"], "'ecc' is for several classes, and a base must be one for two"),
        (["--learner", "ecc:romma"], "'romma' takes no sample weights, so it cannot be boosted"),
        (["--learner", "ecc:stmp"], "unknown learner 'stmp'; did you mean 'stump'?"),
        (["--learner", "lr:stump"], "unknown key 'base'"),
        (["--learner", "ecc:stump", "--set", "base=fld"], "'base' is set more than once"),
    ],
)
def test_options_that_are_wrong(zoloss, table, options, part):
    refused(zoloss("fit", table(GOOD), *options), 2, part)


def test_columns_and_classes_that_are_not_there(zoloss, table):
    path = table(GOOD)
    refused(zoloss("fit", path, "--label", "lable"), 3, "no label column 'lable'; did you mean 'label'?")
    refused(zoloss("fit", path, "--label", "7"), 3, "is no column index; there are 3 columns")
    refused(zoloss("fit", path, "--positive", "w"), 3, "has no class 'w'; valid: x, y")


def test_what_a_learner_refuses_is_one_sentence(zoloss, table):
    ended = zoloss("fit", table(GOOD), "--set", "seeding=[1, 2]")
    refused(ended, 3, "'pivot' cannot be fitted on", "seeding has 2 weights, but 4 are needed")


def test_nothing_is_overwritten_without_force(zoloss, table, model, tmp_path):
    path, before = table(GOOD), model.read_bytes()
    again = ["fit", path, "--learner", "fld"]
    refused(zoloss(*again, "--model", model), 7, "m.json exists; --force overwrites it")
    assert model.read_bytes() == before
    assert zoloss(*again, "--scale", "none", "--model", model, "--force").code == 0
    assert model.read_bytes() != before
    out = table("precious\n", "p.csv")
    refused(zoloss("predict", model, path, "--out", out), 7, "p.csv exists")
    assert out.read_text() == "precious\n"
    assert zoloss("predict", model, path, "--out", out, "--force").code == 0
    assert out.read_text().startswith("prediction,score\n")


def test_what_is_read_is_never_written(zoloss, table, model, tmp_path):
    path, before = table(GOOD), model.read_bytes()
    refused(zoloss("fit", path, "--model", path, "--force"), 7, "is also what is read")
    refused(zoloss("predict", model, path, "--out", path, "--force"), 7, "is also what is read")
    refused(zoloss("predict", model, path, "--out", model, "--force"), 7, "is also what is read")
    assert (path.read_text(), model.read_bytes()) == (GOOD, before)


def test_targets_that_cannot_be_written_are_refused_before_training(zoloss, table, tmp_path, monkeypatch):
    path = table(GOOD)
    monkeypatch.setattr("zoloss_cli.workflows.fit.fit_table", lambda *a: pytest.fail("it trained"))
    refused(zoloss("fit", path, "--model", tmp_path), 7, "is a folder; name a file")
    refused(zoloss("fit", path, "--model", tmp_path / "no" / "m.json"), 7, "there is no folder")
    refused(zoloss("fit", path, "--model", path / "m.json"), 7)
    os.mkfifo(tmp_path / "pipe")
    refused(zoloss("fit", path, "--model", tmp_path / "pipe", "--force"), 7, "is not a regular file")


def test_a_failed_write_leaves_the_old_file_and_no_other(zoloss, table, model, tmp_path, monkeypatch):
    path, before = table(GOOD), model.read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    ended = zoloss("fit", path, "--learner", "fld", "--model", model, "--force")
    assert ended.code == 7
    assert "No space left on device" in ended.err
    assert "errors" in ended.out  # what was learned is not lost
    assert model.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json", "mine.csv"]


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("format", 2, "'format' is 2, but zoloss"),
        ("format", None, "'format' is None"),
        ("kind", "tree", "'kind'"),
        ("weights", [1.0], "'weights' has 1 numbers for 3 features"),
        ("weights", [1.0, float("nan"), 2.0], "'weights.1': input should be a finite number"),
        ("weights", [1.0, "2", 2.0], "'weights.1': input should be a valid number (got '2')"),
        ("weights", [1.0, 2.0, 2.0], "'bias' does not follow from weights"),
        ("weights", [1e308, 1e308, 1e308], "'bias' does not follow"),
        ("bias", 0.5, "'bias' does not follow"),
        ("bias", float("inf"), "'bias': input should be a finite number"),
        ("score_at_centre", 10**400, "'score_at_centre'"),
        ("scaling", {"how": "standard", "centre": [0.0], "spread": [1.0]}, "'scaling.centre' has 1 numbers"),
        ("scaling", {"how": "standard", "centre": [0.0]}, "the key 'scaling.spread' is missing"),
        ("classes", ["x"], "'classes'"),
        ("classes", ["y", "y"], "'classes' names 'y' twice"),
        ("positive", "x", "'positive' is not the second of 'classes'"),
        ("labels", ["x", "w"], "'labels' does not hold the positive class"),
        ("features", ["a"], "'features' does not name what 'columns' makes"),
        ("columns", [], "'columns'"),
        ("columns", [{"name": "a", "kind": "category"}], "'a' is a category, but not by its levels"),
        ("columns", [{"name": "a", "kind": "number"}] * 2, "names a column or a level more than once"),
        ("columns", [{"name": "a", "kind": "date"}], "'columns.0.kind'"),
        ("missing", "skip", "'missing'"),
        ("weight", [1.0], "unknown key 'weight'; did you mean 'weights'?"),
    ],
)
def test_models_that_were_edited(zoloss, table, model, key, value, part):
    content = json.loads(model.read_text())
    model.write_text(json.dumps(content | {key: value}))
    refused(zoloss("predict", model, table(GOOD)), 6, str(model), part)


def test_models_without_a_key(zoloss, table, model):
    content = json.loads(model.read_text())
    for key in content:
        model.write_text(json.dumps({k: v for k, v in content.items() if k != key}))
        refused(zoloss("predict", model, table(GOOD)), 6, f"the key '{key}' is missing")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ":1: not valid JSON"),
        ('{"format": 1,\n "kind"}', ":2: not valid JSON"),
        ("[]", "is not a model file"),
        ("{}", "is not a model file"),
        ("3", "is not a model file"),
        ("[" * 100_000, "not"),
        (b"\xff\xfe", "is not a model file"),
        (GOOD, ":1: not valid JSON"),
    ],
)
def test_files_that_are_no_models(zoloss, table, text, part):
    refused(zoloss("predict", table(text, "m.json"), table(GOOD)), 6, part)


def test_model_paths(zoloss, table, model, tmp_path):
    refused(zoloss("predict", tmp_path / "mm.json", table(GOOD)), 6, "there is no model file", "'m.json'?")
    refused(zoloss("predict", tmp_path, table(GOOD)), 6, "cannot be read: Is a directory")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A,colour\n1,red\n", ["has no column 'a'; did you mean 'A'?"]),
        ("b\n1\n", ["has no column 'a'", "has no column 'colour'"]),
        ("a,colour\n1,red\n2,rde\n", [":3: column 'colour' holds 'rde'", "did you mean 'red'?"]),
        ("a,colour\n1,red\nx,red\n", [":3: column 'a' holds the text 'x' where a number is needed"]),
        ("a,colour\n1,red\n,red\n", [":3: column 'a' has no value"]),
        ("a,colour\n1,\n", [":2: column 'colour' has no value"]),
        ("a,colour\n1,red\n1\n", [":3: 1 fields where the header has 2"]),
        ("a,colour\n", ["a header but no rows"]),
        ("a,a,colour\n1,1,red\n", ["the column 'a' 2 times"]),
        ("a,colour,label\n1,red,z\n", [":2: column 'label' holds the class 'z'", "valid: x, y"]),
        ("", ["is empty"]),
    ],
)
def test_new_rows_that_do_not_fit_the_model(zoloss, table, model, tmp_path, text, parts):
    new, out = table(text, "new.csv"), tmp_path / "p.csv"
    refused(zoloss("predict", model, new, "--out", out), 3, str(new), *parts)
    assert not out.exists()


def test_new_rows_out_of_any_scale(zoloss, table, tmp_path):
    model = tmp_path / "m.json"
    tiny = table("a,label\n1e-9,x\n2e-9,y\n4e-9,y\n")
    assert zoloss("fit", tiny, "--learner", "fld", "--model", model).code == 0
    new = table("a\n1e-9\n1.7e308\n", "new.csv")
    refused(zoloss("predict", model, new), 3, ":3: the values are too large for a finite score")


def test_rows_without_a_label_are_predicted_but_not_counted(zoloss, table, model):
    ended = zoloss("predict", model, table("label,colour,a\n,red,1\nx,red,5\n", "new.csv"))
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 3
    assert "errors in 1 rows with a label" in ended.err


def test_more_classes_than_a_learner_takes(zoloss, table, tmp_path, write_config):
    path, out = table(SEVERAL), ["--out", tmp_path / "out"]
    several = "or a learner for several classes (ecc, erp, one-vs-one, one-vs-all)"
    refused(
        zoloss("fit", path), 3, "3 classes (x, y, z), and 'pivot' separates two", "--positive CLASS", several
    )
    ended = zoloss("evaluate", path, "--learners", "ecc:stump,lr", *out)
    refused(ended, 3, "3 classes (x, y, z), and 'lr' separates two: use --positive CLASS for one", several)
    many = table(FOURTEEN, "many.csv")
    cut = "is exact and for at most 13 classes, and y holds 14; use partition='greedy' instead"
    refused(zoloss("fit", many, "--learner", "ecc:stump"), 3, str(many), cut)
    refused(zoloss("evaluate", many, "--learners", "ecc:stump", *out), 3, cut)
    initial = ["--learner", "erp:stump", "--set", "initial=max-cut"]
    refused(zoloss("fit", many, *initial), 3, "use initial='greedy' instead")
    config = write_config("datasets: {own: {csv: many.csv}}\nlearners: {ecc: {base: stump}}\n")
    refused(zoloss("run", config, *out), 3, "data set 'own'", cut)
    assert not (tmp_path / "out").exists()
    assert zoloss("fit", many, "--learner", "ecc:stump", "--set", "partition=greedy").code == 0


@pytest.mark.parametrize("learner", ["ecc:stump", "one-vs-one"])
def test_tables_of_too_few_classes_or_without_a_label(zoloss, table, learner):
    for text, part in (
        ("a,label\n1,x\n2,x\n", "one class only, 'x'; two are needed"),
        ("a,label\n1,x\n2,y\n3,nan\n4,z\n", ":4: the label column 'label' has no value"),
    ):
        refused(zoloss("fit", table(text), "--learner", learner), 3, part)
        refused(zoloss("evaluate", table(text), "--learners", learner), 3, part)
        refused(zoloss("evaluate", table(text)), 3, part)


def test_the_usual_learners_need_right_options_all_the_same(zoloss, table, tmp_path):
    command = ["evaluate", table(SEVERAL), "--out", tmp_path / "out"]
    refused(zoloss(*command, "--missing", "0"), 2, "--missing: '0' is not valid; valid: error, drop, zero")
    refused(zoloss(*command, "--train", "1.5"), 2, "--train: must be a share between 0 and 1")
    refused(zoloss(*command, "--set", "lr.C=[1]"), 2, "'lr' is none of the learners here")
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_saved_is_said_before_training(zoloss, table, tmp_path, monkeypatch):
    """As a learner of another package, of a kind that no part of a file is for."""
    from zoloss_cli.workflows.estimator_state import STATE_TYPES

    monkeypatch.setattr("zoloss_cli.workflows.fit.fit_table", lambda *a: pytest.fail("it trained"))
    monkeypatch.delitem(STATE_TYPES, "zoloss_cli.learners.kernel_svm:KernelSVMClassifier")
    for learner in ("svm-perceptron", "ecc:adaboost:svm-perceptron"):
        ended = zoloss("fit", table(SEVERAL), "--learner", learner, "--model", tmp_path / "m.json")
        refused(ended, 2, "--model: the estimator of 'svm-perceptron' cannot be saved")


def first_member(content: dict, **changes) -> dict:
    members = content["learned"]["members"]
    return content["learned"] | {"members": [members[0] | changes, *members[1:]]}


LINEAR = {"kind": "linear", "bias": 0.0, "weights": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("learner", "change", "part"),
    [
        ("ecc:stump", lambda c: {"versions": c["versions"] | {"stump": "1"}}, "'versions' has '1' for 'stump'"),
        ("ecc:stump", lambda c: {"versions": {"ecc": "2"}}, "'versions' has None for 'stump', but zoloss"),
        ("ecc:stump", lambda c: {"versions": 2}, "'versions': input should be a valid dict"),
        ("ecc:stump", lambda c: {"learner": "eccc"}, "unknown learner 'eccc'; did you mean 'ecc'?"),
        ("ecc:stump", lambda c: {"learner": "stump"}, "'parameters'"),
        ("ecc:stump", lambda c: {"learner": "adaboost"}, "'parameters'"),
        ("ecc:stump", lambda c: {"parameters": c["parameters"] | {"rounds": 0}}, "greater than or equal to 1"),
        ("ecc:stump", lambda c: {"parameters": c["parameters"] | {"base": "stmp"}}, "did you mean 'stump'?"),
        ("ecc:stump", lambda c: {"classes": ["x", "y"], "positive": "y"}, "there are 3 words but 2 classes"),
        ("ecc:stump", lambda c: {"classes": ["x", "y", "y"]}, "'classes' names 'y' twice"),
        ("ecc:stump", lambda c: {"classes": ["x", "y", "w"]}, "of more than two 'classes', 'labels' holds all"),
        ("ecc:stump", lambda c: {"positive": "x"}, "of more than two 'classes'"),
        (
            "ecc:stump",
            lambda c: {"scaling": c["scaling"] | {"spread": [1.0]}},
            "'scaling.spread' has 1 numbers",
        ),
        ("ecc:stump", lambda c: {"learned": LINEAR}, "the kind 'linear' stands where 'ecc' needs 'code'"),
        (
            "ecc:stump",
            lambda c: {"learned": c["learned"] | {"members": [LINEAR] * 4}},
            "the kind 'linear' stands where 'stump' needs 'stump'",
        ),
        ("ecc:stump", lambda c: {"learned": {"kind": "tree"}}, "'learned': input tag 'tree'"),
        (
            "ecc:stump",
            lambda c: {"learned": c["learned"] | {"members": c["learned"]["members"][1:]}},
            "there are 4 letters of a word but 3 members but 4 coefficients",
        ),
        ("ecc:stump", lambda c: {"learned": c["learned"] | {"words": ["+-+x"] * 3}}, "words.0': string should"),
        ("ecc:stump", lambda c: {"learned": first_member(c, feature=2)}, "2 is none of the 2 features"),
        ("ecc:stump", lambda c: {"learned": first_member(c, feature=-1)}, "-1 is none of the 2 features"),
        (
            "ecc:stump",
            lambda c: {"learned": first_member(c, direction=2)},
            "direction': input should be -1 or 1",
        ),
        ("ecc:stump", lambda c: {"learned": first_member(c, threshold=float("nan"))}, "a finite number"),
        ("ecc:stump", lambda c: {"learned": first_member(c, more=1)}, "unknown key 'learned.code.members.0"),
        ("one-vs-all:fld", lambda c: {"learned": first_member(c, weights=[1.0])}, "1 weights but 2 features"),
        ("one-vs-all:adaboost-stump", lambda c: {"learned": first_member(c, features=[0])}, "1 features but"),
        ("one-vs-one:svm-perceptron", lambda c: {"points": c["points"][1:]}, "is none of the"),
        ("one-vs-one:svm-perceptron", lambda c: {"points": [[1.0]]}, "'learned': "),
        ("one-vs-one:svm-perceptron", lambda c: {"learned": first_member(c, points=[])}, "0 points but"),
    ],
)
def test_classifiers_that_were_edited(zoloss, table, classifier, learner, change, part):
    path = classifier(learner)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | change(content)))
    refused(zoloss("predict", path, table(SEVERAL)), 6, str(path), part)


def test_classifiers_without_a_key(zoloss, table, classifier):
    path = classifier("ecc:stump")
    content = json.loads(path.read_text())
    for key in content:
        path.write_text(json.dumps({k: v for k, v in content.items() if k != key}))
        ended = zoloss("predict", path, table(SEVERAL))
        refused(ended, 6, f"the key '{key}' is missing")


def test_new_rows_that_no_classifier_can_place(zoloss, table, classifier, tmp_path):
    tiny = table("a,label\n1e-9,x\n2e-9,y\n4e-9,z\n")
    assert zoloss("fit", tiny, "--learner", "one-vs-one:fld", "--model", tmp_path / "tiny.json").code == 0
    new = table("a\n1e-9\n1.7e308\n", "new.csv")
    refused(zoloss("predict", tmp_path / "tiny.json", new), 3, ":3: the values are too large for a finite")
    path = classifier("ecc:stump")
    unknown = table("a,b,label\n1,2,x\n1,2,w\n", "new.csv")
    refused(zoloss("predict", path, unknown), 3, ":3: column 'label' holds the class 'w'", "valid: x, y, z")
