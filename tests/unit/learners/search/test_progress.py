"""Clock, trace, progress, Ctrl-C and bad input of the learners that search for the fewest errors."""

import io
import sys

import numpy as np
import pytest

from zoloss_cli.learners.search import progress as searches
from zoloss_cli.learners.search.pivot import PivotClassifier
from zoloss_cli.learners.search.progress import SearchProgress, progress_line, report_searches_to
from zoloss_cli.registry import make_learner

LONG = {
    "pivot": {"steps": 10**9},
    "bnb": {"nodes": 10**12, "propagation": "none"},
    "pcs": {"lines": 10**12},
    "csa": {"lines": 10**12},
    "mip": {},
    "certify": {"steps": 1000},
}
DIRECT = [*LONG, "sla", "svm", "lr", "bpm"]


@pytest.fixture(scope="module")
def hard():
    """Labels of pure chance: no search comes to its end."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((150, 12)), rng.integers(0, 2, 150)


@pytest.mark.parametrize("name", LONG)
def test_a_time_limit_ends_the_search(name, hard):
    X, y = hard
    learner = make_learner(name, LONG[name] | {"time_limit": 0.5}, 0).fit(X, y)  # else it runs for hours
    seconds, losses = zip(*learner.trace_, strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(losses) == sorted(losses, reverse=True)
    assert losses[-1] == learner.training_errors_
    assert 0 <= learner.lower_bound_ <= learner.training_errors_
    assert not learner.optimal_


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_returns_the_best_so_far(name, hard, monkeypatch):
    X, y = hard
    looks = iter(range(10**9))

    def interrupted(self):
        if next(looks) >= 5:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(SearchProgress, "should_stop", interrupted)
    with pytest.warns(UserWarning, match="interrupted after .* the best so far is returned"):
        learner = make_learner(name, LONG[name] | {"time_limit": 2.0}, 0).fit(X, y)
    assert learner.training_errors_ <= 75
    assert learner.predict(X).shape == y.shape


def test_searches_report_best_bound_gap_and_time_left(hard, monkeypatch):
    X, y = hard
    monkeypatch.setattr(searches, "REPORT_SECONDS", 0.0)
    seen = []
    with report_searches_to(lambda search: seen.append(str(search))):
        PivotClassifier(steps=2000, time_limit=60.0, random_state=0).fit(X, y)
    assert len(seen) > 3
    assert all(line.startswith("PivotClassifier: best ") for line in seen)
    assert all(part in seen[-1] for part in ("at least 0", "gap ", "s left"))
    count = len(seen)
    PivotClassifier(steps=300, random_state=0).fit(X, y)
    assert len(seen) == count  # nobody watches any more


def test_progress_is_one_line_of_a_terminal_and_nothing_elsewhere(hard, monkeypatch):
    X, y = hard
    monkeypatch.setattr(searches, "REPORT_SECONDS", 0.0)

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_line():
            PivotClassifier(steps=1000, random_state=0).fit(X, y)
        assert ("PivotClassifier: best " in stream.getvalue()) == shown
        assert "\n" not in stream.getvalue()


@pytest.mark.parametrize("name", DIRECT)
def test_what_every_direct_learner_tells_of_unusual_data(name):
    def fit(X, y):
        return make_learner(name, {}, 0).fit(X, y)

    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:3] = X[3]
    y[:3] = 1 - y[3]  # three against one in the same place: one error cannot be avoided
    learner = fit(X, y)
    assert learner.training_errors_ == np.sum(np.where(y == 1, 1, -1) * learner.decision_function(X) <= 0)
    assert learner.training_loss_ == pytest.approx(learner.training_errors_ / 40)
    assert 1.0 <= learner.lower_bound_ <= learner.training_errors_
    assert learner.optimal_ == (learner.lower_bound_ == learner.training_errors_)
    assert learner.seconds_ > 0.0
    assert learner.trace_[-1][1] == learner.training_errors_
    constant = np.column_stack([X, np.zeros(40)])
    assert fit(constant, y).training_errors_ == learner.training_errors_
    wide = fit(rng.standard_normal((6, 9)), np.arange(6) % 2)
    assert (wide.training_errors_, wide.optimal_) == (0, True)
    equal = fit([[1.0, 2.0]] * 4, [0, 1, 0, 1])
    assert equal.training_errors_ >= 2  # 2 if the sample is on one side, 4 if on the hyperplane
    assert equal.lower_bound_ == 2.0


def test_a_time_limit_must_be_positive():
    for name in LONG:
        with pytest.raises(ValueError, match="time_limit"):
            make_learner(name, {"time_limit": 0}, 0).fit([[0.0], [1.0]], [0, 1])
