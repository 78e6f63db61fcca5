"""Classes of packages and files as learners of a config: specifications, identities, mistakes."""

from __future__ import annotations

import json
import sys

import jsonschema
import pytest
from foreign_classes import CLASSES
from packages import write_distribution
from sklearn import __version__ as sklearn_version

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.messages import read_yaml
from zoloss_cli.config.schema import build_config_schema
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.results.manifest import decode_experiment
from zoloss_cli.utils.code_files import allow_code, use_code_policy

GOOD = """
datasets: [heart, iris]
split: {repeats: 2}
tuning: {folds: 2}
learners:
  logreg: {learner: sklearn.linear_model.LogisticRegression, C: 0.5, class_weight: {0: 1, 1: 5, 2: 1}}
  bag:
    learner: sklearn.ensemble.BaggingClassifier
    n_estimators: 2
    estimator: {learner: sklearn.tree.DecisionTreeClassifier, max_depth: 2}
  net: {learner: sklearn.neural_network.MLPClassifier, hidden_layer_sizes: [3, 2], max_iter: 5}
  tuned: {learner: sklearn.svm.LinearSVC, tune: {C: [0.1, 1.0]}}
  sklearn.svm.LinearSVC:
  duck: {learner: mine.py:Duck, order: 1}
  own: {learner: mine.py:Own, shift: 2.0, on: {iris: false}}
  boosted: {learner: adaboost, rounds: 3, base: "mine.py:Own", on: {iris: false}}
"""


@pytest.fixture
def good(write_config, tmp_path):
    """A config with every kind of class, and the file that it names."""
    (tmp_path / "mine.py").write_text(CLASSES)
    return write_config(GOOD)


def test_parameters_are_those_that_were_given_and_own_ones_are_complete(good):
    with allow_code():
        specs = {spec.label: spec for spec in load_config(good).learners}
    assert specs["logreg"].parameters == {"C": 0.5, "class_weight": {0: 1, 1: 5, 2: 1}}
    assert specs["bag"].parameters["estimator"] == {
        "learner": "sklearn.tree.DecisionTreeClassifier",
        "max_depth": 2,
    }
    assert specs["net"].parameters["hidden_layer_sizes"] == [3, 2]
    assert [candidate.parameters for candidate in specs["tuned"].tune] == [{"C": 0.1}, {"C": 1.0}]
    assert specs["sklearn.svm.LinearSVC"].parameters == {}
    assert specs["own"].parameters == {"shift": 2.0}
    assert specs["duck"].code == specs["own"].code
    assert specs["boosted"].name == "adaboost:mine.py:Own"
    hash(tuple(specs.values()))  # which caches of tasks need


def test_an_identity_has_the_package_or_the_content_and_needs_no_permission(good, tmp_path):
    with allow_code():
        experiment = load_config(good)
    cells = {cell.learner.label: cell for cell in plan(experiment) if cell.data.name == "heart"}
    assert cells["bag"].identity["package"] == f"scikit-learn {sklearn_version}"
    assert cells["bag"].identity["parameters"]["estimator"]["package"] == f"scikit-learn {sklearn_version}"
    sha256 = cells["duck"].learner.code.sha256
    assert cells["duck"].identity["code"] == sha256
    assert cells["boosted"].identity["parameters"]["base"]["code"] == sha256
    assert "package" not in cells["boosted"].identity
    assert len({cell.key for cell in cells.values()}) == len(cells)
    (tmp_path / "mine.py").write_text(CLASSES + "\n# changed\n")
    with allow_code():
        changed = {cell.learner.label: cell for cell in plan(load_config(good)) if cell.data.name == "heart"}
    other = {label for label, cell in cells.items() if changed[label].key != cell.key}
    assert other == {"duck", "own", "boosted"}
    assert changed["duck"].seed_name == cells["duck"].seed_name
    assert (
        changed["duck"].learner.name == cells["duck"].learner.name
    )  # so that seeds stay when a file is edited


def test_a_manifest_gives_the_same_plan_again(good):
    with allow_code():
        experiment = load_config(good)
    content = json.dumps(experiment.model_dump(mode="json"))
    again = decode_experiment(content.encode())
    assert again == experiment
    assert [cell.key for cell in plan(again)] == [cell.key for cell in plan(experiment)]
    assert str(good.parent) not in content
    with pytest.raises(ValueError, match=r"the text of mine\.py is not what its sha256 says"):
        decode_experiment(content.replace("no luck", "bad luck").encode())


def test_manifests_of_other_learners_are_as_they_were(small_config):
    (entry, *_) = load_config(small_config).model_dump(mode="json")["learners"]
    assert list(entry) == ["label", "learner", "settings", "choice", "tune", "only"]


def test_the_schema_takes_what_the_loader_takes(good):
    validator = jsonschema.Draft202012Validator(build_config_schema())
    content, _ = read_yaml(good)
    assert list(validator.iter_errors(content)) == []
    content["learners"] = ["rcd-bias", "sklearn.svm.LinearSVC", "mine.py:Duck"]
    assert list(validator.iter_errors(content)) == []
    for wrong in (["rcd-bais"], {"rcd-bais": None}, {"a": {"learner": "pockt"}}):
        assert list(validator.iter_errors(content | {"learners": wrong}))


@pytest.mark.parametrize(
    ("entry", "place", "message"),
    [
        (
            "{learner: sklearn.svm.LinerSVC}",
            ".learner",
            "no class 'LinerSVC'; did you mean 'sklearn.svm.LinearSVC'?",
        ),
        ("{learner: sklearn.LinearSVC}", ".learner", "did you mean 'sklearn.svm.LinearSVC'?"),
        (
            "{learner: sklearn.smv.LinearSVC}",
            ".learner",
            "no module 'sklearn.smv'; did you mean 'sklearn.svm.Lin",
        ),
        ("{learner: sklearn.svm.LinearSVC, c: 1}", ".c", "unknown key 'c'; did you mean 'C'?"),
        ("{learner: sklearn.svm.LinearSVC, C: -1}", ".C", "must be a float in the range (0.0, inf). Got -1"),
        ("{learner: sklearn.svm.LinearSVC, C: .inf}", ".C", "must be finite"),
        (
            "{learner: sklearn.svm.LinearSVC, C: 2001-01-01}",
            ".C",
            "must be a number, a text, a list, a mapping",
        ),
        (
            "{learner: sklearn.svm.LinearSVC, random_state: 1}",
            ".random_state",
            "every task has a seed of its own",
        ),
        ("{learner: sklearn.svm.LinearSVC, tune: {C: [-1]}}", ".C", "must be a float in the range"),
        (
            "{learner: sklearn.linear_model.Ridge}",
            ".learner",
            "is a regressor, and a learner must be a classifier",
        ),
        ("{learner: sklearn.cluster.KMeans}", ".learner", "is a clusterer"),
        (
            "{learner: sklearn.preprocessing.StandardScaler}",
            ".learner",
            "is not an estimator: the class has no method pre",
        ),
        ("{learner: sklearn.utils.check_array}", ".learner", "is not a class, but a function"),
        ("{learner: sklearn.linear_model.np}", ".learner", "has no class 'np'"),
        ("{learner: sklearn.multiclass.OneVsRestClassifier}", "", "the key 'estimator' is missing"),
        (
            "{learner: sklearn.ensemble.BaggingClassifier, estimator: {learner: pockt}}",
            ".estimator.learner",
            "did you mean 'p",
        ),
        (
            "{learner: adaboost, base: sklearn.svm.LinearSVC}",
            ".base",
            "does not derive from zoloss's BinaryLearner",
        ),
        ("{learner: nobody.has.It}", ".learner", "needs the package 'nobody', which is not installed"),
        ("{learner: json.JSONDecoder}", ".learner", "'json.JSONDecoder' is not an estimator"),
        ("{learner: mine.py}", ".learner", "'mine.py' is a file: name the class in it, as in mine.py:MyClass"),
        ("{learner: 'mine.py:Ducks'}", ".learner", "has no class 'Ducks'; did you mean 'Duck'?"),
        (
            "{learner: 'mine.py:Nothing'}",
            ".learner",
            "is not an estimator: the class has no method fit and no method pr",
        ),
        ("{learner: 'mine.py:number'}", ".learner", "is not a class, but a int"),
        (
            "{learner: 'mine.py:Untyped'}",
            ".learner",
            "has parameters that cannot be checked: the parameter 'shift'",
        ),
        ("{learner: 'mine.py:Duck', ordr: 1}", ".ordr", "unknown key 'ordr'; did you mean 'order'?"),
        ("{learner: 'mine.py:Own', shift: a}", ".shift", "should be a valid number"),
        ("{learner: '../mine.py:Duck'}", ".learner", "is not in the folder of the config"),
    ],
)
def test_a_wrong_class_is_one_sentence_with_its_place(write_config, tmp_path, entry, place, message):
    (tmp_path / "mine.py").write_text(CLASSES)
    path = write_config(f"datasets: [heart]\ntuning: {{folds: 2}}\nlearners:\n  x: {entry}\n")
    with allow_code(), pytest.raises(ConfigError) as refused:
        load_config(path)
    (line,) = str(refused.value).splitlines()
    assert line.startswith(f"{path}:4: learners.x{place}: ")
    assert message in line


def test_a_metric_that_a_class_cannot_give_is_refused(write_config, tmp_path):
    (tmp_path / "mine.py").write_text(CLASSES)
    text = "datasets: [heart]\nkeep: scores\nmetric: {}\nlearners: {{x: {{learner: {}}}}}\n"
    for metric, name, lacks in (
        ("lower_bound", "sklearn.svm.LinearSVC", "reports no lower_bound"),
        ("roc_auc", "'mine.py:Duck'", "has no decision_function or predict_proba"),
    ):
        with allow_code(), pytest.raises(ConfigError, match=lacks):
            load_config(write_config(text.format(metric, name)))
    with allow_code():
        load_config(write_config(text.format("lower_bound", "'mine.py:Searching'")))
        load_config(write_config(text.format("roc_auc", "sklearn.svm.LinearSVC")))


def test_without_permission_a_config_is_refused_or_left_unchecked(good, capsys):
    (good.parent / "mine.py").write_text(CLASSES + "\nprint('was run')\n")
    with pytest.raises(ConfigError) as refused:
        load_config(good)
    lines = str(refused.value).splitlines()
    assert len(lines) == 3
    assert all("is code from a file" in line and line.endswith("allow it with --allow-code") for line in lines)
    with use_code_policy("skip"):
        cells = plan(load_config(good))
    assert len(cells) == 14
    assert capsys.readouterr().out == ""


def test_classes_of_other_packages_are_asked_for_and_recorded_with_their_version(
    write_config, tmp_path, monkeypatch
):
    site = tmp_path / "site"
    write_distribution(site, "theirs", {})
    (site / "theirs.py").write_text(CLASSES)
    (site / "theirs_torn.py").write_text("raise OSError('disk on fire')")
    monkeypatch.syspath_prepend(site)
    config = write_config("datasets: [heart]\nlearners: {x: {learner: theirs.Duck, order: 1}}\n")
    with pytest.raises(ConfigError, match=r"'theirs\.Duck' is a class of a package that zoloss does not know"):
        load_config(config)
    assert "theirs" not in sys.modules
    with allow_code():
        (cell,) = plan(load_config(config))
    monkeypatch.delitem(sys.modules, "theirs")
    assert cell.identity["learner"] == "theirs.Duck"
    assert cell.identity["package"] == "theirs 1.0"
    torn = write_config("datasets: [heart]\nlearners: {x: {learner: theirs_torn.Duck}}\n")
    with (
        allow_code(),
        pytest.raises(ConfigError, match=r"'theirs_torn\.Duck' cannot be imported: OSError"),
    ):
        load_config(torn)
