"""Figure 1 and boundaries: what was learned, trained again and drawn."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from drawing import drawn, named_lines
from places import REFERENCE
from sklearn.multiclass import OneVsRestClassifier

from zoloss_cli.api import plots as boundary_figure
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.figures import boundary, drawings
from zoloss_cli.figures import nguyen_sanner as lines
from zoloss_cli.figures.nguyen_sanner import refit
from zoloss_cli.registry import make_learner
from zoloss_cli.report.runs import CellResult, load_runs
from zoloss_cli.results.store import Store


def test_a_manifest_gives_back_its_experiment():
    for manifest in Store(REFERENCE).read_manifests():
        keys = [cell.key for cell in plan(manifest.experiment)]
        assert keys == [cell.key for cell in manifest.cells], manifest.experiment.name


def test_figure_1_draws_each_boundary_with_its_stored_errors(reference):
    run = reference["nguyen-figure1"]
    (axes,) = drawn(lines.draw_boundaries, run).axes
    shown = named_lines(axes)
    errors = {}
    for learner, title in {"fld": "FLD", "svm": "SVM", "lr": "LR", "sla": "SLA", "pivot": "pivot"}.items():
        errors[learner] = int(run.cells["outliers", learner]["train_01_loss"][0])
        ends = shown[f"{title}: {errors[learner]} errors"].T
        fitted, _ = refit(run, "outliers", learner)
        scores = fitted.learner.decision_function(fitted.split_data.scale(ends))
        assert np.linalg.norm(ends[1] - ends[0]) > 10.0
        assert scores == pytest.approx([0.0, 0.0], abs=1e-9 * np.abs(fitted.learner.coef_).max())
    assert min(errors[x] for x in ("fld", "svm", "lr")) >= 61  # as the paper's caption says
    assert errors["sla"] <= 39
    points = np.hstack([shown["left"], shown["right"]]).T
    assert sorted(points.tolist()) == sorted(fitted.split_data.data.X.tolist())


@pytest.mark.parametrize(("weights", "bias", "ends"), [
    ([1.0, 0.0], -0.5, [(0.5, 0.0), (0.5, 2.0)]), ([0.0, 2.0], -2.0, [(0.0, 1.0), (1.0, 1.0)]),
    ([1.0, 1.0], -1.0, [(0.0, 1.0), (1.0, 0.0)]), ([1.0, 1.0], -9.0, []), ([0.0, 0.0], 1.0, []),
])  # fmt: skip
def test_a_line_is_clipped_to_the_box(weights, bias, ends):
    found = lines.clip_line(np.array(weights), bias, np.array([[0.0, 0.0], [1.0, 2.0]]))
    assert found.tolist() == [list(end) for end in ends]


def test_what_is_not_as_stored_is_refused(reference):
    run, place = reference["nguyen-figure1"], ("outliers", "fld")

    def change_record(**changes):
        record = msgspec.structs.replace(run.cells[place].records[0], **changes)
        cell = CellResult([record], [record.split], run.cells[place].sizes)
        return replace(run, cells=run.cells | {place: cell})

    first, *rest = run.manifest.cells
    manifest = replace(run.manifest, cells=[msgspec.structs.replace(first, key="0" * 16), *rest])
    for changed, message in (
        (change_record(train_errors=66), "fld on outliers, fitted again, has 67 train_errors where 66 are"),
        (change_record(split=1), "split 0 of fld on outliers is not in the run 'nguyen-figure1'"),
        (replace(run, manifest=manifest), "no longer what 'nguyen-figure1' ran"),
    ):
        with pytest.raises(ResultsError, match=message):
            refit(changed, *place)


def test_regions_are_what_the_learner_predicts():
    (fitted,) = boundary_figure.fit_learners("yinyang", ["adaboost:stump"], None, None)
    figure = drawn(boundary.draw_regions, [fitted])
    (axes,) = figure.axes
    (image,) = axes.images
    classes = np.asarray(image.get_array())
    left, right, low, high = image.get_extent()
    x, y = np.linspace(left, right, classes.shape[1]), np.linspace(low, high, classes.shape[0])
    rng = np.random.default_rng(3)
    for i, j in zip(rng.integers(0, classes.shape[0], 60), rng.integers(0, classes.shape[1], 60), strict=True):
        point = fitted.split_data.scale(np.array([[x[j], y[i]]]))
        assert classes[i, j] == fitted.learners[0].predict(point)[0]
    assert 0.2 < classes.mean() < 0.8
    data, (train, test) = fitted.split_data.data, (fitted.split_data.train, fitted.split_data.test)
    shown = named_lines(axes)
    assert shown["yin"].shape[1] + shown["yang"].shape[1] == len(train) == 600
    wrong = (fitted.predict(data.X[test]) != data.y[test]).sum()
    assert f"test error {100 * wrong / len(test):.1f} %" in axes.get_title()


def test_several_classes_are_told_apart_one_against_the_rest():
    (fitted,) = boundary_figure.fit_learners("tangram", ["fld"], None, None)
    data, train = fitted.split_data.data, fitted.split_data.train
    oracle = OneVsRestClassifier(make_learner("fld", {})).fit(
        fitted.split_data.scale(data.X[train]), data.y[train]
    )
    points = np.random.default_rng(2).uniform(0, 1, (500, 2))
    assert np.array_equal(fitted.predict(points), oracle.predict(fitted.split_data.scale(points)))
    (axes,) = drawn(boundary.draw_regions, [fitted]).axes
    markers = [line.get_marker() for line in axes.lines if line.get_label() in data.classes]
    assert len(set(markers)) == 7
    (fitted,) = boundary_figure.fit_learners("tangram", ["fld"], "medium", None)
    assert fitted.split_data.data.classes == ["rest", "medium"]
    assert len(fitted.learners) == 1


def test_a_learner_for_several_classes_tells_them_apart_by_itself(zoloss, table, tmp_path):
    rng = np.random.default_rng(4)
    rows = [f"{a:.3f},{b:.3f},{'xyz'[i % 3]}" for i, (a, b) in enumerate(rng.normal(size=(90, 2)))]
    path, out = table("\n".join(["a,b,label", *rows]) + "\n"), tmp_path / "out"
    (fitted,) = boundary_figure.fit_learners(str(path), ["one-vs-all:fld"], None, None)
    data, train = fitted.split_data.data, fitted.split_data.train
    oracle = make_learner("one-vs-all", base="fld").fit(fitted.split_data.scale(data.X[train]), data.y[train])
    assert np.array_equal(fitted.predict(data.X), oracle.predict(fitted.split_data.scale(data.X)))
    assert fitted.train_errors == (fitted.predict(data.X[train]) != data.y[train]).sum() > 0
    zoloss.ok("evaluate", path, "--learners", "one-vs-all:fld", "--splits", 1, "--out", out, "--jobs", 1)
    (run,), _ = load_runs(out)
    (axes,) = drawn(boundary.draw_run, run).axes
    assert len(np.unique(np.asarray(axes.images[0].get_array()))) == 3
    assert f"test error {run.cells['mine', 'one-vs-all:fld']['test_error'][0]:.1f} %" in axes.get_title()


def test_a_run_is_drawn_by_its_own_learners_and_splits(reference):
    run = drawings.narrow_run(reference["table2"], ["yinyang"], ["rcd-bias", "ave-perc"])
    figure = drawn(boundary.draw_run, run)
    for axes, learner in zip(figure.axes, ("rcd-bias", "ave-perc"), strict=True):
        stored = run.cells["yinyang", learner]
        assert f"training error {stored['train_error'][0]:.1f} %" in axes.get_title()
        assert f"test error {stored['test_error'][0]:.1f} %" in axes.get_title()
