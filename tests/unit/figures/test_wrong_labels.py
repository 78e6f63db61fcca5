"""Figures 1.11 to 1.13 of Li's thesis: contributions, ROC curves and categories are as stored."""

import shutil
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from drawing import alter, assert_inside, change_measurements, drawn, named_lines, rewrite_record
from sklearn.metrics import roc_auc_score, roc_curve

from zoloss_cli.complexity.contribution import sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import compute_mean_growth
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.complexity.measures import ContributionMeasure
from zoloss_cli.data.dataset import generate
from zoloss_cli.figures import drawings, thesis_complexity, thesis_samples
from zoloss_cli.figures.figure_kinds import find_figure
from zoloss_cli.figures.thesis_samples import Target
from zoloss_cli.learners.base import build_generator
from zoloss_cli.metrics.base import PooledMeasurement
from zoloss_cli.report.runs import load_runs
from zoloss_cli.results.record import Measurement, MeasureRecord

FIGURES = ("1.11", "1.12", "1.13")
PLACE = ("yinyang", "contribution")
SIZE, WRONG = 60, 6


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_mean_growth_is_that_of_the_paths():
    pool = generate("yinyang", 5, size=40)
    y, flipped = pool.y.copy(), np.array([3, 17, 20, 31])
    y[flipped] = 1 - y[flipped]
    measured = ContributionMeasure(permutations=70, random_state=8).measure(pool.X, y, flipped)
    groups = np.isin(np.arange(40), flipped).astype(np.int64)
    seed = build_generator(8).integers(0, 2**32, 4)
    sums = sum_paths_in_blocks(build_problem(pool.X, y, "perceptron", None), 70, seed, 0, groups=groups)
    record = MeasureRecord(0, msgspec.convert(measured, Measurement))
    growth = thesis_samples.compute_growth_by_size(PooledMeasurement([record]))
    np.testing.assert_array_equal(growth, compute_mean_growth(*np.moveaxis(sums.by_size, -1, 0)))


def test_figure_1_11_has_the_mean_of_all_draws_and_their_range(measured):
    run = measured[1]["1.11"]
    figure = drawn(thesis_samples.draw_contribution_by_size, run)
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

    figure = drawn(thesis_samples.draw_contribution_by_size, change_measurements(measured[1]["1.11"], one))
    (axes,) = figure.axes
    assert not axes.collections
    assert axes.get_title() == "60 samples"
    assert set(range(SIZE)) - set(named_lines(axes)["wrong labels"][0]) == {4, 9}
    assert len(named_lines(axes)["right labels"][0]) == SIZE
    assert np.isfinite(named_lines(axes)["wrong labels"]).all()
    assert_inside(figure)


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
    figure = drawn(thesis_samples.draw_roc_curves, run)
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


def test_one_score_alone_and_the_only_draw_of_all(measured):
    def lose(draws):
        del draws[PLACE][0], draws["yinyang", "neighbours"][0], draws["yinyang", "leave-one-out"][1]

    run = change_measurements(measured[1]["1.12"], lose)
    figure = drawn(thesis_samples.draw_roc_curves, run)  # all have draw 2 only
    assert figure.axes[0].get_title() == "draw 2; in the legend: mean AUC of 2 draws"
    del run.measurements["yinyang", "neighbours"][1]
    run = drawings.narrow_run(run, [], ["neighbours"])
    figure = drawn(thesis_samples.draw_roc_curves, run)
    area = roc_auc_score(wrong_of(run, 2), all_scores(run, 2)["neighbours"])
    assert legend(figure) == [f"neighbours: {area:.3f}"]
    assert figure.axes[0].get_title() == "draw 2; in the legend: AUC"


def test_several_kinds_of_contributions_keep_their_names(measured):
    run = measured[1]["1.12"]
    other = "contribution of paths from the start"
    first, *rest = run.experiment.learners
    experiment = run.experiment.model_copy(
        update={"learners": (first, *rest, first.model_copy(update={"label": other}))}
    )
    longer = replace(run, manifest=replace(run.manifest, experiment=experiment))
    run = replace(longer, measurements=run.measurements | {("yinyang", other): run.measurements[PLACE]})
    names = [label.split(":")[0] for label in legend(drawn(thesis_samples.draw_roc_curves, run))]
    assert {"contribution, average", "contribution, least"} <= set(names)
    assert all(len(label) <= 28 for label in legend(drawn(thesis_samples.draw_roc_curves, run)))


def test_figure_1_13_has_all_samples_wrong_labels_last(measured):
    run = measured[1]["1.13"]
    figure = drawn(thesis_complexity.draw_fingerprint, run)
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


def test_without_what_it_needs_there_is_no_figure(measured):
    def lose(run, key):
        lost = {key: () if key == "flipped" else None}
        return replace(run, measurements={
            place: {draw: alter(found, **lost) for draw, found in draws.items()}
            for place, draws in run.measurements.items()
        })  # fmt: skip

    needed = {"flipped_times_by_size": ["1.11"], "flipped": ["1.12", "1.13"], "growth": ["1.13"]}
    for key, names in needed.items():
        runs = {name: lose(measured[1][name], key) for name in FIGURES}
        assert [name for name in FIGURES if not find_figure(name).matches(runs[name])] == names, key
    labels = legend(drawn(thesis_samples.draw_roc_curves, runs["1.12"]))
    assert sorted(label.split(":")[0] for label in labels) == ["leave-one-out", "neighbours"]


def test_a_draw_without_right_or_without_wrong_labels_is_left_out(measured):
    run = measured[1]["1.13"]
    for flipped in (tuple(range(SIZE)), ()):
        first = alter(run.measurements[PLACE][0], flipped=flipped)
        changed = change_measurements(run, lambda found, first=first: found[PLACE].update({0: first}))
        (axes,) = drawn(thesis_complexity.draw_fingerprint, changed).axes
        assert axes.get_title().startswith("draw 1\n")


DAMAGES = [
    lambda measured: measured.pop("times"), lambda measured: measured["times"].pop(),
    lambda measured: measured.update(growth=1), lambda measured: measured.update(permutations="many"),
    lambda measured: measured.update(flipped=[SIZE]), lambda measured: measured.pop("flipped_times_by_size"),
    lambda measured: measured["growth"].append(None),
]  # fmt: skip


def test_a_damaged_record_is_left_out_with_a_note(measured, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(measured[0], folder)
    (path,) = (folder / "cells").glob("yinyang.contribution.*")
    intact = path.read_bytes()
    for number, damage in enumerate(DAMAGES):
        path.write_bytes(intact)
        rewrite_record(path, 0, lambda record, damage=damage: damage(record["measured"]))
        runs, store = load_runs(folder, "figure1.11")
        assert ["has 1 damaged line; left out" in note for note in store.notes] == [True], number
        (run,) = (run for run in runs if run.name == "figure1.11")
        assert [found.permutations for found in run.measurements[PLACE].values()] == [150, 300, 300], number
