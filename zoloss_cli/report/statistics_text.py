"""Render statistics of runs: grids and a summary, or every test of every pair of learners as CSV."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

from zoloss_cli.errors import ResultsError
from zoloss_cli.registry import load_metric
from zoloss_cli.report.notes import describe_choices
from zoloss_cli.report.render import Grid, format_table_name, load_renderer, render_objects_csv
from zoloss_cli.report.runs import RunResult, build_column_titles
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
    find_settings,
    name_effect,
)
from zoloss_cli.report.tables import describe_splits

MAX_LISTED_PAIRS = 5


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


def render_statistics(
    runs: list[RunResult],
    format: str,
    alpha: float,
    learner: str | None = None,
    standalone: bool = False,
    ranks_only: bool = False,
) -> str:
    """Return the statistics of runs in a format; CSV has one row per test.

    `alpha` is the significance level; others are compared with `learner`, or with each data set's best. With
    `ranks_only`, there are only average ranks, not in CSV.
    """
    if format == "csv":
        rows = [row for run in runs for row in _list_tests(run, alpha, learner)]
        return render_objects_csv([field.name for field in fields(TestRow)], rows)
    renderer, parts = load_renderer(format), list[str]()
    for run in runs:
        if ranks_only:
            parts.append(renderer.render_grid(build_rank_grid(run, alpha)))
            continue
        report = StatisticsReport(run, alpha, learner)
        parts.append(renderer.render_heading(f"{format_table_name(run.number)}. {run.experiment.title}"))
        parts += [renderer.render_grid(grid) for grid in report.build_sections()]
        parts.append(renderer.render_paragraph(report.describe()))
    return renderer.join(parts, standalone)


def build_rank_grid(run: RunResult, alpha: float) -> Grid:
    """Return the average ranks in each metric, and for each setting if the rows of the run are settings."""
    titles, lines, notes = build_column_titles(run.learners), list[list[str]](), dict[str, None]()
    for metric in run.metrics:
        for setting, names in (find_settings(run) or {"": []}).items():
            try:
                found = compute_average_ranks(run.show_metric(metric), alpha, names)
            except ResultsError as error:
                notes[str(error)] = None
                continue
            limit = found.ranks[0] + found.critical_difference
            ranks = zip(found.learners, found.ranks, strict=True)
            marked = {x: f"{rank:.2f}{'*' if rank >= limit else ' '}" for x, rank in ranks}
            line = [f"{metric} at {setting}" if setting else metric, str(len(found.datasets))]
            line += [marked.get(x, "–") for x in run.learners]
            lines.append([*line, format_p(found.friedman_p), f"{found.critical_difference:.2f}"])
    header = ["average rank in", "data sets", *titles.values(), "Friedman p", "critical difference"]
    explained = f"1: best; *: significantly worse than the best at {alpha:g} by Nemenyi's critical difference"
    caption = f"{format_table_name(run.number)}. {run.experiment.title}"
    return Grid(caption, header, lines, notes=[explained, *notes])


def _list_tests(run: RunResult, alpha: float, learner: str | None) -> Iterator[TestRow]:
    check_comparable(run, learner)
    pairs = [x for x in itertools.combinations(run.learners, 2) if learner is None or learner in x]
    for dataset in run.datasets:
        for pair in pairs:
            if c := compare_pair(run, dataset, *pair):
                differs = None if c.p is None else int(c.p <= alpha)
                found = (c.difference, c.splits, c.t, c.p, None, differs, c.effect, c.reason)
                yield TestRow(run.number, "corrected-t", dataset, c.first, c.second, *found)
    datasets, tested = compare_by_signed_ranks(run, learner)
    n = len(datasets)
    for x in tested if n > 1 else []:
        numbers_of_pair = (x.difference, n, None, x.p, x.holm, int(x.holm <= alpha), x.effect)
        yield TestRow(run.number, "wilcoxon", "", x.first, x.second, *numbers_of_pair)
    try:
        ranks = compute_average_ranks(run, alpha)
    except ResultsError:
        return
    n, p, limit = len(ranks.datasets), ranks.friedman_p, ranks.critical_difference
    yield TestRow(run.number, "friedman", n=n, p=p, differs=int(p <= alpha))
    rank = dict(zip(ranks.learners, ranks.ranks, strict=True))
    for first, second in pairs:
        if first in rank and second in rank:
            difference = rank[first] - rank[second]
            differs = int(abs(difference) >= limit)
            yield TestRow(run.number, "nemenyi", "", first, second, difference, n, limit, differs=differs)


class StatisticsReport:
    """The tests of a run's learners: against one of them or each data set's best, and across data sets."""

    def __init__(self, run: RunResult, alpha: float, learner: str | None = None):
        check_comparable(run, learner)
        self.run, self.alpha, self.learner = run, alpha, learner
        self.titles = build_column_titles(run.learners)
        self.comparisons = {dataset: compare_with_best(run, dataset, learner) for dataset in run.datasets}
        self.datasets, self.pairs = compare_by_signed_ranks(run, learner)

    @cached_property
    def ranks(self) -> Ranks | str:
        """Return the average ranks, or why there are none."""
        try:
            return compute_average_ranks(self.run, self.alpha)
        except ResultsError as error:
            return str(error)

    @property
    def least_p(self) -> float:
        """Return the smallest p-value possible after Holm's correction."""
        return min(1.0, len(self.pairs) * compute_least_signed_rank_p(len(self.datasets)))

    def describe(self) -> str:
        """Return a paragraph on which tests were made, what is significant, and what the tests do not show."""
        n_datasets = len(self.datasets)
        metric = load_metric(self.run.metric).name.replace("train_", "training_").replace("_", " ")
        sentences = [
            f"{_count(len(self.run.learners), 'learner')} are compared by their means of {metric} on "
            f"{_count(n_datasets, 'data set')} that all of them have ({describe_splits(self.run)}).",
            *self._describe_ranks(),
            *(self._describe_pairs() if n_datasets > 1 and self.pairs else []),
            self._describe_dataset_tests(),
            "That a difference is not significant does not show that learners are equal.",
        ]
        if n_datasets > 1:
            sentences.append("Ranks show an order on these data sets, not how much better a learner is.")
        notes = describe_choices(self.run)
        return " ".join(
            [*sentences, *(f"The comparison is biased: {note}, which favours it." for note in notes)]
        )

    def _describe_ranks(self) -> list[str]:
        ranks = self.ranks
        if isinstance(ranks, str):
            return ["There are too few learners or data sets for average ranks."]
        n, friedman = len(ranks.datasets), format_p(ranks.friedman_p)
        best, *others = [self.titles[x] for x in ranks.learners]
        found = f"{best} has the lowest (best) average rank on {n} distinct data sets, {ranks.ranks[0]:.2f}"
        if ranks.friedman_p > self.alpha:
            return [
                f"Friedman's test does not reject at {self.alpha:g} that all are equal (p {friedman}): "
                f"{found}, but ranks give no reason to prefer a learner."
            ]
        limit = ranks.ranks[0] + ranks.critical_difference
        worse = [title for title, rank in zip(others, ranks.ranks[1:], strict=True) if rank >= limit]
        unclear = [title for title, rank in zip(others, ranks.ranks[1:], strict=True) if rank < limit]
        beats = f"significantly better than {join_words(worse)}" if worse else "better than no other"
        near = f"; it cannot be distinguished from {join_words(unclear)}" if unclear else ""
        return [
            f"Friedman's test rejects at {self.alpha:g} that all are equal (p {friedman}). {found}.",
            f"By Nemenyi's test, average ranks differ if they are {ranks.critical_difference:.2f} or more "
            f"apart: {best} is {beats}{near}.",
        ]

    def _describe_pairs(self) -> list[str]:
        number = _count(len(self.pairs), "pair")
        start = f"By Wilcoxon's signed-rank test with Holm's correction for {number},"
        if self.least_p > self.alpha:
            return [
                f"{start} no difference can be significant at {self.alpha:g}: {len(self.datasets)} data sets "
                f"give no corrected p below {format_p(self.least_p)}."
            ]
        found = sorted((x for x in self.pairs if x.holm <= self.alpha), key=lambda x: x.holm)
        if not found:
            return [f"{start} no two differ at {self.alpha:g}."]
        listed = [self._describe_winner(x) for x in found[:MAX_LISTED_PAIRS]]
        more = len(found) - len(listed)
        listed += [f"and {more} more"] * (more > 0)
        return [f"{start} {len(found)} of them differ at {self.alpha:g}: {'; '.join(listed)}."]

    def _describe_winner(self, pair: SignedRanks) -> str:
        first, second = self.titles[pair.first], self.titles[pair.second]
        if pair.effect < 0:
            first, second = second, first
        return f"{first} is better than {second} (p {format_p(pair.holm)}, r {abs(pair.effect):.2f})"

    def _describe_dataset_tests(self) -> str:
        tested = [c for found in self.comparisons.values() for c in found if c.p is not None]
        if not tested:
            return "No test is made on single data sets."
        differing = [c for c in tested if c.p is not None and c.p <= self.alpha]
        of = self.titles[self.learner] if self.learner else "the data set's best learner"
        rows = _count(len({c.dataset for c in tested}), "row")
        sentence = (
            f"On single data sets, by the corrected t-test of Nadeau and Bengio, {len(differing)} of "
            f"{len(tested)} differences from {of} in {rows} are significant at {self.alpha:g}"
        )
        if differing:
            largest = max(differing, key=lambda c: abs(c.effect or 0.0))
            size = abs(largest.effect or 0.0)
            sentence += (
                f", the largest effect being that of {self.titles[largest.first]} on "
                f"{largest.dataset} (d_z {size:.2f}, {name_effect(size)})"
            )
        if self.learner is None:
            return (
                f"{sentence}; these p-values are corrected neither for multiple testing nor for choosing "
                "the best by the same numbers, so some are significant by chance alone."
            )
        return (
            f"{sentence}; these p-values are not corrected for multiple testing: of so many, about "
            f"{self.alpha * len(tested):.0f} would be significant if all learners were equal."
        )

    def build_sections(self) -> list[Grid]:
        """Return the tests on each data set, average ranks, and pairs across data sets."""
        notes = [f"{note}, so its comparisons are optimistic" for note in describe_choices(self.run)]
        if self.run.n_failed:
            notes.append(
                f"{self.run.n_failed:,} tasks failed: comparisons use the splits that both learners have"
            )
        sections = [*self._build_dataset_tests(), self._build_ranks(), self._build_pairs(), Grid(notes=notes)]
        return [section for section in sections if section.lines or section.notes]

    def _build_dataset_tests(self) -> list[Grid]:
        """Return differences with p-values, and Cohen's d_z of the tested ones."""
        columns = [x for x in self.run.learners if x != self.learner]
        header = ["data set", *(self.titles[x] for x in columns)]
        tests: list[list[str]] = []
        effects: list[list[str]] = []
        untested: dict[str, dict[str, None]] = {}
        for dataset, comparisons in self.comparisons.items():
            for comparison in comparisons:
                if comparison.reason:
                    untested.setdefault(comparison.reason, {})[dataset] = None
            best = self.learner or find_best_learner(self.run, dataset)
            if any(c.p is not None for c in comparisons):
                shown = {best: "best"} | {c.first: self._format_test(c) for c in comparisons}
                tests.append([dataset, *(shown.get(x, "–") for x in columns)])
            if any(c.effect is not None for c in comparisons):
                shown = {best: "best"} | {
                    c.first: f"{c.effect:+.2f}" for c in comparisons if c.effect is not None
                }
                effects.append([dataset, *(shown.get(x, "–") for x in columns)])
        notes = [
            f"no t-test{'' if len(names) == len(self.run.datasets) else ' on ' + ', '.join(names)}: {reason}"
            for reason, names in untested.items()
        ]
        if not tests:
            return [Grid(notes=notes)]
        of = self.titles[self.learner] if self.learner else "the data set's best"
        level = f"*: p <= {self.alpha:g}, not corrected for multiple testing (Nadeau & Bengio 2003)"
        explained = (
            "mean difference over the standard deviation of differences (Cohen 1988); "
            f"|d_z| >= {SMALL} is small, >= {MEDIUM} medium, >= {LARGE} large"
        )
        weak = self._find_conservative([line[0] for line in tests])
        title, notes = f"Difference from {of}, and p-value of the corrected t-test", [level, *weak, *notes]
        shown_effects = Grid("Effect size d_z of these differences", header, effects, notes=[explained])
        return [Grid(title, header, tests, notes=notes), shown_effects]

    def _find_conservative(self, datasets: list[str]) -> list[str]:
        """Return where the test is very conservative: its correction grows with the size of the test part."""
        sizes = {dataset: cell.sizes for (dataset, _), cell in self.run.cells.items()}
        names = [d for d in datasets if (size := sizes[d]) is not None and size.n_test > size.n_train]
        return (
            [f"{', '.join(names)}: more test than training samples, so the test is very conservative"]
            if names
            else []
        )

    def _format_test(self, comparison: PairComparison) -> str:
        difference = _format_difference(self.run, comparison)
        return difference if comparison.p is None else f"{difference} {_mark_p(comparison.p, self.alpha)}"

    def _build_ranks(self) -> Grid:
        ranks = self.ranks
        if isinstance(ranks, str):
            return Grid(notes=[ranks])
        rows = zip(ranks.learners, ranks.ranks, _assign_letters(ranks), strict=True)
        notes = [
            f"Friedman: p {format_p(ranks.friedman_p)} for equal ranks",
            f"Nemenyi: ranks differ at {self.alpha:g} if they are {ranks.critical_difference:.2f} apart; those "
            "that share a letter do not",
            describe_merged(ranks.datasets),
        ]
        return Grid(
            f"Average ranks on {len(ranks.datasets)} data sets",
            ["learner", "rank", "group"],
            [[self.titles[x], f"{rank:.2f}", letters] for x, rank, letters in rows],
            notes=list(filter(None, notes)),
        )

    def _build_pairs(self) -> Grid:
        n_datasets, pairs = len(self.datasets), self.pairs
        if n_datasets < 2 or not pairs:
            return Grid()
        number = f"{len(pairs)} pairs" if len(pairs) > 1 else "one pair"
        kind = "exact" if n_datasets <= MAX_PERMUTED_DATASETS else "exact unless differences are tied"
        notes = [
            f"signed-rank test, {kind}; Holm: corrected for {number}; *: Holm p <= {self.alpha:g}",
            "r: rank-biserial correlation, +1 if the first is better on all data sets, -1 if on none "
            "(Kerby 2014)",
        ]
        if self.least_p > self.alpha:
            notes.append(
                f"with {n_datasets} data sets and {number} no Holm p can be below {format_p(self.least_p)}, so "
                f"no difference can be significant at {self.alpha:g}"
            )
        lines = [
            [
                self.titles[x.first],
                self.titles[x.second],
                f"{x.wins}, {x.ties}, {x.losses}",
                f"{x.effect:+.2f}",
                format_p(x.p),
                format_p(x.holm) + ("*" if x.holm <= self.alpha else " "),
            ]
            for x in sorted(pairs, key=lambda x: x.p)
        ]
        header = ["first", "second", "first better, equal, worse", "r", "p", "Holm"]
        return Grid(f"Pairs by their means on {n_datasets} data sets (Wilcoxon)", header, lines, 2, notes)


def describe_best(run: RunResult, dataset: str, alpha: float) -> list[str]:
    """Compare the best learner of a data set with every other one, one line each."""
    titles, best = build_column_titles(run.learners), find_best_learner(run, dataset)
    comparisons = compare_with_best(run, dataset)
    if not comparisons or best is None:
        return []
    wide = max(len(titles[c.first]) for c in comparisons)
    lines = [
        f"{titles[c.first]:<{wide}}  {_format_difference(run, c)}  "
        + (f"p {_mark_p(c.p, alpha)}" if c.p is not None else f"no test: {c.reason}")
        for c in comparisons
    ]
    splits = sorted({c.splits for c in comparisons})
    number = f"{splits[0]}" if len(splits) == 1 else f"{splits[0]} to {splits[-1]}"
    extreme = "highest" if load_metric(run.metric).direction == "higher" else "lowest"
    return [
        f"{titles[best]} has the {extreme} mean on {dataset}; the others minus it, on the same "
        f"{number} splits:",
        *lines,
        "(p-values of the corrected t-test of Nadeau & Bengio (2003), not corrected for multiple testing; "
        f"*: p <= {alpha:g})",
    ]


def _assign_letters(ranks: Ranks) -> list[str]:
    """Return the groups of each learner as letters; a learner in none is a group of its own."""
    alone = [(i, i) for i in range(len(ranks.learners)) if not any(a <= i <= b for a, b in ranks.groups)]
    groups = sorted([*ranks.groups, *alone])
    names = [*string.ascii_lowercase, *(f"({n})" for n in range(27, len(groups) + 1))]
    return [
        "".join(name for name, (first, last) in zip(names, groups, strict=False) if first <= i <= last)
        for i in range(len(ranks.learners))
    ]


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def join_words(names: list[str]) -> str:
    """Return names joined as in a sentence: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def format_p(p: float) -> str:
    """Return a p-value with three decimals."""
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def _mark_p(p: float, alpha: float) -> str:
    return format_p(p) + ("*" if p <= alpha else "")


def _format_difference(run: RunResult, comparison: PairComparison) -> str:
    decimals = load_metric(run.metric).count_decimals(comparison.difference, comparison.splits)
    text = f"{comparison.difference:+.{decimals}f}"
    return text if float(text) else text.replace("-", "+")
