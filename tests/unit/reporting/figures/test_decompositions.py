"""Figures 1.4 to 1.9 of Li's thesis: examples, pairs, points and subsets are those that were measured."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from drawing import assert_inside, drawn, named_lines
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from zoloss_cli.datasets.pool import generate
from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.figures import catalog, complexity_error, principal
from zoloss_cli.reporting.figures.inline import to_svg
from zoloss_cli.reporting.published.cells import Printed

CLASSES = {
    "disks": ("class 0 (grey)", "class 1 (white)"),
    "yinyang": ("class yin (grey)", "class yang (white)"),
}
SETS = {"1.5": ("disks", 14), "1.8": ("yinyang", 40)}
FIGURES = ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9")


def changed(run, change):
    """The run with other facts."""
    facts = copy.deepcopy(run.facts)
    change(facts)
    return replace(run, facts=facts)


def shown_facts(run, figure: str) -> dict:
    return run.facts[{"1.5": ("disks", "6 clusters"), "1.8": ("two of them", "exact")}[figure]][0]


def as_set(points) -> set:
    return {(float(a), float(b)) for a, b in points}


# -- clusters ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", SETS)
def test_examples_of_the_first_draw_are_marked_by_class(measured, figure):
    name, size = SETS[figure]
    pool = generate(name, 1, size=size)
    (axes,) = drawn(principal.clusters, measured[1][figure]).axes
    for index, label in enumerate(CLASSES[name]):
        assert named_lines(axes)[label].T.tolist() == pool.X[pool.y == index].tolist()
    count = len(set(shown_facts(measured[1][figure], figure)["clusters"]))
    assert axes.get_title() == f"draw 0: {size} examples in {count} clusters"


@pytest.mark.parametrize("figure", SETS)
def test_clusters_are_connected_by_shortest_trees(measured, figure):
    name, size = SETS[figure]
    X = generate(name, 1, size=size).X
    clusters = np.array(shown_facts(measured[1][figure], figure)["clusters"])
    (axes,) = drawn(principal.clusters, measured[1][figure]).axes
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
    *panels, below = drawn(complexity_error.plots, run).axes
    assert len(panels) == 2
    for panel, learner in zip(panels, run.learners, strict=True):
        facts = run.facts["disks", learner][0]
        dots = [line.get_xydata() for line in panel.lines if line.get_marker() == "."]
        assert as_set(np.vstack(dots)) == as_set(facts["pairs"])
        assert sum(map(len, dots)) == len(facts["pairs"]) > len(facts["points"])
        assert named_lines(panel)["principal point"].T.tolist() == [point[:2] for point in facts["points"]]
        counts = f"{facts['principal_points']} principal points, {facts['principal_subsets']} principal subsets"
        assert panel.get_title() == f"{learner}, draw 0\n{counts}"
    assert below.get_title() == ""


def test_the_exact_column_is_shown_and_the_other_only_without_it(measured):
    run = measured[1]["1.8"]
    panel, _ = drawn(complexity_error.plots, run).axes
    exact, heuristic = run.facts["two of them", "exact"][0], run.facts["yinyang", "heuristic"][0]
    assert panel.get_title().startswith("exact, draw 0\n")
    dots = np.vstack([line.get_xydata() for line in panel.lines if line.get_marker() == "."])
    assert as_set(dots) == as_set(exact["pairs"]) > as_set(heuristic["pairs"])
    panel, _ = drawn(complexity_error.plots, catalog.narrowed(run, [], ["heuristic"])).axes
    counts = (
        f"{heuristic['principal_points']} principal points, {heuristic['principal_subsets']} principal subsets"
    )
    assert panel.get_title() == f"heuristic, draw 0 (principal points only)\n{counts}"
    assert list(named_lines(panel)) == ["principal point"]


def test_counts_of_all_draws_stand_beside_the_printed_ones(measured, monkeypatch):
    run = measured[1]["1.8"]
    cells = {("yinyang", x, "principal_points"): Printed(25.0, None, 0) for x in ("heuristic", "exact")}
    cells |= {("yinyang", x, "principal_subsets"): Printed(48.0, None, 0) for x in ("heuristic", "exact")}
    monkeypatch.setattr(complexity_error, "printed_cells", lambda published: cells)
    figure = drawn(complexity_error.plots, run)
    below = figure.axes[-1]
    names = [text.get_text() for text in below.get_yticklabels()]
    assert names == ["heuristic: points", "heuristic: subsets", "exact: points", "exact: subsets"]
    dots = [line for line in below.lines if line.get_marker() == "o"]
    rows = [("yinyang", "heuristic")] * 2 + [("two of them", "exact")] * 2
    metrics = ["principal_points", "principal_subsets"] * 2
    for height, (line, place, metric) in enumerate(zip(dots, rows, metrics, strict=True)):
        assert list(line.get_xdata()) == [facts[metric] for facts in run.facts[place].values()]
        assert np.abs(line.get_ydata() - height).max() < 0.5
    ticks = [line.get_xydata()[0].tolist() for line in below.lines if line.get_marker() == "|"]
    assert ticks == [[25, 0], [48, 1], [25, 2], [48, 3]]
    assert "printed in the thesis" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert below.get_xlim()[0] == 0 < 48 < below.get_xlim()[1]
    assert_inside(figure)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12))
def test_equal_counts_are_seen_beside_each_other(values):
    places = complexity_error.spread(values, 3.0)
    assert len(set(zip(values, np.round(places, 9), strict=True))) == len(values)
    assert np.abs(np.array(places) - 3.0).max() <= complexity_error.ROOM / 2
    for value in set(values):
        assert np.mean([p for v, p in zip(values, places, strict=True) if v == value]) == pytest.approx(3.0)


# -- principal subsets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("figure", "draw", "most"), [
    ("1.5", principal.three_subsets, 3), ("1.8", principal.eleven_subsets, 11),
])  # fmt: skip
def test_subsets_have_the_examples_of_their_clusters(measured, figure, draw, most):
    name, size = SETS[figure]
    pool, facts = generate(name, 1, size=size), shown_facts(measured[1][figure], figure)
    drawing = drawn(draw, measured[1][figure])
    points = principal.selected(facts["points"], most)
    assert len(drawing.axes) == len(points) == min(most, len(facts["points"])) > 2
    assert points[0] == facts["points"][0]
    assert points[-1] == facts["points"][-1]
    for letter, axes, (complexity, error, _, (mask, *_)) in zip(
        "abcdefghijk", drawing.axes, points, strict=False
    ):
        bits = bin(mask)[2:][::-1]
        inside = np.array([c < len(bits) and bits[c] == "1" for c in facts["clusters"]])
        lines = named_lines(axes)
        for index, label in enumerate(CLASSES[name]):
            assert lines[label].T.tolist() == pool.X[inside & (pool.y == index)].tolist()
        assert lines["left out"].T.tolist() == pool.X[~inside].tolist()
        assert np.sum(~inside) == error
        assert axes.get_xlabel() == f"({letter}) ({complexity}, {error})"
    told = f"{len(points)} of {len(facts['points'])} principal points"
    assert drawing.get_suptitle() == f"draw 0: (complexity, error) of {told}"


@given(st.integers(1, 60), st.integers(2, 12))
def test_selected_are_spaced_evenly_and_have_both_ends(length, count):
    found = principal.selected(list(range(length)), count)
    assert len(found) == min(length, count)
    assert (found[0], found[-1]) == (0, length - 1) if length > 1 else found == [0]
    gaps = np.diff(found)
    assert gaps.size == 0 or 1 <= gaps.min() <= gaps.max() <= gaps.min() + 1


def test_more_clusters_than_a_word_has_bits():
    shown = principal.Decomposed(("a", "b"), 0, {"clusters": list(range(100))})
    assert shown.rows((1 << 99) + 5).tolist() == [0, 2, 99]


# -- of which results -------------------------------------------------------------------------------------


def test_figures_are_of_the_run_that_has_them(measured):
    folder, runs = measured
    found = {d.name: d for d in catalog.available([runs["1.5"], runs["1.8"]], folder, quick=False)}
    assert list(found) == list(FIGURES)  # and no regions learned, since nothing learns
    assert {name: found[name].run for name in FIGURES} == dict.fromkeys(
        FIGURES[:3], "figure1.5"
    ) | dict.fromkeys(FIGURES[3:], "figure1.8")
    assert found["1.4"].title == "Figure 1.4 of Li's thesis (2006): Clusters of the concentric disks problem"
    for name in ("1.6", "1.9"):
        assert "Evenly spaced along the principal points, the first subset of each." in found[name].caption
    with pytest.raises(ResultsError, match=r"no results for figure '1\.9'; run: zoloss run .*figure1\.8\.yaml"):
        catalog.drawing(catalog.kind_of("1.9"), [runs["1.5"]], folder)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_fit_their_page_and_are_small_inside_another(measured, name):
    folder, runs = measured
    figure = catalog.drawing(catalog.kind_of(name), list(runs.values()), folder).draw()
    assert_inside(figure)
    assert len(to_svg(figure)) < 90_000


@pytest.mark.parametrize("name", FIGURES)
def test_a_missing_draw_is_told_and_one_draw_is_enough(measured, name):
    def lose(facts):
        for draws in facts.values():
            for draw in (0, 2):
                draws.pop(draw, None)

    kind = catalog.kind_of(name)
    run = changed(measured[1][kind.of or name], lose)
    assert kind.fits(run)
    figure = drawn(kind.draw, run)
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    assert any("draw 1" in title for title in titles)
    if name in ("1.4", "1.7"):
        set_name, size = SETS[kind.of]
        pool = generate(set_name, 2, size=size)
        marks = named_lines(figure.axes[0])[CLASSES[set_name][1]]
        assert marks.T.tolist() == pool.X[pool.y == 1].tolist()
    assert_inside(figure)


@pytest.mark.parametrize("damage", [
    lambda facts: facts.pop("points"), lambda facts: facts.pop("pairs"), lambda facts: facts.pop("exact"),
    lambda facts: facts.pop("clusters"), lambda facts: facts.update(points=[]),
    lambda facts: facts.update(points=[[1, 2]]), lambda facts: facts.update(points=[[1, 2, 1, []]]),
    lambda facts: facts.update(pairs=[[1, 2], [3]]), lambda facts: facts.update(clusters="none"),
    lambda facts: facts.update(points=7), lambda facts: facts.pop("principal_subsets"),
])  # fmt: skip
def test_damaged_facts_are_left_out(measured, damage):
    def all_of_them(facts):
        for draws in facts.values():
            for each in draws.values():
                damage(each)

    def the_first(facts):
        damage(facts["disks", "6 clusters"][0])

    for name in FIGURES[:3]:
        assert not catalog.kind_of(name).fits(changed(measured[1]["1.5"], all_of_them))
        assert catalog.kind_of(name).fits(changed(measured[1]["1.5"], the_first))
    figure = drawn(complexity_error.plots, changed(measured[1]["1.5"], the_first))
    assert [axes.get_title().split("\n")[0] for axes in figure.axes[:2]] == [
        "6 clusters, draw 1",
        "all subsets, draw 0",
    ]


def test_facts_of_other_examples_are_refused(measured):
    def shorten(facts):
        facts["disks", "6 clusters"][0]["clusters"].pop()

    run = changed(measured[1]["1.5"], shorten)
    with pytest.raises(ResultsError, match=r"of 13 examples where draw 0 has 14: the results of 'figure1\.5'"):
        drawn(principal.clusters, run)


def test_a_page_has_all_figures_of_a_run_and_says_once_how_it_was_made(zoloss, measured, tmp_path):
    ended = zoloss("report", measured[0], "--out", tmp_path / "page.html")
    assert ended.code == 0, ended.err
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    places = [
        text.index(f"<h3>Figure {name} of Li&#x27;s thesis (2006): ") for name in (*FIGURES, "1.11", "1.13")
    ]
    assert places == sorted(places)
    assert text.index("How it was made") > places[2]  # after all three of the first run
    assert text[places[0] : places[6]].count("How it was made") == 2
    assert text[places[0] :].count("<figure>") >= 9
