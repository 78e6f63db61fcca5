"""Bounds through a run: what tasks store, what tables show, and that no ratio is above 1."""

import json

import numpy as np
import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.data.dataset import generate
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_task
from zoloss_cli.report.runs import load_runs

SMALL = """
metric: bound_ratio
also: largest_ratio
datasets:
  wide: {generator: separable, size: 30, dimensions: 3, margin: 0.2, seed: [1, 2, 3]}
  noisy: {generator: separable, size: 40, dimensions: 3, margin: 0.2, flipped: 0.2, seed: [1, 2, 3]}
  axes: {size: 7, seed: [1, 2, 3]}
split: {train: all, repeats: 3, seed: 1}
preprocess: {scale: none}
learners:
  mistake-bound: {intercept: false, epochs: 50}
  margin-bound: {intercept: false, epochs: 50}
  inseparable-bound: {intercept: false, epochs: 5}
  stopping-rule: {intercept: false, epsilon: 0.2, epochs: 50}
"""


def test_a_task_stores_what_it_counted_where_there_is_a_bound(write_config):
    cells = {(c.data.name, c.learner.learner): c for c in plan(load_config(write_config(SMALL)))}
    record = run_task(cells["axes", "mistake-bound"], 1)
    assert (record.counted, record.bound, record.train_errors) == (7, 7.0, 0)
    assert run_task(cells["noisy", "mistake-bound"], 1).bound is None
    assert run_task(cells["noisy", "inseparable-bound"], 1).bound > 0
    sets = [run_task(cells["wide", "mistake-bound"], k).bound for k in range(3)]
    assert len(set(sets)) == 3  # every split has a set of its own


def test_a_table_shows_means_and_the_largest(zoloss, write_config, tmp_path):
    small_run = tmp_path / "results"
    assert zoloss("run", write_config(SMALL), "--out", small_run, "--jobs", 1).code == 0
    (run,) = load_runs(small_run)[0]
    assert ("noisy", "mistake-bound") not in run.cells
    for cell in run.cells.values():
        assert max(cell["bound_ratio"]) <= 1.0
    values = run.cells["wide", "margin-bound"]
    ratios = [c / b for c, b in zip(values.get_counts("counted"), values.get_counts("bound"), strict=True)]
    assert values["bound_ratio"] == ratios
    assert run.get_stat("wide", "margin-bound").mean == pytest.approx(np.mean(values["bound_ratio"]))
    assert run.get_stat("wide", "margin-bound", "largest_ratio").mean == max(values["bound_ratio"])
    shown = zoloss.ok("table", small_run)
    tight = next(line for line in shown.out.splitlines() if line.startswith("axes"))
    assert tight.split()[1:5] == ["1.000", "±", "0.000", "1.000"]
    assert "which a ratio above 1 would refute" in shown.out
    listed = json.loads((small_run / "runs" / "small.json").read_text())
    assert listed["experiment"]["also"] == "largest_ratio"


def test_separable_points_keep_their_margin_on_the_sphere():
    for seed in range(5):
        clean = generate("separable", seed, size=200, dimensions=4, margin=0.3)
        assert np.linalg.norm(clean.X, axis=1) == pytest.approx(np.ones(200))
        assert np.bincount(clean.y).tolist() == [100, 100]
        noisy = generate("separable", seed, size=200, dimensions=4, margin=0.3, flipped=0.1)
        np.testing.assert_array_equal(noisy.X, clean.X)
        assert (noisy.y != clean.y).sum() == 20
        # The plane's normal is the same for any number of points: the first numbers drawn.
        normal = np.random.default_rng([seed, int.from_bytes(b"separable", "big")]).standard_normal(4)
        distances = np.where(clean.y == 1, 1, -1) * (clean.X @ normal) / np.linalg.norm(normal)
        assert 0.3 <= distances.min() < 0.33
        assert distances.max() <= 1.0


def test_axes_are_all_unit_vectors():
    pool = generate("axes", 3, size=9)
    signed = pool.X * np.where(pool.y == 1, 1, -1)[:, None]
    np.testing.assert_array_equal(signed[np.argsort(signed.argmax(axis=1))], np.eye(9))
