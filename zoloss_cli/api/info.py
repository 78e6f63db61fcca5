"""Describe data sets, generators, learners and measures, and check that the embedded files are unchanged."""

from __future__ import annotations

import csv
import inspect
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from zoloss_cli.config.catalog import (
    CatalogEntry,
    PackageFile,
    find_fetched_path,
    find_generator,
    has_generator,
    list_catalog_errors,
    list_dataset_names,
    load_catalog,
)
from zoloss_cli.config.learners import resolve_class
from zoloss_cli.config.models import Experiment
from zoloss_cli.data.dataset import find_entry, generate, load_data
from zoloss_cli.data.read import compute_file_sha256, read_table
from zoloss_cli.data.uci import FetchReport
from zoloss_cli.errors import ConfigError, DataError, ZolossError, suggest_nearest
from zoloss_cli.experiment.plan import find_split_rule
from zoloss_cli.registry import (
    DATASET_PLUGINS,
    LEARNERS,
    MEASURES,
    LearnerRegistration,
    find_registration,
    is_external,
)
from zoloss_cli.utils.signature import find_source, format_field_type, remove_section


def list_datasets() -> str:
    """Return a table of all data sets and generators, including those of other packages."""
    lines = [_summarize(name) for name in list_dataset_names()]
    clashes = [plugin for plugin in DATASET_PLUGINS.plugins if plugin.name not in DATASET_PLUGINS]
    lines += [_describe_broken(plugin.name, plugin.name_error) for plugin in clashes]
    header, widths = ["name", "N", "features", "classes", "source", "description"], [None] * 5 + [64]
    sides = ("left", "right", "right", "right", "left", "left")
    table = tabulate(lines, header, "simple", maxcolwidths=widths, disable_numparse=True, colalign=sides)
    return f"{table}\n\n* size and seed of a generated pool are set in the config"


def describe_experiment_data(experiment: Experiment) -> str:
    """Return a table of an experiment's data sets: training and test samples, classes and features."""
    lines = []
    for spec in experiment.datasets:
        data, rule = load_data(spec), find_split_rule(experiment.split, spec)
        n_train, n_test = rule.compute_sizes(len(data.y), f"data set '{spec.name}'")
        random = f"{rule.folds} folds" if rule.folds else "random"
        split = "none" if not n_test else "predefined" if rule.predefined else random
        lines.append((spec.name, n_train, n_test or "-", split, len(data.classes), data.X.shape[1]))
    header = ["data set", "train", "test", "split", "classes", "features"]
    return tabulate(lines, header, tablefmt="simple", colalign=("left", "right", "right", "left"))


def describe_dataset(name: str) -> str:
    """Return what is known about a data set, or the docstring and settings of a generator."""
    if name not in list_dataset_names():
        raise DataError(f"unknown data set '{name}'{suggest_nearest(name, list_dataset_names())}")
    return _describe_generator(name) if has_generator(name) else _describe_entry(name, find_entry(name))


def verify_embedded() -> int:
    """Compare every embedded file with its catalog entry, and return the number of files."""
    entries = [entry for entry in load_catalog().values() if entry.otherwise is None]
    differences = [line for entry in entries for line in _find_differences(entry)]
    if faults := [*list_catalog_errors().values(), *differences]:
        raise DataError("\n".join(faults))
    return len(entries)


def render_fetch_report(report: FetchReport) -> str:
    """Return what was fetched from UCI, its checksums, and how it differs from the embedded copy."""
    checked = "sha256 as pinned" if report.pinned else "no pinned sha256 for every file; compared by value"
    lines = [f"{report.name}: {report.rows} rows, {report.features} features ({checked}) in {report.path}"]
    lines += [f"  {sha256}  {filename}" for filename, sha256 in report.sha256.items()]
    if report.differences:
        lines += ["differs from the embedded copy:", *(f"  {line}" for line in report.differences)]
    else:
        lines.append("identical to the embedded copy")
    return "\n".join(lines)


def _summarize(name: str) -> list:
    try:
        if has_generator(name):
            pool, summary = generate(name, 1), (find_generator(name).loaded.__doc__ or "").partition("\n")[0]
            return [name, f"{len(pool.y)}*", pool.X.shape[1], len(pool.classes), "generator", summary]
        entry = find_entry(name)
    except ZolossError as error:  # another package's data set, or a broken catalog entry
        return _describe_broken(name, error)
    source = f"{entry.source.package} {entry.source.version}"
    return [entry.name, entry.rows, entry.features, len(entry.classes), source, entry.title]


def _describe_broken(name: str, error: ZolossError) -> list:
    return [name, "", "", "", "broken", str(error)]


def _describe_generator(name: str) -> str:
    generator = find_generator(name)
    whose = f" of the package {generator.package}" if generator.package else ""
    settings = generator.parameter_model.model_fields
    lines = [f"  {key} (default {field.default}): {field.description}" for key, field in settings.items()]
    heading = f"{name}: a generator{whose}\n\n{inspect.getdoc(generator.loaded)}\n\nsettings:"
    return "\n".join([heading, *lines])


def _describe_entry(name: str, entry: CatalogEntry) -> str:
    positive = entry.positive or "none: a multiclass problem; set positive: for one against the rest"
    facts = [
        ("samples", f"{entry.rows} ({entry.removed} incomplete records removed)"),
        ("features", entry.features),
        ("classes", ", ".join(f"{label}: {count}" for label, count in entry.classes.items())),
        ("positive", positive),
        ("partition", f"the first {entry.train_rows} rows train" if entry.train_rows else "none"),
        ("row order", entry.row_order),
        ("notes", entry.notes or "none"),
        ("source", _describe_source(entry.source)),
        *([("also from", _describe_source(entry.extra_source))] if entry.extra_source else []),
        ("UCI id", (entry.uci and entry.uci.id) or "none"),
        ("licence", entry.licence),
        ("attribution", entry.attribution),
        ("file", find_fetched_path(name) if entry.otherwise else entry.path),
        ("sha256", entry.sha256),
    ]
    return "\n".join([f"{name}: {entry.title}\n", *(f"  {key + ':':<13} {value}" for key, value in facts)])


def _describe_source(source: PackageFile) -> str:
    return f"{source.registry} package {source.package} {source.version}, {source.path}"


def _find_differences(entry: CatalogEntry) -> list[str]:
    if not entry.path.is_file():
        return [f"{entry.path} is missing"]
    table, differences = read_table(entry.path), []
    if compute_file_sha256(entry.path) != entry.sha256:
        differences.append(f"{entry.path}: its sha256 does not match catalog.yaml")
    shape = (len(table.labels), len(table.features))
    if shape != (entry.rows, entry.features):
        differences.append(f"{entry.path}: {shape[0]} x {shape[1]}, not {entry.rows} x {entry.features}")
    if Counter(table.labels) != Counter(entry.classes):
        differences.append(f"{entry.path}: its class counts are not those in catalog.yaml")
    return differences


MAX_FAULT_LENGTH = 1000


def describe_learner(name: str) -> str:
    """Describe a learner or measure, and its parameters with values, defaults and meaning."""
    entry = find_registration(resolve_class(name).source if is_external(name) else name)
    if entry.is_external:
        return _describe_external(name, entry)
    lines = [
        [key, format_field_type(field), field.default, field.description or ""]
        for key, field in entry.parameter_model.model_fields.items()
    ]
    header, widths = ["parameter", "values", "default", "meaning"], [None, 32, 24, 50]
    table = tabulate(lines, header, tablefmt="simple", maxcolwidths=widths, disable_numparse=True)
    # The table has the parameters that can be set, not those that the name fixes.
    text = remove_section(inspect.getdoc(entry.learner_class) or "", "Parameters")
    fixed = ", ".join(f"{key}={value!r}" for key, value in entry.fixed.items())
    return f"{name}: {entry.learner_class.__name__}({fixed})\n\n{text}\n\n{table}"


def _describe_external(name: str, entry: LearnerRegistration) -> str:
    """Return the description of another package's estimator, and its parameters with their defaults."""
    fields = entry.parameter_model.model_fields.items()
    lines = [[key, "required" if field.is_required() else repr(field.default)] for key, field in fields]
    table = tabulate(lines, ["parameter", "default"], tablefmt="simple", disable_numparse=True)
    package = f" of {entry.package}" if entry.package else ""
    text = (inspect.getdoc(entry.learner_class) or "").partition("\n\n")[0]
    return f"{name}: {entry.title}{package}\n\n{text}\n\n{table}"


def check_named_learner(name: str) -> list[str]:
    """Return the limitations of a learner, and that it can be used; raise ConfigError if it is faulty."""
    from zoloss_cli.testing import check_learner

    if name in LEARNERS.builtin or name in MEASURES:
        raise ConfigError(
            f"--check: '{name}' is built in and covered by zoloss's tests; name a class of your own"
        )
    try:
        limits = check_learner(name)
    except Exception as error:  # any exception is a fault of the learner
        lines = str(error).splitlines()
        one_each = all(line.startswith("the learner") for line in lines)
        text = str(error) if lines and one_each else " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(text[:MAX_FAULT_LENGTH]) from None
    return [*limits, f"{name} can be used in an experiment"]


SPEEDS = Path(__file__).with_name("learner_speeds.csv")  # by `make speeds`
STOPPED = "> 30 s"  # shown for an empty field: the search did not finish in half a minute
GAP = "  "
MIN_LAST_WIDTH = 20  # a narrower last column is omitted
NOTES = (
    "classes: two, or several; weights: whether fit takes sample weights; time: to fit 1,000 samples of 20 "
    "features with default parameters on one core; source: where the algorithm is described, zoloss if here. "
    "`zoloss learners NAME` shows the parameters."
)


def list_learners(width: int | None = None) -> str:
    """Return tables of all learners, including broken ones of other packages, and of all measures."""
    learners, speeds = [], _load_speeds()
    for name, entry in LEARNERS.list_usable().items():
        classes = "several" if entry.is_multiclass else "two"
        weights = "yes" if entry.accepts_sample_weight else "no"
        learners.append([name, classes, weights, speeds.get(name, ""), *_describe_class(entry)])
    learners += [
        [plugin.name, "", "", "", plugin.package, f"broken: {reason}"]
        for plugin, reason in LEARNERS.list_broken()
    ]
    measures = [[name, *_describe_class(MEASURES[name])] for name in MEASURES]
    header = ["learner", "classes", "weights", "time", "source", "description"]
    tables = [
        render_lines(header, learners, width),
        render_lines(["measure", "source", "description"], measures, width),
    ]
    return "\n\n".join([*tables, NOTES if width is None else textwrap.fill(NOTES, width)])


def render_lines(header: Sequence[str], lines: Sequence[Sequence[str]], width: int | None) -> str:
    """Return a table with one line per row; trailing columns that do not fit are truncated or omitted."""
    rows = [list(header), *(list(line) for line in lines)]
    sizes = [max(len(row[at]) for row in rows) for at in range(len(header))]
    if width is not None:
        while len(sizes) > 1 and sum(sizes[:-1]) + len(GAP) * (len(sizes) - 1) + MIN_LAST_WIDTH > width:
            if sum(sizes) + len(GAP) * (len(sizes) - 1) <= width:
                break
            sizes.pop()
        sizes[-1] = min(sizes[-1], width - sum(sizes[:-1]) - len(GAP) * (len(sizes) - 1))
    cells = ([_cut(text, size).ljust(size) for text, size in zip(row, sizes, strict=False)] for row in rows)
    return "\n".join(GAP.join(row).rstrip() for row in cells)


def _load_speeds() -> dict[str, str]:
    """Return the measured time of each learner as text."""
    speeds = {}
    with SPEEDS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            seconds = float(f"{float(row['seconds'] or 'inf'):.1g}")
            text = f"{seconds:g} s" if seconds >= 0.1 else f"{1000 * seconds:g} ms"
            speeds[row["learner"]] = text if row["seconds"] else STOPPED
    return speeds


def _describe_class(entry: LearnerRegistration) -> tuple[str, str]:
    """Return the source that the docstring names, and its first line with the fixed parameters."""
    docstring = entry.learner_class.__doc__ or ""
    text = docstring.strip().partition("\n")[0].rstrip(".")
    fixed = ", ".join(
        f"{key} {value}" if value is not True else key for key, value in entry.fixed.items() if value
    )
    return find_source(docstring), f"{text} ({fixed})" if fixed else text


def _cut(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    return textwrap.shorten(text, size, placeholder=" ...") if size >= MIN_LAST_WIDTH else text[:size]
