"""Scoring systems by rounding: the weights of logistic regression, scaled and rounded to integers."""

from __future__ import annotations

import warnings

import numpy as np

from zoloss_cli.learners.scoring.scoring_problem import ScoringProblem

SCALES = 100
MAX_CELLS = 50_000  # merged samples to fit weights to: they are only a start
MAX_ITERATIONS = 200


def round_logistic_regression(problem: ScoringProblem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rules (terms, points) from rounding the largest weights at many scales.

    Parameters
    ----------
    problem : ScoringProblem
        The problem.

    Returns
    -------
    list of tuple of (ndarray, ndarray)
        Different rules, the first with no points except for required columns; points with a forbidden sign are
        left out.
    """
    weights = fit_weights(problem, np.arange(len(problem.conditions)))
    allowed = np.where(weights > 0.0, problem.arrays[4] > 0, problem.arrays[3] < 0)
    weights = np.where(allowed, weights, 0.0)
    chosen = choose_largest(weights, problem)
    again = np.zeros(len(weights))
    again[chosen] = fit_weights(problem, chosen)
    again = np.where(np.where(again > 0.0, problem.arrays[4] > 0, problem.arrays[3] < 0), again, 0.0)
    smallest = build_rule(chosen, np.zeros(len(chosen), np.int64), problem)
    found: dict[bytes, tuple[np.ndarray, np.ndarray]] = {smallest[1].tobytes(): smallest}
    for candidate in (weights[chosen], again[chosen]):
        largest = np.abs(candidate).max(initial=0.0)
        if largest == 0.0:
            continue
        for step in range(1, SCALES + 1):
            rounded = np.rint(candidate * (problem.max_points * step / SCALES / largest)).astype(np.int64)
            rule = build_rule(chosen, rounded, problem)
            found.setdefault(rule[1].tobytes(), rule)
    return list(found.values())


def build_rule(
    chosen: np.ndarray, rounded: np.ndarray, problem: ScoringProblem
) -> tuple[np.ndarray, np.ndarray]:
    """Return terms and points; a required column without points gets one for its first chosen condition."""
    rounded = rounded.copy()
    highest, required = problem.arrays[4:6]
    for column in range(problem.n_required):
        own = np.flatnonzero(required[chosen] == column)
        if own.size and not np.any(rounded[own]):
            rounded[own[0]] = 1 if highest[chosen[own[0]]] > 0 else -1
    terms = np.full(problem.max_terms, -1, np.int64)
    points = np.zeros(problem.max_terms, np.int64)
    terms[: len(chosen)] = np.where(rounded != 0, chosen, -1)
    points[: len(chosen)] = rounded
    return terms, points


def choose_largest(weights: np.ndarray, problem: ScoringProblem) -> np.ndarray:
    """Return the conditions with the largest weights, including one from each required column, ascending."""
    order = np.argsort(-np.abs(weights), kind="stable")
    required = problem.arrays[5]
    usable = [int(j) for j in order if problem.arrays[3][j] < problem.arrays[4][j]]
    chosen = [next(j for j in usable if required[j] == column) for column in range(problem.n_required)]
    for j in usable:
        if len(chosen) == problem.max_terms:
            break
        if j not in chosen:
            chosen.append(j)
    return np.sort(np.array(chosen, np.int64))


def fit_weights(problem: ScoringProblem, conditions: np.ndarray) -> np.ndarray:
    """Return the weights of logistic regression on some conditions of all samples."""
    from sklearn.linear_model import LogisticRegression

    cells = problem.cells
    rows = np.arange(cells.plus.size)
    if rows.size > MAX_CELLS:
        rows = np.linspace(0, rows.size - 1, MAX_CELLS).astype(int)
    if not (np.any(cells.plus[rows]) and np.any(cells.minus[rows])):
        return np.zeros(len(conditions))
    X = np.tile(cells.levels[np.ix_(conditions, rows)].T.astype(np.float64), (2, 1))
    sizes = np.concatenate([cells.plus[rows], cells.minus[rows]]) / problem.single
    is_there = sizes > 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not have converged
        model = LogisticRegression(max_iter=MAX_ITERATIONS)
        model.fit(X[is_there], (np.arange(len(X)) < rows.size)[is_there], sample_weight=sizes[is_there])
    return model.coef_[0]
