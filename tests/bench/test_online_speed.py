"""A trial of each online learner in the setting of Tables II and IV, against the pseudo-code in plain Python.

pima has 8 features and german 24. Trials in the tables start from FLD's weights; a round of boosting starts
from 0 and draws by weight, where about half of all trials are mistakes.
"""

from functools import partial

import numpy as np
import pytest
from twins import python_averaged_perceptron, python_perceptron, python_pocket, python_sgd

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.learners.linear.online import MarginSGDClassifier
from zoloss_cli.learners.linear.perceptrons import (
    AveragedPerceptronClassifier,
    PerceptronClassifier,
    PocketClassifier,
)

NAMES = ("pima", "german")
LOOP_TRIALS, EPOCHS, ROUNDS = 2000, 1000, 50
LEARNERS = {
    "perceptron": (PerceptronClassifier, {}, python_perceptron),
    "averaged perceptron": (AveragedPerceptronClassifier, {}, python_averaged_perceptron),
    "SGD (mls)": (MarginSGDClassifier, {"cost": "mls"}, partial(python_sgd, rate=0.002, cost="mls")),
    "SGD (hinge)": (MarginSGDClassifier, {"cost": "hinge"}, partial(python_sgd, rate=0.002, cost="hinge")),
    "pocket": (PocketClassifier, {}, python_pocket),
}


@pytest.fixture(scope="module", params=NAMES)
def table(request):
    return load_table(request.param)


def load_table(name):
    data = load_data(EmbeddedData(name=name, dataset=name))
    chosen = np.random.default_rng(1).permutation(len(data.y))[: len(data.y) * 4 // 5]
    X, y = scale_parts(data.X[chosen], data.X[:2], "minmax")[0], np.where(data.y[chosen] == 1, 1.0, -1.0)
    fld = FLDClassifier().fit(X, y)
    return name, X, y, np.concatenate([fld.intercept_, fld.coef_[0]])


@pytest.mark.parametrize("learner", LEARNERS)
def test_reference_python_loop(measure, table, learner):
    name, X, y, start = table
    indices = np.random.default_rng(0).integers(0, len(y), LOOP_TRIALS)
    loop = partial(LEARNERS[learner][2], np.column_stack([np.ones(len(y)), X]), y, start.copy(), indices)
    measure(f"{learner} trial, {name}", "online_reference_python_loop", loop, LOOP_TRIALS, 3)


@pytest.mark.parametrize("learner", LEARNERS)
def test_kernel(measure, table, learner):
    name, X, y, start = table
    learner_class, parameters, _ = LEARNERS[learner]
    rows, phi = np.column_stack([np.ones(len(y)), X]), np.full(len(y), 1 / len(y))

    def fit():
        """The algorithm alone: the checks of a fit cost as much as a hundred epochs."""
        problem = Problem(rows, y, phi, np.random.default_rng(1), caches)
        learner_class(epochs=EPOCHS, **parameters).learn(problem, start.copy())

    caches: dict = {}
    measure(f"{learner} trial, {name}", "online_kernel", fit, EPOCHS * len(y), 7)


@pytest.mark.parametrize("base", ["pocket", "ave-perc"])
def test_boosted(measure, table, base):
    """All of AdaBoost; a unit is a trial of its rounds, which are all run for the pocket."""
    name, X, y, _ = table
    learner = {"learner": base, "epochs": 200, "weighting": "resample"}
    boosted = AdaBoostClassifier(learner, ROUNDS, random_state=1).fit(X, y)
    trials = min(boosted.n_rounds_ + 1, ROUNDS) * 200 * len(y)
    measure(f"{base} trial, boosted, {name}", "online_boosted", lambda: boosted.fit(X, y), trials)
