"""One unit of work: a split of a cell, from data to counted errors. Runs inside a worker process."""

from __future__ import annotations

import time
import warnings

import numpy as np

from zoloss_cli.datasets import load
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.loss import prediction_mistakes, strict_mistakes
from zoloss_cli.preprocess import scale
from zoloss_cli.registry import make_learner
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

    Training errors count a zero margin as an error, test errors are wrong predictions (see loss.py).
    """
    data = load(cell.data)
    train, test = cell.rule.rows(len(data.y), cell.stream, k)
    X_train, X_test = scale(data.X[train], data.X[test], cell.scale)
    seed = seed_of(cell.rule.seed, cell.stream, k, cell.learner.name)
    learner = make_learner(cell.learner.learner, cell.learner.parameters, np.random.default_rng(seed))
    with warnings.catch_warnings():
        # A learner's doubts (an empty ensemble, say) show in the row; thousands of units must not print them.
        warnings.simplefilter("ignore", UserWarning)
        learner.fit(X_train, data.y[train])
    signs = np.where(data.y == 1, 1.0, -1.0)
    row = {
        "k": k,
        "train": int(strict_mistakes(learner.decision_function(X_train), signs[train]).sum()),
        "test": int(prediction_mistakes(learner.decision_function(X_test), signs[test]).sum()),
    }
    if hasattr(learner, "n_rounds_"):
        row["iterations"] = learner.n_rounds_
    recorded = getattr(learner, "recorded_weights_", np.empty((0, 0)))
    if recorded.size:
        row["epochs"] = [int(e) for e in learner.recorded_epochs_]
        row["train_curve"] = _curve(recorded, X_train, signs[train], strict_mistakes)
        row["test_curve"] = _curve(recorded, X_test, signs[test], prediction_mistakes)
    return row


def _curve(weights, X, signs, mistakes) -> list[int]:
    scores = weights[:, :1] + weights[:, 1:] @ X.T
    return [int(c) for c in mistakes(scores, signs).sum(axis=1)]
