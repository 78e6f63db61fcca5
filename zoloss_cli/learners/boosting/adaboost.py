"""AdaBoost over any learner that takes sample weights."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from zoloss_cli.kernels.boost import end_round
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory
from zoloss_cli.learners.boosting.boosting import BoostingLearner
from zoloss_cli.learners.parameters import BaseLearner, PerfectOdds, Rounds
from zoloss_cli.learners.problem import Problem, Samples


class AdaBoostClassifier(BoostingLearner):
    """AdaBoost: each round fits the base learner with more weight on the samples misclassified so far.

    Round t fits the base learner with sample weights phi_i and takes its weighted error e_t; h_t joins the
    ensemble with alpha_t = 1/2 ln((1 - e_t) / e_t), and phi_i is multiplied by exp(-alpha_t y_i h_t(x_i)).
    Online learners use phi through their own parameter `weighting`.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. It may also be an estimator of
        this package. Its `random_state` is not used: all rounds draw from this one's.
    rounds : int >= 1, default=200
        Maximum number of rounds.
    perfect_odds : float > 1, default=1000.0
        Odds to take for (1 - e) / e in a round without any error.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted errors e_t.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The coefficients alpha_t.
    estimators_ : list of BinaryLearner
        The hypotheses h_t.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of hypotheses. If the fit already ends in the first round, the ensemble is empty, all its scores
        are 0, and a warning says so.

    Notes
    -----
    Rules that the papers leave out follow the authors' program: e_t >= 1/2 (up to rounding) ends the fit, and
    h_t is not added; e_t = 0 takes the odds 1000 for (1 - e_t) / e_t and goes on; every round starts from the
    base learner's own seeding ('zero' in the tables), not from the weights of the previous round.

    Deviation: none in the algorithm. `configs/table4.yaml` says where the tables' base learners differ from the
    text (resampling for the online learners).

    References
    ----------
    .. [1] Freund, Y. and Schapire, R. E. (1996). Experiments with a new boosting algorithm.
    .. [2] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section IV.C.
    .. [3] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Sections 2.4.3-2.4.4.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import AdaBoostClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = AdaBoostClassifier(base={"learner": "rcd-bias", "epochs": 200}, rounds=50, random_state=0)
    >>> model.fit(scale(X), y).score(scale(X), y) > 0.95
    True
    >>> sum(1 for _ in model.staged_predict(scale(X))) == model.n_rounds_
    True
    """

    reports: ClassVar[tuple[str, ...]] = ("iterations",)

    def __init__(
        self,
        base: BaseLearner = "rcd-bias",
        rounds: Rounds = 200,
        perfect_odds: PerfectOdds = 1000.0,
        random_state=None,
    ):
        self.base = base
        self.rounds = rounds
        self.perfect_odds = perfect_odds
        self.random_state = random_state

    def train(self, problem: Problem) -> None:
        """Add hypotheses until the rounds are used up, or one is no better than chance."""
        base = BaseLearnerFactory(self, self.base)
        base.check()
        self.estimators_: list[BinaryLearner] = []
        alphas, errors = [], []
        phi = problem.phi.copy()  # end_round changes it
        problem = replace(problem, phi=phi)
        for round_ in range(1, self.rounds + 1):
            h_t = base.fit_copy(problem, self.classes_, round_)
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

    def _iterate_scores(self, samples: Samples) -> Iterator[np.ndarray]:
        return itertools.accumulate(
            alpha_t * predict_signs(h_t.compute_scores(samples))
            for h_t, alpha_t in zip(self.estimators_, self.estimator_weights_, strict=True)
        )
