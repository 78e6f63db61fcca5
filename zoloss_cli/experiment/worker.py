"""One unit of work: a split of a cell, from data to counted errors. Runs inside a worker process."""

from __future__ import annotations

import time

import numpy as np

from zoloss_cli.config.models import ALL
from zoloss_cli.datasets import draw_of, load
from zoloss_cli.experiment.fitting import fit
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.tuning import tuned
from zoloss_cli.loss import lenient_mistakes, prediction_mistakes, strict_mistakes, wrong_classes
from zoloss_cli.preprocess import scale
from zoloss_cli.splits import seed_of

LONGEST_REASON = 300


def run_units(cell: Cell, splits: list[int]) -> list[dict]:
    """The rows of these splits. A unit that fails gives a row with the reason instead of numbers."""
    rows = []
    for k in splits:
        start = time.perf_counter()
        try:
            row = run_unit(cell, k)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".replace("\n", " ")
            row = {"k": k, "failed": reason[:LONGEST_REASON]}
        row["s"] = round(time.perf_counter() - start, 5)
        rows.append(row)
    return rows


def run_unit(cell: Cell, k: int) -> dict:
    """Split, scale, learn, and count errors from the learned scores.

    Training errors count a zero margin as an error, test errors are wrong predictions (see loss.py); those
    of learners for several classes are wrong predictions in both parts. Where all rows train there are no
    test errors.
    """
    data = load(cell.data, draw_of(cell.data, k))
    train, test = cell.rule.rows(len(data.y), cell.stream, k)
    X_train, X_test = scale(data.X[train], data.X[test], cell.scale, data.X if cell.fit_on == ALL else None)
    spec = tuned(cell, k) if cell.tuning else cell.learner
    seed = seed_of(cell.rule.seed, cell.stream, k, cell.learner.name)
    learner, seconds = fit(spec, X_train, data.y[train], seed)
    signs = np.where(data.y == 1, 1.0, -1.0)
    row = {"k": k}
    if getattr(learner, "multiclass", False):
        row["train"] = wrong_classes(learner, X_train, data.y[train])
        if test.size:
            row["test"] = wrong_classes(learner, X_test, data.y[test])
    else:
        scores = learner.decision_function(X_train)
        row["train"] = int(strict_mistakes(scores, signs[train]).sum())
        if test.size:
            row["test"] = int(prediction_mistakes(learner.decision_function(X_test), signs[test]).sum())
        lenient = int(lenient_mistakes(scores, signs[train]).sum())
        if lenient != row["train"]:
            row["lenient"] = lenient
    if cell.tuning:
        row["tuned"] = spec.choice
    row |= _told(learner, seconds)
    recorded = getattr(learner, "recorded_weights_", np.empty((0, 0)))
    if recorded.size:
        row["epochs"] = [int(e) for e in learner.recorded_epochs_]
        row["train_curve"] = _curve(recorded, X_train, signs[train], strict_mistakes)
        if test.size:
            row["test_curve"] = _curve(recorded, X_test, signs[test], prediction_mistakes)
    return row


def _told(learner, seconds: float) -> dict:
    """What the learner says of its work: how long, when the best was found, what is proved, how many rounds;
    and whether it ended because no weight was left between the classes.
    """
    told = {"seconds": round(float(seconds), 6)}
    if len(getattr(learner, "trace_", ())) and learner.trace_[-1][0] < seconds:  # else there was no search
        told["reached"] = round(float(learner.trace_[-1][0]), 6)
    if hasattr(learner, "lower_bound_"):
        told["lower_bound"] = float(learner.lower_bound_)
    if hasattr(learner, "n_rounds_"):
        told["iterations"] = learner.n_rounds_
    if getattr(learner, "unsplit_", 0):
        told["unsplit"] = learner.unsplit_
    return told


def _curve(weights, X, signs, mistakes) -> list[int]:
    scores = weights[:, :1] + weights[:, 1:] @ X.T
    return [int(c) for c in mistakes(scores, signs).sum(axis=1)]
