"""Check that the learners of a config can give the metrics that its table shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zoloss_cli.config.messages import shorten
from zoloss_cli.config.models import ALL, Experiment
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registry import (
    LEARNERS,
    MEASURES,
    METRIC_ALIASES,
    METRICS,
    LearnerRegistration,
    find_registration,
    is_unchecked,
    list_metrics,
    load_metric,
)

if TYPE_CHECKING:
    from zoloss_cli.config.messages import ErrorCollector

Metric = Any  # zoloss_cli.metrics.base.Metric, which is right of this package
KEYS = ("metric", "also")
# What every record of a fitted learner holds, and of test samples where there are any.
ALWAYS_RECORDED = {"train_errors", "train_confusion", "fit_time", "test_errors", "test_confusion"}


def parse_metric(key: str, value: object, errors: ErrorCollector) -> str | None:
    """Return the name of a metric as the registry has it, or None and why there is none."""
    known = list_metrics()
    name = METRIC_ALIASES.get(value, value) if isinstance(value, str) else value
    if not isinstance(name, str) or name not in known:
        errors.add((key,), f"unknown metric {shorten(value)}{suggest_nearest(value, known)}")
        return None
    try:
        METRICS.find(name)  # warns of a plug-in that takes the name of one of ours
        load_metric(name)
    except ConfigError as broken:  # another package's metric
        errors.add((key,), str(broken))
        return None
    return name


def check_metrics(experiment: Experiment, errors: ErrorCollector) -> None:
    """Refuse metrics that no record of this experiment could give, naming learner and metric."""
    measuring = any(spec.learner in MEASURES for spec in experiment.learners)
    for key, name in zip(KEYS, experiment.metrics, strict=False):
        metric = load_metric(name)
        if metric.source != "any" and (metric.source == "measure") != measuring:
            what, source = ("measures", "measure") if measuring else ("learners", "fit")
            known = [n for n in METRICS.list_usable() if load_metric(n).source in ("any", source)]
            errors.add((key,), f"the metric '{name}' is not for {what}; there are {', '.join(known)}")
            continue
        _check_test_part(experiment, key, metric, errors)
        _check_scores(experiment, key, metric, errors)
        _check_fields(experiment, key, metric, measuring, errors)
    _check_ratios(experiment, errors)


def _check_test_part(experiment: Experiment, key: str, metric: Metric, errors: ErrorCollector) -> None:
    """Refuse metrics of test samples where all samples train."""
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


def _check_scores(experiment: Experiment, key: str, metric: Metric, errors: ErrorCollector) -> None:
    if "test_scores" in metric.requires and experiment.keep != "scores":
        errors.add((key,), f"the metric '{metric.name}' needs scores, which are not stored: add 'keep: scores'")


def _check_fields(
    experiment: Experiment, key: str, metric: Metric, measuring: bool, errors: ErrorCollector
) -> None:
    """Refuse a learner whose records lack what the metric needs; for a second metric one learner will do."""
    config_gives = {"flipped"} if any(data.flip for data in experiment.datasets) else set()
    section, lacking = "measures" if measuring else "learners", {}
    for spec in experiment.learners:
        if is_unchecked(spec.learner):
            continue  # a class that was not run cannot say what it gives
        given = config_gives | find_reported(find_registration(spec.source), measuring)
        if missing := [name for name in metric.requires if name not in given]:
            lacking[spec.label] = (spec.learner, missing[0])
    if key == "also" and len(lacking) < len({spec.label for spec in experiment.learners}):
        return
    for label, (learner, field) in lacking.items():
        if field == "flipped":
            errors.add((key,), f"the metric '{metric.name}' needs wrong labels: add flip to a data set")
            return
        able = _list_able(metric, measuring)
        errors.add(
            (section, label),
            f"'{learner}' reports no {field}, which the metric '{metric.name}' needs; those that do: {able}",
        )


def find_reported(registered: LearnerRegistration, measuring: bool) -> set[str]:
    """Return the fields of records that a learner or measure gives; scores where the config asks for them."""
    fields = set(registered.reports)
    if measuring:
        return fields | {"fit_time"}
    return fields | ALWAYS_RECORDED | ({"test_scores"} if registered.gives_scores else set())


def _list_able(metric: Metric, measuring: bool) -> str:
    registered: Mapping = (MEASURES if measuring else LEARNERS).list_usable()
    needed = set(metric.requires) - {"flipped"}
    able = [name for name, entry in registered.items() if needed <= find_reported(entry, measuring)]
    return ", ".join(able) or "none"


def _check_ratios(experiment: Experiment, errors: ErrorCollector) -> None:
    """Refuse ratios without a metric of ratios, the other way round, and columns that are not there."""
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
