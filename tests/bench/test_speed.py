"""Speed as ratios measured in one run: `make bench`. References are the pseudo-code in plain NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC
from twins import (
    numpy_rcd,
    numpy_rcd_argsort,
    python_adaboost,
    python_averaged_perceptron,
    python_pocket,
    python_sgd,
)

from zoloss_cli.ensembles.adaboost import AdaBoostClassifier
from zoloss_cli.kernels import online, pocket
from zoloss_cli.kernels.line_search import bucket_count, fixed_point
from zoloss_cli.kernels.random import RANDOM
from zoloss_cli.kernels.rcd import DIRECTIONS_A_BLOCK, rcd
from zoloss_cli.kernels.svm import linear_svm
from zoloss_cli.learners.online import NO_TABLE, padded

N, M = 600, 20
NO_CHECKPOINTS = np.empty(0, np.int64)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(N), rng.uniform(-1, 1, (N, M))])
    y = np.where(X @ rng.standard_normal(M + 1) + rng.standard_normal(N) > 0, 1.0, -1.0)
    return X, y, fixed_point(np.full(N, 1 / N)), rng.uniform(-1, 1, (2000, M + 1)), rng.standard_normal(M + 1)


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
    X_T, room = np.ascontiguousarray(X.T), np.empty((DIRECTIONS_A_BLOCK, N))
    benchmark.extra_info["units"] = len(D)
    benchmark.pedantic(
        lambda: rcd(
            X, X_T, y, phi, w.copy(), D, False, bucket_count(N), 0, NO_CHECKPOINTS, np.empty((0, M + 1)), room
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
        return numpy_rcd(X, y, fixed_point(phi), np.zeros(M + 1), D)

    benchmark.extra_info["units"] = 1
    benchmark.pedantic(python_adaboost, (X, y, np.ones(N), learn, ROUNDS), rounds=3)


@pytest.mark.benchmark(group=f"AdaBoost, {ROUNDS} x {EPOCHS} RCD epochs")
def test_adaboost_rcd(benchmark, problem):
    X, y, *_ = problem
    boosted = AdaBoostClassifier({"learner": "rcd-plain", "epochs": EPOCHS}, ROUNDS, random_state=1)
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(boosted.fit, (X[:, 1:], y), rounds=15, warmup_rounds=1)


def online_case(problem, epochs):
    X, y, *_ = problem
    Z = padded(X * y[:, None])
    return Z, np.ones(N), np.zeros(Z.shape[1]), np.empty((0, Z.shape[1])), epochs


def indices(count):
    return np.random.default_rng(0).integers(0, N, count)


@pytest.mark.benchmark(group="averaged perceptron trial")
def test_averaged_reference_python_loop(benchmark, problem):
    X, y, *_ = problem
    benchmark.extra_info["units"] = 3000
    benchmark.pedantic(
        python_averaged_perceptron, (X, y, np.zeros(M + 1), indices(3000)), rounds=5, warmup_rounds=1
    )


@pytest.mark.benchmark(group="averaged perceptron trial")
def test_averaged_kernel(benchmark, problem):
    Z, step, w, path, epochs = online_case(problem, 200)
    benchmark.extra_info["units"] = epochs * N
    benchmark.pedantic(
        lambda: online.averaged_perceptron(
            Z, step, *NO_TABLE, w.copy(), epochs, RANDOM, np.uint64(1), NO_CHECKPOINTS, path
        ),
        rounds=9,
        warmup_rounds=1,
    )


@pytest.mark.benchmark(group="SGD (mls) trial")
def test_sgd_reference_python_loop(benchmark, problem):
    X, y, *_ = problem
    benchmark.extra_info["units"] = 3000
    benchmark.pedantic(
        python_sgd, (X, y, np.zeros(M + 1), indices(3000), 0.002, "mls"), rounds=5, warmup_rounds=1
    )


@pytest.mark.benchmark(group="SGD (mls) trial")
def test_sgd_kernel(benchmark, problem):
    Z, step, w, path, epochs = online_case(problem, 200)
    benchmark.extra_info["units"] = epochs * N
    benchmark.pedantic(
        lambda: online.sgd(
            Z,
            step,
            *NO_TABLE,
            w.copy(),
            epochs,
            0.002,
            online.MODIFIED_LEAST_SQUARES,
            np.uint64(1),
            NO_CHECKPOINTS,
            path,
        ),
        rounds=9,
        warmup_rounds=1,
    )


@pytest.mark.benchmark(group="pocket trial")
def test_pocket_reference_python_loop(benchmark, problem):
    X, y, *_ = problem
    benchmark.extra_info["units"] = 3000
    benchmark.pedantic(python_pocket, (X, y, np.zeros(M + 1), indices(3000)), rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="pocket trial")
def test_pocket_kernel(benchmark, problem):
    Z, step, w, path, epochs = online_case(problem, 200)
    phi, gram, Z_T = problem[2], Z @ Z.T, np.ascontiguousarray(Z.T)
    benchmark.extra_info["units"] = epochs * N
    benchmark.pedantic(
        lambda: pocket.pocket(
            Z, Z_T, phi, step, phi, *NO_TABLE, w.copy(), epochs, True, gram, np.uint64(1), NO_CHECKPOINTS, path
        ),
        rounds=9,
        warmup_rounds=1,
    )


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
    Z = np.ascontiguousarray(X * y[:, None])
    benchmark.group = f"linear SVM, C={C:g}"
    benchmark.extra_info["units"] = 1
    benchmark.pedantic(lambda: linear_svm(Z, np.full(N, C), 1e-7), rounds=9, warmup_rounds=1)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["table", "results/reference"], ["compare", "results/reference"]]
)
@pytest.mark.benchmark(group="command")
def test_command_start(benchmark, arguments):
    benchmark.group = "command"
    benchmark.name = "zoloss " + " ".join(arguments)
    benchmark.extra_info["units"] = 1
    top = Path(__file__).parents[2]
    command = [sys.executable, "-m", "zoloss_cli", *arguments]
    benchmark.pedantic(
        lambda: subprocess.run(command, cwd=top, check=True, capture_output=True), rounds=5, warmup_rounds=1
    )
