"""The statistics of a run in plain sentences: which tests, what they find, and what cannot be said."""

from __future__ import annotations

from zoloss_cli.errors import ResultsError
from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.effect_sizes import name_effect
from zoloss_cli.reporting.notes import describe_choices
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.statistics import (
    PairComparison,
    Ranks,
    SignedRanks,
    check_comparable,
    compare_by_signed_ranks,
    compare_with_best,
    compute_average_ranks,
    compute_least_signed_rank_p,
)
from zoloss_cli.reporting.tables import describe_splits
from zoloss_cli.reporting.titles import build_column_titles

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
