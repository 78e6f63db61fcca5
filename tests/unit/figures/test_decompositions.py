"""Figures 1.4 to 1.9 and 1.14 to 1.16 of Li's thesis: samples, pairs, points and subsets are those measured."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from drawing import alter, assert_inside, change_measurements, drawn, named_lines
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from zoloss_cli import data_complexity
from zoloss_cli.data.dataset import generate
from zoloss_cli.errors import ResultsError
from zoloss_cli.figures import catalog
from zoloss_cli.figures import thesis_complexity as all_subsets
from zoloss_cli.figures import thesis_complexity as complexity_error
from zoloss_cli.figures import thesis_samples as principal
from zoloss_cli.figures.files import render_svg
from zoloss_cli.figures.registry import find_figure
from zoloss_cli.figures.thesis_samples import StoredDecomposition
from zoloss_cli.report.papers import PublishedValue

CLASSES = {
    "disks": ("class 0 (grey)", "class 1 (white)"),
    "yinyang": ("class yin (grey)", "class yang (white)"),
}
SETS = {"1.5": ("disks", 14), "1.8": ("yinyang", 40)}
EXACT, HEURISTIC = ("two of them", "exact"), ("yinyang", "heuristic")
FIGURES = ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.14", "1.15", "1.16")


def shown_measurement(run, figure: str):
    return run.measurements[{"1.5": ("disks", "6 clusters"), "1.8": ("two of them", "exact")}[figure]][0]


def as_set(points) -> set:
    return {(float(a), float(b)) for a, b in points}


# -- clusters ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", SETS)
def test_samples_of_the_first_draw_are_marked_by_class(measured, figure):
    name, size = SETS[figure]
    pool = generate(name, 1, size=size)
    (axes,) = drawn(principal.draw_clusters, measured[1][figure]).axes
    for index, label in enumerate(CLASSES[name]):
        assert named_lines(axes)[label].T.tolist() == pool.X[pool.y == index].tolist()
    count = len(set(shown_measurement(measured[1][figure], figure).clusters))
    assert axes.get_title() == f"draw 0: {size} samples in {count} clusters"


@pytest.mark.parametrize("figure", SETS)
def test_clusters_are_connected_by_shortest_trees(measured, figure):
    name, size = SETS[figure]
    X = generate(name, 1, size=size).X
    clusters = np.array(shown_measurement(measured[1][figure], figure).clusters)
    (axes,) = drawn(principal.draw_clusters, measured[1][figure]).axes
    path = named_lines(axes)["within a cluster"].T
    segments = path.reshape(-1, 3, 2)
    assert len(segments) == size - len(set(clusters))
    assert np.isnan(segments[:, 2]).all()
    row = {tuple(x): i for i, x in enumerate(X)}
    lengths = dict.fromkeys(clusters, 0.0)
    for start, end, _ in segments:
        assert clusters[row[tuple(start)]] == clusters[row[tuple(end)]]
        lengths[clusters[row[tuple(start)]]] += np.linalg.norm(start - end)
    for cluster, length in lengths.items():
        part = X[clusters == cluster]
        assert length == pytest.approx(minimum_spanning_tree(cdist(part, part)).sum())


# -- complexity-error plots -------------------------------------------------------------------------------


def test_every_pair_of_every_exact_column_is_a_dot_and_principal_points_are_circled(measured):
    run = measured[1]["1.5"]
    *panels, below = drawn(complexity_error.draw_complexity_error, run).axes
    assert len(panels) == 2
    for panel, learner in zip(panels, run.learners, strict=True):
        found = run.measurements["disks", learner][0]
        dots = [line.get_xydata() for line in panel.lines if line.get_marker() == "."]
        assert as_set(np.vstack(dots)) == as_set(found.pairs)
        assert sum(map(len, dots)) == len(found.pairs) > len(found.points)
        assert named_lines(panel)["principal point"].T.tolist() == [list(point[:2]) for point in found.points]
        counts = f"{found.principal_points} principal points, {found.principal_subsets} principal subsets"
        assert panel.get_title() == f"{learner}, draw 0\n{counts}"
    assert below.get_title() == ""


def test_the_exact_column_is_shown_and_the_other_only_without_it(measured):
    run = measured[1]["1.8"]
    panel, _ = drawn(complexity_error.draw_complexity_error, run).axes
    exact, heuristic = (run.measurements[place][0] for place in (EXACT, HEURISTIC))
    assert panel.get_title().startswith("exact, draw 0\n")
    dots = np.vstack([line.get_xydata() for line in panel.lines if line.get_marker() == "."])
    assert as_set(dots) == as_set(exact.pairs) > as_set(heuristic.pairs)
    panel, _ = drawn(complexity_error.draw_complexity_error, catalog.narrow_run(run, [], ["heuristic"])).axes
    counts = f"{heuristic.principal_points} principal points, {heuristic.principal_subsets} principal subsets"
    assert panel.get_title() == f"heuristic, draw 0 (principal points only)\n{counts}"
    assert list(named_lines(panel)) == ["principal point"]


def test_counts_of_all_draws_stand_beside_the_published_ones(measured, monkeypatch):
    run = measured[1]["1.8"]
    numbers = {"principal_points": 25.0, "principal_subsets": 48.0}
    values = {metric: PublishedValue(number, None, 0) for metric, number in numbers.items()}
    cells = {("yinyang", x, m): value for x in ("heuristic", "exact") for m, value in values.items()}
    monkeypatch.setattr(complexity_error, "find_published_cells", lambda published: cells)
    figure = drawn(complexity_error.draw_complexity_error, run)
    below = figure.axes[-1]
    names = [text.get_text() for text in below.get_yticklabels()]
    assert names == ["heuristic: points", "heuristic: subsets", "exact: points", "exact: subsets"]
    dots = [line for line in below.lines if line.get_marker() == "o"]
    rows = [("yinyang", "heuristic")] * 2 + [("two of them", "exact")] * 2
    metrics = ["principal_points", "principal_subsets"] * 2
    for height, (line, place, metric) in enumerate(zip(dots, rows, metrics, strict=True)):
        assert list(line.get_xdata()) == [getattr(found, metric) for found in run.measurements[place].values()]
        assert np.abs(line.get_ydata() - height).max() < 0.5
    ticks = [line.get_xydata()[0].tolist() for line in below.lines if line.get_marker() == "|"]
    assert ticks == [[25, 0], [48, 1], [25, 2], [48, 3]]
    assert "published value" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert below.get_xlim()[0] == 0 < 48 < below.get_xlim()[1]
    assert_inside(figure)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12))
def test_equal_counts_are_seen_beside_each_other(values):
    places = complexity_error.spread_equal(values, 3.0)
    assert len(set(zip(values, np.round(places, 9), strict=True))) == len(values)
    assert np.abs(np.array(places) - 3.0).max() <= complexity_error.MAX_SPREAD / 2
    for value in set(values):
        assert np.mean([p for v, p in zip(values, places, strict=True) if v == value]) == pytest.approx(3.0)


# -- principal subsets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("figure", "draw", "most"), [
    ("1.5", principal.draw_three_subsets, 3), ("1.8", principal.draw_eleven_subsets, 11),
])  # fmt: skip
def test_subsets_have_the_samples_of_their_clusters(measured, figure, draw, most):
    name, size = SETS[figure]
    pool, found = generate(name, 1, size=size), shown_measurement(measured[1][figure], figure)
    drawing = drawn(draw, measured[1][figure])
    points = principal.select_evenly(found.points, most)
    assert len(drawing.axes) == len(points) == min(most, len(found.points)) > 2
    assert points[0] == found.points[0]
    assert points[-1] == found.points[-1]
    for letter, axes, (complexity, error, _, (mask, *_)) in zip(
        "abcdefghijk", drawing.axes, points, strict=False
    ):
        bits = bin(mask)[2:][::-1]
        inside = np.array([c < len(bits) and bits[c] == "1" for c in found.clusters])
        lines = named_lines(axes)
        for index, label in enumerate(CLASSES[name]):
            assert lines[label].T.tolist() == pool.X[inside & (pool.y == index)].tolist()
        assert lines["left out"].T.tolist() == pool.X[~inside].tolist()
        assert np.sum(~inside) == error
        assert axes.get_xlabel() == f"({letter}) ({complexity}, {error})"
    counts = f"{len(points)} of {len(found.points)} principal points"
    assert drawing.get_suptitle() == f"draw 0: (complexity, error) of {counts}"


@given(st.integers(1, 60), st.integers(2, 12))
def test_selected_are_spaced_evenly_and_have_both_ends(length, count):
    found = principal.select_evenly(list(range(length)), count)
    assert len(found) == min(length, count)
    assert (found[0], found[-1]) == (0, length - 1) if length > 1 else found == [0]
    gaps = np.diff(found)
    assert gaps.size == 0 or 1 <= gaps.min() <= gaps.max() <= gaps.min() + 1


def test_more_clusters_than_a_word_has_bits():
    found = StoredDecomposition([], [], np.arange(100), True, {})
    assert found.find_samples((1 << 99) + 5).tolist() == [0, 2, 99]


# -- of which results -------------------------------------------------------------------------------------


def test_figures_are_of_the_run_that_has_them(measured):
    folder, runs = measured
    drawings = catalog.find_drawings([runs["1.5"], runs["1.8"]], folder, only_quick=False)
    found = {drawing.kind.number: drawing for drawing in drawings}
    assert list(found) == list(FIGURES)  # and no regions, since nothing was fitted
    sources = dict.fromkeys((*FIGURES[:3], "1.14"), "figure1.5")
    sources |= dict.fromkeys((*FIGURES[3:6], "1.15", "1.16"), "figure1.8")
    assert {name: found[name].run for name in FIGURES} == sources
    assert found["1.4"].title == "Figure 1.4 of Li's thesis (2006): Clusters of the concentric disks problem"
    for name in ("1.6", "1.9"):
        assert "Evenly spaced along the principal points, the first subset of each." in found[name].caption
    with pytest.raises(ResultsError, match=r"for figure .*/1\.9'; run: zoloss run .*figure1\.8\.yaml"):
        catalog.choose_drawing(find_figure("1.9"), [runs["1.5"]], folder)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_fit_their_page_and_are_small_inside_another(measured, name):
    folder, runs = measured
    figure = catalog.choose_drawing(find_figure(name), list(runs.values()), folder).draw()
    assert_inside(figure)
    assert len(render_svg(figure)) < 90_000


@pytest.mark.parametrize("name", FIGURES)
def test_a_missing_draw_is_told_and_one_draw_is_enough(measured, name):
    def lose(measurements):
        for draws in measurements.values():
            for draw in (0, 2):
                draws.pop(draw, None)

    kind = find_figure(name)
    run = change_measurements(measured[1][kind.source_figure or name], lose)
    assert kind.matches(run)
    figure = drawn(kind.draw, run)
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    assert any("draw 1" in title for title in titles)
    if name in ("1.4", "1.7"):
        set_name, size = SETS[kind.source_figure]
        pool = generate(set_name, 2, size=size)
        marks = named_lines(figure.axes[0])[CLASSES[set_name][1]]
        assert marks.T.tolist() == pool.X[pool.y == 1].tolist()
    assert_inside(figure)


@pytest.mark.parametrize("lost", [
    {"points": None, "pairs": None}, {"points": []}, {"pairs": []}, {"points": [(1, 2, 1, [])]},
])  # fmt: skip
def test_draws_without_what_is_drawn_are_left_out(measured, lost):
    def lose_all(measurements):
        for draws in measurements.values():
            draws.update({draw: alter(found, **lost) for draw, found in draws.items()})

    def lose_first(measurements):
        draws = measurements["disks", "6 clusters"]
        draws[0] = alter(draws[0], **lost)

    for name in FIGURES[:3]:
        assert not find_figure(name).matches(change_measurements(measured[1]["1.5"], lose_all))
        assert find_figure(name).matches(change_measurements(measured[1]["1.5"], lose_first))
    run = change_measurements(measured[1]["1.5"], lose_first)
    figure = drawn(complexity_error.draw_complexity_error, run)
    assert [axes.get_title().split("\n")[0] for axes in figure.axes[:2]] == [
        "6 clusters, draw 1",
        "all subsets, draw 0",
    ]


def test_measurements_of_other_samples_are_refused(measured):
    def shorten(measurements):
        draws = measurements["disks", "6 clusters"]
        draws[0] = alter(draws[0], clusters=draws[0].clusters[:-1])

    run = change_measurements(measured[1]["1.5"], shorten)
    with pytest.raises(ResultsError, match=r"of 13 samples where draw 0 has 14: the results of 'figure1\.5'"):
        drawn(principal.draw_clusters, run)


def test_a_page_has_all_figures_of_a_run_and_says_once_how_it_was_made(zoloss, measured, tmp_path):
    ended = zoloss("report", measured[0], "--out", tmp_path / "page.html")
    assert ended.code == 0, ended.err
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    in_order = (*FIGURES[:6], "1.11", "1.12", "1.13", *FIGURES[6:])
    places = [text.index(f"<h3>Figure {name} of Li&#x27;s thesis (2006): ") for name in in_order]
    assert places == sorted(places)
    sources = [find_figure(name).source_figure or name for name in in_order]
    groups = sum(1 for _ in groupby(sources))
    assert text[places[0] :].count("How it was made") == groups  # after all figures in a row of one run
    assert text[places[0] :].count("<figure ") >= len(in_order)


# -- Figures 1.14 to 1.16 -----------------------------------------------------------------------------------


def read_labels(figure) -> list[tuple[int, int]]:
    return [tuple(map(int, axes.get_xlabel().strip("()").split(","))) for axes in figure.axes]


def test_all_subsets_are_shown_and_have_the_complexity_that_is_written_below(measured):
    run = measured[1]["1.5"]
    figure = drawn(all_subsets.draw_all_subsets, run)
    found = shown_measurement(run, "1.5")
    assert len(figure.axes) == sum(len(subsets) for *_, subsets in found.points) == found.principal_subsets
    pool = generate("disks", 1, size=14)
    for axes, (complexity, error) in zip(figure.axes, read_labels(figure), strict=True):
        marked = np.hstack([named_lines(axes).get(name, np.empty((2, 0))) for name in CLASSES["disks"]])
        inside = np.isin(pool.X[:, 0], marked[0])
        assert inside.sum() == 14 - error
        assert data_complexity(pool.X[inside], pool.y[inside]) == complexity
    assert_inside(figure)


def test_two_figures_share_the_subsets_of_the_yin_yang(measured):
    run = measured[1]["1.8"]
    figures = [drawn(draw, run) for draw in (all_subsets.draw_first_half, all_subsets.draw_second_half)]
    labels = [label for figure in figures for label in read_labels(figure)]
    points = shown_measurement(run, "1.8").points
    assert labels == [(c, e) for c, e, _, subsets in points for _ in subsets[:2]]
    assert 0 <= len(figures[0].axes) - len(figures[1].axes) <= 1
