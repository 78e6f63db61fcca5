"""Curves and Figures 3 and 4: what is drawn is what was stored."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from built_runs import build_cell, build_experiment, build_manifest
from drawing import drawn, find_cell_file, named_lines, rewrite_record, stored_records

from zoloss_cli.figures import curves
from zoloss_cli.figures.curves import Curves
from zoloss_cli.report.loading import load_runs
from zoloss_cli.report.runs import RunResult


@pytest.mark.parametrize(("metric", "key", "size"), [
    ("train_error", "train_curve", "n_train"), ("test_error", "test_curve", "n_test"),
])  # fmt: skip
def test_curves_are_the_stored_ones(recorded, metric, key, size):
    folder, run = recorded
    for learner in run.learners:
        rows, header = stored_records(folder, run, learner)
        counts = np.array([row[key] for row in rows])
        found = run.cells["heart", learner].curves
        assert found.epochs == [10, 20, 30, 40]
        assert found.compute_mean(metric) == pytest.approx(100.0 * counts.mean(axis=0) / header[size])
        spread = 100.0 * counts.std(axis=0, ddof=1) / header[size] / np.sqrt(3)
        assert found.compute_stderr(metric) == pytest.approx(spread)


def test_figure_3_draws_the_mean_of_all_splits(recorded):
    folder, run = recorded
    figure = drawn(curves.draw_rcd_variants, run)
    shown = {k: v for axes in figure.axes for k, v in named_lines(axes).items()}
    titles = {"ccd-zero": "CCD, zero", "rcd-bias-zero": "RCD-bias, zero", "rcd-bias-fld": "RCD-bias, FLD"}
    assert set(shown) == set(titles.values())
    for learner, title in titles.items():
        rows, header = stored_records(folder, run, learner)
        mean = 100.0 * np.array([row["train_curve"] for row in rows]).mean(axis=0) / header["n_train"]
        assert shown[title] == pytest.approx(np.array([[10, 20, 30, 40], mean]))


def test_figure_3_tells_variants_by_colour_and_seeding_by_line(recorded):
    figure = drawn(curves.draw_rcd_variants, recorded[1])
    found = {x.get_label(): x for axes in figure.axes for x in axes.lines}
    zero, fld, ccd = (found[name] for name in ("RCD-bias, zero", "RCD-bias, FLD", "CCD, zero"))
    assert zero.get_color() == fld.get_color() != ccd.get_color()
    assert zero.get_marker() == fld.get_marker() != ccd.get_marker()
    assert zero.is_dashed()
    assert not fld.is_dashed()


def curve_run(means: dict[str, list[float]]) -> RunResult:
    learners = [{"label": x, "learner": "ccd", "settings": [["seeding", "zero"]]} for x in means]
    run = RunResult(build_manifest(build_experiment(["d"], learners, metric="train_error")))
    for learner, mean in means.items():
        both = {"train_error": np.array([mean]), "test_error": np.array([mean]) + 1.0}
        cell = build_cell({"train_error": mean[-1:]})
        cell.curves = Curves([1, 2], both)
        run.add(("d", learner), cell)
    return run


def test_the_axis_is_broken_only_where_a_third_of_it_is_empty():
    together = drawn(curves.draw_rcd_variants, curve_run({"a": [30.0, 27.0], "b": [26.0, 20.0]}))
    apart = drawn(curves.draw_rcd_variants, curve_run({"a": [30.0, 29.0], "b": [22.0, 20.0]}))
    assert (len(together.axes), len(apart.axes)) == (1, 2)
    upper, lower = apart.axes
    assert upper.get_ylim()[0] > lower.get_ylim()[1]
    assert lower.get_ylim()[0] < 20.0 < 22.0 < lower.get_ylim()[1]


def test_figure_4_has_a_panel_for_training_and_one_for_test_errors():
    figure = drawn(curves.draw_errors_by_epoch, curve_run({"ccd": [30.0, 27.0], "pocket": [26.0, 20.0]}))
    train, test = figure.axes
    assert named_lines(train)["pocket"] == pytest.approx(np.array([[1, 2], [26.0, 20.0]]))
    assert named_lines(test)["pocket"] == pytest.approx(np.array([[1, 2], [27.0, 21.0]]))
    assert (train.get_ylabel(), test.get_ylabel()) == ("training error (%)", "test error (%)")


@pytest.mark.parametrize(("damage", "splits"), [
    (lambda record: record.pop("epochs"), 3),
    (lambda record: record.update(train_curve=[1], test_curve=[7]), 3),
    (lambda record: record.update(train_curve=["x"] * 4, test_curve=None), 2),  # no record at all
])  # fmt: skip
def test_damaged_curves_are_left_out_and_the_rest_stays(recorded, tmp_path, damage, splits):
    folder = tmp_path / "results"
    shutil.copytree(recorded[0], folder)
    rewrite_record(find_cell_file(folder, recorded[1], "ccd-zero"), 1, damage)
    (run,) = load_runs(folder)[0]
    assert (run.cells["heart", "ccd-zero"].curves is None) == (splits == 3)
    assert run.cells["heart", "rcd-bias-fld"].curves is not None
    assert run.get_stat("heart", "ccd-zero").splits == splits
