"""How complex one's own table is, what each row adds to that, and how far a simpler rule goes."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zoloss_cli.complexity.clusters import cluster_samples
from zoloss_cli.complexity.contribution import average_contributions, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import (
    MAX_CLUSTERS,
    MAX_EXACT_CLUSTERS,
    Decomposition,
    decompose,
    describe_expected_time,
)
from zoloss_cli.complexity.growth import categorize_contributions
from zoloss_cli.complexity.hard_margin import (
    HardMarginProblem,
    InseparableError,
    build_problem,
    find_opposite_pair,
    fit_hard_margin_svm,
)
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.datasets.labels import join_names
from zoloss_cli.datasets.scaling import apply_scaling, compute_finite_scaling
from zoloss_cli.errors import ConfigError, DataError

MOST_ROWS = 20_000  # their kernel matrix has 3 GB, and several as large are made on the way

ADVICE = {
    "perceptron": "rows of different classes are nearly the same, remove some of them or take another --scale",
    "rbf": "take a larger --gamma, or --kernel perceptron",
}


@dataclass(frozen=True)
class Asked:
    """What the options say of how to measure."""

    kernel: str = "perceptron"
    gamma: float | None = None
    permutations: int = 200
    seed: int = 1
    clusters: int = 0  # none: no decomposition
    exact: bool = False
    all_pairs: bool = False  # also those of unions that are not principal

    def check(self) -> None:
        """Refuse what does not go together, before a table is read."""
        if self.kernel == "rbf" and self.gamma is None:
            raise ConfigError("--gamma: the rbf kernel needs one, such as --gamma 1")
        if self.kernel != "rbf" and self.gamma is not None:
            raise ConfigError(f"--gamma belongs to --kernel rbf; the {self.kernel} kernel has none")
        if self.gamma is not None and not 0.0 < self.gamma < math.inf:
            raise ConfigError(f"--gamma: must be a number above 0 (got {self.gamma:g})")
        if self.exact and not self.clusters:
            raise ConfigError("--exact is of the principal points: say how many --clusters there are")
        if self.clusters > MAX_CLUSTERS:
            raise ConfigError(
                f"--clusters: {self.clusters} are too many to go over their unions; there can be "
                f"{MAX_EXACT_CLUSTERS} with --exact, {MAX_CLUSTERS} without"
            )


@dataclass(frozen=True)
class Examples:
    """Rows of a table, scaled, with two classes; `rows` are those of the table that were taken."""

    table: CsvTable
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray  # 0 or 1: indices of classes
    classes: list[str]
    scaling: str

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lines(self) -> list[int]:
        """Where in the file each row begins."""
        return [self.table.lines[row] for row in self.rows]

    @cached_property
    def labels(self) -> list[str]:
        """As they are in the file, where the rest may be several classes."""
        return [self.table.labels[row] for row in self.rows]

    @property
    def sampled(self) -> bool:
        return len(self.rows) < len(self.table.lines)


def examples_of(
    table: CsvTable, positive: str | None, scaling: str, sample: int | None = None, seed: int = 1
) -> Examples:
    """All rows, or so many at random; scaled by what all rows of the table show."""
    y, classes = table.classes(positive)
    where = f"{table.path}: the label column '{table.label}'"
    if len(classes) > 2:
        raise DataError(
            f"{where} has {len(classes)} classes ({join_names(classes)}), and complexity is that of two: use "
            "--positive CLASS for one class against the rest"
        )
    X = apply_scaling(table.X, *compute_finite_scaling(table.X, scaling, table.features, str(table.path)))
    rows = np.arange(len(y))
    if sample is not None and sample < len(y):
        rows = np.sort(np.random.default_rng(seed).choice(len(y), sample, replace=False))
        if len(np.unique(y[rows])) < 2:
            raise DataError(f"{where} holds one class only in a --sample of {sample} rows; draw more, or all")
    return Examples(table, rows, X[rows], y[rows], classes, scaling)


@contextlib.contextmanager
def explained(examples: Examples, rows: np.ndarray | None = None) -> Iterator[None]:
    """What goes wrong with these rows of the examples (default: all), by file and line."""
    path = examples.table.path
    try:
        yield
    except InseparableError as error:
        row = error.row if rows is None else rows[error.row]
        advice = ADVICE.get(error.kernel, "take --kernel perceptron, which separates any rows")
        raise DataError(f"{path}, line {examples.lines[row]}: {error.what}: {advice}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except MemoryError:
        raise DataError(
            f"{path}: there is too little memory for the kernel matrix of {len(examples):,} rows; take fewer"
        ) from None


@dataclass(frozen=True)
class Measured:
    """What was found of the examples, in their order."""

    examples: Examples
    asked: Asked
    support: np.ndarray  # whether a row is a support vector
    contributions: np.ndarray
    growth: np.ndarray  # the mean complexity of 0, 1, ... all rows along random orders
    decomposition: Decomposition | None

    @property
    def complexity(self) -> int:
        return int(self.support.sum())

    @cached_property
    def categories(self) -> np.ndarray:
        return categorize_contributions(self.contributions)

    def by_noise(self) -> np.ndarray:
        """The noisy rows, worst first."""
        worst = np.argsort(-self.contributions, kind="stable")
        return worst[self.categories[worst] == "noisy"]


def measure(examples: Examples, asked: Asked, tell_orders: Callable, tell_unions: Callable) -> Measured:
    """Everything that was asked for. The two callables start a stage and return its progress callback."""
    _check_examples(examples, asked)
    with explained(examples):
        problem = build_problem(examples.X, examples.y, asked.kernel, asked.gamma)
        support = np.zeros(len(problem), bool)
        support[fit_hard_margin_svm(problem).support] = True
        groups = _clusters(problem, asked) if asked.clusters else None
        sums = sum_paths_in_blocks(problem, asked.permutations, asked.seed, progress=tell_orders())
        growth = np.concatenate([[0], np.cumsum(sums.by_size[0, :, 0])]) / sums.permutations
        parts = None
        if groups is not None:
            parts = decompose(problem, groups, asked.exact, asked.exact and asked.all_pairs, tell_unions())
    return Measured(examples, asked, support, average_contributions(sums), growth, parts)


def _check_examples(examples: Examples, asked: Asked) -> None:
    path, n, lines = examples.table.path, len(examples), examples.lines
    if n > MOST_ROWS:
        raise DataError(
            f"{path} has {n:,} rows, and a kernel matrix of more than {MOST_ROWS:,} does not fit: draw rows at "
            "random with --sample N, such as --sample 1000"
        )
    if asked.clusters and not 2 <= asked.clusters <= n:
        raise ConfigError(
            f"--clusters: there can be 2 to {n} clusters of the {n} rows of {path}, not {asked.clusters}"
        )
    pair = find_opposite_pair(examples.X, examples.y)
    if pair is not None:
        first, second = (lines[row] for row in pair)
        raise DataError(
            f"{path}: lines {first} and {second} have equal features and different labels, so no rule fits "
            "both: remove one of them, or let `zoloss prune` write a file without such rows"
        )


def _clusters(problem: HardMarginProblem, asked: Asked) -> np.ndarray:
    groups = cluster_samples(problem, asked.clusters)
    if asked.exact and asked.clusters > MAX_EXACT_CLUSTERS:
        raise ConfigError(
            f"--clusters: to account for all unions of {asked.clusters} would take about "
            f"{describe_expected_time(problem, groups)}, and {MAX_EXACT_CLUSTERS} is the limit with --exact: "
            "ask for fewer, or leave --exact out"
        )
    return groups
