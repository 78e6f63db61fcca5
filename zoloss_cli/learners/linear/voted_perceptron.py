"""The voted perceptron: a majority vote of all weight vectors of the perceptron learning rule."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.voted import fit_voted_perceptron
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.linear.online import ORDERS, build_padded_samples, build_steps_and_draws
from zoloss_cli.learners.parameters import Epochs, Order, Weighting
from zoloss_cli.learners.problem import Problem

VECTORS_AT_A_TIME = 512  # whose scores of all samples are in memory


class VotedPerceptronClassifier(BinaryLearner):
    """The voted perceptron: all weight vectors of the perceptron learning rule vote by their survival times.

    Figure 1 of Freund & Schapire [1]_, with a linear kernel. Li & Lin [2]_ and Li's thesis [3]_ mention it with
    the averaged perceptron, which they use instead: the two perform alike, but only the latter is linear. This
    one keeps a vector for each mistake.

    Parameters
    ----------
    epochs : int >= 1, default=100
        Number of epochs.
    order : {'random', 'permuted', 'fixed'}, default='random'
        Samples come at random, permuted anew each epoch, or in their fixed order.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample'). The latter needs the
        order 'random'.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    n_features_in_ : int
        Number of features.
    n_mistakes_ : int
        Number of mistakes, each followed by an update.
    survival_times_ : ndarray of shape (n_mistakes_,)
        For each weight vector, the number of trials from the one that made it to the next mistake.
    vectors_ : ndarray of shape (n_mistakes_, 1 + n_features)
        The weight vectors in order, bias first.

    See Also
    --------
    AveragedPerceptronClassifier : The mean of the same vectors.

    Notes
    -----
    Deviations: samples have a constant feature for the bias, as in [2]_; they come at random by default, as in
    Algorithm 2.6 of [3]_, while [1]_ cycles through them (order 'fixed'); a margin of 0 is a mistake; a vector
    whose score is 0 votes for the second class; sample weights, which [1]_ does not have, are step sizes, as in
    [3]_. The default of 100 epochs, instead of the 2000 of other perceptrons, lets the vectors fit in memory.

    References
    ----------
    .. [1] Freund, Y. and Schapire, R. E. (1999). Large margin classification using the perceptron algorithm.
       Figure 1.
    .. [2] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section II.
    .. [3] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Section 2.2 and Algorithm 2.6.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import VotedPerceptronClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = VotedPerceptronClassifier(epochs=20, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.82, model.vectors_.shape == (model.n_mistakes_, 14)
    (True, True)
    """

    def __init__(
        self,
        epochs: Epochs = 100,
        order: Order = "random",
        weighting: Weighting = "reweight",
        random_state=None,
    ):
        self.epochs = epochs
        self.order = order
        self.weighting = weighting
        self.random_state = random_state

    def train(self, problem: Problem) -> None:
        """Store the weight vectors of all epochs and their survival times."""
        step, cut, alias = build_steps_and_draws(problem, self.weighting)
        if cut.size and self.order != "random":
            raise ValueError(
                f"{type(self).__name__}: weighting='resample' draws at random; order={self.order!r} cannot"
            )
        Z, seed = build_padded_samples(problem), problem.draw_kernel_seed()
        vectors, self.survival_times_ = fit_voted_perceptron(
            Z, step, cut, alias, self.epochs, ORDERS[self.order], seed
        )
        self.vectors_ = vectors[:, : problem.X.shape[1]].copy()
        self.n_mistakes_ = len(vectors)
        if not np.isfinite(self.vectors_.sum()):
            raise ValueError(f"{type(self).__name__}: the weights are no longer finite; scale the features")

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the votes for the second class minus those for the first, as a share of all."""
        votes = np.zeros(X.shape[0])
        for start in range(0, len(self.vectors_), VECTORS_AT_A_TIME):
            block = slice(start, start + VECTORS_AT_A_TIME)
            votes += predict_signs(X @ self.vectors_[block].T) @ self.survival_times_[block]
        return votes / self.survival_times_.sum()
