"""Figures 3.1 and 4.2 to 4.5 of Li's thesis: what is drawn is what was stored, or what was learned."""

import shutil

import numpy as np
import pytest
from drawing import assert_inside, drawn, find_cell_file, named_lines, rewrite_record, stored_records
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from zoloss_cli.data.generators import TANGRAM
from zoloss_cli.errors import ResultsError
from zoloss_cli.figures import boundary, curves, drawings, style, thesis_boosting
from zoloss_cli.figures.figure_kinds import find_figure
from zoloss_cli.figures.nguyen_sanner import refit
from zoloss_cli.report.runs import load_runs

FIGURE_3_1 = """
published: {paper: li-thesis-2006, figure: "3.1"}
datasets: [heart]
split: {train: 0.8, repeats: 3, seed: 5}
learners:
  anyboost:exp: {learner: anyboost, base: stump, cost: exponential, rounds: 30, record_every: 10}
  cgboost:exp: {learner: cgboost, base: stump, cost: exponential, rounds: 30, record_every: 10}
  anyboost:bisigmoid: {learner: anyboost, base: stump, cost: bisigmoid, rounds: 30, record_every: 10}
  cgboost:bisigmoid: {learner: cgboost, base: stump, cost: bisigmoid, rounds: 30, record_every: 10}
"""
TANGRAMS = """
published: {paper: li-thesis-2006, figure: "FIGURE"}
datasets:
  tangram: {size: 600, train: 200, seed: [1, 2, 3]}
split: {repeats: 3, seed: 5}
learners:
  ecc:max-cut:perceptron:
    {learner: ecc, partition: max-cut, rounds: 30, record_every: 5, base: &base {learner: rcd-bias, epochs: 20}}
  ecc:rand-half:perceptron: {learner: ecc, partition: rand-half, rounds: 30, record_every: 5, base: *base}
"""


@pytest.fixture(scope="module")
def boosted(run_texts):
    """(the folder, its runs by figure) of small runs of the thesis's figures."""
    tangrams = {f"figure{name}": TANGRAMS.replace("FIGURE", name) for name in ("4.2", "4.3")}
    return run_texts({"figure3.1": FIGURE_3_1} | tangrams)


def stored_mean(folder, run, learner: str, key: str) -> np.ndarray:
    rows, header = stored_records(folder, run, learner)
    size = {"train_curve": header["n_train"], "test_curve": header["n_test"], "cost_curve": 100.0}[key]
    return 100.0 * np.mean([row[key] for row in rows], axis=0) / size


def test_figure_3_1_has_a_half_for_each_cost_function(boosted):
    folder, runs = boosted
    figure = drawn(thesis_boosting.draw_two_costs, runs["3.1"])
    assert [axes.get_title() for axes in figure.axes] == ["(a) exponential cost", "(b) bisigmoid cost"]
    shown = {"50 × cost": "cost_curve", "training error": "train_curve", "test error": "test_curve"}
    for axes, cost in zip(figure.axes, ("exp", "bisigmoid"), strict=True):
        lines = named_lines(axes)
        assert len(lines) == 6
        for (name, key), title in ((x, t) for x in shown.items() for t in ("CGBoost", "AnyBoost")):
            mean = stored_mean(folder, runs["3.1"], f"{title.lower()}:{cost}", key)
            expected = 50.0 * mean if key == "cost_curve" else mean
            assert lines[f"{name}, {title}"] == pytest.approx(np.array([[10, 20, 30], expected]))
    assert_inside(figure)


def test_figure_4_2_draws_cost_and_test_error_by_round(boosted):
    folder, runs = boosted
    figure = drawn(curves.draw_costs_by_round, runs["4.2"])
    cost, test_error = figure.axes
    assert (cost.get_ylabel(), test_error.get_ylabel()) == ("cost", "test error (%)")
    for axes, key in ((cost, "cost_curve"), (test_error, "test_curve")):
        assert (axes.get_xlabel(), axes.get_yscale()) == ("rounds", "log")
        for name in ("max-cut", "rand-half"):
            mean = stored_mean(folder, runs["4.2"], f"ecc:{name}:perceptron", key)
            expected = np.array([range(5, 31, 5), mean])
            assert named_lines(axes)[f"AdaBoost.ECC {name}"] == pytest.approx(expected)
    assert_inside(figure)


@pytest.mark.parametrize(("low", "high"), [(18.0, 90.0), (0.004, 0.8), (1e-7, 0.7)])
def test_logarithmic_axes_have_a_few_plain_numbers(low, high):
    with style.apply_style():
        figure, axes = style.new_axes(2.1, 3.5)
        axes.plot([0, 1], [low, high])
        style.set_logarithmic(axes)
        figure.draw_without_rendering()
    bottom, top = axes.get_ylim()
    labels = [t.get_text() for t in axes.get_yticklabels() if bottom <= t.get_position()[1] <= top]
    values = [float(label.replace("−", "-")) for label in labels]
    assert 4 <= len(values) <= 8
    assert values == sorted(set(values))


def test_a_cost_that_a_record_lacks_is_left_out_and_the_errors_stay(boosted, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(boosted[0], folder)
    damages = [lambda record: record.pop("cost_curve"), lambda record: record.update(cost_curve=[0.1])]
    for learner, damage in zip(boosted[1]["4.2"].learners, damages, strict=True):
        rewrite_record(find_cell_file(folder, boosted[1]["4.2"], learner), 0, damage)
    run = {r.name: r for r in load_runs(folder)[0]}["figure4.2"]
    assert all(cell.curves.values.keys() == {"train_error", "test_error"} for cell in run.cells.values())
    with pytest.raises(ResultsError, match=r"no results for figure 'li-thesis-2006/4\.2'"):
        drawings.choose_drawing(find_figure("4.2"), [run], folder)


CODES = st.lists(st.lists(st.sampled_from([-1, 1]), min_size=4, max_size=4), min_size=1, max_size=30)


@given(CODES, st.integers(0, 2**31))
def test_partitions_are_summed_with_their_opposites(columns, seed):
    alphas = np.random.default_rng(seed).uniform(0.1, 1.0, len(columns))
    expected: dict[frozenset, list[float]] = {}
    for column, alpha in zip(columns, alphas, strict=True):
        sides = frozenset(frozenset(k for k in range(4) if column[k] == side) for side in (-1, 1))
        expected.setdefault(sides, []).append(alpha)
    found = thesis_boosting.find_dominating_partitions(np.array(columns, np.int8).T, alphas)
    assert len(found) == len(expected)
    for partition in found:
        assert partition.column[0] == 1
        sides = frozenset(frozenset(np.flatnonzero(partition.column == side).tolist()) for side in (-1, 1))
        assert partition.rounds == len(expected[sides])
        assert partition.total == pytest.approx(sum(expected[sides]))
        assert partition.mean == pytest.approx(np.mean(expected[sides]))
    totals = [partition.total for partition in found]
    assert totals == sorted(totals, reverse=True)


def test_figure_4_3_colours_the_pieces_by_their_side(boosted):
    run = boosted[1]["4.3"]
    figure = drawn(thesis_boosting.draw_partitions, run)
    panels = iter(figure.axes)
    for learner in run.learners:
        code = refit(run, "tangram", learner)[0].learner
        for partition in thesis_boosting.find_dominating_partitions(
            code.coding_matrix_, code.estimator_weights_
        )[:2]:
            axes = next(panels)
            name = learner.split(":")[1]
            numbers = f"sum of α {partition.total:.2f}\nmean α {partition.mean:.3f}, {partition.rounds} rounds"
            assert axes.get_title() == f"AdaBoost.ECC {name}\n{numbers}"
            colours = [to_rgb(patch.get_facecolor()[:3]) for patch in axes.patches]
            assert len(set(colours)) == 2
            assert [c == colours[0] for c in colours] == (partition.column == 1).tolist()
            for patch, corners in zip(axes.patches, TANGRAM.values(), strict=True):
                assert patch.get_xy()[:-1].tolist() == (np.array(corners) / 4.0).tolist()
    assert_inside(figure)


def test_a_learner_of_all_classes_is_drawn_with_its_regions(boosted):
    run = drawings.narrow_run(boosted[1]["4.2"], [], ["ecc:max-cut:perceptron"])
    (axes,) = drawn(boundary.draw_run, run).axes
    fitted, _ = refit(run, "tangram", "ecc:max-cut:perceptron")
    classes = np.asarray(axes.images[0].get_array())
    left, right, low, high = axes.images[0].get_extent()
    x, y = np.linspace(left, right, classes.shape[1]), np.linspace(low, high, classes.shape[0])
    points = np.column_stack([x[::20], np.full(x[::20].size, y[150])])
    assert classes[150, ::20].tolist() == fitted.learner.predict(fitted.split_data.scale(points)).tolist()
    stored = run.cells["tangram", "ecc:max-cut:perceptron"]
    assert f"test error {stored['test_error'][0]:.1f} %" in axes.get_title()


def test_each_figure_is_of_its_own_run(boosted):
    runs = list(boosted[1].values())
    found = {d.name: d for d in drawings.find_drawings(runs, boosted[0])}
    published = {name: d for name, d in found.items() if d.kind.paper}
    runs_of = {name: d.run for name, d in published.items()}
    assert runs_of == {"li-thesis-2006/3.1": "figure3.1", "li-thesis-2006/4.2": "figure4.2"}
    assert "curves" not in found  # which the published ones are
    slow = [d.kind.number for d in drawings.find_drawings(runs, only_quick=False) if d.kind.paper]
    assert slow == ["3.1", "4.2", "4.3"]
    for drawing in published.values():
        assert drawing.title.startswith(f"Figure {drawing.kind.number} of Li's thesis (2006): ")
        assert "± one standard error" in drawing.caption
        assert "3 splits" in drawing.caption
