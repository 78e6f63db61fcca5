"""The errors of a fit on other samples, and how to interpret them, as text and as JSON."""

from __future__ import annotations

import shlex

import numpy as np

from zoloss_cli.workflows.fit import TableFit
from zoloss_cli.workflows.validation import CONFIDENCE, Validation

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
