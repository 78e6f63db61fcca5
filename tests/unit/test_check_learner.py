"""`check_learner` on anything that can be a learner: faults are raised, what is missing is returned."""

import pytest
from external_classes import CLASSES
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from zoloss_cli import check_learner
from zoloss_cli.errors import ConfigError

NO_SEED = "it has no parameter random_state, so it must not draw random numbers"
NO_WEIGHTS = "its fit takes no sample_weight, so class weights are not supported"
NO_SCORES = "it has no decision_function and no predict_proba, so metrics based on scores are not available"
NO_PARAMETERS = "it has no get_params, so scikit-learn cannot clone it"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(CLASSES)
    monkeypatch.chdir(tmp_path)


def test_what_a_learner_lacks_is_returned(mine):
    for learner, limits in (
        (LogisticRegression, []),
        (SVC(C=3.0), []),
        (KNeighborsClassifier, [NO_SEED, NO_WEIGHTS]),
        ("majority", []),
        ("mine.py:Drawing", [NO_WEIGHTS, NO_SCORES, NO_PARAMETERS]),
        ("mine.py:Searching", [NO_SEED, NO_WEIGHTS, NO_SCORES, "it supports only two classes", NO_PARAMETERS]),
    ):
        assert check_learner(learner) == limits


FAULTS = {
    "mine.py:Seedless": "'mine.py:Seedless': it ignores its seed: two fits with the same random_state",
    "mine.py:Mutating": "'mine.py:Mutating': it fails with ValueError: Mutating changes its input X in fit",
    SVC(C=-1.0): "'SVC': it fails with InvalidParameterError: The 'C' parameter",
}


def test_a_fault_is_one_sentence_with_the_name(mine):
    for learner, message in FAULTS.items():
        with pytest.raises(AssertionError) as raised:
            check_learner(learner)
        assert "\n" not in str(raised.value)
        assert str(raised.value).startswith("the learner '")
        assert message in str(raised.value)


def test_what_is_no_learner_is_refused(mine):
    reasons = r"is not an estimator|is a regressor|unknown learner 'pockt'; did you mean"
    for learner in ("mine.py:Nothing", Ridge, Ridge(), "sklearn.linear_model.Ridge", object(), "pockt"):
        with pytest.raises(ConfigError, match=reasons):
            check_learner(learner)


def test_the_command_says_the_same(mine, zoloss):
    ended = zoloss.ok("learners", "mine.py:Duck", "--check", "--allow-code")
    assert ended.out.splitlines() == [
        *(NO_SEED, NO_WEIGHTS, NO_SCORES, NO_PARAMETERS),
        "mine.py:Duck can be used in an experiment",
    ]
    for learner, message in (
        (["mine.py:Seedless", "--allow-code"], "zoloss: the learner 'mine.py:Seedless': it ignores its seed"),
        (["mine.py:Duck"], "--allow-code"),
    ):
        ended = zoloss("learners", "--check", *learner)
        assert (ended.code, ended.out, message in ended.err) == (2, "", True)
    assert zoloss("learners", "--check").code == zoloss("learners", "fld", "--check").code == 2
    described = zoloss("learners", "sklearn.svm.LinearSVC").out
    assert "LinearSVC of scikit-learn" in described
    assert "squared_hinge" in described
