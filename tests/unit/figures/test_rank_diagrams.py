"""Diagrams of average ranks."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawing import RANKS, assert_inside, drawn

from zoloss_cli.figures import comparisons as ranks
from zoloss_cli.figures import style
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
