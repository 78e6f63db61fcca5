"""Figures that show a method, without results: what is drawn is computed here once more, by other means."""

import numpy as np
import pytest
from drawing import assert_inside, drawn, named_lines
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli import data_complexity
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.data.dataset import generate
from zoloss_cli.data.generators import TANGRAM
from zoloss_cli.figures import nguyen_sanner, thesis_boosting, thesis_complexity

DISKS = generate("disks", 1, size=31)


def test_four_subsets_of_the_disks_with_their_complexity():
    figure = drawn(thesis_complexity.draw_example_subsets)
    radius = np.linalg.norm(DISKS.X, axis=1)
    kept = [radius < 2, radius > 1 / 3, radius <= 2 / 3, DISKS.y == 0]
    for panel, inside in zip(figure.axes, kept, strict=True):
        complexity = data_complexity(DISKS.X[inside], DISKS.y[inside])
        assert panel.get_xlabel().endswith(f" {inside.sum()} samples, complexity {complexity}")
        marked = np.hstack([xy for name, xy in named_lines(panel).items() if name.startswith("class")])
        assert set(map(tuple, marked.T)) == set(map(tuple, DISKS.X[inside]))
    assert_inside(figure)


@pytest.fixture(scope="module")
def few():
    """Six clusters of twelve samples, and their pairs."""
    pool = generate("disks", 3, size=12)
    clusters = np.arange(12) % 6  # a union may have any two classes: nothing here needs pure clusters
    return pool, clusters, thesis_complexity.measure_pairs(build_problem(pool.X, pool.y), clusters)


def test_pairs_of_subsets_are_what_each_subset_measures(few):
    pool, clusters, pairs = few
    assert len(pairs.subsets) == len(pairs.hypotheses) == 63
    for union, (complexity, error) in enumerate(pairs.subsets, start=1):
        inside = np.isin(clusters, [c for c in range(6) if union >> c & 1])
        assert (complexity, error) == (data_complexity(pool.X[inside], pool.y[inside]), 12 - inside.sum())
    # Observation 5 of section 1.4.1: no more errors than the subset leaves out, and equal complexities.
    assert np.array_equal(pairs.subsets[:, 0], pairs.hypotheses[:, 0])
    assert np.all(pairs.hypotheses[:, 1] <= pairs.subsets[:, 1])
    assert np.any(pairs.hypotheses[:, 1] < pairs.subsets[:, 1])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30))
def test_principal_pairs_are_those_of_the_definition(pairs):
    found = thesis_complexity.find_principal_pairs(np.array(pairs))
    distinct = set(pairs)
    principal = [p for p in distinct if all(q == p or q[0] > p[0] or q[1] > p[1] for q in distinct)]
    assert list(map(tuple, found)) == sorted(principal)


def test_the_plots_of_pairs(few):
    figure = drawn(thesis_complexity.draw_pairs_of_both_kinds)
    assert [axes.get_title() for axes in figure.axes] == ["subsets, Ω₁", "hypotheses, Ω₂"]
    assert_inside(figure)
    (axes,) = drawn(thesis_complexity.draw_principal_pairs).axes
    circled = named_lines(axes)["principal point"]
    assert circled[:, 0].tolist() == [0, min(np.sum(DISKS.y == 0), np.sum(DISKS.y == 1))]  # one class
    assert circled[:, -1].tolist() == [data_complexity(DISKS.X, DISKS.y), 0]


def test_the_path_begins_empty_and_both_lines_meet_at_the_whole_set():
    figure = drawn(thesis_complexity.draw_complexity_error_path)
    (axes,) = figure.axes
    lines = named_lines(axes)
    whole = (data_complexity(DISKS.X, DISKS.y), 0)
    order = np.random.default_rng(thesis_complexity.PATH_SEED).permutation(31)
    expected = {(0, 31)}
    for n in range(1, 32):
        first = order[:n]
        expected.add((data_complexity(DISKS.X[first], DISKS.y[first]), 31 - n))
    on_path = np.hstack([lines["agrees with the rule so far"], lines["makes the rule more complex"]])
    assert {tuple(p) for p in on_path.T if np.isfinite(p[0])} == expected
    removed = lines["largest contribution removed"]
    assert tuple(removed[:, 0]) == whole
    assert np.all(np.diff(removed[0]) < 0)
    assert_inside(figure)


def test_costs_are_those_of_equation_3_5():
    (axes,) = drawn(thesis_boosting.draw_cost_functions).axes
    m = thesis_boosting.MARGINS
    kappa = np.where(m > 0, 1.0, thesis_boosting.KAPPA)
    expected = [np.exp(-m), 1.0 - np.tanh(m), 1.0 - kappa * np.tanh(m / kappa)]
    for (x, y), cost in zip(named_lines(axes).values(), expected, strict=True):
        assert x.tolist() == m.tolist()
        assert np.allclose(y, cost, rtol=1e-12)


def test_the_tangram_has_a_number_in_each_piece():
    (axes,) = drawn(thesis_boosting.draw_tangram).axes
    assert [text.get_text() for text in axes.texts] == [str(n) for n in range(1, 8)]
    assert len(axes.patches) == len(TANGRAM) == 7


@pytest.mark.parametrize("seed", range(4))
def test_no_line_has_fewer_errors_and_all_samples_keep_their_sides(seed):
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(9, 2)), rng.choice([-1.0, 1.0], 9)
    found = nguyen_sanner.find_best_lines(X, signs)
    sides = np.sign(found.best.compute_sides(X))
    assert np.sum(sides != signs) == found.errors
    angles = np.linspace(0.0, 2.0 * np.pi, 721)  # with all thresholds that leave both sides samples
    for scores in (X @ [np.cos(a), np.sin(a)] for a in angles):
        thresholds = np.sort(scores)[:-1]
        fewest = min(np.sum(np.where(scores > t, 1.0, -1.0) != signs) for t in thresholds)
        assert fewest >= found.errors
    through = found.through.compute_sides(X)
    assert np.allclose(through[list(found.pair)], 0.0, atol=1e-12)
    others = np.setdiff1d(np.arange(9), found.pair)
    turned = np.sign(through[others]) * sides[others]
    assert np.all(turned == turned[0])


def test_both_lines_and_the_two_samples_are_drawn():
    figure = drawn(nguyen_sanner.draw_lines_through_samples)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["A", "B"]
    assert list(named_lines(axes)) == ["H: 2 errors, the fewest", "H′: through A and B"]
    assert_inside(figure)
