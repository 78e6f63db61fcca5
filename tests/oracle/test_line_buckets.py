"""Losses along a line that only look at what a draw can reach, against those from all sorted breakpoints."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zoloss_cli.kernels.line import (
    allocate_bucket_scratch,
    allocate_line_scratch,
    compute_line_losses,
    compute_near_losses,
)
from zoloss_cli.kernels.pivot import draw_interval

N = 400


def draw_line(seed, is_discrete, weighted):
    """Return samples, weights, margins, slopes, a direction, and a basis of three rows, one of them leaving."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(-2, 3, (N, 4)).astype(float) if is_discrete else rng.normal(size=(N, 4))
    Y[:, 0] += 3.0
    Y *= np.where(Y @ rng.normal(size=4) + rng.normal(size=N) > 0.0, 1.0, -1.0)[:, None]
    Y /= np.sqrt(np.sum(Y**2, axis=1))[:, None]
    c = rng.integers(1, 6, N).astype(float) if weighted else np.ones(N)
    w, v, u = np.linalg.qr(rng.normal(size=(4, 4)))[0][:3].copy()
    f, g = Y @ w, Y @ v
    in_basis = np.zeros(N, bool)
    in_basis[:3] = True
    f[:3] = g[1:3] = 0.0
    g[3] = f[3] = 0.0  # the whole line leaves this row at 0
    return Y, c, f, g, u, in_basis


def list_intervals(sorted_t, rows, losses, count, turned, reach):
    """Return (loss, sense, the rows at both ends) of all intervals in reach, in their order."""
    ends = [-1, *rows[:count], -2]
    upright = [(losses[j], 1, *ends[j : j + 2]) for j in range(count + 1) if losses[j] < reach]
    flipped = [
        (turned - losses[j], -1, *ends[j : j + 2])
        for j in range(count + 1)
        if losses[j] < np.inf and turned - losses[j] < reach
    ]
    return upright + flipped


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.3, 2.0, 12.0]))
def test_what_is_in_reach_is_the_same_as_by_sorting_all(seed, is_discrete, weighted, excess):
    line = draw_line(seed, is_discrete, weighted)
    full, near = allocate_line_scratch(N), allocate_line_scratch(N)
    count, turned, least, at, sense = compute_line_losses(*line, 0, full)
    found = compute_near_losses(*line, 0, excess, near, allocate_bucket_scratch(N))
    assert found[1:3] == (turned, least)
    assert found[4] == sense
    if is_discrete:  # equal breakpoints are in any order
        assert near[6][found[3]] == full[6][at]
        return
    reach = least + max(excess, 1e-6)
    expected = list_intervals(full[4], full[5], full[6], count, turned, reach)
    assert list_intervals(near[4], near[5], near[6], found[0], turned, reach) == expected
    np.testing.assert_array_equal(near[4][: found[0]], np.sort(near[4][: found[0]]))


def test_few_breakpoints_are_sorted_and_the_draw_is_the_same():
    line = draw_line(7, False, True)
    full, near = allocate_line_scratch(N), allocate_line_scratch(N)
    count, turned, least, *_ = compute_line_losses(*line, 0, full)
    T = 0.05
    few, *rest = compute_near_losses(*line, 0, 30.0 * T, near, allocate_bucket_scratch(N))
    assert 0 < few < count / 8
    for share in np.linspace(0.0, 0.999, 50):
        j, sense = draw_interval(full[6], count, turned, least, T, share, full[7], full[8])
        k, same = draw_interval(near[6], few, rest[0], rest[1], T, share, near[7], near[8])
        assert same == sense
        assert near[6][k] == full[6][j]
        assert near[5][min(k, few - 1)] == full[5][min(j, count - 1)]
