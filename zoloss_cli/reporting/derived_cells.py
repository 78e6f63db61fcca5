"""Cells of published tables that no single record provides, compared with the published ones."""

from __future__ import annotations

import math

from zoloss_cli.config.data_models import PREDEFINED, EmbeddedData
from zoloss_cli.config.models import Published
from zoloss_cli.datasets.tables import find_entry
from zoloss_cli.reporting import improvement
from zoloss_cli.reporting.comparison import BETTER, DIFFERENT, EQUAL, WORSE, CellComparison, compare_digits
from zoloss_cli.reporting.derived_metrics import DERIVED, DataCount
from zoloss_cli.reporting.published.values import PublishedValue, find_published_cells, name_place
from zoloss_cli.reporting.run_result import RunResult

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
