"""Curves and Figures 3 and 4: what is drawn is what was stored."""

import shutil

import numpy as np
import pytest
from built_runs import build_cell, build_experiment, build_manifest
from drawing import drawn, find_cell_file, named_lines, rewrite_record, stored_records

from zoloss_cli.figures import curves
from zoloss_cli.figures.curves import Curves
from zoloss_cli.report.runs import RunResult, load_runs


def test_figure_3_draws_the_mean_of_all_splits_with_colours_by_variant_and_dashes_by_seeding(recorded):
    folder, run = recorded
    figure = drawn(curves.draw_rcd_variants, run)
    shown = {k: v for axes in figure.axes for k, v in named_lines(axes).items()}
    titles = {"ccd-zero": "CCD, zero", "rcd-bias-zero": "RCD-bias, zero", "rcd-bias-fld": "RCD-bias, FLD"}
    assert set(shown) == set(titles.values())
    for learner, title in titles.items():
        rows, header = stored_records(folder, run, learner)
        curve = run.cells["heart", learner].curves
        for part in ("train", "test"):
            percent = np.array([row[f"{part}_curve"] for row in rows]) * 100.0 / header[f"n_{part}"]
            spread = percent.std(axis=0, ddof=1) / np.sqrt(3)
            assert curve.compute_mean(f"{part}_error") == pytest.approx(percent.mean(axis=0))
            assert curve.compute_stderr(f"{part}_error") == pytest.approx(spread)
        assert shown[title] == pytest.approx(np.array([[10, 20, 30, 40], curve.compute_mean("train_error")]))
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
    labels = [train.get_ylabel(), test.get_ylabel(), test.get_xlabel()]
    assert labels == ["training error (%)", "test error (%)", "epochs"]


def test_damaged_curves_are_left_out_and_the_rest_stays(recorded, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(recorded[0], folder)
    for learner, damage in {
        "ccd-zero": lambda record: record.pop("epochs"),
        "rcd-bias-zero": lambda record: record.update(train_curve=[1], test_curve=[7]),
        "rcd-bias-fld": lambda record: record.update(train_curve=["x"] * 4, test_curve=None),  # no record
    }.items():
        rewrite_record(find_cell_file(folder, recorded[1], learner), 1, damage)
    (run,) = load_runs(folder)[0]
    assert [run.cells["heart", x].curves is None for x in run.learners] == [True, True, False]
    assert [run.get_stat("heart", x).splits for x in run.learners] == [3, 3, 2]
