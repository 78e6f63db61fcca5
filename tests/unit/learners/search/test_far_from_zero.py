"""Samples so far from 0 that they differ by little more than rounding, and lines without a breakpoint."""

from __future__ import annotations

import numpy as np
import pytest

from zoloss_cli.kernels.line import pick_interval_point
from zoloss_cli.kernels.line_search import (
    choose_bucket_count,
    find_threshold_by_buckets,
    find_threshold_by_sorting,
)
from zoloss_cli.kernels.pivot import descend_by_swaps, rebuild_vertex, walk_vertices
from zoloss_cli.kernels.rcd import allocate_scratch, sign_weights
from zoloss_cli.learners.search.combinatorial import find_independent_samples
from zoloss_cli.learners.search.hyperplanes import HyperplaneEnumeration
from zoloss_cli.registry import make_learner


@pytest.mark.parametrize("offset", [1e7, 1e8, 1e9, 1e10])
@pytest.mark.parametrize("name", ["csa", "pcs", "pivot", "bnb"])
def test_searches_far_from_zero(name, offset):
    budget = {"pivot": {"steps": 2000}, "bnb": {"nodes": 2000}}.get(name, {"lines": 2000})
    for seed in (3, 5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        y = X[:, 0] + 0.5 * rng.normal(size=60) > 0.0
        learner = make_learner(name, budget, seed).fit(X + offset, y)
        assert np.all(np.isfinite(learner.decision_function(X + offset)))


def build_vertex():
    """Rows of which all but the basis are 0, so that no line has a breakpoint but at the basis."""
    Y = np.zeros((4, 3))
    Y[0, 0] = Y[1, 1] = 1e-12  # below what counts as a slope
    return Y, np.ones(4), np.array([0, 1]), np.array([0.0, 0.0, 1.0]), np.eye(3)[:2].copy()


def test_swaps_without_a_breakpoint():
    Y, c, B, w, V = build_vertex()
    *_, sound = descend_by_swaps(Y, c, B, w, V, np.inf, np.inf, w.copy(), 10, 0)
    assert sound
    np.testing.assert_array_equal(B, [0, 1])


def test_walk_without_a_breakpoint():
    Y, c, B, w, V = build_vertex()
    walk_vertices(Y, c, w, B, V, 10, 1.0, 0.1, np.uint64(1), w.copy(), np.inf)
    np.testing.assert_array_equal(B, [0, 1])


def test_no_breakpoint_gives_no_point():
    assert pick_interval_point(np.array([np.nan]), 0, 0) == 0.0


def test_basis_with_too_few_rows():
    Y = np.tile([1.0, 0.0, 0.0], (5, 1))
    basis = find_independent_samples(Y, range(5))
    assert len(basis) == 1
    assert not rebuild_vertex(Y, basis, np.ones(3), np.zeros((2, 3)))


def test_enumeration_on_one_axis():
    planes = HyperplaneEnumeration(np.array([[1.0], [1.0], [-1.0]]), np.ones(3), np.inf)
    assert [(loss, w.tolist()) for loss, w in planes] == [(1.0, [1.0])]
    assert planes.lower_bound == 1.0


def test_line_searches_end_without_numbers():
    p, delta, y = np.full(6, np.inf), np.array([np.inf, 1.0, -np.inf, 2.0, np.inf, 1.0]), np.ones(6)
    phi, buckets = np.ones(6, np.int64), choose_bucket_count(6)
    for both_directions in (False, True):
        find_threshold_by_sorting(p, delta, y, phi, 1.0, both_directions)
    c = sign_weights(y, phi)
    _, settled = find_threshold_by_buckets(p, delta, c, 1.0, buckets, *allocate_scratch(6, buckets))
    assert not settled
