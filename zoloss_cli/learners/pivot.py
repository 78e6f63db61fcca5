"""The pivot heat bath: our own search for the hyperplane with the fewest errors."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.pivot import slide, strict_loss, walk
from zoloss_cli.learners.direct import DirectOptimizer

FIRST_CHUNKS = (300, 300, 1000, 1000, 2000, 2000, 4000, 8000)
LATER_CHUNKS = (1000, 16000)
BLOCK = 250  # steps between two looks at the clock
HOT, COLD = 1.5, 0.25
RANK = 1e-10


def merge_rows(X: np.ndarray, y: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Equal rows as one: (rows y x, weights, the weight that is lost whatever w is).

    Where both labels occur, the lighter one is always wrong and the heavier one's surplus remains.
    """
    rows, place = np.unique(X, axis=0, return_inverse=True)
    place = place.ravel()
    net = np.bincount(place, y * phi, len(rows))
    both = np.bincount(place, phi, len(rows))
    kept = np.abs(net) > 1e-12 * both
    return rows[kept] * np.sign(net[kept])[:, None], np.abs(net[kept]), float(np.sum(both - np.abs(net)) / 2)


def off_the_rows(X: np.ndarray, w: np.ndarray, rng) -> np.ndarray:
    """w moved so little that no row changes sides, until none is at exactly 0.

    The search does not see rows that were merged away, but at 0 they count as errors for both classes.
    """
    lengths = np.sqrt(np.sum(X**2, axis=1))
    for _ in range(20):
        margins = np.abs(X @ w)
        away = margins > 1e-12 * lengths * np.sqrt(w @ w)
        if np.all(away):
            break
        direction = rng.standard_normal(len(w))
        rates = np.abs(X @ direction)
        moving = away & (rates > 0.0)
        farthest = np.min(margins[moving] / rates[moving]) if np.any(moving) else 1.0
        w = w + 0.5 * farthest * direction
    return w


class PivotClassifier(DirectOptimizer):
    """The pivot heat bath: a random walk over hyperplanes through P-1 points, at falling temperatures.

    Our own algorithm. A step lets one of the points go that the hyperplane passes through, looks at every
    hyperplane that the others leave free, and draws one with probability exp(-errors / T); see
    `zoloss_cli/kernels/pivot.py`. Chunks of steps, each cooling from T = 1.5 to 0.25 mean weights, start
    from the best hyperplane so far. Equal rows are merged first. What is returned is moved off the
    points, so that its errors are counted strictly.

    The same seed gives the same weights as long as `time_limit` does not end the search.
    Attributes after fit, besides a direct optimizer's: `n_steps_`, and `trace_`, a list of (seconds,
    weight of the errors) whenever a better hyperplane was found.
    """

    def __init__(
        self,
        steps: Annotated[int, Field(ge=1, description="how many steps to walk")] = 20_000,
        time_limit: Annotated[
            float | None, Field(gt=0, description="end after so many seconds, whatever `steps` says")
        ] = None,
        seeding: Annotated[
            Literal["lr", "svm", "zero", "fld"] | list[float],
            Field(description="start from LIBLINEAR's best 'lr' or 'svm', 'zero', 'fld', or these weights"),
        ] = "lr",
        random_state=None,
    ):
        self.steps = steps
        self.time_limit = time_limit
        self.seeding = seeding
        self.random_state = random_state

    def learn(self, problem, start):
        scale = problem.phi.size  # so that weights have mean 1, and losses are counts where all are equal
        Y, c, lost = merge_rows(problem.X, problem.y, problem.phi * scale)
        self.n_steps_, self.trace_ = 0, []
        if len(Y) == 0:  # every place holds as much of one class as of the other
            return np.eye(len(start))[0]
        # Where features depend on each other, search among the weights that they can tell apart.
        _, sizes, axes = np.linalg.svd(Y, full_matrices=False)
        axes = axes[sizes > RANK * sizes[0]]
        Y = np.ascontiguousarray(Y @ axes.T)
        w = axes @ start
        if len(Y) == Y.shape[1]:  # as many independent rows as weights: all can be right
            w = np.linalg.solve(Y, np.ones(len(Y)))
        elif Y.shape[1] == 1:
            w = np.array([1.0 if c[Y[:, 0] < 0.0].sum() <= c[Y[:, 0] > 0.0].sum() else -1.0])
        else:
            w = self._search(Y, c, lost, w if np.any(w) else np.ones(len(w)), problem)
        return off_the_rows(problem.X, axes.T @ w, problem.rng)

    def _search(self, Y, c, lost: float, best_w: np.ndarray, problem) -> np.ndarray:
        began = time.perf_counter()
        lengths = np.sqrt(np.sum(Y**2, axis=1))
        size = Y.shape[1]
        unit = c.mean()
        best_w = best_w / np.sqrt(best_w @ best_w)
        best = strict_loss(Y, c, lengths, best_w)
        counter = problem.kernel_seed()
        self.trace_.append((0.0, best + lost))
        for chunk in self._chunks(problem.rng):
            w, B, V = best_w.copy(), np.zeros(size - 1, np.int64), np.zeros((size - 1, size))
            counter, sound = slide(Y, lengths, w, B, V, np.uint64(counter))
            blocks = -(-chunk // BLOCK)
            edges = unit * HOT * (COLD / HOT) ** np.linspace(0.0, 1.0, blocks + 1)
            for block in range(blocks):
                if not sound or best <= 0.0 or self._out_of_time(began):
                    break
                steps = min(BLOCK, chunk - block * BLOCK)
                hot, cold = edges[block], edges[block + 1]
                before = best
                best, counter, sound = walk(
                    Y, c, lengths, w, B, V, steps, hot, cold, np.uint64(counter), best_w, best
                )
                self.n_steps_ += steps
                if best < before:
                    self.trace_.append((time.perf_counter() - began, best + lost))
            if best <= 0.0 or self._out_of_time(began):
                break
        return best_w

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

    def _out_of_time(self, began: float) -> bool:
        return self.time_limit is not None and time.perf_counter() - began > self.time_limit
