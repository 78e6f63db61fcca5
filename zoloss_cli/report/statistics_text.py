"""The statistics of runs as CSV: every test of every pair of learners, one row each."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields

from zoloss_cli.errors import ResultsError
from zoloss_cli.registry import load_metric
from zoloss_cli.report.cells import build_column_titles
from zoloss_cli.report.notes import describe_choices
from zoloss_cli.report.render.csv import format_value, write_csv
from zoloss_cli.report.render.render import Grid, format_table_name, join_parts, load_renderer
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.statistics import (
    LARGE,
    MAX_PERMUTED_DATASETS,
    MEDIUM,
    SMALL,
    PairComparison,
    Ranks,
    SignedRanks,
    check_comparable,
    compare_by_signed_ranks,
    compare_pair,
    compare_with_best,
    compute_average_ranks,
    compute_least_signed_rank_p,
    describe_merged,
    find_best_learner,
    name_effect,
)
from zoloss_cli.report.tables import describe_splits


@dataclass(frozen=True)
class TestRow:
    """One test of two learners, or of all; missing values are empty."""

    table: str
    test: str
    dataset: str = ""
    first: str = ""
    second: str = ""
    difference: float | None = None
    n: int | None = None
    statistic: float | None = None
    p: float | None = None
    corrected_p: float | None = None
    differs: int | None = None
    effect: float | None = None
    note: str = ""


def render_statistics_csv(runs: list[RunResult], alpha: float, learner: str | None = None) -> str:
    """Return every test of these runs as CSV; see :func:`render_statistics` for the parameters."""
    rows = [row for run in runs for row in _list_tests(run, alpha, learner)]
    header = [field.name for field in fields(TestRow)]
    return write_csv(header, [[format_value(value) for value in astuple(row)] for row in rows])


def _list_tests(run: RunResult, alpha: float, learner: str | None) -> Iterator[TestRow]:
    check_comparable(run, learner)
    pairs = [x for x in itertools.combinations(run.learners, 2) if learner is None or learner in x]
    for dataset in run.datasets:
        for pair in pairs:
            if c := compare_pair(run, dataset, *pair):
                yield TestRow(
                    run.number,
                    "corrected-t",
                    dataset,
                    *pair,
                    difference=c.difference,
                    n=c.splits,
                    statistic=c.t,
                    p=c.p,
                    differs=None if c.p is None else int(c.p <= alpha),
                    effect=c.effect,
                    note=c.reason,
                )
    datasets, tested = compare_by_signed_ranks(run, learner)
    for x in tested if len(datasets) > 1 else []:
        numbers_of_pair = (x.difference, len(datasets), None, x.p, x.holm, int(x.holm <= alpha), x.effect)
        yield TestRow(run.number, "wilcoxon", "", x.first, x.second, *numbers_of_pair)
    yield from _list_rank_tests(run, alpha, pairs)


def _list_rank_tests(run: RunResult, alpha: float, pairs: list[tuple[str, str]]) -> Iterator[TestRow]:
    try:
        ranks = compute_average_ranks(run, alpha)
    except ResultsError:
        return
    n, rank = len(ranks.datasets), dict(zip(ranks.learners, ranks.ranks, strict=True))
    p = ranks.friedman_p
    yield TestRow(run.number, "friedman", n=n, p=p, differs=int(p <= alpha))
    for first, second in pairs:
        if first in rank and second in rank:
            difference = rank[first] - rank[second]
            yield TestRow(
                run.number,
                "nemenyi",
                first=first,
                second=second,
                difference=difference,
                n=n,
                statistic=ranks.critical_difference,
                differs=int(abs(difference) >= ranks.critical_difference),
            )


MAX_LISTED_PAIRS = 5


def describe_statistics(run: RunResult, alpha: float, learner: str | None = None) -> str:
    """Return one paragraph about the statistics of a run.

    Parameters
    ----------
    run : RunResult
        The run to compare.
    alpha : float
        Significance level.
    learner : str or None, default=None
        The learner to compare others with; None for each data set's best.

    Returns
    -------
    str
        Which tests were made, what is significant, and what the tests do not show.
    """
    check_comparable(run, learner)
    titles = build_column_titles(run.learners)
    datasets, pairs = compare_by_signed_ranks(run, learner)
    sentences = [
        f"{_count(len(run.learners), 'learner')} are compared by their means of {_name_metric(run)} on "
        f"{_count(len(datasets), 'data set')} that all of them have ({describe_splits(run)})."
    ]
    sentences += _describe_ranks(run, titles, alpha)
    if len(datasets) > 1:
        sentences += _describe_pairs(pairs, len(datasets), titles, alpha)
    sentences += _describe_dataset_tests(run, titles, alpha, learner)
    sentences += _describe_limits(run, len(datasets))
    return " ".join(sentences)


def _describe_ranks(run: RunResult, titles: dict[str, str], alpha: float) -> list[str]:
    try:
        ranks = compute_average_ranks(run, alpha)
    except ResultsError:
        return ["There are too few learners or data sets for average ranks."]
    n, friedman = len(ranks.datasets), format_p(ranks.friedman_p)
    best, best_rank = titles[ranks.learners[0]], ranks.ranks[0]
    found = f"{best} has the lowest (best) average rank on {n} distinct data sets, {best_rank:.2f}"
    if ranks.friedman_p > alpha:
        return [
            f"Friedman's test does not reject at {alpha:g} that all are equal (p {friedman}): "
            f"{found}, but ranks give no ground to prefer a learner."
        ]
    worse, unclear = _split_by_difference(ranks, titles)
    far = f"{best} is significantly better than {_join(worse)}" if worse else f"{best} is better than no other"
    near = f"; it cannot be distinguished from {_join(unclear)}" if unclear else ""
    return [
        f"Friedman's test rejects at {alpha:g} that all are equal (p {friedman}). {found}.",
        f"By Nemenyi's test, average ranks differ where they are {ranks.critical_difference:.2f} or more "
        f"apart: {far}{near}.",
    ]


def _split_by_difference(ranks: Ranks, titles: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the learners that the best one beats, and those that may be equal to it."""
    others = list(zip(ranks.learners[1:], ranks.ranks[1:], strict=True))
    limit = ranks.ranks[0] + ranks.critical_difference
    worse = [titles[x] for x, rank in others if rank >= limit]
    return worse, [titles[x] for x, rank in others if rank < limit]


def _describe_pairs(
    pairs: list[SignedRanks], n_datasets: int, titles: dict[str, str], alpha: float
) -> list[str]:
    if not pairs:
        return []
    number = _count(len(pairs), "pair")
    start = f"By Wilcoxon's signed-rank test with Holm's correction for {number},"
    least = min(1.0, len(pairs) * compute_least_signed_rank_p(n_datasets))
    if least > alpha:
        return [
            f"{start} nothing can differ at {alpha:g}: {n_datasets} data sets give no corrected p below "
            f"{format_p(least)}."
        ]
    found = sorted((x for x in pairs if x.holm <= alpha), key=lambda x: x.holm)
    if not found:
        return [f"{start} no two differ at {alpha:g}."]
    listed = [_describe_winner(x, titles) for x in found[:MAX_LISTED_PAIRS]]
    more = len(found) - len(listed)
    listed += [f"and {more} more"] * (more > 0)
    return [f"{start} {len(found)} of them differ at {alpha:g}: {'; '.join(listed)}."]


def _describe_winner(pair: SignedRanks, titles: dict[str, str]) -> str:
    first, second = titles[pair.first], titles[pair.second]
    if pair.effect < 0:
        first, second = second, first
    return f"{first} is better than {second} (p {format_p(pair.holm)}, r {abs(pair.effect):.2f})"


def _describe_dataset_tests(
    run: RunResult, titles: dict[str, str], alpha: float, learner: str | None
) -> list[str]:
    tested = [c for d in run.datasets for c in compare_with_best(run, d, learner) if c.p is not None]
    if not tested:
        return ["No test is made on single data sets."]
    differing = [c for c in tested if c.p is not None and c.p <= alpha]
    of = titles[learner] if learner else "the data set's best learner"
    rows = _count(len({c.dataset for c in tested}), "row")
    sentence = (
        f"On single data sets, by the corrected t-test of Nadeau and Bengio, {len(differing)} of {len(tested)} "
        f"differences to {of} in {rows} are significant at {alpha:g}"
    )
    if differing:
        largest = max(differing, key=_measure_effect)
        size = abs(largest.effect or 0.0)
        sentence += (
            f", the largest by its effect size being that of {titles[largest.first]} on {largest.dataset} "
            f"(d_z {size:.2f}, {name_effect(size)})"
        )
    if learner is None:
        caution = (
            "these p-values are corrected neither for several tests nor for the best having been chosen by the "
            "same numbers, so some are significant by chance alone"
        )
    else:
        caution = (
            "these p-values are not corrected for several tests: of so many, about "
            f"{alpha * len(tested):.0f} would be significant if all learners were equal"
        )
    return [f"{sentence}; {caution}."]


def _measure_effect(comparison: PairComparison) -> float:
    return abs(comparison.effect or 0.0)


def _describe_limits(run: RunResult, n_datasets: int) -> list[str]:
    sentences = ["That a difference is not significant does not show that learners are equal."]
    if n_datasets > 1:
        sentences.append("Ranks tell an order on these data sets, not how much better a learner is.")
    return sentences + [
        f"Not all were treated alike: {note}, which favours it." for note in describe_choices(run)
    ]


def _name_metric(run: RunResult) -> str:
    return load_metric(run.metric).name.replace("train_", "training_").replace("_", " ")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def format_p(p: float) -> str:
    """Return a p-value with three decimals."""
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


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
