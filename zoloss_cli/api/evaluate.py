"""The result of evaluating learners: the numbers of every split, a table, and tests of differences."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zoloss_cli.api.tables import ResultTable, build_run
from zoloss_cli.data.splits import SplitRule, derive_seed, scale_parts
from zoloss_cli.errors import ConfigError, DataError, RunError, suggest_nearest
from zoloss_cli.experiment.task import count_confusion
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import Learner, refuse_masked
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import load_metric, make_learner
from zoloss_cli.report.runs import CellResult, RunResult
from zoloss_cli.report.statistics import check_comparable, compare_with_best, correct_by_holm
from zoloss_cli.report.statistics_text import describe_best
from zoloss_cli.report.tables import build_table
from zoloss_cli.results.record import FailedRecord, FitRecord
from zoloss_cli.utils.code_files import is_code_name

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike


class EvaluationResult:
    """Errors of learners on the same random splits; a notebook shows the table.

    Parameters
    ----------
    run : RunResult
        The numbers of all splits.
    metrics : list of str
        The requested metrics, the main one first.
    failures : tuple of str
        One sentence for each fit that failed.

    Attributes
    ----------
    metrics : list of str
        The metrics.
    failures : tuple of str
        What failed.
    """

    def __init__(self, run: RunResult, metrics: list[str], failures: tuple[str, ...] = ()):
        self._run, self.metrics, self.failures = run, metrics, failures

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per learner and split: learner, split, sizes, the metrics and the seconds of fitting."""
        import pandas as pd

        parts = []
        for (dataset, learner), cell in self._run.cells.items():
            names = list(dict.fromkeys([*self.metrics, "train_error", "test_error", "fit_time"]))
            values = {name: cell.get(name) for name in names}
            columns = {name: found for name, found in values.items() if found is not None}
            sizes = {} if cell.sizes is None else cell.sizes._asdict()
            places = {"dataset": dataset, "learner": learner, "split": cell.splits, **sizes}
            parts.append(pd.DataFrame(places | columns))
        return pd.concat(parts, ignore_index=True)

    @property
    def table(self) -> ResultTable:
        """The table of means and standard errors, with a column per learner."""
        return ResultTable(build_table(self._run, [self._run]))

    def compare(self, against: str | None = None) -> pd.DataFrame:
        """Test how the other learners differ from one of them on the same splits.

        Parameters
        ----------
        against : str or None, default=None
            The learner to compare the others with; None for the one with the best mean.

        Returns
        -------
        DataFrame
            A row for each other learner: the mean difference, t and p of the corrected test of Nadeau and
            Bengio (2003), p after Holm's correction for all rows, and the effect size d_z. If there is no
            test, the column reason says why.
        """
        import pandas as pd

        check_comparable(self._run, against)
        (dataset,) = self._run.datasets
        found = compare_with_best(self._run, dataset, against)
        tested = [c.p for c in found if c.p is not None]
        corrected = iter(correct_by_holm(tested))
        rows = [
            {
                "learner": c.first,
                "against": c.second,
                "difference": c.difference,
                "splits": c.splits,
                "t": c.t,
                "p": c.p,
                "holm": None if c.p is None else next(corrected),
                "d_z": c.effect,
                "reason": c.reason,
            }
            for c in found
        ]
        return pd.DataFrame(rows)

    def describe(self, alpha: float = 0.05) -> str:
        """Compare the best learner with each other one, in words.

        Parameters
        ----------
        alpha : float, default=0.05
            Significance level.

        Returns
        -------
        str
            A sentence, a line for each other learner, and a note on how to read them.
        """
        if not 0.0 < alpha < 1.0:
            raise ConfigError(f"alpha must be between 0 and 1, both excluded (got {alpha:g})")
        (dataset,) = self._run.datasets
        return "\n".join(describe_best(self._run, dataset, alpha))

    def collect_runs(self, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
        """Return the run in the form that other functions take; it has no tables to choose from."""
        if table is not None:
            raise ConfigError(f"table: an evaluation has only one table, and no '{table}'")
        return [self._run], [self._run]

    def __str__(self) -> str:
        return str(self.table)

    def __repr__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


NEEDED_METHODS = ("fit", "predict", "get_params")


def collect_estimators(learners: Any) -> dict[str, Any]:
    """Return estimators by their labels.

    Parameters
    ----------
    learners : str, class, estimator, sequence or mapping of labels to these
        A name is one from `zoloss learners`, possibly with the base of an ensemble: ``adaboost:stump``.

    Returns
    -------
    dict
        Unfitted estimators. Labels are the names given, or those of classes, numbered if several are
        the same.
    """
    if isinstance(learners, Mapping):
        named = {str(label): build_estimator(learner) for label, learner in learners.items()}
    else:
        several = (
            isinstance(learners, Iterable) and not isinstance(learners, str) and not _is_estimator(learners)
        )
        named = {}
        for learner in learners if several else [learners]:
            named[_choose_label(learner, named)] = build_estimator(learner)
    if not named:
        raise ConfigError("learners: name at least one, such as 'rcd-bias'")
    return named


def build_estimator(learner: Any) -> Any:
    """Return an estimator from its name or class, or the instance itself; anything else is a ConfigError."""
    if isinstance(learner, str):
        from zoloss_cli.config.learners import parse_learner_name

        if is_code_name(learner):
            raise ConfigError(f"learners: import the class of '{learner}', and pass it instead of the name")
        settings = dict(parse_learner_name(learner))
        name = settings.pop("learner", learner)
        return make_learner(name, settings)
    made = _call(learner) if isinstance(learner, type) else learner
    missing = [name for name in NEEDED_METHODS if not callable(getattr(made, name, None))]
    if missing:
        raise ConfigError(
            f"learners: {_name_type(learner)} is not a scikit-learn estimator: it has no method {missing[0]}"
        )
    return made


def prepare_estimator(estimator: Any, seed: np.random.SeedSequence) -> Any:
    """Return an unfitted copy, with a seed wherever it takes one and has none."""
    from sklearn.base import clone

    copy = clone(estimator)
    words = seed.generate_state(64)
    unseeded = sorted(
        name
        for name, value in copy.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
    if unseeded:
        copy.set_params(**{name: int(words[place % 64] >> 1) for place, name in enumerate(unseeded)})
    return copy


def _call(made_of: type) -> Any:
    try:
        return made_of()
    except TypeError as error:
        raise ConfigError(
            f"learners: {made_of.__name__} needs parameters: give an instance ({error})"
        ) from None


def _is_estimator(learner: Any) -> bool:
    return isinstance(learner, type) or callable(getattr(learner, "fit", None))


def _choose_label(learner: Any, taken: Mapping[str, Any]) -> str:
    label = learner if isinstance(learner, str) else _name_type(learner)
    if label in taken and isinstance(learner, str):
        raise ConfigError(f"learners: '{label}' is listed more than once")
    number = 2
    while label in taken:
        label = f"{_name_type(learner)} {number}"
        number += 1
    return label


def _name_type(learner: Any) -> str:
    return learner.__name__ if isinstance(learner, type) else type(learner).__name__


MAX_REASON_LENGTH = 300
SEED_NAME = "evaluate"  # in seeds, in place of a data set's name


@dataclass(frozen=True)
class SplitSamples:
    """Samples in memory, and how they are split and scaled.

    Attributes
    ----------
    X : ndarray or DataFrame
        The features; a DataFrame stays a DataFrame if nothing is scaled.
    y : ndarray of int
        Indices of the classes.
    n_classes : int
        Number of classes.
    rule : SplitRule
        How many samples train and test, and the seed.
    scale : {'standard', 'minmax', 'none'}
        How features are scaled, by the training samples of each split.
    """

    X: Any
    y: np.ndarray
    n_classes: int
    rule: SplitRule
    scale: str

    def select(self, split: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
        """Return copies of the training and test samples of a split, scaled, and of their classes."""
        from sklearn.utils import _safe_indexing

        train, test = self.rule.select_indices(len(self.y), SEED_NAME, split)
        X_train, X_test = (_safe_indexing(self.X, indices) for indices in (train, test))
        if self.scale != "none":
            X_train, X_test = scale_parts(X_train, X_test, self.scale)
        return X_train, X_test, self.y[train], self.y[test]


def fit_split(samples: SplitSamples, label: str, estimator: Any, split: int) -> FitRecord | FailedRecord:
    """Fit a copy of an estimator on one split and count its errors; an exception becomes a failed record.

    Parameters
    ----------
    samples : SplitSamples
        All samples.
    label : str
        The learner's name, on which its seed depends.
    estimator : estimator
        The estimator to copy and fit.
    split : int
        Number of the split.

    Returns
    -------
    FitRecord or FailedRecord
        For zoloss's learners for two classes, a margin of 0 counts as a training error, as everywhere; all
        other errors are wrong predictions.
    """
    X_train, X_test, y_train, y_test = samples.select(split)
    seed = derive_seed(samples.rule.seed, SEED_NAME, split, label)
    begin = time.perf_counter()
    try:
        fitted = prepare_estimator(estimator, seed)
        start = time.perf_counter()
        fitted.fit(X_train, y_train)
        fit_time = float(getattr(fitted, "seconds_", time.perf_counter() - start))
        fields = _count_errors(fitted, samples.n_classes, (X_train, y_train), (X_test, y_test))
        fields |= _collect_responses(fitted, samples.n_classes, X_test, y_test)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return FailedRecord(split, reason[:MAX_REASON_LENGTH])
    wall_time = time.perf_counter() - begin
    unseen = int(np.count_nonzero(~np.isin(y_test, y_train)))
    return FitRecord(split=split, fit_time=fit_time, wall_time=wall_time, n_unseen=unseen, **fields)


def _count_errors(
    fitted: Any, n_classes: int, train: tuple[Any, np.ndarray], test: tuple[Any, np.ndarray]
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part, (X, y) in (("train", train), ("test", test)):
        predicted = np.asarray(fitted.predict(X))
        if predicted.shape != y.shape or not np.isin(predicted, np.arange(n_classes)).all():
            raise ValueError("predict returned a value that is not a class of the training samples")
        fields[f"{part}_errors"] = int(np.count_nonzero(predicted != y))
        fields[f"{part}_confusion"] = count_confusion(y, predicted.astype(np.int64), n_classes)
    if isinstance(fitted, Learner) and not fitted.multiclass and len(np.unique(train[1])) == 2:
        signs = np.where(train[1] == 1, 1.0, -1.0)
        fields["train_errors"] = int(find_strict_errors(fitted.decision_function(train[0]), signs).sum())
    return fields


def _collect_responses(fitted: Any, n_classes: int, X: Any, y: np.ndarray) -> dict[str, Any]:
    """Return scores and probabilities of test samples by true class, as far as the estimator provides them."""
    fields: dict[str, Any] = {}
    probabilities = None
    if hasattr(fitted, "predict_proba"):
        probabilities = np.zeros((len(y), n_classes))
        probabilities[:, np.asarray(fitted.classes_, dtype=np.int64)] = fitted.predict_proba(X)
        if np.isfinite(probabilities).all():
            fields["test_probabilities"] = [probabilities[y == k].tolist() for k in range(n_classes)]
    if n_classes == 2:
        scores = None if probabilities is None else probabilities[:, 1]
        if hasattr(fitted, "decision_function"):
            scores = np.asarray(fitted.decision_function(X))
        if scores is not None and scores.shape == y.shape and np.isfinite(scores).all():
            fields["test_scores"] = tuple(scores[y == k].tolist() for k in (0, 1))
    return fields


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
