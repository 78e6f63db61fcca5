"""Collect the notes under a table: what its numbers are, what was leaked or left out, and what is missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from zoloss_cli.choices import CONFIDENCE
from zoloss_cli.registry import load_metric
from zoloss_cli.report.papers import describe_open_choices
from zoloss_cli.report.runs import (
    UNDEFINED,
    Column,
    Place,
    RunResult,
    build_column_titles,
    find_baseline,
    list_directed,
)

if TYPE_CHECKING:
    from zoloss_cli.report.tables import Table, TableOptions

RANK_LABEL = "mean rank"
MAX_LISTED_CELLS = 12
INCOMPLETE = "incomplete: "  # start of the note on cells that lack records


def collect_notes(
    run: RunResult,
    runs: list[RunResult],
    columns: list[Column],
    constant: dict[Column, float],
    options: TableOptions,
) -> list[str]:
    """Return the notes under a table; `constant` has the metrics with the same value in every split."""
    notes = [
        *_describe_stat(options),
        *_describe_undirected(columns, options),
        *_describe_untested(run, columns, options),
    ]
    titles = build_column_titles(run.learners)
    for metric, value in dict.fromkeys((metric, value) for (_, metric), value in constant.items()):
        names = [titles[x] for (x, name), v in constant.items() if (name, v) == (metric, value)]
        notes.append(f"{load_metric(metric).heading} of {', '.join(names)}: {value:g} in every split")
    notes += [note for metric in run.metrics if (note := load_metric(metric).note)]
    published = run.experiment.published
    if published and published.spread == "deviation" and options.stat is None:
        notes.append("±: standard deviation over splits, as published")
    if sides := run.experiment.improvement:
        of, over = (_name_side(list(s)) for s in (sides.of, sides.over))
        notes.append(f"%: by how much {of} is below {over}")
    for describe in (
        describe_open_choices,
        _describe_draws,
        _describe_leaks,
        describe_choices,
        _describe_pruning,
    ):
        notes += describe(run)
    for describe in (_describe_unseen_classes, _describe_early_ends, _describe_proofs, _describe_missing):
        notes += describe(run)
    notes += _describe_undefined(run)
    if lacking := describe_lacking_cells(run):
        notes.append(f"{INCOMPLETE}{lacking}; run them with: {run.command()}")
    if wanted := run.experiment.baseline:
        if baseline := find_baseline(run, runs):
            notes.append(f"*: better than the best of Table {baseline.table or wanted} by one standard error")
        else:
            notes.append(f"no *: these results hold no table {wanted} to compare with")
    return notes


def _name_side(learners: list[str]) -> str:
    titles = list(build_column_titles(learners).values())
    return titles[0] if len(titles) == 1 else f"the best of {', '.join(titles)}"


def describe_incomplete(runs: Sequence[RunResult]) -> list[str]:
    """Return which of these runs lack tasks, so that a part is not mistaken for the whole."""
    return [
        f"'{run.name}' is incomplete: {run.n_done:,} of {run.n_tasks:,} tasks; "
        f"{describe_lacking_cells(run)}; run: {run.command()}"
        for run in runs
        if run.n_done < run.n_tasks
    ]


def describe_choices(run: RunResult) -> list[str]:
    """Return which columns show the best of several settings."""
    columns: dict[str, list[str]] = {}
    for learner, title in build_column_titles(run.learners).items():
        specs = [spec for spec in run.experiment.learners if spec.label == learner]
        options = list(dict.fromkeys(spec.choice for spec in specs if spec.choice))
        if options:
            tried = options[0].partition("=")[0]
            chosen = "chosen on test error" if load_metric(run.metric).part == "test" else "by the number shown"
            note = f"each data set's best of {len(options)} settings of {tried}, {chosen}"
            columns.setdefault(note, []).append(title)
    return [f"{', '.join(titles)}: {note}" for note, titles in columns.items()]


def _describe_draws(run: RunResult) -> list[str]:
    """Return the standard errors that z uses where ± omits the variance between draws of the data."""
    drawn = [dataset for dataset in run.datasets if run.count_draws(dataset) > 1]
    if not drawn or run.experiment.published is None:
        return []
    from zoloss_cli.report.compare import compare_run  # which imports the tables

    errors: dict[str, list[float]] = {}
    for cell in compare_run(run):
        if cell.dataset in drawn and cell.metric == run.metric and not math.isnan(cell.difference_stderr):
            errors.setdefault(cell.dataset, []).append(cell.difference_stderr)
    texts = [f"{dataset} {min(found):.2f} to {max(found):.2f}" for dataset, found in errors.items()]
    note = (
        "± omits the variance between draws of the data, of which a published value has one; differences from "
        f"it have these standard errors, which z uses: {', '.join(texts)}"
    )
    return [note] if texts else []


def _describe_leaks(run: RunResult) -> list[str]:
    """Return what was fitted using the test samples."""
    if load_metric(run.metric).part != "test":
        return []
    leaks = []
    if run.experiment.preprocess.fit_on == "all":
        leaks.append("scaling is fitted on all samples, including the test samples")
    titles = build_column_titles(run.learners)
    names = dict.fromkeys(titles[spec.label] for spec in run.experiment.learners if spec.tune)
    if names and (tuning := run.experiment.tuning):
        where = "all samples, including the test samples" if tuning.on == "all" else "the training samples"
        how = f"{tuning.folds}-fold cross-validation"
        if tuning.held_out:
            how = f"{tuning.folds} times {100 * tuning.held_out:g} % held out"
        leaks.append(f"{', '.join(names)}: settings by {how} on {where}")
    return leaks + _describe_trials(run)


def _describe_trials(run: RunResult) -> list[str]:
    """Return the settings that candidates had only during tuning, by column and data set."""
    titles, everywhere = build_column_titles(run.learners), tuple(data.name for data in run.experiment.datasets)
    places: dict[str, tuple[dict, dict]] = {}
    for spec in run.experiment.learners:
        for trial, candidate in zip(spec.trials[:1], spec.tune, strict=False):
            own = (f"{key}={value}" for key, value in trial.settings if (key, value) not in candidate.settings)
            columns, datasets = places.setdefault(", ".join(own), ({}, {}))
            columns[titles[spec.label]] = None
            datasets.update(dict.fromkeys(spec.only or everywhere))
    return [
        f"{', '.join(columns)}: on {', '.join(datasets)} candidates were compared with {text}"
        for text, (columns, datasets) in places.items()
    ]


def _describe_pruning(run: RunResult) -> list[str]:
    """Return the share of training samples left out as noise, and that of the wrong labels."""
    shares: dict[str, str] = {}
    for (dataset, _), cell in run.cells.items():
        if (pruned := cell.get_counts("n_pruned")) and cell.sizes:  # the same for all learners
            text = f"{dataset} {100 * fmean(pruned) / cell.sizes.n_train:.0f} %"
            if flipped := sum(cell.get_counts("n_flipped")):
                text += f" ({100 * sum(cell.get_counts('n_flipped_pruned')) / flipped:.0f} %)"
            shares.setdefault(dataset, text)
    has_wrong_labels = any(text.endswith(")") for text in shares.values())
    wrong = " (in parentheses: of the wrong labels)" if has_wrong_labels else ""
    return [f"training samples left out as noise{wrong}: {', '.join(shares.values())}"] if shares else []


def _describe_unseen_classes(run: RunResult) -> list[str]:
    """Return where splits have no training sample of a class."""
    unseen: dict[str, Sequence[float]] = {}
    for (dataset, _), cell in run.cells.items() if load_metric(run.metric).part == "test" else ():
        if any(counts := cell.get_counts("n_unseen")):  # the same for all learners
            unseen[dataset] = max(unseen.get(dataset, []), counts, key=len)
    return [
        f"{dataset}: in {sum(c > 0 for c in counts)} of {len(counts)} splits some test samples, "
        f"{sum(counts):.0f} in all, are of a class that no training sample has; they count as errors"
        for dataset, counts in unseen.items()
    ]


def _describe_early_ends(run: RunResult) -> list[str]:
    """Return where boosting ended because no split of classes was left."""
    titles, notes = build_column_titles(run.learners), []
    for (dataset, learner), cell in run.cells.items():
        counts = cell.get_counts("n_unsplit")
        if ended := sum(counts):
            splits = f"{ended:.0f} of {len(counts)} splits"
            notes.append(f"{titles[learner]} on {dataset}: {splits} ended early, with no split of classes left")
    return notes


def _describe_missing(run: RunResult) -> list[str]:
    """Return which records cannot provide a metric, why, and the remedy."""
    by_reason: dict[str, list[str]] = {}
    for (dataset, learner), reason in run.missing.items():
        by_reason.setdefault(reason, []).append(f"{learner} on {dataset}")
    texts = [
        f"no {run.metric} of {', '.join(places)}: {reason}{run.describe_remedy(run.metric)}"
        for reason, places in by_reason.items()
    ]
    for metric in run.metrics[1:]:
        reasons = [cell.explain_missing(metric) for cell in run.cells.values()]
        if reasons and all(reasons) and not reasons[0].startswith(UNDEFINED):
            texts.append(f"no {metric}: {reasons[0]}{run.describe_remedy(metric)}")
    return texts


def _describe_proofs(run: RunResult) -> list[str]:
    """Return what bounds rest on, data set by data set, if the table shows bounds."""
    if "lower_bound" not in run.metrics:
        return []
    by_proof: dict[str, list[str]] = {}
    for (dataset, _), cell in run.cells.items():
        proofs = dict.fromkeys(getattr(record, "proof", None) for record in cell.records)
        for proof in proofs:
            if proof is not None and dataset not in by_proof.setdefault(proof, []):
                by_proof[proof].append(dataset)
    return [f"bound by {proof}: {', '.join(names)}" for proof, names in by_proof.items() if proof != "none"]


def _describe_undefined(run: RunResult) -> list[str]:
    """Return which cells are empty because a metric is undefined in some of their splits."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for (dataset, learner), cell in run.cells.items():
        for metric in run.metrics:
            if (reason := cell.explain_missing(metric)).startswith(UNDEFINED):
                by_reason.setdefault((metric, reason), []).append(f"{learner} on {dataset}")
    return [f"no {metric} of {', '.join(places)}: {reason}" for (metric, reason), places in by_reason.items()]


def describe_lacking_cells(run: RunResult) -> str:
    """Return which cells have fewer records than planned, rare counts first; empty if none has.

    In an interrupted run many cells lack records; the order makes one whose file was lost stand out.
    """
    planned: dict[Place, int] = {}
    for cell in run.manifest.cells:
        place = (cell.dataset, cell.learner)
        planned[place] = planned.get(place, 0) + (cell.repeats or run.experiment.split.repeats)
    lacking: dict[tuple[str, str], list[str]] = {}
    for (dataset, learner), n_tasks in planned.items():
        if (n_done := run.n_done_at.get((dataset, learner), 0)) < n_tasks:
            lacking.setdefault((learner, f"{n_done} of {n_tasks} splits"), []).append(dataset)
    counts = Counter(done for (_, done), names in lacking.items() for _ in names)
    everywhere = len(run.datasets)
    texts = [
        f"{learner} on {'every data set' if len(names) == everywhere > 1 else ', '.join(names)} ({done})"
        for (learner, done), names in sorted(lacking.items(), key=lambda item: counts[item[0][1]])
    ]
    more = [f"and {len(texts) - MAX_LISTED_CELLS} more"] if len(texts) > MAX_LISTED_CELLS else []
    return "; ".join([*texts[:MAX_LISTED_CELLS], *more])


STAT_NOTES = {
    "stderr": "±: standard error of the mean over splits",
    "sd": "±: standard deviation over splits",
    "ci": f"in brackets: {100 * CONFIDENCE:g} % confidence interval of the mean over splits, corrected for "
    "overlapping training parts if the metric is of test samples (Nadeau & Bengio 2003)",
    "median": "medians over splits",
    "quartiles": "medians over splits; in brackets: first and third quartile",
}
STAR = "*: "  # start of the note on stars


def _describe_stat(options: TableOptions) -> list[str]:
    """Return a note on the statistic, if options set it."""
    if options.stat is None:
        return []
    as_published = "; published values are as published" if options.published else ""
    return [STAT_NOTES[options.stat] + as_published]


def describe_bold(run: RunResult, columns: list[Column], options: TableOptions) -> str:
    """Return what bold cells are; empty if there are none."""
    metrics = list_directed(columns)
    if options.bold_rule == "significant":
        from zoloss_cli.report.statistics import SIGNIFICANCE_LEVEL, explain_no_tests  # SciPy is slow to import

        metrics = [metric for metric in metrics if not explain_no_tests(run, metric)]
    if not metrics:
        return ""
    best = f"the {'column' if options.transpose else 'row'}'s best"
    if len(metrics) > 1:
        best += " in the same metric"
    if options.bold_rule == "significant":
        return f"not significantly worse than {best} (corrected resampled t-test, p > {SIGNIFICANCE_LEVEL:g})"
    single = all(len(cell) == 1 for cell in run.cells.values())
    return best if single or options.bold_rule == "best" else f"within one standard error of {best}"


def _describe_undirected(columns: list[Column], options: TableOptions) -> list[str]:
    """Return the metrics in which nothing can be bold or ranked, if that was requested."""
    if options.bold is None and not options.rank_row:
        return []
    metrics = [m for m in dict.fromkeys(m for _, m in columns) if load_metric(m).direction is None]
    note = f"{', '.join(metrics)}: no value is better than another, so none is bold or ranked"
    return [note] if metrics else []


def _describe_untested(run: RunResult, columns: list[Column], options: TableOptions) -> list[str]:
    """Return the metrics in which no cell is bold because no test is possible."""
    if options.bold_rule != "significant":
        return []
    from zoloss_cli.report.statistics import explain_no_tests

    reasons = {metric: explain_no_tests(run, metric) for metric in list_directed(columns)}
    return [f"no bold cells of {metric}: {reason}" for metric, reason in reasons.items() if reason]


def describe_ranks(run: RunResult, groups: Mapping[str, list[list[str]]]) -> list[str]:
    """Return how many data sets ranks are averaged over, and which rows of a table count as one of them."""
    from zoloss_cli.report.statistics import describe_merged

    if not any(groups.values()):
        return [f"no {RANK_LABEL}: no data set has a result of every learner"] if groups else []
    counts = sorted({len(found) for found in groups.values() if found})
    best = "lowest" if len(groups) == 1 and load_metric(next(iter(groups))).direction == "lower" else "best"
    number = f"{' or '.join(map(str, counts))} data set{'s' * (counts != [1])}"
    notes = [f"{RANK_LABEL}: over {number} that all learners have results on; 1 is the {best} value"]
    return [*notes, *dict.fromkeys(text for found in groups.values() if (text := describe_merged(found)))]


def describe_marks(tables: Sequence[Table]) -> list[str]:
    """Return notes on the columns best and star of a CSV, and on incomplete tables."""
    best = dict.fromkeys(table.bold for table in tables if table.bold)
    stars = dict.fromkeys(n.removeprefix(STAR) for table in tables for n in table.notes if n.startswith(STAR))
    lacking = [f"{table.number}: {n}" for table in tables for n in table.notes if n.startswith(INCOMPLETE)]
    return [*(f"best: 1 is {text}" for text in best), *(f"star: 1 is {text}" for text in stars), *lacking]
