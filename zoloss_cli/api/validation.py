"""Estimate the error of a fit on new samples by repeated stratified cross-validation.

The number of folds and repeats, and the length of the search in each, depend only on the number of samples
and the learner's parameters, so that the same seed gives the same numbers. The clock matters only if a learner
has a time limit, or if folds would take longer than MAX_SECONDS.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.columns import Gap, refill
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.fitting import fit
from zoloss_cli.learners.search.samples import ExactFeatures

CONFIDENCE = 0.95
MIN_SAMPLES = 10
MIN_FOLDS_FOR_VARIANCE = 5
FOLDS, FOLDS_OF_MANY = 10, 5
MANY_SAMPLES, MOST_SAMPLES = 10_000, 100_000  # above these, there are fewer folds, and only one is tested
SAMPLES_TO_PREDICT, MAX_REPEATS = 400, 10  # folds of small tables are repeated up to so many predictions
MAX_SECONDS = 30.0  # no fold is started that would end later
LEAST_SECONDS = 0.1  # of a fold
SHARED_SECONDS = 2.0, 10.0  # minimum and maximum time for all folds of a time-limited search
LONGEST_SEARCH = {"steps": 2_000, "nodes": 20_000, "lines": 10_000}  # in a fold: short ones do nearly as well
SEED_WORD = 0x666F6C64  # so that the random numbers of folds differ from those of the fit


@dataclass(frozen=True)
class FoldPlan:
    """The plan for estimating the error on new samples."""

    learner: LearnerSpec  # the learner, possibly with a shorter search
    folds: int  # the number of folds, and how often the samples are divided into them
    repeats: int
    tested: int  # how many folds are tested, over all repeats
    shortened: tuple[str, ...] = ()  # which searches are shorter than in the fit itself
    seconds: float = MAX_SECONDS  # the time after which no further fold is started

    def describe(self) -> str:
        """Return the numbers of folds and repeats in words."""
        return f"{self.folds}-fold cross-validation, {self.repeats} repeat{'s' * (self.repeats != 1)}"


@dataclass(frozen=True)
class Validation:
    """Errors on held-out samples."""

    plan: FoldPlan
    tested: int  # the number of folds tested: fewer than planned if time ran out
    confusion: np.ndarray  # how often samples of the row's class were predicted to be of the column's class
    error: float  # the share of wrong predictions
    interval: tuple[float, float]  # confidence interval, corrected for overlapping training sets
    seconds: float  # the total time
    # Of two classes, the scores of held-out samples, comparable between folds, and which samples are positive.
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))
    positive: np.ndarray = field(default_factory=lambda: np.empty(0, bool))

    @property
    def class_errors(self) -> np.ndarray:
        """The share of wrong predictions for each class; NaN for a class that was not tested."""
        counts = self.confusion.sum(axis=1)
        wrong = counts - np.diag(self.confusion)
        return np.divide(wrong, counts, out=np.full(len(counts), np.nan), where=counts > 0)

    def compute_weighted_error(self, weights: np.ndarray) -> float:
        """Return the misclassified share of the weight, given the class weights."""
        counts = self.confusion.sum(axis=1)
        return float(weights @ (counts - np.diag(self.confusion)) / (weights @ counts))

    def describe(self, weights: np.ndarray | None) -> dict:
        """Return everything as part of a JSON object, given the class weights."""
        described = {
            "folds": self.plan.folds,
            "repeats": self.plan.repeats,
            "fits": self.tested,
            "planned_fits": self.plan.tested,
            "shortened": list(self.plan.shortened),
            "predictions": int(self.confusion.sum()),
            "error_rate": self.error,
            "interval": list(self.interval),
            "confidence": CONFIDENCE,
            "confusion": self.confusion.tolist(),
            "class_error_rates": [None if np.isnan(rate) else float(rate) for rate in self.class_errors],
            "seconds": round(self.seconds, 3),
        }
        if weights is not None:
            described["weighted_error_rate"] = self.compute_weighted_error(weights)
        return described


@dataclass(frozen=True)
class HeldOutPart:
    """The samples of one fold, predicted by an estimator fitted to all others."""

    indices: np.ndarray  # their indices in the table
    predictions: np.ndarray  # their predicted classes
    scores: np.ndarray | None  # comparable between folds; None if all other samples are of one class
    n_train: int  # the number of samples that the estimator was fitted to


@dataclass(frozen=True)
class FoldData:
    """The samples to divide into folds: features in the table's units, class indices, and sample weights."""

    X: np.ndarray  # the features, unscaled
    y: np.ndarray  # indices of classes
    scaling: str  # how features are scaled, by the training samples of a fold
    seed: int  # the seed of folds and learners
    sample_weight: np.ndarray | None = None
    gaps: tuple[Gap, ...] = ()  # missing values, which are imputed in each fold from its training samples


def plan_folds(learner: LearnerSpec, n: int, fit_seconds: float, seconds: float | None = None) -> FoldPlan:
    """Choose folds, repeats and the length of searches."""
    folds = min(n, FOLDS if n <= MANY_SAMPLES else FOLDS_OF_MANY)
    repeats = min(MAX_REPEATS, -(-SAMPLES_TO_PREDICT // n)) if n < SAMPLES_TO_PREDICT // 2 else 1
    tested = 1 if n > MOST_SAMPLES else folds * repeats
    most = MAX_SECONDS if seconds is None else seconds
    shared = min(max(fit_seconds, SHARED_SECONDS[0]), SHARED_SECONDS[1], most)
    shortened: dict[str, None] = {}
    learner = _shorten_search(learner, max(shared / tested, LEAST_SECONDS), shortened)
    return FoldPlan(learner, folds, repeats, tested, tuple(shortened), most)


def _shorten_search(spec: LearnerSpec, seconds: float, shortened: dict[str, None]) -> LearnerSpec:
    """Return the learner with a shorter search, also inside an ensemble; `shortened` collects the changes."""
    settings = []
    for key, value in spec.settings:
        if isinstance(value, LearnerSpec):
            value = _shorten_search(value, seconds, shortened)
        elif key in LONGEST_SEARCH and value is not None and value > LONGEST_SEARCH[key]:
            shortened[f"{LONGEST_SEARCH[key]:,} of {value:,} {key}"] = None
            value = LONGEST_SEARCH[key]
        elif key == "time_limit" and value is not None and value > seconds:
            shortened[f"at most {seconds:.2g} s a fold"] = None
            value = seconds
        settings.append((key, value))
    return spec.model_copy(update={"settings": tuple(settings)})


def draw_folds(y: np.ndarray, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the indices of each fold: fold sizes and class counts differ by at most one."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]  # class by class, in random order within each
    return [np.sort(order[k::folds]) for k in range(folds)]


def iterate_held_out(plan: FoldPlan, data: FoldData) -> Iterator[HeldOutPart]:
    """Yield the folds to test, each with predictions by an estimator fitted to all other samples."""
    fits = 0
    for repeat in range(plan.repeats):
        rng = np.random.default_rng([data.seed, SEED_WORD, repeat])
        for out in draw_folds(data.y, plan.folds, rng):
            if fits == plan.tested:
                return
            seed = np.random.SeedSequence([data.seed, SEED_WORD, repeat, fits])
            yield _predict_part(plan.learner, data, out, seed)
            fits += 1


def _predict_part(
    learner: LearnerSpec, data: FoldData, out: np.ndarray, seed: np.random.SeedSequence
) -> HeldOutPart:
    kept = np.ones(len(data.y), bool)
    kept[out] = False
    y = data.y[kept]
    if np.all(y == y[0]):
        return HeldOutPart(out, np.full(len(out), y[0]), None, len(y))
    filled = refill(data.X, data.gaps, np.flatnonzero(kept))
    X, X_out = scale_parts(filled[kept], filled[out], data.scaling)
    weights = None if data.sample_weight is None else data.sample_weight[kept]
    estimator, _ = fit(
        learner, X, y, seed, quiet=False, sample_weight=weights, exact=lambda: ExactFeatures(filled[kept])
    )
    # The 0/1 loss does not determine the norm of a rule's weights or points: scores are divided by it.
    scores = estimator.decision_function(X_out) / compute_norm(estimator)
    return HeldOutPart(out, estimator.predict(X_out), scores, len(y))


def compute_norm(estimator) -> float:
    """Return the norm of a linear rule's weights, without the bias, or of a card's points; 1 without any."""
    length = float(np.linalg.norm(getattr(estimator, "coef_", getattr(estimator, "points_", 1.0))))
    return length if 0.0 < length < np.inf else 1.0


def cross_validate(plan: FoldPlan, data: FoldData, n_classes: int) -> Validation | None:
    """Estimate the error on new samples; None if interrupted before the first fold."""
    from zoloss_cli.report.statistics import compute_corrected_interval, compute_proportion_interval

    start = time.perf_counter()
    confusion = np.zeros((n_classes, n_classes), np.int64)
    errors, sizes, n_train = [], [], 0
    scores, positive = [np.empty(0)], [np.empty(0, bool)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for part in iterate_held_out(plan, data):
                if any("interrupted after" in str(warning.message) for warning in caught):
                    break  # Ctrl-C ended the search of this fold
                truth = data.y[part.indices]
                np.add.at(confusion, (truth, part.predictions), 1)
                errors.append(int(np.sum(truth != part.predictions)))
                sizes.append(len(truth))
                if part.scores is not None and part.scores.ndim == 1:
                    scores.append(part.scores)
                    positive.append(truth == 1)
                n_train = part.n_train
                _show_progress(len(errors), plan.tested)
                seconds = time.perf_counter() - start
                if seconds * (len(errors) + 1) / len(errors) > plan.seconds:
                    break
        except KeyboardInterrupt:
            pass
        finally:
            _show_progress(0, 0)
    if not errors:
        return None
    total, error = sum(sizes), sum(errors) / sum(sizes)
    rates = [count / size for count, size in zip(errors, sizes, strict=True)]
    if len(rates) >= MIN_FOLDS_FOR_VARIANCE and len(set(rates)) > 1:
        interval = compute_corrected_interval(rates, n_train, total / len(sizes), CONFIDENCE)
    else:  # too few or identical folds give no estimate of the variance
        interval = compute_proportion_interval(error, min(total, len(data.y)), CONFIDENCE)
    seconds, held_out = time.perf_counter() - start, (np.concatenate(scores), np.concatenate(positive))
    return Validation(plan, len(errors), confusion, error, interval, seconds, *held_out)


def _show_progress(done: int, total: int) -> None:
    """Show on a terminal how many folds are done; a total of 0 removes the line."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{f'cross-validation: {done} of {total} fits' if total else ''}")
        sys.stderr.flush()


# Calibration curves as in scikit-learn: Platt's sigmoid, or isotonic regression with linear interpolation.

CALIBRATION_FOLDS = 5
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
    """A non-decreasing curve through these points, constant beyond the first and the last."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["isotonic"] = "isotonic"
    scores: Annotated[list[Number], Field(min_length=1)]
    values: Annotated[list[Annotated[float, Field(ge=0.0, le=1.0)]], Field(min_length=1)]

    def compute(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of each score."""
        return np.interp(scores, self.scores, self.values)


Curve = Annotated[SigmoidCurve | IsotonicCurve, Field(discriminator="kind")]


class Calibration(BaseModel):
    """Curves for the scores of a fitted rule: one for two classes, otherwise one per class."""

    model_config = ConfigDict(extra="forbid", strict=True)

    # Scores are first divided by this: the norm of the weights of a linear rule.
    divisor: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    curves: Annotated[list[Curve], Field(min_length=1)]  # the curves from scores to probabilities

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
        """Return the inconsistency, if there is one."""
        if len(self.curves) != (1 if n_classes == 2 else n_classes):
            return f"{len(self.curves)} curves for {n_classes} classes"
        for curve in self.curves:
            if isinstance(curve, IsotonicCurve) and (
                len(curve.scores) != len(curve.values) or np.any(np.diff(curve.scores) < 0.0)
            ):
                return "the scores of an isotonic curve do not rise with its values"
        return None


def check_counts(y: np.ndarray, classes: Sequence[str]) -> None:
    """Reject classes that cannot be in every held-out fold."""
    counts = np.bincount(y, minlength=len(classes))
    least = int(np.argmin(counts))
    if counts[least] < CALIBRATION_FOLDS:
        raise DataError(
            f"--calibrate: the class '{classes[least]}' has {counts[least]} samples, and at least "
            f"{CALIBRATION_FOLDS} of each class are needed"
        )


def calibrate(method: str, n_classes: int, divisor: float, plan: FoldPlan, data: FoldData) -> Calibration:
    """Fit curves to the scores of held-out samples, each from an estimator fitted to the others.

    The scores of the rule to calibrate are divided by `divisor`, the norm of its weights.
    """
    positives = range(n_classes) if n_classes > 2 else (1,)
    scores = np.zeros((len(data.y), len(positives)))
    folds = FoldPlan(plan.learner, CALIBRATION_FOLDS, 1, CALIBRATION_FOLDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in iterate_held_out(folds, data):
            assert part.scores is not None  # every class is in every training set
            scores[part.indices] = part.scores.reshape(len(part.indices), -1)
    curves = [_fit_curve(method, scores[:, j], data.y == k) for j, k in enumerate(positives)]
    return Calibration(divisor=divisor, curves=curves)


def _fit_curve(method: str, scores: np.ndarray, positive: np.ndarray) -> SigmoidCurve | IsotonicCurve:
    if method == "sigmoid":
        from sklearn.calibration import _SigmoidCalibration

        curve = _SigmoidCalibration().fit(scores, positive.astype(float))
        return SigmoidCurve(slope=float(curve.a_), offset=float(curve.b_))
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0).fit(scores, positive.astype(float))
    return IsotonicCurve(scores=steps.X_thresholds_.tolist(), values=steps.y_thresholds_.tolist())
