"""Diagrams of average ranks."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from built_runs import build_run
from drawing import RANKS, assert_inside, drawn, named_lines

from zoloss_cli.figures import comparisons as ranks
from zoloss_cli.figures import drawings, style
from zoloss_cli.report.statistics import compute_average_ranks


def list_hanging_lines(axes):
    """Return the points of the lines from the axis to the names: three each, then a gap."""
    points = axes.lines[0].get_xydata().reshape(-1, 4, 2)
    assert np.isnan(points[:, 3]).all()
    return points[:, :3].tolist()


def test_ranks_hang_where_they_are():
    (axes,) = drawn(ranks.draw_ranks, RANKS).axes
    texts = {text.get_text(): text for text in axes.texts}
    for learner, rank in zip(("RCD-bias", "pocket", "ave-perc", "soft-SVM"), RANKS.ranks, strict=True):
        name = texts[f"{learner}  {rank:.2f}"]
        (line,) = (points for points in list_hanging_lines(axes) if points[0] == [rank, 0.0])
        assert line[1:] == [[rank, name.xy[1]], list(name.xy)]
    bars = [line.get_xdata() for line in axes.lines if line.get_color() == style.BLUE]
    assert [list(bar) for bar in bars] == [[1.25, 3.25], [2.0, 3.5]]
    (gap,) = (line.get_xdata() for line in axes.lines if line.get_marker() == "|")
    assert gap[1] - gap[0] == pytest.approx(2.3452)
    assert "critical difference 2.35" in texts
    heights = [text.xy[1] for text in axes.texts]
    assert min(abs(a - b) for a, b in itertools.combinations(heights[:2], 2)) >= 1.0  # names at one side


def test_the_diagram_of_a_run_has_its_ranks(reference):
    run = reference["table2"]
    (axes,) = drawn(ranks.draw_critical_difference, run).axes
    found = compute_average_ranks(run)
    assert sorted(points[0][0] for points in list_hanging_lines(axes)) == found.ranks
    assert f"critical difference {found.critical_difference:.2f}" in {text.get_text() for text in axes.texts}


def test_the_critical_difference_is_within_the_figure_and_only_written_beyond_the_axis():
    for gap in (0.4, 2.9, 7.5):
        figure = drawn(ranks.draw_ranks, replace(RANKS, critical_difference=gap))
        assert_inside(figure)
    (axes,) = figure.axes
    assert not [line for line in axes.lines if line.get_marker() == "|"]
    assert any("critical difference 7.50: more than" in text.get_text() for text in axes.texts)


def test_ranks_by_setting_have_a_panel_for_each_unit_and_a_band_up_to_the_critical_difference():
    settings = {"200 epochs": "abc", "2000 epochs": "bac", "20 %": "cab"}
    run = build_run(
        {
            (f"{data} at {setting}", learner): {"train_error": [i + 1.0], "test_error": [9.0 - i]}
            for setting, order in settings.items()
            for data in ("one", "two")
            for i, learner in enumerate(order)
        },
        metric="train_error",
        also="test_error",
    )
    panels = drawn(ranks.draw_sensitivity, run).axes
    assert [panel.get_xlabel() for panel in panels] == ["epochs", "%"] * 2
    assert [text.get_text() for text in panels[0].get_xticklabels()] == ["200", "2000"]
    lines = [{name: y.tolist() for name, (_, y) in named_lines(panel).items()} for panel in panels]
    assert lines[:2] == [{"a": [1, 2], "b": [2, 1], "c": [3, 3]}, {"c": [1], "a": [2], "b": [3]}]
    assert lines[2:] == [{"c": [1, 1], "b": [2, 3], "a": [3, 2]}, {"b": [1], "a": [2], "c": [3]}]
    band = panels[0].collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == (1.0, pytest.approx(1.0 + 2.343 * np.sqrt(3 * 4 / (6 * 2)), rel=1e-3))
    assert not ranks.has_settings(drawings.narrow_run(run, ["one at 20 %", "one at 200 epochs"], []))
