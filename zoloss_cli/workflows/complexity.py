"""How complex a table is, what each sample adds to that, and how far a simpler rule goes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from zoloss_cli.complexity.clusters import cluster_samples
from zoloss_cli.complexity.contribution import (
    RightmostSegment,
    average_contributions,
    descend_rightmost_segment,
    sum_paths_in_blocks,
)
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
    Kernel,
    build_problem,
    find_opposite_pair,
    fit_hard_margin_svm,
)
from zoloss_cli.complexity.one_vs_rest import list_one_vs_rest, share_progress
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.warming import COMPLEXITY_COMPILE_SECONDS, announce_compilation
from zoloss_cli.workflows.table_samples import TableSamples, explain_errors

MAX_SAMPLES = 20_000  # their kernel matrix has 3 GB, and several of that size are needed


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
        Number of random orders to average contributions over.
    seed : int
        The seed of these orders.
    clusters : int
        Clusters whose unions are searched for principal points; 0 for no decomposition.
    exact : bool
        Whether to account for every union.
    all_pairs : bool
        Whether an exact search also keeps the (complexity, errors) of unions that are not principal.
    cost : float or None
        The cost of memorizing a sample, for the rightmost segment and the lookup table; None for neither.
    """

    kernel: str = "perceptron"
    gamma: float | None = None
    permutations: int = 200
    seed: int = 1
    clusters: int = 0
    exact: bool = False
    all_pairs: bool = False
    cost: float | None = None

    def validate(self) -> None:
        """Refuse options that do not go together, before a table is read."""
        if self.kernel == "rbf" and self.gamma is None:
            raise ConfigError("--gamma: the rbf kernel needs one, such as --gamma 1")
        if self.kernel != "rbf" and self.gamma is not None:
            raise ConfigError(f"--gamma belongs to --kernel rbf; the {self.kernel} kernel has none")
        if self.gamma is not None and not 0.0 < self.gamma < math.inf:
            raise ConfigError(f"--gamma: must be a number above 0 (got {self.gamma:g})")
        if self.cost is not None and not 0.0 < self.cost < math.inf:
            raise ConfigError(f"--cost: must be a number above 0 (got {self.cost:g})")
        if self.exact and not self.clusters:
            raise ConfigError("--exact is for principal points: set the number of --clusters")
        if self.clusters > MAX_CLUSTERS:
            raise ConfigError(
                f"--clusters: {self.clusters} are too many to enumerate their unions; there can be "
                f"{MAX_EXACT_CLUSTERS} with --exact, {MAX_CLUSTERS} without"
            )


@dataclass(frozen=True)
class MeasuredComplexity:
    """Measurements of the samples, in order.

    Attributes
    ----------
    samples : TableSamples
        The samples.
    options : ComplexityOptions
        How it was measured.
    support : ndarray of bool
        Whether a sample is a support vector; with several classes, in at least one of the problems.
    contributions : ndarray of float
        What a sample adds to the complexity, on average over random orders; with several classes, the largest.
    growth : ndarray of float
        The mean complexity of the first 0, 1, ... all samples along random orders.
    decomposition : Decomposition or None
        The principal points of unions of clusters, if requested.
    rightmost : RightmostSegment or None
        What the greedy method removes, if requested.
    problems : tuple of MeasuredComplexity
        With several classes, the measurements of each against the rest; their complexities add up.
    """

    samples: TableSamples
    options: ComplexityOptions
    support: np.ndarray
    contributions: np.ndarray
    growth: np.ndarray
    decomposition: Decomposition | None
    rightmost: RightmostSegment | None = None
    problems: tuple[MeasuredComplexity, ...] = ()

    @property
    def complexity(self) -> int:
        """The number of support vectors; with several classes, summed over the problems."""
        if self.problems:
            return sum(problem.complexity for problem in self.problems)
        return int(self.support.sum())

    @cached_property
    def categories(self) -> np.ndarray:
        """The category of each sample: typical, critical or noisy."""
        return categorize_contributions(self.contributions)

    @cached_property
    def worst_classes(self) -> list[str]:
        """With several classes, the one against the rest that each sample adds most to; otherwise empty."""
        if not self.problems:
            return []
        worst = np.argmax([problem.contributions for problem in self.problems], axis=0)
        return [self.samples.classes[k] for k in worst]

    def rank_noisy(self) -> np.ndarray:
        """Return the indices of noisy samples, worst first."""
        worst = np.argsort(-self.contributions, kind="stable")
        return worst[self.categories[worst] == "noisy"]


def measure_complexity(
    samples: TableSamples, options: ComplexityOptions, start_orders: Callable, start_unions: Callable
) -> MeasuredComplexity:
    """Measure everything that the options request.

    Parameters
    ----------
    samples : TableSamples
        The samples. If there are more than two classes, each is measured against the rest.
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
    with announce_compilation(COMPLEXITY_COMPILE_SECONDS):
        return _measure_classes(samples, options, start_orders, start_unions)


def _measure_classes(
    samples: TableSamples, options: ComplexityOptions, start_orders: Callable, start_unions: Callable
) -> MeasuredComplexity:
    labels = list_one_vs_rest(samples.y)
    if len(labels) == 1:
        return _measure_two_classes(samples, labels[0], options, start_orders, start_unions)
    progress, problems = start_orders(), []
    for k, one in enumerate(labels):
        report = None if progress is None else share_progress(progress, k, len(labels))
        problems.append(_measure_two_classes(samples, one, options, lambda r=report: r, start_unions))
    return MeasuredComplexity(
        samples,
        options,
        np.any([problem.support for problem in problems], axis=0),
        np.max([problem.contributions for problem in problems], axis=0),
        np.sum([problem.growth for problem in problems], axis=0),
        None,
        problems=tuple(problems),
    )


def _measure_two_classes(
    samples: TableSamples,
    y: np.ndarray,
    options: ComplexityOptions,
    start_orders: Callable,
    start_unions: Callable,
) -> MeasuredComplexity:
    with explain_errors(samples):
        problem = build_problem(samples.X, y, cast(Kernel, options.kernel), options.gamma)
        support = np.zeros(len(problem), bool)
        support[fit_hard_margin_svm(problem).support] = True
        groups = _cluster(problem, options) if options.clusters else None
        sums = sum_paths_in_blocks(problem, options.permutations, options.seed, progress=start_orders())
        growth = np.concatenate([[0], np.cumsum(sums.by_size[0, :, 0])]) / sums.permutations
        decomposition = None
        if groups is not None:
            all_pairs = options.exact and options.all_pairs
            decomposition = decompose(problem, groups, options.exact, all_pairs, start_unions())
        rightmost = None if options.cost is None else descend_rightmost_segment(problem, options.cost)
    contributions = average_contributions(sums)
    return MeasuredComplexity(samples, options, support, contributions, growth, decomposition, rightmost)


def _check_samples(samples: TableSamples, options: ComplexityOptions) -> None:
    path, n, lines = samples.table.path, len(samples), samples.lines
    if n > MAX_SAMPLES:
        raise DataError(
            f"{path} has {n:,} rows, but a kernel matrix is limited to {MAX_SAMPLES:,}: draw "
            "rows at random with --sample N, such as --sample 1000"
        )
    if options.clusters and len(samples.classes) > 2:
        raise ConfigError(
            f"--clusters: principal points need two classes, and {path} has {len(samples.classes)}: "
            "use --positive CLASS for one class against the rest"
        )
    if options.cost is not None and len(samples.classes) > 2:
        raise ConfigError(
            f"--cost: the rightmost segment needs two classes, and {path} has {len(samples.classes)}: "
            "use --positive CLASS for one class against the rest"
        )
    if options.clusters and not 2 <= options.clusters <= n:
        raise ConfigError(
            f"--clusters: there can be 2 to {n} clusters of the {n} rows of {path}, not {options.clusters}"
        )
    pair = find_opposite_pair(samples.X, samples.y)
    if pair is not None:  # the features differ in the file, but not once scaled
        first, second = (lines[row] for row in pair)
        raise DataError(
            f"{path}: lines {first} and {second} have features that are equal once scaled, and different "
            "labels, so no rule fits both: use --scale none, or remove one of them"
        )


def _cluster(problem: HardMarginProblem, options: ComplexityOptions) -> np.ndarray:
    groups = cluster_samples(problem, options.clusters)
    if options.exact and options.clusters > MAX_EXACT_CLUSTERS:
        raise ConfigError(
            f"--clusters: to account for all unions of {options.clusters} would take about "
            f"{describe_expected_time(problem, groups)}, and {MAX_EXACT_CLUSTERS} is the limit with --exact: "
            "use fewer, or leave out --exact"
        )
    return groups
