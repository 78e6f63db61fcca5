"""Classes of packages and files as learners of a config: specifications, identities, mistakes."""

import json
import sys

import jsonschema
import pytest
from cases import parse_cases
from external_classes import CLASSES
from packages import write_distribution
from sklearn import __version__ as sklearn_version

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.messages import read_yaml
from zoloss_cli.config.schema import build_config_schema
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.results.manifest import decode_experiment
from zoloss_cli.utils.imports import allow_code, use_code_policy

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
    tree = {"learner": "sklearn.tree.DecisionTreeClassifier", "max_depth": 2}
    assert specs["bag"].parameters["estimator"] == tree
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
        experiment = load_config(good)
    changed = {cell.learner.label: cell for cell in plan(experiment) if cell.data.name == "heart"}
    other = {label for label, cell in cells.items() if changed[label].key != cell.key}
    assert other == {"duck", "own", "boosted"}
    assert changed["duck"].learner.name == cells["duck"].learner.name  # so that seeds stay


def test_a_manifest_gives_the_same_plan_again(good):
    with allow_code():
        experiment = load_config(good)
    content = json.dumps(experiment.model_dump(mode="json"))
    again = decode_experiment(content.encode())
    assert again == experiment
    assert [cell.key for cell in plan(again)] == [cell.key for cell in plan(experiment)]
    assert str(good.parent) not in content
    with pytest.raises(ValueError, match=r"the text of mine\.py does not match its sha256"):
        decode_experiment(content.replace("no luck", "bad luck").encode())
    entry = json.loads(content)["learners"][0]  # of a learner without code, which has no further keys
    assert list(entry) == ["label", "learner", "settings", "choice", "tune", "only"]


def test_the_schema_takes_what_the_loader_takes(good):
    validator = jsonschema.Draft202012Validator(build_config_schema())
    content, _ = read_yaml(good)
    assert validator.is_valid(content)
    assert validator.is_valid(content | {"learners": ["rcd-bias", "sklearn.svm.LinearSVC", "mine.py:Duck"]})
    for wrong in (["rcd-bais"], {"rcd-bais": None}, {"a": {"learner": "pockt"}}):
        assert not validator.is_valid(content | {"learners": wrong})


WRONG_CLASSES = r"""
{learner: sklearn.svm.LinerSVC} | .learner | no class 'LinerSVC'; did you mean 'sklearn.svm.LinearSVC'?
{learner: sklearn.svm.LinearSVC, c: 1} | .c | unknown key 'c'; did you mean 'C'?
{learner: sklearn.svm.LinearSVC, C: -1} | .C | must be a float in the range (0.0, inf). Got -1
{learner: sklearn.svm.LinearSVC, C: .inf} | .C | must be finite
{learner: sklearn.svm.LinearSVC, random_state: 1} | .random_state | every task has a seed of its own
{learner: sklearn.linear_model.Ridge} | .learner | is a regressor, and a learner must be a classifier
{learner: sklearn.preprocessing.StandardScaler} | .learner | is not an estimator: the class has no method pre
{learner: sklearn.multiclass.OneVsRestClassifier} |  | the key 'estimator' is missing
{learner: sklearn.ensemble.BaggingClassifier, estimator: {learner: pockt}} | .estimator.learner
  | did you mean 'p
{learner: adaboost, base: sklearn.svm.LinearSVC} | .base | does not derive from zoloss's BinaryLearner
{learner: mine.py} | .learner | 'mine.py' is a file: name the class in it, as in mine.py:MyClass
{learner: 'mine.py:Ducks'} | .learner | has no class 'Ducks'; did you mean 'Duck'?
{learner: 'mine.py:Untyped'} | .learner | has parameters that cannot be checked: the parameter 'shift'
{learner: 'mine.py:Own', shift: a} | .shift | should be a valid number
"""


def test_a_wrong_class_is_one_sentence_with_its_place(write_config, tmp_path):
    (tmp_path / "mine.py").write_text(CLASSES)
    for entry, place, message in parse_cases(WRONG_CLASSES):
        path = write_config(f"datasets: [heart]\ntuning: {{folds: 2}}\nlearners:\n  x: {entry}\n")
        with allow_code(), pytest.raises(ConfigError) as refused:
            load_config(path)
        (line,) = str(refused.value).splitlines()
        assert line.startswith(f"{path}:4: learners.x{place}: "), line
        assert message in line


def test_a_metric_that_a_class_cannot_give_is_refused(write_config, tmp_path):
    def load(metric, name):
        text = f"datasets: [heart]\nkeep: scores\nmetric: {metric}\nlearners: {{x: {{learner: {name}}}}}\n"
        with allow_code():
            return load_config(write_config(text))

    (tmp_path / "mine.py").write_text(CLASSES)
    with pytest.raises(ConfigError, match="reports no lower_bound"):
        load("lower_bound", "sklearn.svm.LinearSVC")
    with pytest.raises(ConfigError, match="has no decision_function or predict_proba"):
        load("roc_auc", "'mine.py:Duck'")
    assert load("lower_bound", "'mine.py:Searching'")


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


def test_classes_of_other_packages_are_asked_for_and_recorded(write_config, tmp_path, monkeypatch):
    write_distribution(tmp_path, "theirs", {})
    (tmp_path / "theirs.py").write_text(CLASSES)
    (tmp_path / "theirs_torn.py").write_text("raise OSError('disk on fire')")
    monkeypatch.syspath_prepend(tmp_path)
    config = write_config("datasets: [heart]\nlearners: {x: {learner: theirs.Duck, order: 1}}\n")
    with pytest.raises(
        ConfigError, match=r"'theirs\.Duck' is a class from a package that zoloss does not trust"
    ):
        load_config(config)
    assert "theirs" not in sys.modules
    with allow_code():
        (cell,) = plan(load_config(config))
    monkeypatch.delitem(sys.modules, "theirs")
    assert (cell.identity["learner"], cell.identity["package"]) == ("theirs.Duck", "theirs 1.0")
    torn = write_config("datasets: [heart]\nlearners: {x: {learner: theirs_torn.Duck}}\n")
    with allow_code(), pytest.raises(ConfigError, match=r"'theirs_torn\.Duck' cannot be imported: OSError"):
        load_config(torn)
