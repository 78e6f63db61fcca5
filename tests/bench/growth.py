"""How costs grow with samples, features, classes, splits and cores: curves with fitted slopes, and a figure.

``python tests/bench/growth.py FIGURE.svg`` prints a line for each curve and draws them; a slope is that of the
logarithm of the cost over that of what grows. All but the curve over cores is CPU time of one thread, the least
of some rounds.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_blobs

from zoloss_cli.kernels.line_search import choose_bucket_count, to_fixed_point
from zoloss_cli.kernels.pivot import slide_to_vertex, walk_vertices
from zoloss_cli.kernels.rcd import fit_rcd
from zoloss_cli.learners.base import load_blas_controller
from zoloss_cli.learners.search.rcd import _allocate_deltas, _copy_columns
from zoloss_cli.registry import make_learner

SIZES = 1_000, 10_000, 100_000, 1_000_000
FEATURES = 5, 20, 100, 500
CLASSES = 2, 4, 8, 12
SPLITS = 1, 4, 16
M, N = 20, 2_000
ROUNDS = 3


@dataclass
class Curve:
    name: str
    grows: str
    seconds: dict[int, float]

    @property
    def slope(self) -> float:
        return float(np.polyfit(np.log(list(self.seconds)), np.log(list(self.seconds.values())), 1)[0])

    def __str__(self) -> str:
        costs = ", ".join(f"{1e6 * each:,.3g}" for each in self.seconds.values())
        sizes = ", ".join(f"{size:,}" for size in self.seconds)
        return f"{self.name:<32} slope {self.slope:5.2f}: {costs} us at {self.grows} = {sizes}"


def time_call(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    call()
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def draw_samples(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + m)
    X = np.ones((n, m + 1))
    X[:, 1:] = rng.uniform(-1, 1, (n, m))
    return X, np.where(X @ rng.standard_normal(m + 1) + rng.standard_normal(n) > 0, 1.0, -1.0)


def time_rcd_epoch(n: int, m: int) -> float:
    X, y = draw_samples(n, m)
    rng = np.random.default_rng(0)
    epochs = 64
    D, w = rng.uniform(-1, 1, (epochs, m + 1)), rng.standard_normal(m + 1)
    rest = D, False, choose_bucket_count(n), 0, np.empty(0, np.int64), np.empty((0, m + 1)), _allocate_deltas(X)
    X_T, phi = _copy_columns(X), to_fixed_point(np.full(n, 1 / n))
    return time_call(lambda: fit_rcd(X, X_T, y, phi, w.copy(), *rest)) / epochs


def time_pivot_step(n: int, m: int) -> float:
    Y, y = draw_samples(n, m)
    Y *= y[:, None] / np.sqrt(np.einsum("ij,ij->i", Y, Y))[:, None]
    w, B, V, c = np.ones(m + 1), np.zeros(m, np.int64), np.zeros((m, m + 1)), np.ones(n)
    assert slide_to_vertex(Y, w, B, V, np.uint64(1))[1]
    steps = max(12, min(64, 2_000_000 // n))

    def walk() -> None:
        state = w.copy(), B.copy(), V.copy()
        walk_vertices(Y, c, *state, steps, 0.5, 0.5, np.uint64(1), np.zeros(m + 1), -1.0)

    return time_call(walk) / steps


def time_fit(name: str, n: int, m: int, settings: dict) -> float:
    X, y = draw_samples(n, m)
    return time_call(lambda: make_learner(name, settings, 1).fit(X[:, 1:], y), 1 if n * m > 1 << 22 else ROUNDS)


def time_classes(name: str, classes: int) -> float:
    X, y = make_blobs(N, M, centers=classes, cluster_std=9.0, random_state=0)
    return time_call(lambda: make_learner(name, {}, 1).fit(X, y), 1)


def fit_splits(count: int) -> None:
    """Fit one learner to as many splits, as a chunk of a run does."""
    X, y = draw_samples(N, M)
    with load_blas_controller().limit(limits=1, user_api="blas"):
        for seed in range(count):
            rows = np.random.default_rng(seed).permutation(N)[: N * 4 // 5]
            make_learner("rcd-bias", {"epochs": 400}, seed).fit(X[rows, 1:], y[rows])


def time_cores(workers: int, splits: int) -> float:
    seconds = []
    with ProcessPoolExecutor(workers) as pool:
        list(pool.map(fit_splits, [1] * workers))
        for _ in range(ROUNDS):
            start = time.perf_counter()
            list(pool.map(fit_splits, [4] * (splits // 4)))
            seconds.append(time.perf_counter() - start)
    return min(seconds) / splits


def list_curves(sizes: tuple[int, ...], features: tuple[int, ...]) -> Iterator[Curve]:
    for name, time_unit in (("RCD epoch", time_rcd_epoch), ("pivot step", time_pivot_step)):
        yield Curve(f"{name}, m={M}", "N", {n: time_unit(n, M) for n in sizes})
        yield Curve(f"{name}, N={N:,}", "m", {m: time_unit(N, m) for m in features})
    for name, settings in (("ave-perc", {"epochs": 1}), ("soft-svm", {"C": [1.0]})):
        yield Curve(f"{name} fit, m={M}", "N", {n: time_fit(name, n, M, settings) for n in sizes})
        yield Curve(f"{name} fit, N={N:,}", "m", {m: time_fit(name, N, m, settings) for m in features})
    for name in ("one-vs-one", "ecc"):
        yield Curve(f"{name} fit, N={N:,}, m={M}", "classes", {k: time_classes(name, k) for k in CLASSES})
    yield Curve("rcd-bias fits", "splits", {k: time_call(lambda k=k: fit_splits(k), 2) for k in SPLITS})
    cores = [k for k in (1, 2, 4, 8, 16, 32) if k <= (os.cpu_count() or 1)]
    if len(cores) > 1:
        yield Curve("rcd-bias split, wall clock", "cores", {k: time_cores(k, 256) for k in cores})


def draw_curves(curves: list[Curve], path: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    from matplotlib import pyplot as plt

    panels = list(dict.fromkeys(curve.grows for curve in curves))
    figure, axes = plt.subplots(1, len(panels), figsize=(3.2 * len(panels), 3.6), layout="constrained")
    for axis, grows in zip(np.atleast_1d(axes), panels, strict=True):
        for curve in (each for each in curves if each.grows == grows):
            label = f"{curve.name.split(',')[0]} ({curve.slope:.2f})"
            axis.loglog(
                list(curve.seconds), list(curve.seconds.values()), marker="o", markersize=3, label=label
            )
        axis.set_xlabel(grows)
        axis.legend(fontsize=7)
    np.atleast_1d(axes)[0].set_ylabel("seconds (slope in brackets)")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure, print and draw."""
    with load_blas_controller().limit(limits=1, user_api="blas"):
        curves = []
        for curve in list_curves(SIZES, FEATURES):
            print(curve, flush=True)
            curves.append(curve)
    if len(sys.argv) > 1:
        draw_curves(curves, sys.argv[1])


if __name__ == "__main__":
    main()
