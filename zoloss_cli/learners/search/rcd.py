"""Random coordinate descent on the 0/1 loss: Li & Lin (2007), section III; Li's thesis (2006), section 2.3."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import rcd as kernels
from zoloss_cli.kernels.line_search import bucket_count
from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.learners.parameters import Epochs, RecordEvery, Seeding

# Directions are drawn in pieces of about this many numbers, so that memory does not grow with epochs.
NUMBERS_PER_CHUNK = 1 << 18

Variant = Annotated[
    Literal["plain", "bias", "conj", "conj-bias", "grad", "grad-batch", "ccd"],
    Field(description="how directions are chosen"),
]
Directions = Annotated[
    Literal["uniform", "gaussian"],
    Field(description="distribution of each random component: uniform on [-1, 1] or standard normal"),
]
Update = Annotated[
    Literal["2.3", "2.4"],
    Field(description="update procedure: 2.4 keeps the line's sense, 2.3 may also turn w around"),
]


class RCDClassifier(LinearLearner):
    """Random coordinate descent (RCD): the 0/1 loss is minimized exactly along one line an epoch.

    Li & Lin (2007), Fig. 1-2; Li's thesis (2006), Algorithms 2.3-2.5 and section 2.3.3. The variants:

    - plain: all m+1 components are random;
    - bias: cycles of m+1 epochs, first the bias axis alone, then m random vectors without bias;
    - conj, conj-bias: as plain and bias, but each cycle's vectors are orthogonal;
    - grad: a misclassified example, found within 2N random draws; grad-batch: the sum over all of them;
    - ccd: the coordinate axes in turn, the bias first.

    Deviations: random components are uniform on [-1, 1] rather than on each feature's range, which is
    the same on features scaled to [-1, 1]; the vectors of a conj cycle have unit length. As in the
    authors' program, w always moves, also when nothing improves.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import RCDClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = RCDClassifier(variant="bias", random_state=0).fit(scale(X), y)
    >>> bool(sum(model.predict(scale(X)) != y) <= 40)  # of 270; an SVM has 39
    True
    """

    def __init__(
        self,
        variant: Variant = "bias",
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        directions: Directions = "uniform",
        update: Update = "2.4",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.variant = variant
        self.epochs = epochs
        self.seeding = seeding
        self.directions = directions
        self.update = update
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem, start):
        X, y, phi, w = problem.X, problem.y, problem.phi_fixed, start
        checkpoints, path = self._prepare_recording(problem)
        both_directions = self.update == "2.3"
        buckets = bucket_count(X.shape[0])
        if self.variant in ("grad", "grad-batch"):
            kernels.rcd_gradient(
                X,
                y,
                phi,
                w,
                self.epochs,
                self.variant == "grad-batch",
                problem.draw_kernel_seed(),
                both_directions,
                buckets,
                checkpoints,
                path,
            )
            return w
        X_T = problem.cached_by_X("columns", lambda: np.ascontiguousarray(X.T))
        room = problem.cached_by_X("deltas", lambda: np.empty((kernels.DIRECTIONS_A_BLOCK, X.shape[0])))
        size = X.shape[1]
        most = max(1, NUMBERS_PER_CHUNK // size**2)
        for done in range(0, self.epochs, most * size):
            left = self.epochs - done
            D = self._draw(problem.rng, min(most, -(-left // size)), size)[:left]
            kernels.rcd(X, X_T, y, phi, w, D, both_directions, buckets, done, checkpoints, path, room)
        return w

    def _draw(self, rng, cycles: int, size: int) -> np.ndarray:
        """Directions for `cycles` cycles of `size` epochs, one a row."""
        if self.variant == "ccd":
            return np.tile(np.eye(size), (cycles, 1))
        shape = (cycles, size, size)
        D = rng.standard_normal(shape) if self.directions == "gaussian" else rng.uniform(-1.0, 1.0, shape)
        if self.variant == "conj":
            D = np.linalg.qr(D.transpose(0, 2, 1))[0].transpose(0, 2, 1)
        elif self.variant == "conj-bias":
            D[:, 1:, 1:] = np.linalg.qr(D[:, 1:, 1:].transpose(0, 2, 1))[0].transpose(0, 2, 1)
        if self.variant in ("bias", "conj-bias"):
            D[:, 1:, 0] = 0.0
            D[:, 0, :] = 0.0
            D[:, 0, 0] = 1.0
        return np.ascontiguousarray(D.reshape(cycles * size, size))
