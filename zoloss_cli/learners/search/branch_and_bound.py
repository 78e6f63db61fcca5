"""Branch and bound for the 0-1 loss."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import branch as kernel
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.base import Start, TimeLimit, VertexSearch
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.learners.search.samples import MergedSamples

NODES_PER_BLOCK = 2000  # between two checks of the clock


class BranchAndBoundTree:
    """A depth-first search over which samples are classified correctly, which can be continued.

    Parameters
    ----------
    samples : MergedSamples
        The samples to classify.
    w : ndarray
        Weights that determine the order of decisions, farthest first, and which class is tried first.
    propagate : bool
        Whether to assign the samples inside the convex hulls of both sides.
    """

    def __init__(self, samples: MergedSamples, w: np.ndarray, propagate: bool):
        self.samples = samples
        n, P = samples.Y.shape
        Z = np.ascontiguousarray(samples.Y * samples.t[:, None])
        order = samples.order_by_distance(w)[::-1].copy()
        first_classes = np.where(Z @ w > 0.0, 1, -1).astype(np.int8)
        self.problem = (Z, samples.t.astype(np.int8), samples.c, order, first_classes)
        decided = np.zeros(n + 1, np.int64)
        decided[0] = order[0]
        counts = [np.zeros(n + 1, np.int64) for _ in range(4)]
        tree = (np.zeros(n, np.int8), counts[0], decided, *counts[1:], np.zeros(n + 1))
        hulls = (np.zeros((2, n + 1), np.int64), np.zeros(2, np.int64))
        keepers = (np.zeros((2, n, P)), np.zeros((2, n), np.bool_)) if propagate else None
        shape = (kernel.MAX_IMPOSSIBLE_SETS, P + 2)
        impossible = (
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int8),
            np.zeros(kernel.MAX_IMPOSSIBLE_SETS, np.int64),
        )
        self.numbers = np.zeros(7, np.int64)
        self.state = (tree, hulls, keepers, impossible, self.numbers)
        self.w = np.zeros(P)
        self.is_exhausted = False

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes visited so far."""
        return int(self.numbers[kernel.NODES])

    def visit(self, nodes: int, search: SearchProgress) -> bool:
        """Continue for this many nodes or up to a better leaf, and return whether one was found.

        A better leaf is offered to the search. When no node is left, `is_exhausted` becomes true, and the
        loss of the search is its lower bound up to rounding.
        """
        best = search.loss - self.samples.unavoidable_loss
        found, self.is_exhausted = kernel.visit_nodes(*self.problem, *self.state, nodes, best, self.w)
        if self.is_exhausted:
            search.raise_bound(search.loss, exact=False)
        return found < best and search.offer(self.samples.compute_loss(self.w), self.w)


class BranchAndBoundClassifier(VertexSearch):
    """Branch and bound (BnB) for the 0-1 loss.

    A depth-first search over which samples are classified correctly, starting from the hyperplane of an SVM. An
    exhausted search is optimal up to rounding: `lower_bound_` is then its loss.

    Parameters
    ----------
    nodes : int >= 1, default=200000
        Maximum number of nodes of the tree to visit.
    propagation : {'hull', 'none'}, default='hull'
        Assign samples inside the convex hulls of both sides ('hull'), or not ('none').
    time_limit : float > 0 or None, default=None
        Seconds after which the search ends with the best weights so far.
    seeding : {'lr', 'svm', 'zero', 'fld'} or list of float, default='svm'
        Weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', 'zero', those of
        Fisher's linear discriminant 'fld', or a list (bias first).

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved, rather than right up to rounding.
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
    n_leaves_ : int
        Number of leaves checked for a hyperplane.
    n_nodes_ : int
        Number of nodes visited.
    n_questions_ : int
        Number of linear programs solved to decide whether a sample is in a convex hull.
    n_settled_ : int
        Number of such questions answered by a known hyperplane.
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
    As in the paper: the initial bound, the decision ordering (the samples farthest from the SVM's hyperplane
    first, as it classifies them) and the loss propagation through convex hulls. With propagation='none' it is
    the program behind the published tables: only leaves are checked for a hyperplane.

    Deviations: equal samples are merged; the weights of a leaf are those with the largest margin, so that
    errors are counted strictly, while the paper takes any solution of its linear program; assignments once
    found impossible are remembered.

    References
    ----------
    .. [1] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Section 3, Figure 3.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import BranchAndBoundClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> X = scale(X[:60, :3])
    >>> model = BranchAndBoundClassifier(nodes=1_000_000).fit(X, y[:60])
    >>> model.training_errors_, model.optimal_, model.bound_is_exact_
    (13, True, False)
    """

    def __init__(
        self,
        nodes: Annotated[
            int, Field(ge=1, description="maximum number of nodes of the tree to visit")
        ] = 200_000,
        propagation: Annotated[
            Literal["hull", "none"],
            Field(description="assign samples inside the convex hulls of both sides ('hull'), or not ('none')"),
        ] = "hull",
        time_limit: TimeLimit = None,
        seeding: Start = "svm",
    ):
        self.nodes = nodes
        self.propagation = propagation
        self.time_limit = time_limit
        self.seeding = seeding

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the best weights that the search finds."""
        self.n_nodes_ = self.n_leaves_ = self.n_questions_ = self.n_settled_ = 0
        return super().learn(problem, start)

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        tree = BranchAndBoundTree(samples, search.w, self.propagation == "hull")
        while not tree.is_exhausted and tree.n_nodes < self.nodes and not search.should_stop():
            tree.visit(min(NODES_PER_BLOCK, self.nodes - tree.n_nodes), search)
        numbers = [int(v) for v in tree.numbers]
        self.n_nodes_, self.n_leaves_ = numbers[kernel.NODES], numbers[kernel.LEAVES]
        self.n_questions_, self.n_settled_ = numbers[kernel.QUESTIONS], numbers[kernel.SETTLED]
