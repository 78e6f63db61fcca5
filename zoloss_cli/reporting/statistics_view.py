"""The statistics of a run as text, Markdown, LaTeX, CSV or HTML."""

from __future__ import annotations

import html
import itertools
import string
from dataclasses import dataclass, field

from tabulate import tabulate

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.formats import csv_text, digits, escape_latex, latex_document, long_table, table_name
from zoloss_cli.reporting.metrics import decimals_of
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.statistics import (
    ALL_SIGNS,
    Paired,
    Ranks,
    against,
    average_ranks,
    best_learner,
    check_comparable,
    least_signed_rank_p,
    paired,
    signed_ranks,
)
from zoloss_cli.reporting.tables import choice_notes, column_titles

CSV_COLUMNS = (
    *("table", "test", "dataset", "first", "second", "difference"),
    *("n", "statistic", "p", "corrected_p", "differs", "note"),
)


@dataclass(frozen=True)
class Section:
    """One kind of test: a table with its caption and notes, or notes only."""

    caption: str = ""
    header: list[str] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)
    left: int = 1  # columns that are aligned to the left
    notes: list[str] = field(default_factory=list)


def render_statistics(runs: list[RunResult], format: str, alpha: float, learner: str | None = None) -> str:
    """Every run's sections. CSV holds every pair, a row each; the other formats what a reader needs."""
    if format == "csv":
        return csv_text(CSV_COLUMNS, [line for run in runs for line in _csv_lines(run, alpha, learner)])
    parts: list[str] = []
    for run in runs:
        heading = f"{table_name(run.table or run.name)}. {run.experiment['title']}"
        parts += _written(heading, sections(run, alpha, learner), format)
    return latex_document(parts) if format == "latex" else "\n\n".join(parts)


def sections(run: RunResult, alpha: float, learner: str | None = None) -> list[Section]:
    """Each data set by itself, average ranks, and pairs across data sets."""
    check_comparable(run, learner)
    notes = [f"{note}, so its comparisons are optimistic" for note in choice_notes(run)]
    if run.failed:
        notes.append(f"{run.failed:,} units failed: comparisons are on the splits that both have")
    tests = [_by_dataset(run, alpha, learner), _ranks(run, alpha), _pairs(run, alpha, learner)]
    return [part for part in [*tests, Section(notes=notes)] if part.lines or part.notes]


def best_lines(run: RunResult, dataset: str, alpha: float) -> list[str]:
    """The best learner of a data set against each other one, a line each."""
    titles, best = column_titles(run.learners), best_learner(run, dataset)
    comparisons = against(run, dataset)
    if not comparisons:
        return []
    wide = max(len(titles[c.first]) for c in comparisons)
    lines = [
        f"{titles[c.first]:<{wide}}  {_difference(run, c)}  "
        + (f"p {_p(c.p)}{_star(c.p, alpha)}" if c.p is not None else f"no test: {c.reason}")
        for c in comparisons
    ]
    splits = sorted({c.splits for c in comparisons})
    number = f"{splits[0]}" if len(splits) == 1 else f"{splits[0]} to {splits[-1]}"
    return [
        f"{titles[best]} has the lowest mean on {dataset}; the others minus it, on the same {number} splits:",
        *lines,
        f"(p by the corrected t-test of Nadeau & Bengio (2003), each for itself; *: p <= {alpha:g})",
    ]


# -- what is shown ------------------------------------------------------------------------------------


def _by_dataset(run: RunResult, alpha: float, learner: str | None) -> Section:
    titles = column_titles(run.learners)
    columns = [x for x in run.learners if x != learner]
    lines, untested = [], {}
    for dataset in run.datasets:
        found = {c.first: c for c in against(run, dataset, learner)}
        for comparison in found.values():
            if comparison.reason:
                untested.setdefault(comparison.reason, {})[dataset] = None
        if any(c.p is not None for c in found.values()):
            best = learner or best_learner(run, dataset)
            cells = ["best" if x == best else _cell(run, found.get(x), alpha) for x in columns]
            lines.append([dataset, *cells])
    everywhere = len(run.datasets)
    notes = [
        f"no t-test{'' if len(names) == everywhere else ' on ' + ', '.join(names)}: {reason}"
        for reason, names in untested.items()
    ]
    if not lines:
        return Section(notes=notes)
    of = titles[learner] if learner else "the data set's best"
    return Section(
        f"Difference to {of}, and p of the corrected t-test",
        ["data set", *(titles[x] for x in columns)],
        lines,
        1,
        [f"*: p <= {alpha:g}, each p for itself (Nadeau & Bengio 2003)", *_cautious(run, lines), *notes],
    )


def _cautious(run: RunResult, lines: list[list[str]]) -> list[str]:
    """Where the test can hardly find a difference: its correction grows with the test part."""
    sizes = {dataset: size for (dataset, _), size in run.sizes.items()}
    names = [dataset for dataset, *_ in lines if sizes[dataset][1] > sizes[dataset][0]]
    return [f"{', '.join(names)}: more rows test than train, so the test is very cautious"] if names else []


def _cell(run: RunResult, comparison: Paired | None, alpha: float) -> str:
    if comparison is None:
        return "–"
    if comparison.p is None:
        return _difference(run, comparison)
    return f"{_difference(run, comparison)} {_p(comparison.p)}{_star(comparison.p, alpha)}"


def _ranks(run: RunResult, alpha: float) -> Section:
    titles = column_titles(run.learners)
    try:
        ranks = average_ranks(run, alpha)
    except ResultsError as error:
        return Section(notes=[str(error)])
    letters = _letters(ranks)
    rows = zip(ranks.learners, ranks.ranks, letters, strict=True)
    return Section(
        f"Average ranks on {len(ranks.datasets)} data sets",
        ["learner", "rank", "group"],
        [[titles[x], f"{rank:.2f}", letter] for x, rank, letter in rows],
        1,
        [
            f"Friedman: p {_p(ranks.friedman_p)} that all are equal",
            f"Nemenyi: ranks differ at {alpha:g} if they are {ranks.critical_difference:.2f} apart; those that "
            "share a letter do not",
        ],
    )


def _letters(ranks: Ranks) -> list[str]:
    """The groups that each learner is in, by letters; a learner in none is a group of its own."""
    alone = [(i, i) for i in range(len(ranks.learners)) if not any(a <= i <= b for a, b in ranks.groups)]
    groups = sorted([*ranks.groups, *alone])
    names = [*string.ascii_lowercase, *(f"({n})" for n in range(27, len(groups) + 1))]
    return [
        "".join(name for name, (first, last) in zip(names, groups, strict=False) if first <= i <= last)
        for i in range(len(ranks.learners))
    ]


def _pairs(run: RunResult, alpha: float, learner: str | None) -> Section:
    titles = column_titles(run.learners)
    datasets, pairs = signed_ranks(run, learner)
    if len(datasets) < 2 or not pairs:
        return Section()
    number = f"{len(pairs)} pairs" if len(pairs) > 1 else "one pair"
    kind = "exact" if len(datasets) <= ALL_SIGNS else "exact where no differences are equal"
    notes = [f"signed-rank test, {kind}; Holm: corrected for {number}; *: that is <= {alpha:g}"]
    least = min(1.0, len(pairs) * least_signed_rank_p(len(datasets)))
    if least > alpha:
        notes.append(
            f"with {len(datasets)} data sets and {number} no Holm p can be below {_p(least)}, so nothing can "
            f"differ at {alpha:g}"
        )
    return Section(
        f"Pairs by their means on {len(datasets)} data sets (Wilcoxon)",
        ["first", "second", "first better, equal, worse", "p", "Holm"],
        [
            [
                titles[x.first],
                titles[x.second],
                f"{x.wins}, {x.ties}, {x.losses}",
                _p(x.p),
                _p(x.holm) + (_star(x.holm, alpha) or " "),
            ]
            for x in sorted(pairs, key=lambda x: x.p)
        ],
        2,
        notes,
    )


def _difference(run: RunResult, comparison: Paired) -> str:
    decimals = decimals_of(run.metric, comparison.difference, comparison.splits)
    text = f"{comparison.difference:+.{decimals}f}"
    return text if float(text) else text.replace("-", "+")


def _p(p: float) -> str:
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def _star(p: float, alpha: float) -> str:
    return "*" if p <= alpha else ""


# -- how it is written --------------------------------------------------------------------------------


def _written(heading: str, parts: list[Section], format: str) -> list[str]:
    if format == "text":
        return [heading, *(_text(part) for part in parts)]
    if format == "markdown":
        return [f"**{heading}**", *(_markdown(part) for part in parts)]
    if format == "html":
        return [f"<h3>{html.escape(heading)}</h3>", *(_html(part) for part in parts)]
    return [rf"\section*{{{escape_latex(heading)}}}", *(_latex(part) for part in parts)]


def _body(part: Section, style: str) -> str:
    aligned = ("left",) * part.left + ("right",) * (len(part.header) - part.left)
    return tabulate(part.lines, part.header, tablefmt=style, disable_numparse=True, colalign=aligned)


def _text(part: Section) -> str:
    notes = "\n".join(f"({note})" for note in part.notes)
    return f"{part.caption}\n\n{_body(part, 'simple')}\n{notes}" if part.lines else notes


def _markdown(part: Section) -> str:
    notes = [note.replace("*", r"\*") for note in part.notes]
    if not part.lines:
        return "\n\n".join(notes)
    return "\n\n".join([part.caption, _body(part, "github").replace("*", r"\*"), *notes])


def _html(part: Section) -> str:
    notes = "".join(f"\n<p>{html.escape(note)}</p>" for note in part.notes)
    if not part.lines:
        return notes.strip()
    return f"<h4>{html.escape(part.caption)}</h4>\n{_body(part, 'html')}{notes}"


def _latex(part: Section) -> str:
    notes = "\n\n".join(escape_latex(note) for note in part.notes)
    if not part.lines:
        return f"{notes}\n"
    table = long_table(part.header, part.lines, part.left)
    return f"\\subsection*{{{escape_latex(part.caption)}}}\n{table}\n{notes}\n"


def _csv_lines(run: RunResult, alpha: float, learner: str | None) -> list[list[str]]:
    check_comparable(run, learner)
    name, lines = run.table or run.name, []

    def add(test, dataset, first, second, difference, n, statistic, p, corrected, differs, note="") -> None:
        numbers = [digits(x) for x in (difference, n, statistic, p, corrected)]
        mark = "" if differs is None else int(differs)
        lines.append([name, test, dataset, first, second, *numbers, mark, note])

    pairs = [x for x in itertools.combinations(run.learners, 2) if learner is None or learner in x]
    for dataset in run.datasets:
        for pair in pairs:
            if c := paired(run, dataset, *pair):
                differs = None if c.p is None else c.p <= alpha
                add("corrected-t", dataset, *pair, c.difference, c.splits, c.t, c.p, None, differs, c.reason)
    datasets, tested = signed_ranks(run, learner)
    for x in tested if len(datasets) > 1 else []:
        add(
            *("wilcoxon", "", x.first, x.second, x.difference, len(datasets)),
            *(None, x.p, x.holm, x.holm <= alpha),
        )
    try:
        ranks = average_ranks(run, alpha)
    except ResultsError:
        return lines
    n, rank = len(ranks.datasets), dict(zip(ranks.learners, ranks.ranks, strict=True))
    add("friedman", "", "", "", None, n, None, ranks.friedman_p, None, ranks.friedman_p <= alpha)
    for first, second in pairs:
        if first in rank and second in rank:
            difference = rank[first] - rank[second]
            apart = abs(difference) >= ranks.critical_difference
            add("nemenyi", "", first, second, difference, n, ranks.critical_difference, None, None, apart)
    return lines
