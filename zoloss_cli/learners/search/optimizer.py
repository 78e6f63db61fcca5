"""What learners share that search for the fewest training errors themselves (Nguyen & Sanner 2013)."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.line import strict_loss
from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.linear.liblinear import LibLinearClassifier
from zoloss_cli.learners.search.merge import merge_rows, off_the_rows
from zoloss_cli.learners.search.progress import Search
from zoloss_cli.learners.search.search_result import Accounted

RANK = 1e-10
START_LOSSES = {"lr": "logistic", "svm": "squared-hinge"}

TimeLimit = Annotated[float | None, Field(gt=0, description="end after so many seconds, with the best so far")]
Start = Annotated[
    Literal["lr", "svm", "zero", "fld"] | list[float],
    Field(description="start from LIBLINEAR's best 'lr' or 'svm', 'zero', 'fld', or these weights"),
]


_starts: ContextVar[dict | None] = ContextVar("starts", default=None)


@contextlib.contextmanager
def shared_starts() -> Iterator[None]:
    """Within this block LIBLINEAR's start for the same data is computed once: it is most of SLA's time.

    Not elsewhere, since a learner's seconds include its start.
    """
    token = _starts.set({})
    try:
        yield
    finally:
        _starts.reset(token)


class DirectOptimizer(Accounted, LinearLearner):
    """A linear learner that minimizes the 0-1 loss itself."""

    def _start(self, problem):
        """As every linear learner, or from LIBLINEAR's best: 'lr' or 'svm'."""
        seeding = getattr(self, "seeding", "lr")
        if not isinstance(seeding, str) or seeding not in START_LOSSES:
            return super()._start(problem)
        known = _starts.get()
        if known is None:
            return _liblinear_start(seeding, problem)
        key = (seeding, problem.X.tobytes(), problem.y.tobytes())
        if key not in known:
            known[key] = _liblinear_start(seeding, problem)
        return known[key].copy()


def _liblinear_start(seeding: str, problem) -> np.ndarray:
    start = np.zeros(problem.X.shape[1])
    with contextlib.suppress(FloatingPointError):  # unscaled features: the search starts from 0
        start = LibLinearClassifier(START_LOSSES[seeding]).learn(problem, start)
    return start


@dataclass(frozen=True)
class Rows:
    """A problem as the combinatorial searches see it: w is right on row i where <Y_i, w> > 0.

    Equal rows are one, with the weight by which one class is ahead; the features are turned to as many
    axes as they can tell apart; rows have length 1, which changes no sign.
    """

    Y: np.ndarray
    c: np.ndarray  # weights, in mean sample weights
    t: np.ndarray  # the class of the row, -1.0 or 1.0: t_i Y_i points to the example itself
    lengths: np.ndarray  # what was divided by
    raw: np.ndarray  # the rows before they were turned and divided
    axes: np.ndarray  # orthonormal; weights w here are w @ axes for the problem's features

    def loss(self, w) -> float:
        """The weight of the rows that are not right beyond doubt: a margin that rounding could give is none."""
        return strict_loss(self.Y, self.c, w)

    def nearest_first(self, w) -> np.ndarray:
        """The rows by |<w, x>|, the smallest first."""
        return np.argsort(np.abs(self.Y @ w) * self.lengths, kind="stable")


def reduced(problem) -> tuple[Rows, float]:
    """The rows of a problem, and the weight that is lost whatever w is."""
    Y, c, t, lost = merge_rows(problem.X, problem.y, problem.mean_weights)
    if len(Y) == 0:
        return Rows(Y, c, t, c, Y, np.eye(problem.X.shape[1])), lost
    _, sizes, axes = np.linalg.svd(Y, full_matrices=False)
    axes = axes[sizes > RANK * sizes[0]]
    turned = Y @ axes.T
    lengths = np.sqrt(np.sum(turned**2, axis=1))
    return Rows(np.ascontiguousarray(turned / lengths[:, None]), c, t, lengths, Y, axes), lost


class VertexSearch(DirectOptimizer):
    """A direct optimizer that works on merged rows of full rank, under a clock.

    Subclasses write `explore`, which offers weights to a Search until it is over. Ctrl-C ends the search
    like its time limit does: the best so far is the result.
    """

    def learn(self, problem, start):
        rows, lost = reduced(problem)
        search = self._search
        search.raise_bound(lost)
        if len(rows.Y) == 0:  # every place holds as much of one class as of the other
            search.offer(lost, np.eye(len(start))[0])
            return off_the_rows(problem.X, search.w, problem.rng)
        w = rows.axes @ start
        search.offer(lost + rows.loss(w), w)
        try:
            if len(rows.Y) == rows.Y.shape[1]:  # as many independent rows as weights: all can be right
                search.offer(lost, np.linalg.solve(rows.Y, np.ones(len(rows.Y))))
            elif rows.Y.shape[1] == 1:
                for sign in (1.0, -1.0):
                    search.offer(lost + rows.loss(np.array([sign])), np.array([sign]))
                search.raise_bound(search.loss)
            else:
                self.explore(problem, rows, lost, search)
        except KeyboardInterrupt:
            warnings.warn(
                f"{search.name}: interrupted after {search.seconds:.1f} s; the best so far is returned",
                stacklevel=5,
            )
        return off_the_rows(problem.X, search.w @ rows.axes, problem.rng)

    def explore(self, problem, rows: Rows, lost: float, search: Search) -> None:
        raise TypeError(f"{type(self).__name__} does not say how it searches")
