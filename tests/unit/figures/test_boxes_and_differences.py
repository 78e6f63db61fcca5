"""Box plots of any metric, and paired differences with intervals."""

import math

import numpy as np
import pytest
from built_runs import build_run
from drawing import assert_inside, drawn

from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.figures import comparisons as boxes
from zoloss_cli.figures import comparisons as differences
from zoloss_cli.figures import drawings, style
from zoloss_cli.figures.figure_kinds import find_figure
from zoloss_cli.report.statistics import compare_pair


def test_boxes_are_the_quartiles_of_the_values(reference):
    run = reference["table4"]
    figure = drawn(boxes.draw_boxes, run)
    assert_inside(figure)
    assert [axes.get_title() for axes in figure.axes] == run.datasets
    for axes, dataset in zip(figure.axes, run.datasets, strict=True):
        medians = [line for line in axes.lines if line.get_color() == style.VERMILION]
        means = [line for line in axes.lines if line.get_marker() == "D"]
        for place, learner in enumerate(run.learners):
            values = run.cells[dataset, learner]["test_error"]
            (median,) = {*medians[place].get_xdata()}
            assert median == np.median(values)
            assert means[place].get_xdata()[0] == pytest.approx(np.mean(values))
            assert np.mean(medians[place].get_ydata()) == place  # in the row that bears the learner's name
        outlines = [
            line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 5 and line.get_marker() != "."
        ]
        for learner, x in zip(run.learners, outlines, strict=True):
            quartiles = np.quantile(run.cells[dataset, learner]["test_error"], [0.25, 0.75])
            assert [min(x), max(x)] == pytest.approx(quartiles.tolist())
    named = [[t.get_text() for t in axes.get_yticklabels()] for axes in figure.axes[:3]]
    assert named[0] == ["RCD-plain", "RCD-bias", "pocket", "ave-perc", "SGD-mls", "soft-SVM"]
    assert {*named[1], *named[2]} == {""}  # once in a row of panels


def test_an_interval_leaves_zero_out_where_the_corrected_test_finds_a_difference(reference):
    run = reference["table4"]
    for dataset in run.datasets:
        for learner in run.learners[1:]:
            found = differences.compute_difference(run, dataset, learner, run.learners[0])
            test = compare_pair(run, dataset, learner, run.learners[0])
            assert found.mean == pytest.approx(test.difference)
            assert (found.low > 0 or found.high < 0) == (test.p <= 0.05)
            assert found.quartiles[0] <= found.quartiles[1]


def test_a_hand_computed_interval():
    """As in the t-test's example: mean 2, variance of the mean 4/3, and t = 3.182 with 3 degrees of freedom."""
    values = {"a": {0: 5.0, 1: 3.0, 2: 7.0, 5: 5.0, 8: 0.0}, "b": {5: 3.0, 0: 3.0, 1: 3.0, 2: 3.0}}
    run = build_run(
        {("d", x): {"test_error": list(v.values())} for x, v in values.items()},
        {("d", x): list(v) for x, v in values.items()},
        (80, 20),
    )
    found = differences.compute_difference(run, "d", "a", "b")
    half = 3.182446305 * math.sqrt(4 / 3)
    assert (found.mean, found.low, found.high) == pytest.approx((2.0, 2.0 - half, 2.0 + half))
    assert found.quartiles == pytest.approx((1.5, 2.5))


def test_differences_are_drawn_to_the_best_or_to_a_chosen_learner(reference):
    run = reference["table4"]
    figure = drawn(differences.draw_differences, run)
    assert_inside(figure)
    assert figure.axes[0].get_title() == "australian, minus ave-perc"
    chosen = drawn(lambda: differences.draw_differences(run, "adaboost:pocket"))
    assert {axes.get_title().partition(", ")[2] for axes in chosen.axes} == {"minus pocket"}
    (axes,) = (axes for axes in figure.axes if axes.get_title().startswith("sonar"))
    dots = {round(line.get_ydata()[0]): line for line in axes.lines if line.get_marker() in "os"}
    for place, learner in enumerate(run.learners):
        if learner != "adaboost:rcd-bias":
            test = compare_pair(run, "sonar", learner, "adaboost:rcd-bias")
            assert dots[place].get_xdata()[0] == pytest.approx(test.difference)
            assert dots[place].get_marker() == ("o" if test.p <= 0.05 else "s")


def test_higher_is_better_colours_the_other_side():
    cells = {("d", "a"): {"f1": [0.9, 0.8, 0.9, 0.9]}, ("d", "b"): {"f1": [0.1, 0.1, 0.1, 0.2]}}
    run = build_run(cells, sizes=(80, 20), metric="f1")
    axes = drawn(lambda: differences.draw_differences(run, "b")).axes[0]
    (dot,) = (line for line in axes.lines if line.get_marker() == "o")
    assert dot.get_color() == style.BLUE
    assert axes.get_xlabel() == "difference in f1 (%)"


def test_any_metric_of_the_records(reference):
    run = reference["table4"]
    drawing = drawings.choose_drawing(
        find_figure("boxes"), [run], "results", None, ["heart"], [], metric="train_error"
    )
    (axes,) = drawn(drawing.pages[0]).axes
    assert axes.get_xlabel() == "training error (%)"
    medians = [line.get_xdata()[0] for line in axes.lines if line.get_color() == style.VERMILION]
    assert medians == [np.median(run.cells["heart", x]["train_error"]) for x in run.learners]
    assert drawing.command.endswith("--figure boxes --table IV --dataset heart --metric train_error")
    assert run.metric == "test_error"


def test_what_cannot_be_chosen_is_one_sentence(reference):
    for figure, options, error, message in (
        ("boxes", {"metric": "roc_auc"}, ResultsError, "'table4' has no roc_auc: its records hold no test_sc"),
        ("boxes", {"against": "pocket"}, ConfigError, "applies to the figures differences, not to 'boxes'"),
        ("differences", {"against": "pocket"}, ResultsError, "'table4' has no learner 'pocket'; valid: adabo"),
    ):
        with pytest.raises(error, match=message) as refused:
            drawings.choose_drawing(find_figure(figure), [reference["table4"]], "results", None, **options)
        assert "\n" not in str(refused.value)


def test_what_a_run_must_have():
    once = build_run({("d", x): {"test_error": [1.0]} for x in "ab"}, split={"repeats": 1})
    assert not boxes.find_boxed_datasets(once)
    assert not differences.has_pairs(once)
    apart = build_run(
        {("d", "a"): {"test_error": [1.0, 2.0]}, ("e", "b"): {"test_error": [1.0, 2.0]}}, split={"repeats": 2}
    )
    assert boxes.find_boxed_datasets(apart)
    assert not differences.has_pairs(apart)
