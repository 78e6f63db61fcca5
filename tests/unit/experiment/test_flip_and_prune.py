"""Labels that are turned round, and training samples that are left out as noise: what tasks see and store."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.complexity.contribution import average_contributions, sum_paths_in_blocks
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.complexity.outliers import compute_neighbour_scores, find_contradicted, prune
from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import Prune
from zoloss_cli.data.dataset import find_draw, load_data
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment import fitting
from zoloss_cli.experiment.fitting import load_split
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import fit_task, run_task
from zoloss_cli.learners.linear.fld import FLDClassifier

NOISY = """
datasets:
  heart: {flip: {share: 0.1, draws: 3}, prune: false}
  pruned: {dataset: heart, flip: {share: 0.1, draws: 3}}
split: {train: 0.8, repeats: 6, seed: 3}
preprocess: {prune: {by: contribution, permutations: 20}}
learners: {fld: , rcd-bias: {epochs: 20}}
"""


@pytest.fixture
def cells(write_config):
    return {(c.data.name, c.learner.learner): c for c in plan(load_config(write_config(NOISY)))}


# -- labels that are turned round -------------------------------------------------------------------


def test_a_tenth_of_the_labels_is_wrong_and_known(cells):
    spec = cells["heart", "fld"].data
    assert spec.n_draws == 3
    seen = [load_data(spec, draw) for draw in range(3)]
    for data in seen:
        assert len(data.flipped) == 27  # floor(270 / 10)
        np.testing.assert_array_equal(np.flatnonzero(data.y != data.truth), data.flipped)
        np.testing.assert_array_equal(data.truth, load_data(spec.model_copy(update={"flip": None})).y)
    assert len({tuple(data.flipped) for data in seen}) == 3
    assert load_data(spec, find_draw(spec, 4)) is seen[1]


def test_the_last_rows_may_be_the_wrong_ones_and_any_other_class_may_come(write_config):
    text = NOISY.replace("share: 0.1, draws: 3", "share: 0.1, rows: last")
    last = plan(load_config(write_config(text)))[0].data
    assert (load_data(last).flipped.tolist(), last.n_draws) == (list(range(243, 270)), 1)
    text = "datasets: {iris: {flip: {share: 0.4}}}\nlearners: [one-vs-all]\n"
    data = load_data(plan(load_config(write_config(text)))[0].data)
    changes = set(zip(data.truth[data.flipped], data.y[data.flipped], strict=True))
    assert changes == set(itertools.permutations(range(3), 2))


def test_wrong_labels_train_and_true_labels_test(cells):
    cell = cells["heart", "fld"]
    fitted = fit_task(cell, 2)
    data, train, test = fitted.split_data.data, fitted.split_data.train, fitted.split_data.test
    assert np.isin(test, data.flipped).any()
    record = run_task(cell, 2)
    said = fitted.learner.predict(fitted.split_data.scale(data.X))
    assert record.test_errors == np.count_nonzero(said[test] != data.truth[test])
    assert record.train_errors == np.count_nonzero(said[train] != data.y[train])
    assert record.test_errors != np.count_nonzero(said[test] != data.y[test])


def test_flips_and_pruning_are_part_of_what_a_cell_is(write_config):
    texts = [
        NOISY,
        NOISY.replace("draws: 3", "draws: 2"),
        NOISY.replace("permutations: 20", "permutations: 21"),
        NOISY.replace("by: contribution, permutations: 20", "by: neighbours"),
    ]
    keys = [[c.key for c in plan(load_config(write_config(text)))] for text in texts]
    assert len(set(itertools.chain(*keys))) == 4 + 4 + 2 + 2  # unpruned ones do not depend on how to prune


# -- pruning ------------------------------------------------------------------------------------------


def brute_force_contradictions(X, y):
    rows = [tuple(x) for x in X]
    lost = []
    for i in range(len(y)):
        twins = Counter(label for row, label in zip(rows, y, strict=True) if row == rows[i])
        others = [count for label, count in twins.items() if label != y[i]]
        if others and max(others) >= twins[y[i]]:
            lost.append(i)
    return lost


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=12))
def test_contradicted_rows_are_those_that_no_vote_would_keep(rows):
    X = np.array([row[:2] for row in rows], dtype=float)
    y = np.array([row[2] for row in rows])
    assert find_contradicted(X, y).tolist() == brute_force_contradictions(X, y)


def noisy_points(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    y = (X[:, 0] > 0).astype(int)
    wrong = rng.permutation(n)[: n // 10]
    y[wrong] = 1 - y[wrong]
    return X, y, np.sort(wrong)


def test_rows_above_the_threshold_go_and_no_others():
    X, y, _ = noisy_points()
    how = Prune(permutations=30, threshold=0.8)
    found = prune(X, y, how, 5)
    expected = average_contributions(sum_paths_in_blocks(build_problem(X, y), 30, 5))
    np.testing.assert_array_equal(found.scores, expected)
    np.testing.assert_array_equal(found.dropped, np.flatnonzero(expected > 0.8))
    assert 0 < len(found.dropped) < 30
    near = prune(X, y, Prune(by="neighbours", neighbours=7), 5)
    np.testing.assert_array_equal(near.scores, compute_neighbour_scores(build_problem(X, y), 7))
    np.testing.assert_array_equal(near.dropped, np.flatnonzero(near.scores > 0.5))


def test_contradictions_go_first_and_have_no_score():
    X, y, _ = noisy_points()
    X, y = np.vstack([X, X[:2]]), np.append(y, 1 - y[:2])
    found = prune(X, y, Prune(permutations=5), 0)
    assert found.contradicted.tolist() == [0, 1, 60, 61]
    assert np.isnan(found.scores[[0, 1, 60, 61]]).all()
    assert not np.isin([0, 1, 60, 61], found.kept).any()
    with pytest.raises(DataError, match="4 of 4 samples have equal features and different labels"):
        prune(np.zeros((4, 1)), np.array([0, 1, 0, 1]), Prune(), 0)


def test_learners_do_not_see_pruned_samples_and_share_them(cells, monkeypatch):
    plain, pruned = (fit_task(cells[name, "fld"], 1) for name in ("heart", "pruned"))
    np.testing.assert_array_equal(plain.split_data.train, pruned.split_data.train)
    kept, train = pruned.split_data.fit_indices, pruned.split_data.train
    assert len(kept) == len(train) - len(pruned.split_data.pruned) < len(train)
    scaled = pruned.split_data.scale(pruned.split_data.data.X[kept])
    expected = FLDClassifier().fit(scaled, pruned.split_data.data.y[kept])
    np.testing.assert_array_equal(pruned.learner.coef_, expected.coef_)
    record = run_task(cells["pruned", "fld"], 1)
    flipped = pruned.split_data.data.flipped
    assert record.n_pruned == len(pruned.split_data.pruned)
    assert record.n_flipped == np.isin(pruned.split_data.train, flipped).sum()
    assert record.n_flipped_pruned == np.isin(pruned.split_data.pruned, flipped).sum()
    monkeypatch.setattr("zoloss_cli.complexity.outliers.prune", None)  # once for all learners
    assert load_split(cells["pruned", "rcd-bias"], 1).pruned.tolist() == pruned.split_data.pruned.tolist()
    assert run_task(cells["heart", "fld"], 1).n_pruned is None


def test_test_rows_cannot_move_what_is_pruned(cells, monkeypatch):
    cell = cells["pruned", "fld"]
    before = load_split(cell, 0)
    X, y = before.data.X.copy(), before.data.y.copy()
    X[before.test] += 100.0
    y[before.test] = 1 - y[before.test]
    changed = replace(before.data, X=X, y=y)
    fitting._find_pruned.cache_clear()
    monkeypatch.setattr(fitting, "load_data", lambda *_: changed)
    after = load_split(cell, 0)
    fitting._find_pruned.cache_clear()  # or later tests would meet what was pruned from other data
    np.testing.assert_array_equal(after.pruned, before.pruned)


def test_tuning_does_not_see_pruned_samples(write_config, monkeypatch):
    text = NOISY.partition("learners:")[0] + "learners: {svm: {tune: {C: [[1.0], [2.0]]}}}\n"
    cell = plan(load_config(write_config(text + "tuning: {folds: 2}\n")))[1]
    seen, whole = [], fitting._choose

    def spy(cell, data, rows, k):
        seen.append(rows)
        return whole(cell, data, rows, k)

    monkeypatch.setattr(fitting, "_choose", spy)
    run_task(cell, 0)
    np.testing.assert_array_equal(seen[0], load_split(cell, 0).fit_indices)


def test_mistakes_in_a_config_are_named(zoloss, write_config, tmp_path):
    for old, new, message in (
        ("share: 0.1", "share: 0.7", "less than 0.5"),
        ("by: contribution", "by: contributions", "did you mean 'contribution'"),
        ("permutations: 20", "permutations: 0", "greater than or equal to 1"),
    ):
        with pytest.raises(ConfigError, match=message):
            load_config(write_config(NOISY.replace(old, new)))
    text = "datasets: [iris]\npreprocess: {prune: {by: neighbours}}\nlearners: [one-vs-all]\n"
    ended = zoloss("run", write_config(text), "--splits", 1, "--out", tmp_path / "results")
    assert ended.code != 0
    assert "data set 'iris' has 3 classes, but pruning is for two: use positive: CLASS" in ended.err
