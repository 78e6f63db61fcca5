"""The nearest point of a hull, and exact certificates, against linear programs and hand-made cases."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import signed, whole
from scipy.optimize import linprog

from zoloss_cli.kernels.hull import separate
from zoloss_cli.learners.search.samples import ExactFeatures, find_farkas_weights, find_independent_columns


def unit(rows):
    return np.ascontiguousarray(rows / np.sqrt(np.sum(rows**2, axis=1))[:, None])


def ask(Z, members=None, first=0):
    members = np.arange(len(Z)) if members is None else members
    w, corral, weights = np.empty(Z.shape[1]), np.empty(Z.shape[1] + 2, np.int64), np.empty(Z.shape[1] + 2)
    size = separate(Z, np.ones(len(Z)), members, len(members), first, w, corral, weights)
    return size, w, corral[: max(size, 0)], weights[: max(size, 0)]


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(2, 8), st.booleans())
def test_it_answers_as_a_linear_program_does(seed, n, P, discrete):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-2, 3, (n, P)).astype(float) if discrete else rng.standard_normal((n, P))
    Z[:, 0] = np.abs(Z[:, 0]) + 1.0
    Z *= rng.choice([-1.0, 1.0], n)[:, None]
    size, w, corral, weights = ask(unit(Z), first=int(rng.integers(n)))
    program = linprog(np.zeros(P), A_ub=-Z, b_ub=-np.ones(n), bounds=[(None, None)] * P)
    assert size >= 0
    assert (size == 0) == (program.status == 0)
    if size == 0:
        assert np.all(Z @ w > 0.0)
    else:
        assert weights.min() > 0.0
        assert weights.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(weights @ unit(Z)[corral], 0.0, atol=1e-10)


def test_a_separating_w_has_the_largest_margin():
    # The nearest point of the segment from (1, 2) to (1, -1), scaled to length 1, is perpendicular to it.
    Z = unit(np.array([[1.0, 2.0], [1.0, -1.0]]))
    size, w, _, _ = ask(Z)
    assert size == 0
    margins = Z @ w
    assert margins[0] == pytest.approx(margins[1])


def test_no_row_of_an_impossible_set_can_be_spared():
    X, y = whole("heart")
    Z = unit(signed(X, y))
    size, _, corral, _ = ask(Z)
    assert size > 2
    for left_out in corral:
        rest = np.array([i for i in corral if i != left_out])
        assert ask(Z, rest)[0] == 0


def test_certificates_of_real_data_are_exact():
    X, y = whole("pima")
    rows = signed(X, y)
    integers = ExactFeatures(X, is_table=False).sign_samples(slice(None), np.where(y == 1, 1, -1))
    Z = unit(rows)
    for first in range(0, 700, 100):
        size, _, corral, weights = ask(Z, first=first)
        chosen = [integers[i] for i in corral]
        exact = find_farkas_weights(chosen)
        assert min(exact) > 0
        assert all(sum(a * row[j] for a, row in zip(exact, chosen, strict=True)) == 0 for j in range(9))
        assert len(exact) == size == len(find_independent_columns(chosen)) + 1
        # Up to the rows' lengths they are what floating point found.
        lengths = np.sqrt(np.sum(rows[corral] ** 2, axis=1))
        ours = np.array([float(a) for a in exact]) * lengths
        np.testing.assert_allclose(ours / ours.sum(), weights, rtol=1e-6)


def test_rows_that_can_be_right_have_no_certificate():
    assert find_farkas_weights([[1, 0], [1, 5]]) is None
    assert find_farkas_weights([[1, 0], [-1, 0]]) == [1, 1]
    assert find_farkas_weights([[1, 0], [-1, -1], [1, 2]]) == [1, 2, 1]
    assert (
        find_farkas_weights([[1, 0], [-1, -1], [1, 2], [1, 3]]) is None
    )  # more than one mixture: not a minimal set
    assert find_farkas_weights([[1, 0], [-1, -1], [1, 3]]) == [2, 3, 1]
    assert find_farkas_weights([[1, 0], [-1, 1], [1, 2]]) is None  # the mixture of 0 has a negative weight


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6))
def test_the_exact_rank_is_the_rank(seed, n, m):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, (n, m))
    assert len(find_independent_columns(rows.tolist())) == np.linalg.matrix_rank(rows)


def test_a_grid_is_recognized_and_anything_else_is_taken_exactly():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 50, 200)
    halves = rng.integers(0, 9, 200) / 3.0
    free = rng.standard_normal(200)
    raw = np.column_stack([counts, halves, free])
    X = (raw - raw.mean(axis=0)) / raw.std(axis=0, ddof=1)
    found = ExactFeatures(X, is_table=False)
    assert not found.is_exact
    assert ExactFeatures(X[:, 2:], is_table=False).is_exact
    grid, thirds, others = zip(*found.samples, strict=True)
    assert list(grid) == (counts - counts.min()).tolist()
    assert len(set(thirds)) == len(set(halves))
    assert max(thirds) <= 8
    exact = [Fraction(float(v)) - Fraction(float(X[:, 2].min())) for v in X[:, 2]]
    ratio = Fraction(max(others)) / max(exact)
    assert list(others) == [ratio * v for v in exact]
