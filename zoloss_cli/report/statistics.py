"""Tests and effect sizes that compare learners, on one data set and across data sets.

On one data set: the corrected resampled t-test of C. Nadeau and Y. Bengio, "Inference for the generalization
error", Machine Learning 52 (2003), and Cohen's d_z of paired differences (J. Cohen, "Statistical power analysis
for the behavioral sciences", 2nd ed. 1988, section 2.3.5). Across data sets, by means: Wilcoxon's signed-rank
test with Holm's correction, Friedman's test, average ranks and Nemenyi's critical difference, as in J. Demšar,
"Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006), and the matched-pairs
rank-biserial correlation (D. S. Kerby, "The simple difference formula", Comprehensive Psychology 3, 2014).
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy import stats

from zoloss_cli.config.models import CsvData, DataSpec, GeneratedData
from zoloss_cli.data.dataset import find_entry
from zoloss_cli.data.read import read_content
from zoloss_cli.errors import ResultsError, ZolossError, suggest_nearest
from zoloss_cli.metrics.base import Sizes, compute_half_width
from zoloss_cli.registry import load_metric
from zoloss_cli.report.runs import RunResult


def group_by_data(run: RunResult, datasets: Sequence[str]) -> list[list[str]]:
    """Group rows of a run's table by data, in the order of the table.

    Tests across data sets assume independence. Two rows with the same samples, with and without
    noise, flipped labels or pruning, or with another positive class, are not: they are averaged before ranking.
    """
    groups: list[tuple[frozenset[tuple], list[str]]] = []
    for name in datasets:
        sources, rows = find_sources(run.get_data(name)), [name]
        for known in [group for group in groups if group[0] & sources]:  # several if it shares pools with each
            groups.remove(known)
            sources, rows = sources | known[0], [*known[1], *rows]
        groups.append((sources, rows))
    order = {name: place for place, name in enumerate(datasets)}
    return sorted((sorted(rows, key=order.__getitem__) for _, rows in groups), key=lambda rows: order[rows[0]])


def find_sources(data: DataSpec) -> frozenset[tuple]:
    """Return what identifies the samples of a row before noise or pruning: one item per file or pool.

    A file is identified by its SHA-256 checksum, so that a copy under another name is the same data; if it no
    longer exists, by its path.
    """
    if isinstance(data, GeneratedData):
        return frozenset((data.generator, data.size, repr(data.settings), seed) for seed in data.pool_seeds)
    try:
        if isinstance(data, CsvData):
            return frozenset([("file", hashlib.sha256(read_content(Path(data.csv))).hexdigest())])
        return frozenset([("file", find_entry(data.dataset).sha256)])
    except ZolossError:
        return frozenset([("name", data.csv if isinstance(data, CsvData) else data.dataset or data.name)])


def find_settings(run: RunResult) -> dict[str, list[str]]:
    """Return the rows of each setting, if all rows are named DATA at SETTING: heart at 200 epochs."""
    settings: dict[str, list[str]] = {}
    for name in run.datasets:
        data, _, setting = name.rpartition(" at ")
        settings.setdefault(setting if data else "", []).append(name)
    return {} if "" in settings else settings


def describe_merged(groups: Sequence[Sequence[str]]) -> str:
    """Return a sentence about rows that count as one data set; empty if every row is a data set of its own."""
    merged = [rows for rows in groups if len(rows) > 1]
    if not merged:
        return ""
    n_rows = sum(map(len, groups))
    listed = "; ".join(" = ".join(rows) for rows in merged)
    return (
        f"{n_rows} rows come from {len(groups)} distinct data sets: rows of the same data count once, by the "
        f"mean of their values ({listed})"
    )


SMALL, MEDIUM, LARGE = 0.2, 0.5, 0.8  # lower limits of Cohen's categories of |d|


def compute_paired_d(differences: Sequence[float]) -> float:
    """Return the mean of k >= 2 paired differences, divided by their standard deviation.

    Unlike t, it does not grow with the number of splits, so it needs no correction for overlapping splits.
    If all differences are equal, it is infinite, or 0 if they are zero.
    """
    mean = fmean(differences)
    if max(differences) == min(differences):
        return 0.0 if mean == 0.0 else math.copysign(math.inf, mean)
    return mean / math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (len(differences) - 1))


def compute_rank_biserial(differences: Sequence[float] | np.ndarray) -> float:
    """Return the share of ranks with positive differences minus that with negative ones; zeros are dropped."""
    left = np.array([d for d in differences if d != 0.0])
    if left.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(left))
    return float(ranks @ np.sign(left) / ranks.sum())


def name_effect(d: float) -> str:
    """Return Cohen's category of a value of d."""
    for word, limit in (("large", LARGE), ("medium", MEDIUM), ("small", SMALL)):
        if abs(d) >= limit:
            return word
    return "negligible"


SIGNIFICANCE_LEVEL = 0.05  # of bold cells in tables
MAX_PERMUTED_DATASETS = 13  # up to this many data sets, SciPy permutes all patterns of signs
DIGITS = 9  # two means of the same counts may differ by rounding beyond these


@dataclass(frozen=True)
class PairComparison:
    """Two learners on one data set: the mean of first minus second over their common splits."""

    dataset: str
    first: str
    second: str
    difference: float
    splits: int
    t: float | None = None
    p: float | None = None
    reason: str = ""  # why there is no test
    effect: float | None = None  # Cohen's d_z: the mean difference in standard deviations of differences


@dataclass(frozen=True)
class SignedRanks:
    """Two learners across data sets, by their means: on how many the first is better, equal, worse."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    difference: float  # mean over data sets of first minus second
    p: float
    holm: float  # p corrected for all tested pairs
    effect: float = 0.0  # rank-biserial correlation: 1 if the first is better on all data sets, -1 if on none


@dataclass(frozen=True)
class Ranks:
    """Average ranks of learners across data sets, and groups that cannot be distinguished."""

    learners: list[str]  # labels, lowest (best) average rank first
    ranks: list[float]  # their average ranks, ascending
    datasets: list[list[str]]  # distinct data sets where all of them have a mean, each by its rows
    alpha: float
    critical_difference: float  # Nemenyi
    friedman_p: float
    groups: list[tuple[int, int]]  # (first, last) positions of maximal groups within it, of 2 or more


# -- one data set -------------------------------------------------------------------------------------


def compute_corrected_t_test(differences: Sequence[float], n_train: int, n_test: int) -> tuple[float, float]:
    """Return t and the two-sided p-value of a mean difference over k >= 2 random splits.

    Splits share samples, so their differences are not independent: the variance of the mean is not s^2 / k but
    (1/k + n_test / n_train) s^2, with k - 1 degrees of freedom. If all differences are equal, p is 1 if
    they are zero, and otherwise 0.
    """
    k, mean = len(differences), fmean(differences)
    if max(differences) == min(differences):
        return (0.0, 1.0) if mean == 0.0 else (math.copysign(math.inf, mean), 0.0)
    variance = sum((d - mean) ** 2 for d in differences) / (k - 1)
    t = mean / math.sqrt((1.0 / k + n_test / n_train) * variance)
    return t, float(2.0 * stats.t.sf(abs(t), k - 1))


def compute_corrected_interval(
    rates: Sequence[float], n_train: float, n_test: float, confidence: float
) -> tuple[float, float]:
    """Return the confidence interval of a mean error rate over k >= 2 splits or folds, within 0 and 1.

    The variance of the mean is corrected for overlapping training parts, as in `compute_corrected_t_test`.
    """
    mean, half = fmean(rates), compute_half_width(rates, n_test / n_train, confidence)
    return max(0.0, mean - half), min(1.0, mean + half)


def compute_proportion_interval(share: float, n: int, confidence: float) -> tuple[float, float]:
    """Return Wilson's confidence interval of a share observed in n independent samples."""
    z = float(stats.norm.ppf((1.0 + confidence) / 2.0))
    centre = (share + z * z / (2 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def compare_pair(run: RunResult, dataset: str, first: str, second: str) -> PairComparison | None:
    """Return the comparison on the splits that both have, matched by number; None if they share none."""
    cells = [run.cells.get((dataset, learner)) for learner in (first, second)]
    if None in cells:
        return None
    one, two = (dict(zip(c.splits, c[run.metric], strict=True)) for c in cells if c is not None)
    common = sorted(one.keys() & two.keys())
    if not common:
        return None
    differences = [one[k] - two[k] for k in common]
    mean = fmean(differences)
    sizes = run.cells[dataset, first].sizes
    reason = _explain_no_test(run, dataset, len(common), sizes)
    if reason or sizes is None:
        return PairComparison(dataset, first, second, mean, len(common), reason=reason)
    t, p = compute_corrected_t_test(differences, *sizes)
    return PairComparison(dataset, first, second, mean, len(common), t, p, effect=compute_paired_d(differences))


def _explain_no_test(run: RunResult, dataset: str, n_splits: int, sizes: Sizes | None) -> str:
    if run.trains_on_all(dataset):
        return "all samples train, so there are no test errors to test"
    if load_metric(run.metric).part != "test":
        return f"the test is for test errors, and this is {run.metric}"
    if sizes is None:
        return "the numbers of training and test samples are unknown"
    return "one split has no variance" if n_splits == 1 else ""


def find_best_learner(run: RunResult, dataset: str) -> str | None:
    """Return the learner with the best mean, the first one on a tie."""
    key = load_metric(run.metric).sort_key
    means = {x: round(key(stat.mean), DIGITS) for x in run.learners if (stat := run.get_stat(dataset, x))}
    return min(means, key=lambda learner: means[learner]) if means else None


def compare_with_best(run: RunResult, dataset: str, learner: str | None = None) -> list[PairComparison]:
    """Compare every other learner with `learner`, or with the data set's best one."""
    reference = learner or find_best_learner(run, dataset)
    if reference is None:
        return []
    pairs = (compare_pair(run, dataset, x, reference) for x in run.learners if x != reference)
    return [comparison for comparison in pairs if comparison is not None]


def find_not_worse(run: RunResult, dataset: str, metric: str) -> set[str]:
    """Return the best learner and those not significantly worse; empty if no test is possible."""
    view = _show_metric(run, metric)
    best, comparisons = find_best_learner(view, dataset), compare_with_best(view, dataset)
    if best is None or any(c.p is None for c in comparisons):
        return set()
    return {best, *(c.first for c in comparisons if c.p is not None and c.p > SIGNIFICANCE_LEVEL)}


def explain_no_tests(run: RunResult, metric: str) -> str:
    """Return why no cell of a metric is bold if bold means significance; empty if some are."""
    view = _show_metric(run, metric)
    found = [c for dataset in run.datasets for c in compare_with_best(view, dataset)]
    if not found:
        return "fewer than two learners have results"
    return found[0].reason if all(c.p is None for c in found) else ""


def _show_metric(run: RunResult, metric: str) -> RunResult:
    """Return the run as if its table showed only this metric, with the cells that provide it."""
    experiment = run.experiment.model_copy(update={"metric": metric, "also": None})
    stored = run.partial | run.cells
    cells = {place: cell for place, cell in stored.items() if cell.get(metric) is not None}
    return replace(run, manifest=replace(run.manifest, experiment=experiment), cells=cells)


# -- across data sets ---------------------------------------------------------------------------------


def check_comparable(run: RunResult, learner: str | None = None) -> None:
    """Raise ResultsError if a run has nothing to compare, or lacks the learner to compare with."""
    name = run.number
    if load_metric(run.metric).direction is None:
        raise ResultsError(f"table '{name}' shows {run.metric}, in which no learner is better than another")
    if len(run.learners) < 2:
        raise ResultsError(f"table '{name}' has only one learner, so there is nothing to compare")
    if learner is not None and learner not in run.learners:
        raise ResultsError(f"table '{name}' has no learner '{learner}'{suggest_nearest(learner, run.learners)}")


def _collect_means(
    run: RunResult, learners: Sequence[str], names: Sequence[str] = ()
) -> tuple[list[list[str]], np.ndarray]:
    """Return the distinct data sets where all these learners have a mean, and the means, lower being better.

    Rows with the same data are averaged, since they are not independent. If `names` are given, only these rows
    count, by the splits that all learners have.
    """
    key = load_metric(run.metric).sort_key
    if names:
        rows = {d: _compute_paired_means(run, d, learners) for d in names}
    else:
        rows = {d: [key(s.mean) for x in learners if (s := run.get_stat(d, x))] for d in run.datasets}
    groups = group_by_data(run, [d for d, row in rows.items() if learners and len(row) == len(learners)])
    means = [np.mean([rows[d] for d in group], axis=0) for group in groups]
    return groups, np.round(means, DIGITS)


def _compute_paired_means(run: RunResult, dataset: str, learners: Sequence[str]) -> list[float]:
    """Return means over the splits that all learners have, lower being better; empty without such splits."""
    metric, values = load_metric(run.metric), [run.get_values_by_split(dataset, x) for x in learners]
    common = sorted(set.intersection(*map(set, values)))
    return [metric.sort_key(metric.aggregate([v[k] for k in common]).mean) for v in values] if common else []


def compute_mean_ranks(run: RunResult, metric: str) -> tuple[dict[str, float], list[list[str]]]:
    """Return each learner's mean rank in a metric, and the distinct data sets that it is averaged over."""
    view = _show_metric(run, metric)
    learners = [x for x in view.learners if any(view.get_stat(d, x) for d in view.datasets)]
    datasets, means = _collect_means(view, learners)
    if not datasets:
        return {}, []
    ranks = stats.rankdata(means, axis=1).mean(axis=0)
    return dict(zip(learners, ranks.tolist(), strict=True)), datasets


def compute_average_ranks(run: RunResult, alpha: float = 0.05, names: Sequence[str] = ()) -> Ranks:
    """Rank the learners on each data set, 1 being the best and ties averaged, and average over data sets.

    If `names` are given, only these data sets count, by the splits that all learners have. Rows with the same
    data count as one data set, by the means of their values. Two learners differ if their average ranks differ
    by at least Nemenyi's critical difference. Raises ResultsError if there is nothing to rank: fewer than three
    learners or two data sets.
    """
    check_comparable(run)
    name = run.number
    learners = [x for x in run.learners if any(run.get_stat(d, x) for d in names or run.datasets)]
    if len(learners) < 3:
        raise ResultsError(f"there are no ranks in table '{name}': fewer than three learners have results")
    datasets, means = _collect_means(run, learners, names)
    if len(datasets) < 2:
        raise ResultsError(
            f"there are no ranks in table '{name}': all learners have results on fewer than two distinct data "
            "sets"
        )
    table = stats.rankdata(means, axis=1)
    average = table.mean(axis=0)
    order = np.argsort(average, kind="stable")
    ranks = [float(average[i]) for i in order]
    difference = compute_critical_difference(len(learners), len(datasets), alpha)
    friedman, groups = _compute_friedman_p(table), _find_groups(ranks, difference)
    return Ranks([learners[i] for i in order], ranks, datasets, alpha, difference, friedman, groups)


def compute_critical_difference(learners: int, datasets: int, alpha: float) -> float:
    """Return Nemenyi's q sqrt(k (k+1) / (6 N)), with q of the studentized range divided by sqrt(2)."""
    q = stats.studentized_range.ppf(1.0 - alpha, learners, np.inf) / math.sqrt(2.0)
    return float(q * math.sqrt(learners * (learners + 1) / (6.0 * datasets)))


def _compute_friedman_p(ranks: np.ndarray) -> float:
    """Return the p-value of Friedman's test; 1 if all learners tie on every data set."""
    if np.all(ranks == ranks[:, :1]):
        return 1.0
    return float(stats.friedmanchisquare(*ranks.T).pvalue)


def _find_groups(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """Return the maximal runs of adjacent ranks that are within the critical difference."""
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(i for i, other in enumerate(ranks) if i == first or other - rank < difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def compute_signed_rank_p(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; zero differences are dropped.

    Exact, except for more than 13 data sets with tied differences, where the normal approximation is close.
    """
    left = np.array([d for d in differences if d != 0.0])
    if left.size == 0:
        return 1.0
    method = "exact"
    if np.unique(np.abs(left)).size < left.size:  # the tabulated distribution is for ranks without ties
        method = stats.PermutationMethod() if left.size <= MAX_PERMUTED_DATASETS else "approx"
    return float(stats.wilcoxon(left, method=method).pvalue)


def compute_least_signed_rank_p(datasets: int) -> float:
    """Return the smallest p-value possible for this many data sets, if all differences have one sign."""
    return min(1.0, 2.0 ** (1 - datasets))


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's step-down procedure."""
    corrected, highest = [0.0] * len(p_values), 0.0
    for place, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[i]))
        corrected[i] = highest
    return corrected


def compare_by_signed_ranks(
    run: RunResult, learner: str | None = None
) -> tuple[list[list[str]], list[SignedRanks]]:
    """Return the distinct data sets, and the signed-rank test of all pairs, or of those with `learner`.

    Only data sets where all learners have results count, so that every pair is tested on the same ones.
    """
    learners = [x for x in run.learners if any(run.get_stat(d, x) for d in run.datasets)]
    datasets, means = _collect_means(run, learners)
    if not datasets:
        return [], []
    sign = -1.0 if load_metric(run.metric).direction == "higher" else 1.0
    pairs = [pair for pair in itertools.combinations(learners, 2) if learner is None or learner in pair]
    columns = dict(zip(learners, means.T, strict=True))
    by_pair = [np.round(columns[first] - columns[second], DIGITS) for first, second in pairs]
    p_values = [compute_signed_rank_p(differences) for differences in by_pair]
    found = []
    for pair, d, p, corrected in zip(pairs, by_pair, p_values, correct_by_holm(p_values), strict=True):
        wins, ties, losses = (int(part.sum()) for part in (d < 0, d == 0, d > 0))
        mean, effect = sign * float(d.mean()), compute_rank_biserial(-d)
        found.append(SignedRanks(*pair, wins, ties, losses, mean, p, corrected, effect))
    return datasets, found
