"""Figures 1.11 to 1.13 of Li's thesis: contributions, ROC curves and categories are as stored."""

from __future__ import annotations

import shutil
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from drawing import alter, assert_inside, change_measurements, drawn, named_lines, rewrite_record
from sklearn.metrics import roc_auc_score, roc_curve

from zoloss_cli.complexity.contribution import average_by_size, sum_paths_in_blocks
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.complexity.measures import ContributionMeasure
from zoloss_cli.data.dataset import generate
from zoloss_cli.figures import catalog
from zoloss_cli.figures import thesis_complexity as fingerprint
from zoloss_cli.figures import thesis_samples as measurements
from zoloss_cli.figures import thesis_samples as wrong_labels
from zoloss_cli.figures.files import render_svg
from zoloss_cli.figures.registry import find_figure
from zoloss_cli.figures.thesis_samples import Target
from zoloss_cli.learners.base import build_generator
from zoloss_cli.metrics.base import PooledMeasurement
from zoloss_cli.report.loading import load_runs
from zoloss_cli.results.record import Measurement, MeasureRecord

FIGURES = ("1.11", "1.12", "1.13")
PLACE = ("yinyang", "contribution")
SIZE, WRONG = 60, 6


def extend(run, **changes):
    """The run with more data sets or learners in its experiment."""
    return replace(run, manifest=replace(run.manifest, experiment=run.experiment.model_copy(update=changes)))


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# -- contribution by size ---------------------------------------------------------------------------------


def test_the_mean_growth_is_that_of_the_paths():
    pool = generate("yinyang", 5, size=40)
    y, flipped = pool.y.copy(), np.array([3, 17, 20, 31])
    y[flipped] = 1 - y[flipped]
    measured = ContributionMeasure(permutations=70, random_state=8).measure(pool.X, y, flipped)
    groups = np.isin(np.arange(40), flipped).astype(np.int64)
    seed = build_generator(8).integers(0, 2**32, 4)
    sums = sum_paths_in_blocks(build_problem(pool.X, y, "perceptron", None), 70, seed, 0, groups=groups)
    record = MeasureRecord(0, msgspec.convert(measured, Measurement))
    growth = measurements.compute_growth_by_size(PooledMeasurement([record]))
    np.testing.assert_array_equal(growth, average_by_size(sums))


def test_figure_1_11_has_the_mean_of_all_draws_and_their_range(measured):
    run = measured[1]["1.11"]
    figure = drawn(wrong_labels.draw_contribution_by_size, run)
    (axes,) = figure.axes
    found = list(run.measurements[PLACE].values())
    assert [each.permutations for each in found] == [300] * 3  # two tasks each
    times = np.array([each.flipped_times_by_size for each in found])
    expected = {
        "wrong labels": np.array([each.flipped_growth_by_size for each in found]) / times,
        "right labels": np.array([each.growth_by_size for each in found]) / (300 - times),
    }
    assert len(axes.collections) == 2
    for band, (name, of_draws) in zip(axes.collections, expected.items(), strict=True):
        x, y = named_lines(axes)[name]
        assert x.tolist() == list(range(SIZE))
        assert y == pytest.approx(of_draws.mean(axis=0))
        corners = band.get_paths()[0].vertices
        for size in range(SIZE):
            heights = corners[corners[:, 0] == size, 1]
            assert heights.min() == pytest.approx(of_draws[:, size].min())
            assert heights.max() == pytest.approx(of_draws[:, size].max())
    assert axes.get_title() == "60 samples, mean of 3 draws and their range"


def test_one_draw_has_no_band_and_sizes_without_wrong_labels_are_left_out(measured):
    def one(measurements):
        for draw in (0, 1):
            del measurements[PLACE][draw]
        measurements[PLACE][2].flipped_times_by_size[[4, 9]] = 0

    figure = drawn(wrong_labels.draw_contribution_by_size, change_measurements(measured[1]["1.11"], one))
    (axes,) = figure.axes
    assert not axes.collections
    assert axes.get_title() == "60 samples"
    assert set(range(SIZE)) - set(named_lines(axes)["wrong labels"][0]) == {4, 9}
    assert len(named_lines(axes)["right labels"][0]) == SIZE
    assert np.isfinite(named_lines(axes)["wrong labels"]).all()
    assert_inside(figure)


# -- ROC curves -------------------------------------------------------------------------------------------


def all_scores(run, draw: int) -> dict[str, np.ndarray]:
    scores: dict[str, np.ndarray] = {}
    for (_, learner), draws in run.measurements.items():
        found = draws[draw]
        if learner == "contribution":
            scores |= {"average contribution": found.growth / found.times, "least squares": found.least_squares}
        else:
            scores[learner] = found.scores
    return scores


def wrong_of(run, draw: int) -> np.ndarray:
    found = next(iter(run.measurements.values()))[draw]
    return np.isin(np.arange(SIZE), found.flipped)


def test_figure_1_12_has_the_curves_of_another_library_and_the_best_first(measured):
    run = measured[1]["1.12"]
    figure = drawn(wrong_labels.draw_roc_curves, run)
    draws = [(all_scores(run, k), wrong_of(run, k)) for k in range(3)]
    means = {name: np.mean([roc_auc_score(w, s[name]) for s, w in draws]) for name in draws[0][0]}
    labels = {name: f"{name}: {mean:.3f}" for name, mean in means.items()}
    assert legend(figure) == [labels[name] for name in sorted(means, key=lambda name: -means[name])]
    scores, wrong = draws[0]
    for axes in figure.axes:
        lines = named_lines(axes)
        assert len(lines) == 4
        for name, label in labels.items():
            positive, caught, _ = roc_curve(wrong, scores[name], drop_intermediate=False)
            np.testing.assert_allclose(lines[label], [positive, 1.0 - caught], atol=1e-12)
    whole, corner = figure.axes
    assert (whole.get_xlabel(), whole.get_ylabel()) == ("false positive rate", "false negative rate")
    assert whole.get_title() == "draw 0; in the legend: mean AUC of 3 draws"
    assert whole.get_xlim()[1] == 1.0 > corner.get_xlim()[1] == corner.get_ylim()[1]


def test_curves_are_all_of_one_draw(measured):
    def lose(draws):
        del draws[PLACE][0], draws["yinyang", "neighbours"][0], draws["yinyang", "leave-one-out"][1]

    run = measured[1]["1.12"]
    figure = drawn(wrong_labels.draw_roc_curves, change_measurements(run, lose))
    # All have draw 2 only.
    assert figure.axes[0].get_title() == "draw 2; in the legend: mean AUC of 2 draws"
    scores, wrong = all_scores(run, 2), wrong_of(run, 2)
    lines = {label.split(":")[0]: line for label, line in named_lines(figure.axes[0]).items()}
    assert lines.keys() == scores.keys()
    for name, line in lines.items():
        positive, caught, _ = roc_curve(wrong, scores[name], drop_intermediate=False)
        np.testing.assert_allclose(line, [positive, 1.0 - caught], atol=1e-12)


def test_the_areas_are_of_the_data_set_with_most_draws(measured):
    run = measured[1]["1.12"]
    first = {("yinyang", x): {0: run.measurements["yinyang", x][1]} for x in run.learners}
    others = {("six sets", x): run.measurements["yinyang", x] for x in run.learners}
    (data,) = run.experiment.datasets
    longer = extend(run, datasets=(data, data.model_copy(update={"name": "six sets"})))
    figure = drawn(wrong_labels.draw_roc_curves, replace(longer, measurements=first | others))
    assert legend(figure) == legend(drawn(wrong_labels.draw_roc_curves, run))
    assert figure.axes[0].get_title() == "draw 0; in the legend: mean AUC of 3 draws"
    positive, caught, _ = roc_curve(wrong_of(run, 1), all_scores(run, 1)["neighbours"], drop_intermediate=False)
    (line,) = (line for label, line in named_lines(figure.axes[0]).items() if label.startswith("neighbours"))
    np.testing.assert_allclose(line, [positive, 1.0 - caught], atol=1e-12)


def test_one_score_alone_and_one_draw(measured):
    def one(measurements):
        for draws in measurements.values():
            del draws[1], draws[2]

    run = catalog.narrow_run(change_measurements(measured[1]["1.12"], one), [], ["neighbours"])
    figure = drawn(wrong_labels.draw_roc_curves, run)
    area = roc_auc_score(wrong_of(run, 0), all_scores(run, 0)["neighbours"])
    assert legend(figure) == [f"neighbours: {area:.3f}"]
    assert figure.axes[0].get_title() == "draw 0; in the legend: AUC"


def test_several_kinds_of_contributions_keep_their_names(measured):
    run = measured[1]["1.12"]
    other = "contribution of paths from the start"
    first, *rest = run.experiment.learners
    longer = extend(run, learners=(first, *rest, first.model_copy(update={"label": other})))
    run = replace(longer, measurements=run.measurements | {("yinyang", other): run.measurements[PLACE]})
    names = [label.split(":")[0] for label in legend(drawn(wrong_labels.draw_roc_curves, run))]
    assert {"contribution, average", "contribution, least"} <= set(names)
    assert all(len(label) <= 28 for label in legend(drawn(wrong_labels.draw_roc_curves, run)))


# -- fingerprint ------------------------------------------------------------------------------------------


def test_figure_1_13_has_all_samples_wrong_labels_last(measured):
    run = measured[1]["1.13"]
    figure = drawn(fingerprint.draw_fingerprint, run)
    (axes,) = figure.axes
    found, X = run.measurements[PLACE][0], generate("yinyang", 1, size=SIZE).X
    assert len(found.flipped) == WRONG
    order = [i for i in range(SIZE) if i not in found.flipped] + sorted(found.flipped)
    distances = Target("yinyang", 0.18).compute_distances(X)
    values = found.growth / found.times
    kinds = {"typical": values < 2 / 3, "noisy": values > 1}
    kinds["critical"] = ~kinds["typical"] & ~kinds["noisy"]
    drawn_at = {}
    for label, points in named_lines(axes).items():
        for x, y in points.T:
            drawn_at[int(x)] = label.split(":")[0], y
    assert sorted(drawn_at) == list(range(SIZE))
    for place, row in enumerate(order):
        kind, height = drawn_at[place]
        assert kinds[kind][row]
        sign = -1.0 if row in found.flipped else 1.0
        assert height == pytest.approx(sign * distances[row], abs=1e-9)
    parts = []
    for name, of in (("right", order[:-WRONG]), ("wrong", order[-WRONG:])):
        counts = [f"{kinds[kind][of].sum()} {kind}" for kind in ("typical", "critical", "noisy")]
        parts.append(f"{name} labels: {', '.join(counts)}")
    assert axes.get_title() == "draw 0\n" + "; ".join(parts)
    marks = {line.get_label().split(":")[0]: line.get_marker() for line in axes.lines[:3]}
    assert marks == {"typical": ".", "critical": "o", "noisy": "s"}
    line = axes.lines[-1].get_xdata()
    assert set(line) == {SIZE - WRONG - 0.5}


# -- of which results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIGURES)
def test_figures_fit_their_page_and_are_small_inside_another(measured, name):
    folder, runs = measured
    drawing = catalog.choose_drawing(find_figure(name), list(runs.values()), folder)
    figure = drawing.draw()
    assert drawing.run == f"figure{name}"
    assert_inside(figure)
    assert len(render_svg(figure)) < 60_000


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("key", ["growth", "flipped", "flipped_times_by_size"])
def test_without_what_it_needs_there_is_no_figure(measured, name, key):
    def lose(measurements):
        for draws in measurements.values():
            lost = {key: () if key == "flipped" else None}
            draws.update({draw: alter(found, **lost) for draw, found in draws.items()})

    of_sizes = key == "flipped_times_by_size"
    needed = {"1.11": of_sizes, "1.12": key == "flipped", "1.13": not of_sizes}[name]
    run = change_measurements(measured[1][name], lose)
    assert find_figure(name).matches(run) != needed
    if name == "1.12" and not (needed or of_sizes):  # the other scores remain
        labels = legend(drawn(wrong_labels.draw_roc_curves, run))
        assert sorted(label.split(":")[0] for label in labels) == ["leave-one-out", "neighbours"]


@pytest.mark.parametrize("flipped", [tuple(range(SIZE)), ()])
def test_a_draw_without_right_or_without_wrong_labels_is_left_out(measured, flipped):
    def change(measurements):
        measurements[PLACE][0] = alter(measurements[PLACE][0], flipped=flipped)

    run = change_measurements(measured[1]["1.13"], change)
    (axes,) = drawn(fingerprint.draw_fingerprint, run).axes
    assert axes.get_title().startswith("draw 1\n")


@pytest.mark.parametrize("damage", [
    lambda measured: measured.pop("times"), lambda measured: measured["times"].pop(),
    lambda measured: measured.update(growth=1), lambda measured: measured.update(permutations="many"),
    lambda measured: measured.update(flipped=[SIZE]), lambda measured: measured.pop("flipped_times_by_size"),
    lambda measured: measured["growth"].append(None),
])  # fmt: skip
def test_a_damaged_record_is_left_out_with_a_note(zoloss, measured, tmp_path, damage):
    folder = tmp_path / "results"
    shutil.copytree(measured[0], folder)
    (path,) = (folder / "cells").glob("yinyang.contribution.*")
    rewrite_record(path, 0, lambda record: damage(record["measured"]))
    ended = zoloss("plot", folder, "--figure", "1.11", "--table", "figure1.11", "--out", tmp_path / "x.svg")
    assert ended.code == 0, ended.err
    assert "has 1 damaged line; left out" in ended.err
    (run,) = (run for run in load_runs(folder)[0] if run.name == "figure1.11")
    assert [found.permutations for found in run.measurements[PLACE].values()] == [150, 300, 300]


def test_without_any_whole_record_it_is_said_what_to_run(zoloss, measured, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(measured[0], folder)
    (path,) = (folder / "cells").glob("yinyang.contribution.*")
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    torn = [line.replace('"times"', '"time"') for line in lines]
    path.write_text("\n".join([header, *torn, ""]), encoding="utf-8")
    ended = zoloss("plot", folder, "--figure", "1.13", "--out", tmp_path / "x.svg")
    assert ended.code == 4
    assert "no results for figure 'li-thesis-2006/1.13'; run: zoloss run configs/thesis/figure1.13" in ended.err
