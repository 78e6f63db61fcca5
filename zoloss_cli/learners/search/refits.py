"""The authors' way to score hyperplanes through samples: relabel, refit and count (Nguyen & Sanner 2013)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from zoloss_cli.learners.linear.liblinear import SOLVERS
from zoloss_cli.learners.problem import Problem
from zoloss_cli.learners.search.merged_samples import MergedSamples
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress
from zoloss_cli.utils.optional_imports import import_optional

RANK_TOLERANCE = 1e-9  # of samples of length 1: below this, they do not determine a hyperplane
ENUMERATION_SHARE = 0.4  # of CSA's time goes into combinations of the nearest samples, the rest into swaps

Score = tuple[float, float]  # the loss, and the negative |sum of labels| that decides between equal losses
WORST: Score = (np.inf, np.inf)


class RefitScorer:
    """Relabel the data by the hyperplane through some samples, and refit SVM and LR at C = 1.

    Parameters
    ----------
    problem : Problem
        The samples and their own labels.
    samples : MergedSamples
        The same samples, merged, from which combinations are chosen.
    search : SearchProgress
        The search that is offered every refit.
    """

    def __init__(self, problem: Problem, samples: MergedSamples, search: SearchProgress):
        self._X, self._samples, self._search = problem.X, samples, search
        self._liblinear = import_optional("liblinear.liblinearutil", "the variant 'refit'")
        # Only the labels change from one refit to the next: rows, which take longer, are converted once.
        self._data = self._liblinear.problem(problem.y, problem.X)
        self._labels = np.ctypeslib.as_array(self._data.y, (len(problem.y),))
        self._options = [self._liblinear.parameter(f"-s {s} -c 1 -e 0.0001 -q") for s in SOLVERS.values()]

    def score(self, chosen: Sequence[int]) -> Score:
        """Return the loss of the better refit, and the negative |sum of labels|: smaller is better.

        Parameters
        ----------
        chosen : sequence of int
            As many merged samples as determine a hyperplane.

        Returns
        -------
        tuple of (float, float)
            Infinite if they determine none, or if it has all samples on one side.
        """
        _, sizes, axes = np.linalg.svd(self._samples.Y[list(chosen)])
        if sizes[-1] < RANK_TOLERANCE:
            return WORST
        labels = np.where(self._X @ (axes[-1] @ self._samples.axes) >= 0.0, 1.0, -1.0)
        balance = abs(labels.sum())
        if balance == len(labels):
            return WORST
        self._labels[:] = labels
        least = np.inf
        for options in self._options:
            model = self._liblinear.train(self._data, options)
            w = self._samples.axes @ np.array(model.w[: self._X.shape[1]])
            for turned in (w, -w):  # a hyperplane has no direction, and so neither do its labels
                loss = self._samples.compute_loss(turned)
                self._search.offer(loss, turned)
                least = min(least, loss)
        return least, -balance


def is_better(first: Score, second: Score) -> bool:
    """Return whether the first has the smaller loss, or the larger |sum of labels| at equal losses."""
    if first[0] < second[0] - LOSS_TOLERANCE:
        return True
    return first[0] <= second[0] + LOSS_TOLERANCE and first[1] < second[1]


def enumerate_combinations(
    score: Callable[[Sequence[int]], Score],
    should_stop: Callable[[], bool],
    among: Iterable[int],
    size: int,
    most: int,
) -> tuple[list[int], Score]:
    """Score combinations in lexicographic order, and return the first of the best ones.

    Parameters
    ----------
    score : callable
        From a combination to its score.
    should_stop : callable
        Returns whether to end after this combination.
    among : iterable of int
        The samples to combine, in this order.
    size : int
        Size of a combination.
    most : int
        Maximum number of combinations to score.

    Returns
    -------
    tuple of (list of int, tuple of (float, float))
        The combination and its score.
    """
    among = list(among)
    best, least = among[:size], WORST
    for combination in itertools.islice(itertools.combinations(among, size), most):
        found = score(combination)
        if is_better(found, least):
            best, least = list(combination), found
        if should_stop():
            break
    return best, least


def descend_by_first_swaps(
    score: Callable[[Sequence[int]], Score],
    should_stop: Callable[[], bool],
    chosen: list[int],
    current: Score,
    order: Sequence[int],
) -> tuple[list[int], Score]:
    """Make the first swap of one sample that helps, and start over, until none does.

    Parameters
    ----------
    score : callable
        From a combination to its score.
    should_stop : callable
        Returns whether to end after this swap.
    chosen : list of int
        The combination to start from.
    current : tuple of (float, float)
        Its score.
    order : sequence of int
        The samples to swap in, in the order in which they are tried for each place.

    Returns
    -------
    tuple of (list of int, tuple of (float, float))
        A combination that no swap improves, unless it had to stop, and its score.
    """
    while True:
        for place, entering in itertools.product(range(len(chosen)), order):
            if entering in chosen:
                continue
            tried = [*chosen[:place], entering, *chosen[place + 1 :]]
            found = score(tried)
            improves = is_better(found, current)
            if improves:
                chosen, current = tried, found
            if should_stop():
                return chosen, current
            if improves:
                break
        else:
            return chosen, current
