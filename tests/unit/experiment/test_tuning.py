"""Tuning by cross-validation: what it picks, and that it does not depend on the order of work."""

from dataclasses import replace

import numpy as np
import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import derive_seed, scale_parts
from zoloss_cli.experiment import fitting as tuning
from zoloss_cli.experiment.fitting import tune
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_task
from zoloss_cli.kernels.zero_one import find_prediction_errors
from zoloss_cli.registry import make_learner

CONFIG = """
datasets: {{{data}}}
split: {{train: {train}, repeats: 6, seed: 2}}
preprocess: {{scale: {scale}, fit_on: {fit_on}}}
tuning: {{folds: {folds}, on: {on}}}
metric: train_error
learners: {{{learner}}}
"""
DEFAULTS = {
    "data": "heart: ",
    "train": 0.8,
    "scale": "standard",
    "fit_on": "train",
    "folds": 5,
    "on": "train",
    "learner": "svm: {tune: {C: [[0.0001], [0.1], [100.0]]}}",
}


@pytest.fixture
def cell_of(write_config):
    def cell(**changes):
        tuning._choose_on_all.cache_clear()
        (only,) = plan(load_config(write_config(CONFIG.format(**DEFAULTS | changes))))
        return only

    return cell


def test_the_first_wins_ties(cell_of):
    cell = cell_of(learner="svm: {tune: {C: [[1.0], [1.0], [1.0]]}}")
    assert tune(cell, 0) is cell.learner.tune[0]


def test_all_combinations_are_candidates(cell_of):
    learner = "adaboost: {base: {learner: pocket, epochs: 3}, tune: {rounds: [1, 2], base.epochs: [3, 5]}}"
    candidates = cell_of(learner=learner).learner.tune
    assert [c.choice for c in candidates] == [f"rounds={r}, base.epochs={e}" for r in (1, 2) for e in (3, 5)]
    assert candidates[3].parameters["base"]["epochs"] == 5


def test_the_choice_is_the_same_for_any_order_of_splits(cell_of):
    how = {
        "data": "heart: {noise: {fraction: 0.2, draws: 3}}",
        "learner": "svm: {tune: {C: [[0.001], [0.003], [0.01], [0.03], [0.1], [1.0]]}}",
        "on": "all",
    }
    cell = cell_of(**how)
    forwards = [tune(cell, k).choice for k in range(6)]
    cell = cell_of(**how)
    assert forwards == [tune(cell, k).choice for k in reversed(range(6))][::-1]
    assert len(set(forwards)) > 1
    assert forwards[:3] == forwards[3:]  # once a draw


def plain_cross_validation(cell, rows, coordinate, seen):
    """The rule written out: mistakes of each candidate over folds of `rows`, scaled by `seen(kept)`."""
    data = load_data(cell.data)
    order = np.random.default_rng(derive_seed(2, "heart", coordinate, tuning.FOLDS)).permutation(rows)
    folds = np.array_split(order, cell.tuning.folds)
    totals = []
    for spec in cell.learner.tune:
        total = 0
        for fold in folds:
            kept = np.array([r for r in order if r not in set(fold)])
            inside, outside = scale_parts(data.X[kept], data.X[fold], cell.scale, seen(data, kept))
            learner = make_learner("svm", spec.parameters).fit(inside, data.y[kept])
            signs = np.where(data.y[fold] == 1, 1.0, -1.0)
            total += find_prediction_errors(learner.decision_function(outside), signs).sum()
        totals.append(total)
    return cell.learner.tune[int(np.argmin(totals))]


def test_clean_tuning_sees_the_training_samples_only(cell_of):
    cell = cell_of()
    for k in range(2):
        train, _ = cell.rule.select_indices(270, "heart", k)
        assert tune(cell, k) == plain_cross_validation(cell, train, k, lambda data, kept: data.X[kept])


def test_tuning_on_all_samples_is_the_authors_way(cell_of):
    cell = cell_of(on="all", fit_on="all", folds=4)
    expected = plain_cross_validation(cell, np.arange(270), 0, lambda data, kept: data.X)
    assert all(tune(cell, k) == expected for k in range(3))


def test_test_samples_cannot_move_a_clean_choice(cell_of, monkeypatch):
    cell = cell_of()
    before = run_task(cell, 1)
    _, test = cell.rule.select_indices(270, "heart", 1)
    data = load_data(cell.data)
    X, y = data.X.copy(), data.y.copy()
    X[test] *= 50.0
    y[test] = 1 - y[test]
    changed = replace(data, X=X, y=y)
    monkeypatch.setattr(tuning, "load_data", lambda *_: changed)
    after = run_task(cell, 1)
    assert (after.choice, after.train_errors) == (before.choice, before.train_errors)
    assert after.test_errors != before.test_errors


def test_candidates_can_be_compared_with_other_settings(cell_of, monkeypatch):
    learner = "adaboost: {base: {learner: pocket, epochs: 3}, rounds: 9, tune: {base.epochs: [1, 4]}%s}"
    plain = cell_of(learner=learner % "")
    cell = cell_of(learner=learner % ", while_tuning: {rounds: 2}")
    assert plain.learner.tune == cell.learner.tune
    assert plain.learner.trials == ()
    assert plain.key != cell.key
    fitted, whole = [], tuning.fit

    def spy(spec, *arguments):
        fitted.append(dict(spec.settings))
        return whole(spec, *arguments)

    monkeypatch.setattr(tuning, "fit", spy)
    assert tune(cell, 0) in cell.learner.tune
    assert {settings["rounds"] for settings in fitted} == {2}
    assert {dict(settings["base"].settings)["epochs"] for settings in fitted} == {1, 4}
    assert run_task(cell, 0).iterations > 2


def test_no_more_is_fitted_than_the_choice_needs(cell_of, monkeypatch):
    """Once a candidate has seen all folds, the others that already have more errors are judged no further."""
    starts = "[[1000.0, 0.0, 0.0], fld, [-1000.0, 0.0, 0.0]]"
    cell = cell_of(learner=f"pocket: {{tune: {{seeding: {starts}}}, epochs: 1}}", data="yinyang: {size: 400}")
    fits, whole = [], tuning.fit
    monkeypatch.setattr(tuning, "fit", lambda spec, *rest: fits.append(spec.choice) or whole(spec, *rest))
    chosen = tune(cell, 0).choice
    assert chosen == "seeding=fld"
    assert fits.count(chosen) == cell.tuning.folds
    assert len(fits) < 2 * cell.tuning.folds
