"""What holds for every metric that is registered."""

from __future__ import annotations

import inspect
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.errors import ConfigError
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
every_metric = pytest.mark.parametrize("name", list(METRICS.builtin))


@every_metric
def test_it_is_what_its_registration_says(name):
    metric = load_metric(name)
    assert isinstance(metric, Metric)
    assert metric.name == name
    summary = inspect.cleandoc(type(metric).__doc__).splitlines()[0]
    assert summary.endswith(".")
    assert summary[0].isupper()
    assert type(metric).__doc__ is not type(metric).__mro__[1].__doc__  # its own
    assert load_metric(name) is metric


@every_metric
def test_its_attributes_have_documented_values(name):
    metric = load_metric(name)
    for attribute, values in CHOICES.items():
        assert getattr(metric, attribute) in values, attribute
        documented = inspect.getdoc(Metric).partition(f"\n{attribute} : ")[2].splitlines()[0]
        assert documented == "int" or all(repr(value).strip("'") in documented for value in values)
    assert isinstance(metric.decimals, int)
    assert 0 <= metric.decimals <= 6
    known = {*FitRecord.__struct_fields__, *Measurement.__struct_fields__, "outlier_scores"}
    assert set(metric.requires) <= known
    assert metric.requires or metric.ratio_of
    if metric.ratio_of:
        assert load_metric(metric.ratio_of).source == metric.source
    assert metric.part is None or metric.source == "fit"
    assert (metric.part == "test") == any(field.startswith("test_") for field in metric.requires)


def test_all_attributes_are_documented():
    attributes = [name for name in vars(Metric) if name in Metric.__annotations__] + ["name"]
    documented = inspect.getdoc(Metric)
    for name in attributes:
        assert f"\n{name} : " in documented or f"{name} : " in documented or f", {name} : " in documented, name
        assert any(
            name in line.partition(" : ")[0].split(", ") for line in documented.splitlines() if " : " in line
        )


@pytest.mark.parametrize("name", list(EXPECTED))
def test_its_value_by_hand(name):
    metric = load_metric(name)
    record = MEASURED if metric.source == "measure" else FIT
    assert metric.explain_missing([record]) == ""
    assert metric.compute(record, Sizes(10, 5)) == pytest.approx(EXPECTED[name])


def test_no_metric_is_left_out_above():
    assert set(METRICS.builtin) - set(EXPECTED) == {n for n in METRICS.builtin if load_metric(n).ratio_of}


@pytest.mark.parametrize("name", ["cost_ratio", "median_ratio"])
def test_a_ratio_is_of_two_records(name):
    with pytest.raises(TypeError, match="two learners' records"):
        load_metric(name).compute(FIT, Sizes(10, 5))


@every_metric
def test_what_the_records_lack_is_named(name):
    """One record without it among good ones is enough: no mean is over fewer splits than it says."""
    metric = load_metric(name)
    bare = (
        PooledMeasurement([MeasureRecord(1, Measurement())]) if metric.source == "measure" else FitRecord(1, 3)
    )
    good = MEASURED if metric.source == "measure" else FIT
    lacking = [field for field in metric.requires if field not in ("train_errors",)]
    for records in ([bare], [good, bare], [bare, good]):
        reason = metric.explain_missing(records)
        assert bool(reason) == bool(lacking), records
        if lacking:
            assert reason.startswith("its records ")
        cell = CellResult(records, range(len(records)), Sizes(10, 5))
        assert (name in cell) == (not lacking and not metric.ratio_of)
    # Records of the other kind give nothing, and nothing is raised.
    if metric.source != "any":
        assert metric.explain_missing([FIT if metric.source == "measure" else MEASURED])


@pytest.mark.parametrize(
    "name", [n for n in METRICS.builtin if load_metric(n).n_classes == 2 and n != "roc_auc"]
)
def test_rates_of_two_classes_are_not_of_three(name):
    record = FitRecord(0, 1, 1, test_confusion=[[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    assert load_metric(name).explain_missing([record]) == "it is for two classes"


# -- aggregates ---------------------------------------------------------------------------------------

values = st.lists(st.floats(0.01, 100), min_size=1, max_size=20)


@every_metric
@given(values)
def test_aggregates_are_between_the_least_and_the_largest(name, numbers):
    metric = load_metric(name)
    stat = metric.aggregate(numbers)
    assert stat.splits == len(numbers)
    if metric.aggregation == "sum":
        assert stat.mean == math.fsum(numbers)
        return
    assert min(numbers) * (1 - 1e-9) <= stat.mean <= max(numbers) * (1 + 1e-9)
    if metric.aggregation == "max":
        assert stat.mean == max(numbers)
    if metric.aggregation in ("mean", "geometric"):
        assert math.isnan(stat.stderr) == (len(numbers) == 1)
    else:
        assert math.isnan(stat.stderr)


@every_metric
@given(st.floats(-100, 100), st.floats(-100, 100))
def test_better_values_sort_first(name, one, two):
    metric = load_metric(name)
    better = {"lower": one < two, "higher": one > two, None: one < two}[metric.direction]
    assert (metric.sort_key(one) < metric.sort_key(two)) == better


# -- names --------------------------------------------------------------------------------------------


def test_names_of_zoloss_0_1_still_work():
    for old, new in METRIC_ALIASES.items():
        assert old not in METRICS
        assert type(load_metric(old)) is type(load_metric(new))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("test_eror", "unknown metric 'test_eror'; did you mean 'test_error'?"),
        ("balanced_eror", "unknown metric 'balanced_eror'; did you mean 'balanced_error'?"),
        ("F1", "unknown metric 'F1'; did you mean 'f1'?"),
        ("tea", "unknown metric 'tea'"),
    ],
)
def test_an_unknown_metric_is_named_with_the_nearest(name, message):
    with pytest.raises(ConfigError) as caught:
        load_metric(name)
    assert str(caught.value) == message


def test_lists_begin_with_the_default():
    assert list_metrics()[0] == "test_error"
