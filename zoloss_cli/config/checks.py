"""Check that the learners of a config can provide the metrics that its table shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zoloss_cli.config.messages import shorten
from zoloss_cli.config.models import ALL, Experiment, LearnerSpec
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registry import (
    LEARNERS,
    MEASURES,
    METRIC_ALIASES,
    METRICS,
    LearnerRegistration,
    explain_unknown_metric,
    find_registration,
    is_unchecked,
    list_metrics,
    load_metric,
    make_learner,
)

if TYPE_CHECKING:
    from zoloss_cli.config.messages import ErrorCollector

Metric = Any  # zoloss_cli.metrics.base.Metric, which this package must not import
# What every record of a fitted learner holds, including test samples if there are any.
ALWAYS_RECORDED = {"train_errors", "train_confusion", "fit_time", "test_errors", "test_confusion"}
# Record fields that hold a learner's outputs for test samples, and the methods that provide them.
RESPONSES = {
    "test_scores": ("decision_function", "predict_proba"),
    "test_probabilities": ("predict_proba",),
}
KEEPS = {"test_scores": ("scores", "probabilities"), "test_probabilities": ("probabilities",)}


def parse_metrics(content: Mapping, errors: ErrorCollector) -> dict[str, Any]:
    """Return the keys `metric` and `also` of an experiment: one metric, and any others next to it."""
    if content.get("metrics") is None:
        values: dict[str, Any] = {}
        for key in ("metric", "also"):
            if (given := content.get(key)) is not None:
                parse = _parse_list if key == "also" and isinstance(given, list) else parse_metric
                values[key] = parse(key, given, errors)
        return values
    if others := [key for key in ("metric", "also") if content.get(key) is not None]:
        errors.add(("metrics",), f"stands for metric and also: leave out {' and '.join(others)}")
    first, *more = _parse_list("metrics", content["metrics"], errors) or (None,)
    return {"metric": first, "also": more[0] if len(more) == 1 else tuple(more) or None}


def _parse_list(key: str, names: object, errors: ErrorCollector) -> tuple[str | None, ...]:
    if not isinstance(names, list) or not names:
        errors.add((key,), f"must be a list of metrics (got {shorten(names)})")
        return ()
    parsed = tuple(parse_metric(key, name, errors) for name in names)
    for name, count in Counter(parsed).items():
        if name is not None and count > 1:
            errors.add((key,), f"'{name}' is listed more than once")
    return parsed


def parse_metric(key: str, value: object, errors: ErrorCollector) -> str | None:
    """Return the name of a metric as registered; None if there is none, after adding the reason."""
    name = METRIC_ALIASES.get(value, value) if isinstance(value, str) else value
    if not isinstance(name, str):
        errors.add((key,), f"unknown metric {shorten(value)}{suggest_nearest(value, list_metrics())}")
        return None
    if name not in list_metrics():
        errors.add((key,), explain_unknown_metric(name))
        return None
    try:
        if name in METRICS:
            METRICS.find(name)  # warns about a plug-in with the name of one of ours
        load_metric(name)
    except ConfigError as broken:  # another package's metric
        errors.add((key,), str(broken))
        return None
    return name


def check_metrics(experiment: Experiment, content: Mapping, errors: ErrorCollector) -> None:
    """Refuse metrics that no record of this experiment could provide, naming learner and metric.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    content : mapping
        The keys of its config, one of which names each metric.
    errors : ErrorCollector
        Collects what is wrong.
    """
    measuring = any(spec.learner in MEASURES for spec in experiment.learners)
    for i, name in enumerate(experiment.metrics):
        metric, key = load_metric(name), "metrics" if "metrics" in content else "also" if i else "metric"
        if metric.source != "any" and (metric.source == "measure") != measuring:
            what, source = ("measures", "measure") if measuring else ("learners", "fit")
            known = [n for n in METRICS.list_usable() if load_metric(n).source in ("any", source)]
            errors.add((key,), f"the metric '{name}' is not for {what}; there are {', '.join(known)}")
            continue
        _check_test_part(experiment, key, metric, errors)
        if _check_kept(experiment, key, metric, errors):
            _check_fields(experiment, key, metric, i == 0, errors)
    _check_ratios(experiment, errors)


def _check_test_part(experiment: Experiment, key: str, metric: Metric, errors: ErrorCollector) -> None:
    """Refuse metrics of test samples if all samples train."""
    if metric.part != "test":
        return
    for data in experiment.datasets:
        if (data.train or experiment.split.train) == ALL:
            keys = ("datasets", data.name, "train") if data.train else ("split", "train")
            others = [n for n in METRICS.list_usable() if load_metric(n).part == "train"]
            errors.add(
                keys,
                f"all samples train, so there is no {metric.name}; set {key}: to another metric, such as "
                f"{', '.join(others)}",
            )


def _check_kept(experiment: Experiment, key: str, metric: Metric, errors: ErrorCollector) -> bool:
    """Refuse a metric of scores or probabilities if the config does not store them."""
    for field in metric.requires:
        if field in KEEPS and experiment.keep not in KEEPS[field]:
            what = KEEPS[field][0]
            problem = f"the metric '{metric.name}' needs {what}, which are not stored: add 'keep: {what}'"
            errors.add((key,), problem)
            return False
    return True


def _check_fields(
    experiment: Experiment, key: str, metric: Metric, is_first: bool, errors: ErrorCollector
) -> None:
    """Refuse a learner whose records lack what the metric needs.

    For a metric that is not the first, or one of scores or probabilities, one learner suffices.
    """
    lacking = _find_lacking(experiment, metric)
    is_optional = not is_first or not RESPONSES.keys().isdisjoint(metric.requires)
    if is_optional and len(lacking) < len({spec.label for spec in experiment.learners}):
        return
    measuring = any(spec.learner in MEASURES for spec in experiment.learners)
    for label, (learner, field) in lacking.items():
        if field == "flipped":
            errors.add((key,), f"the metric '{metric.name}' needs wrong labels: add flip to a data set")
            return
        problem = (
            f"'{learner}' has no {' or '.join(RESPONSES[field])}, which the metric '{metric.name}' needs"
            if field in RESPONSES
            else f"'{learner}' reports no {field}, which the metric '{metric.name}' needs; those that do: "
            f"{_list_able(metric, measuring)}"
        )
        errors.add(("measures" if measuring else "learners", label), problem)


def _find_lacking(experiment: Experiment, metric: Metric) -> dict[str, tuple[str, str]]:
    """Return the columns that cannot provide a metric, each with its learner and the field that it lacks."""
    config_gives = {"flipped"} if any(data.flip for data in experiment.datasets) else set()
    lacking = {}
    for spec in experiment.learners:
        if is_unchecked(spec.learner):
            continue  # a class that was not loaded cannot say what it provides
        given = config_gives | find_reported(find_registration(spec.source), spec.learner in MEASURES)
        given |= find_kept_fields(experiment.keep, spec)
        if missing := [name for name in metric.requires if name not in given]:
            lacking[spec.label] = (spec.learner, missing[0])
    return lacking


def describe_lacking(experiment: Experiment) -> list[str]:
    """Return which columns stay empty for a metric because their learners have no scores or probabilities."""
    lacking: dict[tuple[str, str, str], list[str]] = {}
    for metric in map(load_metric, experiment.metrics):
        for label, (learner, field) in _find_lacking(experiment, metric).items():
            if field in RESPONSES:
                lacking.setdefault((label, learner, field), []).append(metric.name)
    return [
        f"learners.{label}: '{learner}' has no {' or '.join(RESPONSES[field])}, so its column has no "
        f"{', '.join(names)}; the others have theirs"
        for (label, learner, field), names in lacking.items()
    ]


def find_kept(metric: Metric) -> tuple[str, ...]:
    """Return the values of `keep` with which records hold what a metric needs; empty if all records do."""
    return next((KEEPS[field] for field in metric.requires if field in KEEPS), ())


def find_kept_fields(keep: str | None, spec: LearnerSpec) -> set[str]:
    """Return what records hold about a learner's test samples besides counts, if a config sets `keep`."""
    if keep is None or spec.learner in MEASURES:
        return set()
    fields = {field for field in RESPONSES if keep in KEEPS[field]}
    if is_unchecked(spec.learner):
        return fields  # nothing is run to find out: without running, nothing is stored
    learner = make_learner(spec.source, spec.parameters)
    return {field for field in fields if any(hasattr(learner, method) for method in RESPONSES[field])}


def find_reported(registered: LearnerRegistration, measuring: bool) -> set[str]:
    """Return the record fields that a learner or measure provides, whatever its parameters are."""
    return set(registered.reports) | ({"fit_time"} if measuring else ALWAYS_RECORDED)


def _list_able(metric: Metric, measuring: bool) -> str:
    registered: Mapping = (MEASURES if measuring else LEARNERS).list_usable()
    needed = set(metric.requires) - {"flipped"}
    able = [name for name, entry in registered.items() if needed <= find_reported(entry, measuring)]
    return ", ".join(able) or "none"


def _check_ratios(experiment: Experiment, errors: ErrorCollector) -> None:
    """Refuse ratios without a ratio metric, and vice versa, and unknown columns."""
    metric = load_metric(experiment.metric)
    if bool(metric.ratio_of) != (experiment.ratios is not None):
        keys = ("ratios",) if experiment.ratios else ("metric",)
        errors.add(keys, "'metric: cost_ratio' and the section ratios, which names its columns, go together")
    labels = list(dict.fromkeys(spec.label for spec in experiment.learners))
    for name, ratio in (experiment.ratios or {}).items():
        for side, label in ratio:
            if label not in labels:
                problem = f"unknown column '{label}'{suggest_nearest(label, labels)}"
                errors.add(("ratios", name, side), problem)
