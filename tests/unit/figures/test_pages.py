"""Pictures with at most six panels, what stands over them, and animations."""

import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from built_runs import build_run
from drawing import assert_inside, drawn
from PIL import Image

from zoloss_cli.api.plots import choose_two_features
from zoloss_cli.figures import drawings, li_lin, style
from zoloss_cli.figures.drawings import split_into_pages
from zoloss_cli.figures.figure_kinds import find_figure, list_figures
from zoloss_cli.figures.files import name_pages, render_animation, render_pages


def build_wide(n_datasets: int):
    values = {"test_error": [1.0, 2.0, 4.0]}
    names = [f"set {i}" for i in range(n_datasets)]
    return build_run({(d, x): values for d in names for x in ("fld", "lr")}, metric="test_error")


def test_more_than_six_data_sets_make_pages_of_nearly_the_same_size():
    for count, pages in {6: [6], 7: [4, 3], 13: [5, 4, 4]}.items():
        run = build_wide(count)
        parts = split_into_pages(find_figure("boxes"), run)
        assert [len(part.datasets) for part in parts] == pages
        assert [d for part in parts for d in part.datasets] == run.datasets
    figures = drawings.choose_drawing(find_figure("boxes"), [build_wide(7)], Path("results")).draw_pages()
    assert [len(figure.axes) for figure in figures] == [4, 3]
    for part in ("page 1 of", "3 splits", "quartiles"):
        assert part in figures[0].get_suptitle()


def test_a_page_has_at_most_six_panels():
    assert all(max(kind.datasets_per_page, kind.learners_per_page) <= 6 for kind in list_figures())


def test_pages_are_one_pdf_or_files_that_are_numbered(tmp_path):
    figures = [drawn(style.new_figure, 2.0, 2.0) for _ in range(3)]
    (pdf,) = render_pages(figures, "pdf")
    assert b"/Count 3" in pdf
    assert b"CreationDate" not in pdf
    assert len(render_pages(figures, "svg")) == 3
    names = name_pages(tmp_path / "boxes.svg", 3)
    assert [path.name for path in names] == ["boxes.svg", "boxes-2.svg", "boxes-3.svg"]


def test_what_a_figure_is_of_stands_over_it_within_the_page():
    figure = drawn(style.new_figure, style.COLUMN, 2.0)
    figure.add_subplot().set_title("a panel")
    with style.apply_style():
        style.add_origin(
            figure, "heart, sonar, pima: 500 splits; bands: ± one standard error of the mean; page 1 of 2"
        )
    assert_inside(figure)
    assert figure.get_figheight() > 2.0
    box = figure.axes[0].title.get_window_extent()
    assert not box.overlaps(figure._suptitle.get_window_extent())


def find_optimum(positive: np.ndarray, negative: np.ndarray) -> int:
    """The fewest errors of any line: between directions in which two samples tie, nothing changes."""
    gaps = (positive[:, None, :] - negative[None, :, :]).reshape(-1, 2)
    gaps = np.unique(gaps[np.any(gaps != 0.0, axis=1)].round(9), axis=0)
    ties = np.degrees(np.arctan2(gaps[:, 0], -gaps[:, 1])) % 180.0  # across the line that joins the two
    ties = np.unique(ties.round(7))
    between = (ties + np.append(ties[1:], ties[0] + 180.0)) / 2.0
    return min(
        li_lin.count_fewest_errors(positive, negative, a) for a in np.concatenate([between, between + 180.0])
    )


def test_steps_of_descent_are_rcds_own_and_end_at_the_optimum():
    found = li_lin.run_descent()
    errors = [int(step.errors.sum()) for step in found.steps]
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) == len(errors) >= li_lin.N_PANELS
    for step in found.steps:
        scores = found.X @ step.after[1:] + step.after[0]
        assert step.errors.tolist() == (found.y * scores <= 0.0).tolist()
        assert found.counts[step.epoch - 1] == step.errors.sum()
    positive, negative = li_lin.load_plane()
    fewest = find_optimum(positive, negative)
    assert errors[-1] == fewest
    for leaf in li_lin.split_cones(positive, negative, fewest):
        assert len(leaf.pairs) >= fewest or leaf.last - leaf.first < li_lin.MIN_DEGREES


def test_the_fewest_errors_of_a_direction_are_the_conflicts_that_can_be_matched():
    positive, negative = li_lin.load_plane()
    for angle in np.random.default_rng(1).uniform(0.0, 360.0, 40):
        matched = li_lin.match_conflicts(positive, negative, angle, angle)
        assert li_lin.count_fewest_errors(positive, negative, angle) == len(matched.pairs)


def test_frames_become_a_gif_that_repeats():
    frames = drawn(li_lin.draw_rcd_frames)[:3]
    image = Image.open(io.BytesIO(render_animation(frames)))
    assert (image.format, image.n_frames, image.info["loop"]) == ("GIF", 3, 0)


def test_a_gif_is_for_figures_with_frames_only(zoloss, tmp_path):
    ended = zoloss("plot", "--figure", "2", "--out", tmp_path / "x.gif")
    assert ended.code == 7
    assert "one of .pdf, .svg, .png" in ended.err
    ended = zoloss("plot", "--figure", "cone", "--out", tmp_path / "x.jpg")
    assert "one of .pdf, .svg, .png, .gif" in ended.err


def test_the_two_features_that_separate_best_are_found():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 7))
    y = (X[:, 2] - X[:, 5] > 0).astype(int)
    assert choose_two_features(X, y) == [2, 5]
    many = np.hstack([rng.normal(size=(200, 60)), X])
    assert choose_two_features(many, y) == [62, 65]


def test_a_boundary_of_wide_data_says_which_features(zoloss, tmp_path):
    out = tmp_path / "heart.svg"
    zoloss.ok("plot", "--figure", "boundary", "--dataset", "heart", "--learners", "fld", "--out", out)
    text = " ".join(" ".join(ElementTree.parse(out).getroot().itertext()).split())
    assert "oldpeak and thal, those of 13 features with which least squares makes" in text
    assert "216 training samples of split 0" in text
    assert "predicted 1" in text
