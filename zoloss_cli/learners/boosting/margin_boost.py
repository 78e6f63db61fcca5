"""AnyBoost and CGBoost: gradient descent and conjugate gradient in function space, on margin costs."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.margin_cost import (
    BISIGMOID,
    EXPONENTIAL,
    LOGISTIC,
    cost_and_slope,
    line_search,
    set_sample_weights,
)
from zoloss_cli.kernels.zero_one import predicted_signs, prediction_mistakes
from zoloss_cli.learners.base import BinaryLearner, Problem, Samples
from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory
from zoloss_cli.learners.boosting.boosting import Boosting
from zoloss_cli.learners.parameters import BaseLearner, PositiveList

COST_KINDS = {"exponential": EXPONENTIAL, "sigmoid": BISIGMOID, "bisigmoid": BISIGMOID, "logistic": LOGISTIC}
# A direction this close to orthogonal to the gradient is orthogonal, up to rounding.
NO_EDGE = 1e-10
VANISHED = 1e-200

Cost = Annotated[
    Literal["exponential", "sigmoid", "bisigmoid", "logistic"],
    Field(
        description="c(m) of a margin m: exp(-m), 1 - tanh(m), the bisigmoid (3.5) with kappa_+ = 1, "
        "or log(1 + exp(-m))"
    ),
]
Kappa = Annotated[
    Annotated[float, Field(gt=0)] | PositiveList,
    Field(description="kappa_- of the bisigmoid; of a list, validation picks one"),
]
Rounds = Annotated[int, Field(ge=1, description="the most rounds to run")]
Tolerance = Annotated[
    float, Field(gt=0, lt=1, description="the line search's last bracket, as a share of its upper end")
]
Validation = Annotated[
    float,
    Field(ge=0, lt=1, description="share of the rows, at random, held out to pick the best size (0: none)"),
]
RecordEvery = Annotated[
    int, Field(ge=0, description="keep scores and costs after every so many rounds (0: none)")
]


@dataclass
class BoostingPath:
    """One run of boosting: hypotheses, alpha_t, beta_t, and the cost at sizes 0, 1, ..."""

    kappa: float
    costs: list[float]
    hypotheses: list[BinaryLearner] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    betas: list[float] = field(default_factory=list)
    ended: str = ""

    def staged_scores(self, rows: Samples) -> Iterator[np.ndarray]:
        """F_1, F_2, ... at these rows: F_t = F_{t-1} + alpha_t d_t with d_t = f_t + beta_t d_{t-1}."""
        F, d = np.zeros(rows.X.shape[0]), np.zeros(rows.X.shape[0])
        for h_t, alpha_t, beta_t in zip(self.hypotheses, self.alphas, self.betas, strict=True):
            d = predicted_signs(h_t.compute_scores(rows)) + beta_t * d
            F = F + alpha_t * d
            yield F

    def cut(self, size: int) -> BoostingPath:
        """The same run, ended at this size."""
        if size == len(self.hypotheses):
            return self
        kept = self.hypotheses[:size], self.alphas[:size], self.betas[:size]
        return BoostingPath(self.kappa, self.costs[: size + 1], *kept, f"validation chose the size {size}")

    def coefficients(self) -> np.ndarray:
        """What each hypothesis counts for in the end: sum_{t >= i} alpha_t beta_{i,t}, eq. (3.3)."""
        total, of_direction = np.zeros(len(self.alphas)), np.zeros(len(self.alphas))
        for t, (alpha_t, beta_t) in enumerate(zip(self.alphas, self.betas, strict=True)):
            of_direction *= beta_t
            of_direction[t] = 1.0
            total += alpha_t * of_direction
        return total


class AnyBoostClassifier(Boosting):
    """AnyBoost (Mason et al. 2000): gradient descent in function space on a cost of the margins.

    Li's thesis (2006), section 3.2. Round t trains the base learner with sample weights proportional to
    -c'(y_i F(x_i)), which makes f_t the best approximation of the negative gradient, and adds alpha_t f_t
    with alpha_t by a line search. Sample weights phi that are handed in weigh the costs: C(F) = sum_i
    phi_i c(y_i F(x_i)). With the exponential cost this is AdaBoost, but for the precision of the search
    (from a step of 1/2: halve until the cost falls, double until it rises, halve the bracket to 1 %).

    With `validation`, that share of the rows is held out, the size with the least errors on them is kept,
    the smallest of several, and of several kappa the first with the fewest. The ensemble ends there.

    A run ends early, and `ended_` says so, if no direction or step lowers the cost, if the sample weights
    vanish, or if the cost does: where all margins grow along a direction, alpha_t has no bound, and the
    search stops short of a cost of 1e-300. The base learner's `random_state` is not used.

    Attributes after fit: `estimators_`, `alphas_`, `betas_`, `estimator_weights_` (each one's coefficient
    in the end), `costs_` (at sizes 0, 1, ..., n_rounds_), `n_rounds_`, `kappa_`, `ended_`. With
    `record_every`, `recorded_epochs_` and `recorded_costs_`; a run that ends early keeps its last values.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from zoloss_cli import AnyBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AnyBoostClassifier(base="stump", cost="bisigmoid", kappa=1.2, rounds=40).fit(X, y)
    >>> model.score(X, y) > 0.97
    True
    >>> model.n_rounds_, len(model.costs_), bool(model.costs_[40] < model.costs_[20])
    (40, 41, True)
    """

    def __init__(
        self,
        base: BaseLearner = "stump",
        cost: Cost = "exponential",
        kappa: Kappa = 1.1,
        rounds: Rounds = 300,
        tolerance: Tolerance = 0.01,
        validation: Validation = 0.0,
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.base = base
        self.cost = cost
        self.kappa = kappa
        self.rounds = rounds
        self.tolerance = tolerance
        self.validation = validation
        self.record_every = record_every
        self.random_state = random_state

    @property
    def deterministic(self):
        return super().deterministic and not self.validation

    def _beta(self, round_: int, f_t: np.ndarray, last: np.ndarray, phi: np.ndarray) -> float:
        """How much of the last direction is kept."""
        return 0.0

    def train(self, problem):
        base = BaseLearnerFactory(self, self.base)
        base.check()
        kappas = [1.0] if self.cost != "bisigmoid" else np.atleast_1d(self.kappa).tolist()
        if self.validation:
            learning, held_out = self._held_out(problem)
            runs = [self._boost(base, learning, kappa) for kappa in kappas]
            run = _fewest_mistakes(runs, held_out)
        elif len(kappas) == 1:
            run = self._boost(base, problem, kappas[0])
        else:
            raise ValueError(
                f"{type(self).__name__}: kappa={self.kappa!r} lists {len(kappas)} values, but validation=0 "
                f"holds out no rows to choose by"
            )
        self.path_ = run
        self.estimators_ = run.hypotheses
        self.alphas_, self.betas_ = np.array(run.alphas), np.array(run.betas)
        self.estimator_weights_ = run.coefficients()
        self.costs_, self.kappa_, self.ended_ = np.array(run.costs), run.kappa, run.ended
        self.n_rounds_ = len(run.hypotheses)
        if self.record_every:
            self.recorded_epochs_ = np.arange(self.record_every, self.rounds + 1, self.record_every)
            self.recorded_costs_ = self.costs_[np.minimum(self.recorded_epochs_, self.n_rounds_)]
        if not run.hypotheses:
            warnings.warn(
                f"{type(self).__name__}: with {base.name}, {run.ended} in round 1; the ensemble is empty",
                stacklevel=4,
            )

    def _held_out(self, problem: Problem) -> tuple[Problem, Problem]:
        """What to learn from and what to validate by."""
        order = problem.rng.permutation(problem.y.size)
        count = max(1, round(self.validation * order.size))
        parts = [
            Problem(problem.X[rows], problem.y[rows], _shares(problem.unit_mean_weights[rows]), problem.rng)
            for rows in (np.sort(order[count:]), np.sort(order[:count]))
        ]
        if np.unique(parts[0].y[parts[0].phi > 0.0]).size < 2:
            raise ValueError(
                f"{type(self).__name__}: with validation={self.validation:g} of {order.size} rows held out, "
                f"the others are of one class"
            )
        return parts[0], parts[1]

    def _boost(self, base: BaseLearnerFactory, problem: Problem, kappa: float) -> BoostingPath:
        """Algorithm 3.2; `margins` are y F, `d` is the direction at the training rows."""
        kind, y, phi = COST_KINDS[self.cost], problem.y, problem.phi
        margins, d, last = np.zeros(y.size), np.zeros(y.size), np.zeros(y.size)
        D = np.empty(y.size)
        weighted = replace(problem, phi=D)
        level, rest, _ = cost_and_slope(kind, kappa, margins, d, phi, 0.0)
        run = BoostingPath(kappa, [level + rest], ended="all rounds were run")
        for round_ in range(1, self.rounds + 1):
            if not set_sample_weights(kind, kappa, margins, phi, D):
                run.ended = "all sample weights vanish"
                break
            h_t = base.learned(weighted, self.classes_, round_)
            f_t = predicted_signs(h_t.compute_scores(problem))
            beta_t = self._beta(round_, f_t, last, phi)
            d, last = f_t + beta_t * d, f_t
            along = y * d
            if not np.dot(D, along) > NO_EDGE * np.dot(D, np.abs(d)):
                run.ended = "no direction lowers the cost"
                break
            alpha_t, cost = line_search(kind, kappa, margins, along, phi, float(self.tolerance))
            if alpha_t == 0.0:
                run.ended = "no step lowers the cost"
                break
            margins += alpha_t * along
            run.hypotheses.append(h_t)
            run.alphas.append(alpha_t)
            run.betas.append(beta_t)
            run.costs.append(cost)
            if cost < VANISHED:
                run.ended = "the cost vanishes"
                break
        return run

    def _staged_scores(self, rows):
        return self.path_.staged_scores(rows)

    def recorded_scores(self, X) -> np.ndarray:
        """The scores of the rows of X after each recorded round, one row each."""
        empty = np.zeros(len(X))
        sizes = np.minimum(self.recorded_epochs_, self.n_rounds_)
        stages = [empty, *self.staged_decision_function(X)]
        return np.array([stages[size] for size in sizes])


class CGBoostClassifier(AnyBoostClassifier):
    """CGBoost: AnyBoost with conjugate directions (Li's thesis 2006, chapter 3, Algorithms 3.1 and 3.2).

    The direction of round t is d_t = f_t + beta_t d_{t-1} with beta_t = 1 - <f_t, f_{t-1}> (Polak and
    Ribiere's formula for binary hypotheses; <,> is the mean over the training rows, by phi), so that all
    earlier coefficients change in every round. In the first `plain_rounds` rounds beta_t = 0, since
    gradient descent is better there; the thesis says "several", and 5 fits its numbers. It also gives no
    rule for the line search: AnyBoost's is ours. All else is as in AnyBoost.

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
        plain_rounds: Annotated[int, Field(ge=1, description="first rounds with beta = 0")] = 5,
        tolerance: Tolerance = 0.01,
        validation: Validation = 0.0,
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        super().__init__(base, cost, kappa, rounds, tolerance, validation, record_every, random_state)
        self.plain_rounds = plain_rounds

    def _beta(self, round_, f_t, last, phi):
        return 0.0 if round_ <= self.plain_rounds else 1.0 - float(np.dot(phi, f_t * last))


def _shares(weights: np.ndarray) -> np.ndarray:
    total = weights.sum()
    return weights / total if total > 0.0 else weights


def _fewest_mistakes(runs: list[BoostingPath], held_out: Problem) -> BoostingPath:
    """The first run, cut at its first size, with the least weight of wrong predictions on what was held out."""
    best, best_size, fewest = runs[0], 0, np.inf
    weights = held_out.unit_mean_weights
    for run in runs:
        # An empty run is what it is; else there is a choice from size 1 on.
        stages = run.staged_scores(held_out) if run.hypotheses else [np.zeros(held_out.y.size)]
        for size, scores in zip(itertools.count(bool(run.hypotheses)), stages, strict=False):
            wrong = float(np.dot(weights, prediction_mistakes(scores, held_out.y)))
            if wrong < fewest:
                best, best_size, fewest = run, size, wrong
    return best.cut(best_size)
