"""How many Newton steps the soft-SVM's solver would save by starting from a solution nearby: few, or none.

``python tests/bench/svm_warm_starts.py`` solves the grid of C, and rounds of AdaBoost, from the solver's own
start and from the last solution, moved away from its bounds by a share: an interior-point method cannot start
at a solution, where one number of each pair, alpha and s, mu and xi, is 0. Printed are the steps of all
problems together.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from test_online_speed import NAMES, load_table

from zoloss_cli.kernels import svm
from zoloss_cli.learners.linear.soft_svm import C_GRID, DUALITY_GAP

ROUNDS = 20
BEST_C = 2.0
SHARES = 0.3, 0.1, 0.03, 0.01, 0.001


def solve(X, y, C, start=None):
    """Return the solver's last point and its number of steps: `svm.solve_linear_svm` with a start of choice."""
    columns, n = svm.pad_columns(X), len(X)
    width, size = columns.shape[1], X.shape[1]
    u, point = start or (np.zeros(size), (0.5 * C, 0.5 * C, np.ones(n), np.full(n, 2.0)))
    alpha, mu, s, xi = point
    change = tuple(np.empty(n) for _ in range(3))
    room, r_primal, D = np.zeros(width), np.empty(n), np.zeros(width)
    H, du = np.empty((size, size)), np.empty(size)
    for iteration in range(svm.MAX_STEPS):
        margins = y * (X @ u)
        r_dual = (alpha * y) @ X
        gap, relative, feasible = svm.measure_point(C, point, u, margins, r_primal, r_dual, room)
        if relative < DUALITY_GAP * (1.0 if feasible else 1e-5):
            return (u, point), iteration
        D[:n] = 1.0 / (xi / mu + s / alpha)
        g = 1.0 - margins
        factored = svm.factor_newton_matrix(X, columns, D, H)
        room[:] = 0.0
        room[:n] = D[:n] * y * g
        svm.find_direction(X, columns, room, r_dual, H, factored, du)
        step, second = svm.predict_change(point, D, g, y * (X @ du), change, room)
        centre = (((1.0 - step) * gap + step * step * second) / gap) ** 3 * gap / (2 * n)
        svm.set_target(point, change, centre, 1.0, r_primal, g)
        room[:] = 0.0
        room[:n] = D[:n] * y * g
        svm.find_direction(X, columns, room, r_dual, H, factored, du)
        step = svm.correct_change(point, D, g, y * (X @ du), change, room)
        u = u + step * du
        svm.take_newton_step(point, change, step)
    return (u, point), svm.MAX_STEPS


def move_inside(solution, X, y, old, C, share):
    """Return a start near a solution for other bounds, with every number away from 0 by a share."""
    u, (alpha, _, _, _) = solution
    alpha = np.clip(alpha / old, share, 1.0 - share) * C
    margins = y * (X @ u)
    xi = np.maximum(1.0 - margins, 0.0) + share
    return u.copy(), (alpha, C - alpha, margins + xi - 1.0 + share, xi)


def list_problems(X, y):
    """Yield names and bounds C of problems that follow each other."""
    yield "grid of C", [np.full(len(y), C) for C in sorted(C_GRID)]
    phi, bounds = np.full(len(y), 1.0 / len(y)), []
    for _ in range(ROUNDS):
        bounds.append(BEST_C * len(y) * phi)
        (u, _), _ = solve(X, y, bounds[-1])
        wrong = y * (X @ u) <= 0
        error = np.clip(phi[wrong].sum(), 1e-3, 0.499)
        phi = phi * np.where(wrong, np.sqrt((1 - error) / error), np.sqrt(error / (1 - error)))
        phi = np.maximum(phi / phi.sum(), 1e-9)
    yield f"{ROUNDS} rounds of AdaBoost", bounds


def main() -> None:
    """Print steps from the solver's own start, and from the last solution."""
    for name in NAMES:
        _, X, y, _ = load_table(name)
        X = np.column_stack([np.ones(len(y)), X])
        for title, bounds in list_problems(X, y):
            cold = sum(solve(X, y, C)[1] for C in bounds)
            print(f"{name}, {title}: {cold} steps", end="")
            for share in SHARES:
                solution, steps = solve(X, y, bounds[0])
                for old, C in itertools.pairwise(bounds):
                    solution, more = solve(X, y, C, move_inside(solution, X, y, old, C, share))
                    steps += more
                print(f"; from the last solution, {share:g} inside: {steps}", end="")
            print(flush=True)


if __name__ == "__main__":
    main()
