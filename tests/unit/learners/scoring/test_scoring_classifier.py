"""Scoring systems as estimators: constraints, weights, limits, and what cannot be done in one sentence."""

import itertools

import numpy as np
import pandas as pd
import pytest

from zoloss_cli import ScoringSystemClassifier, load_dataset, progress_line
from zoloss_cli.kernels import scoring as kernel
from zoloss_cli.learners.base import name_features
from zoloss_cli.learners.scoring.conditions import find_threshold
from zoloss_cli.learners.search.progress import report_searches_to

QUICK = {"steps": 30, "nodes": 2000, "random_state": 0}


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(3)
    n = 200
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "sex=female": (sex := rng.integers(0, 2, n)),
            "sex=male": 1 - sex,
            "bmi": rng.normal(26, 4, n).round(1),
        }
    )
    risk = 0.05 * (frame["age"] - 55) + sex + rng.normal(0, 1, n)
    return frame, np.where(risk > 0.5, "ill", "well")


def test_every_single_coordinate_is_minimized_exactly():
    """The kernel's costs of all points of a condition, against plain sums at all thresholds."""
    rng = np.random.default_rng(1)
    for trial in range(20):
        n, top = int(rng.integers(1, 30)), int(rng.choice([1, 1, 3]))
        levels = rng.integers(0, top + 1, n).astype(np.int32)
        gains, rest = rng.integers(-5, 6, n), rng.integers(-7, 8, n)
        low, high = [(-3, 3), (0, 4), (-2, 0)][trial % 3]
        sums = np.zeros(10, np.int64)
        room = np.zeros((2, 200), np.int64)
        kernel.find_least_sums(levels, top, gains, rest, rest.min(), rest.max(), low, high, room, sums)
        for v in range(low, high + 1):
            totals = rest + v * levels
            assert sums[v - low] == min(gains[totals < t].sum() for t in range(-40, 41))


def test_a_descent_ends_where_no_replaced_term_is_better(patients):
    X, y = patients
    model = ScoringSystemClassifier(max_terms=2, max_points=2, random_state=0)
    problem = model._build_scoring_problem(model._build_problem(X.to_numpy(float), y, None))
    totals, room, sums = problem.allocate_room()
    terms, points = np.array([0, -1]), np.array([1, 0])
    cost, _ = kernel.descend(problem.arrays, 0, 0, terms, points, totals, room, sums)

    def count(rule):
        values = sum((p * problem.levels[j] for j, p in rule), np.zeros(problem.gains.size))
        return min(problem.gains[values < t].sum() for t in range(-6, 7))

    assert cost == count(zip(terms, points, strict=True))
    for k, j, p in itertools.product(range(2), range(len(problem.conditions)), range(-2, 3)):
        if j != terms[1 - k]:
            assert count([(terms[1 - k], points[1 - k]), (j, p)]) >= cost


def test_names_come_from_the_frame_and_complements_are_one(patients):
    X, y = patients
    model = ScoringSystemClassifier(max_terms=3, **QUICK).fit(X, y)
    assert model.n_conditions_ == 4 + 1 + 4
    assert {c.name for c in model.conditions_} <= {"age", "sex=female", "bmi"}
    totals = model.compute_totals(X.to_numpy(float))
    np.testing.assert_array_equal(model.predict(X) == "well", totals >= model.threshold_)
    assert model.training_errors_ == np.sum(model.predict(X) != y)
    assert not np.any(model.decision_function(X) == 0.0)


def test_constraints_hold(patients):
    X, y = patients  # 'well' is the second class: age speaks against it
    free = ScoringSystemClassifier(max_terms=3, **QUICK).fit(X, y)
    bound = ScoringSystemClassifier(max_terms=3, monotone=["age:+"], require=["bmi", "sex"], **QUICK).fit(X, y)
    names = [c.name for c in bound.conditions_]
    assert {"bmi"} < set(names)
    assert any(name.startswith("sex=") for name in names)
    assert all(p > 0 for c, p in zip(bound.conditions_, bound.points_, strict=True) if c.name == "age")
    assert bound.training_errors_ > free.training_errors_
    without = ScoringSystemClassifier(max_terms=3, forbid=["age"], **QUICK).fit(X, y)
    assert "age" not in {c.name for c in without.conditions_}
    assert without.training_errors_ > free.training_errors_


def test_the_threshold_is_in_the_middle_of_the_widest_gap():
    model = ScoringSystemClassifier(max_terms=1, max_points=5)
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    problem = model._build_scoring_problem(model._build_problem(X, y, None))
    assert find_threshold(problem, np.array([0]), np.array([5])) == 3
    assert model.fit(X, y).threshold_ == 1


def test_fewer_nodes_prove_less(patients):
    X, y = load_dataset("heart")
    bounds = []
    for nodes in (0, 50_000, 5_000_000):
        model = ScoringSystemClassifier(max_terms=3, steps=30, nodes=nodes, random_state=0).fit(X, y)
        bounds.append(model.lower_bound_)
        assert model.n_nodes_ <= nodes
        assert model.optimal_ == (model.lower_bound_ == model.training_errors_)
    assert bounds[0] <= bounds[1] <= bounds[2] == model.training_errors_
    assert bounds[0] < bounds[2]


def test_ctrl_c_keeps_the_best_rule(patients):
    X, y = patients

    def interrupt(search):
        raise KeyboardInterrupt

    with report_searches_to(interrupt), pytest.warns(UserWarning, match="interrupted after"):
        model = ScoringSystemClassifier(random_state=0).fit(X, y)
    assert model.training_errors_ <= min(np.sum(y == "ill"), np.sum(y == "well"))
    assert not model.optimal_
    with progress_line():
        assert ScoringSystemClassifier(time_limit=0.01, random_state=0).fit(X, y).lower_bound_ >= 0.0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"forbid": ["sax"]}, "forbid: there is no feature 'sax'; did you mean 'sex'?"),
        ({"forbid": ["age", "sex", "bmi"]}, "all features are forbidden"),
        ({"conditions": "raw"}, "'bmi' has"),
    ],
)
def test_one_sentence_for_what_cannot_be(patients, settings, sentence):
    with pytest.raises(ValueError, match=sentence.replace("?", r"\?")) as error:
        ScoringSystemClassifier(**settings).fit(*patients)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="'x1' is required, but it is constant in the training samples"):
        ScoringSystemClassifier(require=["x1"]).fit(np.column_stack([np.arange(6), np.ones(6)]), [0, 1] * 3)


def test_classes_that_cancel_out():
    model = ScoringSystemClassifier(require=["x0"]).fit(np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 1, 0, 1])
    assert model.optimal_
    assert model.training_errors_ == 2
    assert len(model.points_) == 1


def test_names_of_a_caller_are_for_its_own_number_of_features():
    X, y = np.column_stack([np.arange(8.0), np.arange(8.0)[::-1] % 3]), np.arange(8) > 4
    with name_features(["age", "dose"]):
        model = ScoringSystemClassifier(require=["dose"], max_terms=2, **QUICK).fit(X, y)
        assert {c.name for c in model.conditions_} == {"age", "dose"}
        assert ScoringSystemClassifier(**QUICK).fit(X[:, :1], y).conditions_[0].name == "x0"
