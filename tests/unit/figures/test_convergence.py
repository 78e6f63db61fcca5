"""Theorem 1 of Li & Lin (2007): sufficiently random directions reach the minimum, and no others need to."""

import numpy as np
from drawing import drawn, named_lines
from reference_runs import find_reference_run

from zoloss_cli.figures.li_lin import compute_shares, draw_shares, find_minimum


def test_random_directions_reach_the_minimum_and_fixed_ones_do_not():
    run = find_reference_run("convergence")
    shares = compute_shares(run, "gaussians")
    assert list(shares) == [x for x in run.learners if x != "PCS"]
    for learner in ("RCD-plain, uniform", "RCD-plain, Gaussian"):
        assert shares[learner][-1] == 100.0
        assert np.all(np.diff(shares[learner]) >= 0.0)  # errors never rise along a line
    assert shares["RCD-bias"][-1] > 90.0
    assert max(shares["RCD-grad"][-1], shares["CCD"][-1]) < 50.0

    minimum = find_minimum(run, "gaussians")
    for learner in run.learners:
        assert np.all(np.asarray(run.cells["gaussians", learner]["train_error"]) >= minimum - 1e-9)
    lines = named_lines(drawn(draw_shares, run).axes[0])
    for (_, y), share in zip(lines.values(), shares.values(), strict=True):
        assert y.tolist() == share.tolist()
