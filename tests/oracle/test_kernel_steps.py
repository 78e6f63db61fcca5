"""Small kernels that stand in for NumPy functions: the same results to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.kernels.line_search import INSERTION_SORT_LIMIT, sort_breakpoints
from zoloss_cli.kernels.numeric import compute_max_abs, invert_in_place, is_finite, solve_in_place

values = st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, -1.0, 0.5])


@given(st.lists(values, max_size=4 * INSERTION_SORT_LIMIT), st.sampled_from([np.int32, np.int64]))
def test_breakpoints_are_sorted_with_what_they_carry(drawn, kind):
    r, carried = np.array(drawn, float), np.arange(len(drawn), dtype=kind)
    before = r.copy()
    sort_breakpoints(r, carried, len(drawn))
    np.testing.assert_array_equal(r, np.sort(before))
    np.testing.assert_array_equal(before[carried], r)
    assert sorted(carried) == list(range(len(drawn)))


@pytest.mark.parametrize("n", [INSERTION_SORT_LIMIT, INSERTION_SORT_LIMIT + 1, 1000, 20_011])
def test_only_the_first_are_sorted(n):
    rng = np.random.default_rng(n)
    r, carried = rng.integers(0, n, n + 3) / 7.0, np.arange(n + 3)
    before = r.copy()
    sort_breakpoints(r, carried, n)
    np.testing.assert_array_equal(r, [*np.sort(before[:n]), *before[n:]])
    np.testing.assert_array_equal(before[carried], r)


def test_a_system_is_solved_and_a_matrix_inverted_as_numpy_does():
    for size in (1, 2, 3, 14, 61):  # not symmetric, so that a transposed matrix would show
        rng = np.random.default_rng(size)
        A, b = rng.standard_normal((size, size)), rng.standard_normal(size)
        x, matrix, columns = b.copy(), A.copy(), A.T.copy()
        solve_in_place(matrix, x)
        np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9)
        np.testing.assert_array_equal(matrix, A)
        assert invert_in_place(columns)
        np.testing.assert_allclose(columns.T, np.linalg.inv(A), rtol=1e-9)


@pytest.mark.parametrize("A", [[[1.0, 2.0], [2.0, 4.0]], [[0.0]], [[np.nan, 0.0], [0.0, 1.0]]])
def test_a_singular_matrix_is_refused(A):
    assert not invert_in_place(np.array(A).T.copy())
    with pytest.raises(np.linalg.LinAlgError):
        solve_in_place(np.array(A), np.ones(len(A)))
    with pytest.raises(np.linalg.LinAlgError):
        solve_in_place(np.eye(2), np.array([np.inf, 1.0]))


@given(st.lists(st.floats(), min_size=1, max_size=20))
def test_finite_vectors_and_the_largest_component_are_those_of_numpy(drawn):
    x = np.array(drawn, float)
    assert is_finite(x) == bool(np.isfinite(x).all())
    if not np.isnan(x).any():
        assert compute_max_abs(x) == np.max(np.abs(x))
