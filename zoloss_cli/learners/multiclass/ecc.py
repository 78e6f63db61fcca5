"""Boosting on an error-correcting code that grows with the ensemble: the base of AdaBoost.ECC and .ERP."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.codes import compute_weighted_error, sum_sides
from zoloss_cli.kernels.stumps import CHANCE_ERROR
from zoloss_cli.learners.base import BaseLearner, BinaryLearner, PerfectOdds, RecordEveryRound, Rounds
from zoloss_cli.learners.multiclass.codes import (
    EXACT_PARTITION,
    MAX_EXACT_CLASSES,
    PARTITIONS,
    RANDOM_PARTITIONS,
    CodedEnsemble,
    ColumnFitter,
    JointWeights,
)


class BoostedCode(CodedEnsemble):
    """Algorithm 4.2; Algorithm 4.1 is the schedule L, without repartitioning."""

    reports: ClassVar[tuple[str, ...]] = ("iterations", "cost")

    symmetric = True  # one coefficient for both outputs of a base classifier
    rounds: int
    perfect_odds: float
    record_every: int

    def _partition_and_schedule(self) -> tuple[str, str]:
        """Return how a round's first column is chosen, and the steps L and R of a round."""
        raise NotImplementedError

    def check_classes(self, count: int) -> None:
        """Raise ValueError if an exact max-cut over this many classes would take too long."""
        super().check_classes(count)
        if count > MAX_EXACT_CLASSES and self._partition_and_schedule()[0] == EXACT_PARTITION:
            key = next(k for k, v in self.get_params(deep=False).items() if v == EXACT_PARTITION)
            raise ValueError(
                f"{type(self).__name__}: {key}='{EXACT_PARTITION}' is exact, for at most "
                f"{MAX_EXACT_CLASSES} classes, and y holds {count}; use {key}='greedy' instead"
            )

    def encode(self, fitter: ColumnFitter) -> tuple[list[np.ndarray], list[BinaryLearner], list[Any]]:
        """Add a column and its base classifier in every round."""
        columns, estimators, alphas, errors, costs, cuts = [], [], [], [], [], []
        joint = JointWeights(fitter)
        self.unsplit_ = 0
        partition, schedule = self._partition_and_schedule()
        for round_ in range(1, self.rounds + 1):
            column = PARTITIONS[partition](joint.confusion, fitter.rng)
            f_t, outputs, column = self._fit_round(schedule, column, joint, fitter, round_)
            U_t, D_t = joint.compute_column_weights(column)
            if D_t is None or f_t is None or outputs is None:
                self.unsplit_ = 1
                break
            signs = column[fitter.codes].astype(np.float64)
            e_t = compute_weighted_error(D_t, signs, outputs)
            if e_t >= CHANCE_ERROR:
                break
            if self.symmetric:
                alpha_t = 0.5 * np.log(1.0 / e_t - 1.0 if e_t > 0.0 else self.perfect_odds)
            else:
                alpha_t = self._compute_side_coefficients(sum_sides(D_t, signs, outputs))
            joint.add_classifier(column, outputs, np.broadcast_to(alpha_t, 2).copy())
            columns.append(column)
            estimators.append(f_t)
            alphas.append(alpha_t)
            errors.append(e_t)
            costs.append(joint.cost)
            cuts.append(U_t)
        self._set_fitted(errors, costs, cuts)
        if not columns:
            warnings.warn(
                f"{type(self).__name__}: {fitter.base.name} is no better than chance in round 1; the "
                f"ensemble is empty, and all samples are predicted to be '{self.classes_[0]}'",
                stacklevel=4,
            )
        return columns, estimators, alphas

    def _compute_side_coefficients(self, sums: np.ndarray) -> np.ndarray:
        """Return half the log odds that an output is correct, for -1 and for +1, from `sum_sides`."""
        right, wrong = np.diag(sums), np.diag(sums[:, ::-1])
        odds = np.ones(2)
        np.divide(right, wrong, out=odds, where=(right > 0.0) & (wrong > 0.0))
        odds[(right > 0.0) & (wrong == 0.0)] = self.perfect_odds
        odds[(right == 0.0) & (wrong > 0.0)] = 1.0 / self.perfect_odds
        return 0.5 * np.log(odds)

    def _set_fitted(self, errors: list[float], costs: list[float], cuts: list[float]) -> None:
        self.n_rounds_ = len(errors)
        self.estimator_errors_, self.costs_, self.cuts_ = np.array(errors), np.array(costs), np.array(cuts)
        if self.record_every:
            self.recorded_epochs_ = np.arange(self.record_every, self.rounds + 1, self.record_every)
            self.recorded_costs_ = np.array([1.0, *costs])[np.minimum(self.recorded_epochs_, len(costs))]

    def _fit_round(
        self, schedule: str, column: np.ndarray, joint: JointWeights, fitter: ColumnFitter, round_: int
    ) -> tuple[BinaryLearner | None, np.ndarray | None, np.ndarray]:
        """Fit and repartition in turn, until the schedule ends or the column stays the same."""
        f_t, outputs = None, None
        for step in schedule:
            if step == "L":
                _, D_t = joint.compute_column_weights(column)
                if D_t is None:
                    break
                f_t = fitter.fit_column(column, D_t, round_)
                outputs = fitter.predict_signs(f_t)
            elif outputs is not None:  # a schedule begins with L
                better = joint.find_best_column(outputs)
                if np.array_equal(better, column):
                    break
                column = better
        return f_t, outputs, column

    def recorded_predictions(self, X) -> Iterator[np.ndarray]:
        """Yield the predicted classes after each recorded round; the last ones if the fit ended earlier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels.
        """
        stages = self._iterate_classes(X)
        size, predicted = 0, next(stages)
        for wanted in np.minimum(self.recorded_epochs_, self.n_rounds_):
            while size < wanted:
                size, predicted = size + 1, next(stages)
            yield predicted

    @property
    def deterministic(self) -> bool:
        """Whether neither the base learner nor the choice of columns uses random draws."""
        return super().deterministic and self._partition_and_schedule()[0] not in RANDOM_PARTITIONS


@dataclass(eq=False, repr=False)
class AdaBoostECCClassifier(BoostedCode):  # numpydoc ignore=PR02
    """AdaBoost.ECC: boosting for several classes, with a new partition of the classes into two in each round.

    Every round appends a column to the coding matrix and a base classifier fitted to it, with most weight on
    the classes that are still confused. The column is the one that separates the most weight (max-cut, exact
    for up to 13 classes), one about as good (greedy), or a random half of the classes (rand-half). With two
    classes it is AdaBoost. Without `symmetric`, each of the two outputs of a base classifier has its own
    coefficient.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
    partition : {'max-cut', 'greedy', 'rand-half'}, default='max-cut'
        How columns are chosen.
    rounds : int >= 1, default=200
        Maximum number of rounds.
    perfect_odds : float > 1, default=1000.0
        Odds to use for (1 - e) / e in a round without errors.
    record_every : int >= 0, default=0
        Number of rounds between recorded scores and costs (0: record none).
    symmetric : bool, default=True
        One coefficient for both outputs of a base classifier. Algorithm 4.1 of [2]_ has one.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coding_matrix_ : ndarray of shape (n_classes, n_rounds)
        The code words, one row per class, of -1, 0 and +1.
    costs_ : ndarray of shape (n_rounds,)
        The margin cost (4.2) over N (K - 1) after each round.
    cuts_ : ndarray of shape (n_rounds,)
        The weight U_t that each column separates, as a share of the total.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted errors e_t.
    estimator_weights_ : ndarray of shape (n_rounds,) or (n_rounds, 2)
        The coefficients alpha_t; if asymmetric, for the outputs -1 and +1.
    estimators_ : list of BinaryLearner
        The base classifiers f_t.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of base classifiers.
    recorded_costs_ : ndarray of shape (n_recorded,)
        With `record_every`, the cost after these rounds; a fit that ended earlier keeps its last value.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        With `record_every`, the rounds whose costs and predictions were recorded.
    unsplit_ : int
        1 if no weight was left to separate, otherwise 0.

    Notes
    -----
    Details that the thesis omits: e_t >= 1/2 (up to rounding) ends the fit; e_t = 0 uses the odds 1000 for
    (1 - e_t) / e_t; among equal cuts, the one that the Gray code reaches first is used; the greedy cut takes
    the heaviest pair of classes first.

    The asymmetric form, which the thesis only mentions (footnote 3 of section 4.2), is that of [1]_: half the
    log odds, under D_t, that an output is correct, separately for -1 and for +1. An output that is never wrong
    has the odds 1000, one that is always wrong 1/1000; a coefficient can be below 0.

    References
    ----------
    .. [1] Guruswami, V. and Sahai, A. (1999). Multiclass learning, boosting, and error-correcting codes.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithm 4.1.

    Examples
    --------
    >>> from zoloss_cli import AdaBoostECCClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = AdaBoostECCClassifier(base="stump", partition="max-cut", rounds=20).fit(X, y)
    >>> model.coding_matrix_.shape, bool(model.costs_[-1] < model.costs_[0]), model.score(X, y) > 0.9
    ((3, 20), True, True)
    """

    base: BaseLearner = "rcd-bias"
    partition: Annotated[
        Literal["max-cut", "greedy", "rand-half"], Field(description="how columns are chosen")
    ] = "max-cut"
    rounds: Rounds = 200
    perfect_odds: PerfectOdds = 1000.0
    record_every: RecordEveryRound = 0
    symmetric: Annotated[bool, Field(description="one coefficient for both outputs of a base classifier")] = (
        True
    )
    random_state: Any = None

    def _partition_and_schedule(self) -> tuple[str, str]:
        return self.partition, "L"


@dataclass(eq=False, repr=False)
class AdaBoostERPClassifier(BoostedCode):  # numpydoc ignore=PR02
    """AdaBoost.ERP: AdaBoost.ECC with repartitioning, which adapts the columns to the base learner.

    A round begins with an initial column, usually of two classes, and follows the schedule: L fits a base
    classifier to the column, R replaces the column by the one that best suits that classifier (equation
    4.5). Both increase the negative gradient of the margin cost, if the base learner minimizes the weighted
    error.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
    initial : {'max-2', 'max-2-random-sign', 'rand-2', 'max-cut', 'greedy', 'rand-half'}, default='max-2'
        How a round's first column is chosen.
    schedule : str matching '^(LR)+L?$', default='LRLR'
        Alternation of learning (L) and repartitioning (R), such as LRL.
    rounds : int >= 1, default=200
        Maximum number of rounds.
    perfect_odds : float > 1, default=1000.0
        Odds to use for (1 - e) / e in a round without errors.
    record_every : int >= 0, default=0
        Number of rounds between recorded scores and costs (0: record none).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coding_matrix_ : ndarray of shape (n_classes, n_rounds)
        The code words, one row per class, of -1, 0 and +1.
    costs_ : ndarray of shape (n_rounds,)
        The margin cost (4.2) over N (K - 1) after each round.
    cuts_ : ndarray of shape (n_rounds,)
        The weight U_t that each column separates, as a share of the total.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted errors e_t.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The coefficients alpha_t.
    estimators_ : list of BinaryLearner
        The base classifiers f_t.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of base classifiers.
    recorded_costs_ : ndarray of shape (n_recorded,)
        With `record_every`, the cost after these rounds; a fit that ended earlier keeps its last value.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        With `record_every`, the rounds whose costs and predictions were recorded.
    unsplit_ : int
        1 if all classes ended up on one side, which leaves nothing to fit and ends the fit, otherwise 0.

    Notes
    -----
    Details that the thesis omits: those of AdaBoost.ECC; a class that does equally well on either side is
    +1. If all classes are on one side, nothing is left to fit: the ensemble ends with what it has, and
    `unsplit_` is 1.

    'max-2' takes the lower class of the pair as +1. 'max-2-random-sign' draws it in each round, from the
    author's program (the function max_cut_greedy of LEMGA). That decides ties with the schedule LR; if
    learning is repeated (LRL, LRLR), all cells of the thesis are the same to the digit with either.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithm 4.2.

    Examples
    --------
    >>> from zoloss_cli import AdaBoostERPClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = AdaBoostERPClassifier(base="stump", initial="max-2", schedule="LRL", rounds=20).fit(X, y)
    >>> stages = list(model.staged_predict(X))
    >>> len(stages), bool((stages[-1] == model.predict(X)).all()), model.score(X, y) > 0.9
    (20, True, True)
    """

    base: BaseLearner = "rcd-bias"
    initial: Annotated[
        Literal["max-2", "max-2-random-sign", "rand-2", "max-cut", "greedy", "rand-half"],
        Field(description="how a round's first column is chosen"),
    ] = "max-2"
    schedule: Annotated[
        str,
        Field(
            pattern="^(LR)+L?$", description="alternation of learning (L) and repartitioning (R), such as LRL"
        ),
    ] = "LRLR"
    rounds: Rounds = 200
    perfect_odds: PerfectOdds = 1000.0
    record_every: RecordEveryRound = 0
    random_state: Any = None

    def _partition_and_schedule(self) -> tuple[str, str]:
        return self.initial, self.schedule
