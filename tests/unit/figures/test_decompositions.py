"""Figures 1.4 to 1.9 and 1.14 to 1.16 of Li's thesis: samples, pairs, points and subsets are those measured."""

from dataclasses import replace
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
from zoloss_cli.figures import drawings, thesis_complexity, thesis_samples
from zoloss_cli.figures.figure_kinds import find_figure
from zoloss_cli.report.papers import PublishedValue

CLASSES = {
    "disks": ("class 0 (grey)", "class 1 (white)"),
    "yinyang": ("class yin (grey)", "class yang (white)"),
}
SETS = {"1.5": ("disks", 14), "1.8": ("yinyang", 40)}
HEURISTIC = ("yinyang", "heuristic")
FIGURES = ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.14", "1.15", "1.16")


def shown_measurement(run, figure: str):
    return run.measurements[{"1.5": ("disks", "6 clusters"), "1.8": ("two of them", "exact")}[figure]][0]


def as_set(points) -> set:
    return {(float(a), float(b)) for a, b in points}


@pytest.mark.parametrize("figure", SETS)
def test_samples_of_the_first_draw_are_marked_by_class_and_clusters_connected_by_shortest_trees(
    measured, figure
):
    name, size = SETS[figure]
    pool = generate(name, 1, size=size)
    clusters = np.array(shown_measurement(measured[1][figure], figure).clusters)
    (axes,) = drawn(thesis_samples.draw_clusters, measured[1][figure]).axes
    for index, label in enumerate(CLASSES[name]):
        assert named_lines(axes)[label].T.tolist() == pool.X[pool.y == index].tolist()
    assert axes.get_title() == f"draw 0: {size} samples in {len(set(clusters))} clusters"
    segments = named_lines(axes)["within a cluster"].T.reshape(-1, 3, 2)
    assert len(segments) == size - len(set(clusters))
    assert np.isnan(segments[:, 2]).all()
    row = {tuple(x): i for i, x in enumerate(pool.X)}
    lengths = dict.fromkeys(clusters, 0.0)
    for start, end, _ in segments:
        assert clusters[row[tuple(start)]] == clusters[row[tuple(end)]]
        lengths[clusters[row[tuple(start)]]] += np.linalg.norm(start - end)
    for cluster, length in lengths.items():
        part = pool.X[clusters == cluster]
        assert length == pytest.approx(minimum_spanning_tree(cdist(part, part)).sum())


def test_every_pair_of_every_exact_column_is_a_dot_and_principal_points_are_circled(measured):
    run = measured[1]["1.5"]
    *panels, below = drawn(thesis_complexity.draw_complexity_error, run).axes
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
    panel, _ = drawn(thesis_complexity.draw_complexity_error, run).axes
    heuristic = run.measurements[HEURISTIC][0]
    assert panel.get_title().startswith("exact, draw 0\n")
    panel, _ = drawn(thesis_complexity.draw_complexity_error, drawings.narrow_run(run, [], ["heuristic"])).axes
    counts = f"{heuristic.principal_points} principal points, {heuristic.principal_subsets} principal subsets"
    assert panel.get_title() == f"heuristic, draw 0 (principal points only)\n{counts}"
    assert list(named_lines(panel)) == ["principal point"]


def test_counts_of_all_draws_stand_beside_the_published_ones(measured, monkeypatch):
    run = measured[1]["1.8"]
    numbers = {"principal_points": 25.0, "principal_subsets": 48.0}
    values = {metric: PublishedValue(number, None, 0) for metric, number in numbers.items()}
    cells = {("yinyang", x, m): value for x in ("heuristic", "exact") for m, value in values.items()}
    monkeypatch.setattr(thesis_complexity, "find_published_cells", lambda published: cells)
    figure = drawn(thesis_complexity.draw_complexity_error, run)
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


@pytest.mark.parametrize(("figure", "draw", "most"), [
    ("1.5", thesis_samples.draw_three_subsets, 3), ("1.8", thesis_samples.draw_eleven_subsets, 11),
])  # fmt: skip
def test_subsets_have_the_samples_of_their_clusters(measured, figure, draw, most):
    name, size = SETS[figure]
    pool, found = generate(name, 1, size=size), shown_measurement(measured[1][figure], figure)
    drawing = drawn(draw, measured[1][figure])
    points = thesis_samples.select_evenly(found.points, most)
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
    found = thesis_samples.select_evenly(list(range(length)), count)
    assert len(found) == min(length, count)
    assert (found[0], found[-1]) == (0, length - 1) if length > 1 else found == [0]
    gaps = np.diff(found)
    assert gaps.size == 0 or 1 <= gaps.min() <= gaps.max() <= gaps.min() + 1


def test_more_clusters_than_a_word_has_bits():
    assert thesis_samples.find_samples(range(100), (1 << 99) + 5).tolist() == [0, 2, 99]


def test_figures_are_of_the_run_that_has_them(measured):
    folder, runs = measured
    found_drawings = drawings.find_drawings([runs["1.5"], runs["1.8"]], folder, only_quick=False)
    found = {drawing.kind.number: drawing for drawing in found_drawings}
    assert [name for name in found if name in FIGURES] == list(FIGURES)
    assert "boundary" not in found  # since nothing was fitted
    sources = dict.fromkeys((*FIGURES[:3], "1.14"), "figure1.5")
    sources |= dict.fromkeys((*FIGURES[3:6], "1.15", "1.16"), "figure1.8")
    assert {name: found[name].run for name in FIGURES} == sources
    assert found["1.4"].title == "Figure 1.4 of Li's thesis (2006): Clusters of the concentric disks problem"
    for name in ("1.6", "1.9"):
        assert "Evenly spaced along the principal points, the first subset of each." in found[name].caption
    with pytest.raises(ResultsError, match=r"for figure .*/1\.9'; run: zoloss run .*figure1\.8\.yaml"):
        drawings.choose_drawing(find_figure("1.9"), [runs["1.5"]], folder)


def test_one_draw_is_enough_and_need_not_be_the_first(measured):
    def lose(measurements):
        for draws in measurements.values():
            for draw in (0, 2):
                draws.pop(draw, None)

    for name in FIGURES:
        kind = find_figure(name)
        run = change_measurements(measured[1][kind.source_figure or name], lose)
        assert kind.matches(run)
        figure = drawn(kind.draw, run)
        titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
        assert any("draw 1" in title for title in titles), name


def test_draws_without_what_is_drawn_are_left_out_and_those_of_other_samples_refused(measured):
    run = measured[1]["1.5"]
    first = run.measurements["disks", "6 clusters"][0]
    for lost in ({"points": None, "pairs": None}, {"points": []}, {"pairs": []}, {"points": [(1, 2, 1, [])]}):
        without = {
            place: {draw: alter(found, **lost) for draw, found in draws.items()}
            for place, draws in run.measurements.items()
        }
        one_less = change_first(run, alter(first, **lost))
        for name in FIGURES[:3]:
            assert not find_figure(name).matches(replace(run, measurements=without))
            assert find_figure(name).matches(one_less)
    figure = drawn(thesis_complexity.draw_complexity_error, one_less)
    titles = [axes.get_title().split("\n")[0] for axes in figure.axes[:2]]
    assert titles == ["6 clusters, draw 1", "all subsets, draw 0"]
    other = change_first(run, alter(first, clusters=first.clusters[:-1]))
    with pytest.raises(ResultsError, match=r"on 13 samples, but draw 0 has 14: the results of 'figure1\.5'"):
        drawn(thesis_samples.draw_clusters, other)


def change_first(run, found):
    return change_measurements(run, lambda measurements: measurements["disks", "6 clusters"].update({0: found}))


def test_a_page_has_all_figures_of_a_run_and_says_once_how_it_was_made(reference_page):
    text = reference_page.read_text(encoding="utf-8")
    in_order = (*FIGURES[:6], "1.11", "1.12", "1.13", *FIGURES[6:])
    places = [text.index(f"<h3>Figure {name} of Li&#39;s thesis (2006): ") for name in in_order]
    assert places == sorted(places)
    groups = sum(1 for _ in groupby(find_figure(name).source_figure or name for name in in_order[:-1]))
    assert text[places[0] : places[-1]].count("How it was made") == groups - 1  # after the figures of one run


def read_labels(figure) -> list[tuple[int, int]]:
    return [tuple(map(int, axes.get_xlabel().strip("()").split(","))) for axes in figure.axes]


def test_all_subsets_are_shown_and_have_the_complexity_that_is_written_below(measured):
    run = measured[1]["1.5"]
    figure = drawn(thesis_complexity.draw_all_subsets, run)
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
    figures = [
        drawn(draw, run) for draw in (thesis_complexity.draw_first_half, thesis_complexity.draw_second_half)
    ]
    labels = [label for figure in figures for label in read_labels(figure)]
    points = shown_measurement(run, "1.8").points
    assert labels == [(c, e) for c, e, _, subsets in points for _ in subsets[:2]]
    assert 0 <= len(figures[0].axes) - len(figures[1].axes) <= 1
