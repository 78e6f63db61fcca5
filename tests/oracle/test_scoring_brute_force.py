"""Scoring systems against all integer rules of small sets, and against a mixed-integer program."""

import itertools

import numpy as np
import pytest
from scoring_program import solve_by_milp

from zoloss_cli import ScoringSystemClassifier, load_dataset
from zoloss_cli.learners.scoring.search import RuleSearch
from zoloss_cli.learners.search.progress import SearchProgress


def list_conditions(X, raw):
    """(feature, values) of each condition: every cut between two values of a column, or the column itself."""
    for j, column in enumerate(X.T):
        values = np.unique(column)
        if raw and len(values) > 1 and set(values) != {0.0, 1.0}:
            yield j, column
            continue
        for cut in values[1:]:
            yield j, (column >= cut).astype(float)


def find_fewest(X, y, weights, settings):
    """The smallest objective of all rules, which are all tried with all thresholds."""
    found = list(list_conditions(X, settings.get("conditions") == "raw"))
    features = np.array([j for j, _ in found])
    values = np.array([column for _, column in found])
    most = settings["max_points"]
    rules = np.array(list(itertools.product(range(-most, most + 1), repeat=len(found))))
    allowed = np.count_nonzero(rules, axis=1) <= settings["max_terms"]
    for text in settings.get("monotone") or ():
        own = rules[:, features == int(text[1:-2])]
        allowed &= np.all(own >= 0 if text[-1] == "+" else own <= 0, axis=1)
    for name in settings.get("require") or ():
        allowed &= np.any(rules[:, features == int(name[1:])], axis=1)
    for name in settings.get("forbid") or ():
        allowed &= ~np.any(rules[:, features == int(name[1:])], axis=1)
    rules = rules[allowed]
    totals = rules @ values
    fewest = np.full(len(rules), np.inf)
    for threshold in range(int(totals.min()), int(totals.max()) + 2):
        fewest = np.minimum(fewest, ((totals >= threshold) != (y > 0)) @ weights)
    terms = np.count_nonzero(rules, axis=1)
    return float(np.min(fewest / weights.mean() + settings.get("penalty", 0.0) * terms))


def draw_case(seed):
    """A small set with the settings of a rule; every few seeds another constraint."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(6, 16)), seed % 8
    X = rng.integers(0, 2, (n, 4)).astype(float)
    if kind in (1, 5):
        X = rng.integers(0, 3, (n, 2)).astype(float)
    if kind == 6:
        X = rng.integers(-2, 4, (n, 3)).astype(float)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    weights = rng.integers(1, 5, n).astype(float) if kind in (2, 5) else np.ones(n)
    if kind == 7:
        weights = rng.uniform(0.1, 2.0, n)
    settings = {"max_terms": int(rng.integers(1, 4)), "max_points": int(rng.integers(1, 4))}
    settings |= {"penalty": float(rng.choice([0.3, 1.0, 1.7]))} if kind in (3, 5) else {}
    settings |= {"monotone": ["x0:+", "x1:-"]} if kind in (4, 5) else {}
    settings |= {"require": ["x1"]} if kind in (0, 3) else {}
    settings |= {"forbid": ["x0"]} if kind == 0 else {}
    settings |= {"conditions": "raw"} if kind == 6 else {}
    return X, y, weights, settings


def build_problem(model, X, y, weights=None):
    """The problem that a model works on, with its conditions."""
    return model._build_scoring_problem(model._build_problem(X, y, weights))


def prove_from_the_smallest_rule(problem):
    """The search that a proof makes on its own, from the rule with as few points as there can be."""
    search = RuleSearch(problem, SearchProgress("proof"))
    constant = min(0, int(problem.gains.sum()))
    search.offer(constant if problem.n_required == 0 else 2**60, search.terms, search.points)
    search.prove(10**9)
    return search


@pytest.mark.parametrize("block", range(8))
def test_brute_force_agrees(block):
    checked = 0
    for seed in range(16 * block, 16 * block + 16):
        X, y, weights, settings = draw_case(seed)
        if any(len(np.unique(column)) < 2 for column in X.T):
            continue
        best = find_fewest(X, y, weights, settings)
        model = ScoringSystemClassifier(**settings, max_thresholds=9, steps=20, random_state=0).fit(
            X, y, weights
        )
        assert model.objective_ == pytest.approx(best), (seed, settings)
        assert model.optimal_
        assert len(model.points_) <= settings["max_terms"]
        assert np.all(np.abs(model.points_) <= settings["max_points"])
        loss = weights[model.predict(X) != y].sum() / weights.mean()
        fewest = find_fewest(X, y, weights, settings | {"penalty": 0.0})
        assert model.lower_bound_ <= fewest + 1e-9
        assert settings.get("penalty") or model.lower_bound_ == pytest.approx(loss)
        proved = prove_from_the_smallest_rule(build_problem(model, X, y, weights))
        assert proved.progress.optimal, (seed, settings)
        assert proved.progress.loss == pytest.approx(best), (seed, settings)
        checked += 1
    assert checked > 9


@pytest.mark.parametrize("penalty", [0.0, 0.4, 1.0])
def test_supports_of_all_sizes_are_proved(penalty):
    """More columns and terms than above, so that whole subtrees are left out; points of 1 keep rules few."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (40, 6)).astype(float)
        y = np.where(X @ rng.normal(size=6) + rng.normal(0, 0.7, 40) > 0.5, 1, -1)
        y[:2] = 1, -1
        settings = {"max_terms": 3 + seed % 3, "max_points": 1, "penalty": penalty}
        best = find_fewest(X, y, np.ones(40), settings)
        model = ScoringSystemClassifier(**settings)
        proved = prove_from_the_smallest_rule(build_problem(model, X, y))
        assert proved.progress.optimal, seed
        assert proved.progress.loss == pytest.approx(best), seed


@pytest.mark.parametrize("seed", range(4))
def test_highs_agrees_on_larger_sets(seed):
    rng = np.random.default_rng(seed)
    n = 60
    X = rng.integers(0, 3, (n, 4)).astype(float)
    y = np.where(X @ [1, -1, 2, 0] + rng.normal(0, 1.5, n) > 1, "yes", "no")
    weights = rng.integers(1, 4, n) if seed % 2 else None
    settings = (
        {"penalty": 0.7} if seed % 3 == 0 else {"require": ["x3"]} if seed % 3 == 1 else {"monotone": ["x1:-"]}
    )
    model = ScoringSystemClassifier(max_terms=2, max_points=3, random_state=0, **settings).fit(X, y, weights)
    answer = solve_by_milp(build_problem(model, X, y, weights))
    assert answer.is_optimal
    assert model.optimal_
    assert answer.loss == pytest.approx(model.objective_, abs=1e-6)


@pytest.mark.parametrize("name", ["breast", "german", "heart", "votes84"])
def test_never_worse_than_rounding_logistic_regression(name):
    """At 100 scales, of as many largest weights, with the best threshold at each scale."""
    from sklearn.linear_model import LogisticRegression

    X, y = load_dataset(name)
    size, most = 5, 5
    model = ScoringSystemClassifier(max_terms=size, max_points=most, steps=0, nodes=0, random_state=0).fit(X, y)
    conditions = build_problem(model, X, y).conditions
    Z = np.array([condition.compute(np.asarray(X)) for condition in conditions]).T
    positive = y == model.classes_[1]
    weights = LogisticRegression(max_iter=1000).fit(Z, positive).coef_[0]
    kept = np.argsort(-np.abs(weights))[:size]
    for weights_kept in (weights[kept], LogisticRegression(max_iter=1000).fit(Z[:, kept], positive).coef_[0]):
        for scale in np.arange(1, 101) / 100 * most / np.abs(weights_kept).max():
            totals = Z[:, kept] @ np.rint(scale * weights_kept)
            thresholds = np.append(np.unique(totals), np.inf)
            fewest = int(((totals >= thresholds[:, None]) != positive).sum(axis=1).min())
            assert model.training_errors_ <= fewest
