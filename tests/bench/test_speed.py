"""Speed as ratios measured in one run: `make bench`. References are the pseudo-code in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from problems import signed, whole
from scipy.optimize import linprog
from sklearn.svm import SVC
from twins import (
    numpy_cones,
    numpy_pivot,
    numpy_rcd,
    numpy_rcd_argsort,
    python_adaboost,
    python_sla,
)

from zoloss_cli.kernels import svm
from zoloss_cli.kernels.hull import separate
from zoloss_cli.kernels.line_search import choose_bucket_count, to_fixed_point
from zoloss_cli.kernels.pivot import slide_to_vertex, walk_vertices
from zoloss_cli.kernels.rcd import DIRECTIONS_PER_BLOCK, fit_rcd
from zoloss_cli.kernels.smooth import fit_sla
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.search.branch_and_bound import BranchAndBoundClassifier
from zoloss_cli.learners.search.samples import ExactFeatures, merge_equal_samples
from zoloss_cli.proofs.cones import ConeSearch, build_cone_problem

N, M = 600, 20
NO_CHECKPOINTS = np.empty(0, np.int64)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(N), rng.uniform(-1, 1, (N, M))])
    y = np.where(X @ rng.standard_normal(M + 1) + rng.standard_normal(N) > 0, 1.0, -1.0)
    return (
        X,
        y,
        to_fixed_point(np.full(N, 1 / N)),
        rng.uniform(-1, 1, (2000, M + 1)),
        rng.standard_normal(M + 1),
    )


@pytest.mark.benchmark(group=f"RCD epoch, N={N}, m={M}")
def test_rcd_reference_numpy(benchmark, problem):
    """The same rule, ties and all, in NumPy."""
    X, y, phi, D, w = problem
    benchmark.extra_info["units"] = 200
    benchmark.pedantic(numpy_rcd, (X, y, phi, w, D[:200]), rounds=15, warmup_rounds=1)


@pytest.mark.benchmark(group=f"RCD epoch, N={N}, m={M}")
def test_rcd_numpy_blind_to_ties(benchmark, problem):
    """The least that NumPy must do: right only where no breakpoints are equal and no delta is 0."""
    X, y, phi, D, w = problem
    benchmark.extra_info["units"] = 200
    benchmark.pedantic(numpy_rcd_argsort, (X, y, phi, w, D[:200]), rounds=15, warmup_rounds=1)


@pytest.mark.benchmark(group=f"RCD epoch, N={N}, m={M}")
def test_rcd_kernel(benchmark, problem):
    X, y, phi, D, w = problem
    X_T, room = np.ascontiguousarray(X.T), np.empty((DIRECTIONS_PER_BLOCK, N))
    benchmark.extra_info["units"] = len(D)
    benchmark.pedantic(
        lambda: fit_rcd(
            X,
            X_T,
            y,
            phi,
            w.copy(),
            D,
            False,
            choose_bucket_count(N),
            0,
            NO_CHECKPOINTS,
            np.empty((0, M + 1)),
            room,
        ),
        rounds=15,
        warmup_rounds=2,
    )


ROUNDS, EPOCHS = 200, 200


@pytest.mark.benchmark(group=f"AdaBoost, {ROUNDS} x {EPOCHS} RCD epochs")
def test_adaboost_reference_numpy(benchmark, problem):
    """The same loop, round for round, on the NumPy twin of RCD."""
    X, y, *_ = problem
    rng = np.random.default_rng(1)

    def learn(X, y, phi):
        D = rng.uniform(-1, 1, (EPOCHS, M + 1))
        return numpy_rcd(X, y, to_fixed_point(phi), np.zeros(M + 1), D)

    benchmark.extra_info["units"] = 1
    benchmark.pedantic(python_adaboost, (X, y, np.ones(N), learn, ROUNDS), rounds=3)


@pytest.mark.benchmark(group=f"AdaBoost, {ROUNDS} x {EPOCHS} RCD epochs")
def test_adaboost_rcd(benchmark, problem):
    X, y, *_ = problem
    boosted = AdaBoostClassifier({"learner": "rcd-plain", "epochs": EPOCHS}, ROUNDS, random_state=1)
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(boosted.fit, (X[:, 1:], y), rounds=15, warmup_rounds=1)


@pytest.mark.parametrize("C", [1 / 32, 32.0])
@pytest.mark.benchmark(group="linear SVM")
def test_svm_reference_libsvm(benchmark, problem, C):
    X, y, *_ = problem
    benchmark.group = f"linear SVM, C={C:g}"
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(lambda: SVC(kernel="linear", C=C, tol=1e-3).fit(X[:, 1:], y), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("C", [1 / 32, 32.0])
@pytest.mark.benchmark(group="linear SVM")
def test_svm_interior_point(benchmark, problem, C):
    X, y, *_ = problem
    columns = svm.pad_columns(X)
    benchmark.group = f"linear SVM, C={C:g}"
    benchmark.extra_info["units"] = 1
    solve = svm.solve_linear_svm
    benchmark.pedantic(lambda: solve(X, columns, y, np.full(N, C), 1e-7), rounds=9, warmup_rounds=1)


STAGES = ((2.0, 8.0, 0.2), (20.0, 4.0, 0.1), (200.0, 2.0, 0.05))
LAST = (10.0, 0.05)


@pytest.fixture(scope="module")
def heart():
    X, y = whole("heart")
    Z = signed(X, y)
    return X, y, Z, np.ascontiguousarray(Z / np.sqrt(np.sum(Z**2, axis=1))[:, None])


@pytest.mark.benchmark(group="SLA, heart")
def test_sla_reference_numpy(benchmark, heart):
    Z = heart[2]
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(lambda: python_sla(Z, np.ones(len(Z)), np.zeros(14), STAGES, LAST), rounds=2)


@pytest.mark.benchmark(group="SLA, heart")
def test_sla_kernel(benchmark, heart):
    Z = heart[2]
    stages = [np.array(values) for values in zip(*STAGES, strict=True)]
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(
        lambda: fit_sla(Z, np.ones(len(Z)), np.zeros(14), *stages, 0.0, *LAST), rounds=15, warmup_rounds=1
    )


def at_a_vertex(Z):
    w, B, V = np.ones(14), np.zeros(13, np.int64), np.zeros((13, 14))
    _, sound = slide_to_vertex(Z, w, B, V, np.uint64(1))
    assert sound
    return w, B, V


@pytest.mark.benchmark(group="pivot step, heart")
def test_pivot_reference_numpy(benchmark, heart):
    Z = heart[3]
    w, B, V = at_a_vertex(Z)
    benchmark.extra_info["units"] = 500
    benchmark.pedantic(
        lambda: numpy_pivot(
            Z, np.ones(len(Z)), B.copy(), w.copy(), V.copy(), 500, 0.5, np.random.default_rng(1)
        ),
        rounds=5,
        warmup_rounds=1,
    )


@pytest.mark.benchmark(group="pivot step, heart")
def test_pivot_kernel(benchmark, heart):
    Z, ones = heart[3], np.ones(len(heart[3]))
    w, B, V = at_a_vertex(Z)
    benchmark.extra_info["units"] = 5000
    benchmark.pedantic(
        lambda: walk_vertices(
            Z, ones, w.copy(), B.copy(), V.copy(), 5000, 0.5, 0.5, np.uint64(1), np.zeros(14), np.inf
        ),
        rounds=9,
        warmup_rounds=1,
    )


@pytest.fixture(scope="module")
def hull_questions(heart):
    """Is p among these 60? For 40 samples, as propagation asks it."""
    X, y, *_ = heart
    rows = np.column_stack([np.ones(len(y)), X])
    rows = np.ascontiguousarray(rows / np.sqrt(np.sum(rows**2, axis=1))[:, None])
    return rows, np.flatnonzero(y == 1)[:60], np.flatnonzero(y == 0)[:40]


@pytest.mark.benchmark(group="question: in the hull?")
def test_hull_reference_linear_program(benchmark, hull_questions):
    rows, hull, points = hull_questions

    def ask():
        for p in points:
            linprog(np.zeros(60), A_eq=rows[hull].T, b_eq=rows[p], bounds=(0, None), method="highs")

    benchmark.extra_info["units"] = len(points)
    benchmark.pedantic(ask, rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="question: in the hull?")
def test_hull_nearest_point(benchmark, hull_questions):
    rows, hull, points = hull_questions
    signs, w, corral, weights = np.ones(len(rows)), np.empty(14), np.empty(16, np.int64), np.empty(16)

    def ask():
        for p in points:
            signs[p] = -1.0
            separate(rows, signs, np.append(hull, p), 61, 60, w, corral, weights)

    benchmark.extra_info["units"] = len(points)
    benchmark.pedantic(ask, rounds=15, warmup_rounds=1)


@pytest.mark.benchmark(group="node with hull propagation, heart")
def test_branch_and_bound(benchmark, heart):
    X, y, *_ = heart
    learner = BranchAndBoundClassifier(nodes=20_000)
    benchmark.pedantic(learner.fit, (X, y), rounds=3, warmup_rounds=1)
    asked = learner.n_questions_ + learner.n_settled_
    benchmark.extra_info["units"] = learner.n_nodes_
    benchmark.extra_info["note"] = (
        f"{learner.n_questions_ / learner.seconds_:,.0f} questions solved and {asked / learner.seconds_:,.0f} "
        f"answered a second, {100 * learner.n_settled_ / asked:.1f} % without solving"
    )


CONE_SETS = {"liver": (50, 70), "pima": (24, 80)}  # errors that the reference and the kernel prove


def cone_problem(name):
    X, y = whole(name)
    kept, c, t, _ = merge_equal_samples(X, np.where(y == 1, 1.0, -1.0), np.ones(len(y)))
    return build_cone_problem(ExactFeatures(X, is_table=False).sign_samples(kept, t), c)


@pytest.mark.parametrize("name", CONE_SETS)
@pytest.mark.benchmark(group="cone of directions")
def test_cone_reference_numpy(benchmark, name):
    """The same bound and rule of splitting in NumPy, with SciPy's matchings."""
    problem = cone_problem(name)
    columns = problem.compute_columns()[0][:, : len(problem.vectors)]
    call = (columns, problem.list_first_cones(), problem.n_left, CONE_SETS[name][0])
    benchmark.group = f"cone, {name} {len(problem.vectors)} x {problem.n_features}"
    benchmark.extra_info["units"] = numpy_cones(*call)
    benchmark.pedantic(numpy_cones, call, rounds=2)


@pytest.mark.parametrize("name", CONE_SETS)
@pytest.mark.benchmark(group="cone of directions")
def test_cone_kernel(benchmark, name):
    """On one thread."""
    problem = cone_problem(name)
    search = ConeSearch(problem)
    search.prove(CONE_SETS[name][1], lambda: False)
    benchmark.group = f"cone, {name} {len(problem.vectors)} x {problem.n_features}"
    benchmark.extra_info["units"] = search.n_cones
    benchmark.pedantic(search.prove, (CONE_SETS[name][1], lambda: False), rounds=3)
