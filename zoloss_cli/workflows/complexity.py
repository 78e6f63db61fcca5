"""How complex one's own table is, what each sample adds to that, and how far a simpler rule goes."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

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
    Kernel,
    build_problem,
    find_opposite_pair,
    fit_hard_margin_svm,
)
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.datasets.labels import join_names
from zoloss_cli.datasets.scaling import apply_scaling, compute_finite_scaling
from zoloss_cli.errors import ConfigError, DataError

MAX_SAMPLES = 20_000  # their kernel matrix has 3 GB, and several as large are made on the way

ADVICE = {
    "perceptron": "rows of different classes are nearly the same, remove some of them or take another --scale",
    "rbf": "take a larger --gamma, or --kernel perceptron",
}


@dataclass(frozen=True)
class ComplexityOptions:
    """How to measure complexity.

    Attributes
    ----------
    kernel : str
        The kernel of the SVM.
    gamma : float or None
        The parameter of the rbf kernel.
    permutations : int
        Random orders that contributions are averaged over.
    seed : int
        The seed of these orders.
    clusters : int
        Clusters whose unions are searched for principal points; 0 for no decomposition.
    exact : bool
        Whether every union is accounted for.
    all_pairs : bool
        Whether an exact search also keeps the (complexity, errors) of unions that are not principal.
    """

    kernel: str = "perceptron"
    gamma: float | None = None
    permutations: int = 200
    seed: int = 1
    clusters: int = 0
    exact: bool = False
    all_pairs: bool = False

    def validate(self) -> None:
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
class TableSamples:
    """Samples of a table, scaled, with two classes.

    Attributes
    ----------
    table : CsvTable
        The whole table.
    rows : ndarray of int
        The table's rows that were taken.
    X : ndarray of shape (n_samples, n_features)
        Scaled features.
    y : ndarray of int of shape (n_samples,)
        Indices of classes, 0 or 1.
    classes : list of str
        The negative and the positive class.
    scaling : str
        How the features were scaled.
    """

    table: CsvTable
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray
    classes: list[str]
    scaling: str

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lines(self) -> list[int]:
        """The line of the file where each sample begins."""
        return [self.table.lines[row] for row in self.rows]

    @cached_property
    def labels(self) -> list[str]:
        """The labels as they are in the file, where the rest may be several classes."""
        labels = self.table.labels or []
        return [labels[row] for row in self.rows]

    @property
    def is_subset(self) -> bool:
        """Whether only some rows of the table were taken."""
        return len(self.rows) < len(self.table.lines)


def load_samples(
    table: CsvTable, positive: str | None, scaling: str, sample: int | None = None, seed: int = 1
) -> TableSamples:
    """Take all samples of a table, or so many at random, scaled by what all rows of the table show.

    Parameters
    ----------
    table : CsvTable
        The table.
    positive : str or None
        The class against the rest; None for a table of two classes.
    scaling : str
        How to scale features.
    sample : int or None
        How many samples to draw; None for all.
    seed : int
        The seed of the draw.

    Returns
    -------
    TableSamples
        The samples, of both classes.
    """
    y, classes = table.index_classes(positive)
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
    return TableSamples(table, rows, X[rows], y[rows], classes, scaling)


@contextlib.contextmanager
def explain_errors(samples: TableSamples, rows: np.ndarray | None = None) -> Iterator[None]:
    """Raise what goes wrong with these samples (default: all) with the file and the line."""
    path = samples.table.path
    try:
        yield
    except InseparableError as error:
        row = error.sample if rows is None else rows[error.sample]
        advice = ADVICE.get(error.kernel, "take --kernel perceptron, which separates any rows")
        raise DataError(f"{path}:{samples.lines[row]}: {error.what}: {advice}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except MemoryError:
        raise DataError(
            f"{path}: there is too little memory for the kernel matrix of {len(samples):,} samples; take fewer"
        ) from None


@dataclass(frozen=True)
class MeasuredComplexity:
    """What was measured of the samples, in their order.

    Attributes
    ----------
    samples : TableSamples
        The samples.
    options : ComplexityOptions
        How it was measured.
    support : ndarray of bool
        Whether a sample is a support vector.
    contributions : ndarray of float
        What a sample adds to the complexity, on average over random orders.
    growth : ndarray of float
        The mean complexity of the first 0, 1, ... all samples along random orders.
    decomposition : Decomposition or None
        The principal points of unions of clusters, if asked for.
    """

    samples: TableSamples
    options: ComplexityOptions
    support: np.ndarray
    contributions: np.ndarray
    growth: np.ndarray
    decomposition: Decomposition | None

    @property
    def complexity(self) -> int:
        """The number of support vectors."""
        return int(self.support.sum())

    @cached_property
    def categories(self) -> np.ndarray:
        """The category of each sample: typical, critical or noisy."""
        return categorize_contributions(self.contributions)

    def rank_noisy(self) -> np.ndarray:
        """Return the indices of noisy samples, worst first."""
        worst = np.argsort(-self.contributions, kind="stable")
        return worst[self.categories[worst] == "noisy"]


def measure_complexity(
    samples: TableSamples, options: ComplexityOptions, start_orders: Callable, start_unions: Callable
) -> MeasuredComplexity:
    """Measure everything that the options ask for.

    Parameters
    ----------
    samples : TableSamples
        What to measure.
    options : ComplexityOptions
        How to measure it.
    start_orders, start_unions : callable
        Start the stage of random orders, or of unions, and return its progress callback.

    Returns
    -------
    MeasuredComplexity
        The measurements.
    """
    _check_samples(samples, options)
    with explain_errors(samples):
        problem = build_problem(samples.X, samples.y, cast(Kernel, options.kernel), options.gamma)
        support = np.zeros(len(problem), bool)
        support[fit_hard_margin_svm(problem).support] = True
        groups = _cluster(problem, options) if options.clusters else None
        sums = sum_paths_in_blocks(problem, options.permutations, options.seed, progress=start_orders())
        growth = np.concatenate([[0], np.cumsum(sums.by_size[0, :, 0])]) / sums.permutations
        decomposition = None
        if groups is not None:
            all_pairs = options.exact and options.all_pairs
            decomposition = decompose(problem, groups, options.exact, all_pairs, start_unions())
    contributions = average_contributions(sums)
    return MeasuredComplexity(samples, options, support, contributions, growth, decomposition)


def _check_samples(samples: TableSamples, options: ComplexityOptions) -> None:
    path, n, lines = samples.table.path, len(samples), samples.lines
    if n > MAX_SAMPLES:
        raise DataError(
            f"{path} has {n:,} rows, and a kernel matrix of more than {MAX_SAMPLES:,} does not fit: draw "
            "rows at random with --sample N, such as --sample 1000"
        )
    if options.clusters and not 2 <= options.clusters <= n:
        raise ConfigError(
            f"--clusters: there can be 2 to {n} clusters of the {n} rows of {path}, not {options.clusters}"
        )
    pair = find_opposite_pair(samples.X, samples.y)
    if pair is not None:
        first, second = (lines[row] for row in pair)
        raise DataError(
            f"{path}: lines {first} and {second} have equal features and different labels, so no rule fits "
            "both: remove one of them, or let `zoloss prune` write a file without such rows"
        )


def _cluster(problem: HardMarginProblem, options: ComplexityOptions) -> np.ndarray:
    groups = cluster_samples(problem, options.clusters)
    if options.exact and options.clusters > MAX_EXACT_CLUSTERS:
        raise ConfigError(
            f"--clusters: to account for all unions of {options.clusters} would take about "
            f"{describe_expected_time(problem, groups)}, and {MAX_EXACT_CLUSTERS} is the limit with --exact: "
            "ask for fewer, or leave --exact out"
        )
    return groups
