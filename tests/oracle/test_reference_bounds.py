"""The committed run of configs/perceptron/bounds.yaml: no bound is broken in a thousand random sets."""

from __future__ import annotations

import pytest
from reference_runs import find_reference_run
from scipy.stats import binom


@pytest.fixture(scope="module")
def run():
    return find_reference_run("perceptron-bounds")


def test_it_is_complete(run):
    assert run.n_done == run.n_tasks
    assert run.n_failed == 0
    assert len(run.datasets) * run.experiment.split.repeats >= 1000


def test_no_bound_is_broken(run):
    for place, cell in run.cells.items():
        assert max(cell["bound_ratio"]) <= 1.0, place


def test_the_tight_case_is_exact(run):
    for theorem in ("mistake-bound", "inseparable-bound"):
        assert set(run.cells["axes", theorem].get_counts("counted")) == {30.0}
        assert set(run.cells["axes", theorem].get_counts("bound")) == {30.0}


def test_errors_above_epsilon_are_as_seldom_as_the_stopping_rule_says(run):
    (settings,) = (spec.parameters for spec in run.experiment.learners if spec.label == "stopping-rule")
    cells = [cell for (_, learner), cell in run.cells.items() if learner == "stopping-rule"]
    errors = [error for cell in cells for error in cell["train_error"]]
    failures = sum(error > 100 * settings["epsilon"] for error in errors)
    assert failures <= binom.ppf(0.999, len(errors), settings["delta"])
    assert max(errors) > 0
