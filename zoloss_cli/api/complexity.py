"""Samples of your own table, to measure their complexity: scaled, without rows that contradict each other."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from zoloss_cli.complexity.contribution import (
    RightmostSegment,
    average_contributions,
    descend_rightmost_segment,
    list_one_vs_rest,
    share_progress,
    sum_paths_in_blocks,
)
from zoloss_cli.complexity.decomposition import (
    MAX_CLUSTERS,
    MAX_EXACT_CLUSTERS,
    Decomposition,
    categorize_contributions,
    cluster_samples,
    decompose,
    describe_expected_time,
)
from zoloss_cli.complexity.hard_margin import (
    HardMarginProblem,
    InseparableError,
    Kernel,
    build_problem,
    find_opposite_pair,
    fit_hard_margin_svm,
)
from zoloss_cli.complexity.measures import LookupComplexity, compute_entry_cost, find_lookup_complexity
from zoloss_cli.complexity.pruning import find_contradicted
from zoloss_cli.data.columns import join_names
from zoloss_cli.data.splits import apply_scaling, compute_finite_scaling
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.warming import COMPLEXITY_COMPILE_SECONDS, announce_compilation

ADVICE = {
    "perceptron": "rows of different classes are nearly the same; remove some of them or use another --scale",
    "rbf": "use a larger --gamma, or --kernel perceptron",
}


@dataclass(frozen=True)
class TableSamples:
    """Samples of a table, scaled.

    Attributes
    ----------
    table : CsvTable
        The whole table.
    rows : ndarray of int
        The selected rows of the table.
    X : ndarray of shape (n_samples, n_features)
        Scaled features.
    y : ndarray of int of shape (n_samples,)
        Indices of classes.
    classes : list of str
        The classes that occur; with two, the negative one first.
    scaling : str
        How the features were scaled.
    contradicted : ndarray of int
        The rows of the table that were set apart: others have equal features and another label that is at least
        as frequent among them.
    absent : list of str
        The classes of the table that no sample has.
    """

    table: CsvTable
    rows: np.ndarray
    X: np.ndarray
    y: np.ndarray
    classes: list[str]
    scaling: str
    contradicted: np.ndarray
    absent: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lines(self) -> list[int]:
        """The line of the file where each sample begins."""
        return [self.table.lines[row] for row in self.rows]

    @cached_property
    def labels(self) -> list[str]:
        """The labels as in the file, where the rest may be several classes."""
        labels = self.table.labels or []
        return [labels[row] for row in self.rows]

    @property
    def n_available(self) -> int:
        """Number of rows that can be selected."""
        return len(self.table.lines) - len(self.contradicted)

    @property
    def is_subset(self) -> bool:
        """Whether only some of these rows were selected."""
        return len(self.rows) < self.n_available

    def list_notes(self) -> list[str]:
        """Return notes about the table, and about classes that were left out."""
        gone = f"no row is left of the class{'es' * (len(self.absent) > 1)} {join_names(self.absent)}"
        return [*self.table.notes, *([f"{self.table.path}: {gone}"] if self.absent else [])]


def load_samples(
    table: CsvTable, positive: str | None, scaling: str, sample: int | None = None, seed: int = 1
) -> TableSamples:
    """Select all samples of a table that contradict no others, or `sample` of them at random.

    They are scaled by the statistics of all of them, drawn or not.

    Parameters
    ----------
    table : CsvTable
        The table.
    positive : str or None
        The class against the rest; None for all classes.
    scaling : str
        How to scale features.
    sample : int or None
        Number of samples to draw; None for all.
    seed : int
        The seed of the draw.

    Returns
    -------
    TableSamples
        The samples, of at least two classes.
    """
    y, classes = table.index_classes(positive)
    contradicted = find_contradicted(table.X, y)
    rows = np.setdiff1d(np.arange(len(y)), contradicted)
    if len(np.unique(y[rows])) < 2:
        raise DataError(
            f"{table.path}: {len(contradicted)} of {len(y)} samples have equal features and different labels, "
            "and without them there is one class or none: nothing can be said about the others"
        )
    centre, spread = compute_finite_scaling(table.X[rows], scaling, table.features, str(table.path))
    if sample is not None and sample < len(rows):
        rows = np.sort(rows[np.random.default_rng(seed).choice(len(rows), sample, replace=False)])
        if len(np.unique(y[rows])) < 2:
            raise DataError(
                f"{table.path}: the label column '{table.label}' holds only one class in a --sample of "
                f"{sample} rows; draw more, or all"
            )
    present, codes = np.unique(y[rows], return_inverse=True)
    absent = [name for k, name in enumerate(classes) if k not in present]
    names = [classes[k] for k in present]
    X = apply_scaling(table.X[rows], centre, spread)
    return TableSamples(table, rows, X, codes.ravel(), names, scaling, contradicted, absent)


@contextlib.contextmanager
def explain_errors(samples: TableSamples) -> Iterator[None]:
    """Raise errors about these samples with the file and the line."""
    path = samples.table.path
    try:
        yield
    except InseparableError as error:
        advice = ADVICE.get(error.kernel, "use --kernel perceptron, which separates any rows")
        raise DataError(f"{path}:{samples.lines[error.sample]}: {error.what}: {advice}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except MemoryError:
        raise DataError(
            f"{path}: there is too little memory for the kernel matrix of {len(samples):,} samples; use fewer"
        ) from None


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


MAX_SHOWN_REMOVED = 20


def choose_cost(cost: float | None, noise: float | None) -> float | None:
    """Return the cost of memorizing a row, or that of the probability of a wrong label; None without either.

    Parameters
    ----------
    cost, noise : float or None
        The options --cost and --noise; at most one may be given.
    """
    if noise is None:
        return cost
    if cost is not None:
        raise ConfigError("--cost and --noise set the same cost: leave out one of them")
    try:
        return compute_entry_cost(noise)
    except ConfigError as error:
        raise ConfigError(f"--noise: {error}") from None


def find_shortest(measured: MeasuredComplexity) -> LookupComplexity | None:
    """Return the shortest rule with a table of its errors among principal points, if these were requested."""
    cost, found = measured.options.cost, measured.decomposition
    if cost is None or found is None:
        return None
    return find_lookup_complexity([(point.complexity, point.error) for point in found.points], cost)


def describe_lookup(measured: MeasuredComplexity) -> dict | None:
    """Return the results for a JSON object; None without a cost."""
    removed, shortest = measured.rightmost, find_shortest(measured)
    if removed is None:
        return None
    return {
        "cost": measured.options.cost,
        "removed_lines": [measured.samples.lines[row] for row in removed.removed.tolist()],
        "complexities": removed.complexities.tolist(),
        "shortest": None if shortest is None else shortest._asdict(),
    }


def render_lookup(measured: MeasuredComplexity) -> list[str]:
    """Return the results as lines of text."""
    removed, cost, shortest = measured.rightmost, measured.options.cost, find_shortest(measured)
    assert removed is not None
    before, after, count = int(removed.complexities[0]), int(removed.complexities[-1]), len(removed.removed)
    text = []
    if not count:
        text.append(f"No row lowers the complexity by {cost:.3g} or more, the cost of memorizing it.")
    else:
        lines = [str(measured.samples.lines[row]) for row in removed.removed[:MAX_SHOWN_REMOVED]]
        more = f" and {count - MAX_SHOWN_REMOVED} more (--json has all)" if count > MAX_SHOWN_REMOVED else ""
        rows = f"{count} row{'s' * (count != 1)}"
        text += [
            f"memorized   {rows}, at a cost of {cost:.3g} each: the complexity falls from {before} to {after}",
            f"            lines {', '.join(lines)}{more}",
            "(greedy, the row that lowers it most first: a single contribution is a noisy sign)",
        ]
    if shortest is not None:
        text.append(
            f"shortest    {shortest.value:.4g}: a rule of complexity {shortest.complexity} and "
            f"{shortest.error} rows in a lookup table"
        )
    return text
