"""Published numbers that no record gives: improvements between columns, and counts of data sets."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev

import pytest
from built_runs import build_run

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.report.compare import DATA, compare_run, compute_improvement_spread, count_data
from zoloss_cli.report.tables import compute_our_improvement

PAPER = "nguyen-sanner-2013"
SIDES = {"of": ["sla", "csa", "pcs", "bnb"], "over": ["bpm", "svm", "lr"]}


def improving(cells, table="1", improvement=SIDES, **keys):
    """A run of all columns of the published table; those that are not given have many errors."""
    n_values = len(next(iter(cells.values())))
    columns = {x: cells.get(x, [90.0] * n_values) for x in (*SIDES["of"], *SIDES["over"])}
    return build_run(
        {("heart", x): {"train_01_loss": values} for x, values in columns.items()},
        metric="train_01_loss",
        published={"paper": PAPER, "table": table},
        improvement=improvement,
        **{"split": {"repeats": 1, "train": "all"}} | keys,
    )


def improvement_of(run):
    (cell,) = [cell for cell in compare_run(run) if cell.learner == "improvement"]
    return cell


def test_an_improvement_without_randomness_matches_to_the_digit_or_not():
    for sla, match in ((25.0, "="), (24.0, "better"), (27.0, "worse")):
        cell = improvement_of(improving({"svm": [38.0], "lr": [39.0], "sla": [sla]}))  # published: 34.2
        assert (cell.match, cell.is_exact, cell.is_beyond(2)) == (match, False, match != "=")
        assert cell.fails(2) == (match == "worse")
        assert cell.mean == pytest.approx(100 * (38 - sla) / 38)


def test_an_improvement_between_other_columns_is_not_compared():
    cells = {"svm": [38.0], "sla": [25.0]}
    fewer = improving(cells, improvement={"of": ["sla"], "over": ["svm"]})
    lacking = improving(cells)
    del lacking.cells["heart", "bnb"]
    for run in (fewer, lacking):
        assert "improvement" not in {cell.learner for cell in compare_run(run)}


def test_the_spread_of_an_improvement_is_that_of_many_repetitions():
    """Over many sets of splits, the improvement of the means varies as the linear spread of one set says."""
    rng, n = random.Random(1), 200

    def draw():
        common = [rng.gauss(0, 3) for _ in range(n)]
        return improving(
            {
                "svm": [60 + c + rng.gauss(0, 2) for c in common],
                "sla": [45 + c + rng.gauss(0, 2) for c in common],
            },
            split={"repeats": n, "train": "all"},
        )

    runs = [draw() for _ in range(150)]
    found = [compute_our_improvement(run, "heart") for run in runs]
    expected = fmean(compute_improvement_spread(run, "heart").stderr for run in runs)
    assert stdev(found) == pytest.approx(expected, rel=0.15)


def test_z_of_an_improvement_has_the_spread_on_both_sides():
    cells = {"svm": [50.0, 60.0, 56.0, 54.0], "sla": [44.0, 50.0, 40.0, 46.0]}
    data = [{"name": "heart", "noise": {"fraction": 0.1, "draws": 4}}]
    run = improving(cells, table="2", datasets=data, split={"repeats": 4, "train": "all"})
    moved = [-100 / 55 * a + 100 * 45 / 55**2 * b for b, a in zip(*cells.values(), strict=True)]
    spread = stdev(moved)  # one value per draw: all of it is between draws
    cell = improvement_of(run)
    assert cell.mean == pytest.approx(100 * 10 / 55)
    expected = (cell.mean - 22.2) / math.hypot(spread / 2, spread, 0.1 / math.sqrt(12))
    assert cell.z == pytest.approx(expected)
    assert cell.stderr == pytest.approx(spread / 2)
    assert (cell.published, cell.match) == (22.2, "worse")


def test_counts_of_data_sets_are_those_of_the_samples():
    names = ["dna", "vowel", "iris"]
    run = build_run(
        {(name, "erp:max-2:LRL:stump"): {"test_error": [5.0]} for name in names},
        metric="test_error",
        published={"paper": "li-thesis-2006", "table": "4.2"},
        datasets=[{"name": n} | ({} if n == "iris" else {"train": "predefined"}) for n in names],
        split={"repeats": 1, "train": 0.9},
    )
    cells = {(c.dataset, c.metric): c for c in compare_run(run) if c.learner == DATA}
    assert len(cells) == 4 + 4 + 3  # iris has no test part in the table
    assert {(c.table, c.match, c.is_exact) for c in cells.values()} == {("4.1", "=", True)}
    for name in names:
        data = load_data(EmbeddedData(name=name, dataset=name))
        found = count_data(run, name)
        assert found["samples"] == len(data.y)
        assert (found["features"], found["classes"]) == (data.X.shape[1], len(data.classes))
    assert (cells["vowel", "training_samples"].mean, cells["vowel", "test_samples"].mean) == (528, 462)
    assert cells["iris", "training_samples"].mean == 150


def test_other_data_of_the_same_name_are_not_counted():
    run = build_run(
        {("heart", "svm"): {"train_01_loss": [39.0]}},
        metric="train_01_loss",
        published={"paper": PAPER, "table": "1"},
        datasets=[{"name": "heart", "csv": "heart.csv"}],
    )
    assert [cell.learner for cell in compare_run(run)] == ["svm"]
