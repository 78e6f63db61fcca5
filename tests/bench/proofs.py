"""What `certify` proves, and how fast: a line for each data set.

``python tests/bench/proofs.py small`` takes sets of up to four features and 1,000 samples, ``discrete`` sets of
830 samples and five features with few values each, and ``files TABLE.csv ...`` tables whose last column is the
class. ``--seconds`` limits the time of each, and ``--target`` is what to prove by cones of directions alone.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from zoloss_cli import load_dataset
from zoloss_cli.registry import make_learner

SETS = 5
SMALL_SHAPES = (300, 2), (1000, 2), (1000, 3), (700, 4), (1000, 4)


def draw_small(n: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return measurements with two digits, and classes that a noisy hyperplane gives."""
    rng = np.random.default_rng(1000 * m + seed)
    X = np.round(rng.standard_normal((n, m)), 2)
    return X, (X @ rng.standard_normal(m) + 1.5 * rng.standard_normal(n) > 0).astype(int)


def draw_discrete(seed: int, n: int = 830) -> tuple[np.ndarray, np.ndarray]:
    """Return gradings of five features, one of them in whole years, as in a table of findings.

    Four features are grades from 1 to 4, 5 or 6, which go along with a hidden severity; about one sample in
    seven is on the wrong side of every plane.
    """
    rng = np.random.default_rng(seed)
    severity = rng.standard_normal(n)
    grades = [
        np.clip(np.round(middle + slope * severity + rng.standard_normal(n)), 1, top)
        for middle, slope, top in ((4.3, 0.6, 6), (2.7, 0.9, 4), (2.8, 1.1, 5), (2.9, 0.2, 4))
    ]
    years = np.clip(np.round(56 + 8 * severity + 12 * rng.standard_normal(n)), 18, 96)
    X = np.column_stack([grades[0], years, *grades[1:]])
    return X, (severity + 0.5 * rng.standard_normal(n) > 0).astype(int)


def read_table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], (table[:, -1] == table[:, -1].max()).astype(int)


def list_problems(kind: str, paths: list[Path]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    if kind == "files":
        for path in paths:
            yield path.stem, *read_table(path)
    elif kind == "discrete":
        for seed in range(SETS):
            yield f"discrete {seed}", *draw_discrete(seed)
    else:
        X, y = load_dataset("iris", positive="Iris-versicolor")
        yield "iris versicolor", X, y
        X, y = load_dataset("liver")
        for first in range(3):
            yield f"liver, features {first + 1} to {first + 4}", X[:, first : first + 4], y
        for n, m in SMALL_SHAPES:
            yield "generated", *draw_small(n, m)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["small", "discrete", "files"])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--target", type=int)
    options = parser.parse_args()
    make_learner("certify", {"time_limit": 5.0}, 0).fit(*draw_small(60, 3))  # compiles what is not compiled
    print(f"{'data':<28}{'shape':>10}{'errors':>8}{'bound':>7}{'seconds':>9}{'CPU':>8}{'cones':>12}  proof")
    for name, X, y in list_problems(options.kind, options.paths):
        wall, cpu = time.perf_counter(), time.process_time()
        limits = {"time_limit": options.seconds, "target": options.target}
        learner = make_learner("certify", limits, 0).fit(X, y)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        shape = f"{X.shape[0]} x {X.shape[1]}"
        numbers = f"{learner.training_errors_:>8}{learner.lower_bound_:>7g}{wall:>9.2f}{cpu:>8.2f}"
        print(f"{name:<28}{shape:>10}{numbers}{learner.n_cones_:>12,}  {learner.proof_}", flush=True)


if __name__ == "__main__":
    main()
