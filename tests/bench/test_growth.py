"""How the cost of an epoch of random coordinate descent grows with the number of samples: `make bench`."""

from __future__ import annotations

import time

import numpy as np
import pytest

from zoloss_cli.kernels.line_search import choose_bucket_count, to_fixed_point
from zoloss_cli.kernels.rcd import DIRECTIONS_PER_BLOCK, fit_rcd

SIZES = 1_000, 3_000, 10_000, 30_000, 100_000, 300_000
M, EPOCHS, ROUNDS = 20, 42, 5


def epoch_cost(n: int) -> float:
    """Seconds that one epoch takes, in the fastest of some rounds."""
    rng = np.random.default_rng(n)
    X = np.column_stack([np.ones(n), rng.uniform(-1, 1, (n, M))])
    y = np.where(X @ rng.standard_normal(M + 1) + rng.standard_normal(n) > 0, 1.0, -1.0)
    D, w = rng.uniform(-1, 1, (EPOCHS, M + 1)), rng.standard_normal(M + 1)
    X_T, room = np.ascontiguousarray(X.T), np.empty((DIRECTIONS_PER_BLOCK, n))
    rest = D, False, choose_bucket_count(n), 0, np.empty(0, np.int64), np.empty((0, M + 1)), room
    phi, costs = to_fixed_point(np.full(n, 1 / n)), []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        fit_rcd(X, X_T, y, phi, w.copy(), *rest)
        costs.append(time.perf_counter() - begin)
    return min(costs) / EPOCHS


@pytest.mark.benchmark(group=f"RCD epoch as N grows, m={M}")
def test_rcd_growth(benchmark):
    """The slope of log cost over log N; that of N log N itself over the same sizes stands beside it."""
    costs = {}
    benchmark.pedantic(lambda: costs.update({n: epoch_cost(n) for n in SIZES}), rounds=1)
    log_n = np.log(SIZES)
    slope = np.polyfit(log_n, np.log(list(costs.values())), 1)[0]
    linearithmic = np.polyfit(log_n, np.log(SIZES * log_n), 1)[0]
    each = ", ".join(f"{1e9 * cost / n:.1f}" for n, cost in costs.items())
    benchmark.extra_info["note"] = (
        f"slope {slope:.2f} (N log N: {linearithmic:.2f}); {each} ns a sample at N = "
        + ", ".join(f"{n:,}" for n in SIZES)
    )
    assert slope <= linearithmic + 0.1  # the measuring itself has a spread
