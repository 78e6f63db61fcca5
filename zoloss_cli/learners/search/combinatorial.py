"""Combinatorial search over hyperplanes through samples: PCS and CSA (Nguyen & Sanner 2013)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.pivot import descend_by_swaps, rebuild_vertex
from zoloss_cli.learners.base import NeededPackage, Problem
from zoloss_cli.learners.linear.surrogates import SOLVERS
from zoloss_cli.learners.search.base import Start, TimeLimit, VertexSearch
from zoloss_cli.learners.search.hyperplanes import HyperplaneEnumeration
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress
from zoloss_cli.learners.search.samples import MergedSamples
from zoloss_cli.utils.imports import import_optional

RANK_TOLERANCE = 1e-9  # of samples of length 1: below this, they do not determine a hyperplane
ENUMERATION_SHARE = 0.4  # of CSA's time goes into combinations of the nearest samples, the rest into swaps

Score = tuple[float, float]  # the loss, and the negative |sum of labels| that decides between equal losses
WORST: Score = (np.inf, np.inf)


class RefitScorer:
    """Relabel the data by the hyperplane through some merged samples, and refit SVM and LR at C = 1."""

    def __init__(self, problem: Problem, samples: MergedSamples, search: SearchProgress):
        self._X, self._samples, self._search = problem.X, samples, search
        self._liblinear = import_optional("liblinear.liblinearutil", "the variant 'refit'")
        # Only the labels change from one refit to the next: rows, which take longer, are converted once.
        self._data = self._liblinear.problem(problem.y, problem.X)
        self._labels = np.ctypeslib.as_array(self._data.y, (len(problem.y),))
        self._options = [self._liblinear.parameter(f"-s {s} -c 1 -e 0.0001 -q") for s in SOLVERS.values()]

    def score(self, chosen: Sequence[int]) -> Score:
        """Return the loss of the better refit, and the negative |sum of labels|: smaller is better.

        Both are infinite if the samples determine no hyperplane, or one with all samples on one side.
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
            for turned in (w, -w):  # a hyperplane has no orientation, and so neither do its labels
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
    """Score the first `most` combinations in lexicographic order; return the first best one, and its score."""
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
    """Make the first swap that improves the score, and start over, until none does or the search should stop.

    Samples to swap in are tried in this order for each place. Returns the combination and its score.
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


MAX_EXTRA_SAMPLES = 4  # on one hyperplane: with more, a search that is cut short skips it
EXTRA_NEAREST = 10  # CSA starts with combinations of the D + 10 nearest samples
SWAPS_PER_BLOCK = 200  # between two checks of the clock
INDEPENDENCE_TOLERANCE = 1e-6  # of a sample of length 1, the part independent of others

Lines = Annotated[
    int,
    Field(
        ge=1,
        description="maximum number of combinations of D-1 samples to extend by every D-th one ('refit': of D)",
    ),
]
Variant = Annotated[
    Literal["points", "refit"],
    Field(
        description="score the hyperplane through the samples ('points'), as published; or relabel the data by "
        "it, refit SVM and LR at C = 1 and score those ('refit'), as the authors' program does"
    ),
]


@dataclass(eq=False, repr=False)
class CombinatorialSearch(VertexSearch):  # numpydoc ignore=PR02
    """Base class of both searches, with their parameters."""

    lines: Lines = 100_000
    variant: Variant = "points"
    time_limit: TimeLimit = None
    seeding: Start = "svm"

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return what the start needs, and LIBLINEAR's package if the search refits."""
        refits = [NeededPackage("liblinear", "for its variant 'refit'")] if self.variant == "refit" else []
        return [*super().list_needed_packages(), *refits]


class PrioritizedSearchClassifier(CombinatorialSearch):  # numpydoc ignore=PR02
    """Prioritized combinatorial search (PCS) for the 0-1 loss.

    Hyperplanes through D samples are tried, starting with combinations near the hyperplane of an SVM. If
    `lines` covers all combinations, the search is exhaustive, and its result optimal up to rounding:
    `lower_bound_` is then its loss. If not, hyperplanes on which more than D + 4 samples meet are skipped.

    Parameters
    ----------
    lines : int >= 1, default=100000
        Maximum number of combinations of D-1 samples to extend by every D-th one ('refit': of D).
    variant : {'points', 'refit'}, default='points'
        Score the hyperplane through the samples ('points'), as published; or relabel the data by it, refit SVM
        and LR at C = 1 and score those ('refit'), as the authors' program does.
    time_limit : float > 0 or None, default=None
        Seconds after which the search ends with the best weights so far.
    seeding : {'lr', 'svm', 'zero', 'fld'} or list of float, default='svm'
        Weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', 'zero', those of
        Fisher's linear discriminant 'fld', or a list (bias first).

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        No linear classifier has a smaller loss, in mean sample weights (errors if all weights are equal).
    n_features_in_ : int
        Number of features.
    optimal_ : bool
        Whether the loss attains `lower_bound_`.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the sample weight that is misclassified.

    Notes
    -----
    Combinations come in lexicographic order of the samples sorted by |<w, x>|; those that share their first D-1
    samples are evaluated in one sweep. The samples on a hyperplane count as correct, since tilting it makes
    them so; if more than D samples meet, the best tilt is a smaller problem of the same kind. The returned
    weights have been tilted, and their errors are counted strictly.

    Deviation: if `lines` does not cover all combinations, hyperplanes on which more than D + 4 samples meet are
    skipped, since their tilts may take longer than all others; the paper scores each hyperplane as it is.

    Variant 'refit' is the authors' program: combinations of D samples in the same order, each of which relabels
    the data for a refit of SVM and LR at C = 1, until `lines` or the time is used up.

    References
    ----------
    .. [1] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Section 4, Figure 5.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import PrioritizedSearchClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> PrioritizedSearchClassifier().fit(scale(X), y).training_errors_ <= 35  # its start has 39
    True
    """

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        order = samples.order_by_distance(search.w)
        if self.variant == "refit":
            scorer = RefitScorer(problem, samples, search)
            enumerate_combinations(scorer.score, search.should_stop, order, samples.Y.shape[1] - 1, self.lines)
            return
        unavoidable = samples.unavoidable_loss
        planes = HyperplaneEnumeration(samples.Y, samples.c, search.loss - unavoidable, order)
        if planes.n_lines > self.lines:
            planes.max_on = samples.Y.shape[1] + MAX_EXTRA_SAMPLES
        for loss, w in planes:
            if w is not None:
                search.offer(unavoidable + loss, w)
            if search.should_stop() or planes.n_swept >= self.lines < planes.n_lines:
                return
        search.raise_bound(unavoidable + planes.lower_bound, exact=False)


class SwapSearchClassifier(CombinatorialSearch):  # numpydoc ignore=PR02
    """Combinatorial search approximation (CSA) for the 0-1 loss.

    The best combination of D samples near the hyperplane of an SVM is improved by swapping one sample at a
    time.

    Parameters
    ----------
    lines : int >= 1, default=100000
        Maximum number of combinations of D-1 samples to extend by every D-th one ('refit': of D).
    variant : {'points', 'refit'}, default='points'
        Score the hyperplane through the samples ('points'), as published; or relabel the data by it, refit SVM
        and LR at C = 1 and score those ('refit'), as the authors' program does.
    time_limit : float > 0 or None, default=None
        Seconds after which the search ends with the best weights so far.
    seeding : {'lr', 'svm', 'zero', 'fld'} or list of float, default='svm'
        Weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', 'zero', those of
        Fisher's linear discriminant 'fld', or a list (bias first).

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        No linear classifier has a smaller loss, in mean sample weights (errors if all weights are equal).
    n_features_in_ : int
        Number of features.
    optimal_ : bool
        Whether the loss attains `lower_bound_`.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the sample weight that is misclassified.

    Notes
    -----
    The paper omits the details. Here the start is the best hyperplane through D samples of which D-1 are
    among the D + 10 nearest to the SVM's (at most `lines` combinations of them; the authors' program enumerates
    D of D + 10). Then each sample in turn is swapped for the one that leaves the fewest errors, if these are
    fewer than before, until no swap helps. Errors are counted as in `PrioritizedSearchClassifier`.

    Variant 'refit' is the authors' program: D of the D + 10 nearest samples for 40 % of the time, then the
    first swap that improves the score, until none does. On equal losses, labels with the larger |sum| are
    better. Our own decisions: equal samples are merged, and combinations without a hyperplane are skipped.

    References
    ----------
    .. [1] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Section 4.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import SwapSearchClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> SwapSearchClassifier().fit(scale(X), y).training_errors_ <= 30  # its start has 39
    True
    """

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        order = samples.order_by_distance(search.w)
        if self.variant == "refit":
            self._explore_refits(problem, samples, search, order)
            return
        size, unavoidable = samples.Y.shape[1], samples.unavoidable_loss
        near = HyperplaneEnumeration(
            samples.Y,
            samples.c,
            search.loss - unavoidable,
            order,
            pool=size - 1 + EXTRA_NEAREST,
            max_on=size + MAX_EXTRA_SAMPLES,
        )
        on = order
        for loss, w in near:
            if w is not None and search.offer(unavoidable + loss, w):
                on = near.on
            if search.should_stop() or near.n_swept >= self.lines:
                break
        basis = find_independent_samples(samples.Y, [*on, *order])
        if len(basis) < size - 1:  # far from 0, samples differ by little more than rounding
            return
        w, V = np.linalg.svd(samples.Y[basis])[2][-1].copy(), np.zeros((size - 1, size))
        sound = rebuild_vertex(samples.Y, basis, w, V)
        current, best, best_w = np.inf, search.loss - unavoidable, search.w.copy()
        at, idle = 0, 0
        while sound and idle < size - 1 and not search.should_stop():
            current, best, at, idle, sound = descend_by_swaps(
                samples.Y, samples.c, basis, w, V, current, best, best_w, max(SWAPS_PER_BLOCK, size), at
            )
            search.offer(unavoidable + best, best_w)

    def _explore_refits(
        self, problem: Problem, samples: MergedSamples, search: SearchProgress, order: np.ndarray
    ) -> None:
        size, score = samples.Y.shape[1] - 1, RefitScorer(problem, samples, search).score
        with search.restrict_time(ENUMERATION_SHARE):
            best = enumerate_combinations(
                score, search.should_stop, order[: size + EXTRA_NEAREST], size, self.lines
            )
        if not search.should_stop():
            descend_by_first_swaps(score, search.should_stop, *best, list(order))


def find_independent_samples(Y: np.ndarray, order: Iterable[int]) -> np.ndarray:
    """Return the first P-1 linearly independent samples in this order, or as many as there are."""
    found: list[int] = []
    directions = np.empty((0, Y.shape[1]))
    for i in order:
        rest = Y[i]
        for _ in range(2):
            rest = rest - directions.T @ (directions @ rest)
        length = np.sqrt(rest @ rest)
        if length > INDEPENDENCE_TOLERANCE:
            found.append(i)
            directions = np.vstack([directions, rest / length])
        if len(found) == Y.shape[1] - 1:
            break
    return np.array(found, dtype=np.int64)
