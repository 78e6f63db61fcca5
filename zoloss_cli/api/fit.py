"""Fit a learner to a table: class weights, errors, bounds, validation, and output as text or JSON."""

from __future__ import annotations

import contextlib
import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
from zoloss_cli.api.rules import (
    LinearRule,
    ScoreCard,
    assign_scores,
    build_readable_rule,
    convert_to_original_units,
    count_totals,
    fit_risks,
    render_card_text,
    render_rule,
)
from zoloss_cli.api.validation import (
    CONFIDENCE,
    MIN_SAMPLES,
    MIN_SAMPLES_FOR_ISOTONIC,
    Calibration,
    FoldData,
    Validation,
    calibrate,
    check_counts,
    compute_norm,
    cross_validate,
    plan_folds,
)
from zoloss_cli.choices import DEFAULT_SCALING
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.columns import MAX_LISTED_CLASSES, CsvColumn
from zoloss_cli.data.splits import compute_finite_scaling, scale_parts
from zoloss_cli.data.user_table import CsvTable, merge_long_numbers
from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.experiment.fitting import check_classes, fit, walk_learners, warm_up
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import Learner, name_features
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.scoring.classifier import ScoringSystemClassifier
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, progress_line
from zoloss_cli.learners.search.samples import ExactFeatures
from zoloss_cli.proofs.certify import MAX_CONE_SAMPLES, CertifyingClassifier
from zoloss_cli.registry import LEARNERS, find_registration, make_learner

BALANCED = "balanced"
READING_OPTIONS = ("positive", "scale")  # besides those of the table, the options of all commands on tables
MAX_SHOWN_CLASSES = 8  # wider matrices do not fit in a terminal: only the most frequent confusion is shown
MAX_SHOWN_LETTERS = 50
# An L1 penalty with a C that selects features by their correlation with the labels, for any number of samples.
SPARSE_LEARNER, SPARSE_SETTINGS = "sklearn.svm.LinearSVC", ("penalty=l1", "dual=false")
SPARSE_C = 6.0  # divided by the number of samples
CLEARLY_WORSE = 1.2  # times the training error: with very many samples the interval is narrow
# The methods of certify's proofs that the output names; a bound of 0 needs no proof.
NAMED_PROOFS = ("all hyperplanes", "cones of directions", "impossible sets", "equal rows", "all supports")


@dataclass(frozen=True)
class Weighting:
    """The class weights that options set."""

    class_weight: tuple[str, ...] = ()  # only `balanced`, or CLASS=WEIGHT for some classes
    cost_fp: float | None = None  # the costs of a false positive and of a false negative
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
        """Whether misclassification costs are given."""
        return self.cost_fp is not None or self.cost_fn is not None

    def check_learner(self, spec: LearnerSpec) -> None:
        """Reject a learner that does not support sample weights, and name those that do."""
        if not self.class_weight and not self.has_costs:
            return
        for each in walk_learners(spec):
            if not find_registration(each.source).accepts_sample_weight:
                supporting = [name for name, entry in LEARNERS.builtin.items() if entry.accepts_sample_weight]
                option = "--class-weight" if self.class_weight else "--cost-fp/--cost-fn"
                raise ConfigError(
                    f"{option}: the learner '{each.learner}' does not support sample weights; these do: "
                    f"{', '.join(supporting)}"
                )

    def compute(self, y: np.ndarray, classes: Sequence[str]) -> np.ndarray | None:
        """Return the weight of each class; None if all are equal."""
        if self.has_costs:
            if len(classes) > 2:
                raise DataError(
                    f"--cost-fp and --cost-fn are for two classes, but there are {len(classes)}; use "
                    "--class-weight CLASS=WEIGHT, or --positive CLASS"
                )
            return np.array([self.cost_fp or 1.0, self.cost_fn or 1.0])
        if self.class_weight == (BALANCED,):
            return len(y) / (len(classes) * np.bincount(y, minlength=len(classes)))
        weights: dict[str, float] = {}
        for text in self.class_weight:
            name, _, number = text.rpartition("=")
            try:
                weight = float(number)
            except ValueError:
                weight = math.nan
            if "=" not in text or not 0.0 < weight < math.inf:
                raise ConfigError(
                    f"--class-weight {text}: write balanced, or CLASS=WEIGHT with a number above 0, such as "
                    "yes=5"
                )
            if name not in classes:
                raise DataError(
                    f"--class-weight {text}: there is no class '{name}'{suggest_nearest(name, classes)}"
                )
            if name in weights:
                raise ConfigError(f"--class-weight {text}: the class '{name}' is given more than once")
            weights[name] = weight
        return np.array([weights.get(name, 1.0) for name in classes]) if weights else None


@dataclass(frozen=True)
class TableFit:
    """A learner fitted to a table, and its performance there."""

    table: CsvTable
    learner: LearnerSpec  # the learner and its parameters
    seed: int  # the seed of its random numbers
    scaling: str  # how the features were scaled
    centre: np.ndarray  # what is subtracted from samples, and what they are divided by
    spread: np.ndarray
    classes: list[str]  # with two, the positive one is last
    y: np.ndarray  # indices of classes
    estimator: Learner  # the fitted estimator, for scaled samples
    rule: LinearRule | None  # the rule in the table's units; None if the estimator is not linear
    class_errors: np.ndarray  # training errors among the samples of each class
    seconds: float  # the time of fitting
    notes: list[str] = field(default_factory=list)  # notes about the table and the fit
    reason: str = ""  # why this learner was chosen; empty if it was named
    validation: Validation | None = None
    class_weights: np.ndarray | None = None  # the weight of a sample of each class; None if all are equal
    calibration: Calibration | None = None  # the curves from scores to probabilities, if requested
    exact: ExactFeatures | None = None
    options: dict[str, Any] = field(default_factory=dict)  # of `zoloss fit`, as given, for the use of the table

    @property
    def weighted_rate(self) -> float | None:
        """The misclassified share of the training samples' weight; None without weights."""
        if self.class_weights is None:
            return None
        counts = np.bincount(self.y, minlength=len(self.classes))
        return float(self.class_weights @ self.class_errors / (self.class_weights @ counts))

    @property
    def fold_data(self) -> FoldData:
        """The samples to divide into folds."""
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
    def lower_bound(self) -> int | None:
        """The lower bound on the errors of every linear rule; None if there is none, or with class weights."""
        bound = getattr(self.estimator, "lower_bound_", None)
        if bound is None or self.class_weights is not None:
            return None
        return math.ceil(bound - LOSS_TOLERANCE)  # errors are integers

    @property
    def weighted_bound(self) -> float | None:
        """The lower bound on the misclassified share of the weight."""
        bound = getattr(self.estimator, "lower_bound_", None)
        return None if bound is None or self.class_weights is None else bound / len(self.y)

    @property
    def is_optimal(self) -> bool | None:
        """Whether the errors attain the lower bound; None if there is no bound."""
        if self.lower_bound is not None and isinstance(self.estimator, ScoringSystemClassifier):
            return self.estimator.optimal_  # with a penalty, the bound includes the penalty
        return None if self.lower_bound is None else self.errors <= self.lower_bound

    @property
    def rule_kind(self) -> str:
        """The kind of rule that the bound covers."""
        return getattr(self.estimator, "rule_kind", "linear rule")

    @property
    def baseline(self) -> dict:
        """The errors of always predicting the largest class, also by weight, as part of a JSON object."""
        counts = np.bincount(self.y, minlength=len(self.classes))
        largest = int(np.argmax(counts))
        errors = int(len(self.y) - counts[largest])
        described = {"class": self.classes[largest], "errors": errors, "error_rate": errors / len(self.y)}
        if self.class_weights is not None:
            shares = self.class_weights * counts / (self.class_weights @ counts)
            described["weighted_class"] = self.classes[int(np.argmax(shares))]
            described["weighted_error_rate"] = float(1.0 - shares.max())
        return described

    def summarize_training(self) -> dict:
        """Return the performance on the training samples; unknown values are None."""
        summary = {
            "n": len(self.y),
            "d": self.table.X.shape[1],
            "dropped": self.table.dropped,
            "errors": self.errors,
            "error_rate": self.errors / len(self.y),
            "lower_bound": self.lower_bound,
            "optimal": self.is_optimal,
            "seconds": round(self.seconds, 3),
        }
        if self.class_weights is not None:
            summary["class_weights"] = dict(zip(self.classes, self.class_weights.tolist(), strict=True))
            summary["weighted_error_rate"] = self.weighted_rate
            summary["weighted_lower_bound"] = self.weighted_bound
        return summary


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

    A zero margin is an error; for multiclass learners, errors are wrong predictions. On a terminal, a search
    shows its progress. Ctrl-C stops it with its best rule so far, and adds a note.
    """
    y, classes = table.index_classes(positive)
    check_classes(learner, classes, f"{table.path}: the label column '{table.label}'", "--positive CLASS")
    weighting = weighting or Weighting()
    weighting.check_learner(learner)
    class_weights = weighting.compute(y, classes)
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
            sample_weight = None if class_weights is None else class_weights[y]
            random = np.random.SeedSequence(seed)
            estimator, seconds = fit(
                limited, X, y, random, quiet=False, sample_weight=sample_weight, exact=lambda: exact
            )
    except (ValueError, FloatingPointError) as error:
        raise DataError(f"'{learner.name}' cannot be fitted on {table.path}: {error}") from None
    doubts = dict.fromkeys(str(warning.message) for warning in caught if warning.category is UserWarning)
    is_proving, rule = isinstance(estimator, CertifyingClassifier), find_rule(estimator, centre, spread, table)
    if is_proving and rule is not None:  # on the values that the bound covers
        wrong = exact.find_errors(y, rule.weights, rule.centre, rule.at_centre)
    else:
        wrong = find_errors(table.X if rule else X, y, estimator, rule)
    return TableFit(
        *(table, learner, seed, scaling, centre, spread, classes, y, estimator, rule),
        class_errors=np.bincount(y[wrong], minlength=len(classes)),
        seconds=seconds,
        notes=[*table.notes, *shortened, *doubts],
        class_weights=class_weights,
        exact=exact if is_proving else None,
    )


def find_rule(estimator: Learner, centre: np.ndarray, spread: np.ndarray, table: CsvTable) -> LinearRule | None:
    """Return the rule of an estimator in the table's units; None if it is not linear."""
    if not isinstance(estimator, LinearLearner):
        return None
    return convert_to_original_units(
        estimator.coef_[0], estimator.intercept_[0], centre, spread, table.features
    )


def find_errors(X: np.ndarray, y: np.ndarray, estimator: Learner, rule: LinearRule | None) -> np.ndarray:
    """Return which samples are training errors, by the rule if there is one, otherwise by the estimator."""
    if estimator.multiclass or getattr(estimator, "is_external", False):
        return estimator.predict(X) != y
    scores = estimator.decision_function(X) if rule is None else rule.score(X)
    return find_strict_errors(scores, np.where(y == 1, 1.0, -1.0))


def validate_fit(fitted: TableFit, budget: TimeBudget) -> TableFit:
    """Return the fit with its cross-validated errors, or with a note why there are none."""
    n, seconds, validation = len(fitted.y), budget.compute_seconds_left(), None
    folds = plan_folds(fitted.learner, n, fitted.seconds, seconds)
    if n < MIN_SAMPLES:
        note = f"{n} samples are too few to estimate the error on new samples"
    elif any("interrupted after" in note for note in fitted.notes):
        note = "the fit was interrupted: there is no estimate of the error on new samples"
    elif seconds is not None and not folds.shortened and fitted.seconds > seconds:
        note = "the time limit leaves no time to estimate the error on new samples"
    else:
        note = "interrupted: there is no estimate of the error on new samples"
        try:
            with budget.measure("validation"):
                validation = cross_validate(folds, fitted.fold_data, len(fitted.classes))
        except (ValueError, FloatingPointError) as error:
            note = f"there is no estimate of the error on new samples: {error}"
    notes = fitted.notes if validation is not None else [*fitted.notes, note]
    return replace(fitted, validation=validation, notes=notes)


def calibrate_fit(fitted: TableFit, method: str) -> TableFit:
    """Return the fit with curves from scores to probabilities."""
    plan, notes = plan_folds(fitted.learner, len(fitted.y), fitted.seconds), list(fitted.notes)
    try:
        curves = calibrate(method, len(fitted.classes), compute_norm(fitted.estimator), plan, fitted.fold_data)
    except (ValueError, FloatingPointError) as error:
        raise DataError(f"--calibrate: '{fitted.learner.name}' cannot be fitted on a fold: {error}") from None
    if method == "isotonic" and len(fitted.y) < MIN_SAMPLES_FOR_ISOTONIC:
        notes.append(
            f"isotonic calibration of {len(fitted.y):,} samples is likely to overfit; use sigmoid for fewer "
            f"than {MIN_SAMPLES_FOR_ISOTONIC:,}"
        )
    return replace(fitted, calibration=curves, notes=notes)


@dataclass(frozen=True)
class FitRequest:
    """A fit as described by options."""

    learner: str | None  # the learner's name; None to choose one by the size of the table
    assignments: list[str] = field(default_factory=list)  # its parameters as KEY=VALUE
    time_limit: float | None = None  # total seconds
    positive: str | None = None  # the class against the rest
    scaling: str = "standard"  # how to scale features
    seed: int = 1  # the seed of all random numbers
    validate: bool = True  # whether to estimate the error on new samples
    weighting: Weighting = field(default_factory=Weighting)  # the weights of classes
    calibration: str | None = None  # how probabilities are computed from scores, if at all
    keeps_proof: bool = False  # whether to keep the proof of the bound, for a certificate
    scoring: ScoringOptions = field(default_factory=ScoringOptions)  # the options for a scoring system

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
        """Choose a learner if none is named, fit it, and estimate its error on new samples."""
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
        has_conditions = any(map(takes_raw_features, walk_learners(spec)))
        with name_features(table.features) if has_conditions else contextlib.nullcontext():
            fitted = fit_table(
                *(table, spec, self.positive, scaling, self.seed, budget, share),
                weighting=self.weighting,
                keeps_proof=self.keeps_proof,
            )
            if self.validate:
                fitted = validate_fit(fitted, budget)
            if self.calibration is not None:
                with budget.measure("calibration"):
                    fitted = calibrate_fit(fitted, self.calibration)
        notes = [*fitted.notes, *budget.describe_excess()]
        scale = None if self.scaling == DEFAULT_SCALING else self.scaling
        options = {"positive": self.positive, "scale": scale, **vars(self.weighting)}
        return replace(fitted, reason=reason, notes=notes, options=options)


def build_card(fitted: TableFit) -> ScoreCard | None:
    """Return the card of a fitted scoring system; None for any other learner."""
    estimator = fitted.estimator
    if not isinstance(estimator, ScoringSystemClassifier):
        return None
    n, errors, X, validation = len(fitted.y), fitted.errors, fitted.table.X, fitted.validation
    facts = [f"{errors:,} of {n:,} training samples are misclassified ({100 * errors / n:.2f} %)"]
    if fitted.lower_bound is not None and errors <= fitted.lower_bound:
        facts.append(f"it is proved that no {estimator.rule_kind} misclassifies fewer")
    elif fitted.lower_bound:
        facts.append(f"every {estimator.rule_kind} misclassifies {fitted.lower_bound:,} or more")
    if validation is not None:
        low, high = (100 * end for end in validation.interval)
        facts.append(
            f"{100 * validation.error:.2f} % errors on held-out samples "
            f"({100 * CONFIDENCE:.0f} % interval {low:.1f} to {high:.1f} %)"
        )
    rows = count_totals(estimator.compute_totals(X), fitted.y, estimator.threshold_)
    repeats, is_held_out = 1, validation is not None and len(validation.scores) > 0
    if validation is not None and is_held_out:
        scores = validation.scores * compute_norm(estimator)
        rows = assign_scores(rows, scores, validation.positive, estimator.threshold_)
        repeats = validation.plan.repeats
    start = _find_start(fitted.table, estimator)
    return ScoreCard(
        fitted.table.label,
        (fitted.classes[0], fitted.classes[1]),
        tuple((c.text, int(p)) for c, p in zip(estimator.conditions_, estimator.points_, strict=True)),
        start,
        estimator.threshold_ + start,
        fit_risks(rows, start, repeats),
        is_held_out,
        tuple(facts),
    )


def _find_start(table: CsvTable, estimator: ScoringSystemClassifier) -> int:
    """Return the points to add to every total, so that the lowest that the columns' values allow is 0."""
    column = np.repeat(np.arange(len(table.columns)), [len(each.features) for each in table.columns])
    totals = np.zeros((len(table.X), len(table.columns)))
    for condition, points in zip(estimator.conditions_, estimator.points_.tolist(), strict=True):
        totals[:, column[condition.feature]] += points * condition.compute(table.X)
    return -round(totals.min(axis=0).sum())


def render_json(fitted: TableFit) -> str:
    """Return everything about a fit as one JSON object."""
    rule, validation, card = fitted.rule, fitted.validation, build_card(fitted)
    content = {
        "learner": fitted.learner.learner,
        "parameters": fitted.learner.parameters,
        "seed": fitted.seed,
        "scale": fitted.scaling,
        **fitted.summarize_training(),
        "weights": None if rule is None else rule.weights.tolist(),
        "bias": None if rule is None else rule.bias,
        "features": fitted.table.features,
        "columns": [describe_column(column) for column in fitted.table.columns],
        **({} if card is None else {"card": card.describe()}),
        "label": fitted.table.label,
        "classes": fitted.classes,
        "positive": fitted.positive,
        "class_errors": fitted.class_errors.tolist(),
        "proof": getattr(fitted.estimator, "proof_", None),
        "baseline": fitted.baseline,
        "validation": None if validation is None else validation.describe(fitted.class_weights),
        "calibration": None if fitted.calibration is None else fitted.calibration.model_dump(),
        "chosen": fitted.reason or None,
        "warnings": list_warnings(fitted),
        "notes": fitted.notes,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def render_text(fitted: TableFit, show_all: bool = False) -> str:
    """Return a fit as text: data, classes, errors, bound and rule."""
    readable = None if fitted.rule is None else build_readable_rule(fitted.rule, fitted.table)
    table, n, baseline = fitted.table, len(fitted.y), fitted.baseline
    reason = f" (chosen: {fitted.reason})" if fitted.reason else ""
    lines = [
        f"data      {describe_table(table)}",
        f"classes   {describe_classes(fitted.classes, fitted.y)}",
        f"learner   {fitted.learner.name}{reason}, {fitted.seconds:.1f} seconds",
        f"errors    {fitted.errors:,} of {n:,} training samples ({100 * fitted.errors / n:.2f} %)",
    ]
    if fitted.class_weights is not None:
        lines += _render_weights(fitted, fitted.class_weights)
    if fitted.lower_bound is not None:
        lines.append(f"bound     {_describe_bound(fitted, fitted.lower_bound)}")
    if fitted.validation is not None:
        lines += _render_error(fitted, fitted.validation)
    lines.append(
        f"baseline  {100 * baseline['error_rate']:.2f} % errors if '{baseline['class']}' is always predicted"
    )
    if fitted.class_weights is not None:
        lines[-1] += (
            f", {100 * baseline['weighted_error_rate']:.2f} % by weight "
            f"({_list_weights(fitted, fitted.class_weights)}) if '{baseline['weighted_class']}' is"
        )
    lines += [f"warning   {text}" for text in list_warnings(fitted)]
    if fitted.calibration is not None:
        kind = fitted.calibration.curves[0].kind
        lines.append(f"scores    converted to probabilities by {kind} calibration on held-out samples (5-fold)")
    lines += [f"levels    {text}" for text in table.list_levels(readable.indicators if readable else {})]
    if fitted.validation is not None:
        lines += [*_render_confusion(fitted, fitted.validation), ""]
    if readable is not None:
        lines += render_rule(readable, fitted.classes[1], show_all)
    elif (card := build_card(fitted)) is not None:
        lines += render_card_text(card)
    return "\n".join(lines).rstrip()


def _render_weights(fitted: TableFit, weights: np.ndarray) -> list[str]:
    bound = fitted.weighted_bound
    least = "" if bound is None else f"; every {fitted.rule_kind} has at least {100 * bound:.2f} %"
    return [
        f"weighted  {100 * (fitted.weighted_rate or 0.0):.2f} % of the weight of the training samples is "
        f"misclassified{least}",
        f"weights   {_list_weights(fitted, weights)}",
    ]


def _list_weights(fitted: TableFit, weights: np.ndarray) -> str:
    return ", ".join(f"'{name}' {weight:.4g}" for name, weight in zip(fitted.classes, weights, strict=True))


def _describe_bound(fitted: TableFit, bound: int) -> str:
    """Describe the lower bound, and whether the rule is proved optimal."""
    estimator, n = fitted.estimator, len(fitted.y)
    proof = getattr(estimator, "proof_", "none")
    is_proving = isinstance(estimator, CertifyingClassifier)
    if is_proving and proof == "none" and not bound:
        advice = (
            f"cones of directions are limited to {MAX_CONE_SAMPLES:,} samples, and impossible sets had "
            "too little time; a bound for a subset of the samples is possible"
            if n > MAX_CONE_SAMPLES
            else "the time limit was reached; a longer one (--time-limit) proves more"
        )
        return f"none was proved: {advice}"
    verdict = "optimality not proved"
    if not is_proving and not bound and fitted.errors and getattr(estimator, "objective_bound_", 0.0) <= 0.0:
        is_card = isinstance(estimator, ScoringSystemClassifier)
        more = "more nodes (--set nodes=) or fewer terms may prove one" if is_card else "certify may prove one"
        return f"no bound above 0 is known: {verdict}; {more}"
    if fitted.is_optimal:
        # Values with too many digits for a float were rounded before any other learner saw them.
        is_for_values = is_proving or not fitted.table.long_numbers
        is_exact = is_for_values and getattr(estimator, "bound_is_exact_", False)
        verdict = "proved optimal" if is_exact else "optimal up to rounding; certify gives a proof"
    least = f"makes at least {bound:,} errors"
    if isinstance(estimator, ScoringSystemClassifier) and estimator.penalty > 0.0:
        least = (
            f"has at least {estimator.objective_bound_:.6g} errors and penalties, of which this one has "
            f"{estimator.objective_:.6g}"
        )
    method = f", by {proof}" if proof in NAMED_PROOFS else ""
    return f"every {fitted.rule_kind} {least}{method}: {verdict}"


def _render_error(fitted: TableFit, validation: Validation) -> list[str]:
    """Return the lines about the error on new samples, and how it was estimated."""
    low, high = (100 * bound for bound in validation.interval)
    weighted, plan = "", validation.plan
    if fitted.class_weights is not None:
        weighted = f", {100 * validation.compute_weighted_error(fitted.class_weights):.2f} % by weight,"
    how = plan.describe()
    if validation.tested < plan.tested:
        how += f", stopped after {validation.tested} of {plan.tested} fits to save time"
    elif plan.tested < plan.folds * plan.repeats:
        how += f", {plan.tested} fold tested"
    how += f", {' and '.join(plan.shortened)}" if plan.shortened else ""
    return [
        f"validated {100 * validation.error:.2f} % errors{weighted} on held-out samples "
        f"({100 * CONFIDENCE:.0f} % interval {low:.1f} to {high:.1f} %)",
        f"          {how}, {validation.seconds:.1f} seconds",
    ]


def list_warnings(fitted: TableFit) -> list[str]:
    """Return reasons not to trust the training errors, one sentence each."""
    n, d, validation, weights = len(fitted.y), fitted.table.X.shape[1], fitted.validation, fitted.class_weights
    training, baseline = fitted.errors / n, fitted.baseline
    found = []
    if validation is not None:
        if validation.interval[0] > training and validation.error > CLEARLY_WORSE * training:
            options = {key: fitted.options.get(key) for key in READING_OPTIONS}
            command = fitted.table.suggest("evaluate", **options)
            found.append(
                f"the rule overfits: {100 * training:.2f} % training errors against "
                f"{100 * validation.error:.2f} % on held-out samples; `{command}` compares other learners"
            )
        if weights is None and validation.interval[1] >= baseline["error_rate"]:
            found.append(f"not clearly better than always predicting '{baseline['class']}'")
        if weights is not None:
            validated, usual = validation.compute_weighted_error(weights), baseline["weighted_error_rate"]
            if validated >= usual:
                found.append(
                    f"by weight, {100 * validated:.2f} % on held-out samples is no better than always "
                    f"predicting '{baseline['weighted_class']}' ({100 * usual:.2f} %)"
                )
    if not fitted.errors:
        why = "many rules make none on these samples"
        if n <= d + 1:
            why = f"nearly any labels of {n:,} samples can be separated by {d:,} features"
        options = fitted.options | {"learner": SPARSE_LEARNER}
        options["set"] = [*SPARSE_SETTINGS, f"C={SPARSE_C / n:.1g}"]
        found.append(
            f"0 training errors mean nothing about new samples: {why}; use fewer features (--features), or let "
            f"an L1 penalty select them: `{fitted.table.suggest('fit', **options)} --allow-code`"
        )
    return found


def _render_confusion(fitted: TableFit, validation: Validation) -> list[str]:
    """Return the table of true and predicted classes; with many, errors and the most frequent confusion."""
    from tabulate import tabulate

    classes, matrix = fitted.classes, validation.confusion
    rates = [f"{100 * rate:.1f} %" if np.isfinite(rate) else "" for rate in validation.class_errors]
    training = [f"{100 * rate:.1f} %" for rate in fitted.class_errors / np.bincount(fitted.y)]
    note = "(predictions for held-out samples"
    if len(classes) <= MAX_SHOWN_CLASSES and sum(map(len, classes)) <= MAX_SHOWN_LETTERS:
        header = ["true class", *(f"as '{name}'" for name in classes), "errors", "training errors"]
        rows = [[n, *map(str, m), r, t] for n, m, r, t in zip(classes, matrix, rates, training, strict=True)]
    else:
        header = ["true class", "predictions", "errors", "training errors", "most often predicted as"]
        others = matrix - np.diag(np.diag(matrix))
        rows = [
            [name, f"{sum(m):,}", rate, t, f"{classes[int(np.argmax(o))]} ({max(o)})" if max(o) else ""]
            for name, m, rate, t, o in zip(classes, matrix, rates, training, others, strict=True)
        ]
        note += "; --json has all pairs of classes"
    repeats = validation.plan.repeats
    note += f"; each sample {repeats} times)" if repeats > 1 else ")"
    align = ["left", *["right"] * (len(header) - 1)]
    return ["", tabulate(rows, header, disable_numparse=True, colalign=align), note]


def describe_column(column: CsvColumn) -> dict:
    """Return a column as in model files and JSON objects."""
    described = {"name": column.name, "kind": "number" if column.levels is None else "category"}
    levels = {} if column.levels is None else {"levels": list(column.levels)}
    fill = {} if column.fill is None else {"fill": column.fill}
    return described | levels | fill | ({"indicator": True} if column.is_marked else {})


def describe_table(table: CsvTable) -> str:
    """Return a table's path, size and label column in one line."""
    dropped = f" ({table.dropped} rows with missing values left out)" if table.dropped else ""
    size = f"{len(table.lines):,} samples{dropped}, {table.X.shape[1]:,} features"
    return f"{table.path}: {size}, label '{table.label}'"


def describe_classes(classes: list[str], y: np.ndarray) -> str:
    """Return the classes and their sizes in one line; with two, the last is positive."""
    positive = classes[1] if len(classes) == 2 else None
    shown = [
        f"'{name}' ({count:,} sample{'s' * (count != 1)}{', positive' * (name == positive)})"
        for name, count in zip(classes, np.bincount(y, minlength=len(classes)).tolist(), strict=True)
    ]
    if len(shown) > MAX_LISTED_CLASSES:
        shown[MAX_LISTED_CLASSES:] = [f"{len(shown) - MAX_LISTED_CLASSES} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
