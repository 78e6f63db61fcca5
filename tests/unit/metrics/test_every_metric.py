"""What holds for every metric that is registered."""

import inspect
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.metrics.base import Metric, PooledMeasurement, Sizes
from zoloss_cli.registry import METRIC_ALIASES, METRICS, list_metrics, load_metric
from zoloss_cli.report.runs import CellResult
from zoloss_cli.results.record import FitRecord, Measurement, MeasureRecord

CHOICES = {
    "source": ("fit", "measure", "any"),
    "part": ("train", "test", None),
    "direction": ("lower", "higher", None),
    "aggregation": ("mean", "geometric", "median", "max", "min", "sum"),
    "comparison": ("z", "match", "ratio"),
    "n_classes": (0, 2),
}
FIT = FitRecord(
    0,
    3,
    2,
    train_confusion=[[4, 1], [2, 3]],
    test_confusion=[[2, 1], [1, 1]],
    train_errors_lenient=2,
    fit_time=0.5,
    time_to_best=0.25,
    lower_bound=1.0,
    time_to_bound=0.125,
    proof="cones of directions",
    n_cones=5,
    part_bound=1.0,
    n_parts=1,
    iterations=7,
    error_counts=11,
    cost=0.75,
    counted=3.0,
    bound=4.0,
    success_share=0.125,
    success_bound=0.0625,
    test_scores=([-1.0, 0.5, -2.0], [1.0, -0.25]),
)
MEASURED = PooledMeasurement(
    [
        MeasureRecord(
            0,
            Measurement(
                complexity=4,
                principal_points=3,
                principal_subsets=5,
                points=[],
                pairs=[],
                clusters=[0, 0, 1],
                exact=True,
                permutations=2,
                growth=[1, 2, 4],
                times=[2, 2, 2],
                least_squares=[0.5, 1.0, 2.0],
                growth_by_size=[1, 2, 4],
                flipped=[2],
            ),
            fit_time=0.5,
        )
    ]
)
EXPECTED = {
    "test_error": 40.0,
    "train_error": 30.0,
    "train_01_loss": 3.0,
    "train_01_loss_lenient": 2.0,
    "balanced_error": 100 * (1 / 3 + 1 / 2) / 2,
    "false_positive_rate": 100 / 3,
    "false_negative_rate": 50.0,
    "f1": 50.0,
    "roc_auc": 5 / 6,
    "fit_time": 0.5,
    "time_to_best": 0.25,
    "lower_bound": 1.0,
    "time_to_bound": 0.125,
    "joint_bound": 1.0,
    "cones": 5.0,
    "iterations": 7.0,
    "error_counts": 11.0,
    "cost": 0.75,
    "bound_ratio": 0.75,
    "largest_ratio": 0.75,
    "success_share": 12.5,
    "success_bound": 6.25,
    "complexity": 4.0,
    "principal_points": 3.0,
    "principal_subsets": 5.0,
    "auc": 1.0,
    "auc_least_squares": 1.0,
}
ALL = {name: load_metric(name) for name in METRICS.builtin}


def test_registrations_and_attributes_are_what_the_base_class_documents():
    documented = inspect.getdoc(Metric)
    known = {*FitRecord.__struct_fields__, *Measurement.__struct_fields__, "outlier_scores"}
    faults = []
    for name, metric in ALL.items():
        checks = {
            "is a metric of this name": isinstance(metric, Metric) and metric.name == name,
            "is loaded once": load_metric(name) is load_metric(name),
            "has a docstring of its own": type(metric).__doc__ is not type(metric).__mro__[1].__doc__,
            "has a sentence as its summary": inspect.getdoc(type(metric)).splitlines()[0].endswith("."),
            "has valid choices": all(getattr(metric, key) in valid for key, valid in CHOICES.items()),
            "has few decimals": isinstance(metric.decimals, int) and 0 <= metric.decimals <= 6,
            "requires fields of records": set(metric.requires) <= known and bool(metric.requires),
            "is of parts of fits": metric.part is None or metric.source == "fit",
            "needs test fields for test errors": (metric.part == "test")
            == any(field.startswith("test_") for field in metric.requires),
            "has the source of its ratio": not metric.ratio_of
            or load_metric(metric.ratio_of).source == metric.source,
        }
        faults += [f"{name}: not true that it {what}" for what, holds in checks.items() if not holds]
    attributes = {line.partition(" : ")[0] for line in documented.splitlines() if " : " in line}
    documented_names = {name for line in attributes for name in line.split(", ")}
    faults += sorted(set(Metric.__annotations__) - documented_names)
    assert faults == []


def test_values_by_hand():
    for name, expected in EXPECTED.items():
        record = MEASURED if ALL[name].source == "measure" else FIT
        assert ALL[name].explain_missing([record]) == "", name
        assert ALL[name].compute(record, Sizes(10, 5)) == pytest.approx(expected), name
    for name in [name for name, metric in ALL.items() if metric.ratio_of]:
        with pytest.raises(TypeError, match="two learners' records"):
            ALL[name].compute(FIT, Sizes(10, 5))


def test_what_the_records_lack_is_named():
    """One record without it among good ones is enough: no mean is over fewer splits than it says."""
    for name, metric in ALL.items():
        of_measures = metric.source == "measure"
        bare = PooledMeasurement([MeasureRecord(1, Measurement())]) if of_measures else FitRecord(1, 3)
        good = MEASURED if of_measures else FIT
        lacking = [field for field in metric.requires if field != "train_errors"]
        for records in ([bare], [good, bare], [bare, good]):
            reason = metric.explain_missing(records)
            assert reason.startswith("its records ") if lacking else reason == "", name
            cell = CellResult(records, range(len(records)), Sizes(10, 5))
            assert (name in cell) == (not lacking and not metric.ratio_of), name
        if metric.source != "any":  # records of the other kind give nothing, and nothing is raised
            assert metric.explain_missing([FIT if of_measures else MEASURED]), name


def test_rates_of_two_classes_are_not_of_three():
    record = FitRecord(0, 1, 1, test_confusion=[[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    names = [name for name, metric in ALL.items() if metric.n_classes == 2 and name != "roc_auc"]
    assert {load_metric(name).explain_missing([record]) for name in names} == {
        "it is defined for two classes only"
    }


values = st.lists(st.floats(0.01, 100), min_size=1, max_size=20)


@given(values)
def test_aggregates_are_between_the_least_and_the_largest(numbers):
    for name, metric in ALL.items():
        stat = metric.aggregate(numbers)
        assert stat.splits == len(numbers)
        if metric.aggregation == "sum":
            assert stat.mean == math.fsum(numbers)
            continue
        assert min(numbers) * (1 - 1e-9) <= stat.mean <= max(numbers) * (1 + 1e-9), name
        if metric.aggregation == "max":
            assert stat.mean == max(numbers)
        has_stderr = metric.aggregation in ("mean", "geometric") and len(numbers) > 1
        assert math.isnan(stat.stderr) == (not has_stderr), name


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_better_values_sort_first(one, two):
    for name, metric in ALL.items():
        better = {"lower": one < two, "higher": one > two, None: one < two}[metric.direction]
        assert (metric.sort_key(one) < metric.sort_key(two)) == better, name


def test_names_of_zoloss_0_1_still_work():
    for old, new in METRIC_ALIASES.items():
        assert old not in METRICS
        assert type(load_metric(old)) is type(load_metric(new))

    assert list_metrics()[0] == "test_error"
