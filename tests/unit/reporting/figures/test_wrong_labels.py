"""Figures 1.11 to 1.13 of Li's thesis: contributions, ROC curves and categories are as stored."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from drawing import assert_inside, drawn, named_lines
from sklearn.metrics import roc_auc_score, roc_curve

from zoloss_cli.complexity.contribution import average_by_size, sum_paths_in_blocks
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.complexity.measures import ContributionMeasure
from zoloss_cli.datasets.pool import generate
from zoloss_cli.learners.problem import build_generator
from zoloss_cli.reporting.figures import catalog, fingerprint, wrong_labels
from zoloss_cli.reporting.figures.inline import to_svg
from zoloss_cli.reporting.figures.target import Target
from zoloss_cli.reporting.results import load_results

FIGURES = ("1.11", "1.12", "1.13")
PLACE = ("yinyang", "contribution")
SIZE, WRONG = 60, 6


def changed(run, change):
    facts = copy.deepcopy(run.facts)
    change(facts)
    return replace(run, facts=facts)


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# -- contribution by size ---------------------------------------------------------------------------------


def test_the_mean_growth_is_that_of_the_paths():
    pool = generate("yinyang", 5, size=40)
    y, flipped = pool.y.copy(), np.array([3, 17, 20, 31])
    y[flipped] = 1 - y[flipped]
    facts = ContributionMeasure(permutations=70, random_state=8).measure(pool.X, y, flipped)
    groups = np.isin(np.arange(40), flipped).astype(np.int64)
    seed = build_generator(8).integers(0, 2**32, 4)
    sums = sum_paths_in_blocks(build_problem(pool.X, y, "perceptron", None), 70, seed, 0, groups=groups)
    np.testing.assert_array_equal(wrong_labels.mean_growth(facts), average_by_size(sums))


def test_figure_1_11_has_the_mean_of_all_draws_and_their_range(measured):
    run = measured[1]["1.11"]
    figure = drawn(wrong_labels.contribution_by_size, run)
    (axes,) = figure.axes
    facts = list(run.facts[PLACE].values())
    assert len(facts) == 3
    assert [int(f["permutations"]) for f in facts] == [300] * 3  # two runs each
    times = np.array([f["flipped_times_by_size"] for f in facts])
    expected = {
        "wrong labels": np.array([f["flipped_growth_by_size"] for f in facts]) / times,
        "right labels": np.array([f["growth_by_size"] for f in facts]) / (300 - times),
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
    assert axes.get_title() == "60 examples, mean of 3 draws and their range"


def test_one_draw_has_no_band_and_sizes_without_wrong_labels_are_left_out(measured):
    def one(facts):
        for draw in (0, 1):
            del facts[PLACE][draw]
        facts[PLACE][2]["flipped_times_by_size"][[4, 9]] = 0

    figure = drawn(wrong_labels.contribution_by_size, changed(measured[1]["1.11"], one))
    (axes,) = figure.axes
    assert not axes.collections
    assert axes.get_title() == "60 examples"
    assert set(range(SIZE)) - set(named_lines(axes)["wrong labels"][0]) == {4, 9}
    assert len(named_lines(axes)["right labels"][0]) == SIZE
    assert np.isfinite(named_lines(axes)["wrong labels"]).all()
    assert_inside(figure)


# -- ROC curves -------------------------------------------------------------------------------------------


def all_scores(run, draw: int) -> dict[str, np.ndarray]:
    facts = run.facts[PLACE][draw]
    return {
        "average contribution": np.array(facts["growth"]) / facts["times"],
        "least squares": np.array(facts["least_squares"]),
        "neighbours": np.array(run.facts["yinyang", "neighbours"][draw]["scores"]),
        "leave-one-out": np.array(run.facts["yinyang", "leave-one-out"][draw]["scores"]),
    }


def wrong_of(run, draw: int) -> np.ndarray:
    return np.isin(np.arange(SIZE), run.facts[PLACE][draw]["flipped"])


def test_figure_1_12_has_the_curves_of_another_library_and_the_best_first(measured):
    run = measured[1]["1.12"]
    figure = drawn(wrong_labels.roc_curves, run)
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
    def lose(facts):
        del facts[PLACE][0], facts["yinyang", "neighbours"][0], facts["yinyang", "leave-one-out"][1]

    run = measured[1]["1.12"]
    figure = drawn(wrong_labels.roc_curves, changed(run, lose))
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
    first = {("yinyang", x): {0: run.facts["yinyang", x][1]} for x in run.learners}
    others = {("six sets", x): run.facts["yinyang", x] for x in run.learners}
    experiment = run.experiment | {"datasets": [*run.experiment["datasets"], {"name": "six sets"}]}
    figure = drawn(wrong_labels.roc_curves, replace(run, experiment=experiment, facts=first | others))
    assert legend(figure) == legend(drawn(wrong_labels.roc_curves, run))
    assert figure.axes[0].get_title() == "draw 0; in the legend: mean AUC of 3 draws"
    positive, caught, _ = roc_curve(wrong_of(run, 1), all_scores(run, 1)["neighbours"], drop_intermediate=False)
    (line,) = (line for label, line in named_lines(figure.axes[0]).items() if label.startswith("neighbours"))
    np.testing.assert_allclose(line, [positive, 1.0 - caught], atol=1e-12)


def test_one_sign_alone_and_one_draw(measured):
    def one(facts):
        for draws in facts.values():
            del draws[1], draws[2]

    run = catalog.narrowed(changed(measured[1]["1.12"], one), [], ["neighbours"])
    figure = drawn(wrong_labels.roc_curves, run)
    area = roc_auc_score(wrong_of(run, 0), all_scores(run, 0)["neighbours"])
    assert legend(figure) == [f"neighbours: {area:.3f}"]
    assert figure.axes[0].get_title() == "draw 0; in the legend: AUC"


def test_several_kinds_of_contributions_keep_their_names(measured):
    run = measured[1]["1.12"]
    other = "contribution of paths from the start"
    experiment = run.experiment | {"learners": [*run.experiment["learners"], {"label": other}]}
    run = replace(run, experiment=experiment, facts=run.facts | {("yinyang", other): run.facts[PLACE]})
    names = [label.split(":")[0] for label in legend(drawn(wrong_labels.roc_curves, run))]
    assert {"contribution, average", "contribution, least"} <= set(names)
    assert all(len(label) <= 28 for label in legend(drawn(wrong_labels.roc_curves, run)))


# -- fingerprint ------------------------------------------------------------------------------------------


def test_figure_1_13_has_all_examples_wrong_labels_last(measured):
    run = measured[1]["1.13"]
    figure = drawn(fingerprint.fingerprint, run)
    (axes,) = figure.axes
    facts, X = run.facts[PLACE][0], generate("yinyang", 1, size=SIZE).X
    assert len(facts["flipped"]) == WRONG
    order = [i for i in range(SIZE) if i not in facts["flipped"]] + sorted(facts["flipped"])
    distances = Target("yinyang", 0.18).distances(X)
    values = np.array(facts["growth"]) / facts["times"]
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
        sign = -1.0 if row in facts["flipped"] else 1.0
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
    drawing = catalog.drawing(catalog.kind_of(name), list(runs.values()), folder)
    figure = drawing.draw()
    assert drawing.run == f"figure{name}"
    assert_inside(figure)
    assert len(to_svg(figure)) < 60_000


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("key", ["growth", "times", "least_squares", "flipped", "flipped_times_by_size"])
def test_without_what_it_needs_there_is_no_figure(measured, name, key):
    def lose(facts):
        for draws in facts.values():
            for each in draws.values():
                each.pop(key, None)

    of_sizes = key == "flipped_times_by_size"
    needed = {"1.11": of_sizes, "1.12": key == "flipped", "1.13": not of_sizes}[name]
    assert catalog.kind_of(name).fits(changed(measured[1][name], lose)) != needed
    if name == "1.12" and not (needed or of_sizes):  # the other signs remain
        labels = legend(drawn(wrong_labels.roc_curves, changed(measured[1][name], lose)))
        assert sorted(label.split(":")[0] for label in labels) == ["leave-one-out", "neighbours"]


@pytest.mark.parametrize("damage", [
    {"growth": [1, 2]}, {"growth": "x"}, {"flipped": list(range(SIZE))}, {"flipped": []},
    {"least_squares": [float("nan")] * SIZE}, {"times": None}, {"least_squares": [1.0]},
])  # fmt: skip
def test_a_damaged_draw_is_left_out(measured, damage):
    run = changed(measured[1]["1.13"], lambda facts: facts[PLACE][0].update(damage))
    (axes,) = drawn(fingerprint.fingerprint, run).axes
    assert axes.get_title().startswith("draw 1\n")


@pytest.mark.parametrize("damage", [
    lambda facts: facts.pop("times"), lambda facts: facts["times"].pop(), lambda facts: facts.update(growth=1),
    lambda facts: facts.update(permutations="many"), lambda facts: facts.update(flipped=[SIZE]),
    lambda facts: facts.pop("flipped_times_by_size"), lambda facts: facts["growth"].append(None),
])  # fmt: skip
def test_a_damaged_row_is_left_out_with_a_note(zoloss, measured, tmp_path, damage):
    folder = tmp_path / "results"
    shutil.copytree(measured[0], folder)
    (path,) = (folder / "cells").glob("yinyang.contribution.*")
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    first = json.loads(rows[0])
    damage(first["measured"])
    path.write_text("\n".join([header, json.dumps(first), *rows[1:], ""]), encoding="utf-8")
    ended = zoloss("plot", folder, "--figure", "1.11", "--table", "figure1.11", "--out", tmp_path / "x.svg")
    assert ended.code == 0, ended.err
    assert "has 1 damaged line; left out" in ended.err
    (run,) = (run for run in load_results(folder)[0] if run.name == "figure1.11")
    assert [int(facts["permutations"]) for facts in run.facts[PLACE].values()] == [150, 300, 300]


def test_without_any_whole_row_it_is_said_what_to_run(zoloss, measured, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(measured[0], folder)
    (path,) = (folder / "cells").glob("yinyang.contribution.*")
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    torn = [row.replace('"times"', '"time"') for row in rows]
    path.write_text("\n".join([header, *torn, ""]), encoding="utf-8")
    ended = zoloss("plot", folder, "--figure", "1.13", "--out", tmp_path / "x.svg")
    assert ended.code == 4
    assert "has no results for figure '1.13'; run: zoloss run configs/thesis/figure1.13.yaml" in ended.err
