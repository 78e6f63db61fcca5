"""Read configs, and validate their data sets, metrics and clusters.

A cluster class submits jobs and starts programs, so only classes of known packages are accepted, with settings
that cannot contain a command; anything else is arbitrary code and must be allowed explicitly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from zoloss_cli.config.catalog import (
    find_embedded_entry,
    find_generator,
    find_plugin_file,
    has_generator,
    list_dataset_names,
    load_catalog,
)
from zoloss_cli.config.learners import ColumnBuilder
from zoloss_cli.config.messages import ErrorCollector, Keys, check_duplicate_keys, read_yaml, shorten
from zoloss_cli.config.models import (
    ALL,
    PREDEFINED,
    ClusterSettings,
    CsvData,
    DataSpec,
    EmbeddedData,
    Experiment,
    GeneratedData,
    Improvement,
    LearnerSpec,
    Preprocess,
    Published,
    Ratio,
    Split,
    Tuning,
)
from zoloss_cli.errors import ConfigError, DataError, suggest_nearest
from zoloss_cli.registry import (
    DATASET_PLUGINS,
    GENERATORS,
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
from zoloss_cli.utils.files import find_shipped_config, list_shipped_configs
from zoloss_cli.utils.imports import find_code_policy, is_dotted_name
from zoloss_cli.utils.text import check_file_name, is_utf8

TEXTS = ("name", "title", "citation", "baseline")
SECTIONS = {
    "split": Split,
    "preprocess": Preprocess,
    "tuning": Tuning,
    "improvement": Improvement,
    "published": Published,
}
KEPT = ("scores", "probabilities")
TOP_LEVEL = (
    *(*TEXTS, *SECTIONS, "metric", "also", "metrics", "keep", "ratios"),
    *("datasets", "learners", "measures", "run"),
)
Metric = Any  # zoloss_cli.metrics.base.Metric, which this package must not import
# Fields of every record of a fitted learner; those of test samples only if there are any.
ALWAYS_RECORDED = {"train_errors", "train_confusion", "fit_time", "test_errors", "test_confusion"}
# Record fields that hold a learner's outputs for test samples, and the methods that provide them.
RESPONSES = {
    "test_scores": ("decision_function", "predict_proba"),
    "test_probabilities": ("predict_proba",),
}
KEEPS = {"test_scores": ("scores", "probabilities"), "test_probabilities": ("probabilities",)}
CLUSTER_PACKAGES = ("distributed", "dask_jobqueue", "dask_kubernetes", "dask_cloudprovider")
CLUSTER_EXAMPLES = (
    "distributed.LocalCluster",
    "distributed.SSHCluster",
    "dask_jobqueue.SLURMCluster",
    "dask_jobqueue.PBSCluster",
    "dask_jobqueue.SGECluster",
    "dask_jobqueue.LSFCluster",
    "dask_kubernetes.operator.KubeCluster",
)
# Settings of resources and locations, which cannot start a program.
SAFE_SETTINGS = frozenset(
    {
        *("account", "cores", "cpus", "death_timeout", "hosts", "interface", "job_cpu", "job_mem"),
        *("job_extra_directives", "local_directory", "log_directory", "memory", "memory_limit", "n_workers"),
        *("name", "namespace", "nanny", "ncpus", "nthreads", "ntasks", "processes", "project", "protocol"),
        *("queue", "region", "resource_spec", "shared_temp_directory", "threads_per_worker", "walltime"),
        "zone",
    }
)
DIRECTIVES = "job_extra_directives"  # lines of a job script that begin with the queue system's prefix
SAFE_TEXT = re.compile(r"(?!-)[A-Za-z0-9_.,:/=@%+~-]*")  # no blanks, quotes or shell metacharacters
SAFE_DIRECTIVE = re.compile(r"[A-Za-z0-9_.,:/=@%+~ -]*")


def build_data_spec(name: str, entry: dict, folder: Path, errors: ErrorCollector) -> DataSpec | None:
    """Return the data set that an entry of the section `datasets` describes, or None after adding errors.

    The entry is modified; paths of files are relative to `folder`.
    """
    keys = ("datasets", name)
    _convert_class_to_text(entry, "positive")
    if isinstance(entry.get("noise"), dict):
        entry["noise"] = dict(entry["noise"])
        _convert_class_to_text(entry["noise"], "label")
    try:
        if "csv" in entry:
            if isinstance(entry["csv"], str):
                entry["csv"] = str(folder / entry["csv"])
            return errors.validate(CsvData, {"name": name, **entry}, keys)
        source = entry.get("generator", entry.get("dataset", name))
        if not isinstance(source, str):
            errors.add(keys, f"'generator' or 'dataset' must be a name (got {shorten(source)})")
            return None
        if "generator" in entry or (has_generator(source) and "dataset" not in entry):
            return _build_generated(name, source, entry, keys, errors)
        return _build_embedded(name, source, entry, keys, errors)
    except (ConfigError, DataError) as error:  # another package's data set, or an entry of the catalog
        errors.add(keys, str(error))
        return None


def _convert_class_to_text(entry: dict, key: str) -> None:
    """Convert a class label to text if YAML read it as a number."""
    if isinstance(entry.get(key), int | float):
        entry[key] = str(entry[key])


def _build_embedded(
    name: str, source: str, entry: dict, keys: Keys, errors: ErrorCollector
) -> EmbeddedData | None:
    if source not in list_dataset_names() or has_generator(source):
        errors.add(keys, f"unknown data set '{source}'{errors.suggest(source, list_dataset_names())}")
        return None
    if source in DATASET_PLUGINS:
        find_plugin_file(DATASET_PLUGINS[source])  # a missing file is an error of the config
    else:
        find_embedded_entry(source)
    return errors.validate(EmbeddedData, {"name": name, "dataset": source, **entry}, keys)


def _build_generated(
    name: str, source: str, entry: dict, keys: Keys, errors: ErrorCollector
) -> GeneratedData | None:
    if not has_generator(source):
        known = [*GENERATORS, *DATASET_PLUGINS]
        errors.add((*keys, "generator"), f"unknown generator '{source}'{errors.suggest(source, known)}")
        return None
    model = find_generator(source).parameter_model
    own = set(model.model_fields) - {"size"}
    settings: dict[str, Any] = {k: v for k, v in entry.items() if k in own}
    common = {k: v for k, v in entry.items() if k not in own}
    common.setdefault("size", model.model_fields["size"].default)
    try:
        filled = model.model_validate(settings).model_dump(exclude={"size"})
    except ValidationError as error:
        errors.add_validation_error(keys, error, model)
        return None
    valid = {k for k in GeneratedData.model_fields if k != "settings"} | own
    for key in [k for k in common if k not in valid]:
        errors.add((*keys, key), f"unknown key '{key}'{errors.suggest(key, valid)}")
        del common[key]
    common.update(name=name, generator=source, settings=tuple(sorted(filled.items())))
    return errors.validate(GeneratedData, common, keys)


def find_config(path: Path) -> Path:
    """Return the path itself, or that of the shipped config with this name."""
    try:
        ours = find_shipped_config(path)
        if path.is_file() or (path.exists() and ours is None):
            return path
        if ours is not None:
            return ours
        beside = sorted(p.name for p in path.parent.glob("[!.]*.yaml")) if path.parent.is_dir() else []
    except (OSError, ValueError) as error:  # a path that is too long, or in an unreadable folder
        problem = getattr(error, "strerror", None) or error
        raise ConfigError(f"{shorten(str(path))} cannot be read: {problem}") from None
    short = path.as_posix().removeprefix("configs/").removesuffix(".yaml")
    nearest = suggest_nearest(path.name, beside) or suggest_nearest(short, list_shipped_configs())
    raise ConfigError(f"there is no config {path}{nearest}")


def load_config(path: Path) -> Experiment:
    """Read and validate a config; a ConfigError has one line per error."""
    path = find_config(path)
    content, root = read_yaml(path)
    errors = ErrorCollector(path, root)
    check_duplicate_keys(root, errors)
    return build_experiment(content, path.stem, path.parent, errors)


def build_experiment(content: dict, name: str, folder: Path, errors: ErrorCollector) -> Experiment:
    """Return the experiment that a config's keys describe; all errors are raised as one ConfigError.

    `name` is the experiment's name if the keys have none, and paths of files are relative to `folder`.
    """
    for key in content:
        if key not in TOP_LEVEL:
            errors.add((key,), f"unknown key '{key}'{errors.suggest(key, TOP_LEVEL)}")
    values = _parse_texts(content, name, errors)
    values |= parse_metrics(content, errors)
    if (keep := content.get("keep")) is not None:
        values["keep"] = keep
        if keep not in KEPT:
            errors.add(("keep",), f"{shorten(keep)} cannot be kept; valid: {', '.join(KEPT)}")
    values |= _parse_sections(content, errors)
    values["datasets"] = tuple(
        spec
        for name, entry in _list_entries(content, "datasets", errors)
        if (spec := build_data_spec(name, entry, folder, errors)) is not None
    )
    seeding = getattr(values.get("preprocess"), "seeding", None)
    values["learners"] = _parse_columns(content, [data.name for data in values["datasets"]], seeding, errors)
    if content.get("run") is not None:
        build_cluster_settings(content["run"], ("run",), errors)  # only checked: it does not affect results
    errors.raise_errors()
    experiment = Experiment(**{k: v for k, v in values.items() if v is not None})
    check_metrics(experiment, content, errors)
    _check_parts(experiment, errors)
    _check_labels(experiment, errors)
    errors.raise_errors()
    for text in _list_texts(experiment.model_dump()):
        if not is_utf8(text):  # YAML always is, but not the name of a file or an argument
            raise ConfigError(f"{text!r} is not UTF-8 text, as names and paths in results must be; rename it")
    return experiment


def _list_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a nested value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _list_texts(each)


def _parse_texts(content: dict, name: str, errors: ErrorCollector) -> dict[str, Any]:
    """Return the keys with text values; `name` is the experiment's name if the config has none."""
    values: dict[str, Any] = {"name": name}
    for key in TEXTS:
        if isinstance(content.get(key), list | dict | set | bytes):
            errors.add((key,), f"must be text (got {shorten(content[key])})")
        elif content.get(key) is not None:
            values[key] = str(content[key])
        elif key == "name" and key in content:
            values[key] = ""
    try:
        check_file_name(values["name"])
    except ValueError as error:
        origin = "" if "name" in content else "the name of the config, which has no key 'name', "
        errors.add(("name",) if "name" in content else (), f"{origin}{error}")
    return values


def _parse_sections(content: dict, errors: ErrorCollector) -> dict[str, Any]:
    """Return the sections that are one model each, and the ratios."""
    values: dict[str, Any] = {
        key: errors.validate(model, content[key], (key,))
        for key, model in SECTIONS.items()
        if content.get(key) is not None
    }
    if content.get("ratios") is not None:
        values["ratios"] = {
            label: errors.validate(Ratio, sides, ("ratios", label))
            for label, sides in _list_entries(content, "ratios", errors)
        }
    return values


def _parse_columns(
    content: dict, datasets: list[str], seeding: str | None, errors: ErrorCollector
) -> tuple[LearnerSpec, ...]:
    """Return the learners or measures, in the order of the table's columns."""
    section = "measures" if "measures" in content else "learners"
    if section == "measures" and "learners" in content:
        errors.add(("measures",), "a config has learners or measures, not both: split it into two configs")
    builder = ColumnBuilder(section, datasets, errors, seeding, content.get("tuning") is not None)
    entries = _list_entries(content, section, errors)
    return tuple(spec for label, entry in entries for spec in builder.build(label, entry))


def _check_parts(experiment: Experiment, errors: ErrorCollector) -> None:
    """Add an error for each data set without a training part of its own, or with folds of several draws."""
    for data in experiment.datasets:
        parts = experiment.split.choose_parts(data)
        place = ("datasets", data.name) if parts is data else ("split",)
        if parts.folds and data.n_draws > 1:
            problem = (
                f"data set '{data.name}' has {data.n_draws} draws, used in turn, but folds are of one data set"
            )
            errors.add((*place, "folds"), f"{problem}: choose one seed, and draws: 1")
        if parts.train != PREDEFINED:
            continue
        keys = (*place, "train")
        known = [name for name, entry in load_catalog().items() if entry.train_rows]
        if not isinstance(data, EmbeddedData) or data.dataset not in known:
            errors.add(
                keys,
                f"data set '{data.name}' has no training part of its own; those that do: {', '.join(known)}",
            )
        elif data.noise:
            errors.add(keys, f"data set '{data.name}': noise cannot be added to a predefined training part")


def _check_labels(experiment: Experiment, errors: ErrorCollector) -> None:
    """Add an error for each unknown column that the improvement or a ratio names."""
    labels = list(dict.fromkeys(spec.label for spec in experiment.learners))
    named = [(("improvement", side, each), each) for side, of in experiment.improvement or () for each in of]
    for name, ratio in (experiment.ratios or {}).items():
        named += [(("ratios", name, side), label) for side, label in ratio]
    for keys, label in named:
        if label not in labels:
            errors.add(keys, f"unknown column '{label}'{suggest_nearest(label, labels)}")


def _list_entries(content: dict, key: str, errors: ErrorCollector) -> list[tuple[str, dict]]:
    """Return (name, settings) of each entry of a section: names, or a mapping from names to settings."""
    section = content.get(key)
    if not section:
        errors.add((key,) if key in content else (), f"'{key}' must name at least one entry")
        return []
    if isinstance(section, list):
        if not all(isinstance(name, str) for name in section):
            errors.add((key,), "a list must hold names only; use a mapping to give settings")
            return []
        for name, count in Counter(section).items():
            if count > 1:
                errors.add((key, name), f"'{name}' is listed more than once")
        return [(name, {}) for name in dict.fromkeys(section)]
    if not isinstance(section, dict):
        errors.add((key,), f"must be a list of names or a mapping (got {shorten(section)})")
        return []
    entries = []
    for name, entry in section.items():
        if entry is not None and not isinstance(entry, dict):
            errors.add((key, name), f"settings must be a mapping of keys (got {shorten(entry)})")
            continue
        entries.append((str(name), dict(entry or {})))
    return entries


def parse_metrics(content: Mapping, errors: ErrorCollector) -> dict[str, Any]:
    """Return the keys `metric` and `also` of an experiment: the main metric and any additional ones."""
    if content.get("metrics") is None:
        values: dict[str, Any] = {}
        for key in ("metric", "also"):
            if (given := content.get(key)) is not None:
                parse = _parse_list if key == "also" and isinstance(given, list) else parse_metric
                values[key] = parse(key, given, errors)
        return values
    if others := [key for key in ("metric", "also") if content.get(key) is not None]:
        errors.add(("metrics",), f"replaces metric and also: leave out {' and '.join(others)}")
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
    """Return the registered name of a metric, or None after adding an error."""
    name = METRIC_ALIASES.get(value, value) if isinstance(value, str) else value
    if not isinstance(name, str):
        errors.add((key,), f"unknown metric {shorten(value)}{suggest_nearest(value, list_metrics())}")
        return None
    if name not in list_metrics():
        errors.add((key,), explain_unknown_metric(name))
        return None
    try:
        if name in METRICS:
            METRICS.find(name)  # warns about a plug-in that conflicts with a built-in name
        load_metric(name)
    except ConfigError as broken:  # another package's metric
        errors.add((key,), str(broken))
        return None
    return name


def check_metrics(experiment: Experiment, content: Mapping, errors: ErrorCollector) -> None:
    """Add an error for each metric that no record of this experiment could provide."""
    measuring = any(spec.learner in MEASURES for spec in experiment.learners)
    for i, name in enumerate(experiment.metrics):
        metric, key = load_metric(name), "metrics" if "metrics" in content else "also" if i else "metric"
        if metric.source != "any" and (metric.source == "measure") != measuring:
            what, source = ("measures", "measure") if measuring else ("learners", "fit")
            known = [n for n in METRICS.list_usable() if load_metric(n).source in ("any", source)]
            errors.add((key,), f"the metric '{name}' does not apply to {what}; valid: {', '.join(known)}")
            continue
        _check_test_part(experiment, key, metric, errors)
        if _check_kept(experiment, key, metric, errors):
            _check_fields(experiment, key, metric, i == 0, errors)
    if bool(load_metric(experiment.metric).ratio_of) != (experiment.ratios is not None):
        keys = ("ratios",) if experiment.ratios else ("metric",)
        errors.add(
            keys, "'metric: cost_ratio' and the section ratios, which names its columns, require each other"
        )


def _check_test_part(experiment: Experiment, key: str, metric: Metric, errors: ErrorCollector) -> None:
    """Add an error for a test metric if all samples are used for training."""
    if metric.part != "test":
        return
    for data in experiment.datasets:
        if experiment.split.choose_parts(data).train == ALL:
            keys = ("datasets", data.name, "train") if data.train else ("split", "train")
            others = [n for n in METRICS.list_usable() if load_metric(n).part == "train"]
            errors.add(
                keys,
                f"all samples train, so there is no {metric.name}; set {key}: to another metric, such as "
                f"{', '.join(others)}",
            )


def _check_kept(experiment: Experiment, key: str, metric: Metric, errors: ErrorCollector) -> bool:
    """Add an error if the config does not store what a metric needs; return whether it does."""
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
    """Add an error for each learner whose records lack what the metric needs.

    For an additional metric, or one of scores or probabilities, one learner that provides it suffices.
    """
    lacking = _find_lacking(experiment, metric)
    is_optional = not is_first or not RESPONSES.keys().isdisjoint(metric.requires)
    if is_optional and len(lacking) < len({spec.label for spec in experiment.learners}):
        return
    measuring = any(spec.learner in MEASURES for spec in experiment.learners)
    for label, (learner, field) in lacking.items():
        if field == "flipped":
            errors.add((key,), f"the metric '{metric.name}' needs flipped labels: add flip to a data set")
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
            continue  # what a class provides is unknown until it is loaded
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
        f"{', '.join(names)}; other columns are not affected"
        for (label, learner, field), names in lacking.items()
    ]


def find_kept(metric: Metric) -> tuple[str, ...]:
    """Return the values of `keep` that store what a metric needs; empty if all records hold it."""
    return next((KEEPS[field] for field in metric.requires if field in KEEPS), ())


def find_kept_fields(keep: str | None, spec: LearnerSpec) -> set[str]:
    """Return what records hold about a learner's test samples besides counts, if a config sets `keep`."""
    if keep is None or spec.learner in MEASURES:
        return set()
    fields = {field for field in RESPONSES if keep in KEEPS[field]}
    if is_unchecked(spec.learner):
        return fields  # a class that may not run stores nothing anyway
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


def load_cluster_file(path: Path) -> ClusterSettings:
    """Read and validate a file that names a scheduler or a cluster class."""
    content, root = read_yaml(path)
    errors = ErrorCollector(path, root)
    check_duplicate_keys(root, errors)
    settings = build_cluster_settings(content, (), errors)
    errors.raise_errors()
    assert settings is not None
    return settings


def load_run_section(config: Path | Mapping[str, Any]) -> ClusterSettings | None:
    """Return the section `run` of a valid config, given as a file or its keys; None if it has none."""
    content, root = read_yaml(config) if isinstance(config, Path) else (config, None)
    errors = ErrorCollector(config if isinstance(config, Path) else Path("config"), root)
    if content.get("run") is None:
        return None
    settings = build_cluster_settings(content["run"], ("run",), errors)
    errors.raise_errors()
    return settings


def build_cluster_settings(content: Any, keys: Keys, errors: ErrorCollector) -> ClusterSettings | None:
    """Return the cluster settings in a mapping: a scheduler, or a cluster class with its settings."""
    if not isinstance(content, dict):
        errors.add(keys, f"must be a mapping of keys (got {shorten(content)})")
        return None
    known = [name for name in ClusterSettings.model_fields if name not in ("cluster", "settings")]
    values = {key: value for key, value in content.items() if key in known}
    classes = [key for key in content if key not in known]
    for name in classes:
        if not (isinstance(name, str) and is_dotted_name(name)):
            errors.add(
                (*keys, name), f"unknown key '{name}'{suggest_nearest(name, [*known, *CLUSTER_EXAMPLES])}"
            )
            return None
    if len(classes) > 1:
        errors.add((*keys, classes[1]), "a run has one cluster: name one class")
        return None
    if classes:
        settings = content[classes[0]] if content[classes[0]] is not None else {}
        if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
            errors.add((*keys, classes[0]), f"settings must be a mapping of keys (got {shorten(settings)})")
            return None
        _check_cluster_code(classes[0], settings, keys, errors)
        values |= {"cluster": classes[0], "settings": settings}
    if "wait" in values and isinstance(values["wait"], int) and not isinstance(values["wait"], bool):
        values["wait"] = float(values["wait"])
    return errors.validate(ClusterSettings, values, keys)


def _check_cluster_code(name: str, settings: dict[str, Any], keys: Keys, errors: ErrorCollector) -> None:
    """Add an error for anything that is, or could contain, a command, unless code is allowed."""
    if find_code_policy() == "run":
        return
    allow = "add --allow-code if you trust it"
    if name.partition(".")[0] not in CLUSTER_PACKAGES:
        near = suggest_nearest(name, CLUSTER_EXAMPLES)
        errors.add((*keys, name), f"'{name}' is code of an unknown package; {allow}{near}")
        return
    for key, value in settings.items():
        if key not in SAFE_SETTINGS:
            errors.add((*keys, name, key), f"'{key}' may hold commands or programs; {allow}")
        elif not _is_safe_text(value, SAFE_DIRECTIVE if key == DIRECTIVES else SAFE_TEXT):
            errors.add((*keys, name, key), f"{shorten(value)} contains shell metacharacters; {allow}")


def _is_safe_text(value: Any, pattern: re.Pattern[str]) -> bool:
    if isinstance(value, str):
        return pattern.fullmatch(value) is not None
    if isinstance(value, list):
        return all(isinstance(each, str | int | float) and _is_safe_text(each, pattern) for each in value)
    return value is None or isinstance(value, int | float)
