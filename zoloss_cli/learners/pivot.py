"""The pivot heat bath: our own search for the hyperplane with the fewest errors."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.pivot import slide, walk
from zoloss_cli.learners.direct import Start, TimeLimit, VertexSearch

FIRST_CHUNKS = (300, 300, 1000, 1000, 2000, 2000, 4000, 8000)
LATER_CHUNKS = (1000, 16000)
BLOCK = 250  # steps between two looks at the clock
HOT, COLD = 1.5, 0.25


class PivotClassifier(VertexSearch):
    """The pivot heat bath: a random walk over hyperplanes through P-1 points, at falling temperatures.

    Our own algorithm. A step lets one of the points go that the hyperplane passes through, looks at every
    hyperplane that the others leave free, and draws one with probability exp(-errors / T); see
    `zoloss_cli/kernels/pivot.py`. Chunks of steps, each cooling from T = 1.5 to 0.25 mean weights, start
    from the best hyperplane so far. Equal rows are merged first. What is returned is moved off the
    points, so that its errors are counted strictly.

    The same seed gives the same weights as long as `time_limit` does not end the search.
    Attributes after fit, besides a direct optimizer's: `n_steps_`.
    """

    def __init__(
        self,
        steps: Annotated[int, Field(ge=1, description="how many steps to walk")] = 20_000,
        time_limit: TimeLimit = None,
        seeding: Start = "lr",
        random_state=None,
    ):
        self.steps = steps
        self.time_limit = time_limit
        self.seeding = seeding
        self.random_state = random_state

    def learn(self, problem, start):
        self.n_steps_ = 0
        return super().learn(problem, start)

    def explore(self, problem, rows, lost, search):
        Y, c = rows.Y, rows.c
        lengths = np.ones(len(c))
        size = Y.shape[1]
        unit = c.mean()
        best_w = search.w / np.sqrt(search.w @ search.w) if np.any(search.w) else np.full(size, size**-0.5)
        best = rows.loss(best_w)
        counter = problem.kernel_seed()
        for chunk in self._chunks(problem.rng):
            w, B, V = best_w.copy(), np.zeros(size - 1, np.int64), np.zeros((size - 1, size))
            counter, sound = slide(Y, lengths, w, B, V, np.uint64(counter))
            blocks = -(-chunk // BLOCK)
            edges = unit * HOT * (COLD / HOT) ** np.linspace(0.0, 1.0, blocks + 1)
            for block in range(blocks):
                if not sound or search.over():
                    break
                steps = min(BLOCK, chunk - block * BLOCK)
                hot, cold = edges[block], edges[block + 1]
                best, counter, sound = walk(
                    Y, c, lengths, w, B, V, steps, hot, cold, np.uint64(counter), best_w, best
                )
                self.n_steps_ += steps
                search.offer(lost + best, best_w)
            if search.over():
                break

    def _chunks(self, rng):
        """Lengths of the chunks, until `steps` are used up."""
        left = self.steps
        for first in FIRST_CHUNKS:
            if left > 0:
                yield min(first, left)
            left -= first
        while left > 0:
            chunk = int(rng.integers(*LATER_CHUNKS))
            yield min(chunk, left)
            left -= chunk
