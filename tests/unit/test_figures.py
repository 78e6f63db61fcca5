"""Figures: what is drawn is what the results, the learners and the losses say."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.metrics import hinge_loss, log_loss
from sklearn.multiclass import OneVsRestClassifier

from zoloss_cli.config.load import load_config
from zoloss_cli.errors import ConfigError, OutputError, ResultsError
from zoloss_cli.experiment.manifest import read_experiment
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.run import Progress, run_experiment
from zoloss_cli.experiment.store import Store
from zoloss_cli.figures import boundary, catalog, chosen, curves, lines, losses, ranks, style, synthetic, times
from zoloss_cli.figures.files import format_of, rendered
from zoloss_cli.figures.training import trained_again
from zoloss_cli.kernels import online
from zoloss_cli.registry import make_learner
from zoloss_cli.report.results import RunResult, load_results
from zoloss_cli.report.statistics import Ranks, average_ranks

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
FIGURE_3 = """
title: RCD by epoch
published: {paper: li-lin-2007, figure: "3"}
metric: train_error
datasets: [heart]
split: {train: 0.8, repeats: 3, seed: 5}
learners:
  ccd-zero: {learner: ccd, seeding: zero, epochs: 40, record_every: 10}
  rcd-bias-zero: {learner: rcd-bias, seeding: zero, epochs: 40, record_every: 10}
  rcd-bias-fld: {learner: rcd-bias, seeding: fld, epochs: 40, record_every: 10}
"""


RANKS = Ranks(
    ["rcd-bias", "pocket", "ave-perc", "soft-svm"],
    [1.25, 2.0, 3.25, 3.5],
    ["a", "b", "c", "d"],
    0.05,
    2.3452,
    0.0123,
    [(0, 2), (1, 3)],
)


@pytest.fixture(scope="module")
def reference() -> dict[str, RunResult]:
    return {run.name: run for run in load_results(REFERENCE)[0]}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(the folder, the run) of a small Figure 3."""
    folder = tmp_path_factory.mktemp("recorded")
    config = folder / "figure3.yaml"
    config.write_text(FIGURE_3, encoding="utf-8")
    run_experiment(load_config(config), str(config), Store(folder / "results"), 1, Progress())
    (run,) = load_results(folder / "results")[0]
    return folder / "results", run


def drawn(function, *arguments):
    with style.styled():
        return function(*arguments)


def named_lines(axes) -> dict[str, np.ndarray]:
    """The lines that are in the legend, as x and y."""
    return {x.get_label(): np.array(x.get_data()) for x in axes.lines if not x.get_label().startswith("_")}


def stored_rows(folder: Path, run: RunResult, learner: str) -> tuple[list[dict], dict]:
    (cell,) = (c for c in run.manifest["cells"] if c["learner"] == learner)
    header, *rows = (folder / "cells" / cell["file"]).read_text(encoding="utf-8").splitlines()
    return [json.loads(row) for row in rows], json.loads(header)


# -- curves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "key", "size"), [
    ("train_error", "train_curve", "n_train"), ("test_error", "test_curve", "n_test"),
])  # fmt: skip
def test_curves_are_the_stored_ones(recorded, metric, key, size):
    folder, run = recorded
    for learner in run.learners:
        rows, header = stored_rows(folder, run, learner)
        counts = np.array([row[key] for row in rows])
        found = run.curves["heart", learner]
        assert found.epochs == [10, 20, 30, 40]
        assert found.mean(metric) == pytest.approx(100.0 * counts.mean(axis=0) / header[size])
        spread = 100.0 * counts.std(axis=0, ddof=1) / header[size] / np.sqrt(3)
        assert found.stderr(metric) == pytest.approx(spread)


def test_figure_3_draws_the_mean_of_all_splits(recorded):
    folder, run = recorded
    figure = drawn(curves.rcd_variants, run)
    shown = {k: v for axes in figure.axes for k, v in named_lines(axes).items()}
    titles = {"ccd-zero": "CCD, zero", "rcd-bias-zero": "RCD-bias, zero", "rcd-bias-fld": "RCD-bias, FLD"}
    assert set(shown) == set(titles.values())
    for learner, title in titles.items():
        rows, header = stored_rows(folder, run, learner)
        mean = 100.0 * np.array([row["train_curve"] for row in rows]).mean(axis=0) / header["n_train"]
        assert shown[title] == pytest.approx(np.array([[10, 20, 30, 40], mean]))


def test_figure_3_tells_variants_by_colour_and_seeding_by_line(recorded):
    figure = drawn(curves.rcd_variants, recorded[1])
    found = {x.get_label(): x for axes in figure.axes for x in axes.lines}
    zero, fld, ccd = (found[name] for name in ("RCD-bias, zero", "RCD-bias, FLD", "CCD, zero"))
    assert zero.get_color() == fld.get_color() != ccd.get_color()
    assert zero.get_marker() == fld.get_marker() != ccd.get_marker()
    assert zero.is_dashed()
    assert not fld.is_dashed()


def curve_run(means: dict[str, list[float]]) -> RunResult:
    from zoloss_cli.report.results import Curves

    entries = [{"label": x, "learner": "ccd", "settings": [["seeding", "zero"]]} for x in means]
    experiment = {"metric": "train_error", "learners": entries, "datasets": [{"name": "d"}], "title": "t"}
    run = RunResult("r", experiment | {"split": {"repeats": 1}}, {"config": "c.yaml"})
    for learner, mean in means.items():
        both = {"train_error": np.array([mean]), "test_error": np.array([mean]) + 1.0}
        run.curves["d", learner] = Curves([1, 2], both)
    return run


def test_the_axis_is_broken_only_where_a_third_of_it_is_empty():
    together = drawn(curves.rcd_variants, curve_run({"a": [30.0, 27.0], "b": [26.0, 20.0]}))
    apart = drawn(curves.rcd_variants, curve_run({"a": [30.0, 29.0], "b": [22.0, 20.0]}))
    assert (len(together.axes), len(apart.axes)) == (1, 2)
    upper, lower = apart.axes
    assert upper.get_ylim()[0] > lower.get_ylim()[1]
    assert lower.get_ylim()[0] < 20.0 < 22.0 < lower.get_ylim()[1]


def test_figure_4_has_a_panel_for_training_and_one_for_test_errors():
    figure = drawn(curves.by_epoch, curve_run({"ccd": [30.0, 27.0], "pocket": [26.0, 20.0]}))
    train, test = figure.axes
    assert named_lines(train)["pocket"] == pytest.approx(np.array([[1, 2], [26.0, 20.0]]))
    assert named_lines(test)["pocket"] == pytest.approx(np.array([[1, 2], [27.0, 21.0]]))
    assert (train.get_ylabel(), test.get_ylabel()) == ("training error (%)", "test error (%)")


@pytest.mark.parametrize("damage", [
    lambda row: row.pop("epochs"), lambda row: row.update(train_curve=[1], test_curve=7),
    lambda row: row.update(train_curve=["x"] * 4, test_curve=None),
])  # fmt: skip
def test_damaged_curves_are_left_out_and_the_rest_stays(recorded, tmp_path, damage):
    folder = tmp_path / "results"
    shutil.copytree(recorded[0], folder)
    (cell,) = (c for c in recorded[1].manifest["cells"] if c["learner"] == "ccd-zero")
    path = folder / "cells" / cell["file"]
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(rows[1])
    damage(row)
    path.write_text("\n".join([header, rows[0], json.dumps(row), rows[2], ""]), encoding="utf-8")
    (run,) = load_results(folder)[0]
    assert ("heart", "ccd-zero") not in run.curves
    assert ("heart", "rcd-bias-fld") in run.curves
    assert run.stat("heart", "ccd-zero").splits == 3


# -- losses -------------------------------------------------------------------------------------------

MARGINS = np.array([-1.5, -0.7, 0.0, 0.3, 1.0, 2.2])


def test_margin_losses_are_those_of_scikit_learn():
    for m in MARGINS:
        both = np.array([1, -1]), np.array([m, -m])  # a point of each class with this margin
        assert losses.hinge(np.array([m]))[0] == pytest.approx(hinge_loss(*both))
        p = 1.0 / (1.0 + np.exp(-both[1]))
        assert losses.log(np.array([m]))[0] == pytest.approx(log_loss(both[0], p, labels=[-1, 1]))


@pytest.mark.parametrize(
    ("loss", "cost"), [(losses.hinge, online.HINGE), (losses.squared, online.LEAST_SQUARES)]
)
def test_sgd_steps_down_the_drawn_loss(loss, cost):
    """One step on one point with x = 1 and y = 1, where the weight is the margin."""
    Z, step, none = np.ones((1, 1)), np.ones(1), (np.empty(0, np.uint64), np.empty(0, np.int32))
    for m in (-1.3, 0.4, 2.1):
        w = np.array([m])
        online.sgd(Z, step, *none, w, 1, 0.01, cost, np.uint64(1), np.empty(0, np.int64), np.empty((0, 1)))
        slope = (loss(np.array([m + 1e-6]))[0] - loss(np.array([m - 1e-6]))[0]) / 2e-6
        assert w[0] - m == pytest.approx(-0.01 * slope, abs=1e-9)


def test_figure_2_shows_the_losses():
    (axes,) = drawn(losses.margin_losses).axes
    shown = named_lines(axes)
    for name, loss in {
        "hinge loss": losses.hinge,
        "squared loss": losses.squared,
        "log loss": losses.log,
    }.items():
        x, y = shown[name]
        assert y == pytest.approx(loss(x))
    step = [np.array(line.get_data()) for line in axes.lines[:2]]
    assert step[0][1] == pytest.approx([1.0, 1.0])  # up to the zero margin, which is an error
    assert step[0][0][1] == 0.0
    assert step[1][1] == pytest.approx([0.0, 0.0])


def test_figure_6_shows_sigmoids_and_recounted_sums(reference):
    top, whole, close = drawn(losses.smooth_losses).axes
    for K in (2.0, 20.0, 200.0):
        x, y = named_lines(top)[f"K = {K:g}"]
        assert y == pytest.approx(1.0 / (1.0 + np.exp(K * x)))
    run = reference["nguyen-figure1"]
    trained, row = trained_again(run, "outliers", "sla")
    data = trained.part.data
    X, signs = trained.part.scaled(data.X), np.where(data.y == 1, 1.0, -1.0)
    for axes in (whole, close):
        w1, counts = named_lines(axes)["0–1 loss"]
        smooth = named_lines(axes)["K = 20"][1]
        for i in range(0, len(w1), 97):
            m = signs * (trained.learner.intercept_[0] + X @ [w1[i], trained.learner.coef_[0][1]])
            assert counts[i] == (m <= 0.0).sum()
            assert smooth[i] == pytest.approx((1.0 / (1.0 + np.exp(20.0 * m))).sum())
        assert counts.min() == row["train"]


# -- what was learned ---------------------------------------------------------------------------------


def test_a_manifest_gives_back_its_experiment():
    for manifest in Store(REFERENCE).manifests():
        keys = [cell.key for cell in plan(read_experiment(manifest))]
        assert keys == [cell["key"] for cell in manifest["cells"]], manifest["experiment"]["name"]


def test_figure_1_draws_each_boundary_with_its_stored_errors(reference):
    run = reference["nguyen-figure1"]
    (axes,) = drawn(lines.boundaries, run).axes
    shown = named_lines(axes)
    errors = {}
    for learner, title in {"fld": "FLD", "svm": "SVM", "lr": "LR", "sla": "SLA", "pivot": "pivot"}.items():
        errors[learner] = int(run.cells["outliers", learner]["train_01_loss"][0])
        ends = shown[f"{title}: {errors[learner]} errors"].T
        trained, _ = trained_again(run, "outliers", learner)
        scores = trained.learner.decision_function(trained.part.scaled(ends))
        assert np.linalg.norm(ends[1] - ends[0]) > 10.0
        assert scores == pytest.approx([0.0, 0.0], abs=1e-9 * np.abs(trained.learner.coef_).max())
    assert min(errors[x] for x in ("fld", "svm", "lr")) >= 61  # as the paper's caption says
    assert errors["sla"] <= 39
    points = np.hstack([shown["left"], shown["right"]]).T
    assert sorted(points.tolist()) == sorted(trained.part.data.X.tolist())


@pytest.mark.parametrize(("weights", "bias", "ends"), [
    ([1.0, 0.0], -0.5, [(0.5, 0.0), (0.5, 2.0)]), ([0.0, 2.0], -2.0, [(0.0, 1.0), (1.0, 1.0)]),
    ([1.0, 1.0], -1.0, [(0.0, 1.0), (1.0, 0.0)]), ([1.0, 1.0], -9.0, []), ([0.0, 0.0], 1.0, []),
])  # fmt: skip
def test_a_line_is_clipped_to_the_box(weights, bias, ends):
    found = lines.clipped(np.array(weights), bias, np.array([[0.0, 0.0], [1.0, 2.0]]))
    assert found.tolist() == [list(end) for end in ends]


def test_errors_that_are_not_the_stored_ones_are_refused(reference):
    changed = RunResult(**vars(reference["nguyen-figure1"]))
    changed.cells = dict(changed.cells)
    changed.cells["outliers", "fld"] = {"train_01_loss": [66.0], "train_error": [22.0]}
    with pytest.raises(
        ResultsError, match=r"fld on outliers, trained again, has a train_error of 22.33 % where"
    ):
        drawn(lines.boundaries, changed)


def test_a_cell_of_another_version_is_refused(reference):
    changed = RunResult(**vars(reference["nguyen-figure1"]))
    changed.manifest = json.loads(json.dumps(changed.manifest))
    changed.manifest["cells"][0]["key"] = "0" * 16
    with pytest.raises(ResultsError, match="no longer what 'nguyen-figure1' ran"):
        trained_again(changed, "outliers", "fld")


def test_figure_9_draws_every_pair_of_losses(reference):
    run = reference["nguyen-figure9"]
    figure = drawn(synthetic.against_others, run)
    for axes, dataset in zip(figure.axes, run.datasets, strict=True):
        for learner, title in {"bpm": "BPM", "svm": "SVM", "lr": "LR"}.items():
            x, y = named_lines(axes)[title]
            assert x.tolist() == run.cells[dataset, "sla"]["train_01_loss"]
            assert y.tolist() == run.cells[dataset, learner]["train_01_loss"]
            assert len(x) == 200
        low, high = axes.get_xlim()
        assert low < x.min() < x.max() < high
        assert np.all(named_lines(axes)["LR"][1] >= x)  # SLA starts from LR and only improves
        mean = {
            name: np.mean(run.cells[dataset, name]["train_01_loss"]) for name in ("sla", "bpm", "svm", "lr")
        }
        best = min(mean["bpm"], mean["svm"], mean["lr"])
        assert f"{100 * (best - mean['sla']) / best:.1f} %" in axes.get_title()


def test_times_are_those_of_the_search(reference):
    run = reference["nguyen-table1"]
    figure = drawn(times.error_against_time, run)
    assert [axes.get_title() for axes in figure.axes] == run.datasets
    for axes in figure.axes:
        cell = run.cells[axes.get_title(), "pivot"]
        x, y = named_lines(axes)["pivot"]
        assert x.tolist() == [cell["reached"][0], cell["seconds"][0]]
        assert y.tolist() == cell["train_01_loss"] * 2
        x, _ = named_lines(axes)["BPM"]  # no search: one time only
        assert x[0] == x[1] == run.cells[axes.get_title(), "bpm"]["seconds"][0]


SEARCHES = """
name: searches
metric: train_01_loss
datasets: [heart]
split: {train: all, repeats: 1}
preprocess: {scale: standard}
learners: {lr: {}, pivot: {steps: 500}}
"""


def test_a_search_is_drawn_on_its_way_down(zoloss, write_config, tmp_path):
    results = tmp_path / "results"
    assert zoloss("run", write_config(SEARCHES), "--out", results, "--jobs", "1").code == 0
    (run,), _ = load_results(results)
    (way,) = run.traces.values()
    assert way[-1] == (
        run.cells["heart", "pivot"]["reached"][0],
        run.cells["heart", "pivot"]["train_01_loss"][0],
    )
    assert [errors for _, errors in way] == sorted({errors for _, errors in way}, reverse=True)
    (axes,) = drawn(times.error_against_time, run).axes
    (steps,) = [line for line in axes.lines if line.get_drawstyle() == "steps-post"]
    assert list(zip(*steps.get_data(), strict=True)) == way


@pytest.mark.parametrize("trace", [[[1.0]], [[0.1, "x"]], 3, [[0.1, None]], []])
def test_a_damaged_way_down_leaves_the_two_times(zoloss, write_config, tmp_path, trace):
    results = tmp_path / "results"
    zoloss("run", write_config(SEARCHES), "--out", results, "--jobs", "1")
    (path,) = (results / "cells").glob("heart.pivot.*")
    header, row = path.read_text().splitlines()
    path.write_text(f"{header}\n{json.dumps(json.loads(row) | {'trace': trace})}\n")
    (run,), _ = load_results(results)
    assert run.traces == {}
    assert len(drawn(times.error_against_time, run).axes[0].lines) == 3


def test_regions_are_what_the_learner_predicts():
    (learned,) = chosen.learned("yinyang", ["adaboost:stump"], None, None)
    figure = drawn(boundary.regions, [learned])
    (axes,) = figure.axes
    (image,) = axes.images
    classes = np.asarray(image.get_array())
    left, right, low, high = image.get_extent()
    x, y = np.linspace(left, right, classes.shape[1]), np.linspace(low, high, classes.shape[0])
    rng = np.random.default_rng(3)
    for i, j in zip(rng.integers(0, classes.shape[0], 60), rng.integers(0, classes.shape[1], 60), strict=True):
        point = learned.part.scaled(np.array([[x[j], y[i]]]))
        assert classes[i, j] == learned.learners[0].predict(point)[0]
    assert 0.2 < classes.mean() < 0.8
    data, (train, test) = learned.part.data, (learned.part.train, learned.part.test)
    shown = named_lines(axes)
    assert shown["yin"].shape[1] + shown["yang"].shape[1] == len(train) == 600
    wrong = (learned.classes_at(data.X[test]) != data.y[test]).sum()
    assert f"test error {100 * wrong / len(test):.1f} %" in axes.get_title()


def test_several_classes_are_told_apart_one_against_the_rest():
    (learned,) = chosen.learned("tangram", ["fld"], None, None)
    data, train = learned.part.data, learned.part.train
    oracle = OneVsRestClassifier(make_learner("fld", {})).fit(learned.part.scaled(data.X[train]), data.y[train])
    points = np.random.default_rng(2).uniform(0, 1, (500, 2))
    assert np.array_equal(learned.classes_at(points), oracle.predict(learned.part.scaled(points)))
    (axes,) = drawn(boundary.regions, [learned]).axes
    markers = [line.get_marker() for line in axes.lines if line.get_label() in data.classes]
    assert len(set(markers)) == 7


def test_one_class_of_several_can_be_told_from_the_rest():
    (learned,) = chosen.learned("tangram", ["fld"], "medium", None)
    assert learned.part.data.classes == ["rest", "medium"]
    assert len(learned.learners) == 1


def test_a_run_is_drawn_by_its_own_learners_and_splits(reference):
    run = catalog.narrowed(reference["table2"], ["yinyang"], ["rcd-bias", "ave-perc"])
    figure = drawn(boundary.of_run, run)
    for axes, learner in zip(figure.axes, ("rcd-bias", "ave-perc"), strict=True):
        stored = run.cells["yinyang", learner]
        assert f"training error {stored['train_error'][0]:.1f} %" in axes.get_title()
        assert f"test error {stored['test_error'][0]:.1f} %" in axes.get_title()


# -- ranks --------------------------------------------------------------------------------------------


def test_ranks_hang_where_they_are():
    (axes,) = drawn(ranks.diagram, RANKS).axes
    texts = {text.get_text(): text for text in axes.texts}
    for learner, rank in zip(("RCD-bias", "pocket", "ave-perc", "soft-SVM"), RANKS.ranks, strict=True):
        name = texts[f"{learner}  {rank:.2f}"]
        (line,) = (x for x in axes.lines if len(x.get_xdata()) == 3 and x.get_xdata()[0] == rank)
        assert (line.get_xdata()[2], line.get_ydata()[2]) == name.xy
    bars = [line.get_xdata() for line in axes.lines if line.get_color() == style.BLUE]
    assert [list(bar) for bar in bars] == [[1.25, 3.25], [2.0, 3.5]]
    (gap,) = (line.get_xdata() for line in axes.lines if line.get_marker() == "|")
    assert gap[1] - gap[0] == pytest.approx(2.3452)
    assert "critical difference 2.35" in texts
    heights = [text.xy[1] for text in axes.texts]
    assert min(abs(a - b) for a, b in itertools.combinations(heights[:2], 2)) >= 1.0  # names at one side


def test_the_diagram_of_a_run_has_its_ranks(reference):
    run = reference["table2"]
    (axes,) = drawn(ranks.critical_difference, run).axes
    found = average_ranks(run)
    hung = sorted(line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3)
    assert hung == found.ranks
    assert f"critical difference {found.critical_difference:.2f}" in {text.get_text() for text in axes.texts}


@pytest.mark.parametrize("gap", [0.4, 1.4, 2.9])
def test_the_critical_difference_is_written_within_the_figure(gap):
    figure = drawn(ranks.diagram, replace(RANKS, critical_difference=gap))
    assert_inside(figure)


def test_a_critical_difference_beyond_the_axis_is_only_written():
    figure = drawn(ranks.diagram, replace(RANKS, critical_difference=7.5))
    (axes,) = figure.axes
    assert_inside(figure)
    assert not [line for line in axes.lines if line.get_marker() == "|"]
    assert any("critical difference 7.50: more than" in text.get_text() for text in axes.texts)


def assert_inside(figure) -> None:
    """Nothing that is drawn leaves the page, by more than half a line's width."""
    with style.styled():
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.01, box


# -- files and looks ----------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_lines_differ_without_colour():
    looks = style.looks(35)
    assert len({(str(look.dashes), look.marker) for look in looks}) == 35
    for first, second in itertools.combinations(style.looks(5), 2):
        assert len({first.colour, second.colour}) == len({str(first.dashes), str(second.dashes)}) == 2
    contrasts = [1.05 / (luminance(colour) + 0.05) for colour in style.COLOURS]
    assert all(contrast >= 3.0 for contrast in contrasts[:5]), contrasts
    assert all(contrast >= 2.0 for contrast in contrasts), contrasts


@pytest.mark.parametrize("format", ["pdf", "svg", "png"])
def test_the_same_figure_gives_the_same_bytes(recorded, format):
    import matplotlib

    first = rendered(drawn(curves.rcd_variants, recorded[1]), format)
    with matplotlib.rc_context({"lines.linewidth": 9.0, "xtick.direction": "in", "svg.hashsalt": None}):
        second = rendered(drawn(curves.rcd_variants, recorded[1]), format)
    assert first == second
    assert first != rendered(drawn(curves.by_epoch, recorded[1]), format)


def test_drawing_leaves_matplotlib_as_it_was():
    import matplotlib

    before = dict(matplotlib.rcParams)
    rendered(drawn(losses.margin_losses), "svg")
    assert dict(matplotlib.rcParams) == before


def test_a_pdf_has_its_fonts_inside_and_says_nothing_of_when():
    content = rendered(drawn(losses.margin_losses), "pdf")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert b"CreationDate" not in content


def test_inline_svg_stands_beside_others():
    figure = drawn(losses.margin_losses)
    texts = [catalog.to_svg(figure, prefix) for prefix in ("one", "two")]
    assert texts[0].startswith("<svg")
    ids = [set(re.findall(r'id="([^"]+)"', text)) for text in texts]
    assert ids[0]
    assert not ids[0] & ids[1]
    root = ElementTree.fromstring(texts[0])
    for value in (value for element in root.iter() for value in element.attrib.values()):
        for name in re.findall(r"url\(#([^)]+)\)", value):
            assert name in ids[0]
    assert {e.get("href")[1:] for e in root.iter() if e.get("href")} <= ids[0]
    sheet = root.find("{http://www.w3.org/2000/svg}style").text
    assert all(rule.startswith(".one-") for rule in sheet.split("}")[:-1])  # it styles nothing but itself
    used = {name for e in root.iter() for name in e.get("class", "").split()}
    assert used == set(re.findall(r"\.([\w-]+)\{", sheet))
    assert "margin" in "".join(root.itertext())


def test_inline_svg_keeps_every_point(reference):
    figure = drawn(synthetic.against_others, reference["nguyen-figure9"])
    run = reference["nguyen-figure9"]
    points = set()
    for dataset, learner in itertools.product(run.datasets, ("bpm", "svm", "lr")):
        x, y = (run.cells[dataset, name]["train_01_loss"] for name in ("sla", learner))
        points |= {(dataset, learner, *point) for point in zip(x, y, strict=True)}
    marks = re.findall("<use", catalog.to_svg(figure))
    assert len(points) <= len(marks) < len(points) + 100  # and ticks and the legend


def test_a_file_name_gives_the_format():
    assert format_of(Path("a.b/c.PNG")) == "png"
    for name in ("figure.jpg", "figure", "figure.pdf.gz"):
        with pytest.raises(OutputError, match=r"one of \.pdf, \.svg, \.png"):
            format_of(Path(name))


# -- the catalog --------------------------------------------------------------------------------------


def test_every_figure_of_the_reference_is_drawn_and_small(reference):
    drawings = catalog.available(list(reference.values()), REFERENCE)
    assert {"1", "3", "4", "9", "ranks", "curves", "time"} == {drawing.name for drawing in drawings}
    assert len({drawing.stem for drawing in drawings}) == len(drawings)
    for drawing in drawings:
        figure = drawing.draw()
        assert_inside(figure)
        text = catalog.to_svg(figure, drawing.stem)
        assert 2000 < len(text.encode()) < 60_000, drawing.stem
        assert drawing.command in drawing.caption


def test_what_is_available_depends_on_the_run(recorded, reference):
    names = [drawing.name for drawing in catalog.available([recorded[1]])]
    assert names == ["3"]  # its curves are that figure; one data set gives no ranks
    quick = {drawing.name for drawing in catalog.available([reference["table2"]])}
    assert quick == {"ranks"}
    everything = {drawing.name for drawing in catalog.available([reference["table2"]], quick=False)}
    assert everything == {"ranks", "boundary"}


def test_a_caption_names_run_config_splits_and_command(recorded):
    (drawing,) = catalog.available([recorded[1]], Path("my results"))
    for part in ("RCD by epoch", "3 splits", "run 'figure3'", "figure3.yaml", "± one standard error"):
        assert part in drawing.caption
    assert drawing.command == "zoloss plot 'my results' --figure 3"


def test_a_part_of_a_run_must_exist(reference):
    with pytest.raises(ResultsError, match="no data set 'hart'; did you mean 'heart'"):
        catalog.narrowed(reference["table2"], ["hart"], [])
    with pytest.raises(ConfigError, match="did you mean 'ranks'"):
        catalog.kind_of("rank")
