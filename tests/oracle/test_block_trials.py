"""Blocks of trials against trials one by one, to the last bit; the pocket's screen against exact counts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.kernels import online, pocket
from zoloss_cli.kernels.compilation import exact_kernel
from zoloss_cli.kernels.line_search import to_fixed_point
from zoloss_cli.kernels.numeric import RANDOM, build_alias_table, draw_epoch
from zoloss_cli.kernels.online import compute_tolerance, find_longest_row, find_sides
from zoloss_cli.kernels.pocket import build_screen, reaches_bound, sum_error_weights_up_to
from zoloss_cli.learners.linear.online import NO_ALIAS_TABLE, pad_features

NOTHING = np.empty(0, np.int64), np.empty((0, 0))  # to record
SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(["whole numbers", "thirds", "real numbers", "few mistakes"])


def build_rows(kind, n, m, rng):
    """Rows y (1, x), padded. Of whole numbers some margins are 0, and of thirds they are 0 but for rounding."""
    X = rng.integers(-2, 3, (n, m)).astype(float) if kind != "real numbers" else rng.standard_normal((n, m))
    if kind == "thirds":
        X /= 3.0
    noise = 0.01 if kind == "few mistakes" else 2.0
    y = np.where(X[:, 0] + noise * rng.standard_normal(n) > 0.0, 1.0, -1.0)
    return pad_features(np.column_stack([y, X * y[:, None]]))


def draw_weights(weighting, n, rng):
    """Steps, the alias table of draws, and sample weights."""
    phi = rng.exponential(size=n) if weighting != "none" else np.ones(n)
    phi /= phi.sum()
    if weighting == "resample":
        return np.ones(n), build_alias_table(phi.copy()), phi
    return (n * phi if weighting == "reweight" else np.ones(n)), NO_ALIAS_TABLE, phi


@st.composite
def streams(draw, max_n=90):
    """Rows, steps, an alias table, weights to start from, and the draws of some epochs."""
    rng = np.random.default_rng(draw(SEEDS))
    n, m = draw(st.integers(1, max_n)), draw(st.integers(1, 9))
    Z = build_rows(draw(KINDS), n, m, rng)
    step, table, phi = draw_weights(draw(st.sampled_from(["none", "reweight", "resample"])), n, rng)
    w = np.zeros(Z.shape[1])
    if draw(st.booleans()):
        w[: m + 1] = rng.standard_normal(m + 1)
    return Z, step, table, phi, w, np.uint64(draw(SEEDS))


def draw_epochs(n, epochs, seed, table):
    indices, counter = np.arange(n).astype(np.int32), seed
    for _ in range(epochs):
        counter = np.uint64(draw_epoch(RANDOM, indices, counter, *table))
        yield indices


@given(streams())
def test_the_perceptron_is_that_of_single_trials(stream):
    Z, step, table, _, start, seed = stream
    ours, theirs = start.copy(), start.copy()
    mistakes = online.fit_perceptron(Z, step, *table, ours, 6, RANDOM, seed, *NOTHING)
    each = [online.try_perceptron(Z, step, theirs, d, 0, d.size) for d in draw_epochs(len(Z), 6, seed, table)]
    assert np.array_equal(ours, theirs)
    assert mistakes == sum(each)


@given(streams())
def test_the_averaged_perceptron_is_that_of_single_trials(stream):
    Z, step, table, _, start, seed = stream
    ours, late, theirs, their_late = start.copy(), np.zeros_like(start), start.copy(), np.zeros_like(start)
    mistakes, clock = online.fit_averaged_perceptron(
        Z, step, *table, ours, late, 0.0, 6, RANDOM, seed, *NOTHING
    )
    their_mistakes, their_clock = 0, 0.0
    for drawn in draw_epochs(len(Z), 6, seed, table):
        more, their_clock = online.try_averaged(Z, step, theirs, their_late, their_clock, drawn, 0, drawn.size)
        their_mistakes += more
    assert np.array_equal(ours, theirs)
    assert np.array_equal(late, their_late)
    assert (mistakes, clock) == (their_mistakes, their_clock)


@pytest.mark.parametrize(
    ("cost", "reach", "squared"),
    [
        (online.HINGE, 1.0, False),
        (online.PERCEPTRON_CRITERION, np.nextafter(0.0, 1.0), False),
        (online.MODIFIED_LEAST_SQUARES, 1.0, True),
        (online.LEAST_SQUARES, np.inf, True),
    ],
)
@given(stream=streams(), rate=st.sampled_from([0.002, 1 / 3]))
def test_sgd_is_that_of_single_trials(cost, reach, squared, stream, rate):
    Z, step, table, _, start, seed = stream
    ours, theirs = start.copy(), start.copy()
    if squared:  # larger steps leave the bowl
        rate = 0.05 / (np.max(step) * find_longest_row(Z) ** 2)
    online.fit_sgd(Z, step, *table, ours, 6, rate, cost, RANDOM, seed, *NOTHING)
    for drawn in draw_epochs(len(Z), 6, seed, table):
        online.try_sgd(Z, step, theirs, rate, reach, squared, drawn, 0, drawn.size)
    if squared:
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)
    else:
        assert np.array_equal(ours, theirs)


def fit_pocket_one_by_one(Z, step, phi, table, w, epochs, ratchet, seed):
    """The pocket with every trial by itself and every count exact; rounded in the dual where the kernel is."""
    n, gram, Z_T, margins = len(Z), Z @ Z.T, np.ascontiguousarray(Z.T), Z @ w
    samples, dual = (Z, Z_T, phi, step), (gram, margins, np.empty(0, np.int64), np.empty(0))
    screen = build_screen(Z, phi, 1.0, 0)  # of no samples: it never settles anything
    pocket_w, runs, tally = w.copy(), np.zeros(2), np.zeros(6, np.int64)
    tally[pocket.ERROR] = phi[margins <= 0.0].sum()
    is_dual = True
    for epoch, drawn in enumerate(draw_epochs(n, epochs, seed, table), 1):
        was_dual, is_dual = is_dual, bool(tally[pocket.UPDATES] <= pocket.MAX_DUAL_UPDATES)
        if is_dual and (not was_dual or epoch % pocket.EPOCHS_PER_REFRESH == 0):
            margins[:] = Z @ w
        tally[pocket.UPDATES] = 0
        t = 0
        while t < n:
            t = pocket.try_pocket(samples, gram, margins, w, drawn, t, n, is_dual, runs, tally)
            if runs[pocket.RUN] > runs[pocket.POCKET_RUN]:
                pocket.end_run(samples, dual, screen, w, pocket_w, is_dual, ratchet, runs, tally)
        if tally[pocket.ERROR] == 0:
            break
    return pocket_w, tally[pocket.COUNTS]


def check_pocket(Z, step, phi, table, start, epochs, ratchet, seed):
    gram, Z_T = Z @ Z.T, np.ascontiguousarray(Z.T)
    ours, counts = pocket.fit_pocket(
        Z, Z_T, step, phi, *table, start.copy(), epochs, ratchet, gram, seed, *NOTHING
    )
    theirs, their_counts = fit_pocket_one_by_one(Z, step, phi, table, start.copy(), epochs, ratchet, seed)
    assert np.array_equal(ours, theirs)
    assert counts == their_counts


@given(streams(), st.booleans())
def test_the_pocket_is_that_of_single_trials(stream, ratchet):
    Z, step, table, phi, start, seed = stream
    check_pocket(Z, step, to_fixed_point(phi), table, start, 40, ratchet, seed)


@pytest.mark.parametrize("kind", ["whole numbers", "thirds", "real numbers"])
@pytest.mark.parametrize("weighting", ["none", "reweight", "resample"])
def test_the_pocket_with_many_mistakes_is_that_of_single_trials(kind, weighting):
    """So many that epochs are in the primal, and in the dual behind whose blocks the margins stay."""
    for n in (150, 330, 500):
        rng = np.random.default_rng(n)
        Z = build_rows(kind, n, 6, rng)
        Z *= np.where(rng.random(n) < 0.4, -1.0, 1.0)[:, None]
        step, table, phi = draw_weights(weighting, n, rng)
        check_pocket(Z, step, to_fixed_point(phi), table, np.zeros(Z.shape[1]), 60, True, np.uint64(n))


@given(SEEDS, st.integers(1, 200), st.integers(1, 9), KINDS, st.booleans())
def test_the_screen_knows_errors_from_rounding(seed, n, m, kind, equal):
    rng = np.random.default_rng(seed)
    Z, w = build_rows(kind, n, m, rng), np.zeros(8 if m < 8 else 12)[: -(-(m + 1) // 4) * 4]
    w[: m + 1] = rng.integers(-2, 3, m + 1) if kind == "whole numbers" else rng.standard_normal(m + 1)
    phi = to_fixed_point(np.full(n, 1 / n) if equal else rng.dirichlet(np.full(n, 0.3)))
    screen = build_screen(Z, phi, find_longest_row(Z), n)
    exact = sum(
        int(p)
        for p, z in zip(phi, Z, strict=True)
        if sum(map(Fraction.__mul__, to_fractions(w), to_fractions(z))) <= 0
    )
    assert sum_error_weights_up_to(np.ascontiguousarray(Z.T), phi, w, 2**62) == exact or kind == "thirds"
    for bound in (exact + 1, exact + exact // 8 + 1, 2**62):
        assert not reaches_bound(w, screen, bound)
    clear = int(phi[Z @ w < -1e-4].sum())
    grain = screen[2]  # weights are rounded down to it, the bound up
    assert reaches_bound(w, screen, clear if equal else clear - (n + 1) * grain)


def to_fractions(x):
    return [Fraction(float(v)) for v in x]


@exact_kernel
def ask_for_sides(w, Z, indices, reach, step):
    """Call what is inlined elsewhere."""
    steps = step[indices[0]], step[indices[1]], step[indices[2]], step[indices[3]]
    return find_sides(w, Z, indices, 0, reach, steps)


@given(SEEDS, st.integers(1, 9), KINDS, st.sampled_from([0.0, 1.0]))
def test_margins_ahead_are_within_the_tolerance(seed, m, kind, reach):
    rng = np.random.default_rng(seed)
    Z, step = build_rows(kind, 12, m, rng), rng.exponential(size=12)
    w = 10.0 ** rng.integers(-3, 4) * rng.standard_normal(Z.shape[1])
    indices = rng.integers(0, 12, 4).astype(np.int32)
    sides, least = ask_for_sides(w, Z, indices, reach, step)
    tolerance = compute_tolerance(w, find_longest_row(Z), step.max(), reach, 12)
    at, distances = to_fractions(w), []
    for k in indices:
        z = to_fractions(Z[k])
        distances.append(sum(map(Fraction.__mul__, at, z)) - Fraction(reach))
        if distances[-1] < 0:
            at = [a + Fraction(float(step[k])) * b for a, b in zip(at, z, strict=True)]
    if least > tolerance:
        assert [side < 0 for side in sides] == [d < 0 for d in distances]
        assert abs(Fraction(float(least)) - min(map(abs, distances))) <= Fraction(float(tolerance))
    else:
        assert min(map(abs, distances)) <= 2 * Fraction(float(tolerance)) or kind != "real numbers"


def mix_bits(counter):
    """SplitMix64 in Python's integers."""
    z = ((counter ^ (counter >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
    return z ^ (z >> 31)


@given(SEEDS, st.integers(1, 60), st.booleans())
def test_draws_are_those_of_splitmix64_and_the_alias_table(seed, n, weighted):
    phi = np.random.default_rng(seed).dirichlet(np.full(n, 0.3))
    cut, alias = build_alias_table(phi.copy()) if weighted else NO_ALIAS_TABLE
    indices = np.zeros(n, np.int32)
    draw_epoch(RANDOM, indices, np.uint64(seed), cut, alias)
    for i, drawn in enumerate(indices):
        bits = mix_bits((seed + (i + 1) * 0x9E3779B97F4A7C15) % 2**64)
        k = ((bits >> 32) * n) >> 32
        assert drawn == (k if not weighted or bits % 2**32 < cut[k] else alias[k])
