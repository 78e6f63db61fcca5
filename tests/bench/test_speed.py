"""Speed as ratios measured in one run: `make bench`. References are the pseudo-code in plain NumPy."""

import numpy as np
import pytest
from problems import signed, whole
from scipy.optimize import linprog
from sklearn.svm import SVC
from twins import numpy_cones, numpy_pivot, numpy_rcd, python_adaboost, python_sla

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
RCD, ADABOOST = f"RCD epoch, N={N}, m={M}", "AdaBoost, 200 x 200 RCD epochs"


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(N), rng.uniform(-1, 1, (N, M))])
    y = np.where(X @ rng.standard_normal(M + 1) + rng.standard_normal(N) > 0, 1.0, -1.0)
    phi = to_fixed_point(np.full(N, 1 / N))
    return X, y, phi, rng.uniform(-1, 1, (2000, M + 1)), rng.standard_normal(M + 1)


@pytest.mark.parametrize("name", ["rcd_reference_numpy", "rcd_kernel"])
def test_rcd(measure, problem, name):
    """The reference has the same rule, ties and all."""
    X, y, phi, D, w = problem
    call = X, np.ascontiguousarray(X.T), y, phi
    rest = np.empty(0, np.int64), np.empty((0, M + 1)), np.empty((DIRECTIONS_PER_BLOCK, N))
    options = False, choose_bucket_count(N), 0
    calls = {
        "rcd_reference_numpy": (lambda: numpy_rcd(X, y, phi, w, D[:200]), 200),
        "rcd_kernel": (lambda: fit_rcd(*call, w.copy(), D, *options, *rest), len(D)),
    }
    measure(RCD, name, *calls[name], 15)


@pytest.mark.parametrize("name", ["adaboost_reference_numpy", "adaboost_rcd"])
def test_adaboost(measure, problem, name):
    """The reference is the same loop, round for round, on the NumPy twin of RCD."""
    X, y, *_ = problem
    rng = np.random.default_rng(1)

    def learn(X, y, phi):
        return numpy_rcd(X, y, to_fixed_point(phi), np.zeros(M + 1), rng.uniform(-1, 1, (200, M + 1)))

    boosted = AdaBoostClassifier({"learner": "rcd-plain", "epochs": 200}, 200, random_state=1)
    calls = {
        "adaboost_reference_numpy": (lambda: python_adaboost(X, y, np.ones(N), learn, 200), 1, 3),
        "adaboost_rcd": (lambda: boosted.fit(X[:, 1:], y), 1, 15),
    }
    measure(ADABOOST, name, *calls[name])


@pytest.mark.parametrize("C", [1 / 32, 32.0])
@pytest.mark.parametrize("name", ["svm_reference_libsvm", "svm_interior_point"])
def test_svm(measure, problem, name, C):
    X, y, *_ = problem
    model, call = SVC(kernel="linear", C=C, tol=1e-3), (X, svm.pad_columns(X), y, np.full(N, C), 1e-7)
    calls = {
        "svm_reference_libsvm": lambda: model.fit(X[:, 1:], y),
        "svm_interior_point": lambda: svm.solve_linear_svm(*call),
    }
    measure(f"linear SVM, C={C:g}", name, calls[name], rounds=9)


STAGES = ((2.0, 8.0, 0.2), (20.0, 4.0, 0.1), (200.0, 2.0, 0.05))
LAST = (10.0, 0.05)


@pytest.fixture(scope="module")
def heart():
    X, y = whole("heart")
    Z = signed(X, y)
    return X, y, Z, np.ascontiguousarray(Z / np.sqrt(np.sum(Z**2, axis=1))[:, None])


@pytest.mark.parametrize("name", ["sla_reference_numpy", "sla_kernel"])
def test_sla(measure, heart, name):
    call, stages = (heart[2], np.ones(len(heart[2]))), [np.array(each) for each in zip(*STAGES, strict=True)]
    calls = {
        "sla_reference_numpy": (lambda: python_sla(*call, np.zeros(14), STAGES, LAST), 1, 2),
        "sla_kernel": (lambda: fit_sla(*call, np.zeros(14), *stages, 0.0, *LAST), 1, 15),
    }
    measure("SLA, heart", name, *calls[name])


@pytest.mark.parametrize("name", ["pivot_reference_numpy", "pivot_kernel"])
def test_pivot(measure, heart, name):
    Z, w, B, V = heart[3], np.ones(14), np.zeros(13, np.int64), np.zeros((13, 14))
    assert slide_to_vertex(Z, w, B, V, np.uint64(1))[1]
    c, rest = np.ones(len(Z)), (5000, 0.5, 0.5, np.uint64(1), np.zeros(14), np.inf)

    def walk_plainly():
        numpy_pivot(Z, c, B.copy(), w.copy(), V.copy(), 500, 0.5, np.random.default_rng(1))

    calls = {
        "pivot_reference_numpy": (walk_plainly, 500, 5),
        "pivot_kernel": (lambda: walk_vertices(Z, c, w.copy(), B.copy(), V.copy(), *rest), 5000, 9),
    }
    measure("pivot step, heart", name, *calls[name])


@pytest.mark.parametrize("name", ["hull_reference_linear_program", "hull_nearest_point"])
def test_hull(measure, heart, name):
    """Is p among these 60? For 40 samples, as propagation asks it."""
    X, y, *_ = heart
    rows = np.column_stack([np.ones(len(y)), X])
    rows = np.ascontiguousarray(rows / np.sqrt(np.sum(rows**2, axis=1))[:, None])
    hull, points = np.flatnonzero(y == 1)[:60], np.flatnonzero(y == 0)[:40]
    signs, w, corral, weights = np.ones(len(rows)), np.empty(14), np.empty(16, np.int64), np.empty(16)

    def ask_solver():
        for p in points:
            linprog(np.zeros(60), A_eq=rows[hull].T, b_eq=rows[p], bounds=(0, None), method="highs")

    def ask():
        for p in points:
            signs[p] = -1.0
            separate(rows, signs, np.append(hull, p), 61, 60, w, corral, weights)

    calls = {"hull_reference_linear_program": (ask_solver, 40, 5), "hull_nearest_point": (ask, 40, 15)}
    measure("question: in the hull?", name, *calls[name])


def test_branch_and_bound(measure, benchmark, heart):
    X, y, *_ = heart
    learner = BranchAndBoundClassifier(nodes=20_000)
    measure("node with hull propagation, heart", "branch_and_bound", lambda: learner.fit(X, y), rounds=3)
    asked = learner.n_questions_ + learner.n_settled_
    benchmark.extra_info["units"] = learner.n_nodes_
    benchmark.extra_info["note"] = (
        f"{learner.n_questions_ / learner.seconds_:,.0f} questions solved and {asked / learner.seconds_:,.0f} "
        f"answered a second, {100 * learner.n_settled_ / asked:.1f} % without solving"
    )


CONE_SETS = {"liver": (50, 70), "pima": (24, 80)}  # errors that the reference and the kernel prove


def build_cones(name):
    X, y = whole(name)
    kept, c, t, _ = merge_equal_samples(X, np.where(y == 1, 1.0, -1.0), np.ones(len(y)))
    problem = build_cone_problem(ExactFeatures(X, is_table=False).sign_samples(kept, t), c)
    return f"cone, {name} {len(problem.vectors)} x {problem.n_features}", problem


@pytest.mark.parametrize("name", CONE_SETS)
def test_cone_reference_numpy(measure, name):
    """The same bound and rule of splitting in NumPy, with SciPy's matchings."""
    title, problem = build_cones(name)
    columns = problem.compute_columns()[0][:, : len(problem.vectors)]
    call = columns, problem.list_first_cones(), problem.n_left, CONE_SETS[name][0]
    measure(title, "cone_reference_numpy", lambda: numpy_cones(*call), numpy_cones(*call), 2)


@pytest.mark.parametrize("name", CONE_SETS)
def test_cone_kernel(measure, name):
    title, problem = build_cones(name)
    search, errors = ConeSearch(problem), CONE_SETS[name][1]
    search.prove(errors, lambda: False)
    measure(title, "cone_kernel", lambda: search.prove(errors, lambda: False), search.n_cones, 3)
