"""AdaBoost.ECC and AdaBoost.ERP: boosting on an error-correcting code that grows with the ensemble."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.boost import HALF
from zoloss_cli.kernels.codes import pair_weights, preferences, update, weighted_error
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.multiclass.coding import CodedEnsemble, ColumnFitter
from zoloss_cli.learners.multiclass.partitions import EXACT, MAX_EXACT_CLASSES, PARTITIONS, RANDOM
from zoloss_cli.learners.parameters import BaseLearner, RecordEvery

Rounds = Annotated[int, Field(ge=1, description="the most rounds to run")]
PerfectOdds = Annotated[float, Field(gt=1, description="stands for (1 - e) / e in a round without any error")]


class JointWeights:
    """D(n, k), proportional to exp(-rho_k(x_n, y_n)): how much example n is still taken for class k.

    Its own class's entry is 0. `cost` is the margin cost (4.2) over N (K - 1), the mean of all other entries.

    Equal cuts, mu = 0 and the stumps of AdaBoost are decided by rounding, and so are printed digits. Therefore
    D starts from the examples' weights and is scaled as in the author's program: not in every round, only
    when its sum is far from K.
    """

    FAR = 1e5

    def __init__(self, training: ColumnFitter):
        n, K = training.codes.size, training.classes
        self.codes = training.codes
        self.D = np.repeat(training.phi[:, None], K, axis=1)
        self.D[np.arange(n), self.codes] = 0.0
        self._by_class = np.zeros((K, K))
        self._sum = update(self.D, self.codes, np.ones(K, np.int8), np.ones(n), 0.0, self._by_class)
        self._weights = np.empty(n)
        self._last: tuple | None = None  # the column asked for last, with the answer
        self.cost = 1.0

    @property
    def confusion(self) -> np.ndarray:
        return self._by_class + self._by_class.T

    def of(self, column: np.ndarray) -> tuple[float, np.ndarray | None]:
        """(U, D_t): what the column separates, as a share of all; and by example, None if that is nothing."""
        if self._last is None or not np.array_equal(column, self._last[0]):
            U = pair_weights(self.D, self.codes, column, self._weights)
            D_t = self._weights * (1.0 / U) if np.finfo(np.float64).tiny <= U else None
            self._last = column, U / self._sum, D_t
        return self._last[1:]

    def repartitioned(self, outputs: np.ndarray) -> np.ndarray:
        """The column that suits a base classifier best: step 8 of Algorithm 4.2, +1 where both do."""
        return np.where(preferences(self.D, self.codes, outputs) >= 0.0, 1, -1).astype(np.int8)

    def add(self, column: np.ndarray, outputs: np.ndarray, alpha: float) -> None:
        """A base classifier joins."""
        before, self._sum = self._sum, update(self.D, self.codes, column, outputs, alpha, self._by_class)
        self.cost *= self._sum / before
        scale = self.D.shape[1] / self._sum
        if not 1.0 / self.FAR < scale < self.FAR:
            for values in (self.D, self._by_class):
                values *= scale
            self._sum *= scale
        self._last = None


class _BoostedCode(CodedEnsemble):
    """Algorithm 4.2; Algorithm 4.1 is the schedule L, without any repartitioning."""

    def check_classes(self, count):
        super().check_classes(count)
        if count > MAX_EXACT_CLASSES and self.plan()[0] == EXACT:
            key = next(k for k, v in self.get_params(deep=False).items() if v == EXACT)
            raise ValueError(
                f"{type(self).__name__}: {key}='{EXACT}' is exact and for at most {MAX_EXACT_CLASSES} classes, and "
                f"y holds {count}; use {key}='greedy' instead"
            )

    def encode(self, training):
        columns, learned, alphas, errors, costs, cuts = [], [], [], [], [], []
        joint = JointWeights(training)
        self.unsplit_ = 0
        start, schedule = self.plan()
        for round_ in range(1, self.rounds + 1):
            column = PARTITIONS[start](joint.confusion, training.rng)
            f_t, outputs, column = self._cycle(schedule, column, joint, training, round_)
            U_t, D_t = joint.of(column)
            if D_t is None:
                self.unsplit_ = 1
                break
            e_t = weighted_error(D_t, column[training.codes].astype(np.float64), outputs)
            if e_t >= HALF:
                break
            alpha_t = 0.5 * np.log(1.0 / e_t - 1.0 if e_t > 0.0 else self.perfect_odds)
            joint.add(column, outputs, alpha_t)
            columns.append(column)
            learned.append(f_t)
            alphas.append(alpha_t)
            errors.append(e_t)
            costs.append(joint.cost)
            cuts.append(U_t)
        self.n_rounds_ = len(columns)
        self.estimator_errors_, self.costs_, self.cuts_ = np.array(errors), np.array(costs), np.array(cuts)
        if self.record_every:
            self.recorded_epochs_ = np.arange(self.record_every, self.rounds + 1, self.record_every)
            self.recorded_costs_ = np.array([1.0, *costs])[np.minimum(self.recorded_epochs_, len(costs))]
        if not columns:
            warnings.warn(
                f"{type(self).__name__}: {training.base.name} is no better than chance in round 1; the "
                f"ensemble is empty, and all rows are predicted to be '{self.classes_[0]}'",
                stacklevel=3,
            )
        return columns, learned, alphas

    def _cycle(
        self, schedule: str, column: np.ndarray, joint: JointWeights, training: ColumnFitter, round_: int
    ) -> tuple[BinaryLearner | None, np.ndarray | None, np.ndarray]:
        """Learning and repartitioning by turns, until the schedule ends or the column stays the same."""
        f_t = outputs = None
        for step in schedule:
            if step == "L":
                _, D_t = joint.of(column)
                if D_t is None:
                    break
                f_t = training.learned(column, D_t, round_)
                outputs = training.outputs(f_t)
            else:
                better = joint.repartitioned(outputs)
                if np.array_equal(better, column):
                    break
                column = better
        return f_t, outputs, column

    def recorded_predictions(self, X) -> Iterator[np.ndarray]:
        """The classes after each recorded round; those of the last round where the run ended before."""
        stages = self._staged_classes(X)
        at, predicted = 0, next(stages)
        for wanted in np.minimum(self.recorded_epochs_, self.n_rounds_):
            while at < wanted:
                at, predicted = at + 1, next(stages)
            yield predicted

    @property
    def deterministic(self):
        return super().deterministic and self.plan()[0] not in RANDOM


class AdaBoostECCClassifier(_BoostedCode):
    """AdaBoost.ECC: boosting for several classes, each round on a new split of the classes in two.

    Guruswami & Sahai (1999); Algorithm 4.1 of Li's thesis (2006). Every round appends a column to the coding
    matrix and a base classifier that learned it, with most weight on what is still confused. The column is
    the one that separates the most of it (max-cut, exact for up to 13 classes), about as good a one (greedy),
    or a random half of the classes (rand-half). With two classes it is AdaBoost.

    Rules that the thesis leaves out: e_t >= 1/2 (up to rounding) ends the run; e_t = 0 takes the odds 1000
    for (1 - e_t) / e_t; of equal cuts, the one that the Gray code reaches first; the greedy cut takes the
    heaviest pair of classes first.

    Attributes after fit: `coding_matrix_` (K x T), `estimators_`, `estimator_weights_` (alpha_t),
    `estimator_errors_` (e_t), `cuts_` (U_t as a share of all weight), `costs_` (the margin cost (4.2) over
    N (K - 1) after each round), `n_rounds_`, and `unsplit_`, 1 if no weight was left to separate. With
    `record_every`, `recorded_epochs_` and `recorded_costs_`, and `recorded_predictions` says what was
    predicted after those rounds.

    >>> from zoloss_cli import AdaBoostECCClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = AdaBoostECCClassifier(base="stump", partition="max-cut", rounds=20).fit(X, y)
    >>> model.coding_matrix_.shape, bool(model.costs_[-1] < model.costs_[0]), model.score(X, y) > 0.9
    ((3, 20), True, True)
    """

    def __init__(
        self,
        base: BaseLearner = "rcd-bias",
        partition: Annotated[
            Literal["max-cut", "greedy", "rand-half"], Field(description="how columns are chosen")
        ] = "max-cut",
        rounds: Rounds = 200,
        perfect_odds: PerfectOdds = 1000.0,
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.base = base
        self.partition = partition
        self.rounds = rounds
        self.perfect_odds = perfect_odds
        self.record_every = record_every
        self.random_state = random_state

    def plan(self) -> tuple[str, str]:
        return self.partition, "L"


class AdaBoostERPClassifier(_BoostedCode):
    """AdaBoost.ERP: AdaBoost.ECC with repartitioning, which suits the columns to what the base learner can do.

    Algorithm 4.2 of Li's thesis (2006). A round begins with an initial column, mostly of two classes, and
    follows the schedule: L learns a base classifier on the column, R turns the column into the one that
    makes the most of that classifier (equation 4.5). Both raise the negative gradient of the margin cost, if
    the base learner minimizes the weighted error.

    Rules that the thesis leaves out: those of AdaBoost.ECC; a class that is as well on either side is +1. If
    all classes are on one side, nothing is left to learn: the run ends with what it has, and `unsplit_` is 1.

    Attributes after fit: those of AdaBoostECCClassifier.

    >>> from zoloss_cli import AdaBoostERPClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = AdaBoostERPClassifier(base="stump", initial="max-2", schedule="LRL", rounds=20).fit(X, y)
    >>> stages = list(model.staged_predict(X))
    >>> len(stages), bool((stages[-1] == model.predict(X)).all()), model.score(X, y) > 0.9
    (20, True, True)
    """

    def __init__(
        self,
        base: BaseLearner = "rcd-bias",
        initial: Annotated[
            Literal["max-2", "rand-2", "max-cut", "greedy", "rand-half"],
            Field(description="how a round's first column is chosen"),
        ] = "max-2",
        schedule: Annotated[
            str, Field(pattern="^(LR)+L?$", description="learning and repartitioning by turns, such as LRL")
        ] = "LRLR",
        rounds: Rounds = 200,
        perfect_odds: PerfectOdds = 1000.0,
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.base = base
        self.initial = initial
        self.schedule = schedule
        self.rounds = rounds
        self.perfect_odds = perfect_odds
        self.record_every = record_every
        self.random_state = random_state

    def plan(self) -> tuple[str, str]:
        return self.initial, self.schedule
