"""AnyBoost: gradient descent in function space, on margin costs."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.stumps import (
    BISIGMOID,
    EXPONENTIAL,
    LOGISTIC,
    compute_cost_and_slope,
    search_line,
    set_sample_weights,
)
from zoloss_cli.kernels.zero_one import find_prediction_errors, predict_signs
from zoloss_cli.learners.base import BaseLearner, PositiveList, Problem, RecordEveryRound, Rounds, Samples
from zoloss_cli.learners.boosting.adaboost import BaseLearnerFactory, BoostingLearner, BoostingPath

COST_KINDS = {"exponential": EXPONENTIAL, "sigmoid": BISIGMOID, "bisigmoid": BISIGMOID, "logistic": LOGISTIC}
# A direction this close to orthogonal to the gradient counts as orthogonal.
MIN_EDGE = 1e-10
VANISHED_COST = 1e-200

Cost = Annotated[
    Literal["exponential", "sigmoid", "bisigmoid", "logistic"],
    Field(
        description="cost c(m) of a margin m: exp(-m), 1 - tanh(m), the bisigmoid (3.5) with kappa_+ = 1, "
        "or log(1 + exp(-m))"
    ),
]
Kappa = Annotated[
    Annotated[float, Field(gt=0)] | PositiveList,
    Field(description="parameter kappa_- of the bisigmoid, or a list from which validation chooses"),
]
Tolerance = Annotated[
    float, Field(gt=0, lt=1, description="final bracket of the line search, relative to its upper end")
]
Validation = Annotated[
    float,
    Field(ge=0, lt=1, description="share of the samples to hold out at random for choosing the size (0: none)"),
]


@dataclass(eq=False, repr=False)
class AnyBoostClassifier(BoostingLearner):  # numpydoc ignore=PR02
    """AnyBoost: gradient descent in function space on a cost of the margins.

    Round t fits the base learner with sample weights proportional to -c'(y_i F(x_i)), which makes f_t the best
    approximation of the negative gradient, and adds alpha_t f_t with alpha_t from a line search. Sample
    weights phi multiply the costs: C(F) = sum_i phi_i c(y_i F(x_i)). With the exponential cost this is
    AdaBoost, except for the precision of the search.

    Parameters
    ----------
    base : learner, default='stump'
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
    cost : {'exponential', 'sigmoid', 'bisigmoid', 'logistic'}, default='exponential'
        Cost c(m) of a margin m: exp(-m), 1 - tanh(m), the bisigmoid (3.5) with kappa_+ = 1, or
        log(1 + exp(-m)).
    kappa : float > 0 or non-empty list of float > 0, default=1.1
        Parameter kappa_- of the bisigmoid, or a list from which validation chooses.
    rounds : int >= 1, default=300
        Maximum number of rounds.
    tolerance : float in (0, 1), default=0.01
        Final bracket of the line search, relative to its upper end.
    validation : float in [0, 1), default=0.0
        Share of the samples to hold out at random for choosing the size (0: none). The smallest size with the
        fewest errors on them is kept, and of several kappa the first with the fewest.
    record_every : int >= 0, default=0
        Number of rounds between recorded scores and costs (0: record none).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_rounds,)
        The steps alpha_t.
    betas_ : ndarray of shape (n_rounds,)
        How much of the previous direction was kept: 0.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    costs_ : ndarray of shape (n_rounds + 1,)
        The cost at sizes 0, 1, ..., n_rounds.
    ended_ : str
        Why there were no more rounds.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The final coefficient of each hypothesis.
    estimators_ : list of BinaryLearner
        The hypotheses f_t.
    kappa_ : float
        The kappa_- used.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of hypotheses.
    path_ : BoostingPath
        The ensembles of all sizes.
    recorded_costs_ : ndarray of shape (n_recorded,)
        With `record_every`, the cost after these rounds; a fit that ended earlier keeps its last value.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        With `record_every`, the rounds whose costs and scores were recorded.

    Notes
    -----
    The line search, from a step of 1/2: halve until the cost falls, double until it rises, halve the bracket
    to 1 %. A fit ends early, with the reason in `ended_`, if no direction or step lowers the cost, or if the
    sample weights or the cost vanish.

    References
    ----------
    .. [1] Mason, L., Baxter, J., Bartlett, P. and Frean, M. (2000). Functional gradient techniques for
       combining hypotheses.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from zoloss_cli import AnyBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AnyBoostClassifier(base="stump", cost="bisigmoid", kappa=1.2, rounds=40).fit(X, y)
    >>> model.score(X, y) > 0.97
    True
    >>> model.n_rounds_, len(model.costs_), bool(model.costs_[40] < model.costs_[20])
    (40, 41, True)
    """

    reports: ClassVar[tuple[str, ...]] = ("iterations", "cost")

    base: BaseLearner = "stump"
    cost: Cost = "exponential"
    kappa: Kappa = 1.1
    rounds: Rounds = 300
    tolerance: Tolerance = 0.01
    validation: Validation = 0.0
    record_every: RecordEveryRound = 0
    random_state: Any = None

    @property
    def deterministic(self) -> bool:
        """Whether neither the base learner nor the validation uses random draws."""
        return super().deterministic and not self.validation

    def _compute_beta(self, round_: int, f_t: np.ndarray, last: np.ndarray, phi: np.ndarray) -> float:
        """Return how much of the previous direction is kept."""
        return 0.0

    def train(self, problem: Problem) -> None:
        """Run boosting for each kappa, and keep the best size."""
        base = BaseLearnerFactory(self, self.base)
        base.check()
        kappas = [1.0] if self.cost != "bisigmoid" else np.atleast_1d(self.kappa).tolist()
        if self.validation:
            training, held_out = self._split_for_validation(problem)
            path = _choose_by_validation([self._boost(base, training, kappa) for kappa in kappas], held_out)
        elif len(kappas) == 1:
            path = self._boost(base, problem, kappas[0])
        else:
            raise ValueError(
                f"{type(self).__name__}: kappa={self.kappa!r} lists {len(kappas)} values, but validation=0 "
                f"holds out no samples to choose by"
            )
        self._set_fitted(path)
        if not path.hypotheses:
            warnings.warn(
                f"{type(self).__name__}: with {base.name}, {path.end_reason} in round 1; the ensemble is empty",
                stacklevel=4,
            )

    def _set_fitted(self, path: BoostingPath) -> None:
        self.path_ = path
        self.estimators_ = path.hypotheses
        self.alphas_, self.betas_ = np.array(path.alphas), np.array(path.betas)
        self.estimator_weights_ = path.compute_coefficients()
        self.costs_, self.kappa_, self.ended_ = np.array(path.costs), path.kappa, path.end_reason
        self.n_rounds_ = len(path.hypotheses)
        if self.record_every:
            self.recorded_epochs_ = np.arange(self.record_every, self.rounds + 1, self.record_every)
            self.recorded_costs_ = self.costs_[np.minimum(self.recorded_epochs_, self.n_rounds_)]

    def _split_for_validation(self, problem: Problem) -> tuple[Problem, Problem]:
        """Return the samples to fit to and those to choose the size by."""
        order = problem.rng.permutation(problem.y.size)
        count = max(1, round(self.validation * order.size))
        training, held_out = (
            Problem(
                problem.X[subset],
                problem.y[subset],
                _normalize(problem.unit_mean_weights[subset]),
                problem.rng,
            )
            for subset in (np.sort(order[count:]), np.sort(order[:count]))
        )
        if np.unique(training.y[training.phi > 0.0]).size < 2:
            raise ValueError(
                f"{type(self).__name__}: with validation={self.validation:g} of {order.size} samples held out, "
                f"the others are of one class"
            )
        return training, held_out

    def _boost(self, base: BaseLearnerFactory, problem: Problem, kappa: float) -> BoostingPath:
        """Run Algorithm 3.2; `margins` are y F, `d` is the direction at the training samples."""
        kind, y, phi = COST_KINDS[self.cost], problem.y, problem.phi
        margins, d, last = np.zeros(y.size), np.zeros(y.size), np.zeros(y.size)
        D = np.empty(y.size)
        weighted = replace(problem, phi=D)
        level, rest, _ = compute_cost_and_slope(kind, kappa, margins, d, phi, 0.0)
        path = BoostingPath(kappa, [level + rest], end_reason="all rounds were run")
        for round_ in range(1, self.rounds + 1):
            if not set_sample_weights(kind, kappa, margins, phi, D):
                path.end_reason = "all sample weights vanish"
                break
            h_t = base.fit_copy(weighted, self.classes_, round_)
            f_t = predict_signs(h_t.compute_scores(problem))
            beta_t = self._compute_beta(round_, f_t, last, phi)
            d, last = f_t + beta_t * d, f_t
            along = y * d
            if not np.dot(D, along) > MIN_EDGE * np.dot(D, np.abs(d)):
                path.end_reason = "no direction lowers the cost"
                break
            alpha_t, cost = search_line(kind, kappa, margins, along, phi, float(self.tolerance))
            if alpha_t == 0.0:
                path.end_reason = "no step lowers the cost"
                break
            margins += alpha_t * along
            path.append(h_t, alpha_t, beta_t, cost)
            if cost < VANISHED_COST:
                path.end_reason = "the cost vanishes"
                break
        return path

    def _iterate_scores(self, samples: Samples) -> Iterator[np.ndarray]:
        return self.path_.iterate_scores(samples)

    def recorded_scores(self, X) -> np.ndarray:
        """Return the scores of samples after each recorded round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_recorded, n_samples)
            One row per recorded round.
        """
        empty = np.zeros(len(X))
        sizes = np.minimum(self.recorded_epochs_, self.n_rounds_)
        stages = [empty, *self.staged_decision_function(X)]
        return np.array([stages[size] for size in sizes])


def _normalize(weights: np.ndarray) -> np.ndarray:
    """Return the weights scaled to sum 1, unless all are 0."""
    total = weights.sum()
    return weights / total if total > 0.0 else weights


def _choose_by_validation(paths: list[BoostingPath], held_out: Problem) -> BoostingPath:
    """Return the first path, cut at its first size, with the smallest weight of errors on held-out samples."""
    best, best_size, fewest = paths[0], 0, np.inf
    weights = held_out.unit_mean_weights
    for path in paths:
        # An empty path stays empty; otherwise the choice starts at size 1.
        stages = path.iterate_scores(held_out) if path.hypotheses else iter([np.zeros(held_out.y.size)])
        for size, scores in zip(itertools.count(int(bool(path.hypotheses))), stages, strict=False):
            wrong = float(np.dot(weights, find_prediction_errors(scores, held_out.y)))
            if wrong < fewest:
                best, best_size, fewest = path, size, wrong
    return best.truncate(best_size)


class CGBoostClassifier(AnyBoostClassifier):
    """CGBoost: AnyBoost with conjugate directions.

    The direction of round t is d_t = f_t + beta_t d_{t-1} with beta_t = 1 - <f_t, f_{t-1}> (Polak and Ribiere's
    formula for binary hypotheses; <,> is the mean over the training samples, weighted by phi), so that every
    round changes all earlier coefficients. Everything else is as in AnyBoost.

    Parameters
    ----------
    base : learner, default='stump'
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
    cost : {'exponential', 'sigmoid', 'bisigmoid', 'logistic'}, default='exponential'
        Cost c(m) of a margin m: exp(-m), 1 - tanh(m), the bisigmoid (3.5) with kappa_+ = 1, or
        log(1 + exp(-m)).
    kappa : float > 0 or non-empty list of float > 0, default=1.1
        Parameter kappa_- of the bisigmoid, or a list from which validation chooses.
    rounds : int >= 1, default=300
        Maximum number of rounds.
    plain_rounds : int >= 1, default=5
        Number of initial rounds with beta = 0. Gradient descent is better there.
    tolerance : float in (0, 1), default=0.01
        Final bracket of the line search, relative to its upper end.
    validation : float in [0, 1), default=0.0
        Share of the samples to hold out at random for choosing the size (0: none). The smallest size with the
        fewest errors on them is kept, and of several kappa the first with the fewest.
    record_every : int >= 0, default=0
        Number of rounds between recorded scores and costs (0: record none).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_rounds,)
        The steps alpha_t along the directions d_t.
    betas_ : ndarray of shape (n_rounds,)
        How much of the previous direction was kept.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    costs_ : ndarray of shape (n_rounds + 1,)
        The cost at sizes 0, 1, ..., n_rounds.
    ended_ : str
        Why there were no more rounds.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The final coefficient of each hypothesis, eq. (3.3).
    estimators_ : list of BinaryLearner
        The hypotheses f_t.
    kappa_ : float
        The kappa_- used.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of hypotheses.
    path_ : BoostingPath
        The ensembles of all sizes.
    recorded_costs_ : ndarray of shape (n_recorded,)
        With `record_every`, the cost after these rounds; a fit that ended earlier keeps its last value.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        With `record_every`, the rounds whose costs and scores were recorded.

    Notes
    -----
    In the first rounds beta_t = 0; the thesis says "several", and 5 fits its numbers. The thesis does not
    specify the line search either: that of AnyBoost is our own.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Chapter 3, Algorithms 3.1 and 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from zoloss_cli import AnyBoostClassifier, CGBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> conjugate = CGBoostClassifier(base="stump", rounds=40).fit(X, y)
    >>> bool(conjugate.costs_[-1] < AnyBoostClassifier(base="stump", rounds=40).fit(X, y).costs_[-1])
    True
    """

    def __init__(
        self,
        base: BaseLearner = "stump",
        cost: Cost = "exponential",
        kappa: Kappa = 1.1,
        rounds: Rounds = 300,
        plain_rounds: Annotated[int, Field(ge=1, description="number of initial rounds with beta = 0")] = 5,
        tolerance: Tolerance = 0.01,
        validation: Validation = 0.0,
        record_every: RecordEveryRound = 0,
        random_state=None,
    ):
        super().__init__(base, cost, kappa, rounds, tolerance, validation, record_every, random_state)
        self.plain_rounds = plain_rounds

    def _compute_beta(self, round_: int, f_t: np.ndarray, last: np.ndarray, phi: np.ndarray) -> float:
        return 0.0 if round_ <= self.plain_rounds else 1.0 - float(np.dot(phi, f_t * last))
