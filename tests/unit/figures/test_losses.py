"""Figures 2 and 6: the losses that are drawn are those that are minimized."""

import numpy as np
import pytest
from drawing import drawn, named_lines
from sklearn.metrics import hinge_loss, log_loss

from zoloss_cli.figures import nguyen_sanner as losses
from zoloss_cli.figures.nguyen_sanner import refit
from zoloss_cli.kernels import online
from zoloss_cli.kernels.numeric import RANDOM

MARGINS = np.array([-1.5, -0.7, 0.0, 0.3, 1.0, 2.2])


def test_margin_losses_are_those_of_scikit_learn():
    for m in MARGINS:
        both = np.array([1, -1]), np.array([m, -m])  # a point of each class with this margin
        assert losses.compute_hinge_loss(np.array([m]))[0] == pytest.approx(hinge_loss(*both))
        p = 1.0 / (1.0 + np.exp(-both[1]))
        assert losses.compute_log_loss(np.array([m]))[0] == pytest.approx(log_loss(both[0], p, labels=[-1, 1]))


@pytest.mark.parametrize(
    ("loss", "cost"),
    [(losses.compute_hinge_loss, online.HINGE), (losses.compute_squared_loss, online.LEAST_SQUARES)],
)
def test_sgd_steps_down_the_drawn_loss(loss, cost):
    """One step on one point with x = 1 and y = 1, where the weight is the margin."""
    Z, step, none = np.ones((1, 1)), np.ones(1), (np.empty(0, np.uint64), np.empty(0, np.int32))
    for m in (-1.3, 0.4, 2.1):
        w = np.array([m])
        online.fit_sgd(
            Z, step, *none, w, 1, 0.01, cost, RANDOM, np.uint64(1), np.empty(0, np.int64), np.empty((0, 1))
        )
        slope = (loss(np.array([m + 1e-6]))[0] - loss(np.array([m - 1e-6]))[0]) / 2e-6
        assert w[0] - m == pytest.approx(-0.01 * slope, abs=1e-9)


def test_figure_2_shows_the_losses():
    (axes,) = drawn(losses.draw_margin_losses).axes
    shown = named_lines(axes)
    for name, loss in {
        "hinge loss": losses.compute_hinge_loss,
        "squared loss": losses.compute_squared_loss,
        "log loss": losses.compute_log_loss,
    }.items():
        x, y = shown[name]
        assert y == pytest.approx(loss(x))
    step = [np.array(line.get_data()) for line in axes.lines[:2]]
    assert step[0][1] == pytest.approx([1.0, 1.0])  # up to the zero margin, which is an error
    assert step[0][0][1] == 0.0
    assert step[1][1] == pytest.approx([0.0, 0.0])


def test_figure_6_shows_sigmoids_and_recounted_sums(reference):
    top, whole, close = drawn(losses.draw_smooth_losses).axes
    for K in (2.0, 20.0, 200.0):
        x, y = named_lines(top)[f"K = {K:g}"]
        assert y == pytest.approx(1.0 / (1.0 + np.exp(K * x)))
    run = reference["nguyen-figure1"]
    fitted, record = refit(run, "outliers", "sla")
    data = fitted.split_data.data
    X, signs = fitted.split_data.scale(data.X), np.where(data.y == 1, 1.0, -1.0)
    for axes in (whole, close):
        w1, counts = named_lines(axes)["0–1 loss"]
        smooth = named_lines(axes)["K = 20"][1]
        for i in range(0, len(w1), 97):
            m = signs * (fitted.learner.intercept_[0] + X @ [w1[i], fitted.learner.coef_[0][1]])
            assert counts[i] == (m <= 0.0).sum()
            assert smooth[i] == pytest.approx((1.0 / (1.0 + np.exp(20.0 * m))).sum())
        assert counts.min() == record.train_errors
