"""Measures of data through configs, runs and tables."""

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import zoloss_cli
from zoloss_cli.complexity.contribution import average_contributions, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import decompose
from zoloss_cli.complexity.hard_margin import build_problem, data_complexity
from zoloss_cli.complexity.measures import ContributionMeasure, DecompositionMeasure
from zoloss_cli.config.loader import load_config
from zoloss_cli.data.dataset import load_data
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_task
from zoloss_cli.metrics.base import pool_by_draw
from zoloss_cli.registry import make_learner
from zoloss_cli.report.runs import load_runs

SMALL = """
metric: auc
also: auc_least_squares
datasets:
  yinyang: {size: 50, seed: [1, 2], flip: {share: 0.1}}
split: {train: all, repeats: 6, seed: 1}
preprocess: {scale: none}
measures:
  contribution: {permutations: 40, s1: 5}
  neighbours:
  multipliers:
  leave-one-out:
  cross-validation: {folds: 5}
"""


def cells_of(write_config, text=SMALL):
    return {c.learner.label: c for c in plan(load_config(write_config(text)))}


def test_deterministic_measures_run_once_per_draw(write_config):
    repeats = {label: cell.repeats for label, cell in cells_of(write_config).items()}
    random = {"contribution": 6, "cross-validation": 6}
    assert repeats == random | {"neighbours": 2, "multipliers": 2, "leave-one-out": 2}


def test_tasks_on_one_draw_are_pooled(write_config):
    cell = cells_of(write_config)["contribution"]
    records = [run_task(cell, k) for k in range(6)]
    assert [record.draw for record in records] == [0, 1, 0, 1, 0, 1]
    by_draw = pool_by_draw(records)
    assert list(by_draw) == [0, 1]
    pooled = by_draw[1]
    assert pooled.permutations == 120
    each = [np.array(record.measured.growth) for record in records[1::2]]
    times = [np.array(record.measured.times) for record in records[1::2]]
    np.testing.assert_allclose(pooled.outlier_scores, sum(each) / sum(times))
    assert len(pooled.flipped) == 5
    # What paths gain on all sizes is gained by somebody.
    total = sum(np.array(record.measured.growth_by_size) for record in records[1::2])
    np.testing.assert_array_equal(pooled.growth_by_size, total)


def test_tables_show_the_area_under_the_curve_and_a_run_is_resumed(zoloss, tmp_path, write_config):
    small_run = tmp_path / "results"
    assert zoloss("run", write_config(SMALL), "--out", small_run, "--jobs", 1).code == 0
    (run,) = load_runs(small_run)[0]
    cell = cells_of(write_config)["neighbours"]
    for draw, shown in enumerate(run.cells["yinyang", "neighbours"]["auc"]):
        data = load_data(cell.data, draw)
        measured = make_learner("neighbours").measure(data.X, data.y)["scores"]
        assert shown == pytest.approx(roc_auc_score(data.y != data.truth, measured))
    measured = run.measurements["yinyang", "contribution"][0]
    expected = roc_auc_score(np.isin(np.arange(50), measured.flipped), measured.least_squares)
    assert run.cells["yinyang", "contribution"]["auc_least_squares"][0] == pytest.approx(expected)
    shown = zoloss("table", small_run)
    assert "contribution" in shown.out
    assert "least squares" in shown.out
    assert "(whole set, 2 draws)" in shown.out  # and complete
    path = next((small_run / "cells").glob("yinyang.contribution.*"))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + lines[-1][:50])  # torn
    assert "incomplete" in zoloss("table", small_run).out
    again = zoloss("run", write_config(SMALL), "--out", small_run, "--jobs", 1)
    assert "1 run in" in again.err + again.out
    stored = [[json.loads(line) for line in text] for text in (path.read_text().splitlines(), lines)]
    for before, now in zip(*stored, strict=True):
        assert all(now[k] == v for k, v in before.items() if k not in ("wall_time", "fit_time", "check"))


def test_a_record_has_the_decomposition():
    X, y = zoloss_cli.load_dataset("disks", seed=3)
    result = DecompositionMeasure(clusters=9).measure(X, y)
    groups = np.array(result["clusters"])
    found = decompose(build_problem(X, y), groups)
    assert result["pairs"] == found.pairs.tolist()
    assert [p[:3] for p in result["points"]] == [[p.complexity, p.error, p.count] for p in found.points]
    assert (result["principal_points"], result["principal_subsets"]) == (len(found.points), found.n_subsets)
    for complexity, error, _, masks in result["points"]:
        for mask in masks:
            rows = np.flatnonzero([mask >> g & 1 for g in groups])
            assert len(rows) == len(y) - error
            assert data_complexity(X[rows], y[rows]) == complexity


def test_a_record_has_the_contributions():
    X, y = zoloss_cli.load_dataset("disks", seed=3)
    seed = np.random.default_rng(7).integers(0, 2**32, 4)
    result = ContributionMeasure(permutations=12, s1=3, random_state=7).measure(X, y, [4, 9])
    sums = sum_paths_in_blocks(build_problem(X, y), 12, seed, 3)
    np.testing.assert_array_equal(np.divide(result["growth"], result["times"]), average_contributions(sums))
    assert result["flipped"] == [4, 9]
    assert sum(result["flipped_times_by_size"]) == 12 * 2
    grown = np.add(result["growth_by_size"], result["flipped_growth_by_size"])
    assert grown.sum() == 12 * data_complexity(X, y)


def test_mistakes_in_a_config_are_named(write_config):
    for old, new, message in (
        ("  neighbours:\n", "  neighbors:\n", "unknown measure 'neighbors'; did you mean 'neighbours'"),
        ("  neighbours:\n", "  rcd-bias:\n", "unknown measure 'rcd-bias'"),
        ("measures:", "learners: [fld]\nmeasures:", "learners or measures, not both"),
        ("metric: auc", "metric: train_error", "'train_error' does not apply to measures"),
        ("also: auc_least_squares", "also: iterations", "'iterations' does not apply to measures"),
        ("permutations: 40", "permutation: 40", "unknown key 'permutation'; did you mean 'permutations'"),
        ("{folds: 5}", "{folds: 1}", "greater than or equal to 2"),
        ("{folds: 5}", "{tune: {folds: [2]}}", "unknown key 'tune'"),
    ):
        with pytest.raises(ConfigError, match=message):
            load_config(write_config(SMALL.replace(old, new)))
    with pytest.raises(ConfigError, match="'auc' does not apply to learners"):
        load_config(write_config("metric: auc\ndatasets: [heart]\nlearners: [fld]\n"))


def test_measures_are_of_two_classes(zoloss, write_config, tmp_path):
    text = "metric: complexity\ndatasets: [iris]\nsplit: {train: all, repeats: 1}\nmeasures: [complexity]\n"
    ended = zoloss("run", write_config(text), "--out", tmp_path / "results")
    assert ended.code != 0
    assert "'complexity' supports only two: use positive: CLASS for one class against the rest" in ended.err
    assert "a multiclass learner" not in ended.err
