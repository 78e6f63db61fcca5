"""Configs: what is accepted, what the defaults are, and that every mistake is named with its place."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.messages import NameLoader
from zoloss_cli.config.schema import build_config_schema
from zoloss_cli.errors import ConfigError
from zoloss_cli.utils.files import find_shipped_config, list_shipped_configs, shipped_folder

SHIPPED = sorted(shipped_folder("configs").rglob("*.yaml"))


def mistakes_of(path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return str(caught.value)


def test_defaults(write_config):
    experiment = load_config(write_config("datasets: [heart]\nlearners: [rcd-bias]\n", "mine.yaml"))
    assert experiment.name == "mine"
    assert experiment.metric == "test_error"
    assert experiment.split.train == 0.8
    assert experiment.split.repeats == 500
    assert experiment.preprocess.scale == "minmax"
    assert experiment.learners[0].parameters["epochs"] == 2000
    assert experiment.learners[0].parameters["seeding"] == "zero"


def test_the_preprocessing_seed_reaches_learners_that_can_be_seeded(write_config):
    text = (
        "datasets: [heart]\npreprocess: {seeding: fld}\n"
        "learners: {pocket: {}, rcd-bias: {seeding: zero}, soft-svm: }\n"
    )
    pocket, rcd, svm = load_config(write_config(text)).learners
    assert pocket.parameters["seeding"] == "fld"
    assert rcd.parameters["seeding"] == "zero"
    assert "seeding" not in svm.parameters


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("datasets: [hart]\nlearners: [fld]", 1, ["datasets.hart", "did you mean 'heart'?"]),
        ("datasets: [heart]\nlearners:\n  rcd-bais:", 3, ["learners.rcd-bais", "did you mean 'rcd-bias'?"]),
        ("datasets: [heart]\nlearners: [fld]\nsplt: {}", 3, ["unknown key 'splt'", "'split'"]),
        (
            "datasets: [heart]\nlearners: [fld]\nsplit:\n  repeats: 0",
            4,
            ["split.repeats", "greater than or equal to 1"],
        ),
        ("datasets: [heart]\nlearners: [fld]\nsplit: {repeats: -3}", 3, ["split.repeats", "-3"]),
        ("datasets: [heart]\nlearners: [fld]\nsplit: {repeats: many}", 3, ["split.repeats", "integer"]),
        ("datasets: [heart]\nlearners: [fld]\nsplit: {repeats: 2.5}", 3, ["split.repeats", "integer"]),
        (
            "datasets: [heart]\nlearners: [fld]\nsplit: {train: 0.0}",
            3,
            ["split.train", "share between 0 and 1"],
        ),
        (
            "datasets: [heart]\nlearners: [fld]\nsplit: {train: 1.0}",
            3,
            ["split.train", "share between 0 and 1"],
        ),
        ("datasets: [heart]\nlearners: [fld]\nsplit: {train: 1}", 3, ["split.train", "count of at least 2"]),
        ("datasets: [heart]\nlearners: [fld]\nsplit: {train: yes}", 3, ["split.train"]),
        (
            "datasets: [heart]\nlearners:\n  adaboost:\n    base:\n      learner: rcd-bais",
            5,
            ["learners.adaboost.base", "'rcd-bais'", "did you mean 'rcd-bias'?"],
        ),
        (
            "datasets: [heart]\nlearners:\n  adaboost:\n    base:\n      learner: pocket\n      epoch: 5",
            6,
            ["learners.adaboost.base.epoch", "unknown key 'epoch'", "'epochs'"],
        ),
        (
            "datasets: [heart]\nlearners:\n  adaboost:\n    base: romma",
            4,
            ["learners.adaboost.base", "'romma' takes no sample weights"],
        ),
        ("datasets: [heart]\nlearners: {adaboost: {base: 7}}", 2, ["learners.adaboost.base", "got 7"]),
        ("datasets: [heart]\nlearners: {adaboost: {base: {epochs: 7}}}", 2, ["learner's name"]),
        (
            "datasets: [heart]\nlearners: {pocket: {best_of: [1]}}",
            2,
            ["learners.pocket.best_of", "list of values"],
        ),
        ("datasets: [heart]\nlearners: {pocket: {best_of: {epochs: 3}}}", 2, ["list of values"]),
        ("datasets: [heart]\nlearners: {pocket: {best_of: {bas.C: [3]}}}", 2, ["'bas.C' leads nowhere"]),
        ("datasets: [heart]\nlearners: {pocket: {best_of: {epoch: [3]}}}", 2, ["unknown key 'epoch'"]),
        ("datasets: [heart]\nlearners: {adaboost: {rounds: 0}}", 2, ["learners.adaboost.rounds"]),
        ("datasets: [heart]\nlearners: [fld]\nalso: iteration", 3, ["also", "did you mean 'iterations'?"]),
        (
            "datasets: [heart]\nlearners: [fld]\nmetric: lower_bound",
            2,
            ["learners.fld: 'fld' reports no lower_bound", "those that do: svm, lr"],
        ),
        ("datasets: [heart]\nlearners: [fld]\nalso: test_eror", 3, ["also", "did you mean 'test_error'?"]),
        ("datasets: [heart]\nlearners: {pocket: {epochs: 0}}", 2, ["learners.pocket.epochs"]),
        ("datasets: [heart]\nlearners: {pocket: {epoch: 5}}", 2, ["unknown key 'epoch'", "'epochs'"]),
        (
            "datasets: [heart]\nlearners: {rcd-bias: {update: '2.5'}}",
            2,
            ["learners.rcd-bias.update", "'2.5' is not valid; did you mean"],
        ),
        ("datasets: [heart]\nlearners: {rcd-bias: {variant: plain}}", 2, ["unknown key 'variant'"]),
        ("datasets: [heart]\nlearners: {a: {learner: pockt}}", 2, ["learners.a.learner", "'pocket'"]),
        ("datasets: [heart]\nlearners: {soft-svm: {C: [1, -1]}}", 2, ["learners.soft-svm.C", "greater than 0"]),
        ("datasets: [heart]\nlearners: {pocket: 5}", 2, ["learners.pocket", "mapping"]),
        ("datasets: [heart]\nlearners: [fld]\nmetric: test_eror", 3, ["'test_error'"]),
        ("datasets: [heart]\nlearners: [fld]\npreprocess: {scale: minmx}", 3, ["preprocess.scale", "'minmax'"]),
        ("datasets: [heart]\nlearners: [fld]\npublished: {paper: x}", 3, ["either a table or a figure"]),
        ("datasets: {ringnorm: {size: 1}}\nlearners: [fld]", 1, ["datasets.ringnorm.size"]),
        ("datasets: {yinyang: {eye: 0.9}}\nlearners: [fld]", 1, ["datasets.yinyang.eye"]),
        ("datasets: {x: {generator: ringnrm}}\nlearners: [fld]", 1, ["datasets.x.generator", "'ringnorm'"]),
        (
            "datasets: {heart: {noise: {fraction: 0}}}\nlearners: [fld]",
            1,
            ["datasets.heart.noise", "greater than 0"],
        ),
        ("datasets: {mine: {csv: a.csv, lable: y}}\nlearners: [fld]", 1, ["unknown key 'lable'", "'label'"]),
        ("datasets: {mine: {csv: 3}}\nlearners: [fld]", 1, ["datasets.mine.csv"]),
        ("datasets: []\nlearners: [fld]", 1, ["'datasets' must name at least one entry"]),
        ("learners: [fld]", 1, ["'datasets' must name at least one entry"]),
        ("datasets: [heart, heart]\nlearners: [fld]", 1, ["listed more than once"]),
        ("datasets: {heart: , heart: }\nlearners: [fld]", 1, ["given more than once"]),
    ],
)
def test_each_mistake_is_named_with_its_place(write_config, text, line, parts):
    path = write_config(text + "\n")
    message = mistakes_of(path)
    assert f"{path}:{line}: " in message
    for part in parts:
        assert part in message


def test_all_mistakes_are_reported_at_once(write_config):
    message = mistakes_of(write_config("datasets: [hart, wien]\nlearners: [fdl]\nsplit: {repeats: 0}\n"))
    assert len(message.splitlines()) == 4


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "is empty"),
        (b"# only a comment\n", "is empty"),
        (b"\x00\xff\xfe\x93binary", "not a text file"),
        (b"\x00\x01\x02", "not valid YAML"),
        (b"- a\n- b\n", "must be a mapping of keys"),
        (b"datasets: [heart\nlearners: [x]\n", ":2: not valid YAML"),
        (b"datasets: !!python/object/apply:os.system ['true']\n", "not valid YAML"),
        (b"x" * (1 << 21), "is too large: "),
    ],
)
def test_files_that_are_no_config(tmp_path, content, part):
    path = tmp_path / "odd.yaml"
    path.write_bytes(content)
    message = mistakes_of(path)
    assert str(path) in message
    assert part in message


def test_a_missing_file_suggests_its_neighbour(write_config, tmp_path):
    write_config("x: 1", "table2.yaml")
    message = mistakes_of(tmp_path / "tabel2.yaml")
    assert "there is no config" in message
    assert "did you mean 'table2.yaml'?" in message


def test_shipped_configs_are_found_without_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_config(Path("configs/table2.yaml")).published.table == "II"
    assert load_config(Path("thesis/table2.3.yaml")).published.table == "2.3"
    assert load_config(Path("table2")).published.table == "II"
    assert load_config(Path("configs/thesis/table2.3")).published.table == "2.3"
    (tmp_path / "table2").mkdir()  # a folder is not a config
    assert load_config(Path("table2")).published.table == "II"


def test_one_s_own_file_comes_before_a_shipped_one(tmp_path, monkeypatch, write_config):
    monkeypatch.chdir(tmp_path)
    write_config("title: Mine\ndatasets: [heart]\nlearners: [fld]\n", "table3")
    assert load_config(Path("table3")).title == "Mine"


@pytest.mark.parametrize("wrong", ["tabel2", "configs/tabel2.yaml"])
def test_a_wrong_name_suggests_a_shipped_config(tmp_path, monkeypatch, wrong):
    monkeypatch.chdir(tmp_path)
    assert mistakes_of(Path(wrong)) == f"there is no config {wrong}; did you mean 'table2'?"


def test_nothing_outside_of_the_shipped_folder_is_a_shipped_config():
    assert find_shipped_config(Path("configs/../datasets/catalog.yaml")) is None
    assert find_shipped_config(shipped_folder("configs") / "table2") is None  # an absolute path is a file's
    assert find_shipped_config(Path()) is None
    named = [find_shipped_config(Path(name)) for name in list_shipped_configs()]
    assert sorted(named) == SHIPPED


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_shipped_configs_are_valid_and_fit_the_schema(path):
    experiment = load_config(path)
    assert experiment.title
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=NameLoader)
    jsonschema.validate(content, build_config_schema())
    first = path.read_text(encoding="utf-8").splitlines()[0]
    target = first.partition("$schema=")[2]
    assert (path.parent / target).resolve() == (shipped_folder("configs") / "schema.json").resolve()


def test_the_shipped_schema_is_current():
    assert (
        json.loads((shipped_folder("configs") / "schema.json").read_text(encoding="utf-8"))
        == build_config_schema()
    )


@pytest.mark.parametrize(
    "text",
    [
        "datasets: [hart]\nlearners: [fld]",
        "datasets: [heart]\nlearners: {pocket: {epochs: 0}}",
        "datasets: [heart]\nlearners: [fld]\nsplit: {repeats: 0}",
        "datasets: [heart]\nlearners: [fld]\nodd: 1",
    ],
)
def test_the_schema_refuses_what_the_checks_refuse(text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), build_config_schema())


def test_every_published_table_has_the_cells_of_its_config():
    from zoloss_cli.report import cells as improvement
    from zoloss_cli.report.compare import DATA
    from zoloss_cli.report.papers import read_published_tables

    for path in SHIPPED:
        experiment = load_config(path)
        if experiment.published and experiment.published.table:
            published = read_published_tables()[experiment.published.paper, experiment.published.table]
            labels = experiment.ratios or [x.label for x in experiment.learners]
            ours = {(d.name, label) for d in experiment.datasets for label in labels}
            # Besides its columns a table may say how large data sets are, and what is between columns.
            cells = [cell for cell in published if cell[1] not in (DATA, improvement.LEARNER)]
            theirs = {(dataset, learner) for dataset, learner, _ in cells}
            columns = {learner for _, learner in theirs}
            assert theirs <= ours
            own = {"pivot", "csa:points", "pcs:points"}  # columns of our own
            assert {learner for _, learner in ours} - columns <= own
            assert {metric for *_, metric in cells} <= {experiment.metric, experiment.also}
            improved = {dataset for dataset, learner, _ in published if learner == improvement.LEARNER}
            assert improved == ({d.name for d in experiment.datasets} if experiment.improvement else set())


def test_best_of_makes_one_learner_for_each_combination(write_config):
    text = (
        "datasets: [heart]\nlearners:\n  x:\n    learner: adaboost\n    base: rcd-bias\n"
        "    best_of: {base.epochs: [10, 20], rounds: [3, 4, 5]}\n"
    )
    specs = load_config(write_config(text)).learners
    assert [s.label for s in specs] == ["x"] * 6
    assert specs[1].choice == "base.epochs=10, rounds=4"
    assert specs[1].parameters["rounds"] == 4
    assert specs[1].parameters["base"]["epochs"] == 10
    assert len({s.settings for s in specs}) == 6
