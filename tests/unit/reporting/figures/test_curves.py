"""Curves and Figures 3 and 4: what is drawn is what was stored."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from drawing import drawn, named_lines, stored_rows

from zoloss_cli.reporting.figures import curves
from zoloss_cli.reporting.results import RunResult, load_results


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
    from zoloss_cli.reporting.curves import Curves

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
