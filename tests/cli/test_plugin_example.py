"""A package of a third party, really installed: its learner and its data sets, used like ours."""

from __future__ import annotations

import json

import pytest
from places import TOP
from processes import SEVERAL, environment, run_python

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
METRIC = "metric: matthews\ndatasets: [stripes]\nsplit: {repeats: 3}\nlearners: [centroid, fld]\n"
LIBRARY = """
from zoloss_cli import check_learner, load_dataset
import zoloss_example
print([load_dataset(*of)[0].shape for of in (['triangles'], ['stripes'])])
print(check_learner('centroid'))
try:
    load_dataset('stripes', width=2.0)
except Exception as error:
    print(error)
right = zoloss_example.CentroidClassifier.learn
zoloss_example.CentroidClassifier.learn = lambda *given: -right(*given)
check_learner('centroid')
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run this Python in a folder, with the example installed by pip, without a network."""
    site = tmp_path_factory.mktemp("site")
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--no-compile", "--disable-pip-version-check"]
    example = TOP / "tests" / "plugin_example"
    ended = run_python("-m", "pip", "install", "--quiet", *offline, "--target", site, example)
    assert ended.code == 0, ended.err
    return lambda folder, *arguments: run_python(*arguments, env=environment(site), cwd=folder)


def test_it_is_listed_run_shown_fitted_and_saved(python, tmp_path):
    for name, text in (("theirs", CONFIG), ("metric", METRIC)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "mine.csv").write_text("a,label\n1,no\n2,no\n5,yes\n6,yes\n", encoding="utf-8")
    commands = (
        "learners", "learners centroid", "datasets", "datasets show stripes", "datasets show triangles",
        "schema", "run theirs.yaml --jobs 2", "table results", "run metric.yaml --jobs 1 --out scored",
        "table scored", "fit mine.csv --learner centroid --model rule.json --json",
        "predict rule.json mine.csv", "run theirs.yaml",
    )  # fmt: skip
    ended = python(tmp_path, "-c", SEVERAL, *commands)
    assert ended.code == 0, ended.err
    out = dict(zip(commands, ended.out.split("====\n"), strict=False))
    assert "centroid" in out["learners"]
    assert "measure in units of each feature's spread" in out["learners centroid"]
    assert "Draw samples in the unit square" in out["datasets"]
    assert "zoloss-example 0.1" in out["datasets"]
    assert "broken" not in out["learners"] + out["datasets"]
    assert "width (default 0.5): width of a stripe" in out["datasets show stripes"]
    assert "acute: 61, obtuse: 30" in out["datasets show triangles"]
    sections = json.loads(out["schema"])["properties"]
    assert sections["datasets"]["anyOf"][1]["properties"]["stripes"]["anyOf"][1]["properties"]["width"]
    assert "centroid" in sections["learners"]["anyOf"][0]["items"]["anyOf"][0]["enum"]

    assert out["table results"].count("±") == 12
    assert "36 were done, 0 run" in ended.err
    cells = list((tmp_path / "results" / "cells").glob("*.jsonl"))
    assert len(cells) == 12
    for cell in cells:
        identity = json.loads(cell.read_text(encoding="utf-8").splitlines()[0])["identity"]
        assert len(identity["data"]["sha256"]) == 64
        assert identity.get("package") == ("zoloss-example 0.1" if identity["learner"] == "centroid" else None)
        if identity["learner"] == "adaboost":
            assert identity["parameters"]["base"]["package"] == "zoloss-example 0.1"

    (scored,) = (tmp_path / "scored" / "cells").glob("*centroid*.jsonl")
    values = []
    for line in scored.read_text(encoding="utf-8").splitlines()[1:]:
        (tn, fp), (fn, tp) = json.loads(line)["test_confusion"]
        values.append((tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5)
    assert f"{sum(values) / 3:.3f}" in out["table scored"]
    assert json.loads(out[commands[-3]])["errors"] == 0
    assert "no" in out[commands[-2]]


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
    ended = python(tmp_path, "-m", "zoloss_cli", "validate", "wrong.yaml")
    assert ended.code == 2
    said = [line.removeprefix("zoloss: wrong.yaml:") for line in ended.err.splitlines()]
    assert said == [
        "2: datasets.stripes.width: input should be less than 1 (got 2.0)",
        "3: datasets.a.generator: unknown generator 'strips'; did you mean 'stripes'?",
        "4: datasets.b: unknown data set 'trangles'; did you mean 'triangles'?",
        "6: learners.centroid.spread: input should be a valid boolean (got 3)",
        "7: learners.centroyd: unknown learner 'centroyd'; did you mean 'centroid'?",
    ]


def test_it_is_loaded_by_name_and_scores_of_the_wrong_sign_break_the_contract(python, tmp_path):
    ended = python(tmp_path, "-c", LIBRARY)
    shapes, kept, refused = ended.out.splitlines()
    assert (ended.code, shapes, kept) == (1, "[(91, 3), (400, 2)]", "[]")
    assert "load_dataset('stripes') width: input should be less than 1 (got 2.0)" in refused
    assert "AssertionError" in ended.err
