"""The hard-margin SVM against scikit-learn's and against its own optimality conditions; what it cannot do."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from zoloss_cli.complexity.hard_margin import (
    build_problem,
    compute_path_complexities,
    data_complexity,
    fit_hard_margin_svm,
)
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.kernels import hard_margin
from zoloss_cli.kernels.hard_margin import (
    SOLVED,
    allocate_solution,
    build_path_rows,
    count_along_path,
    remove_sample,
)

KERNELS = ("perceptron", "stump", "rbf")


def example_set(seed, n, m=2, shape="random"):
    """Samples with random labels, both classes present: anywhere, on a grid, with copies, or nearly equal."""
    rng = np.random.default_rng(seed)
    if shape == "grid":
        cells = rng.permutation(8**m)[:n]
        X = np.column_stack([cells // 8**k % 8 for k in range(m)]).astype(float)
    else:
        X = rng.standard_normal((n, m))
    y = rng.random(len(X)) < rng.uniform(0.1, 0.9)
    y[:2] = [True, False]
    if shape == "copies":
        again = rng.integers(0, n, n // 3)
        X, y = np.vstack([X, X[again]]), np.concatenate([y, y[again]])
    elif shape == "close":
        X = np.vstack([X, X[: n // 3] + 1e-2 * rng.standard_normal((n // 3, m))])
        y = np.concatenate([y, rng.random(n // 3) < 0.5])
    return X, y.astype(int)


def problem_of(X, y, kernel="perceptron"):
    return build_problem(X, y, kernel, 1.5 if kernel == "rbf" else None)


def values(problem, solution):
    return problem.K[:, solution.support] @ solution.coefficients + solution.bias


def distinct(problem, rows):
    """How many different examples these rows are."""
    return len(np.unique(problem.K[rows], axis=0))


@pytest.mark.parametrize("shape", ["random", "grid", "copies", "close"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_support_vectors_and_values_are_those_of_scikit_learn(kernel, shape):
    compared = 0
    for seed in range(10):
        n, m = 4 + seed % 30, 2 + seed % 3
        if kernel == "stump" and shape == "grid":
            m = 3  # fewer ties: sums of one-dimensional functions fit few labels on a plane's grid
            n = min(n, 9)
        X, y = example_set(seed, n, m, shape)
        problem = problem_of(X, y, kernel)
        problem = replace(problem, K=problem.K.astype(np.float32).astype(float))  # all that LIBSVM keeps of it
        try:
            ours = fit_hard_margin_svm(problem)
        except DataError:
            assert kernel == "stump"
            continue
        theirs = SVC(kernel="precomputed", C=1e12, tol=1e-10).fit(problem.K, y)
        weights = np.abs(theirs.dual_coef_[0])
        heavy = theirs.support_[weights > 1e-7 * weights.max()]
        # Of equal rows, the other solver shares the weight out.
        assert len(ours.support) == distinct(problem, heavy) == distinct(problem, ours.support)
        np.testing.assert_allclose(values(problem, ours), theirs.decision_function(problem.K), atol=2e-6)
        compared += 1
    assert compared >= (10 if kernel != "stump" else 3)


@settings(max_examples=80)
@given(
    st.integers(0, 10**6),
    st.integers(2, 60),
    st.sampled_from(KERNELS),
    st.sampled_from(["random", "grid", "copies", "close"]),
)
def test_the_optimality_conditions_hold(seed, n, kernel, shape):
    problem = problem_of(*example_set(seed, min(n, 50), 2, shape), kernel)
    try:
        solution = fit_hard_margin_svm(problem)
    except DataError as refused:
        if kernel == "perceptron" or "does not separate the two classes" not in str(refused):
            raise
        return
    margins = problem.y * values(problem, solution)
    assert margins.min() > 1.0 - 1e-8
    np.testing.assert_allclose(margins[solution.support], 1.0, atol=1e-8)
    alpha = solution.coefficients * problem.y[solution.support]
    assert alpha.min() > 0.0
    assert abs(solution.coefficients.sum()) < 1e-8 * alpha.sum()


@pytest.mark.parametrize("kernel", ["perceptron", "rbf"])
def test_a_path_counts_what_each_of_its_sets_has(kernel):
    for shape, seed in product(["random", "grid", "copies"], range(3)):
        problem = problem_of(*example_set(seed, 40, 2, shape), kernel)
        order = np.random.default_rng(seed).permutation(len(problem))
        counts = compute_path_complexities(problem, order)
        cold = [len(fit_hard_margin_svm(problem, np.sort(order[:k])).support) for k in range(len(problem) + 1)]
        assert counts.tolist() == cold


def test_a_path_may_leave_rows_out_and_its_order_changes_nothing_at_its_end():
    problem = problem_of(*example_set(3, 80))
    rows = np.random.default_rng(0).permutation(80)[:50]
    orders = [np.random.default_rng(k).permutation(rows) for k in range(30)]
    assert len({compute_path_complexities(problem, order)[-1] for order in orders}) == 1
    assert compute_path_complexities(problem, []).tolist() == [0]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(3, 30), st.sampled_from(["random", "grid", "copies"]))
def test_removing_examples_one_by_one_gives_the_path_backwards(seed, n, shape):
    problem = problem_of(*example_set(seed, n, 2, shape))
    n = len(problem)
    order = np.random.default_rng(seed).permutation(n)
    counts = np.zeros(n + 1, np.int64)
    rows, solution = build_path_rows(problem.K, problem.y, order, problem.flat), allocate_solution(n)
    assert count_along_path(rows, n, counts, solution)[0] == SOLVED
    inside = np.ones(n, bool)
    for i in range(n - 1, -1, -1):
        assert remove_sample(rows, inside, i, n, solution)[0] == SOLVED
        assert solution.size[1] == counts[i]


def test_the_inverse_is_made_anew_when_it_has_drifted():
    problem = problem_of(*example_set(5, 60))
    order, counts = np.arange(60), np.zeros(61, np.int64)
    rows, solution = build_path_rows(problem.K, problem.y, order, problem.flat), allocate_solution(60)
    count_along_path(rows, 50, counts, solution)
    m = solution.size[0]
    solution.R[: m + 1, : m + 1] *= 1.0 + 1e-3 * np.random.default_rng(0).standard_normal((m + 1, m + 1))
    inside = np.arange(60) < 60
    assert hard_margin.resolve_violations(rows, inside, 60, solution) == (SOLVED, -1)
    assert solution.size[1] == compute_path_complexities(problem, order)[-1]


def test_known_sets():
    assert data_complexity([[0.0], [3.0]], ["a", "b"]) == 2
    assert data_complexity([[0.0], [1.0], [2.0]], [1, 1, 1]) == 0
    assert data_complexity([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]) == 4
    # On a line, the perceptron kernel's rule is straight between support vectors: only neighbours of the
    # other class count.
    assert data_complexity(np.arange(10.0)[:, None], [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]) == 4
    # The widest street between two squares: the linear kernel needs two to four of its corners.
    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    assert data_complexity(np.vstack([square, square + [3.0, 0.0]]), [0] * 4 + [1] * 4, "linear") in (2, 3, 4)


def test_scaling_all_features_or_shifting_a_precomputed_kernel_changes_nothing():
    X, y = example_set(8, 70)
    assert data_complexity(X, y) == data_complexity(1e-3 * X + 5.0, y) == data_complexity(1e4 * X, y)
    assert data_complexity(build_problem(X, y).K + 3.0, y, "precomputed") == data_complexity(X, y)


def test_what_cannot_be_measured_is_one_sentence():
    X, y = example_set(1, 12)
    crossed = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    for error, arguments, message in (
        (DataError, (np.vstack([X, X[3]]), [*y, 1 - y[3]]), "samples 3 and 12 .* have equal .*remove one"),
        (DataError, (*crossed, "linear"), "the linear kernel does not separate the two classes"),
        (DataError, (*crossed, "stump"), "the stump kernel does not separate the two classes"),
        (DataError, (*example_set(1, 40), "rbf", 1e-6), "use a larger gamma"),
        (DataError, ([[0.0, 1.0], [1.0, 0.0]], [0, 1], "precomputed"), "not positive definite"),
        (DataError, ([[1.0, 0.5], [0.2, 1.0]], [0, 1], "precomputed"), "symmetric N x N"),
        (DataError, ([[0.0], [1.0], [2.0]], [0, 1, 2]), "y has 3: use one against the rest"),
        (DataError, ([[0.0], [np.nan]], [0, 1]), "sample 1 .* not a number"),
        (ConfigError, (X, y, "stumps"), "unknown kernel 'stumps'; did you mean 'stump'"),
        (ConfigError, (X, y, "perceptron", 1.0), "gamma is only for the kernel 'rbf'"),
    ):
        with pytest.raises(error, match=message):
            data_complexity(*arguments)
