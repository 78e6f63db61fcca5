"""A search of your own: minimize the training errors along one weight at a time."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli import SearchLearner


class CoordinateSearch(SearchLearner):
    """Classifier by exact line searches along the axes, restarted near the best weights found."""

    def __init__(
        self,
        restarts: Annotated[int, Field(ge=0, description="random restarts")] = 20,
        seeding: Annotated[Literal["zero", "fld", "lr", "svm"], Field(description="initial weights")] = "fld",
        time_limit: Annotated[float | None, Field(gt=0, description="time limit in seconds")] = None,
        random_state=None,
    ):
        self.restarts, self.seeding = restarts, seeding
        self.time_limit, self.random_state = time_limit, random_state

    def search(self, problem, start, progress):
        """Offer weights to `progress`, which computes their losses and keeps the best and the trace."""
        w = start
        for _ in range(1 + self.restarts):
            before = np.inf
            while progress.loss < before and not progress.should_stop():
                before = progress.loss
                for j in problem.rng.permutation(w.size):
                    progress.offer_weights(w := move(problem, w, j))
            w = progress.w + 0.1 * np.abs(progress.w).mean() * problem.rng.standard_normal(w.size)


def move(problem, w, j):
    """Return w with weight j at the midpoint between two breakpoints that has the smallest loss."""
    column, margins = problem.X[:, j], problem.X @ w
    breaks = np.sort(-margins[column != 0] / column[column != 0])
    steps = np.append((breaks[1:] + breaks[:-1]) / 2, 0.0)
    wrong = problem.y[:, None] * (margins[:, None] + column[:, None] * steps) <= 0
    return w + steps[(problem.phi @ wrong).argmin()] * np.eye(w.size)[j]
