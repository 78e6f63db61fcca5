"""An epoch in one pass over the samples against the epoch in several passes, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoloss_cli.kernels.line_search import MANY_SAMPLES, choose_bucket_count, take_step, to_fixed_point
from zoloss_cli.kernels.rcd import (
    DIFFERENT,
    ZERO,
    allocate_scratch,
    find_signs,
    fit_rcd,
    multiply_directions,
    sign_weights,
    update_along_direction,
    update_in_one_pass,
)


def walk_in_one_pass(X, y, phi, w, D, buckets):
    """Return w and Xw after an epoch for each row of D, whose steps wait."""
    c = sign_weights(y, phi)
    signs, weight = find_signs(c)
    scratch = allocate_scratch(len(X), buckets)
    p, before, t = X @ w, np.zeros(len(X)), 0.0
    for d in D:
        delta = X @ d
        t = update_in_one_pass(p, before, t, delta, y, phi, c, signs, weight, w, d, buckets, scratch)
        before = delta
    take_step(p, before, t, 0.0, p)
    return w, p


def walk_in_several_passes(X, y, phi, w, D, buckets):
    c, scratch = sign_weights(y, phi), allocate_scratch(len(X), buckets)
    p, q = X @ w, np.empty(len(X))
    for d in D:
        update_along_direction(p, q, X @ d, y, phi, c, w, d, False, buckets, scratch)
        p, q = q, p
    return w, p


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 3000),
    values=st.sampled_from([0, 2, 5, 100]),
    is_uneven=st.booleans(),
    starts_at_zero=st.booleans(),
)
def test_one_pass_gives_the_weights_and_margins_of_several(seed, n, values, is_uneven, starts_at_zero):
    rng = np.random.default_rng(seed)
    # Few values make ties, zero changes and breakpoints that vanish common.
    X = rng.integers(-values, values + 1, (n, 4)).astype(float) if values else rng.standard_normal((n, 4))
    X[:, 0] = 1.0
    y = np.where(X @ rng.standard_normal(4) + rng.standard_normal(n) > 0, 1.0, -1.0)
    weights = rng.integers(1, 4, n) if is_uneven else np.ones(n)
    phi = to_fixed_point(weights / weights.sum())
    D = rng.integers(-2, 3, (12, 4)).astype(float) if values == 2 else rng.uniform(-1, 1, (12, 4))
    w = np.zeros(4) if starts_at_zero else rng.standard_normal(4)
    arguments = X, y, phi
    buckets = choose_bucket_count(n)
    w_one, p_one = walk_in_one_pass(*arguments, w.copy(), D, buckets)
    w_several, p_several = walk_in_several_passes(*arguments, w.copy(), D, buckets)
    np.testing.assert_array_equal(w_one, w_several)
    np.testing.assert_array_equal(p_one, p_several)


def test_signs_tell_whether_all_samples_have_one_weight():
    assert find_signs(np.array([3, -3, 3]))[1] == 3
    assert find_signs(np.array([3, -2, 3]))[1] == DIFFERENT
    assert find_signs(np.array([3, 0, 3]))[1] == ZERO
    np.testing.assert_array_equal(find_signs(np.array([3, -2, 3]))[0], [1, -1, 1])


@pytest.mark.parametrize("is_uneven", [False, True])
def test_a_fit_of_many_samples_gives_the_weights_of_several_passes(is_uneven):
    n, epochs = MANY_SAMPLES + 100, 20
    rng = np.random.default_rng(4)
    X = np.column_stack([np.ones(n), rng.uniform(-1, 1, (n, 3))])
    y = np.where(X @ rng.standard_normal(4) + rng.standard_normal(n) > 0, 1.0, -1.0)
    weights = rng.exponential(size=n) if is_uneven else np.ones(n)
    phi, D = to_fixed_point(weights / weights.sum()), rng.uniform(-1, 1, (epochs, 4))
    buckets, start = choose_bucket_count(n), rng.standard_normal(4)
    w, path = start.copy(), np.empty((2, 4))
    room = np.empty((7, n))  # blocks that do not divide the epochs
    fit_rcd(X, np.empty((0, 0)), y, phi, w, D, False, buckets, 0, np.array([9, 20]), path, room)
    expected = start.copy()
    for first in range(0, epochs, 7):
        expected, _ = walk_in_several_passes(X, y, phi, expected, D[first : first + 7], buckets)
    np.testing.assert_allclose(w, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(path[1], w)


@pytest.mark.parametrize(
    ("n", "size", "rows"), [(1, 1, 1), (5, 3, 4), (64, 21, 11), (131, 6, 9), (1000, 9, 12)]
)
def test_products_with_directions_are_those_of_numpy(n, size, rows):
    rng = np.random.default_rng(n)
    X, D = rng.standard_normal((n, size)), rng.standard_normal((rows, size))
    deltas = np.full((rows + 1, n), 7.0)
    multiply_directions(X, D, deltas)
    np.testing.assert_allclose(deltas[:rows], D @ X.T, rtol=0, atol=1e-13)
    assert np.all(deltas[rows] == 7.0)
