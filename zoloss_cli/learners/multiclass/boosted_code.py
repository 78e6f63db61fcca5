"""Boosting on an error-correcting code that grows with the ensemble: the base of AdaBoost.ECC and .ERP."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from zoloss_cli.kernels.boost import CHANCE_ERROR
from zoloss_cli.kernels.codes import compute_weighted_error, sum_sides
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.multiclass.coding import CodedEnsemble, ColumnFitter
from zoloss_cli.learners.multiclass.joint_weights import JointWeights
from zoloss_cli.learners.multiclass.partitions import (
    EXACT_PARTITION,
    MAX_EXACT_CLASSES,
    PARTITIONS,
    RANDOM_PARTITIONS,
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
                stacklevel=3,
            )
        return columns, estimators, alphas

    def _compute_side_coefficients(self, sums: np.ndarray) -> np.ndarray:
        """Return half the log odds that an output is right, for -1 and for +1, from `sum_sides`."""
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
