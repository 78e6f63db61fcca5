"""Combinatorial search: hyperplanes through as many points as fix them (Nguyen & Sanner 2013, section 4)."""

from __future__ import annotations

import itertools
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.pivot import refresh
from zoloss_cli.kernels.swap import descend
from zoloss_cli.learners.linear.liblinear import LibLinearClassifier
from zoloss_cli.learners.search.direct_optimizer import Start, TimeLimit, VertexSearch
from zoloss_cli.learners.search.hyperplanes import HyperplaneEnumeration
from zoloss_cli.learners.search.merged_samples import MergedSamples

CROWD = 4  # points more than needed on one hyperplane, beyond which a search that is cut short passes it over
NEARBY = 10  # CSA begins with combinations of the D + 10 nearest points
LOOKS = 200  # between two looks at the clock

Lines = Annotated[
    int,
    Field(ge=1, description="how many combinations of D-1 points to extend by every D-th one ('refit': of D)"),
]
Variant = Annotated[
    Literal["points", "refit"],
    Field(
        description="score the hyperplane through the points, as the paper prints; or relabel the data by it, "
        "refit SVM and LR at C = 1 and score those, as the authors' program does"
    ),
]


class CombinatorialSearch(VertexSearch):
    """What both searches share: their parameters and the authors' way to score a combination."""

    def __init__(
        self,
        lines: Lines = 100_000,
        variant: Variant = "points",
        time_limit: TimeLimit = None,
        seeding: Start = "svm",
    ):
        self.lines = lines
        self.variant = variant
        self.time_limit = time_limit
        self.seeding = seeding

    def _score_refits(self, problem, rows: MergedSamples, lost, search, chosen) -> float:
        """Relabel by the hyperplane through the chosen rows, refit, offer: the better refit's loss."""
        _, sizes, axes = np.linalg.svd(rows.Y[list(chosen)])
        if sizes[-1] < 1e-9:
            return np.inf
        labels = np.where(problem.X @ (axes[-1] @ rows.axes) >= 0.0, 1.0, -1.0)
        if abs(labels.sum()) == len(labels):
            return np.inf
        least = np.inf
        for loss in ("squared-hinge", "logistic"):
            (w,) = LibLinearClassifier(loss, [1.0]).solve_grid(problem.X, labels)
            for turned in (rows.axes @ w, -(rows.axes @ w)):
                found = lost + rows.loss(turned)
                search.offer(found, turned)
                least = min(least, found)
        return least


class PrioritizedSearchClassifier(CombinatorialSearch):
    """PCS: hyperplanes through D points, combinations near an SVM's hyperplane first.

    Nguyen & Sanner (2013), section 4, Figure 5. Combinations come in lexicographic order of the points
    sorted by |<w, x>|. Those that share their first D-1 points are evaluated in one sweep, which is faster
    by about N and makes the last point any of all rather than a later one. The points on a hyperplane
    count as right, since tilting it makes them so; where more than D points meet, the best tilt is a
    smaller problem of the same kind, solved in the same way. What is returned has been tilted, and its
    errors are counted strictly.

    `lines` is the budget. If it covers all combinations, the search is exhaustive, and its result optimal
    up to rounding: `lower_bound_` is then its loss. If not, hyperplanes on which more than D + 4 points
    meet are passed over. Variant 'refit', the authors' program: see `variant`.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import PrioritizedSearchClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> PrioritizedSearchClassifier().fit(scale(X), y).training_errors_ <= 35  # its start has 39
    True
    """

    def explore(self, problem, rows, lost, search):
        order = rows.nearest_first(search.w)
        if self.variant == "refit":
            for chosen in itertools.islice(itertools.combinations(order, rows.Y.shape[1] - 1), self.lines):
                self._score_refits(problem, rows, lost, search, chosen)
                if search.should_stop():
                    break
            return
        planes = HyperplaneEnumeration(rows.Y, rows.c, search.loss - lost, order)
        if planes.total > self.lines:
            planes.largest = rows.Y.shape[1] + CROWD
        for loss, w in planes:
            if w is not None:
                search.offer(lost + loss, w)
            if search.should_stop() or planes.lines >= self.lines < planes.total:
                return
        search.raise_bound(lost + planes.least, exact=False)


class SwapSearchClassifier(CombinatorialSearch):
    """CSA: the best combination of D points near an SVM's hyperplane, then one point swapped at a time.

    Nguyen & Sanner (2013), section 4; they leave the details out. Here: the start is the best hyperplane
    through D points of which D-1 are among the D + 10 nearest to the SVM's (at most `lines` combinations
    of them; the authors' program enumerates D of D + 10). Then each point in turn is swapped for the one
    that leaves the fewest errors, if these are fewer than before, until no swap helps. Errors are counted
    as in PCS. Variant 'refit' scores by `variant` and takes the first swap that helps.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import SwapSearchClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> SwapSearchClassifier().fit(scale(X), y).training_errors_ <= 30  # its start has 39
    True
    """

    def explore(self, problem, rows, lost, search):
        order = rows.nearest_first(search.w)
        if self.variant == "refit":
            self._explore_refits(problem, rows, lost, search, order)
            return
        size = rows.Y.shape[1]
        near = HyperplaneEnumeration(
            rows.Y, rows.c, search.loss - lost, order, pool=size - 1 + NEARBY, largest=size + CROWD
        )
        on = order
        for loss, w in near:
            if w is not None and search.offer(lost + loss, w):
                on = near.on
            if search.should_stop() or near.lines >= self.lines:
                break
        basis = find_independent_samples(rows.Y, [*on, *order])
        w, V = np.linalg.svd(rows.Y[basis])[2][-1].copy(), np.zeros((size - 1, size))
        sound = refresh(rows.Y, basis, w, V)
        current, best, best_w = np.inf, search.loss - lost, search.w.copy()
        at, idle = 0, 0
        while sound and idle < size - 1 and not search.should_stop():
            current, best, at, idle, sound = descend(
                rows.Y, rows.c, basis, w, V, current, best, best_w, max(LOOKS, size), at
            )
            search.offer(lost + best, best_w)

    def _explore_refits(self, problem, rows, lost, search, order):
        size = rows.Y.shape[1]
        nearby = order[: size - 1 + NEARBY]
        chosen, current = list(nearby[: size - 1]), np.inf
        for combination in itertools.islice(itertools.combinations(nearby, size - 1), self.lines):
            found = self._score_refits(problem, rows, lost, search, combination)
            if found < current:
                chosen, current = list(combination), found
            if search.should_stop():
                return
        swaps = itertools.product(range(size - 1), order)
        for place, entering in swaps:
            if entering in chosen:
                continue
            tried = [*chosen[:place], entering, *chosen[place + 1 :]]
            found = self._score_refits(problem, rows, lost, search, tried)
            if found < current:
                chosen, current = tried, found
                swaps = itertools.product(range(size - 1), order)
            if search.should_stop():
                return


def find_independent_samples(Y: np.ndarray, order) -> np.ndarray:
    """The first P-1 rows in this order that are independent."""
    found, directions = [], np.empty((0, Y.shape[1]))
    for i in order:
        rest = Y[i]
        for _ in range(2):
            rest = rest - directions.T @ (directions @ rest)
        length = np.sqrt(rest @ rest)
        if length > 1e-6:
            found.append(i)
            directions = np.vstack([directions, rest / length])
        if len(found) == Y.shape[1] - 1:
            break
    return np.array(found, dtype=np.int64)
