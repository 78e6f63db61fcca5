"""The targets behind samples: the areas are those of the generators, and distances lead to the other class."""

import numpy as np
import pytest
from drawing import drawn
from matplotlib.path import Path

from zoloss_cli.data.dataset import generate
from zoloss_cli.figures import style
from zoloss_cli.figures.thesis_samples import DRAWN_CORNERS, EXACT_CORNERS, GREY, Target, draw_target

TARGETS = [
    (Target("disks"), {}),
    (Target("yinyang", 0.18), {"eye": 0.18}),
    (Target("yinyang", 0.31), {"eye": 0.31}),
]


def painted_class(target: Target, X: np.ndarray, corners: int = EXACT_CORNERS) -> np.ndarray:
    classes = np.ones(len(X), int)
    for outline, side in target.build_areas(corners):
        classes[Path(outline).contains_points(X)] = side
    return classes


@pytest.mark.parametrize(("target", "settings"), TARGETS)
def test_areas_are_the_rule_of_the_generator(target, settings):
    pool = generate(target.generator, 3, size=5000, **settings)
    assert np.abs(pool.X).max() < target.width
    far = target.compute_distances(pool.X) > 1e-5
    assert far.mean() > 0.99
    assert painted_class(target, pool.X)[far].tolist() == pool.y[far].tolist()
    seen = target.compute_distances(pool.X) > 2e-3  # as fine as it is drawn, fewer corners will do
    assert painted_class(target, pool.X, DRAWN_CORNERS)[seen].tolist() == pool.y[seen].tolist()


@pytest.mark.parametrize(("target", "settings"), TARGETS)
def test_the_nearest_point_of_the_other_class_is_as_far_as_the_boundary(target, settings):
    side = np.arange(-1.7, 1.7, 0.008)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
    classes = painted_class(target, grid)
    pool = generate(target.generator, 4, size=60, **settings)
    for point, label, distance in zip(pool.X, pool.y, target.compute_distances(pool.X), strict=True):
        nearest = np.linalg.norm(grid[classes != label] - point, axis=1).min()
        assert distance - 1e-5 <= nearest <= distance + 0.016


def test_distances_that_are_known():
    disks = Target("disks").compute_distances(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, -1.0]]))
    assert disks == pytest.approx([1 / 3, 1 / 6, 1 / 3], abs=1e-6)
    points = np.array([[-0.5, 0.0], [0.5, 0.4], [1.1, 0.05], [0.0, 1.0], [0.0, 0.0]])
    known = [0.18, 0.1, 0.05, np.hypot(0.5, 1.0) - 0.5, 0.0]
    assert Target("yinyang", 0.18).compute_distances(points) == pytest.approx(known, abs=1e-6)


def test_class_0_is_grey_and_nothing_is_cut_off():
    def draw():
        _, axes = style.new_axes(3, 3)
        draw_target(axes, TARGETS[1][0])
        return axes

    axes = drawn(draw)
    yin, left_eye, right_eye, plate = axes.patches
    assert yin.get_facecolor() == left_eye.get_facecolor() != right_eye.get_facecolor()
    assert [f"#{round(255 * c):02X}" for c in yin.get_facecolor()[:3]] == [f"#{GREY[1:3]}"] * 3
    assert plate.radius == 1.0
    assert axes.get_xlim() == axes.get_ylim() == pytest.approx((-1.15, 1.15))
