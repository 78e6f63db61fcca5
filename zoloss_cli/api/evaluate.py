"""Compare learners on your own samples: arrays in memory, or a table whose results are stored in a folder."""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import yaml

from zoloss_cli.api.choose import OptionErrorCollector, list_usual_learners, parse_labels, parse_settings
from zoloss_cli.api.experiments import describe_failures
from zoloss_cli.api.tables import ResultTable, build_run, list_names
from zoloss_cli.choices import DEFAULT_SCALING, SCALINGS
from zoloss_cli.config.learners import parse_learner_name
from zoloss_cli.config.loader import build_data_spec, build_experiment
from zoloss_cli.config.models import CsvData, Experiment, Split
from zoloss_cli.data.columns import ALL_COLUMNS, ColumnSelection
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import SplitRule, derive_seed, scale_parts
from zoloss_cli.errors import ConfigError, DataError, ResultsError, RunError, suggest_nearest
from zoloss_cli.experiment.fitting import find_missing_needs
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.runner import validate_data
from zoloss_cli.experiment.task import MAX_REASON_LENGTH, count_confusion
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import Learner, refuse_masked
from zoloss_cli.learners.multiclass.codes import MAX_EXACT_CLASSES
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import load_metric, make_learner
from zoloss_cli.report.runs import CellResult, RunResult, load_runs, select_runs
from zoloss_cli.report.statistics import check_comparable, compare_with_best, correct_by_holm
from zoloss_cli.report.statistics_text import describe_best, join_words
from zoloss_cli.report.tables import build_table
from zoloss_cli.results.record import FailedRecord, FitRecord
from zoloss_cli.results.store import Store
from zoloss_cli.utils.files import check_target, write
from zoloss_cli.utils.imports import find_install_name, is_code_name
from zoloss_cli.utils.text import clean_file_name, list_options, show_controls

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

NEEDED_METHODS = ("fit", "predict", "get_params")
SEED_NAME = "evaluate"  # in seeds, in place of a data set's name
DATASET = "data"
YAML_WIDTH = 110


class EvaluationResult:
    """Errors of learners on the same random splits; a notebook shows the table."""

    def __init__(self, run: RunResult, metrics: list[str], failures: tuple[str, ...] = ()):
        self._run = run
        self.metrics = metrics  # the main one first
        self.failures = failures  # one sentence for each fit that failed

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per learner and split: learner, split, sizes, the metrics and the seconds of fitting."""
        import pandas as pd

        parts = []
        for (dataset, learner), cell in self._run.cells.items():
            columns = {"dataset": dataset, "learner": learner, "split": cell.splits}
            columns |= {} if cell.sizes is None else cell.sizes._asdict()
            for name in (*self.metrics, "train_error", "test_error", "fit_time"):
                if (values := cell.get(name)) is not None:
                    columns[name] = values
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    @property
    def table(self) -> ResultTable:
        """The table of means and standard errors, with a column per learner."""
        return ResultTable(build_table(self._run, [self._run]))

    def compare(self, against: str | None = None) -> pd.DataFrame:
        """Compare the other learners with one of them, by paired tests on the same splits.

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
        corrected = iter(correct_by_holm([c.p for c in found if c.p is not None]))
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
        """Describe how the best learner compares with each other one.

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
        """Return the run, in the form that other functions expect; there is only one table."""
        if table is not None:
            raise ConfigError(f"table: an evaluation has only one table, and no '{table}'")
        return [self._run], [self._run]

    def __repr__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def _collect_estimators(learners: Any) -> dict[str, Any]:
    """Return estimators by their labels."""
    if isinstance(learners, Mapping):
        named = {str(label): _build_estimator(learner) for label, learner in learners.items()}
    else:
        is_one = isinstance(learners, str | type) or callable(getattr(learners, "fit", None))
        named = {}
        for learner in [learners] if is_one or not isinstance(learners, Iterable) else learners:
            named[_choose_label(learner, named)] = _build_estimator(learner)
    if not named:
        raise ConfigError("learners: name at least one, such as 'rcd-bias'")
    return named


def _build_estimator(learner: Any) -> Any:
    """Return an estimator from its name or class, or the instance itself."""
    if isinstance(learner, str):
        if is_code_name(learner):
            raise ConfigError(f"learners: import the class of '{learner}', and pass it instead of the name")
        settings = dict(parse_learner_name(learner))
        return make_learner(settings.pop("learner", learner), settings)
    try:
        estimator = learner() if isinstance(learner, type) else learner
    except TypeError as error:
        raise ConfigError(
            f"learners: {learner.__name__} needs parameters: pass an instance ({error})"
        ) from None
    missing = [name for name in NEEDED_METHODS if not callable(getattr(estimator, name, None))]
    if missing:
        raise ConfigError(
            f"learners: {_name_type(learner)} is not a scikit-learn estimator: it has no method {missing[0]}"
        )
    return estimator


def _prepare_estimator(estimator: Any, seed: np.random.SeedSequence) -> Any:
    """Return an unfitted copy, with a seed for each `random_state` that is None."""
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


def _choose_label(learner: Any, taken: Mapping[str, Any]) -> str:
    label = learner if isinstance(learner, str) else _name_type(learner)
    if label in taken and isinstance(learner, str):
        raise ConfigError(f"learners: '{label}' is listed more than once")
    numbered = (f"{label} {number}" for number in itertools.count(2))
    return label if label not in taken else next(each for each in numbered if each not in taken)


def _name_type(learner: Any) -> str:
    return learner.__name__ if isinstance(learner, type) else type(learner).__name__


@dataclass(frozen=True)
class SplitSamples:
    """Samples in memory, and how they are split, and scaled by the training samples of each split."""

    X: Any  # remains a DataFrame if it is not scaled
    y: np.ndarray  # class indices
    n_classes: int
    rule: SplitRule
    scale: str


def _fit_split(samples: SplitSamples, label: str, estimator: Any, split: int) -> FitRecord | FailedRecord:
    """Fit a copy of an estimator on one split and count its errors; an exception becomes a failed record."""
    from sklearn.utils import _safe_indexing

    train, test = samples.rule.select_indices(len(samples.y), SEED_NAME, split)
    X_train, X_test = (_safe_indexing(samples.X, indices) for indices in (train, test))  # copies
    y_train, y_test = samples.y[train], samples.y[test]
    if samples.scale != "none":
        X_train, X_test = scale_parts(X_train, X_test, samples.scale)
    seed = derive_seed(samples.rule.seed, SEED_NAME, split, label)
    begin = time.perf_counter()
    fields: dict[str, Any] = {}
    try:
        fitted = _prepare_estimator(estimator, seed)
        start = time.perf_counter()
        fitted.fit(X_train, y_train)
        fit_time = float(getattr(fitted, "seconds_", time.perf_counter() - start))
        for part, (X, y) in (("train", (X_train, y_train)), ("test", (X_test, y_test))):
            predicted = np.asarray(fitted.predict(X))
            if predicted.shape != y.shape or not np.isin(predicted, np.arange(samples.n_classes)).all():
                raise ValueError("predict returned a value that is not a class of the training samples")
            fields[f"{part}_errors"] = int(np.count_nonzero(predicted != y))
            fields[f"{part}_confusion"] = count_confusion(y, predicted.astype(np.int64), samples.n_classes)
        if isinstance(fitted, Learner) and not fitted.multiclass and len(np.unique(y_train)) == 2:
            signs = np.where(y_train == 1, 1.0, -1.0)
            fields["train_errors"] = int(find_strict_errors(fitted.decision_function(X_train), signs).sum())
        fields |= _collect_responses(fitted, samples.n_classes, X_test, y_test)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return FailedRecord(split, reason[:MAX_REASON_LENGTH])
    wall_time = time.perf_counter() - begin
    unseen = int(np.count_nonzero(~np.isin(y_test, y_train)))
    return FitRecord(split=split, fit_time=fit_time, wall_time=wall_time, n_unseen=unseen, **fields)


def _collect_responses(fitted: Any, n_classes: int, X: Any, y: np.ndarray) -> dict[str, Any]:
    """Return scores and probabilities of test samples by true class, as far as the estimator provides them."""
    fields: dict[str, Any] = {}
    scores = None
    if hasattr(fitted, "predict_proba"):
        probabilities = np.zeros((len(y), n_classes))
        probabilities[:, np.asarray(fitted.classes_, dtype=np.int64)] = fitted.predict_proba(X)
        scores = probabilities[:, 1]
        if np.isfinite(probabilities).all():
            fields["test_probabilities"] = [probabilities[y == k].tolist() for k in range(n_classes)]
    if n_classes == 2 and hasattr(fitted, "decision_function"):
        scores = np.asarray(fitted.decision_function(X))
    if n_classes == 2 and scores is not None and scores.shape == y.shape and np.isfinite(scores).all():
        fields["test_scores"] = tuple(scores[y == k].tolist() for k in (0, 1))
    return fields


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

    Every learner is fitted on the training samples of each split, and its errors are counted on the test
    samples. Seeds depend only on `random_state`, the split and the learner's label: results do not depend on
    `n_jobs` or on the other learners.

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
        Test samples: a fraction of all samples, or a count.
    metric : str or sequence of str, default="test_error"
        Metric of the table: one of zoloss's own, or a scikit-learn scorer. If there are several, the DataFrame
        contains all of them.
    scale : {'standard', 'minmax', 'none'}, default='standard'
        Feature scaling, fitted on the training samples of each split.
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
        If samples and labels are inconsistent.
    RunError
        If every fit failed. If only some failed, a warning is issued, and the results contain the others.

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
    metrics = [load_metric(name).name for name in list_names(metric)]
    if not metrics:
        raise ConfigError("metric: name at least one, such as 'test_error'")
    samples = _check_samples(X, y, _build_rule(n_splits, test_size, random_state), scale)
    cells, failures = _fit_all(samples, _collect_estimators(learners), n_splits, n_jobs)
    title = f"Means of {metrics[0]}"
    run = build_run(cells, metrics, "evaluation", title, "evaluate(...)", n_splits=n_splits)
    for place, reason in run.missing.items():
        warnings.warn(f"{place[1]} has no {metrics[0]}: {reason}", stacklevel=2)
    if not run.cells:
        raise ConfigError(f"metric: no learner has '{metrics[0]}': {next(iter(run.missing.values()))}")
    if failures:
        warnings.warn(describe_failures(failures, "fits"), stacklevel=2)
    return EvaluationResult(run, metrics, tuple(failures))


def _build_rule(n_splits: int, test_size: float | int, random_state: int) -> SplitRule:
    for name, value, least in (("n_splits", n_splits, 1), ("random_state", random_state, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ConfigError(f"{name} must be a number of at least {least} (got {value!r})")
    is_count = isinstance(test_size, int | np.integer) and not isinstance(test_size, bool)
    if is_count and test_size >= 1:
        # The others train; their number is not known yet.
        return SplitRule(-1, int(test_size), int(random_state))
    if isinstance(test_size, float) and 0.0 < test_size < 1.0:
        return SplitRule(1.0 - test_size, None, int(random_state))
    raise ConfigError(
        "test_size must be a share between 0 and 1 (both excluded) or a count of at least 1 "
        f"(got {test_size!r})"
    )


def _check_samples(X: Any, y: Any, rule: SplitRule, scale: str) -> SplitSamples:
    if scale not in SCALINGS:
        raise ConfigError(f"scale: unknown scaling '{scale}'{suggest_nearest(scale, SCALINGS)}")
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
        raise DataError("y has missing labels; drop these samples")
    try:
        classes, indices = np.unique(labels, return_inverse=True)
    except TypeError:
        text = "y has labels of several types, which cannot be sorted; convert them all to strings"
        raise DataError(text) from None
    if len(classes) < 2:
        raise DataError("y has only one class, so there is nothing to learn")
    if rule.train == -1:
        assert rule.test is not None
        rule = SplitRule(max(0, len(labels) - rule.test), rule.test, rule.seed)
    rule.compute_sizes(len(labels), "X")
    return SplitSamples(X, indices.astype(np.int64), len(classes), rule, scale)


def _fit_all(
    samples: SplitSamples, estimators: Mapping[str, Any], n_splits: int, n_jobs: int
) -> tuple[list[tuple[tuple[str, str], CellResult]], list[str]]:
    """Return the cells of learners that were fitted, and a sentence for each fit that failed."""
    from sklearn.utils.parallel import Parallel, delayed

    sizes = Sizes(*samples.rule.compute_sizes(len(samples.y), "X"))
    records = Parallel(n_jobs=n_jobs)(
        delayed(_fit_split)(samples, label, estimator, split)
        for split in range(n_splits)
        for label, estimator in estimators.items()
    )
    cells, failures = [], []
    for place, label in enumerate(estimators):
        own = records[place :: len(estimators)]
        fits = [record for record in own if isinstance(record, FitRecord)]
        failures += [f"{label}, split {r.split}: {r.failed}" for r in own if isinstance(r, FailedRecord)]
        if fits:
            cells.append(((DATASET, label), CellResult(fits, [record.split for record in fits], sizes)))
    if not cells:
        raise RunError(f"every fit failed; the first: {failures[0]}")
    return cells, failures


@dataclass(frozen=True)
class EvaluationRequest:
    """A comparison of learners on a table, as described by the options of `zoloss evaluate`."""

    data: Path
    learners: list[str]
    splits: int
    train: str = str(Split().train)  # training samples: a fraction of all, or a count
    label: str | None = None
    positive: str | None = None
    scale: str = DEFAULT_SCALING
    missing: str = "error"
    seed: int = Split().seed
    assignments: list[str] = field(default_factory=list)  # parameters of learners as LEARNER.KEY=VALUE
    selection: ColumnSelection = ALL_COLUMNS
    allow_code: bool = False

    @property
    def name(self) -> str:
        """The run's name in a results folder; a table's own name could clash with another run there."""
        return clean_file_name(f"evaluate-{self.data.stem}")

    def build_content(self, folder: Path) -> dict:
        """Return the keys of the config for a file in `folder`; defaults only if they are informative."""
        if not self.learners:
            raise ConfigError("--learners: name at least one learner, such as rcd-bias")
        settings = parse_settings(self.learners, self.assignments)
        for entry in settings.values():
            if is_code_name(str(entry.get("learner"))):
                entry["learner"] = _relate_code(entry["learner"], folder)
        path = os.path.relpath(self.data.resolve(), folder.resolve())
        return {
            "name": self.name,
            "title": f"Test errors (%) on {show_controls(self.data.name)}",
            "datasets": {self.data.stem: self._build_data_entry(path)},
            "split": {"train": _parse_train(self.train), "repeats": self.splits, "seed": self.seed},
            "preprocess": {"scale": self.scale},
            "learners": settings if any(settings.values()) else list(settings),
        }

    def _build_data_entry(self, path: str) -> dict:
        """Return the table as a data set entry of a config."""
        missing = None if self.missing == "error" else self.missing
        entry = {"csv": path, "label": self.label, "positive": self.positive, **self.selection.to_keys()}
        return {key: value for key, value in (entry | {"missing": missing}).items() if value is not None}

    def choose_learners(self) -> tuple[EvaluationRequest, list[str]]:
        """Return a comparison of learners that suit the table and whose packages are installed, with notes."""
        mistakes = OptionErrorCollector()
        spec = build_data_spec(self.data.stem, self._build_data_entry(str(self.data)), Path(), mistakes)
        mistakes.raise_errors()
        data = load_data(spec)
        count = len(data.classes)
        learners, settings = list_usual_learners(data.X.shape[0], data.X.shape[1], count)
        note = f"{self.data} has {count} classes, so these learners are compared: {', '.join(learners)}"
        exact = count <= MAX_EXACT_CLASSES or any("partition" in text for text in self.assignments)
        if not exact:
            settings.append("ecc:stump.partition=greedy")
        # What the user sets takes precedence over the usual settings.
        given = {text.partition("=")[0].rpartition(".")[2].strip() for text in self.assignments}
        kept = [text for text in settings if text.partition("=")[0].rpartition(".")[2] not in given]
        chosen = replace(self, learners=learners, assignments=[*self.assignments, *kept])
        adapted, notes = adapt_to_packages(chosen)
        return adapted, [*([note] if count > 2 else []), *notes]

    def to_experiment(self) -> Experiment:
        """Return the validated experiment; the table keeps its path, since messages name it."""
        content = self.build_content(Path())
        content["datasets"][self.data.stem] = self._build_data_entry(str(self.data))
        return build_experiment(content, self.name, Path(), OptionErrorCollector())

    def to_command(self) -> list[str]:
        """Return the arguments of an equivalent command line."""
        options: dict[str, Any] = {"learners": ",".join(self.learners), "splits": self.splits}
        default = EvaluationRequest(self.data, self.learners, self.splits)
        for key in ("train", "label", "positive", "scale", "missing", "seed"):
            if getattr(self, key) != getattr(default, key):
                options[key] = getattr(self, key)
        options |= {**self.selection.to_keys(), "set": self.assignments}
        words = ["evaluate", str(self.data), *list_options(options)]
        return [*words, "--allow-code"] if self.allow_code else words

    @property
    def command_line(self) -> str:
        """The command line as text."""
        return shlex.join(["zoloss", *self.to_command()])

    def prepare(self, out: Path, save_config: Path | None, force: bool) -> Experiment:
        """Return the experiment, checked against its data and the results folder, and write its config.

        If the table cannot be used, nothing is written.
        """
        experiment, inputs, target, text, is_written = self.to_experiment(), [self.data], None, "", False
        if save_config is not None:
            content = self.build_content(save_config.parent)
            flow: dict[str, Any] = {"default_flow_style": None, "width": YAML_WIDTH}
            text = f"# {' '.join(self.command_line.splitlines())}\n"
            text += yaml.safe_dump(content, sort_keys=False, allow_unicode=True, **flow)
            for name in parse_labels(self.learners).values():
                if is_code_name(name) and _relate_code(name, save_config.parent).startswith("../"):
                    raise ConfigError(
                        f"--save-config {save_config}: '{name}' is not in its folder, where `run` looks for it"
                    )
            with contextlib.suppress(OSError, ValueError):
                # An interrupted command can be repeated unchanged.
                is_written = save_config.read_text(encoding="utf-8") == text
            if not is_written:
                target = save_config
                check_target(target, force, inputs)
        _check_own_run(out, experiment)
        validate_data(plan(experiment), positive="--positive CLASS")
        if target is not None:
            write(target, text, force, inputs)
        return experiment


def load_evaluation(results: Path, name: str) -> EvaluationResult:
    """Return the stored result of `zoloss evaluate`."""
    runs, _ = load_runs(results, name)
    (run,) = select_runs(runs, name)
    return EvaluationResult(run, run.metrics)


def _relate_code(name: str, folder: Path) -> str:
    """Return the name of a class in a file, relative to a config in another folder."""
    path, _, attribute = name.rpartition(":")
    return f"{Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()}:{attribute}"


def _parse_train(text: str) -> int | float:
    """Parse a fraction or a count, as in a config, but not 'all', which would leave no test samples."""
    try:
        part: int | float = int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        part = -1
    if not (0.0 < part < 1.0 or (isinstance(part, int) and part >= 2)):
        raise ConfigError(
            f"--train: must be a share between 0 and 1 (both excluded) or a count of at least 2 (got {text})"
        )
    return part


def _check_own_run(results: Path, experiment: Experiment) -> None:
    """Refuse to replace the run of another table with the same file name."""
    (wanted,) = (Path(data.csv).resolve() for data in experiment.datasets if isinstance(data, CsvData))
    for manifest in Store(results).read_manifests():
        stored = manifest.experiment
        paths = [Path(data.csv) for data in stored.datasets if isinstance(data, CsvData)]
        if stored.name == experiment.name and [path.resolve() for path in paths] != [wanted]:
            other = ", ".join(map(str, paths)) or "other data"
            raise ResultsError(
                f"{results} holds a run '{experiment.name}' of {other}; choose another folder with --out, or "
                "another name for the file"
            )


def adapt_to_packages(request: EvaluationRequest) -> tuple[EvaluationRequest, list[str]]:
    """Return a comparison without the learners whose packages are missing, and a note about the changes.

    Learners that need a package only for their initialization start from Fisher's linear discriminant instead.
    """
    left_out: list[str] = []
    restarted: list[str] = []
    packages: dict[str, None] = {}
    for spec in request.to_experiment().learners:
        needs = find_missing_needs(spec)
        if needs:
            packages |= dict.fromkeys(find_install_name(need.module) for _, need in needs)
            only_start = all(inner == spec and need.instead for inner, need in needs)
            (restarted if only_start else left_out).append(spec.label)
    if not packages:
        return request, []
    adapted = replace(
        request,
        learners=[name for name in request.learners if name not in left_out],
        assignments=[*request.assignments, *(f"{name}.seeding=fld" for name in restarted)],
    )
    changes = []
    if left_out:
        changes.append(f"{join_words(left_out)} {'is' if len(left_out) == 1 else 'are'} left out")
    if restarted:
        changes.append(
            f"{join_words(restarted)} start{'s' * (len(restarted) == 1)} from Fisher's linear discriminant"
        )
    missing = f"{join_words(list(packages))} {'is' if len(packages) == 1 else 'are'} not installed"
    return adapted, [f"{missing}, so {', and '.join(changes)}: pip install {' '.join(packages)}"]
