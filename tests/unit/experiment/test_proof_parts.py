"""Proofs that tasks share: each split proves a bound for its part of the directions, and a table joins them."""

import numpy as np
import pytest
from problems import fewest_errors, tiny_problem

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.fitting import assign_part
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_task
from zoloss_cli.registry import load_metric, make_learner

KINDS = ("plain", "discrete", "collinear", "duplicates")
CONFIG = """
name: parts
metrics: [joint_bound, cones]
datasets: [{name}]
split: {{train: all, repeats: {parts}, seed: 1}}
preprocess: {{scale: standard}}
learners:
  certify: {{target: {target}, parts: {parts}, steps: 500, time_limit: null}}
"""


def prove_in_parts(X, y, target, parts):
    settings = {"target": target, "parts": parts, "steps": 50, "time_limit": None}
    bounds = []
    for part in range(parts):
        learner = make_learner("certify", {**settings, "part": part}, 0).fit(X, y)
        assert learner.lower_bound_ <= learner.training_errors_
        bounds.append(learner.part_bound_)
    return bounds


def test_all_parts_prove_what_brute_force_finds_and_no_more():
    tried = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X, y = tiny_problem(seed, int(rng.integers(6, 11)), int(rng.integers(1, 4)), KINDS[seed % 4])
        least = round(fewest_errors(X, y, np.ones(len(y))))
        if least == 0:
            continue
        parts = int(rng.integers(2, 4))
        assert min(prove_in_parts(X, y, least, parts)) == least, seed
        assert min(prove_in_parts(X, y, least + 1, parts)) <= least, seed
        tried += 1
    assert tried > 9


def test_each_split_has_its_part_and_the_cell_is_one(tmp_path):
    path = tmp_path / "parts.yaml"
    path.write_text(CONFIG.format(name="liver", target=60, parts=3))
    (cell,) = plan(load_config(path))
    assert cell.identity["parameters"]["part"] is None
    for split in range(3):
        assert dict(assign_part(cell.learner, split).settings)["part"] == split
    records = [run_task(cell, split) for split in range(3)]
    assert [(record.part_bound, record.n_parts) for record in records] == [(60.0, 3)] * 3
    assert all(record.lower_bound < 60 for record in records)  # a part alone is not a bound
    joint = load_metric("joint_bound")
    assert joint.explain_missing(records) == ""
    assert joint.aggregate([record.part_bound for record in records]).mean == 60
    assert joint.explain_missing(records[:2]) == "only 2 of 3 parts of the proof are done"
    assert joint.explain_missing([records[0], records[0]]) == "only 1 of 3 parts of the proof are done"


def test_parts_without_a_target_or_beyond_their_number_are_refused():
    X, y = np.random.default_rng(0).standard_normal((20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match="parts requires target"):
        make_learner("certify", {"parts": 3, "part": 0}, 0).fit(X, y)
    with pytest.raises(ValueError, match="part must be below parts"):
        make_learner("certify", {"parts": 3, "part": 3, "target": 2}, 0).fit(X, y)


def test_a_table_waits_for_all_parts(zoloss, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.yaml").write_text(CONFIG.format(name="liver", target=40, parts=3))
    assert zoloss("run", "parts.yaml", "--splits", "2", "--jobs", "1").code == 0
    ended = zoloss("table", "results")
    assert "only 2 of 3 parts of the proof are done; run the others with: zoloss run parts.yaml" in ended.err
    assert "2 were done, 1 run" in zoloss("run", "parts.yaml", "--jobs", "1").err
    assert "liver       40" in zoloss("table", "results").out
