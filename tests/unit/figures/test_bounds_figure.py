"""The figure of bounds: its points are the stored numbers, and none of the highest is left out."""

import numpy as np
from built_runs import build_run
from drawing import assert_inside, drawn, named_lines

from zoloss_cli.figures import drawings
from zoloss_cli.figures import li_lin as bounds
from zoloss_cli.report.runs import RunResult


def run_of(cells) -> RunResult:
    values = {}
    for place, (bound, counted) in cells.items():
        ratios = [c / b for c, b in zip(counted, bound, strict=True)]
        values[place] = {"bound": bound, "counted": counted, "bound_ratio": ratios}
    return build_run(values, metric="bound_ratio", split={"repeats": 3, "train": "all"})


CELLS = {
    ("a", "mistake-bound"): ([10.0, 1000.0, 3000.0], [1.0, 50.0, 2999.0]),
    ("b", "mistake-bound"): ([7.0, 7.0, 7.0], [7.0, 7.0, 7.0]),
    ("b", "inseparable-bound"): ([20.0, 40.0, 80.0], [5.0, 6.0, 7.0]),
}


def test_a_panel_a_theorem_a_marker_a_set():
    run = run_of(CELLS)
    figure = drawn(bounds.draw_counted_against_bound, run)
    assert_inside(figure)
    first, second = figure.axes
    assert [first.get_title(), second.get_title()] == ["mistakes", "inseparable"]
    shown = named_lines(first)
    assert set(map(tuple, shown["a"].T)) == {(10, 1), (1000, 50), (3000, 2999)}
    assert shown["b"].T.tolist() == [[7, 7]]  # three sets in one place
    assert set(named_lines(second)) == {"b", "counted = bound"}
    for axes in figure.axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        line = named_lines(axes)["counted = bound"]
        np.testing.assert_array_equal(line[0], line[1])
        for name, points in named_lines(axes).items():
            assert line[0].min() <= points.min(), name
            assert points[0].max() <= line[0].max(), name
    assert [text.get_text() for text in first.get_xticklabels()][1:4] == ["1", "10", "10²"]


def test_what_covers_another_is_the_nearest_to_the_line():
    rng = np.random.default_rng(0)
    bound = 10 ** rng.uniform(0, 4, 3000)
    counted = np.ceil(bound * rng.uniform(0, 1, 3000))
    run = run_of({("many", "mistake-bound"): (bound.tolist(), counted.tolist())})
    (axes,) = drawn(bounds.draw_counted_against_bound, run).axes
    points = named_lines(axes)["many"]
    assert points.shape[1] < 1000
    assert (points[1] / points[0]).max() == (counted / bound).max()
    # Every set is as near to a point as the eye can tell.
    logs = np.log10(points)
    for b, c in zip(np.log10(bound), np.log10(counted), strict=True):
        assert np.abs(logs - [[b], [c]]).max(axis=0).min() <= 1.01 / bounds.MARKERS_PER_DECADE


def test_only_runs_with_bounds_suit():
    assert bounds.has_bounds(run_of(CELLS))
    (found,) = [d for d in drawings.find_drawings([run_of(CELLS)]) if d.name == "bounds"]
    assert "none may lie above the line" in found.caption
    assert not bounds.has_bounds(build_run({("a", "fld"): {"train_error": [1.0]}}, metric="train_error"))
