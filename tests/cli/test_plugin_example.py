"""A package of a third party, really installed: its learner and its data sets, used like ours."""

from __future__ import annotations

import json

import pytest
from places import TOP
from processes import environment, run_python

EXAMPLE = TOP / "tests" / "plugin_example"

CONFIG = """
datasets:
  triangles:
  acute: {dataset: triangles, positive: acute}
  wide: {generator: stripes, size: 120, width: 0.5}
split: {train: 0.8, repeats: 3, seed: 3}
learners:
  centroid:
  plain: {learner: centroid, spread: false}
  boosted: {learner: adaboost, base: centroid, rounds: 5}
  fld:
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder that pip installed the example into, without a network."""
    folder = tmp_path_factory.mktemp("site")
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    install = ["-m", "pip", "install", "--quiet", *offline, "--target", folder, EXAMPLE]
    ended = run_python(*install)
    assert ended.code == 0, ended.err
    return folder


@pytest.fixture
def python(site, tmp_path):
    """Run this Python in an empty folder, with the example installed."""
    return lambda *arguments: run_python(*arguments, env=environment(site), cwd=tmp_path)


@pytest.fixture
def command(python):
    def run(*arguments):
        ended = python("-m", "zoloss_cli", *arguments)
        assert ended.code == 0, ended.err
        return ended.out

    return run


SEVERAL = """
import sys
from zoloss_cli.cli.app import app
for line in sys.argv[1:]:
    app(line.split(), standalone_mode=False)
    print("====")
"""


def test_it_is_listed_and_described(python):
    lines = ["learners", "learners centroid", "datasets", "datasets show stripes", "datasets show triangles"]
    ended = python("-c", SEVERAL, *lines, "schema")
    assert ended.code == 0, ended.err
    learners, centroid, datasets, stripes, triangles, schema, _ = ended.out.split("====\n")
    assert "centroid" in learners
    assert "measure in units of each feature's spread" in centroid
    assert "Draw samples in the unit square" in datasets
    assert "zoloss-example 0.1" in datasets
    assert "broken" not in learners + datasets
    assert "width (default 0.5): width of a stripe" in stripes
    assert "acute: 61, obtuse: 30" in triangles
    assert "sha256" in triangles
    sections = json.loads(schema)["properties"]
    assert sections["datasets"]["anyOf"][1]["properties"]["stripes"]["anyOf"][1]["properties"]["width"]
    assert sections["datasets"]["anyOf"][1]["properties"]["triangles"]
    assert "centroid" in sections["learners"]["anyOf"][0]["items"]["anyOf"][0]["enum"]


def test_a_config_names_it(command, python, tmp_path):
    (tmp_path / "theirs.yaml").write_text(CONFIG, encoding="utf-8")
    command("run", "theirs.yaml", "--jobs", "2")
    table = command("table", "results")
    assert table.count("±") == 12
    headers = [
        json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        for path in (tmp_path / "results" / "cells").glob("*.jsonl")
    ]
    assert len(headers) == 12
    for header in headers:
        identity = header["identity"]
        assert len(identity["data"]["sha256"]) == 64
        theirs = identity["learner"] == "centroid"
        assert identity.get("package") == ("zoloss-example 0.1" if theirs else None)
        if identity["learner"] == "adaboost":
            assert identity["parameters"]["base"]["package"] == "zoloss-example 0.1"
    again = python("-m", "zoloss_cli", "run", "theirs.yaml")
    assert "36 were done, 0 run" in again.err


def test_its_metric_is_shown(command, tmp_path):
    config = "metric: matthews\ndatasets: [stripes]\nsplit: {repeats: 3}\nlearners: [centroid, fld]\n"
    (tmp_path / "metric.yaml").write_text(config, encoding="utf-8")
    command("run", "metric.yaml", "--jobs", "1")
    assert ",matthews," in command("table", "results", "--format", "csv")
    cells = (tmp_path / "results" / "cells").glob("*centroid*.jsonl")
    records = [json.loads(line) for line in next(cells).read_text(encoding="utf-8").splitlines()[1:]]
    values = []
    for record in records:
        (tn, fp), (fn, tp) = record["test_confusion"]
        values.append((tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5)
    assert f"{sum(values) / 3:.3f}" in command("table", "results")


def test_mistakes_about_it_are_named(python, tmp_path):
    (tmp_path / "wrong.yaml").write_text(
        "datasets:\n"
        "  stripes: {width: 2.0, sise: 3}\n"
        "  a: {generator: strips}\n"
        "  b: {dataset: trangles}\n"
        "learners:\n"
        "  centroid: {spread: 3}\n"
        "  centroyd:\n",
        encoding="utf-8",
    )
    ended = python("-m", "zoloss_cli", "validate", "wrong.yaml")
    assert ended.code == 2
    said = [line.removeprefix("zoloss: wrong.yaml:") for line in ended.err.splitlines()]
    assert said == [
        "2: datasets.stripes.width: input should be less than 1 (got 2.0)",
        "3: datasets.a.generator: unknown generator 'strips'; did you mean 'stripes'?",
        "4: datasets.b: unknown data set 'trangles'; did you mean 'triangles'?",
        "6: learners.centroid.spread: input should be a valid boolean (got 3)",
        "7: learners.centroyd: unknown learner 'centroyd'; did you mean 'centroid'?",
    ]


def test_it_fits_ones_own_table_and_saves_the_rule(command, tmp_path):
    (tmp_path / "mine.csv").write_text("a,label\n1,no\n2,no\n5,yes\n6,yes\n", encoding="utf-8")
    told = json.loads(command("fit", "mine.csv", "--learner", "centroid", "--model", "rule.json", "--json"))
    assert told["errors"] == 0
    assert "no" in command("predict", "rule.json", "mine.csv")


def test_it_keeps_the_contract(python):
    ended = python("-c", "from zoloss_cli import check_learner; check_learner('centroid')")
    assert ended.code == 0, ended.err


def test_a_learner_that_breaks_the_contract_is_found(python):
    """The same class with scores of the wrong sign must not pass."""
    ended = python(
        "-c",
        "import zoloss_example\n"
        "from zoloss_cli import check_learner\n"
        "right = zoloss_example.CentroidClassifier.learn\n"
        "zoloss_example.CentroidClassifier.learn = lambda *given: -right(*given)\n"
        "check_learner('centroid')\n",
    )
    assert ended.code == 1
    assert "AssertionError" in ended.err


def test_its_data_sets_are_loaded_by_name(python):
    ended = python(
        "-c",
        "from zoloss_cli import load_dataset\n"
        "print([load_dataset(*of)[0].shape for of in (['triangles'], ['stripes'])])\n"
        "print(load_dataset('stripes', width=2.0))\n",
    )
    assert ended.out.strip() == "[(91, 3), (400, 2)]"
    assert "load_dataset('stripes') width: input should be less than 1 (got 2.0)" in ended.err
