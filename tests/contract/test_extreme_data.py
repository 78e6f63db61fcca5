"""Every registered learner ends on extreme data, with finite scores or a sentence that says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from zoloss_cli.registry import LEARNERS, build_parameter_model, find_nested_learners, make_learner
from zoloss_cli.testing import build_noisy_problem

NAMES = sorted(LEARNERS)
# Against a loop that never ends: all learners together need a small part of it.
LIMIT_SECONDS = 1200
BUDGETS = {"epochs": 20, "steps": 200, "lines": 200, "nodes": 200, "rounds": 3, "time_limit": None}
OWN_BUDGETS = {"mip": {"nodes": 1}, "certify": {"programs": 0, "cones": 2000}}
SCALES = (1e300, 1e307, 1e-300, 1e-307, 1e-320, 1e150, 1e-150, 1e70, 1e-70, 1e30)
OFFSETS = (1e7, 1e9, 1e12, 1e15)
EQUAL = ["contradictions", "one place", "zeros"]
REFUSED = [f"scale {scale:g}" for scale in SCALES if not 1e-75 < scale < 1e75]


def make_short(name):
    known = build_parameter_model(name).model_fields
    settings = {k: v for k, v in BUDGETS.items() if k in known} | OWN_BUDGETS.get(name, {})
    if find_nested_learners(build_parameter_model(name)):
        settings |= {"base": {"learner": "rcd-bias", "epochs": 20}}
    return make_learner(name, settings, 0)


def build_extreme_problems():
    """Return {title: (X, y)}."""
    X, y = build_noisy_problem()
    X, y = X[:60, :2], y[:60]
    problems = {f"scale {scale:g}": (X * scale, y) for scale in SCALES}
    problems |= {f"offset {offset:g}": (X + offset, y) for offset in OFFSETS}
    problems["mixed scales"] = np.column_stack([X[:, 0] * 1e70, X[:, 1] * 1e-70]), y
    problems["some denormal"] = np.where(X > 0.5, 5e-324, X), y
    problems["contradictions"] = np.vstack([X, X]), np.concatenate([y, 1 - y])
    problems["one place"] = np.ones((8, 2)), np.arange(8) % 2
    problems["zeros"] = np.zeros((8, 2)), np.arange(8) % 2
    return problems


def fit_all():
    """Print a line of JSON for each learner and problem before and after its fit: what came of it."""
    warnings.simplefilter("ignore")
    for name in NAMES:
        for title, (X, y) in build_extreme_problems().items():
            print(json.dumps([name, title, "never ended"]), flush=True)
            try:
                learner = make_short(name).fit(X, y)
                finite = bool(np.all(np.isfinite(learner.decision_function(X))))
                outcome = "finite" if finite else "not finite"
            except (ValueError, FloatingPointError) as error:
                outcome = f"refused: {error}"
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            print(json.dumps([name, title, outcome]), flush=True)


@pytest.fixture(scope="module")
def outcomes():
    """What came of each fit, in a process of its own: it may crash, or never end."""
    code = "import sys; sys.path[:0] = sys.argv[1:]; import test_extreme_data; test_extreme_data.fit_all()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, __file__.rpartition("/")[0], *sys.path],
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        printed = done.stdout
    except subprocess.TimeoutExpired as over:
        printed = (over.stdout or b"").decode()
    return {(name, title): outcome for name, title, outcome in map(json.loads, printed.splitlines())}


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_finite_or_the_data_are_refused(outcomes, name):
    wrong = {}
    for title in build_extreme_problems():
        outcome = outcomes.get((name, title), "never tried")
        # A learner may diverge or not tell samples apart, if it says so and what to do.
        advised = outcome.startswith("refused: ") and "scale the features" in outcome
        if name == "scoring" and title in EQUAL:  # there is no condition that a card could have
            advised = outcome.startswith("refused: all samples are equal")
        if not (advised if title in REFUSED else advised or outcome == "finite"):
            wrong[title] = outcome
    assert not wrong
