"""The base of your own searches: losses are counted, the trace and the bound kept, limits obeyed."""

import time

import numpy as np
import pytest

from zoloss_cli import SearchLearner, load_dataset


class Script(SearchLearner):
    """Offers what it is told to."""

    def __init__(self, offers=(), bound=0.0, time_limit=None, seeding="zero", random_state=None):
        self.offers, self.bound, self.time_limit = offers, bound, time_limit
        self.seeding, self.random_state = seeding, random_state

    def search(self, problem, start, progress):
        self.seen_ = problem, start.copy()
        start[:] = np.nan  # which is a copy: nothing of the result depends on it
        progress.raise_bound(self.bound)
        for w in self.offers:
            if isinstance(w, BaseException):
                raise w
            progress.offer_weights(np.asarray(w, dtype=float))

    def _validate_fit_input(self, X, y, sample_weight):
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = X.shape[1]
        phi = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return X, codes, phi / phi.sum()  # parameters that no config could have are not checked


@pytest.fixture
def line():
    """Six samples on a line, of which no rule gets more than five right."""
    return np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 0, 1, 0, 1, 1])


def test_the_best_of_the_offers_is_the_result_and_all_falls_are_in_the_trace(line):
    X, y = line
    offers = [[-4.5, 1.0], [-9.0, 1.0], [-1.5, 1.0], [-3.5, 1.0]]
    errors = [np.count_nonzero((X[:, 0] * w[1] + w[0] > 0) != y) for w in offers]
    assert errors == [2, 3, 1, 1]
    learner = Script(offers).fit(X, y)
    assert [loss for _, loss in learner.trace_] == [6.0, 2.0, 1.0]  # the start has margins of 0: all wrong
    assert [*learner.intercept_, *learner.coef_[0]] == offers[2]  # the first of those that are best
    assert learner.training_errors_ == 1
    assert np.all(np.diff([seconds for seconds, _ in learner.trace_]) >= 0)
    assert learner.trace_[-1][0] <= learner.seconds_


def test_what_a_problem_holds(line):
    X, y = line
    weights = [1.0, 1, 1, 7, 1, 1]
    learner = Script([[-1.5, 1.0], [-3.5, 1.0]]).fit(X, y, sample_weight=weights)
    problem, start = learner.seen_
    np.testing.assert_array_equal(problem.X, np.column_stack([np.ones(6), X]))
    np.testing.assert_array_equal(problem.y, [-1, -1, 1, -1, 1, 1])
    np.testing.assert_allclose(problem.phi, np.array(weights) / 12)
    assert problem.phi.sum() == pytest.approx(1.0)
    assert isinstance(problem.rng, np.random.Generator)
    np.testing.assert_array_equal(start, [0.0, 0.0])
    # In mean weights: the sample that weighs 7 of 12 counts 3.5, the one that weighs 1 a half.
    assert [loss for _, loss in learner.trace_] == pytest.approx([6.0, 3.5, 0.5])


def test_bounds_and_starts():
    X, y = load_dataset("heart")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    learner = Script(bound=2.0, seeding="fld").fit(X, y)
    assert learner.lower_bound_ == 2.0
    assert not learner.optimal_
    assert len(learner.trace_) == 1  # the start, which is offered for it
    assert learner.trace_[0][1] == learner.training_errors_ < 60


def test_an_interrupt_ends_with_the_best_so_far(line):
    with pytest.warns(UserWarning, match="Script: interrupted after .* the best so far is returned"):
        learner = Script([[-4.5, 1.0], KeyboardInterrupt(), [-1.5, 1.0]]).fit(*line)
    assert learner.training_errors_ == 2


def test_a_time_limit_ends_a_search_that_asks(line):
    class Endless(Script):
        """Goes on until it should stop."""

        def search(self, problem, start, progress):
            while not progress.should_stop():
                progress.offer_weights(problem.rng.standard_normal(2))

    begun = time.perf_counter()
    learner = Endless(time_limit=0.02, bound=0.0).fit(*line)
    assert 0.02 <= learner.seconds_ <= time.perf_counter() - begun
