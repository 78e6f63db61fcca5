"""Protocols: training on all rows, draws, where scaling is fitted, and what a row keeps of a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import EmbeddedData, GeneratedData, Noise
from zoloss_cli.datasets.dataset import compute_fingerprint, count_draws, find_draw, load_data
from zoloss_cli.datasets.pool import generate
from zoloss_cli.datasets.scaling import scale_parts
from zoloss_cli.datasets.splits import SplitRule
from zoloss_cli.errors import DataError
from zoloss_cli.experiment import task as worker
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.runner import sizes_of
from zoloss_cli.experiment.task import run_unit
from zoloss_cli.kernels.zero_one import lenient_mistakes, strict_mistakes
from zoloss_cli.results.store import Store

WHOLE = "split: {train: all, repeats: 3}\nmetric: train_01_loss\n"


def cells_of(write_config, text):
    return plan(load_config(write_config(text)))


# -- identities ---------------------------------------------------------------------------------------

PINNED = """
datasets:
  heart: {noise: {fraction: 0.1, labels: one-class, seed: 4}}
  ringnorm: {size: 500, seed: 3, train: 100, test: 200}
  cmc: {positive: "1"}
split: {train: 0.7, repeats: 5, seed: 9}
preprocess: {scale: standard}
learners: {svm: {C: [1.0]}, pocket: {epochs: 9}}
"""
PINNED_KEYS = [
    "6dbb46341d188490",
    "3fc0c8a07fb13f7f",
    "dd161b13e4e8f074",
    "a2b1816db36bbdf1",
    "cbbe5d532056938e",
    "139bc51acaf88148",
]


def test_cells_have_the_keys_that_they_had_before_there_were_these_settings(write_config):
    assert [c.key for c in cells_of(write_config, PINNED)] == PINNED_KEYS


def test_settings_at_their_defaults_leave_no_trace(write_config):
    said = (
        PINNED.replace("seed: 4}", "seed: 4, draws: 1}").replace(
            "scale: standard", "scale: standard, fit_on: train"
        )
        + "tuning: {folds: 7, on: all}\n"
    )
    assert [c.key for c in cells_of(write_config, said)] == PINNED_KEYS


BASE = """
datasets: {{heart: {data}}}
split: {{train: {train}}}
preprocess: {{{scaling}}}
{more}
learners: {{svm: {svm}}}
"""
PLAIN = {"data": "", "train": 0.8, "scaling": "scale: standard", "more": "", "svm": ""}
TUNED = {"more": "tuning: {folds: 5}\n", "svm": "{tune: {C: [[0.1], [1.0]]}}"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"scaling": "scale: standard, fit_on: all"}),
        ({}, {"train": "all", "more": "metric: train_error\n"}),
        ({}, TUNED),
        (TUNED, TUNED | {"more": "tuning: {folds: 4}\n"}),
        (TUNED, TUNED | {"more": "tuning: {folds: 5, on: all}\n"}),
        (TUNED, TUNED | {"svm": "{tune: {C: [[0.1], [2.0]]}}"}),
        ({"data": "{noise: {fraction: 0.1}}"}, {"data": "{noise: {fraction: 0.1, draws: 2}}"}),
    ],
)
def test_each_new_setting_makes_a_new_cell_where_it_is_used(write_config, one, other):
    keys = {cells_of(write_config, BASE.format(**PLAIN | change))[0].key for change in (one, other)}
    assert len(keys) == 2


def test_ways_to_fit_that_are_the_same_share_a_cell(write_config):
    for same in ({"train": "all", "more": "metric: train_error\n"}, {"scaling": "scale: none"}):
        leaking = same | {"scaling": same.get("scaling", "scale: standard") + ", fit_on: all"}
        keys = {cells_of(write_config, BASE.format(**PLAIN | change))[0].key for change in (same, leaking)}
        assert len(keys) == 1


# -- all rows train -----------------------------------------------------------------------------------


def test_all_rows_train_in_file_order():
    rule = SplitRule("all", None, 1)
    assert rule.compute_sizes(9, "x") == (9, 0)
    train, test = rule.select_indices(9, "x", 4)
    assert train.tolist() == list(range(9))
    assert test.size == 0


def test_a_unit_without_test_rows_says_nothing_of_them(write_config):
    (cell,) = cells_of(
        write_config, f"{WHOLE}datasets: [heart]\nlearners: {{pocket: {{epochs: 20, record_every: 10}}}}\n"
    )
    rows = [run_unit(cell, k) for k in (0, 0, 1)]
    assert all("test" not in row and "test_curve" not in row for row in rows)
    assert [r["train"] for r in rows[:2]] == [rows[0]["train"]] * 2
    assert rows[0]["train_curve"] != rows[2]["train_curve"]  # k seeds the learner


def test_the_store_keeps_rows_without_test_and_drops_those_with_it(write_config, tmp_path):
    (cell,) = cells_of(write_config, f"{WHOLE}datasets: [heart]\nlearners: [fld]\n")
    store = Store(tmp_path / "results")
    with store.writing():
        store.append(
            cell, [{"k": 0, "train": 40, "s": 0.1}, {"k": 1, "train": 40, "test": 0, "s": 0.1}], (270, 0)
        )
    found = store.read(cell.filename, cell.key)
    assert sorted(found.rows) == [0]
    assert found.dropped_lines == 1


def test_a_data_set_may_train_on_all_rows_beside_others(write_config):
    text = "metric: train_error\ndatasets: {heart: {train: all}, sonar: }\nlearners: [fld]\n"
    heart, sonar = cells_of(write_config, text)
    assert sizes_of([heart, sonar])[(heart.data, heart.rule)] == (270, 0)
    assert sizes_of([heart, sonar])[(sonar.data, sonar.rule)] == (166, 42)


# -- draws --------------------------------------------------------------------------------------------


def test_noise_draws_differ_and_the_first_is_the_single_one():
    single = EmbeddedData(name="heart", dataset="heart", noise=Noise(fraction=0.1, seed=5))
    several = EmbeddedData(name="heart", dataset="heart", noise=Noise(fraction=0.1, seed=5, draws=3))
    assert (count_draws(single), count_draws(several)) == (1, 3)
    np.testing.assert_array_equal(load_data(single).X, load_data(several, 0).X)
    seen = [load_data(several, draw).X[270:] for draw in range(3)]
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[1], seen[2])
    assert [find_draw(several, k) for k in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_pools_take_turns_and_noise_with_them():
    spec = GeneratedData(name="g", generator="gaussians", size=40, seed=(7, 9))
    for draw, seed in enumerate((7, 9)):
        np.testing.assert_array_equal(load_data(spec, draw).X, generate("gaussians", seed, size=40).X)
    both = spec.model_copy(update={"noise": Noise(fraction=0.5, draws=3)})
    assert count_draws(both) == 6
    clean = {load_data(both, draw).X[:40].tobytes() for draw in range(6)}
    noise = {load_data(both, draw).X[40:].tobytes() for draw in range(6)}
    assert (len(clean), len(noise)) == (2, 6)
    assert compute_fingerprint(spec)["seed"] == (7, 9)


def test_every_learner_sees_the_same_draw_of_split_k(write_config, monkeypatch):
    text = f"{WHOLE}datasets: {{heart: {{noise: {{fraction: 0.2, draws: 2}}}}}}\nlearners: [fld, stump, svm]\n"
    seen: dict[int, set] = {}
    real = worker.fit

    def spy(spec, X, y, seed):
        seen[spy.k].add(X.tobytes() + y.tobytes())
        return real(spec, X, y, seed)

    monkeypatch.setattr(worker, "fit", spy)
    for cell in cells_of(write_config, text):
        for spy.k in (2, 0, 1):
            seen.setdefault(spy.k, set())
            run_unit(cell, spy.k)
    assert [len(seen[k]) for k in range(3)] == [1, 1, 1]
    assert seen[0] == seen[2]  # draws 0, 1, 0
    assert seen[0] != seen[1]


# -- scaling ------------------------------------------------------------------------------------------


def test_scaling_on_all_rows_lets_the_test_rows_show():
    train, test = np.array([[0.0], [2.0]]), np.array([[10.0]])
    everything = np.vstack([train, test])
    inside, outside = scale_parts(train, test, "minmax", everything)
    assert (inside.ravel().tolist(), outside.ravel().tolist()) == ([-1.0, -0.6], [1.0])
    inside, outside = scale_parts(train, test, "standard", everything)
    assert np.vstack([inside, outside]).mean() == pytest.approx(0)
    assert np.vstack([inside, outside]).std(ddof=1) == pytest.approx(1)


def test_a_units_scaling_follows_fit_on(write_config, monkeypatch):
    seen = {}
    real = worker.fit

    def spy(spec, X, y, seed):
        seen[spy.how] = X
        return real(spec, X, y, seed)

    monkeypatch.setattr(worker, "fit", spy)
    for spy.how in ("train", "all"):
        text = f"datasets: [heart]\npreprocess: {{scale: standard, fit_on: {spy.how}}}\nlearners: [fld]\n"
        run_unit(cells_of(write_config, text)[0], 0)
    np.testing.assert_allclose(seen["train"].mean(axis=0), 0, atol=1e-12)
    assert np.abs(seen["all"].mean(axis=0)).max() > 0.01


# -- what a row keeps ---------------------------------------------------------------------------------


def test_the_two_rules_differ_on_zero_margins_only():
    scores, signs = np.array([2.0, 0.0, 0.0, -1.0, -3.0]), np.array([1.0, 1.0, -1.0, 1.0, -1.0])
    assert strict_mistakes(scores, signs).tolist() == [False, True, True, True, False]
    assert lenient_mistakes(scores, signs).tolist() == [False, False, False, True, False]


class Telling:
    """A learner that tells all that a row can keep; its plane goes through the first feature's zeros."""

    def fit(self, X, y):
        self.seconds_, self.trace_, self.lower_bound_ = 1.5, [(0.0, 9.0), (0.75, 4.0)], 3
        return self

    def decision_function(self, X):
        return np.where(np.arange(len(X)) < 5, 0.0, 1.0)


def test_a_row_keeps_times_bound_and_the_lenient_count(write_config, monkeypatch):
    from zoloss_cli.experiment import fitting

    monkeypatch.setattr(fitting, "make_learner", lambda *_: Telling())
    (cell,) = cells_of(write_config, f"{WHOLE}datasets: [heart]\nlearners: [fld]\n")
    row = run_unit(cell, 0)
    assert (row["seconds"], row["reached"], row["lower_bound"]) == (1.5, 0.75, 3.0)
    assert row["train"] - row["lenient"] == 5
    json.dumps(row)
    Telling.trace_ = []
    monkeypatch.setattr(Telling, "fit", lambda self, X, y: self)
    monkeypatch.setattr(Telling, "decision_function", lambda self, X: np.ones(len(X)))
    row = run_unit(cell, 0)
    assert not {"reached", "lower_bound", "lenient"} & set(row)
    assert row["seconds"] >= 0  # the worker's clock stands in for the learner's


def test_too_few_rows_for_the_folds_stop_the_run(write_config):
    text = "tuning: {folds: 50}\nsplit: {train: 40}\ndatasets: [heart]\nlearners: {svm: {tune: {C: [[1.0]]}}}\n"
    with pytest.raises(DataError, match="'heart' has 40 rows to train: too few for 50 folds"):
        sizes_of(cells_of(write_config, text))
