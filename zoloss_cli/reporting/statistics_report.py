"""The statistics of a run as text, Markdown, LaTeX, CSV or HTML."""

from __future__ import annotations

import string

from zoloss_cli.errors import ResultsError
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.distinct_data import describe_merged
from zoloss_cli.reporting.effect_sizes import LARGE, MEDIUM, SMALL
from zoloss_cli.reporting.notes import describe_choices
from zoloss_cli.reporting.render.grid import Grid
from zoloss_cli.reporting.render.numbers import format_table_name
from zoloss_cli.reporting.render.render import join_parts, load_renderer
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.statistics import (
    MAX_PERMUTED_DATASETS,
    PairComparison,
    Ranks,
    check_comparable,
    compare_by_signed_ranks,
    compare_with_best,
    compute_average_ranks,
    compute_least_signed_rank_p,
    find_best_learner,
)
from zoloss_cli.reporting.statistics_csv import render_statistics_csv
from zoloss_cli.reporting.statistics_prose import describe_statistics, format_p
from zoloss_cli.reporting.titles import build_column_titles


def render_statistics(
    runs: list[RunResult], format: str, alpha: float, learner: str | None = None, standalone: bool = False
) -> str:
    """Return the statistics of runs in a format.

    Parameters
    ----------
    runs : list of RunResult
        The runs to compare.
    format : str
        CSV has every pair of learners, one row each; the other formats what a reader needs.
    alpha : float
        Significance level.
    learner : str or None, default=None
        The learner to compare others with; None for each data set's best.
    standalone : bool, default=False
        Whether LaTeX is a complete document instead of a fragment.

    Returns
    -------
    str
        All sections of all runs.
    """
    renderer = load_renderer(format)
    if format == "csv":
        return render_statistics_csv(runs, alpha, learner)
    parts: list[str] = []
    for run in runs:
        parts.append(renderer.render_heading(f"{format_table_name(run.number)}. {run.experiment.title}"))
        parts += [renderer.render_grid(grid) for grid in build_sections(run, alpha, learner)]
        parts.append(renderer.render_paragraph(describe_statistics(run, alpha, learner)))
    return join_parts(parts, format, standalone)


def build_sections(run: RunResult, alpha: float, learner: str | None = None) -> list[Grid]:
    """Return the tests on each data set, average ranks, and pairs across data sets."""
    check_comparable(run, learner)
    notes = [f"{note}, so its comparisons are optimistic" for note in describe_choices(run)]
    if run.n_failed:
        notes.append(f"{run.n_failed:,} tasks failed: comparisons are on the splits that both have")
    sections = [
        _build_dataset_tests(run, alpha, learner),
        _build_effect_sizes(run, learner),
        _build_ranks(run, alpha),
        _build_pairs(run, alpha, learner),
        Grid(notes=notes),
    ]
    return [section for section in sections if section.lines or section.notes]


def describe_best(run: RunResult, dataset: str, alpha: float) -> list[str]:
    """Return the best learner of a data set against each other one, one line each."""
    titles, best = build_column_titles(run.learners), find_best_learner(run, dataset)
    comparisons = compare_with_best(run, dataset)
    if not comparisons or best is None:
        return []
    wide = max(len(titles[c.first]) for c in comparisons)
    lines = [
        f"{titles[c.first]:<{wide}}  {_format_difference(run, c)}  "
        + (f"p {format_p(c.p)}{_mark_significant(c.p, alpha)}" if c.p is not None else f"no test: {c.reason}")
        for c in comparisons
    ]
    splits = sorted({c.splits for c in comparisons})
    number = f"{splits[0]}" if len(splits) == 1 else f"{splits[0]} to {splits[-1]}"
    return [
        f"{titles[best]} has the {_name_best(run)} mean on {dataset}; the others minus it, on the same "
        f"{number} splits:",
        *lines,
        "(p-values of the corrected t-test of Nadeau & Bengio (2003), not corrected for several tests; "
        f"*: p <= {alpha:g})",
    ]


def _name_best(run: RunResult) -> str:
    return "highest" if load_metric(run.metric).direction == "higher" else "lowest"


def _build_dataset_tests(run: RunResult, alpha: float, learner: str | None) -> Grid:
    titles = build_column_titles(run.learners)
    columns = [x for x in run.learners if x != learner]
    lines: list[list[str]] = []
    untested: dict[str, dict[str, None]] = {}
    for dataset in run.datasets:
        found = {c.first: c for c in compare_with_best(run, dataset, learner)}
        for comparison in found.values():
            if comparison.reason:
                untested.setdefault(comparison.reason, {})[dataset] = None
        if any(c.p is not None for c in found.values()):
            best = learner or find_best_learner(run, dataset)
            cells = ["best" if x == best else _format_test(run, found.get(x), alpha) for x in columns]
            lines.append([dataset, *cells])
    everywhere = len(run.datasets)
    notes = [
        f"no t-test{'' if len(names) == everywhere else ' on ' + ', '.join(names)}: {reason}"
        for reason, names in untested.items()
    ]
    if not lines:
        return Grid(notes=notes)
    of = titles[learner] if learner else "the data set's best"
    return Grid(
        f"Difference to {of}, and p-value of the corrected t-test",
        ["data set", *(titles[x] for x in columns)],
        lines,
        1,
        [
            f"*: p <= {alpha:g}, not corrected for several tests (Nadeau & Bengio 2003)",
            *_find_cautious(run, lines),
            *notes,
        ],
    )


def _build_effect_sizes(run: RunResult, learner: str | None) -> Grid:
    """Return Cohen's d_z of the differences that are tested on each data set."""
    titles = build_column_titles(run.learners)
    columns = [x for x in run.learners if x != learner]
    lines: list[list[str]] = []
    for dataset in run.datasets:
        effects = {c.first: c.effect for c in compare_with_best(run, dataset, learner) if c.effect is not None}
        if effects:
            best = learner or find_best_learner(run, dataset)
            shown = {x: f"{effect:+.2f}" for x, effect in effects.items()}
            lines.append([dataset, *("best" if x == best else shown.get(x, "–") for x in columns)])
    if not lines:
        return Grid()
    return Grid(
        "Effect size d_z of these differences",
        ["data set", *(titles[x] for x in columns)],
        lines,
        1,
        [
            "mean difference over the standard deviation of differences (Cohen 1988); "
            f"|d_z| from {SMALL} on is small, from {MEDIUM} medium, from {LARGE} large"
        ],
    )


def _find_cautious(run: RunResult, lines: list[list[str]]) -> list[str]:
    """Return where the test can hardly find a difference: its correction grows with the test part."""
    sizes = {dataset: cell.sizes for (dataset, _), cell in run.cells.items()}
    names = [d for d, *_ in lines if (size := sizes[d]) is not None and size.n_test > size.n_train]
    return [f"{', '.join(names)}: more samples test than train, so the test is very cautious"] if names else []


def _format_test(run: RunResult, comparison: PairComparison | None, alpha: float) -> str:
    if comparison is None:
        return "–"
    if comparison.p is None:
        return _format_difference(run, comparison)
    p = f"{format_p(comparison.p)}{_mark_significant(comparison.p, alpha)}"
    return f"{_format_difference(run, comparison)} {p}"


def _build_ranks(run: RunResult, alpha: float) -> Grid:
    titles = build_column_titles(run.learners)
    try:
        ranks = compute_average_ranks(run, alpha)
    except ResultsError as error:
        return Grid(notes=[str(error)])
    letters = _assign_letters(ranks)
    merged = describe_merged(ranks.datasets)
    rows = zip(ranks.learners, ranks.ranks, letters, strict=True)
    return Grid(
        f"Average ranks on {len(ranks.datasets)} data sets",
        ["learner", "rank", "group"],
        [[titles[x], f"{rank:.2f}", letter] for x, rank, letter in rows],
        1,
        [
            f"Friedman: p {format_p(ranks.friedman_p)} that all are equal",
            f"Nemenyi: ranks differ at {alpha:g} if they are {ranks.critical_difference:.2f} apart; those that "
            "share a letter do not",
            *([merged] if merged else []),
        ],
    )


def _assign_letters(ranks: Ranks) -> list[str]:
    """Return the groups of each learner, as letters; a learner in none is a group of its own."""
    alone = [(i, i) for i in range(len(ranks.learners)) if not any(a <= i <= b for a, b in ranks.groups)]
    groups = sorted([*ranks.groups, *alone])
    names = [*string.ascii_lowercase, *(f"({n})" for n in range(27, len(groups) + 1))]
    return [
        "".join(name for name, (first, last) in zip(names, groups, strict=False) if first <= i <= last)
        for i in range(len(ranks.learners))
    ]


def _build_pairs(run: RunResult, alpha: float, learner: str | None) -> Grid:
    titles = build_column_titles(run.learners)
    datasets, pairs = compare_by_signed_ranks(run, learner)
    if len(datasets) < 2 or not pairs:
        return Grid()
    number = f"{len(pairs)} pairs" if len(pairs) > 1 else "one pair"
    kind = "exact" if len(datasets) <= MAX_PERMUTED_DATASETS else "exact where no differences are equal"
    notes = [
        f"signed-rank test, {kind}; Holm: corrected for {number}; *: that is <= {alpha:g}",
        "r: rank-biserial correlation, +1 if the first is better on all data sets, -1 if on none (Kerby 2014)",
    ]
    least = min(1.0, len(pairs) * compute_least_signed_rank_p(len(datasets)))
    if least > alpha:
        notes.append(
            f"with {len(datasets)} data sets and {number} no Holm p can be below {format_p(least)}, so "
            f"nothing can differ at {alpha:g}"
        )
    return Grid(
        f"Pairs by their means on {len(datasets)} data sets (Wilcoxon)",
        ["first", "second", "first better, equal, worse", "r", "p", "Holm"],
        [
            [
                titles[x.first],
                titles[x.second],
                f"{x.wins}, {x.ties}, {x.losses}",
                f"{x.effect:+.2f}",
                format_p(x.p),
                format_p(x.holm) + (_mark_significant(x.holm, alpha) or " "),
            ]
            for x in sorted(pairs, key=lambda x: x.p)
        ],
        2,
        notes,
    )


def _format_difference(run: RunResult, comparison: PairComparison) -> str:
    decimals = load_metric(run.metric).count_decimals(comparison.difference, comparison.splits)
    text = f"{comparison.difference:+.{decimals}f}"
    return text if float(text) else text.replace("-", "+")


def _mark_significant(p: float, alpha: float) -> str:
    return "*" if p <= alpha else ""
