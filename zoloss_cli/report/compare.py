"""Compare our cells with the published ones, by z, match or ratio, and the counts that describe data sets."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from zoloss_cli.config.models import PREDEFINED, EmbeddedData, Published
from zoloss_cli.metrics.base import Metric, Sizes, Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.report.papers import (
    NO_TEST,
    OTHER_DATA,
    PublishedValue,
    find_choices,
    find_published_cells,
    name_choices,
    name_place,
)
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.tables import (
    IMPROVEMENT,
    PERCENT,
    compute_our_improvement,
    find_best_of_sides,
    find_published_improvement,
    find_stars,
)


class DerivedMetric(Metric):
    """Base class of numbers that are not computed from one record, such as the samples of a data set."""

    decimals = published_decimals = 0
    exact_if_constant = True

    def compute(self, record: Any, sizes: Sizes) -> float:
        """Raise TypeError: it has no value for one record."""
        raise TypeError("it is not computed from one record")

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return the number of decimals to show."""
        return self.decimals


class ImprovementPercent(DerivedMetric):
    """Percentage by which the best of some columns is below the best of others."""

    name = PERCENT
    direction = "higher"
    comparison = "match"
    decimals = published_decimals = 1
    exact_if_constant = False
    heading = "%"


class DataCount(DerivedMetric):
    """Base class of counts that describe a data set."""

    direction = None


DATA_COUNTS = ("samples", "training_samples", "test_samples", "features", "classes")
DERIVED: dict[str, Metric] = {PERCENT: ImprovementPercent()} | {
    name: type("DataCount", (DataCount,), {"name": name, "heading": name.replace("_", " ")})()
    for name in DATA_COUNTS
}


def load_compared_metric(name: str) -> Metric:
    """Return a derived metric, or else a registered one."""
    return DERIVED.get(name) or load_metric(name)


EQUAL, BETTER, WORSE, DIFFERENT = "=", "better", "worse", "different"

COLUMNS = (
    *("paper", "table", "dataset", "learner", "metric", "mean", "stderr", "splits"),
    *("published", "published_stderr", "difference_stderr", "z", "match", "ratio"),
    *("agreement", "apart", "choices"),
)


@dataclass(frozen=True)
class CellComparison:
    """One cell: ours, the published one, and how they compare, by the metric's own comparison.

    z is the difference over `difference_stderr`. `agreement` is what agreement rests on, a key of AGREEMENT;
    `apart` is why a cell cannot be judged: it is on 'other data', or too uncertain ('no test'). `choices` names
    the choices that it depends on; `generated` is whether its data are generated.
    """

    paper: str
    table: str
    dataset: str
    learner: str
    metric: str
    mean: float
    stderr: float
    splits: int
    published: float
    published_stderr: float | None
    z: float = math.nan
    match: str = ""
    ratio: float | None = None
    difference_stderr: float = math.nan
    agreement: str = "stated"
    apart: str = ""
    choices: str = ""
    generated: bool = False

    @property
    def difference(self) -> float:
        """Return ours minus the published value."""
        return self.mean - self.published

    @property
    def comparison(self) -> str:
        """Return how the cell is compared: 'z', 'match' or 'ratio'."""
        return "match" if self.match else load_compared_metric(self.metric).comparison

    @property
    def is_exact(self) -> bool:
        """Return whether the number is deterministic, both ours and the published one."""
        return self.comparison == "match" and load_compared_metric(self.metric).comparison == "z"

    def is_beyond(self, limit: float) -> bool:
        """Return whether |z| is above the limit, the loss differs, or the time is longer."""
        if self.comparison == "ratio":
            return self.ratio is not None and self.ratio > 1.0
        if self.comparison == "match" and math.isnan(self.z):
            return self.match != EQUAL
        return abs(self.z) > limit

    def fails(self, limit: float) -> bool:
        """Return whether it is beyond a limit; a better loss or improvement does not fail."""
        one_sided = self.comparison == "match" and not self.is_exact
        return self.is_beyond(limit) and not (one_sided and self.match == BETTER)


def compare_digits(ours: float, theirs: PublishedValue) -> str:
    """Return how a number compares after rounding to the published decimals, as printf does."""
    rounded = float(f"{ours:.{theirs.decimals}f}")
    return EQUAL if rounded == theirs.value else BETTER if ours < theirs.value else WORSE


def drop_repeated(cells: list[CellComparison]) -> list[CellComparison]:
    """Return each distinct cell once: the thesis's tables repeat the paper's, number by number."""
    return list({(c.dataset, c.learner, c.metric, c.published, c.mean): c for c in cells}.values())


DATA = "data"  # the learner column of counts that describe data sets
# Tables that only describe data sets, by the table whose run has these data sets.
DESCRIBING_TABLES = {"li-thesis-2006/4.2": "4.1"}


def compare_improvements(run: RunResult) -> list[CellComparison]:
    """Compare the column '%' with the published one.

    If it is deterministic, it matches to the digit or not. Otherwise z divides the difference by its standard
    error: our two columns' errors, propagated to their ratio split by split, and the same spread for the
    published number, which is from one draw and its own number of splits.
    """
    mirrored, sides = run.experiment.published, run.experiment.improvement
    if mirrored is None or sides is None:
        return []
    cells, published = [], find_published_cells(mirrored)
    for dataset in run.datasets:
        theirs = find_published_improvement(run, published, dataset)
        ours = compute_our_improvement(run, dataset)
        # The best of only some columns would be a different number.
        is_complete = all((dataset, learner) in run.cells for learner in (*sides.of, *sides.over))
        if theirs is None or ours is None or not is_complete:
            continue
        spread = compute_improvement_spread(run, dataset)
        error = 0.0
        if spread is not None:
            own_draw = math.sqrt(spread.between + spread.within / mirrored.runs)
            error = math.hypot(spread.stderr, own_draw)
        match = compare_digits(ours, theirs)
        if match != EQUAL:
            match = BETTER if ours > theirs.value else WORSE
        stderr, of_difference = math.nan, math.nan
        if spread is not None and error > 0.0:
            stderr, of_difference = spread.stderr, math.hypot(error, theirs.rounding)
            match = "" if match == EQUAL else match  # equality by chance is not a match
        splits = min(len(run.cells[dataset, learner]) for learner in find_best_of_sides(run, dataset))
        cells.append(
            CellComparison(
                *(mirrored.paper, name_place(mirrored), dataset, IMPROVEMENT, PERCENT),
                *(ours, stderr, splits, theirs.value, None),
                z=(ours - theirs.value) / of_difference,
                match=match,
                difference_stderr=of_difference,
                agreement=theirs.agreement,
            )
        )
    return cells


def compute_improvement_spread(run: RunResult, dataset: str) -> Spread | None:
    """Return the spread of the improvement, linear in the two best learners' values on the same splits.

    100 (1 - a / b) changes by -100 / b for each additional error of a, and by 100 a / b^2 for each of b. None
    if that is undefined.
    """
    best = find_best_of_sides(run, dataset)
    if not best:
        return None
    of, over = (run.get_values_by_split(dataset, learner) for learner in best)
    both = sorted(of.keys() & over.keys())
    mean_of, mean_over = (sum(side.values()) / len(side) for side in (of, over))
    if not both or mean_over == 0.0:
        return None
    groups: dict[int, list[float]] = {}
    for split in both:
        moved = -100.0 / mean_over * of[split] + 100.0 * mean_of / mean_over**2 * over[split]
        groups.setdefault(split % run.count_draws(dataset), []).append(moved)
    return compute_spread(list(groups.values()))


def compare_data_counts(run: RunResult) -> list[CellComparison]:
    """Compare the counts that the run's table, or a related one, gives for data sets with the run's data."""
    mirrored = run.experiment.published
    if mirrored is None:
        return []
    places, cells = [mirrored], []
    if describing := DESCRIBING_TABLES.get(run.full_name):
        places.append(Published(paper=mirrored.paper, table=describing))
    with_results = {dataset for dataset, _ in run.cells}
    for place in places:
        for (dataset, learner, metric), theirs in find_published_cells(place).items():
            if learner != DATA or metric not in DATA_COUNTS or dataset not in with_results:
                continue
            if counts := count_data(run, dataset):
                ours, names = counts[metric], (place.paper, name_place(place), dataset, DATA, metric)
                match = EQUAL if ours == theirs.value else DIFFERENT
                numbers = (float(ours), math.nan, 1, theirs.value, None)
                cells.append(CellComparison(*names, *numbers, match=match, agreement=theirs.agreement))
    return cells


def count_data(run: RunResult, dataset: str) -> dict[str, int]:
    """Return the DATA_COUNTS of one of a run's data sets; empty if it is not embedded."""
    from zoloss_cli.data.dataset import find_entry

    spec = run.get_data(dataset)
    if not (isinstance(spec, EmbeddedData) and spec.source == "embedded"):
        return {}
    entry = find_entry(spec.dataset or dataset)
    predefined = run.experiment.split.choose_parts(spec).train == PREDEFINED
    n_train = entry.train_rows if predefined and entry.train_rows else entry.rows
    counts = (entry.rows, n_train, entry.rows - n_train, entry.features, len(entry.classes))
    return dict(zip(DATA_COUNTS, counts, strict=True))


def compare_run(run: RunResult) -> list[CellComparison]:
    """Compare every cell of a run that is also in its published table.

    Errors: z = (ours - published) / sqrt(variances): the two standard errors over splits, the rounding of the
    published number, and the variance of the data on either side: the paper has one pool of a generated set and
    one draw of the noise; we have as many as the config says, and the variance between ours estimates the
    published one. Our `stderr` column includes our share of it. Iterations are published without a standard
    error: our spread over splits is used for both sides. Losses, which are counts, are equal, better or
    worse; if ours vary over draws or splits, z says whether the published one is consistent with being one more
    of them. Times are compared by their ratio. Ratios of costs: z of their logarithms (`compute_ratio_z`), or
    no test. Deterministic errors, published without ± and the same in all of our splits, are equal if they
    agree to the published digit, and so are counts of data sets. `open_choices.yaml` has the choices that cells
    depend on.
    """
    published = find_published_cells(run.experiment.published)
    cells = []
    for dataset in run.datasets:
        for learner, metric in itertools.product(run.learners, run.metrics):
            ours, theirs = run.get_stat(dataset, learner, metric), published.get((dataset, learner, metric))
            if ours is not None and theirs is not None:
                cells.append(_compare_cell(run, (dataset, learner), load_metric(metric), ours, theirs))
    cells += [*compare_improvements(run), *compare_data_counts(run)]
    return [_set_apart(run, cell) for cell in cells]


def _set_apart(run: RunResult, cell: CellComparison) -> CellComparison:
    """Return the cell with its choices and why it cannot be judged: other data first, then no test."""
    choices = find_choices(run, cell.dataset, cell.learner) if cell.learner != DATA else []
    apart = OTHER_DATA if any(choice.kind == OTHER_DATA for choice in choices) else cell.apart
    generated = run.get_generator(cell.dataset) is not None
    return replace(cell, apart=apart, choices=name_choices(choices), generated=generated)


def _compare_cell(
    run: RunResult, place: tuple[str, str], metric: Metric, ours: Stat, theirs: PublishedValue
) -> CellComparison:
    mirrored = run.experiment.published
    assert mirrored is not None
    published_stderr = theirs.stderr
    spread = compute_spread(run.group_by_draw(*place, metric.name))
    stderr, error, z, match, ratio, apart = ours.stderr, math.nan, math.nan, "", None, ""
    if metric.comparison == "ratio":
        ratio = ours.mean / theirs.value if theirs.value else None
    elif metric.comparison == "match":
        error, match = _compare_losses(ours.mean, theirs.value, spread)
        z = (ours.mean - theirs.value) / error
        stderr = spread.stderr if ours.splits > 1 else math.nan
    elif metric.aggregation == "geometric":
        z = compute_ratio_z(ours, theirs, mirrored.runs)
        apart = NO_TEST if math.isnan(z) else ""
    elif theirs.stderr is None and metric.exact_if_constant and len(set(run.cells[place][metric.name])) == 1:
        stderr, match = math.nan, compare_digits(ours.mean, theirs)
    else:
        runs_once = (*place, 1) in [(c.dataset, c.learner, c.repeats) for c in run.manifest.cells]
        own = spread.stderr if ours.splits > 1 else 0.0 if runs_once else math.nan
        if theirs.stderr is None and metric.assumes_own_variance:
            theirs = theirs._replace(stderr=math.sqrt(spread.within / mirrored.runs))
        error = math.hypot(own, theirs.stderr or 0.0, math.sqrt(spread.between), theirs.rounding)
        stderr, z = own, (ours.mean - theirs.value) / error
    names = (mirrored.paper, name_place(mirrored), *place, metric.name)
    numbers = (ours.mean, stderr, ours.splits, theirs.value, published_stderr)
    found = CellComparison(*names, *numbers, z=z, match=match, ratio=ratio, difference_stderr=error)
    return replace(found, agreement=theirs.agreement, apart=apart)


def _compare_losses(ours: float, theirs: float, spread: Spread) -> tuple[float, str]:
    """Return the standard error of the difference, NaN if ours never vary, and match.

    The published loss is of one run on one draw.
    """
    match = BETTER if ours < theirs else WORSE if ours > theirs else ""
    one_more = math.sqrt(spread.between + spread.within)
    if one_more == 0.0:
        return math.nan, match or EQUAL
    return math.hypot(one_more, spread.stderr), match


def compare_stars(run: RunResult, runs: list[RunResult]) -> tuple[int, list[str]]:
    """Return how many published cells agree with ours on having a star, and which differ."""
    ours = find_stars(run, runs)
    same, differ = 0, []
    for (dataset, learner, metric), cell in find_published_cells(run.experiment.published).items():
        if metric != run.metric or run.get_stat(dataset, learner) is None:
            continue
        if cell.star == ((dataset, learner) in ours):
            same += 1
        else:
            differ.append(f"{learner} on {dataset} ({'published only' if cell.star else 'ours only'})")
    return same, differ


def find_single_pools(runs: list[RunResult]) -> list[str]:
    """Return the generated data of tables with only one pool, whose variance no z includes."""
    return [
        f"{dataset} ({run.full_name})"
        for run in runs
        for dataset in run.datasets
        if run.table and run.get_generator(dataset) and run.count_draws(dataset) == 1
    ]


MAX_LOG_ERROR = 0.5  # beyond this, a number 2.7 times as large would agree


def compute_ratio_z(ours: Stat, published: PublishedValue, runs: int) -> float:
    """Return the distance of two geometric means: the difference of their logarithms over its standard error.

    No error is published: the `runs` trials behind the number are assumed to spread as ours do. NaN if no
    test is possible: a few separable splits make the error of the logarithm so large that anything would agree,
    or the number is published as 0.0000, which has no logarithm.
    """
    if published.value == 0.0 or ours.mean == 0.0:
        return math.nan
    error_of_log = ours.stderr / ours.mean
    rounding = published.rounding / published.value
    error = math.hypot(error_of_log, error_of_log * math.sqrt(ours.splits / runs), rounding)
    return math.log(ours.mean / published.value) / error if error <= MAX_LOG_ERROR else math.nan


@dataclass(frozen=True)
class Spread:
    """Variances between draws and of splits within one."""

    between: float  # the two variances
    within: float
    n_draws: int  # numbers of draws and values that they are estimated from
    n_values: int

    @property
    def stderr(self) -> float:
        """Return the standard error of the mean over all values."""
        return math.sqrt(self.between / self.n_draws + self.within / self.n_values)


def compute_spread(groups: list[list[float]]) -> Spread:
    """Return the spread of values grouped by draw.

    If every draw has only one value, the two cannot be distinguished, and all variance counts as between draws.
    """
    n_values = sum(len(group) for group in groups)
    within = fmean(_compute_variance(group) for group in groups)
    if len(groups) < 2:
        return Spread(0.0, within, 1, n_values)
    between = _compute_variance([fmean(g) for g in groups]) - within / min(len(g) for g in groups)
    return Spread(max(0.0, between), within, len(groups), n_values)


def _compute_variance(values: list[float]) -> float:
    # statistics.variance computes with exact fractions, which is slower than reading the results.
    mean, n = fmean(values), len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (n - 1) if n > 1 else 0.0
