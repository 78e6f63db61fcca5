"""The pivot heat bath: our own search for the hyperplane with the fewest errors."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.pivot import slide, walk
from zoloss_cli.learners.search.branch_and_bound import BranchAndBoundTree
from zoloss_cli.learners.search.direct_optimizer import Start, TimeLimit, VertexSearch

FIRST_CHUNKS = (300, 300, 1000, 1000, 2000, 2000)
LATER_CHUNKS = (1000, 4000)
BLOCK = 250  # steps between two looks at the clock
HOT, COLD = 1.0, 0.25  # temperatures at both ends of a chunk, in mean weights
NEAR, COOLER, WARMER = 3.0, 0.8, 1.1
NODES_A_STEP = 25  # of branch and bound, beside a step of the walk: a fraction of its time
BLOCK_NODES = 10_000


class PivotClassifier(VertexSearch):
    """The pivot heat bath: a random walk over hyperplanes through P-1 points, at falling temperatures.

    Our own algorithm. A step lets one of the points go that the hyperplane passes through, looks at every
    hyperplane that the others leave free, and draws one with probability exp(-errors / T); see
    `zoloss_cli/kernels/pivot.py`. Chunks of steps, each cooling from T = 1 to 1/4 mean weights, start from
    the best hyperplane so far; all of them are cooler where they do not come back near it. Beside the walk
    goes a branch and bound from the same hyperplane (`branch_and_bound.py`, without propagation), for
    where few errors are needed in many dimensions; if it comes to its end, the result is optimal up to
    rounding. Equal rows are merged first. What is returned is moved off the points, so that its errors
    are counted strictly.

    The same seed gives the same weights as long as `time_limit` does not end the search.
    Attributes after fit, besides a direct optimizer's: `n_steps_`.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import PivotClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = PivotClassifier(random_state=0).fit(scale(X), y)
    >>> model.training_errors_ <= 26, model.n_steps_  # an SVM has 39 errors
    (True, 20000)
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
        size = Y.shape[1]
        best_w = search.w / np.sqrt(search.w @ search.w) if np.any(search.w) else np.full(size, size**-0.5)
        counter, heat = problem.draw_kernel_seed(), c.mean()
        tree = BranchAndBoundTree(rows, best_w, propagating=False)
        for chunk in self._chunks(problem.rng):
            w, B, V = best_w.copy(), np.zeros(size - 1, np.int64), np.zeros((size - 1, size))
            counter, sound = slide(Y, w, B, V, np.uint64(counter))
            blocks = -(-chunk // BLOCK)
            edges = heat * HOT * (COLD / HOT) ** np.linspace(0.0, 1.0, blocks + 1)
            for block in range(blocks):
                if not sound or search.should_stop():
                    break
                steps = min(BLOCK, chunk - block * BLOCK)
                found_w, hot, cold = w.copy(), edges[block], edges[block + 1]
                found, counter, sound = walk(
                    Y, c, w, B, V, steps, hot, cold, np.uint64(counter), found_w, np.inf
                )
                self.n_steps_ += steps
                if search.offer(lost + found, found_w):
                    best_w = found_w
                    tree = BranchAndBoundTree(rows, best_w, propagating=False)
            else:
                # A walk that does not come back near the best was too hot: many features need less heat.
                heat *= COOLER if lost + found > search.loss + NEAR * c.mean() else WARMER
                heat = min(heat, c.mean())
            nodes = tree.nodes + NODES_A_STEP * chunk
            while tree.nodes < nodes and not tree.is_exhausted and not search.should_stop():
                if tree.visit(min(BLOCK_NODES, nodes - tree.nodes), rows, lost, search):
                    best_w = search.w / np.sqrt(search.w @ search.w)
            if tree.is_exhausted or search.should_stop():
                break

    def _chunks(self, rng):
        """Lengths of the chunks, until `steps` are used up."""
        left = self.steps
        for first in FIRST_CHUNKS:
            if left > 0:
                yield min(first, left)
            left -= first
        while left > 0:
            chunk = int(np.exp(rng.uniform(*np.log(LATER_CHUNKS))))
            yield min(chunk, left)
            left -= chunk
