"""Ratios of two learners' costs: pairing, geometric means, medians, z; and the tasks that they are made of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from built_runs import build_run

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_task
from zoloss_cli.metrics.base import Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.report.agreement import summarize_agreement
from zoloss_cli.report.compare import compare_run, compute_ratio_z
from zoloss_cli.report.papers import PublishedValue
from zoloss_cli.report.runs import replace_by_ratios
from zoloss_cli.report.tables import build_table

SIDES = {"exp": {"of": "cg", "over": "any"}, "bisigmoid:1.2": {"of": "cg2", "over": "any2"}}


def run_of(cells, splits=None):
    run = build_run(
        {place: {"cost": costs, "train_error": costs} for place, costs in cells.items()},
        splits,
        metric="cost_ratio",
        also="median_ratio",
        published={"paper": "li-thesis-2006", "table": "3.1", "runs": 60},
        split={"repeats": 3, "train": 0.8},
        learners=["cg", "any", "cg2", "any2"],
        ratios=SIDES,
    )
    replace_by_ratios(run)
    return run


def test_costs_are_paired_by_split_and_averaged_as_logarithms():
    cells = {("pima", "cg"): [0.2, 0.4, 0.1], ("pima", "any"): [0.9, 0.4, 0.8, 0.1]}
    run = run_of(cells, {("pima", "cg"): [0, 2, 5], ("pima", "any"): [1, 2, 5, 0]})
    # splits 0, 2 and 5: 0.2 / 0.1, 0.4 / 0.4, 0.1 / 0.8
    assert run.cells["pima", "exp"]["cost_ratio"] == pytest.approx([2.0, 1.0, 0.125])
    assert run.cells["pima", "exp"].splits == [0, 2, 5]
    stat = run.get_stat("pima", "exp")
    logs = np.log([2.0, 1.0, 0.125])
    assert stat.mean == pytest.approx(0.25 ** (1 / 3))
    assert stat.stderr == pytest.approx(stat.mean * logs.std(ddof=1) / math.sqrt(3))
    assert run.get_stat("pima", "exp", "median_ratio").mean == 1.0
    assert ("pima", "bisigmoid:1.2") not in run.cells  # neither side is there
    assert run.learners == ["exp", "bisigmoid:1.2"]


def test_a_ratio_needs_both_sides_and_a_common_split():
    alone = run_of({("pima", "cg"): [0.2, 0.4]})
    assert alone.cells == {}
    apart = run_of({("pima", "cg"): [0.2], ("pima", "any"): [0.4]}, {("pima", "cg"): [0], ("pima", "any"): [1]})
    assert apart.cells == {}


def test_the_table_shows_the_ratio_its_median_and_the_published_one():
    run = run_of({("pima", "cg"): [0.2, 0.4, 0.1], ("pima", "any"): [0.4, 0.4, 0.8]})
    view = build_table(run, [run])
    assert view.headings == ["exp", "median", "bisigmoid 1.2"]
    (row,) = view.rows
    assert [c.mean for c in row.ours] == [pytest.approx((1 / 16) ** (1 / 3)), 0.5, None]
    assert (row.ours[0].decimals, row.ours[0].best) == (4, False)
    assert [c.mean for c in row.published] == [0.5716, None, 0.7615]


def test_z_is_that_of_the_logarithms():
    ours = load_metric("cost_ratio").aggregate([0.5, 0.8, 0.4, 0.9])
    logs = np.log([0.5, 0.8, 0.4, 0.9])
    spread = logs.std(ddof=1)
    error = math.hypot(spread / 2, spread / math.sqrt(60), 0.00005 / math.sqrt(3) / 0.4)
    expected = (logs.mean() - math.log(0.4)) / error
    assert compute_ratio_z(ours, PublishedValue(0.4, None, 4), 60) == pytest.approx(expected)
    run = run_of({("pima", "cg"): [0.5, 0.8, 0.4, 0.9], ("pima", "any"): [1.0] * 4})
    (cell,) = compare_run(run)
    assert (cell.learner, cell.metric, cell.published) == ("exp", "cost_ratio", 0.5716)
    assert cell.z == pytest.approx(compute_ratio_z(ours, PublishedValue(0.5716, None, 4), 60))


def test_a_published_zero_is_no_test():
    zero = PublishedValue(0.0, None, 4)
    for ours in (Stat(1e-30, 1e-29, 10), Stat(4.9e-5, 1e-6, 10), Stat(0.5, 0.05, 60)):
        assert math.isnan(compute_ratio_z(ours, zero, 60))
    assert math.isnan(compute_ratio_z(Stat(0.0, 0.0, 10), PublishedValue(0.3, None, 4), 60))


def test_a_logarithm_with_too_large_an_error_is_no_test():
    published = PublishedValue(0.2674, None, 4)
    # As many splits on both sides: the error of the difference is sqrt(2) times ours.
    assert abs(compute_ratio_z(Stat(0.4, 0.4 * 0.35, 60), published, 60)) < 2
    assert math.isnan(compute_ratio_z(Stat(0.4, 0.4 * 0.36, 60), published, 60))
    wide = [1e-9, 0.5, 0.6, 0.7]
    run = run_of({("pima", "cg2"): wide, ("pima", "any2"): [1.0] * 4})
    (cell,) = compare_run(run)
    assert math.isnan(cell.z)
    assert cell.apart == "no test"
    assert cell.choices == "line-search-end; first-rounds; stump-ties"
    assert not cell.is_beyond(0.0)
    assert summarize_agreement([cell]) == ["reported separately: 1 cells without a test"]


SMALL = """
metric: cost_ratio
also: median_ratio
published: {paper: li-thesis-2006, table: "3.1", runs: 60}
datasets: [pima, sonar]
split: {train: 0.8, repeats: 4, seed: 3}
ratios: {exp: {of: c, over: a}}
learners:
  a: {learner: anyboost, rounds: 15}
  c: {learner: cgboost, rounds: 15, record_every: 5}
"""


def test_a_task_stores_cost_and_curves(write_config):
    *_, cell = plan(load_config(write_config(SMALL)))
    record = run_task(cell, 0)
    assert record.iterations == 15
    assert record.epochs == [5, 10, 15]
    assert record.cost_curve[-1] == pytest.approx(record.cost, rel=1e-3)
    assert record.cost_curve == sorted(record.cost_curve, reverse=True)
    assert (record.train_curve[-1], record.test_curve[-1]) == (record.train_errors, record.test_errors)


def test_mistakes_in_ratios_are_named(write_config):
    for text, message in (
        ("metric: cost_ratio", ":1: metric: .*the section ratios"),
        ("ratios: {x: {of: anyboost, over: cgboost}}", ":1: ratios: 'metric: cost_ratio' and"),
        ("ratios: {x: {of: fld, over: fdl}}\nmetric: cost_ratio", ":1: ratios.x.over: .*did you mean 'fld'"),
        ("ratios: {x: {of: fld}}\nmetric: cost_ratio", ":1: ratios.x: the key 'over' is missing"),
    ):
        path = write_config(f"{text}\ndatasets: [heart]\nlearners: [fld, anyboost, cgboost]\n")
        with pytest.raises(ConfigError, match=message):
            load_config(path)
