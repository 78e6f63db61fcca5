"""Compare learners on samples in memory, on the same random splits."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zoloss_cli.api.built_run import build_run
from zoloss_cli.api.evaluation import EvaluationResult
from zoloss_cli.api.learners import collect_estimators
from zoloss_cli.api.split_fits import SplitSamples, fit_split
from zoloss_cli.datasets.splits import SplitRule
from zoloss_cli.errors import ConfigError, DataError, RunError, suggest_nearest
from zoloss_cli.learners.problem import refuse_masked
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.run_result import CellResult
from zoloss_cli.results.record import FailedRecord, FitRecord

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

SCALINGS = ("standard", "minmax", "none")
DATASET = "data"
MAX_NAMED_FAILURES = 3


def evaluate(
    X: pd.DataFrame | ArrayLike,
    y: ArrayLike,
    learners: Any,
    *,
    n_splits: int = 20,
    test_size: float | int = 0.2,
    metric: str | Sequence[str] = "test_error",
    scale: Literal["standard", "minmax", "none"] = "standard",
    random_state: int = 0,
    n_jobs: int = 1,
) -> EvaluationResult:
    """Compare learners on the same random splits of samples.

    Every learner is fitted on the training samples of each split, and its errors are counted on the others.
    Seeds depend on `random_state`, the split and the learner's label only: the numbers are the same for any
    `n_jobs`, whichever other learners are compared.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        The samples. With ``scale="none"`` they may hold anything that the learners accept.
    y : array-like of shape (n_samples,)
        Their labels, of any kind; with two classes, the larger label is the positive one.
    learners : str, class, estimator, sequence or mapping of labels to these
        Names from `zoloss learners`, and estimators (classes or instances) of scikit-learn, zoloss or others.
    n_splits : int, default=20
        Number of random splits.
    test_size : float or int, default=0.2
        Test samples: a share of all samples, or a count.
    metric : str or sequence of str, default="test_error"
        What the table shows: a zoloss metric, or the name of a scikit-learn scorer. If there are several, the
        DataFrame has all of them.
    scale : {'standard', 'minmax', 'none'}, default='standard'
        How features are scaled, by the training samples of each split.
    random_state : int, default=0
        Seed of splits and learners; an instance that already has a seed keeps it.
    n_jobs : int, default=1
        Number of processes, as in scikit-learn: -1 for all cores.

    Returns
    -------
    EvaluationResult
        With `table`, `frame`, `compare` and `describe`; `make_table` and the plot functions take it.

    Raises
    ------
    ConfigError
        If a learner or metric is unknown, or a parameter is out of range.
    DataError
        If samples and labels do not fit together.
    RunError
        If every fit failed. If only some failed, a warning says so, and the results have the others.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from zoloss_cli import evaluate, load_dataset
    >>> X, y = load_dataset("heart")
    >>> result = evaluate(X, y, ["fld", LogisticRegression(C=0.1)], n_splits=5)
    >>> result.frame.groupby("learner")["test_error"].mean().round(1).to_dict()
    {'LogisticRegression': 10.7, 'fld': 11.5}
    >>> result.compare(against="fld")[["learner", "splits"]].values.tolist()
    [['LogisticRegression', 5]]
    """
    metrics = _check_metrics(metric)
    samples = _check_samples(X, y, _build_rule(n_splits, test_size, random_state), scale)
    estimators = collect_estimators(learners)
    records = _fit_all(samples, estimators, n_splits, n_jobs)
    sizes = Sizes(*samples.rule.compute_sizes(len(samples.y), "X"))
    cells, failures = _build_cells(records, sizes)
    title = f"Means of {metrics[0]}"
    run = build_run(cells, metrics, name="evaluation", title=title, n_splits=n_splits, origin="evaluate(...)")
    for place, reason in run.missing.items():
        warnings.warn(f"{place[1]} has no {metrics[0]}: {reason}", stacklevel=2)
    if not run.cells:
        raise ConfigError(f"metric: no learner has '{metrics[0]}': {next(iter(run.missing.values()))}")
    if failures:
        shown, more = failures[:MAX_NAMED_FAILURES], len(failures) - MAX_NAMED_FAILURES
        text = f"{len(failures)} fits failed: {'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}"
        warnings.warn(text, stacklevel=2)
    return EvaluationResult(run, metrics, tuple(failures))


def _check_metrics(metric: str | Sequence[str]) -> list[str]:
    names = [metric] if isinstance(metric, str) else list(metric)
    if not names:
        raise ConfigError("metric: name at least one, such as 'test_error'")
    return [load_metric(name).name for name in names]


def _build_rule(n_splits: int, test_size: float | int, random_state: int) -> SplitRule:
    for name, value, least in (("n_splits", n_splits, 1), ("random_state", random_state, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ConfigError(f"{name} must be a number of at least {least} (got {value!r})")
    is_count = isinstance(test_size, int | np.integer) and not isinstance(test_size, bool)
    if is_count and test_size >= 1:
        return SplitRule(-1, int(test_size), int(random_state))  # all others train, once their number is known
    if isinstance(test_size, float) and 0.0 < test_size < 1.0:
        return SplitRule(1.0 - test_size, None, int(random_state))
    raise ConfigError(
        "test_size must be a share between 0 and 1 (both excluded) or a count of at least 1 "
        f"(got {test_size!r})"
    )


def _check_samples(X: Any, y: Any, rule: SplitRule, scale: str) -> SplitSamples:
    if scale not in SCALINGS:
        raise ConfigError(f"scale: unknown way '{scale}'{suggest_nearest(scale, SCALINGS)}")
    refuse_masked("evaluate", X=X, y=y)
    if scale != "none":
        try:
            X = np.array(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f'X: all features must be numbers to be scaled; use scale="none" with a pipeline that encodes '
                f"others ({error})"
            ) from None
        if X.ndim != 2 or not np.isfinite(X).all():
            raise DataError("X must have two dimensions and finite numbers only, without missing values")
    elif not hasattr(X, "shape"):
        X = np.array(X)
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != X.shape[0]:
        raise DataError(
            f"y must have one label for each of the {X.shape[0]} samples (got shape {labels.shape})"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise DataError("y has missing labels; leave their samples out")
    try:
        classes, indices = np.unique(labels, return_inverse=True)
    except TypeError:
        raise DataError("y holds labels of several types, which have no order; make them all text") from None
    if len(classes) < 2:
        raise DataError("y has one class only, so there is nothing to learn")
    if rule.train == -1:
        assert rule.test is not None
        rule = SplitRule(max(0, len(labels) - rule.test), rule.test, rule.seed)
    rule.compute_sizes(len(labels), "X")
    return SplitSamples(X, indices.astype(np.int64), len(classes), rule, scale)


def _fit_all(
    samples: SplitSamples, estimators: Mapping[str, Any], n_splits: int, n_jobs: int
) -> dict[str, list[FitRecord | FailedRecord]]:
    """Return the records of each learner, one per split."""
    from sklearn.utils.parallel import Parallel, delayed

    tasks = [(label, split) for split in range(n_splits) for label in estimators]
    done = Parallel(n_jobs=n_jobs)(
        delayed(fit_split)(samples, label, estimators[label], split) for label, split in tasks
    )
    records: dict[str, list[FitRecord | FailedRecord]] = {label: [] for label in estimators}
    for (label, _), record in zip(tasks, done, strict=True):
        records[label].append(record)
    return records


def _build_cells(
    records: Mapping[str, Iterable[FitRecord | FailedRecord]], sizes: Sizes
) -> tuple[list[tuple[tuple[str, str], CellResult]], list[str]]:
    """Return the cells of learners that were fitted, and a sentence for each fit that failed."""
    cells, failures = [], []
    for label, each in records.items():
        fits: list[FitRecord] = []
        for record in each:
            if isinstance(record, FailedRecord):
                failures.append(f"{label}, split {record.split}: {record.failed}")
            else:
                fits.append(record)
        if fits:
            cells.append(((DATASET, label), CellResult(fits, [record.split for record in fits], sizes)))
    if not cells:
        raise RunError(f"every fit failed; the first: {failures[0]}")
    return cells, failures
