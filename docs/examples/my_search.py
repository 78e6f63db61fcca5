"""A search of your own: one weight at a time moves to where the fewest samples are misclassified."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli import SearchLearner


class CoordinateSearch(SearchLearner):
    """Classifier by exact line searches along the axes, begun anew around the best weights so far."""

    def __init__(
        self,
        restarts: Annotated[int, Field(ge=0, description="random restarts")] = 20,
        seeding: Annotated[Literal["zero", "fld", "lr", "svm"], Field(description="where to start")] = "fld",
        time_limit: Annotated[float | None, Field(gt=0, description="seconds after which it ends")] = None,
        random_state=None,
    ):
        self.restarts, self.seeding = restarts, seeding
        self.time_limit, self.random_state = time_limit, random_state

    def search(self, problem, start, progress):
        """Offer weights to `progress`, which counts their losses and keeps the best and the trace."""
        w = start
        for _ in range(1 + self.restarts):
            before = np.inf
            while progress.loss < before and not progress.should_stop():
                before = progress.loss
                for j in problem.rng.permutation(w.size):
                    progress.offer_weights(w := move(problem, w, j))
            w = progress.w + 0.1 * np.abs(progress.w).mean() * problem.rng.standard_normal(w.size)


def move(problem, w, j):
    """Return the weights with the j-th where the loss is smallest: halfway between two breakpoints."""
    column, margins = problem.X[:, j], problem.X @ w
    breaks = np.sort(-margins[column != 0] / column[column != 0])
    steps = np.append((breaks[1:] + breaks[:-1]) / 2, 0.0)
    wrong = problem.y[:, None] * (margins[:, None] + column[:, None] * steps) <= 0
    return w + steps[(problem.phi @ wrong).argmin()] * np.eye(w.size)[j]
