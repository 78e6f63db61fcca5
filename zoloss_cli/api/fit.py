"""Class weights, for classes of very different sizes and errors of different costs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from zoloss_cli.api.choose import (
    SEARCH_SHARE,
    ScoringOptions,
    TimeBudget,
    check_scoring,
    choose_scaling,
    limit_learner,
    parse_chosen_learner,
    parse_learner,
    takes_raw_features,
)
from zoloss_cli.api.rules import LinearRule, convert_to_original_units
from zoloss_cli.api.validation import (
    MIN_SAMPLES,
    MIN_SAMPLES_FOR_ISOTONIC,
    Calibration,
    CalibrationTask,
    FoldData,
    Validation,
    calibrate,
    check_counts,
    compute_length,
    cross_validate,
    plan_folds,
)
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.splits import compute_finite_scaling, scale_parts
from zoloss_cli.data.user_table import CsvTable, merge_long_numbers
from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.experiment.fitting import check_classes, fit, warm_up
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import Learner
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.scoring.classifier import ScoringSystemClassifier
from zoloss_cli.learners.scoring.conditions import name_features
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, progress_line
from zoloss_cli.learners.search.samples import ExactFeatures
from zoloss_cli.proofs.certify import CertifyingClassifier
from zoloss_cli.registry import LEARNERS, find_registration, make_learner

BALANCED = "balanced"


@dataclass(frozen=True)
class Weighting:
    """The class weights that options set.

    Attributes
    ----------
    class_weight : tuple of str
        Only `balanced`, or CLASS=WEIGHT for some classes.
    cost_fp, cost_fn : float or None
        The costs of a false positive and of a false negative.
    """

    class_weight: tuple[str, ...] = ()
    cost_fp: float | None = None
    cost_fn: float | None = None

    def __post_init__(self) -> None:
        if self.class_weight and self.has_costs:
            raise ConfigError("--class-weight and --cost-fp/--cost-fn set the same weights; give one of them")
        if BALANCED in self.class_weight and len(self.class_weight) > 1:
            raise ConfigError("--class-weight: 'balanced' sets the weights of all classes; give nothing else")
        for option, cost in (("--cost-fp", self.cost_fp), ("--cost-fn", self.cost_fn)):
            if cost is not None and not (cost > 0.0 and math.isfinite(cost)):
                raise ConfigError(f"{option}: must be a number above 0 (got {cost:g})")

    @property
    def has_costs(self) -> bool:
        """Whether costs of errors are given."""
        return self.cost_fp is not None or self.cost_fn is not None

    @property
    def is_given(self) -> bool:
        """Whether weights other than equal ones are given."""
        return bool(self.class_weight) or self.has_costs

    def check_learner(self, spec: LearnerSpec) -> None:
        """Refuse a learner that takes no sample weights, and name those that do."""
        specs = [spec, *(value for _, value in spec.settings if isinstance(value, LearnerSpec))]
        for each in specs if self.is_given else []:
            if not find_registration(each.source).accepts_sample_weight:
                takers = [name for name, entry in LEARNERS.builtin.items() if entry.accepts_sample_weight]
                option = "--class-weight" if self.class_weight else "--cost-fp/--cost-fn"
                raise ConfigError(
                    f"{option}: the learner '{each.learner}' takes no sample weights; those that do: "
                    f"{', '.join(takers)}"
                )

    def compute(self, y: np.ndarray, classes: Sequence[str]) -> np.ndarray | None:
        """Return the weight of each class; None if all are equal.

        Parameters
        ----------
        y : ndarray of int of shape (n_samples,)
            Indices of classes.
        classes : sequence of str
            The classes; with two, the positive one is last.

        Returns
        -------
        ndarray of shape (n_classes,) or None
            Weights as given; balanced ones give all classes the same total weight, with mean 1 per sample.
        """
        if self.has_costs:
            if len(classes) > 2:
                raise DataError(
                    f"--cost-fp and --cost-fn are for two classes, but there are {len(classes)}; use "
                    "--class-weight CLASS=WEIGHT, or --positive CLASS"
                )
            return np.array([self.cost_fp or 1.0, self.cost_fn or 1.0])
        if self.class_weight == (BALANCED,):
            return len(y) / (len(classes) * np.bincount(y, minlength=len(classes)))
        if not self.class_weight:
            return None
        weights: dict[str, float] = {}
        for text in self.class_weight:
            name, weight = _parse_weight(text)
            if name not in classes:
                hint = suggest_nearest(name, classes)
                raise DataError(f"--class-weight {text}: there is no class '{name}'{hint}")
            if name in weights:
                raise ConfigError(f"--class-weight {text}: the class '{name}' is given more than once")
            weights[name] = weight
        return np.array([weights.get(name, 1.0) for name in classes])


def _parse_weight(text: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not equals or not (weight > 0.0 and math.isfinite(weight)):
        raise ConfigError(
            f"--class-weight {text}: write balanced, or CLASS=WEIGHT with a number above 0, such as yes=5"
        )
    return name, weight


def compute_weighted_rate(class_errors: np.ndarray, class_counts: np.ndarray, weights: np.ndarray) -> float:
    """Return the share of the total sample weight that is misclassified."""
    return float(weights @ class_errors / (weights @ class_counts))


@dataclass(frozen=True)
class TableFit:
    """A learner fitted to a table, and how well it performs there.

    Attributes
    ----------
    table : CsvTable
        The table.
    learner : LearnerSpec
        The learner and its parameters.
    seed : int
        The seed of its random numbers.
    scaling : str
        How the features were scaled.
    centre, spread : ndarray of shape (n_features,)
        What is subtracted from samples, and what they are divided by.
    classes : list of str
        The classes; with two, the positive one is last.
    y : ndarray of int of shape (n_samples,)
        Indices of classes.
    estimator : Learner
        The fitted estimator, for scaled samples.
    rule : LinearRule or None
        The rule in the table's units; None if the estimator is not linear.
    class_errors : ndarray of int of shape (n_classes,)
        Training errors among the samples of each class.
    lower_bound : int or None
        No linear rule has fewer training errors.
    is_bound_proved : bool
        Whether the bound is proved, not only right up to rounding.
    seconds : float
        The time of fitting.
    notes : list of str
        Notes about the table and the fit.
    reason : str
        Why this learner was chosen; empty if it was named.
    validation : Validation or None
        The errors on left-out samples; None if not requested, or if there are too few samples.
    class_weights : ndarray of shape (n_classes,) or None
        The weight of a sample of each class; None if all are equal.
    weighted_bound : float or None
        No linear rule misclassifies a smaller share of the weight; None if all weights are equal.
    calibration : Calibration or None
        The curves from scores to probabilities, if requested.
    exact : ExactFeatures or None
        The values that the bound is proved for, with the proof if it is kept; None unless the learner proves
        its bound for these.
    """

    table: CsvTable
    learner: LearnerSpec
    seed: int
    scaling: str
    centre: np.ndarray
    spread: np.ndarray
    classes: list[str]
    y: np.ndarray
    estimator: Learner
    rule: LinearRule | None
    class_errors: np.ndarray
    lower_bound: int | None
    is_bound_proved: bool
    seconds: float
    notes: list[str] = field(default_factory=list)
    reason: str = ""
    validation: Validation | None = None
    class_weights: np.ndarray | None = None
    weighted_bound: float | None = None
    calibration: Calibration | None = None
    exact: ExactFeatures | None = None

    @property
    def weighted_rate(self) -> float | None:
        """The misclassified share of the training samples' weight; None without weights."""
        if self.class_weights is None:
            return None
        counts = np.bincount(self.y, minlength=len(self.classes))
        return compute_weighted_rate(self.class_errors, counts, self.class_weights)

    @property
    def fold_data(self) -> FoldData:
        """The samples to take folds from."""
        weights = None if self.class_weights is None else self.class_weights[self.y]
        return FoldData(self.table.X, self.y, self.scaling, self.seed, weights, self.table.gaps)

    @property
    def errors(self) -> int:
        """Training errors."""
        return int(self.class_errors.sum())

    @property
    def positive(self) -> str | None:
        """The positive class of two; None if there are more."""
        return self.classes[1] if len(self.classes) == 2 else None

    @property
    def is_optimal(self) -> bool | None:
        """Whether the errors are as few as the bound; None if there is no bound."""
        if self.lower_bound is not None and isinstance(self.estimator, ScoringSystemClassifier):
            return self.estimator.optimal_  # with a penalty, not only the errors are bounded
        return None if self.lower_bound is None else self.errors <= self.lower_bound

    def summarize_training(self) -> dict:
        """Return how well it performs on the training samples; None for what is unknown."""
        return {
            "n": len(self.y),
            "d": self.table.X.shape[1],
            "dropped": self.table.dropped,
            "errors": self.errors,
            "error_rate": self.errors / len(self.y),
            "lower_bound": self.lower_bound,
            "optimal": self.is_optimal,
            "seconds": round(self.seconds, 3),
            **self._summarize_weights(),
        }

    def _summarize_weights(self) -> dict:
        if self.class_weights is None:
            return {}
        return {
            "class_weights": dict(zip(self.classes, self.class_weights.tolist(), strict=True)),
            "weighted_error_rate": self.weighted_rate,
            "weighted_lower_bound": self.weighted_bound,
        }


def fit_table(
    table: CsvTable,
    learner: LearnerSpec,
    positive: str | None,
    scaling: str,
    seed: int,
    budget: TimeBudget | None = None,
    share: float = 1.0,
    weighting: Weighting | None = None,
    keeps_proof: bool = False,
) -> TableFit:
    """Scale the features, fit all samples, and count the errors of the rule in the table's own units.

    A zero margin is an error; for learners for several classes, errors are wrong predictions. On a terminal, a
    search shows its progress. Ctrl-C ends it with its best rule so far, and a note says so.

    Parameters
    ----------
    table : CsvTable
        The table.
    learner : LearnerSpec
        The learner and its parameters.
    positive : str or None
        The class against the rest; None for all classes.
    scaling : str
        How to scale features.
    seed : int
        The seed of the learner's random numbers.
    budget : TimeBudget or None
        The time limit of the command.
    share : float
        The share of the time left that the fit may take.
    weighting : Weighting or None
        The weights of classes.
    keeps_proof : bool
        Whether to keep the proof of the bound, for a certificate.

    Returns
    -------
    TableFit
        The estimator, its rule and its errors.
    """
    y, classes = table.index_classes(positive)
    check_classes(learner, classes, f"{table.path}: the label column '{table.label}'", "--positive CLASS")
    weighting = weighting or Weighting()
    weighting.check_learner(learner)
    class_weights = weighting.compute(y, classes)
    sample_weight = None if class_weights is None else class_weights[y]
    centre, spread = compute_finite_scaling(table.X, scaling, table.features, str(table.path))
    X = scale_parts(table.X, table.X, scaling)[0]
    budget = budget or TimeBudget()
    with budget.measure("loading kernels"):
        warm_up(learner)  # without showing its progress
    try:
        with warnings.catch_warnings(record=True) as caught, progress_line(), budget.measure("fitting"):
            warnings.simplefilter("always")
            limited, shortened = limit_learner(learner, budget.compute_seconds_left(share), X, y)
            values = merge_long_numbers(table.X, table.long_numbers, table.features)
            exact = ExactFeatures(values, keeps_proof=keeps_proof)
            estimator, seconds = fit(
                limited,
                X,
                y,
                np.random.SeedSequence(seed),
                quiet=False,
                sample_weight=sample_weight,
                exact=lambda: exact,
            )
    except (ValueError, FloatingPointError) as error:
        raise DataError(f"'{learner.name}' cannot be fitted on {table.path}: {error}") from None
    rule = None
    if isinstance(estimator, LinearLearner):
        coefficients, intercept = estimator.coef_[0], estimator.intercept_[0]
        rule = convert_to_original_units(coefficients, intercept, centre, spread, table.features)
    doubts = dict.fromkeys(str(warning.message) for warning in caught if warning.category is UserWarning)
    bound = getattr(estimator, "lower_bound_", None)
    weighted_bound = None if bound is None or class_weights is None else bound / len(y)
    is_proving = isinstance(estimator, CertifyingClassifier)
    is_exact = getattr(estimator, "bound_is_exact_", False) and (is_proving or not table.long_numbers)
    if is_proving and rule is not None:  # on the values that the bound is about
        wrong = exact.find_errors(y, rule.weights, rule.centre, rule.at_centre)
    else:
        wrong = find_errors(table.X if rule else X, y, estimator, rule)
    return TableFit(
        table,
        learner,
        seed,
        scaling,
        centre,
        spread,
        classes,
        y,
        estimator,
        rule,
        np.bincount(y[wrong], minlength=len(classes)),
        None
        if bound is None or class_weights is not None
        else math.ceil(bound - LOSS_TOLERANCE),  # errors are integers
        is_exact,
        seconds,
        [*table.notes, *shortened, *doubts],
        class_weights=class_weights,
        weighted_bound=weighted_bound,
        exact=exact if is_proving else None,
    )


def find_errors(X: np.ndarray, y: np.ndarray, estimator: Learner, rule: LinearRule | None) -> np.ndarray:
    """Return which samples are training errors, by the rule if there is one, otherwise by the estimator."""
    if estimator.multiclass or getattr(estimator, "is_foreign", False):
        return estimator.predict(X) != y
    scores = estimator.decision_function(X) if rule is None else rule.score(X)
    return find_strict_errors(scores, np.where(y == 1, 1.0, -1.0))


def validate_fit(fitted: TableFit, budget: TimeBudget | None = None) -> TableFit:
    """Return the fit with its errors on left-out samples, by cross-validation.

    Parameters
    ----------
    fitted : TableFit
        The fit to all samples.
    budget : TimeBudget or None
        The time limit of the command.

    Returns
    -------
    TableFit
        The same fit with `validation`, or with a note on why there is none.
    """
    n = len(fitted.y)
    if n < MIN_SAMPLES:
        return _add_note(fitted, f"{n} samples are too few to estimate the error on others")
    if any("interrupted after" in note for note in fitted.notes):
        return _add_note(fitted, "the fit was interrupted: there is no estimate of the error on others")
    budget = budget or TimeBudget()
    seconds = budget.compute_seconds_left()
    folds = plan_folds(fitted.learner, n, fitted.seconds, seconds)
    if seconds is not None and not folds.shortened and fitted.seconds > seconds:
        return _add_note(fitted, "the time limit leaves no time to estimate the error on other samples")
    try:
        with budget.measure("validation"):
            validation = cross_validate(folds, fitted.fold_data, len(fitted.classes))
    except (ValueError, FloatingPointError) as error:
        return _add_note(fitted, f"there is no estimate of the error on other samples: {error}")
    if validation is None:
        return _add_note(fitted, "interrupted: there is no estimate of the error on other samples")
    return replace(fitted, validation=validation)


def _add_note(fitted: TableFit, note: str) -> TableFit:
    return replace(fitted, notes=[*fitted.notes, note])


@dataclass(frozen=True)
class FitRequest:
    """A fit as described by options.

    Attributes
    ----------
    learner : str or None
        The learner's name; None to choose one by the size of the table.
    assignments : list of str
        Its parameters as KEY=VALUE.
    time_limit : float or None
        Total seconds.
    positive : str or None
        The class against the rest.
    scaling : str
        How to scale features.
    seed : int
        The seed of all random numbers.
    validate : bool
        Whether to estimate the error on other samples.
    weighting : Weighting
        The weights of classes.
    calibration : {'sigmoid', 'isotonic'} or None
        How probabilities are computed from scores, if at all.
    keeps_proof : bool
        Whether to keep the proof of the bound, for a certificate.
    scoring : ScoringOptions
        The options for a scoring system.
    """

    learner: str | None
    assignments: list[str] = field(default_factory=list)
    time_limit: float | None = None
    positive: str | None = None
    scaling: str = "standard"
    seed: int = 1
    validate: bool = True
    weighting: Weighting = field(default_factory=Weighting)
    calibration: str | None = None
    keeps_proof: bool = False
    scoring: ScoringOptions = field(default_factory=ScoringOptions)

    def parse(self) -> LearnerSpec | None:
        """Return the named learner, validated; None if none is named."""
        assignments = [*self.scoring.list_assignments(self.learner), *self.assignments]
        if self.learner is None:
            return None
        spec = parse_learner(self.learner, assignments, self.time_limit)
        self.weighting.check_learner(spec)
        estimator = make_learner(spec.source, spec.parameters)
        if self.calibration is not None and not hasattr(estimator, "decision_function"):
            raise ConfigError(
                f"--calibrate: '{spec.learner}' has no decision_function and no predict_proba, which "
                "probabilities are computed from"
            )
        return spec

    def run(self, table: CsvTable, budget: TimeBudget) -> TableFit:
        """Choose a learner if none is named, fit it, and estimate its error on other samples.

        Parameters
        ----------
        table : CsvTable
            The table.
        budget : TimeBudget
            The time limit, part of which reading has used.

        Returns
        -------
        TableFit
            The fit, with notes on what was left out.
        """
        spec, reason = self.parse(), ""
        y, classes = table.index_classes(self.positive)
        if self.calibration is not None:
            check_counts(y, classes)
        if spec is None:
            size = (*table.X.shape, len(classes))
            spec, reason = parse_chosen_learner(size, self.assignments, self.time_limit)
        scaling = choose_scaling(spec, self.scaling)
        if takes_raw_features(spec) and len(classes) == 2:
            check_scoring(table, y, spec, self.scoring.max_terms)
        share = SEARCH_SHARE if self.validate or self.calibration else 1.0
        with name_features(table.features):
            fitted = fit_table(
                table,
                spec,
                self.positive,
                scaling,
                self.seed,
                budget,
                share,
                self.weighting,
                self.keeps_proof,
            )
            fitted = replace(fitted, reason=reason)
            if self.validate:
                fitted = validate_fit(fitted, budget)
            if self.calibration is not None:
                with budget.measure("calibration"):
                    fitted = calibrate_fit(fitted, self.calibration)
        return replace(fitted, notes=[*fitted.notes, *budget.describe_excess()])


def calibrate_fit(fitted: TableFit, method: str) -> TableFit:
    """Return the fit with curves from scores to probabilities.

    Parameters
    ----------
    fitted : TableFit
        The fit to all samples.
    method : {'sigmoid', 'isotonic'}
        The kind of curve.

    Returns
    -------
    TableFit
        The same fit with `calibration`.
    """
    plan = plan_folds(fitted.learner, len(fitted.y), fitted.seconds)
    task = CalibrationTask(method, fitted.classes, compute_length(fitted.estimator))
    try:
        curves = calibrate(task, plan, fitted.fold_data)
    except (ValueError, FloatingPointError) as error:
        raise DataError(f"--calibrate: '{fitted.learner.name}' cannot be fitted on a part: {error}") from None
    notes = list(fitted.notes)
    if method == "isotonic" and len(fitted.y) < MIN_SAMPLES_FOR_ISOTONIC:
        notes.append(
            f"isotonic calibration of {len(fitted.y):,} samples is likely to overfit; use sigmoid for fewer "
            f"than {MIN_SAMPLES_FOR_ISOTONIC:,}"
        )
    return replace(fitted, calibration=curves, notes=notes)
