"""AdaBoost over any learner that takes sample weights."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.boost import end_round
from zoloss_cli.kernels.zero_one import predicted_signs
from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory
from zoloss_cli.learners.boosting.boosting import Boosting
from zoloss_cli.learners.parameters import BaseLearner


class AdaBoostClassifier(Boosting):
    """AdaBoost (Freund & Schapire 1996): each round learns again with more weight on what was wrong so far.

    Li & Lin (2007), section IV.C; Li's thesis (2006), sections 2.4.3-2.4.4. Round t trains the base
    learner with sample weights phi_i and takes its weighted error e_t; h_t joins the ensemble with
    alpha_t = 1/2 ln((1 - e_t) / e_t), and phi_i is multiplied by exp(-alpha_t y_i h_t(x_i)). Rules that
    the papers leave out, the authors' program's: e_t >= 1/2 (up to rounding) ends the run, and h_t is not
    added; e_t = 0 takes the odds 1000 for (1 - e_t) / e_t and goes on; every round starts from the base
    learner's own seeding ('zero' in the tables), not from the last round's weights.

    Deviation: none in the algorithm; where the tables' base learners differ from the text (resampling
    for the online learners), `configs/table4.yaml` says so. Online learners use phi through their own
    parameter `weighting`. The base learner's `random_state` is not used: all rounds draw from this one's.

    Attributes after fit: `estimators_`, `estimator_weights_` (alpha_t), `estimator_errors_` (e_t) and
    `n_rounds_`, how many were added. If the first round already ends the run, the ensemble is empty, all
    its scores are 0, and a warning says so.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import AdaBoostClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = AdaBoostClassifier(base={"learner": "rcd-bias", "epochs": 200}, rounds=50, random_state=0)
    >>> model.fit(scale(X), y).score(scale(X), y) > 0.95
    True
    >>> sum(1 for _ in model.staged_predict(scale(X))) == model.n_rounds_
    True
    """

    def __init__(
        self,
        base: BaseLearner = "rcd-bias",
        rounds: Annotated[int, Field(ge=1, description="the most rounds to run")] = 200,
        perfect_odds: Annotated[
            float, Field(gt=1, description="stands for (1 - e) / e in a round without any error")
        ] = 1000.0,
        random_state=None,
    ):
        self.base = base
        self.rounds = rounds
        self.perfect_odds = perfect_odds
        self.random_state = random_state

    def train(self, problem):
        base = BaseLearnerFactory(self, self.base)
        base.check()
        self.estimators_, alphas, errors = [], [], []
        phi = problem.phi.copy()  # end_round changes it
        problem = replace(problem, phi=phi)
        for round_ in range(1, self.rounds + 1):
            h_t = base.learned(problem, self.classes_, round_)
            e_t, alpha_t = end_round(h_t.compute_scores(problem), problem.y, phi, float(self.perfect_odds))
            if alpha_t == 0.0:
                break
            self.estimators_.append(h_t)
            alphas.append(alpha_t)
            errors.append(e_t)
        self.n_rounds_ = len(self.estimators_)
        self.estimator_weights_ = np.array(alphas)
        self.estimator_errors_ = np.array(errors)
        if not self.estimators_:
            warnings.warn(
                f"{type(self).__name__}: {base.name} has a weighted error of {e_t:.3f} in round 1, no better "
                f"than chance; the ensemble is empty",
                stacklevel=4,
            )

    def _staged_scores(self, rows):
        return itertools.accumulate(
            alpha_t * predicted_signs(h_t.compute_scores(rows))
            for h_t, alpha_t in zip(self.estimators_, self.estimator_weights_, strict=True)
        )
