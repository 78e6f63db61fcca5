"""Samples with an exponentially small margin (lecture 004, section 1.1), and what they cost a perceptron."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from zoloss_cli.data.generators import nested
from zoloss_cli.learners.mistake_bounds import compute_margin, count_mistakes, find_widest_separator


def build_signed(size: int) -> tuple[np.ndarray, np.ndarray]:
    pool = nested(np.random.default_rng(size), size)
    return pool.X, np.where(pool.y == 1, 1.0, -1.0)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 11])
def test_the_least_weights_with_functional_margin_1_grow_like_fibonacci_numbers(size):
    """A linear program, which knows nothing of Fibonacci, finds the least largest weight."""
    X, signs = build_signed(size)
    rows = np.hstack([-(signs[:, None] * X), np.zeros((size, 1))])
    limits = np.vstack([
        np.hstack([np.eye(size), -np.ones((size, 1))]),
        np.hstack([-np.eye(size), -np.ones((size, 1))]),
    ])  # fmt: skip
    found = linprog(
        np.eye(size + 1)[-1],
        A_ub=np.vstack([rows, limits]),
        b_ub=np.concatenate([-np.ones(size), np.zeros(2 * size)]),
        bounds=[(None, None)] * (size + 1),
    )
    fibonacci = [1, 2]
    while len(fibonacci) < size:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert found.fun == pytest.approx(fibonacci[size - 1])


def test_the_margin_falls_and_mistakes_grow_exponentially_within_their_bound():
    margins, counts = [], []
    for size in (4, 6, 8):
        X, signs = build_signed(size)
        margins.append(compute_margin(X, signs, find_widest_separator(X, signs)))
        found = count_mistakes(X, signs, 10_000)
        assert found.counted <= found.bound
        counts.append(found.counted)
    assert np.all(np.array(margins[1:]) / margins[:-1] < 0.5)
    assert np.all(np.array(counts[1:]) / counts[:-1] > 5.0)
