"""One task: a split of a cell, from data to a record of errors or measurements."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.dataset import find_draw
from zoloss_cli.data.splits import derive_seed
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.fitting import SplitData, allow_planned_code, assign_part, fit, load_split, tune
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.kernels.zero_one import find_lenient_errors, find_prediction_errors, find_strict_errors
from zoloss_cli.learners.search.progress import check_reported_result
from zoloss_cli.registry import MEASURES, is_external, make_learner
from zoloss_cli.results.manifest import Manifest
from zoloss_cli.results.record import (
    AnyRecord,
    Confusion,
    FailedRecord,
    FitRecord,
    Measurement,
    MeasureRecord,
)

MAX_REASON_LENGTH = 300
MAX_TRACE_LENGTH = 100


class ChunkOutput(NamedTuple):
    """The records of a chunk's splits, and the host that ran them if not this one."""

    records: list[AnyRecord]
    host: str = ""


class FittedTask(NamedTuple):
    """A learner fitted to the training samples of its split."""

    split_data: SplitData
    spec: LearnerSpec
    learner: Any
    fit_time: float


def run_chunk(cell: Cell, splits: list[int], seconds: float = math.inf) -> ChunkOutput:
    """Return the records of a chunk, in a local worker process."""
    return ChunkOutput(run_tasks(cell, splits, seconds))


def run_tasks(cell: Cell, splits: Iterable[int], seconds: float = math.inf) -> list[AnyRecord]:
    """Return the records of these splits; a failed task has its reason instead of numbers.

    After `seconds`, no further task starts.
    """
    records: list[AnyRecord] = []
    end = time.perf_counter() + seconds
    for split in splits:
        start = time.perf_counter()
        if start > end and records:
            break
        record: AnyRecord
        try:
            with allow_planned_code(cell.learner):
                record = run_task(cell, split)
        except (Exception, SystemExit) as error:  # third-party code may call exit()
            reason = f"{type(error).__name__}: {error}".replace("\n", " ")
            record = FailedRecord(split, reason[:MAX_REASON_LENGTH])
        wall_time = round(time.perf_counter() - start, 5)
        records.append(msgspec.structs.replace(record, wall_time=wall_time))
    return records


def run_task(cell: Cell, split: int) -> FitRecord | MeasureRecord:
    """Split, scale, and fit the learner or compute the measure.

    Errors are counted from the scores of the fitted learner. Training errors are counted on all training
    samples, by their labels there, and include margins of 0; test errors are wrong predictions of the true
    labels. For multiclass learners, both are wrong predictions. If all samples train, there are no test errors.
    """
    if cell.learner.learner in MEASURES:
        return measure_task(cell, split)
    return build_record(cell, split, fit_task(cell, split))


def fit_task(cell: Cell, split: int) -> FittedTask:
    """Split, prune, scale, and fit."""
    data = load_split(cell, split)
    spec = assign_part(tune(cell, split) if cell.tuning else cell.learner, split)
    seed = derive_seed(cell.rule.seed, cell.seed_name, split, cell.learner.name)
    X, y = data.scale(data.data.X[data.fit_indices]), data.data.y[data.fit_indices]
    return FittedTask(data, spec, *fit(spec, X, y, seed, exact=data.get_exact_features))


def measure_task(cell: Cell, split: int) -> MeasureRecord:
    """Measure the training samples of a split, and record their draw, by which reports pool measurements."""
    data, spec = load_split(cell, split), cell.learner
    indices = data.fit_indices
    seed = derive_seed(cell.rule.seed, cell.seed_name, split, spec.name)
    measure = make_learner(spec.source, spec.parameters, np.random.default_rng(seed))
    flipped = np.flatnonzero(np.isin(indices, data.data.flipped))
    X, y = data.scale(data.data.X[indices]), data.data.y[indices]
    start = time.perf_counter()
    measured = measure.measure(X, y, flipped)
    fit_time = round(time.perf_counter() - start, 6)
    return MeasureRecord(
        split, msgspec.convert(measured, Measurement), find_draw(cell.data, split), fit_time=fit_time
    )


def build_record(cell: Cell, split: int, fitted: FittedTask) -> FitRecord:
    """Return the record of a task with a fitted learner."""
    data, spec, learner, fit_time = fitted
    y_train, y_test = data.data.y[data.train], data.data.truth[data.test]
    fields: dict[str, Any] = {"split": split}
    fields |= _count_errors(cell, data, learner, y_train, y_test)
    fields |= _count_noise(cell, data, y_test)
    if cell.tuning:
        fields["choice"] = spec.choice
    if is_external(spec.learner) and not data.pruned.size:
        check_reported_result(learner, fields["train_errors"], fields.get("train_errors_lenient"))
    fields |= collect_fit_info(learner, fit_time)
    if not data.test.size and "time_to_best" in fields:  # such tasks are few, and their descent is of interest
        trace = learner.trace_
        places = np.linspace(0, len(trace) - 1, min(len(trace), MAX_TRACE_LENGTH)).astype(int)
        kept = [trace[i] for i in places]
        fields["trace"] = [(round(float(t), 6), _round_to_digits(loss, 8)) for t, loss in kept]
    if len(getattr(learner, "recorded_epochs_", ())):
        fields |= _collect_curves(data, learner, y_train, y_test)
    return FitRecord(**fields)


def _count_errors(
    cell: Cell, data: SplitData, learner: Any, y_train: np.ndarray, y_test: np.ndarray
) -> dict[str, Any]:
    """Return errors and confusion counts on training and test samples, and scores if they are kept."""
    n_classes = len(data.data.classes)
    counts_predictions = getattr(learner, "multiclass", False) or getattr(learner, "is_external", False)
    X_train, X_test = (data.scale(data.data.X[indices]) for indices in (data.train, data.test))
    fields: dict[str, Any] = {}
    parts = [("train", X_train, y_train, find_strict_errors)]
    if data.test.size:
        parts.append(("test", X_test, y_test, find_prediction_errors))
    for name, X, y, find_errors in parts:
        if counts_predictions:
            predicted = learner.predict(X)
            errors = predicted != y
        else:
            scores, signs = learner.decision_function(X), _to_signs(y)
            predicted, errors = scores >= 0.0, find_errors(scores, signs)
            lenient = np.count_nonzero(find_lenient_errors(scores, signs))
            if name == "train" and lenient != np.count_nonzero(errors):
                fields["train_errors_lenient"] = int(lenient)
        fields[f"{name}_errors"] = int(np.count_nonzero(errors))
        fields[f"{name}_confusion"] = count_confusion(y, predicted, n_classes)
    return fields | _collect_responses(cell, learner, X_test, y_test, n_classes)


def _collect_responses(
    cell: Cell, learner: Any, X: np.ndarray, y: np.ndarray, n_classes: int
) -> dict[str, Any]:
    """Return scores and probabilities of test samples by true class, if they are kept."""
    fields: dict[str, Any] = {}
    if not y.size:
        return fields
    if "test_scores" in cell.keep and n_classes == 2:
        has_scores = hasattr(learner, "decision_function")
        scores = learner.decision_function(X) if has_scores else _compute_probabilities(learner, X, 2)[:, 1]
        if np.shape(scores) != y.shape or not np.all(np.isfinite(scores)):
            raise ValueError("some scores of test samples are not finite, and cannot be kept")
        fields["test_scores"] = tuple(np.asarray(scores)[y == k].tolist() for k in (0, 1))
    if "test_probabilities" in cell.keep:
        probabilities = _compute_probabilities(learner, X, n_classes)
        fields["test_probabilities"] = [probabilities[y == k].tolist() for k in range(n_classes)]
    return fields


def _compute_probabilities(learner: Any, X: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the probability of each class; 0 for a class without training samples."""
    probabilities = np.zeros((len(X), n_classes))
    probabilities[:, np.asarray(learner.classes_, dtype=np.int64)] = learner.predict_proba(X)
    if not np.all(np.isfinite(probabilities)):
        raise ValueError("some probabilities of test samples are not finite, and cannot be kept")
    return probabilities


def count_confusion(y: np.ndarray, predicted: np.ndarray, n_classes: int) -> Confusion:
    """Return how many samples of each class (outer) are predicted to be of each class (inner)."""
    counts = np.bincount(n_classes * y + predicted, minlength=n_classes**2)
    return counts.reshape(n_classes, n_classes).tolist()


def _count_noise(cell: Cell, data: SplitData, y_test: np.ndarray) -> dict[str, int]:
    """Return how many samples were pruned, have wrong labels, or are of a class absent from training."""
    fields = {}
    if cell.prune is not None:
        fields["n_pruned"] = int(data.pruned.size)
    if cell.prune is not None and data.data.flipped.size:
        fields["n_flipped"] = int(np.isin(data.train, data.data.flipped).sum())
        fields["n_flipped_pruned"] = int(np.isin(data.pruned, data.data.flipped).sum())
    fields["n_unseen"] = int(np.count_nonzero(~np.isin(y_test, data.data.y[data.fit_indices])))
    return fields


def collect_fit_info(learner: Any, fit_time: float) -> dict[str, Any]:
    """Return the diagnostics of a fitted learner, by record field.

    ``reports`` of a learner's class lists which of these fields its fitted attributes provide: time to the best
    result, proved bounds, rounds, cost, number of error counts, and a theorem's bound with what it bounds.
    """
    fields: dict[str, Any] = {"fit_time": round(float(fit_time), 6)}
    if len(getattr(learner, "trace_", ())) and learner.trace_[-1][0] < fit_time:  # else there was no search
        fields["time_to_best"] = round(float(learner.trace_[-1][0]), 6)
    if hasattr(learner, "lower_bound_"):
        fields["lower_bound"] = float(learner.lower_bound_)
    if hasattr(learner, "time_to_bound_"):
        fields["time_to_bound"] = round(float(learner.time_to_bound_), 6)
        fields |= {"proof": str(learner.proof_), "n_cones": int(learner.n_cones_)}
    if getattr(learner, "part_bound_", None) is not None:
        fields |= {"part_bound": float(learner.part_bound_), "n_parts": int(learner.parts)}
    if hasattr(learner, "n_rounds_"):
        fields["iterations"] = int(learner.n_rounds_)
    if hasattr(learner, "n_error_counts_"):
        fields["error_counts"] = int(learner.n_error_counts_)
    if hasattr(learner, "costs_"):
        fields["cost"] = _round_to_digits(learner.costs_[-1] if len(learner.costs_) else 1.0, 8)
    if getattr(learner, "unsplit_", 0):
        fields["n_unsplit"] = int(learner.unsplit_)
    if math.isfinite(getattr(learner, "bound_", math.inf)):
        fields |= {"counted": learner.counted_, "bound": _round_to_digits(learner.bound_, 8)}
    if math.isfinite(getattr(learner, "success_share_", math.nan)):
        fields["success_share"] = _round_to_digits(learner.success_share_, 8)
        fields["success_bound"] = _round_to_digits(learner.success_bound_, 8)
    return fields


def _collect_curves(data: SplitData, learner: Any, y_train: np.ndarray, y_test: np.ndarray) -> dict[str, Any]:
    """Return errors, and cost if there is one, after each recorded epoch or round."""
    fields: dict[str, Any] = {"epochs": [int(e) for e in learner.recorded_epochs_]}
    parts = [("train_curve", data.train, y_train, find_strict_errors)]
    if data.test.size:
        parts.append(("test_curve", data.test, y_test, find_prediction_errors))
    for name, indices, y, find_errors in parts:
        X = data.scale(data.data.X[indices])
        if getattr(learner, "multiclass", False):
            fields[name] = [int(np.count_nonzero(p != y)) for p in learner.recorded_predictions(X)]
        else:
            fields[name] = find_errors(learner.recorded_scores(X), _to_signs(y)).sum(axis=1).tolist()
    if hasattr(learner, "recorded_costs_"):
        fields["cost_curve"] = [_round_to_digits(c, 4) for c in learner.recorded_costs_]
    return fields


def _to_signs(y: np.ndarray) -> np.ndarray:
    return np.where(y == 1, 1.0, -1.0)


def _round_to_digits(value: float, count: int) -> float:
    return float(f"{value:.{count}g}")


def find_cell(manifest: Manifest, dataset: str, learner: str, choice: str = "") -> Cell:
    """Return the planned cell of a stored one, which must be unchanged since the run."""
    for cell, stored in zip(plan(manifest.experiment), manifest.cells, strict=False):
        if (stored.dataset, stored.learner, stored.choice) == (dataset, learner, choice):
            if cell.key != stored.key:
                break
            return cell
    raise ResultsError(
        f"{learner} on {dataset} is no longer what '{manifest.experiment.name}' ran: the data or the algorithm "
        f"changed; run: {manifest.command()}"
    )


def fit_again(manifest: Manifest, cell: Cell, stored: FitRecord) -> tuple[FittedTask, FitRecord]:
    """Refit the learner of a stored task, and return it with its new record; the errors must be the same."""
    fitted = fit_task(cell, stored.split)
    record = build_record(cell, stored.split, fitted)
    for name in ("train_errors", "test_errors"):
        now, before = getattr(record, name), getattr(stored, name)
        if now != before:
            raise ResultsError(
                f"{cell.learner.label} on {cell.data.name}, fitted again, has {now} {name} where {before} are "
                f"stored: the results of '{manifest.experiment.name}' were changed or are of another version; "
                f"run: {manifest.command(fresh=True)}"
            )
    return fitted, record
