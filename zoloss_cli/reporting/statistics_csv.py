"""The statistics of runs as CSV: every test of every pair of learners, one row each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.render.csv import format_value, write_csv
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.statistics import (
    check_comparable,
    compare_by_signed_ranks,
    compare_pair,
    compute_average_ranks,
)


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
