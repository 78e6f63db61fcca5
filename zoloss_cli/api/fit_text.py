"""The errors of a fit on other samples, and how to interpret them, as text and as JSON."""

from __future__ import annotations

import json
import shlex

import numpy as np

from zoloss_cli.api.cards import build_card, render_card_text
from zoloss_cli.api.fit import TableFit
from zoloss_cli.api.rules import build_readable_rule, list_level_lines, render_rule
from zoloss_cli.api.validation import CONFIDENCE, Validation
from zoloss_cli.data.columns import MAX_LISTED_CLASSES, CsvColumn
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.learners.scoring.classifier import ScoringSystemClassifier
from zoloss_cli.proofs.certify import MAX_CONE_SAMPLES, CertifyingClassifier

MAX_SHOWN_CLASSES = 8  # wider matrices do not fit in a terminal: only the most frequent confusion is shown
MAX_SHOWN_LETTERS = 50
CLEARLY_WORSE = 1.2  # times the training error: with very many samples the interval is narrow


def describe_validation(validation: Validation, weights: np.ndarray | None = None) -> dict:
    """Return the cross-validation as part of a JSON object; `weights` are the class weights."""
    weighted = {}
    if weights is not None:
        weighted = {"weighted_error_rate": validation.compute_weighted_error(weights)}
    plan = validation.plan
    return {
        "folds": plan.folds,
        "repeats": plan.repeats,
        "fits": validation.tested,
        "planned_fits": plan.tested,
        "shortened": list(plan.shortened),
        "predictions": int(validation.confusion.sum()),
        "error_rate": validation.error,
        "interval": list(validation.interval),
        "confidence": CONFIDENCE,
        "confusion": validation.confusion.tolist(),
        "class_error_rates": [None if np.isnan(rate) else float(rate) for rate in validation.class_errors],
        "seconds": round(validation.seconds, 3),
        **weighted,
    }


def describe_baseline(fitted: TableFit) -> dict:
    """Return the errors of always predicting the largest class, as part of a JSON object."""
    counts = np.bincount(fitted.y, minlength=len(fitted.classes))
    largest = int(np.argmax(counts))
    errors = int(len(fitted.y) - counts[largest])
    return {"class": fitted.classes[largest], "errors": errors, "error_rate": errors / len(fitted.y)}


def render_validation(fitted: TableFit, validation: Validation) -> list[str]:
    """Return the lines about the error on new samples, the baseline, and how to interpret them."""
    low, high = (100 * bound for bound in validation.interval)
    weighted = ""
    if fitted.class_weights is not None:
        weighted = f", {100 * validation.compute_weighted_error(fitted.class_weights):.2f} % by weight,"
    lines = [
        f"validated {100 * validation.error:.2f} % errors{weighted} on samples that were left out "
        f"({100 * CONFIDENCE:.0f} % interval {low:.1f} to {high:.1f} %)",
        f"          {describe_plan(validation)}, {validation.seconds:.1f} seconds",
        render_baseline(fitted),
    ]
    return lines + [f"warning   {text}" for text in list_warnings(fitted, validation)]


def render_baseline(fitted: TableFit) -> str:
    """Return the line about the errors of always predicting the largest class."""
    baseline = describe_baseline(fitted)
    return f"baseline  {100 * baseline['error_rate']:.2f} % errors if '{baseline['class']}' is always predicted"


def describe_plan(validation: Validation) -> str:
    """Return how the error was estimated."""
    plan = validation.plan
    text = f"{plan.folds}-fold cross-validation, {plan.repeats} repeat{'s' * (plan.repeats != 1)}"
    if validation.tested < plan.tested:
        text += f", ended after {validation.tested} of {plan.tested} fits to save time"
    elif plan.tested < plan.folds * plan.repeats:
        text += f", {plan.tested} fold tested"
    return text + (f", {' and '.join(plan.shortened)}" if plan.shortened else "")


def list_warnings(fitted: TableFit, validation: Validation) -> list[str]:
    """Return reasons not to trust the training errors, one sentence each."""
    training, baseline = fitted.errors / len(fitted.y), describe_baseline(fitted)
    low, high = validation.interval
    path = shlex.quote(str(fitted.table.path))
    found = []
    if low > training and validation.error > CLEARLY_WORSE * training:
        found.append(
            f"the training errors are too good: {100 * training:.2f} % against {100 * validation.error:.2f} % "
            f"on samples that were left out; `zoloss evaluate {path}` compares other learners"
        )
    weights = fitted.class_weights
    if weights is None and high >= baseline["error_rate"]:
        found.append(f"not clearly better than always predicting '{baseline['class']}'")
    if weights is not None:
        shares = weights * np.bincount(fitted.y, minlength=len(weights))
        if validation.compute_weighted_error(weights) >= 1.0 - shares.max() / shares.sum():
            best = fitted.classes[int(np.argmax(shares))]
            found.append(f"by weight no better than always predicting '{best}'")
    return found


def render_confusion(fitted: TableFit, validation: Validation) -> list[str]:
    """Return the table of true and predicted classes; with many, errors and the most frequent confusion."""
    from tabulate import tabulate

    classes, matrix = fitted.classes, validation.confusion
    rates = [f"{100 * rate:.1f} %" if np.isfinite(rate) else "" for rate in validation.class_errors]
    training = [f"{100 * rate:.1f} %" for rate in fitted.class_errors / np.bincount(fitted.y)]
    if len(classes) <= MAX_SHOWN_CLASSES and sum(map(len, classes)) <= MAX_SHOWN_LETTERS:
        header = ["true class", *(f"as '{name}'" for name in classes), "errors", "training errors"]
        rows = [[n, *map(str, m), r, t] for n, m, r, t in zip(classes, matrix, rates, training, strict=True)]
        note = "(predictions for samples that were left out of the fit"
    else:
        header = ["true class", "predictions", "errors", "training errors", "most often taken for"]
        others = matrix - np.diag(np.diag(matrix))
        rows = [
            [name, f"{sum(m):,}", rate, t, f"{classes[int(np.argmax(o))]} ({max(o)})" if max(o) else ""]
            for name, m, rate, t, o in zip(classes, matrix, rates, training, others, strict=True)
        ]
        note = "(predictions for samples that were left out of the fit; --json has all pairs of classes"
    repeats = validation.plan.repeats
    note += f"; each sample {repeats} times)" if repeats > 1 else ")"
    align = ["left", *["right"] * (len(header) - 1)]
    return ["", tabulate(rows, header, disable_numparse=True, colalign=align), note]


# What certify's bound may rest on and is worth mentioning; a bound of 0 is not a proof.
NAMED_PROOFS = ("all hyperplanes", "cones of directions", "impossible sets", "equal rows", "all supports")


def render_json(fitted: TableFit) -> str:
    """Return everything about a fit as one JSON object."""
    rule = fitted.rule
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
        **({} if (card := build_card(fitted)) is None else {"card": card.describe()}),
        "label": fitted.table.label,
        "classes": fitted.classes,
        "positive": fitted.positive,
        "class_errors": fitted.class_errors.tolist(),
        "proof": getattr(fitted.estimator, "proof_", None),
        "baseline": describe_baseline(fitted),
        "validation": None
        if fitted.validation is None
        else describe_validation(fitted.validation, fitted.class_weights),
        "calibration": None if fitted.calibration is None else fitted.calibration.model_dump(),
        "chosen": fitted.reason or None,
        "notes": fitted.notes,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def render_text(fitted: TableFit, show_all: bool = False) -> str:
    """Return a fit as text: data, classes, errors, bound and rule.

    Parameters
    ----------
    fitted : TableFit
        The fit.
    show_all : bool, default=False
        Whether to show the weights of all features instead of only the largest.

    Returns
    -------
    str
        The text.
    """
    readable = None if fitted.rule is None else build_readable_rule(fitted.rule, fitted.table)
    table, n = fitted.table, len(fitted.y)
    reason = f" (chosen: {fitted.reason})" if fitted.reason else ""
    lines = [
        f"data      {describe_table(table)}",
        f"classes   {describe_classes(fitted.classes, fitted.y)}",
        f"learner   {fitted.learner.name}{reason}, {fitted.seconds:.1f} seconds",
        f"errors    {fitted.errors:,} of {n:,} training samples ({100 * fitted.errors / n:.2f} %)",
    ]
    if fitted.class_weights is not None:
        lines += _render_weights(fitted, fitted.class_weights)
    lines += _render_bound(fitted)
    if fitted.validation is None:
        lines.append(render_baseline(fitted))
    else:
        lines += render_validation(fitted, fitted.validation)
    if fitted.calibration is not None:
        kind = fitted.calibration.curves[0].kind
        lines.append(
            f"scores    become probabilities by {kind} calibration on samples that were left out (5-fold)"
        )
    lines += [f"levels    {text}" for text in list_level_lines(table, readable)]
    if fitted.validation is not None:
        lines += render_confusion(fitted, fitted.validation)
        lines.append("")
    if readable is not None:
        lines += render_rule(readable, fitted.classes[1], show_all)
    elif (card := build_card(fitted)) is not None:
        lines += render_card_text(card)
    return "\n".join(lines).rstrip()


def find_rule_kind(fitted: TableFit) -> str:
    """Return which kind of rule the bound of a fit is about."""
    return getattr(fitted.estimator, "rule_kind", "linear rule")


def _render_bound(fitted: TableFit) -> list[str]:
    """Return the line about the fewest possible errors, if anything is known about them."""
    if fitted.lower_bound is None:
        return []
    optimal = "proved optimal" if fitted.is_bound_proved else "optimal up to rounding; certify proves it"
    verdict = optimal if fitted.is_optimal else "not proved optimal"
    proof = getattr(fitted.estimator, "proof_", "none")
    method = f", by {proof}" if proof in NAMED_PROOFS else ""
    every, found = f"bound     every {find_rule_kind(fitted)}", fitted.estimator
    if isinstance(found, ScoringSystemClassifier) and found.penalty > 0.0:
        least = (
            f"{found.objective_bound_:.6g} errors and penalties, of which this one has {found.objective_:.6g}"
        )
        return [f"{every} has at least {least}{method}: {verdict}"]
    if isinstance(found, CertifyingClassifier) and proof == "none" and not fitted.lower_bound:
        return [f"bound     none was proved: {explain_no_bound(len(fitted.y))}"]
    return [f"{every} makes at least {fitted.lower_bound:,} errors{method}: {verdict}"]


def explain_no_bound(n_samples: int) -> str:
    """Return why `certify` has proved nothing, and what to do.

    Examples
    --------
    >>> explain_no_bound(345)
    'the time limit ended first; a longer one (--time-limit) proves more'
    """
    if n_samples > MAX_CONE_SAMPLES:
        return (
            f"cones of directions take up to {MAX_CONE_SAMPLES:,} samples, and impossible sets had too little "
            "time; a bound for a subset of the samples is possible"
        )
    return "the time limit ended first; a longer one (--time-limit) proves more"


def _render_weights(fitted: TableFit, weights: np.ndarray) -> list[str]:
    pairs = [f"'{name}' {weight:.4g}" for name, weight in zip(fitted.classes, weights, strict=True)]
    bound = fitted.weighted_bound
    least = "" if bound is None else f"; every {find_rule_kind(fitted)} has at least {100 * bound:.2f} %"
    return [
        f"weighted  {100 * (fitted.weighted_rate or 0.0):.2f} % of the weight of the training samples is "
        f"misclassified{least}",
        f"weights   {', '.join(pairs)}",
    ]


def describe_column(column: CsvColumn) -> dict:
    """Return a column as in model files and JSON objects."""
    fill = ({} if column.fill is None else {"fill": column.fill}) | (
        {"indicator": True} if column.is_marked else {}
    )
    if column.levels is None:
        return {"name": column.name, "kind": "number", **fill}
    return {"name": column.name, "kind": "category", "levels": list(column.levels), **fill}


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
