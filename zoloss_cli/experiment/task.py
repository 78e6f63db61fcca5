"""One unit of work: a split of a cell, from data to counted errors or to what is measured of the data."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.dataset import find_draw
from zoloss_cli.datasets.splits import derive_seed
from zoloss_cli.experiment.fitting import fit
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.split_data import Part, part_of
from zoloss_cli.experiment.tuning import tuned
from zoloss_cli.kernels.zero_one import lenient_mistakes, prediction_mistakes, strict_mistakes, wrong_classes
from zoloss_cli.registry import MEASURES, make_learner

LONGEST_REASON = 300
LONGEST_TRACE = 100


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


class Trained(NamedTuple):
    """A learner that has seen the training rows of its split."""

    part: Part
    spec: LearnerSpec
    learner: object
    seconds: float


def train_unit(cell: Cell, k: int) -> Trained:
    """Split, scale, leave noise out, and learn."""
    part = part_of(cell, k)
    spec = tuned(cell, k) if cell.tuning else cell.learner
    seed = derive_seed(cell.rule.seed, cell.stream, k, cell.learner.name)
    rows = part.learned_from
    return Trained(part, spec, *fit(spec, part.scaled(part.data.X[rows]), part.data.y[rows], seed))


def run_unit(cell: Cell, k: int) -> dict:
    """Split, scale, learn, and count errors from the learned scores.

    Training errors are those on all training rows, by the labels that they have there, and count a zero margin
    as an error; test errors are wrong predictions, by true labels (see loss.py). Those of learners for several
    classes are wrong predictions in both parts. Where all rows train there are no test errors.
    """
    if cell.learner.learner in MEASURES:
        return measure_unit(cell, k)
    return count_unit(cell, k, train_unit(cell, k))


def measure_unit(cell: Cell, k: int) -> dict:
    """What there is to say of the training rows of split k, and of which draw they are, for reports to pool."""
    part = part_of(cell, k)
    spec, rows = cell.learner, part.learned_from
    seed = derive_seed(cell.rule.seed, cell.stream, k, spec.name)
    measure = make_learner(spec.learner, spec.parameters, np.random.default_rng(seed))
    flipped = np.flatnonzero(np.isin(rows, part.data.flipped))
    start = time.perf_counter()
    facts = measure.measure(part.scaled(part.data.X[rows]), part.data.y[rows], flipped)
    seconds = round(time.perf_counter() - start, 6)
    return {"k": k, "draw": find_draw(cell.data, k), "seconds": seconds, "measured": facts}


def count_unit(cell: Cell, k: int, trained: Trained) -> dict:
    """The row of a unit whose learner is trained."""
    part, spec, learner, seconds = trained
    data, train, test = part.data, part.train, part.test
    X_train, X_test = (part.scaled(data.X[rows]) for rows in (train, test))
    y_train, y_test = data.y[train], data.truth[test]
    signs_train, signs_test = (np.where(y == 1, 1.0, -1.0) for y in (y_train, y_test))
    row = {"k": k}
    if getattr(learner, "multiclass", False):
        row["train"] = wrong_classes(learner, X_train, y_train)
        if test.size:
            row["test"] = wrong_classes(learner, X_test, y_test)
    else:
        scores = learner.decision_function(X_train)
        row["train"] = int(strict_mistakes(scores, signs_train).sum())
        if test.size:
            row["test"] = int(prediction_mistakes(learner.decision_function(X_test), signs_test).sum())
        lenient = int(lenient_mistakes(scores, signs_train).sum())
        if lenient != row["train"]:
            row["lenient"] = lenient
    if cell.prune is not None:
        row["pruned"] = int(part.pruned.size)
    if cell.prune is not None and data.flipped.size:
        row["flipped"] = int(np.isin(train, data.flipped).sum())
        row["caught"] = int(np.isin(part.pruned, data.flipped).sum())
    unseen = int(np.count_nonzero(~np.isin(y_test, data.y[part.learned_from])))
    if unseen:  # of classes that only test rows have: nobody could be right
        row["unseen"] = unseen
    if cell.tuning:
        row["tuned"] = spec.choice
    row |= _told(learner, seconds)
    if not test.size and "reached" in row:  # units on whole sets are few, and how they came down is of interest
        row["trace"] = [[round(float(t), 6), _digits(loss, 8)] for t, loss in _thinned(learner.trace_)]
    if len(getattr(learner, "recorded_epochs_", ())):
        row["epochs"] = [int(e) for e in learner.recorded_epochs_]
        if getattr(learner, "multiclass", False):
            row["train_curve"] = _wrong_by_round(learner, X_train, y_train)
            row["test_curve"] = _wrong_by_round(learner, X_test, y_test)
        else:
            row["train_curve"] = _curve(learner.recorded_scores(X_train), signs_train, strict_mistakes)
            row["test_curve"] = _curve(learner.recorded_scores(X_test), signs_test, prediction_mistakes)
        if not test.size:
            del row["test_curve"]
        if hasattr(learner, "recorded_costs_"):
            row["cost_curve"] = [_digits(c, 4) for c in learner.recorded_costs_]
    return row


def _told(learner, seconds: float) -> dict:
    """What the learner says of its work: how long, when the best was found, what is proved, how many rounds;
    whether it ended because no weight was left between the classes; what a theorem bounds, and by what.
    """
    told = {"seconds": round(float(seconds), 6)}
    if len(getattr(learner, "trace_", ())) and learner.trace_[-1][0] < seconds:  # else there was no search
        told["reached"] = round(float(learner.trace_[-1][0]), 6)
    if hasattr(learner, "lower_bound_"):
        told["lower_bound"] = float(learner.lower_bound_)
    if hasattr(learner, "n_rounds_"):
        told["iterations"] = learner.n_rounds_
    if hasattr(learner, "costs_"):
        told["cost"] = _digits(learner.costs_[-1] if len(learner.costs_) else 1.0, 8)  # of an empty code
    if getattr(learner, "unsplit_", 0):
        told["unsplit"] = learner.unsplit_
    if math.isfinite(getattr(learner, "bound_", math.inf)):
        told |= {"counted": learner.counted_, "bound": _digits(learner.bound_, 8)}
    return told


def _thinned(trace: list) -> list:
    """At most so many points of a way down, the first and the last among them."""
    if len(trace) <= LONGEST_TRACE:
        return trace
    return [trace[i] for i in np.linspace(0, len(trace) - 1, LONGEST_TRACE).astype(int)]


def _digits(value: float, count: int) -> float:
    return float(f"{value:.{count}g}")


def _curve(scores, signs, mistakes) -> list[int]:
    return [int(c) for c in mistakes(scores, signs).sum(axis=1)]


def _wrong_by_round(learner, X: np.ndarray, y: np.ndarray) -> list[int]:
    return [int(np.count_nonzero(said != y)) for said in learner.recorded_predictions(X)]
