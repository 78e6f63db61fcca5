"""What learners share that search for the fewest training errors themselves (Nguyen & Sanner 2013)."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.linear.liblinear import LibLinearClassifier
from zoloss_cli.learners.search.merged_samples import MergedSamples, build_merged_samples, move_off_samples
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.learners.search.result_mixin import SearchResultMixin

START_LOSSES = {"lr": "logistic", "svm": "squared-hinge"}

TimeLimit = Annotated[float | None, Field(gt=0, description="end after so many seconds, with the best so far")]
Start = Annotated[
    Literal["lr", "svm", "zero", "fld"] | list[float],
    Field(description="start from LIBLINEAR's best 'lr' or 'svm', 'zero', 'fld', or these weights"),
]


_starts: ContextVar[dict | None] = ContextVar("starts", default=None)


@contextlib.contextmanager
def share_starts() -> Iterator[None]:
    """Within this block LIBLINEAR's start for the same data is computed once: it is most of SLA's time.

    Not elsewhere, since a learner's seconds include its start.
    """
    token = _starts.set({})
    try:
        yield
    finally:
        _starts.reset(token)


class DirectOptimizer(SearchResultMixin, LinearLearner):
    """A linear learner that minimizes the 0-1 loss itself."""

    def _compute_start(self, problem):
        """As every linear learner, or from LIBLINEAR's best: 'lr' or 'svm'."""
        seeding = getattr(self, "seeding", "lr")
        if not isinstance(seeding, str) or seeding not in START_LOSSES:
            return super()._compute_start(problem)
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


class VertexSearch(DirectOptimizer):
    """A direct optimizer that works on merged rows of full rank, under a clock.

    Subclasses write `explore`, which offers weights to a SearchProgress until it is over. Ctrl-C ends the search
    like its time limit does: the best so far is the result.
    """

    def learn(self, problem, start):
        rows, lost = build_merged_samples(problem)
        search = self._search
        search.raise_bound(lost)
        if len(rows.Y) == 0:  # every place holds as much of one class as of the other
            search.offer(lost, np.eye(len(start))[0])
            return move_off_samples(problem.X, search.w, problem.rng)
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
        return move_off_samples(problem.X, search.w @ rows.axes, problem.rng)

    def explore(self, problem, rows: MergedSamples, lost: float, search: SearchProgress) -> None:
        raise TypeError(f"{type(self).__name__} does not say how it searches")
