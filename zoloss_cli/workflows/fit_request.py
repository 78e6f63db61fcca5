"""A request to `zoloss fit`, and its execution: a learner is chosen, fitted and validated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.learners.scoring.constraints import name_features
from zoloss_cli.registry import make_learner
from zoloss_cli.workflows.calibration import (
    MIN_SAMPLES_FOR_ISOTONIC,
    CalibrationTask,
    calibrate,
    check_counts,
)
from zoloss_cli.workflows.class_weights import Weighting
from zoloss_cli.workflows.fit import TableFit, fit_table, validate_fit
from zoloss_cli.workflows.learner_choice import parse_chosen_learner
from zoloss_cli.workflows.learner_options import parse_learner
from zoloss_cli.workflows.scoring_options import (
    ScoringOptions,
    check_scoring,
    choose_scaling,
    takes_raw_features,
)
from zoloss_cli.workflows.time_budget import SEARCH_SHARE, TimeBudget
from zoloss_cli.workflows.validation import compute_length, plan_folds


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
