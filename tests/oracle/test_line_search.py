"""The line search against brute force in exact arithmetic, the fast kernel against sorting, and RCD with it."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import numpy_rcd, numpy_threshold

from zoloss_cli.kernels.line_search import (
    MANY_SAMPLES,
    choose_bucket_count,
    compute_blur,
    compute_typical_breakpoint,
    find_threshold_by_buckets,
    find_threshold_by_sorting,
    take_step,
    to_fixed_point,
)
from zoloss_cli.kernels.rcd import (
    DIRECTIONS_PER_BLOCK,
    allocate_scratch,
    fit_rcd,
    multiply_directions,
    sign_weights,
)


def exact_error(p, delta, y, phi, t, negate=False):
    """The weighted error of w - t d, in rational arithmetic; a zero margin is an error."""
    sign = -1 if negate else 1
    t = Fraction(t)
    return sum(
        weight
        for p_i, d_i, y_i, weight in zip(p, delta, y, phi, strict=True)
        if int(y_i) * sign * (Fraction(p_i) - t * Fraction(d_i)) <= 0
    )


def breakpoints(p, delta):
    return {Fraction(a) / Fraction(b) for a, b in zip(p, delta, strict=True) if b != 0}


def candidate_thresholds(p, delta):
    """One point inside every interval between breakpoints, and one beyond either end."""
    r = sorted(breakpoints(p, delta))
    return [r[0] - 1, *((a + b) / 2 for a, b in pairwise(r)), r[-1] + 1] if r else [Fraction(0)]


# Small integers make ties, zero deltas, duplicates and opposite points common, and keep p/delta apart by
# far more than rounding.
numbers = st.integers(-4, 4).map(float)
points = st.lists(
    st.tuples(numbers, numbers, st.sampled_from([-1.0, 1.0]), st.integers(1, 5)), min_size=1, max_size=14
)


def columns(drawn):
    p, delta, y, phi = (np.array(c, dtype=float) for c in zip(*drawn, strict=True))
    return p, delta, y, phi.astype(np.int64)


def fast(p, delta, y, phi):
    s = compute_typical_breakpoint(p, delta)
    if s == 0.0:
        return None
    t, settled = find_threshold_by_buckets(p, delta, sign_weights(y, phi), s, 64, *allocate_scratch(len(p), 64))
    # As in the update: a threshold that hits a vanished breakpoint goes to the sorter.
    if settled and not take_step(p, delta, t, 0.25 * compute_blur(t, s), np.empty_like(p)):
        settled = False
    return t if settled else None


@settings(max_examples=300)
@given(points)
def test_line_search_is_as_good_as_every_interval(drawn):
    p, delta, y, phi = columns(drawn)
    t, negate = find_threshold_by_sorting(p, delta, y, phi, compute_typical_breakpoint(p, delta), False)
    assert not negate
    if not np.any(delta != 0):
        assert t == 0.0
        return
    errors = {c: exact_error(p, delta, y, phi, c) for c in candidate_thresholds(p, delta)}
    # t = 0 stands for "no breakpoint has a net weight": then every interval is equally good.
    if t == 0.0 and Fraction(0) in breakpoints(p, delta):
        assert len(set(errors.values())) == 1
    else:
        assert exact_error(p, delta, y, phi, t) == min(errors.values())
        leftmost = min(c for c, e in errors.items() if e == min(errors.values()))
        # Nothing but vanished breakpoints may lie between the leftmost best interval and t.
        for r in breakpoints(p, delta):
            if leftmost <= r < Fraction(t):
                samples = zip(p, delta, y, phi, strict=True)
                tied = [(y_i * d, w) for a, d, y_i, w in samples if d != 0 and Fraction(a) / Fraction(d) == r]
                assert sum(int(w) * int(np.sign(slope)) for slope, w in tied) == 0


@settings(max_examples=300)
@given(points)
def test_full_update_procedure_considers_both_directions(drawn):
    p, delta, y, phi = columns(drawn)
    if not np.any(delta != 0):
        return
    # Examples with p = delta = 0 stay at margin 0 either way, where Algorithm 2.3 counts by sign(0) = -1.
    moving = (delta != 0) | (p != 0)
    p, delta, y, phi = p[moving], delta[moving], y[moving], phi[moving]
    t, negate = find_threshold_by_sorting(p, delta, y, phi, compute_typical_breakpoint(p, delta), True)
    best = min(
        exact_error(p, delta, y, phi, c, q) for c in candidate_thresholds(p, delta) for q in (False, True)
    )
    if t == 0.0 and Fraction(0) in breakpoints(p, delta):
        return  # no breakpoint has a net weight, and w stays on one of them
    assert exact_error(p, delta, y, phi, t, negate) == best


@settings(max_examples=300)
@given(points)
def test_fast_kernel_agrees_with_sorting_on_ties(drawn):
    p, delta, y, phi = columns(drawn)
    t = fast(p, delta, y, phi)
    if t is not None:
        assert t == find_threshold_by_sorting(p, delta, y, phi, compute_typical_breakpoint(p, delta), False)[0]


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 900),
    scale=st.floats(-200, 25).map(lambda e: 2.0**e),
    uneven=st.booleans(),
)
def test_fast_kernel_twin_and_sorting_agree_on_real_numbers(seed, n, scale, uneven):
    rng = np.random.default_rng(seed)
    p, delta = scale * rng.standard_normal(n), rng.standard_normal(n)
    delta[rng.random(n) < 0.05] = 0.0
    y = np.where(p + 0.7 * scale * rng.standard_normal(n) > 0, 1.0, -1.0)
    weights = rng.exponential(size=n) if uneven else np.ones(n)
    phi = to_fixed_point(weights / weights.sum())
    s = compute_typical_breakpoint(p, delta)
    expected = numpy_threshold(p, delta, y, phi)
    assert find_threshold_by_sorting(p, delta, y, phi, s, False)[0] == expected
    buckets = choose_bucket_count(n)
    c = sign_weights(y, phi)
    t, settled = find_threshold_by_buckets(p, delta, c, s, buckets, *allocate_scratch(n, buckets))
    assert not settled or t == expected


def test_fast_kernel_settles_nearly_all_real_cases():
    rng = np.random.default_rng(1)
    settled = 0
    for _ in range(200):
        p, delta = rng.standard_normal((2, 300))
        y = np.where(p + rng.standard_normal(300) > 0, 1.0, -1.0)
        settled += fast(p, delta, y, to_fixed_point(np.full(300, 1 / 300))) is not None
    assert settled >= 190


@pytest.mark.parametrize(
    ("n", "m", "uneven", "epochs", "rows"),
    [
        (40, 3, False, 100, DIRECTIONS_PER_BLOCK),
        (300, 8, True, 100, DIRECTIONS_PER_BLOCK),
        (700, 20, False, 100, DIRECTIONS_PER_BLOCK),
        (MANY_SAMPLES + 100, 3, True, 10, 7),  # blocks that do not divide the epochs
    ],
)
def test_rcd_kernel_returns_the_twins_weights(n, m, uneven, epochs, rows):
    rng = np.random.default_rng(n)
    X = np.column_stack([np.ones(n), rng.uniform(-1, 1, (n, m))])
    y = np.where(X @ rng.standard_normal(m + 1) + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    weights = rng.exponential(size=n) if uneven else np.ones(n)
    phi = to_fixed_point(weights / weights.sum())
    D = rng.uniform(-1, 1, (epochs, m + 1))
    start, path = rng.standard_normal(m + 1), np.empty((2, m + 1))
    w, X_T = start.copy(), np.ascontiguousarray(X.T) if n < MANY_SAMPLES else np.empty((0, 0))
    records = np.array([4, epochs]), path, np.empty((rows, n))
    fit_rcd(X, X_T, y, phi, w, D, False, choose_bucket_count(n), 0, *records)
    np.testing.assert_allclose(w, numpy_rcd(X, y, phi, start, D), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(path[1], w)


def test_products_with_directions_are_those_of_numpy():
    for n, size, rows in ((1, 1, 1), (5, 3, 4), (64, 21, 11), (131, 6, 9), (1000, 9, 12)):
        rng = np.random.default_rng(n)
        X, D = rng.standard_normal((n, size)), rng.standard_normal((rows, size))
        deltas = np.full((rows + 1, n), 7.0)
        multiply_directions(X, D, deltas)
        np.testing.assert_allclose(deltas[:rows], D @ X.T, rtol=0, atol=1e-13)
        assert np.all(deltas[rows] == 7.0)
