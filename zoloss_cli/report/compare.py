"""Published numbers that no single record provides: improvements between columns, and counts of data sets."""

from __future__ import annotations

import functools
import itertools
import math
import textwrap
from dataclasses import dataclass, replace
from typing import Any

from zoloss_cli.config.models import PREDEFINED, EmbeddedData, Published
from zoloss_cli.data.dataset import find_entry
from zoloss_cli.metrics.base import Metric, Sizes, Stat
from zoloss_cli.registry import load_metric
from zoloss_cli.report import cells as improvement
from zoloss_cli.report.papers import (
    FITTED,
    NO_TEST,
    OTHER_DATA,
    PublishedValue,
    find_choices,
    find_published_cells,
    name_choices,
    name_place,
)
from zoloss_cli.report.runs import RunResult, Spread, compute_ratio_z, compute_spread, find_stars
from zoloss_cli.utils.files import PUBLISHED_FOLDER


class ImprovementPercent(Metric):
    """By how many percent the best of some columns is below the best of others."""

    name = "percent"
    direction = "higher"
    comparison = "match"
    decimals = published_decimals = 1
    heading = "%"

    def compute(self, record: Any, sizes: Sizes) -> float:
        """Return the value of one record."""
        raise TypeError("an improvement is of two learners' records")

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return the number of decimals to show."""
        return self.decimals


class DataCount(Metric):
    """Base class of what a table says about its data sets; `exact_if_constant`, since nothing is random."""

    direction = None
    decimals = published_decimals = 0
    exact_if_constant = True

    def compute(self, record: Any, sizes: Sizes) -> float:
        """Return the value of one record."""
        raise TypeError("a count of a data set is of no record")

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return the number of decimals to show."""
        return self.decimals


class SampleCount(DataCount):
    """Samples of a data set."""

    name = heading = "samples"


class TrainingSampleCount(DataCount):
    """Training samples of a data set; all samples if it has no predefined test part."""

    name = "training_samples"
    heading = "training samples"


class TestSampleCount(DataCount):
    """Test samples of a data set with a predefined test part."""

    __test__ = False  # not a test class, despite its name
    name = "test_samples"
    heading = "test samples"


class FeatureCount(DataCount):
    """Features of a data set."""

    name = heading = "features"


class ClassCount(DataCount):
    """Classes of a data set."""

    name = heading = "classes"


DERIVED: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        ImprovementPercent(),
        SampleCount(),
        TrainingSampleCount(),
        TestSampleCount(),
        FeatureCount(),
        ClassCount(),
    )
}


def load_compared_metric(name: str) -> Metric:
    """Return a metric of records, or one of those above."""
    return DERIVED.get(name) or load_metric(name)


EQUAL, BETTER, WORSE, DIFFERENT = "=", "better", "worse", "different"

COLUMNS = (
    "paper",
    "table",
    "dataset",
    "learner",
    "metric",
    "mean",
    "stderr",
    "splits",
    "published",
    "published_stderr",
    "z",
    "match",
    "ratio",
    "apart",
    "choices",
)


@dataclass(frozen=True)
class CellComparison:
    """One cell: ours, the published one, and how they compare, by the metric's own comparison.

    `apart` says why a cell is counted apart: it is 'fitted', on 'other data', or too uncertain for a test ('no
    test'). `choices` names the choices that it depends on; `generated` says whether its data are generated.
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
        """Return whether it is a number without randomness, both ours and as published."""
        return self.comparison == "match" and load_compared_metric(self.metric).comparison == "z"

    def is_beyond(self, limit: float) -> bool:
        """Return whether the cell deserves a look: off in z, a different loss, or a longer time."""
        if self.comparison == "ratio":
            return self.ratio is not None and self.ratio > 1.0
        if self.comparison == "match" and math.isnan(self.z):
            return self.match != EQUAL
        return abs(self.z) > limit

    def fails(self, limit: float) -> bool:
        """Return whether it is beyond a limit; a better loss or improvement is not."""
        one_sided = self.comparison == "match" and not self.is_exact
        return self.is_beyond(limit) and not (one_sided and self.match == BETTER)


def compare_digits(ours: float, theirs: PublishedValue) -> str:
    """Return the match of a number rounded to the published one's decimals, like printf."""
    rounded = float(f"{ours:.{theirs.decimals}f}")
    return EQUAL if rounded == theirs.value else BETTER if ours < theirs.value else WORSE


def drop_repeated(cells: list[CellComparison]) -> list[CellComparison]:
    """Return each distinct cell once: the thesis's tables repeat the paper's, number by number."""
    return list({(c.dataset, c.learner, c.metric, c.published, c.mean): c for c in cells}.values())


DATA = "data"  # takes the place of the learner in what a table says about its data sets
# Tables that only describe data sets, by the table whose run has these data sets.
DESCRIBING_TABLES = {"li-thesis-2006/4.2": "4.1"}


def compare_improvements(run: RunResult) -> list[CellComparison]:
    """Compare the column '%' with the published one.

    Without randomness, it matches to the digit or not. Otherwise z divides the difference by its standard
    error: our two columns' errors, propagated to their ratio split by split, and the same spread for the
    published number, which is from one draw and its own number of splits.
    """
    cells = []
    published, mirrored = find_published_cells(run.experiment.published), run.experiment.published
    for dataset in run.datasets:
        theirs = improvement.find_published_improvement(run, published, dataset)
        ours = improvement.compute_our_improvement(run, dataset)
        if theirs is None or ours is None or not _has_both_sides(run, dataset):
            continue
        assert mirrored is not None
        names = (mirrored.paper, name_place(mirrored), dataset, improvement.LEARNER, improvement.METRIC)
        spread = improvement.compute_improvement_spread(run, dataset)
        splits = min(len(run.cells[dataset, x]) for x in improvement.find_best(run, dataset))
        found = compare_digits(ours, theirs)
        match = found if found == EQUAL else BETTER if ours > theirs.value else WORSE
        error = 0.0
        if spread is not None:
            own_draw = math.sqrt(spread.between + spread.within / mirrored.runs)
            error = math.hypot(spread.stderr, own_draw)
        if error == 0.0:
            cells.append(CellComparison(*names, ours, math.nan, splits, theirs.value, None, match=match))
            continue
        assert spread is not None
        rounding = 10.0**-theirs.decimals / math.sqrt(12.0)
        z = (ours - theirs.value) / math.hypot(error, rounding)
        match = "" if match == EQUAL else match  # the same number by chance is not a match
        cells.append(CellComparison(*names, ours, spread.stderr, splits, theirs.value, None, z=z, match=match))
    return cells


def _has_both_sides(run: RunResult, dataset: str) -> bool:
    """Return whether all columns of an improvement have results: the best of only some is another number."""
    sides = run.experiment.improvement
    return sides is not None and all((dataset, learner) in run.cells for learner in (*sides.of, *sides.over))


def compare_data_counts(run: RunResult) -> list[CellComparison]:
    """Compare what the run's table, or a related one, says about its data sets with the data of the run."""
    mirrored = run.experiment.published
    if mirrored is None:
        return []
    places = [mirrored]
    if describing := DESCRIBING_TABLES.get(run.full_name):
        places.append(Published(paper=mirrored.paper, table=describing))
    return [
        _compare_count(run, place, dataset, metric, theirs)
        for place in places
        for (dataset, learner, metric), theirs in find_published_cells(place).items()
        if learner == DATA and isinstance(DERIVED.get(metric), DataCount) and _has_embedded(run, dataset)
    ]


def _has_embedded(run: RunResult, dataset: str) -> bool:
    """Return whether a run has results on an embedded data set with this name."""
    if dataset not in {name for name, _ in run.cells}:
        return False
    spec = run.get_data(dataset)
    return isinstance(spec, EmbeddedData) and spec.source == "embedded"


def _compare_count(
    run: RunResult, place: Published, dataset: str, metric: str, theirs: PublishedValue
) -> CellComparison:
    ours = count_data(run, dataset)[metric]
    match = EQUAL if ours == theirs.value else DIFFERENT
    names = (place.paper, name_place(place), dataset, DATA, metric)
    return CellComparison(*names, float(ours), math.nan, 1, theirs.value, None, match=match)


def count_data(run: RunResult, dataset: str) -> dict[str, int]:
    """Return the counts of one of a run's fixed data sets, by the names of `DataCount` metrics."""
    spec = run.get_data(dataset)
    assert isinstance(spec, EmbeddedData), "only fixed data sets are counted"
    entry = find_entry(spec.dataset or dataset)
    predefined = (spec.train or run.experiment.split.train) == PREDEFINED
    n_train = entry.train_rows if predefined and entry.train_rows else entry.rows
    return {
        "samples": entry.rows,
        "training_samples": n_train,
        "test_samples": entry.rows - n_train,
        "features": entry.features,
        "classes": len(entry.classes),
    }


def compare_run(run: RunResult) -> list[CellComparison]:
    """Compare every cell of a run that is also in its published table.

    Errors: z = (ours - published) / sqrt(variances): the two standard errors over splits, the rounding of the
    published number, and the variance of the data on either side: the paper has one pool of a generated set and
    one draw of the noise; we have as many as the config says, and the variance between ours stands for the
    published one. Our `stderr` column includes our share of it. Iterations are published without a standard
    error: the spread of ours over splits stands for both sides. Losses, which are counts, are equal, better or
    worse; if ours vary over draws or splits, z says whether the published one is consistent with being one more
    of them. Times are compared by their ratio. Ratios of costs: z of their logarithms (see ratios.py), or no
    test. Errors without any randomness, published without ± and the same in all of our splits, are equal if
    they agree to the published digit, and so are counts of data sets. Cells that depend on a choice made by
    nearness to the published values, or on other data, are marked as counted apart (see
    published/fitted_choices.py).
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
    """Return the cell with what it depends on, and how it counts: other data first, then without a test."""
    choices = find_choices(run, cell.dataset, cell.learner)
    kinds = {choice.kind for choice in choices}
    apart = OTHER_DATA if OTHER_DATA in kinds else cell.apart or (FITTED if kinds else "")
    generated = run.get_generator(cell.dataset) is not None
    return replace(cell, apart=apart, choices=name_choices(choices), generated=generated)


def _compare_cell(
    run: RunResult, place: tuple[str, str], metric: Metric, ours: Stat, theirs: PublishedValue
) -> CellComparison:
    mirrored = run.experiment.published
    assert mirrored is not None
    published_stderr = theirs.stderr
    spread = compute_spread(run.group_by_draw(*place, metric.name))
    stderr, z, match, ratio, apart = ours.stderr, math.nan, "", None, ""
    if metric.comparison == "ratio":
        ratio = ours.mean / theirs.value if theirs.value else None
    elif metric.comparison == "match":
        z, match = _compare_losses(ours.mean, theirs.value, spread)
        stderr = spread.stderr if ours.splits > 1 else math.nan
    elif metric.aggregation == "geometric":
        z = compute_ratio_z(ours, theirs, mirrored.runs)
        apart = NO_TEST if math.isnan(z) else ""
    elif theirs.stderr is None and metric.exact_if_constant and run.is_constant(*place, metric.name):
        stderr, match = math.nan, compare_digits(ours.mean, theirs)
    else:
        alone = 0.0 if run.runs_once(*place) else math.nan
        own = spread.stderr if ours.splits > 1 else alone
        if theirs.stderr is None and metric.assumes_own_variance:
            theirs = theirs._replace(stderr=math.sqrt(spread.within / mirrored.runs))
        rounding = 10.0**-theirs.decimals / math.sqrt(12.0)
        error = math.hypot(own, theirs.stderr or 0.0, math.sqrt(spread.between), rounding)
        stderr, z = own, (ours.mean - theirs.value) / error
    names = (mirrored.paper, name_place(mirrored), *place, metric.name)
    numbers = (ours.mean, stderr, ours.splits, theirs.value, published_stderr)
    return CellComparison(*names, *numbers, z=z, match=match, ratio=ratio, apart=apart)


def _compare_losses(ours: float, theirs: float, spread: Spread) -> tuple[float, str]:
    """Return z and match. The published one is of one run on one draw; if ours never vary, there is no z."""
    match = BETTER if ours < theirs else WORSE if ours > theirs else ""
    one_more = math.sqrt(spread.between + spread.within)
    if one_more == 0.0:
        return math.nan, match or EQUAL
    return (ours - theirs) / math.hypot(one_more, spread.stderr), match


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


REMARKS = PUBLISHED_FOLDER / "remarks.yaml"
UNEXPLAINED = "Not looked into yet."


@functools.cache
def read_remarks() -> list[dict]:
    """Return all remarks as in the file."""
    import yaml

    return yaml.safe_load(REMARKS.read_text(encoding="utf-8"))


def find_remark(cell: CellComparison) -> str:
    """Return what is known about why a cell differs from the published value; empty if nothing is."""
    for entry in read_remarks():
        if (
            cell.paper in entry["papers"]
            and cell.table in entry.get("tables", [cell.table])
            and cell.learner in entry.get("learners", [cell.learner])
            and cell.metric == entry.get("metric", cell.metric)
            and cell.dataset in entry.get("datasets", [cell.dataset])
        ):
            return entry["remark"]
    return ""


def group_by_remark(cells: list[CellComparison]) -> dict[str, list[CellComparison]]:
    """Return cells by what is known about them, in order; those without a remark come last."""
    groups: dict[str, list[CellComparison]] = {}
    for cell in cells:
        groups.setdefault(find_remark(cell) or UNEXPLAINED, []).append(cell)
    if UNEXPLAINED in groups:
        groups[UNEXPLAINED] = groups.pop(UNEXPLAINED)
    return groups


def format_remarks(cells: list[CellComparison]) -> list[str]:
    """Return the remarks on these cells as lines of text, each after the cells that it concerns."""
    lines = [""] if cells else []
    for remark, part in group_by_remark(cells).items():
        places: dict[str, dict[str, None]] = {}
        for cell in part:
            places.setdefault(f"{cell.learner}, {cell.metric}", {})[cell.dataset] = None
        names = "; ".join(f"{learner} on {', '.join(datasets)}" for learner, datasets in places.items())
        lines += textwrap.wrap(f"- {names}: {remark}", 110, subsequent_indent="  ")
    return lines
