"""Figure 1 and boundaries: what was learned, trained again and drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from drawing import drawn, named_lines
from places import REFERENCE
from sklearn.multiclass import OneVsRestClassifier

from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.retrain import trained_again
from zoloss_cli.registry import make_learner
from zoloss_cli.reporting.figures import boundary, catalog, lines
from zoloss_cli.reporting.results import RunResult, load_results
from zoloss_cli.results.manifest import read_experiment
from zoloss_cli.results.store import Store
from zoloss_cli.workflows import boundary_figure


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


def test_regions_are_what_the_learner_predicts():
    (learned,) = boundary_figure.fit_learners("yinyang", ["adaboost:stump"], None, None)
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
    (learned,) = boundary_figure.fit_learners("tangram", ["fld"], None, None)
    data, train = learned.part.data, learned.part.train
    oracle = OneVsRestClassifier(make_learner("fld", {})).fit(learned.part.scaled(data.X[train]), data.y[train])
    points = np.random.default_rng(2).uniform(0, 1, (500, 2))
    assert np.array_equal(learned.classes_at(points), oracle.predict(learned.part.scaled(points)))
    (axes,) = drawn(boundary.regions, [learned]).axes
    markers = [line.get_marker() for line in axes.lines if line.get_label() in data.classes]
    assert len(set(markers)) == 7


def test_a_learner_for_several_classes_learns_them_at_once():
    (learned,) = boundary_figure.fit_learners("tangram", ["one-vs-one:stump"], None, None)
    (model,) = learned.learners
    assert model.classes_.tolist() == list(range(7))
    data, train = learned.part.data, learned.part.train
    X = learned.part.scaled(data.X[train])
    assert learned.train_errors == (model.predict(X) != data.y[train]).sum()
    assert np.array_equal(learned.classes_at(data.X[train]), model.predict(X))


def test_a_learner_for_several_classes_tells_them_apart_by_itself(zoloss, table, tmp_path):
    rng = np.random.default_rng(4)
    rows = [f"{a:.3f},{b:.3f},{'xyz'[i % 3]}" for i, (a, b) in enumerate(rng.normal(size=(90, 2)))]
    path, out = table("\n".join(["a,b,label", *rows]) + "\n"), tmp_path / "out"
    (learned,) = boundary_figure.fit_learners(str(path), ["one-vs-all:fld"], None, None)
    data, train = learned.part.data, learned.part.train
    oracle = make_learner("one-vs-all", base="fld").fit(learned.part.scaled(data.X[train]), data.y[train])
    assert np.array_equal(learned.classes_at(data.X), oracle.predict(learned.part.scaled(data.X)))
    assert learned.train_errors == (learned.classes_at(data.X[train]) != data.y[train]).sum() > 0
    ended = zoloss("evaluate", path, "--learners", "one-vs-all:fld", "--splits", 1, "--out", out, "--jobs", 1)
    assert ended.code == 0, ended.err
    (run,), _ = load_results(out)
    (axes,) = drawn(boundary.of_run, run).axes
    assert len(np.unique(np.asarray(axes.images[0].get_array()))) == 3
    assert f"test error {run.cells['mine', 'one-vs-all:fld']['test_error'][0]:.1f} %" in axes.get_title()


def test_one_class_of_several_can_be_told_from_the_rest():
    (learned,) = boundary_figure.fit_learners("tangram", ["fld"], "medium", None)
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
