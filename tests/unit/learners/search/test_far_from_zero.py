"""Samples so far from 0 that they differ by little more than rounding, and lines without a breakpoint."""

import numpy as np

from zoloss_cli.kernels.line_losses import pick_interval_point
from zoloss_cli.kernels.line_search import (
    choose_bucket_count,
    find_threshold_by_buckets,
    find_threshold_by_sorting,
)
from zoloss_cli.kernels.pivot import descend_by_swaps, walk_vertices
from zoloss_cli.kernels.rcd import allocate_scratch, sign_weights
from zoloss_cli.learners.search.combinatorial import find_independent_samples
from zoloss_cli.learners.search.hyperplanes import HyperplaneEnumeration


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


def test_lines_without_a_breakpoint():
    """Rows of which all but the basis are 0, so that no line has a breakpoint but at the basis."""
    Y = np.zeros((4, 3))
    Y[0, 0] = Y[1, 1] = 1e-12  # below what counts as a slope
    c, B, w, V = np.ones(4), np.array([0, 1]), np.array([0.0, 0.0, 1.0]), np.eye(3)[:2].copy()
    *_, sound = descend_by_swaps(Y, c, B, w, V, np.inf, np.inf, w.copy(), 10, 0)
    assert sound
    np.testing.assert_array_equal(B, [0, 1])
    walk_vertices(Y, c, w, B, V, 10, 1.0, 0.1, np.uint64(1), w.copy(), np.inf)
    np.testing.assert_array_equal(B, [0, 1])
    assert pick_interval_point(np.array([np.nan]), 0, 0) == 0.0
    assert len(find_independent_samples(np.tile([1.0, 0.0, 0.0], (5, 1)), range(5))) == 1
