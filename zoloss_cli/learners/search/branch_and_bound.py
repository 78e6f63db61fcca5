"""Branch and bound for the 0-1 loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import branch as kernel
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.base import BranchAndBoundTree, Start, TimeLimit, VertexSearch
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.learners.search.samples import MergedSamples

NODES_PER_BLOCK = 2000  # between two checks of the clock


@dataclass(eq=False, repr=False)
class BranchAndBoundClassifier(VertexSearch):  # numpydoc ignore=PR02
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
    n_leaves_ : int
        Number of leaves checked for a hyperplane.
    n_nodes_ : int
        Number of nodes visited.
    n_questions_ : int
        Number of linear programs solved to decide whether a sample is in a convex hull.
    n_settled_ : int
        Number of such tests answered by a cached hyperplane.
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
    errors are counted strictly, while the paper takes any solution of its linear program; impossible
    assignments are cached.

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

    nodes: Annotated[int, Field(ge=1, description="maximum number of nodes of the tree to visit")] = 200_000
    propagation: Annotated[
        Literal["hull", "none"],
        Field(description="assign samples inside the convex hulls of both sides ('hull'), or not ('none')"),
    ] = "hull"
    time_limit: TimeLimit = None
    seeding: Start = "svm"

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
