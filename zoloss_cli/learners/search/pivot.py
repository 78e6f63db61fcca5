"""The pivot heat bath: our own search for the hyperplane with the fewest errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.pivot import slide_to_vertex, walk_vertices
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.base import BranchAndBoundTree, Start, TimeLimit, VertexSearch
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.learners.search.samples import MergedSamples

FIRST_CHUNKS = (300, 300, 1000, 1000, 2000, 2000)
LATER_CHUNKS = (1000, 4000)
STEPS_PER_BLOCK = 250  # between two checks of the clock
MIN_STEPS_PER_BLOCK = 12  # a second or two with a million samples: the first step costs as much as two
SAMPLES_PER_BLOCK = 2_500_000  # steps times samples, if that gives fewer steps
HOT, COLD = 1.0, 0.25  # temperatures at both ends of a chunk, in mean weights
NEAR, COOLER, WARMER = 3.0, 0.8, 1.1
MAX_TREE_SAMPLES = 100_000  # beyond this, no leaf is reachable, and the tree is as large as the samples
MAX_TREE_BYTES = 64 << 20
MAX_COPY_BYTES = 64 << 20  # of samples: beyond this, they are rotated in place
NODES_PER_STEP = 25  # of branch and bound, per step of the walk: a fraction of its time
NODES_PER_BLOCK = 10_000
NODE_SAMPLES_PER_BLOCK = 200_000_000  # nodes times samples, if that gives fewer nodes


@dataclass(eq=False, repr=False)
class PivotClassifier(VertexSearch):  # numpydoc ignore=PR02
    """The pivot heat bath: a random walk over hyperplanes through samples, at falling temperatures.

    An algorithm of our own for the fewest training errors. If its branch and bound finishes, the result is
    optimal up to rounding. The same seed gives the same weights unless `time_limit` ends the search.

    Parameters
    ----------
    steps : int >= 1, default=20000
        Number of steps of the walk.
    time_limit : float > 0 or None, default=None
        Seconds after which the search ends with the best weights so far.
    seeding : {'lr', 'svm', 'zero', 'fld'} or list of float, default='lr'
        Weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', 'zero', those of
        Fisher's linear discriminant 'fld', or a list (bias first).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        No linear classifier has a smaller loss, in mean sample weights (errors if all weights are equal).
    n_features_in_ : int
        Number of features.
    n_steps_ : int
        Number of steps walked.
    optimal_ : bool
        Whether the loss attains `lower_bound_`.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the sample weight that is misclassified.

    Notes
    -----
    A step drops one of the P-1 samples that the hyperplane passes through, examines every hyperplane through
    the others, and draws one with probability exp(-errors / T). Chunks of steps, each cooling from T = 1 to 1/4
    mean weights, start from the best hyperplane so far; if they do not come back near it, later chunks are
    cooler. The walk alternates with a branch and bound from the same hyperplane (as `BranchAndBoundClassifier`
    without propagation). Equal samples are merged first. If LIBLINEAR would use up a time limit on all samples,
    it starts from a subset. The returned weights are moved off the samples, so that errors are counted
    strictly.

    References
    ----------
    .. [1] Own algorithm. The branch and bound follows Nguyen, T. and Sanner, S. (2013). Algorithms for direct
       0-1 loss optimization in binary classification. ICML. Section 3.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import PivotClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = PivotClassifier(random_state=0).fit(scale(X), y)
    >>> model.training_errors_ <= 26, model.n_steps_  # an SVM has 39 errors
    (True, 20000)
    """

    steps: Annotated[int, Field(ge=1, description="number of steps of the walk")] = 20_000
    time_limit: TimeLimit = None
    seeding: Start = "lr"
    random_state: Any = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the best weights that the walk and the branch and bound find."""
        self.n_steps_ = 0
        return super().learn(problem, start)

    def _arrange_samples(self, X: np.ndarray, signs: np.ndarray, phi: np.ndarray) -> Problem:
        problem = super()._arrange_samples(X, signs, phi)
        return dataclasses.replace(problem, features=X) if X.nbytes > MAX_COPY_BYTES else problem

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        size, mean_weight = samples.Y.shape[1], samples.c.mean()
        best_w = _normalize(search.w) if np.any(search.w) else np.full(size, size**-0.5)
        has_tree = len(samples.Y) <= MAX_TREE_SAMPLES and samples.Y.nbytes <= MAX_TREE_BYTES
        heat = mean_weight
        tree = BranchAndBoundTree(samples, best_w, propagate=False) if has_tree else None
        counter = problem.draw_kernel_seed()
        for chunk in self._draw_chunks(problem.rng):
            better_w, last_loss, counter = self._walk(samples, search, best_w, chunk, heat, counter)
            if better_w is not None:
                best_w = better_w
                tree = BranchAndBoundTree(samples, best_w, propagate=False) if has_tree else None
            if last_loss is not None:
                # A walk that does not come back near the best was too hot: many features need less heat.
                heat *= COOLER if last_loss > search.loss + NEAR * mean_weight else WARMER
                heat = min(heat, mean_weight)
            if tree is not None and _visit_nodes(tree, chunk, search):
                best_w = _normalize(search.w)
            if (tree is not None and tree.is_exhausted) or search.should_stop():
                break

    def _walk(
        self,
        samples: MergedSamples,
        search: SearchProgress,
        w: np.ndarray,
        chunk: int,
        heat: float,
        counter: np.uint64,
    ) -> tuple[np.ndarray | None, float | None, np.uint64]:
        """Walk a chunk of steps starting from w, from `heat` times HOT down to COLD.

        Returns the last weights whose loss is smaller than all before, None if there were none; the smallest
        loss in the last block, None if the walk ended early; and the counter of random draws.
        """
        Y, c = samples.Y, samples.c
        size = Y.shape[1]
        w, B, V = w.copy(), np.zeros(size - 1, np.int64), np.zeros((size - 1, size))
        counter, sound = slide_to_vertex(Y, w, B, V, np.uint64(counter))
        block_size = max(MIN_STEPS_PER_BLOCK, min(STEPS_PER_BLOCK, SAMPLES_PER_BLOCK // len(Y)))
        blocks = -(-chunk // block_size)
        edges = heat * HOT * (COLD / HOT) ** np.linspace(0.0, 1.0, blocks + 1)
        better_w, loss = None, None
        for block in range(blocks):
            if not sound or search.should_stop():
                return better_w, None, counter
            steps = min(block_size, chunk - block * block_size)
            found_w, hot, cold = w.copy(), edges[block], edges[block + 1]
            found, counter, sound = walk_vertices(
                Y, c, w, B, V, steps, hot, cold, np.uint64(counter), found_w, np.inf
            )
            self.n_steps_ += steps
            loss = samples.unavoidable_loss + found
            if search.offer(loss, found_w):
                better_w = found_w
        return better_w, loss, counter

    def _draw_chunks(self, rng: np.random.Generator) -> Iterator[int]:
        """Yield the lengths of chunks until `steps` are used up."""
        left = self.steps
        for first in FIRST_CHUNKS:
            if left > 0:
                yield min(first, left)
            left -= first
        while left > 0:
            chunk = int(np.exp(rng.uniform(*np.log(LATER_CHUNKS))))
            yield min(chunk, left)
            left -= chunk


def _visit_nodes(tree: BranchAndBoundTree, steps: int, search: SearchProgress) -> bool:
    """Visit the nodes for this many steps of the walk; return whether a better leaf was found."""
    nodes, found = tree.n_nodes + NODES_PER_STEP * steps, False
    block = max(1, min(NODES_PER_BLOCK, NODE_SAMPLES_PER_BLOCK // len(tree.samples.Y)))
    while tree.n_nodes < nodes and not tree.is_exhausted and not search.should_stop():
        found |= tree.visit(min(block, nodes - tree.n_nodes), search)
    return found


def _normalize(w: np.ndarray) -> np.ndarray:
    return w / np.sqrt(w @ w)
