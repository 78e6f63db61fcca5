"""Stochastic gradient descent on margin costs (Zhang 2004), without regularization."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from zoloss_cli.kernels import online
from zoloss_cli.kernels.random import FIXED_ORDER, RANDOM
from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.linear.online import NO_ALIAS_TABLE, build_steps_and_draws, run_on_padded_samples
from zoloss_cli.learners.linear.stream import NO_SEED, NOT_RECORDED, WeightedPartialFitMixin
from zoloss_cli.learners.parameters import Epochs, RecordEvery, Seeding, Weighting

COSTS = {
    "hinge": online.HINGE,
    "mls": online.MODIFIED_LEAST_SQUARES,
    "ls": online.LEAST_SQUARES,
    "perceptron": online.PERCEPTRON_CRITERION,
}


class MarginSGDClassifier(WeightedPartialFitMixin, LinearLearner):
    """SGD with a constant rate on a margin cost: Table I of Li & Lin (2007), Table 2.1 of Li's thesis (2006).

    hinge max(0, 1-rho), mls (max(0, 1-rho))^2, ls (1-rho)^2, perceptron max(0, -rho). Deviation, the
    authors' program's: the squared costs step by rate * (y - <w, x>), without the factor 2. `partial_fit`
    learns from a stream.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import MarginSGDClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = MarginSGDClassifier(cost="hinge", epochs=200, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.82
    True
    """

    def __init__(
        self,
        cost: Annotated[
            Literal["hinge", "mls", "ls", "perceptron"], Field(description="margin cost")
        ] = "hinge",
        epochs: Epochs = 2000,
        rate: Annotated[float, Field(gt=0, description="learning rate")] = 0.002,
        seeding: Seeding = "zero",
        weighting: Weighting = "reweight",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.cost = cost
        self.epochs = epochs
        self.rate = rate
        self.seeding = seeding
        self.weighting = weighting
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem, start):
        step, cut, alias = build_steps_and_draws(problem, self.weighting)
        seed = problem.draw_kernel_seed()

        def run(Z, w, *recording):
            return self._run_kernel(Z, step, cut, alias, w, self.epochs, RANDOM, seed, *recording)

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z, step, w):
        return self._run_kernel(Z, step, *NO_ALIAS_TABLE, w, 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED)

    def _run_kernel(self, Z, step, cut, alias, w, epochs, *how):
        online.sgd(Z, step, cut, alias, w, epochs, float(self.rate), COSTS[self.cost], *how)
        return w
