"""Probabilities from scores: curves fitted to the scores of samples left out of the fit.

The curves are scikit-learn's: Platt's sigmoid, or an isotonic step function with straight lines between.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from zoloss_cli.errors import DataError
from zoloss_cli.workflows.validation import FoldData, FoldPlan, iterate_held_out

FOLDS = 5
MIN_SAMPLES_FOR_ISOTONIC = 1_000

Number = Annotated[float, Field(allow_inf_nan=False)]


class SigmoidCurve(BaseModel):
    """The probability 1 / (1 + exp(slope * score + offset)), after Platt (1999)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["sigmoid"] = "sigmoid"
    slope: Number
    offset: Number

    def compute(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of each score."""
        from scipy.special import expit

        return expit(-(self.slope * scores + self.offset))


class IsotonicCurve(BaseModel):
    """A rising curve through these points, constant beyond the first and the last."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["isotonic"] = "isotonic"
    scores: Annotated[list[Number], Field(min_length=1)]
    values: Annotated[list[Annotated[float, Field(ge=0.0, le=1.0)]], Field(min_length=1)]

    def compute(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of each score."""
        return np.interp(scores, self.scores, self.values)


Curve = Annotated[SigmoidCurve | IsotonicCurve, Field(discriminator="kind")]


class Calibration(BaseModel):
    """Curves for the scores of a fitted rule: one for two classes, otherwise one per class.

    Attributes
    ----------
    divisor : float
        The number that scores are first divided by: the length of the weights of a linear rule.
    curves : list of curve
        The curves from scores to probabilities.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    divisor: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    curves: Annotated[list[Curve], Field(min_length=1)]

    def compute(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of the positive class, or a column per class, which sum to 1."""
        scores = scores / self.divisor
        if scores.ndim == 1:
            return self.curves[0].compute(scores)
        columns = np.column_stack(
            [curve.compute(column) for curve, column in zip(self.curves, scores.T, strict=True)]
        )
        totals = columns.sum(axis=1, keepdims=True)
        # If every class has probability 0, all are equally likely, as in scikit-learn.
        return np.where(totals > 0.0, columns / np.where(totals > 0.0, totals, 1.0), 1.0 / columns.shape[1])

    def check(self, n_classes: int) -> str | None:
        """Return what is inconsistent, if anything."""
        if len(self.curves) != (1 if n_classes == 2 else n_classes):
            return f"{len(self.curves)} curves for {n_classes} classes"
        for curve in self.curves:
            if isinstance(curve, IsotonicCurve) and (
                len(curve.scores) != len(curve.values) or np.any(np.diff(curve.scores) < 0.0)
            ):
                return "the scores of an isotonic curve do not rise with its values"
        return None


@dataclass(frozen=True)
class CalibrationTask:
    """The settings of a calibration.

    Attributes
    ----------
    method : {'sigmoid', 'isotonic'}
        The kind of curve.
    classes : sequence of str
        The classes.
    divisor : float
        The length of the weights of the rule to calibrate.
    """

    method: str
    classes: Sequence[str]
    divisor: float


def check_counts(y: np.ndarray, classes: Sequence[str]) -> None:
    """Refuse classes that cannot be in every left-out part."""
    counts = np.bincount(y, minlength=len(classes))
    least = int(np.argmin(counts))
    if counts[least] < FOLDS:
        raise DataError(
            f"--calibrate: the class '{classes[least]}' has {counts[least]} samples, and at least {FOLDS} of "
            "each class are needed"
        )


def calibrate(task: CalibrationTask, plan: FoldPlan, data: FoldData) -> Calibration:
    """Fit curves to the scores of left-out samples, each from an estimator fitted to the others.

    Parameters
    ----------
    task : CalibrationTask
        The kind of curve, and the rule that it is for.
    plan : FoldPlan
        The learner, possibly with a shorter search.
    data : FoldData
        The samples.

    Returns
    -------
    Calibration
        The curves.
    """
    positives = range(len(task.classes)) if len(task.classes) > 2 else (1,)
    scores = np.zeros((len(data.y), len(positives)))
    folds = FoldPlan(plan.learner, FOLDS, 1, FOLDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in iterate_held_out(folds, data):
            assert part.scores is not None  # every class is in every training part
            scores[part.indices] = part.scores.reshape(len(part.indices), -1)
    curves = [_fit_curve(task.method, scores[:, j], data.y == k) for j, k in enumerate(positives)]
    return Calibration(divisor=task.divisor, curves=curves)


def _fit_curve(method: str, scores: np.ndarray, positive: np.ndarray) -> SigmoidCurve | IsotonicCurve:
    if method == "sigmoid":
        from sklearn.calibration import _SigmoidCalibration

        curve = _SigmoidCalibration().fit(scores, positive.astype(float))
        return SigmoidCurve(slope=float(curve.a_), offset=float(curve.b_))
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0).fit(scores, positive.astype(float))
    return IsotonicCurve(scores=steps.X_thresholds_.tolist(), values=steps.y_thresholds_.tolist())


def build_probability_columns(
    calibration: Calibration | None, classes: Sequence[str], scores: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the probability columns of predictions; none without a calibration."""
    if calibration is None:
        return {}
    probabilities = calibration.compute(scores)
    if probabilities.ndim == 1:
        return {"probability": probabilities}
    return {f"probability={name}": column for name, column in zip(classes, probabilities.T, strict=True)}
