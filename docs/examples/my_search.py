"""A search of one's own: one weight at a time moves to where the fewest samples are misclassified."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli import SearchLearner


class CoordinateSearch(SearchLearner):
    """Classifier by exact line searches along the axes, from random restarts around the best weights."""

    def __init__(
        self,
        restarts: Annotated[int, Field(ge=0, description="random restarts")] = 20,
        seeding: Annotated[Literal["zero", "fld", "lr", "svm"], Field(description="where to start")] = "fld",
        time_limit: Annotated[float | None, Field(gt=0, description="seconds after which it ends")] = None,
        random_state=None,
    ):
        self.restarts = restarts
        self.seeding = seeding
        self.time_limit = time_limit
        self.random_state = random_state

    def search(self, problem, start, progress):
        """Descend along the axes again and again."""
        w = start
        for _ in range(1 + self.restarts):
            fell = True
            while fell and not progress.should_stop():
                before = progress.loss
                for j in problem.rng.permutation(w.size):
                    w = self._move(problem, w, j)
                    progress.offer_weights(w)
                fell = progress.loss < before
            w = progress.w + 0.1 * np.abs(progress.w).mean() * problem.rng.standard_normal(w.size)

    def _move(self, problem, w, j):
        """Return the weights with the j-th where the loss is smallest: between two of its breakpoints."""
        column, margins = problem.X[:, j], problem.X @ w
        breaks = np.sort(-margins[column != 0] / column[column != 0])
        steps = np.concatenate([[0.0], (breaks[1:] + breaks[:-1]) / 2]) if breaks.size else np.zeros(1)
        wrong = problem.y[:, None] * (margins[:, None] + column[:, None] * steps) <= 0
        moved = w.copy()
        moved[j] += steps[(problem.phi @ wrong).argmin()]
        return moved
