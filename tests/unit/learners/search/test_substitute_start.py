"""The start without LIBLINEAR's own package: scikit-learn solves the same problems."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import scale

from zoloss_cli import PivotClassifier, load_dataset
from zoloss_cli.learners.linear.liblinear import C_GRID, LibLinearClassifier
from zoloss_cli.learners.search import base as direct_optimizer
from zoloss_cli.learners.search import base as substitute_start


def build_problem(name: str):
    X, y = load_dataset(name)
    return PivotClassifier()._build_problem(scale(X), y, None)


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
@pytest.mark.parametrize("name", ["heart", "breast"])
def test_both_solvers_agree_up_to_their_tolerance(name, loss):
    problem = build_problem(name)
    for C, theirs in zip(C_GRID, LibLinearClassifier(loss).solve_grid(problem.X, problem.y), strict=True):
        ours = substitute_start._solve(loss, C, problem)
        assert ours @ theirs > 0.999 * np.linalg.norm(ours) * np.linalg.norm(theirs)


@pytest.mark.parametrize("seeding", ["lr", "svm"])
def test_the_package_is_used_where_it_is(monkeypatch, seeding):
    problem = build_problem("heart")
    loss = direct_optimizer.START_LOSSES[seeding]
    expected = LibLinearClassifier(loss).learn(problem, np.zeros(14))
    assert np.array_equal(PivotClassifier(seeding=seeding)._compute_start(problem), expected)
    monkeypatch.setattr(direct_optimizer, "is_installed", lambda module: False)
    with pytest.warns(UserWarning, match="liblinear-official is not installed"):
        found = PivotClassifier(seeding=seeding)._compute_start(problem)
    assert not np.array_equal(found, expected)
    count = [int((problem.y * (problem.X @ w) <= 0).sum()) for w in (found, expected)]
    assert abs(count[0] - count[1]) <= 2


def test_features_beyond_computing_start_from_zero(monkeypatch):
    problem = build_problem("heart")
    monkeypatch.setattr(substitute_start, "_solve", lambda *_: np.full(14, np.inf))
    with pytest.warns(UserWarning, match="liblinear"):
        assert not substitute_start.compute_substitute_start("logistic", problem).any()
