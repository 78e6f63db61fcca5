"""Every registered learner ends on extreme data, with finite scores or a sentence that says what to do."""

import itertools
import json
import resource
import subprocess
import sys
import warnings

import numpy as np

from zoloss_cli.registry import LEARNERS, find_nested_learners, find_registration, make_learner
from zoloss_cli.testing import build_noisy_problem

NAMES = sorted(LEARNERS)
# Against a loop that never ends: all learners together need a small part of it.
LIMIT_SECONDS = 1200
BUDGETS = {"epochs": 20, "steps": 200, "lines": 200, "nodes": 200, "rounds": 3, "time_limit": None}
OWN_BUDGETS = {"mip": {"nodes": 1}, "rcd-bound": {"trials": 2}, "certify": {"programs": 0, "cones": 2000}}
SCALES = (1e300, 1e307, 1e-300, 1e-307, 1e-320, 1e150, 1e-150, 1e70, 1e-70, 1e30)
OFFSETS = (1e7, 1e9, 1e12, 1e15)
WIDE = 30_000
MAX_BYTES = 4 << 30  # of address space, of which libraries reserve a part
EQUAL = ["contradictions", "one place", "zeros"]
REFUSED = [f"scale {scale:g}" for scale in SCALES if not 1e-75 < scale < 1e75]


def make_short(name):
    known = find_registration(name).parameter_model.model_fields
    settings = {k: v for k, v in BUDGETS.items() if k in known} | OWN_BUDGETS.get(name, {})
    if find_nested_learners(find_registration(name).parameter_model):
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
    """Print a line of JSON for each learner and problem before and after its fit: what came of it.

    The last problem has far more features than samples, where no allocation may exceed some GB: a matrix with
    a row and a column for each feature would.
    """
    warnings.simplefilter("ignore")
    for title, (X, y) in build_extreme_problems().items():
        fit_each(title, X, y)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    X = np.random.default_rng(0).standard_normal((10, WIDE)) / 100.0
    fit_each("wide", X, np.arange(10) % 2)


def fit_each(title, X, y):
    for name in NAMES:
        print(json.dumps([name, title, "never ended"]), flush=True)
        try:
            learner = make_short(name).fit(X, y)
            finite = bool(np.all(np.isfinite(learner.decision_function(X))))
            outcome = "finite" if finite else "not finite"
        except ValueError as error:
            outcome = f"refused: {error}"
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        print(json.dumps([name, title, outcome]), flush=True)


def collect_outcomes():
    """Return what came of each fit, in a process of its own: it may crash, or never end."""
    code = "import sys; sys.path[:0] = sys.argv[1:]; import test_extreme_data; test_extreme_data.fit_all()"
    command = [sys.executable, "-c", code, __file__.rpartition("/")[0], *sys.path]
    try:
        printed = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS, check=False
        ).stdout
    except subprocess.TimeoutExpired as over:
        printed = (over.stdout or b"").decode()
    return {(name, title): outcome for name, title, outcome in map(json.loads, printed.splitlines())}


def test_scores_are_finite_or_the_data_are_refused():
    outcomes, wrong = collect_outcomes(), {}
    for name, title in itertools.product(NAMES, [*build_extreme_problems(), "wide"]):
        outcome = outcomes.get((name, title), "never tried")
        # A learner may diverge or not tell samples apart, if it says so and what to do.
        advised = outcome.startswith("refused: ") and (title == "wide" or "scale the features" in outcome)
        if name == "scoring" and title in EQUAL:  # there is no condition that a card could have
            advised = outcome.startswith("refused: all samples are equal")
        if not (advised if title in REFUSED else advised or outcome == "finite"):
            wrong[name, title] = outcome
    assert not wrong
    for name in ("rcd-conj", "rcd-conj-bias"):
        assert "conjugate directions is a matrix of 7.2 GB; use another variant" in outcomes[name, "wide"]
