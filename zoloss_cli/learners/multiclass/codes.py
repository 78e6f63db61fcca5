"""Reduction of multiclass to binary problems: base classifiers fitted to the columns of a coding matrix."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cache
from typing import Any, Self

import numpy as np

from zoloss_cli.kernels import codes as kernels
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.learners.base import (
    BinaryLearner,
    Learner,
    Samples,
    add_bias_column,
    build_generator,
    load_blas_controller,
)
from zoloss_cli.learners.boosting.adaboost import BaseLearnerFactory

SIDES = np.array([-1, 1])


class ColumnFitter:
    """Fit base classifiers to columns of a coding matrix, on the same samples."""

    def __init__(
        self,
        base: BaseLearnerFactory,
        X: np.ndarray,
        codes: np.ndarray,
        phi: np.ndarray,
        n_classes: int,
        rng: np.random.Generator,
    ):
        self.base, self.samples, self.codes, self.phi = base, Samples(add_bias_column(X)), codes, phi
        self.n_classes, self.rng = n_classes, rng
        self._caches: dict[bytes, dict[Hashable, Any]] = {}  # by column

    def fit_column(self, column: np.ndarray, weights: np.ndarray, round_: int) -> BinaryLearner:
        """Return a base classifier fitted to a column: -1, 0 or +1 for each class.

        Samples of classes with 0 are left out; the weights of the others sum to 1.
        """
        signs = column[self.codes].astype(np.float64)
        label_cache = self._caches.setdefault(column.tobytes(), {})
        problem = self.samples.build_problem(signs, weights, self.rng, label_cache)
        return self.base.fit_copy(problem, SIDES, round_)

    def predict_signs(self, learner: BinaryLearner) -> np.ndarray:
        """Return -1.0 or +1.0 for every training sample, including those that the column leaves out."""
        return predict_signs(learner.compute_scores(self.samples))


class CodedEnsemble(Learner):
    """A classifier for K classes that compares their code words with the predictions of T base classifiers.

    The prediction is the class k with the smallest Hamming distance, sum of alpha_t (1 - M(k, t) f_t(x)) / 2,
    on a tie the first (Allwein et al. 2000; Li's thesis 2006, section 4.2). Subclasses implement `encode`.
    """

    multiclass = True
    version = 2  # 2: columns, sums and ties in the order of the author's program

    base: Any

    def _fit(self, X, y, sample_weight) -> Self:
        X, codes, phi = self._validate_fit_input(X, y, sample_weight)
        base = BaseLearnerFactory(self, self.base)
        base.check()
        rng = build_generator(self.random_state)
        fitter = ColumnFitter(base, X, codes, phi, self.classes_.size, rng)
        # The matrices are small: BLAS threads cost more than they save.
        with load_blas_controller().limit(limits=1, user_api="blas"):
            columns, self.estimators_, alphas = self.encode(fitter)
        self.estimator_weights_ = np.array(alphas, np.float64)
        matrix = np.array(columns, np.int8).reshape(len(columns), self.classes_.size)
        self.coding_matrix_ = np.ascontiguousarray(matrix.T)
        return self

    def encode(self, fitter: ColumnFitter) -> tuple[list[np.ndarray], list[BinaryLearner], list[Any]]:
        """Return the columns of the coding matrix, their base classifiers, and the coefficients of these.

        A coefficient is a number, or an array of two, one for each output of the base classifier.
        """
        raise TypeError(f"{type(self).__name__} does not implement encode")

    @property
    def deterministic(self) -> bool:
        """Whether the base learner uses no random draws."""
        return BaseLearnerFactory(self, self.base).learner.deterministic

    def _iterate_distances(self, X) -> Iterator[np.ndarray]:
        """Yield the distances (N x K) after 0, 1, 2, ... base classifiers, in one array that changes."""
        samples = Samples(self._validate_samples(X))
        distances = np.zeros((samples.X.shape[0], self.classes_.size))
        yield distances
        all_scores = _iterate_scores(self.estimators_, samples)
        steps = zip(self.coding_matrix_.T, all_scores, self.estimator_weights_, strict=True)
        for column, scores, alpha_t in steps:
            alphas = np.broadcast_to(alpha_t, 2).copy()  # one coefficient, or one for each side
            kernels.add_distances(distances, scores, np.ascontiguousarray(column), alphas)
            yield distances

    def decision_function(self, X) -> np.ndarray:
        """Return the negative distance to each word; with two classes, the first distance minus the second."""
        *_, distances = self._iterate_distances(X)
        return distances[:, 0] - distances[:, 1] if self.classes_.size == 2 else -distances

    def _predict_codes(self, X) -> np.ndarray:
        *_, distances = self._iterate_distances(X)
        return choose_nearest(distances)

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the predicted classes after each base classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels after 1, 2, ... base classifiers.
        """
        stages = self._iterate_classes(X)
        next(stages)
        yield from stages

    def _iterate_classes(self, X) -> Iterator[np.ndarray]:
        return (self.classes_[choose_nearest(distances)] for distances in self._iterate_distances(X))


def choose_nearest(distances: np.ndarray) -> np.ndarray:
    """Return the nearest class of each sample; on a tie the first, or with two classes the second.

    A score of 0 thus predicts the second class, as in all binary classifiers.
    """
    if distances.shape[1] == 2:
        return (distances[:, 0] >= distances[:, 1]).astype(np.int64)
    return np.argmin(distances, axis=1)


def _iterate_scores(estimators: list[BinaryLearner], samples: Samples) -> Iterator[np.ndarray]:
    """Yield the scores of each base classifier; a class may compute many at a time."""
    together = getattr(type(estimators[0]), "iterate_scores", None) if estimators else None
    if together is not None:
        yield from together(estimators, samples)
        return
    for estimator in estimators:
        yield estimator.compute_scores(samples)


RESCALE_FACTOR = 1e5  # D is rescaled once its sum differs from K by this factor


class JointWeights:
    """D(n, k), proportional to exp(-rho_k(x_n, y_n)): how much sample n is still confused with class k.

    The entry for a sample's own class is 0. Rounding breaks ties between cuts, at mu = 0 and between the
    stumps of AdaBoost, and thus affects published digits. Therefore D starts from the sample weights and is
    scaled as in the author's program: not in every round, but only when its sum is far from K.
    """

    def __init__(self, fitter: ColumnFitter):
        n, K = fitter.codes.size, fitter.n_classes
        self.codes = fitter.codes
        self.D = np.repeat(fitter.phi[:, None], K, axis=1)
        self.D[np.arange(n), self.codes] = 0.0
        self._by_class = np.zeros((K, K))
        self._sum = kernels.update_joint_weights(
            self.D, self.codes, np.ones(K, np.int8), np.ones(n), np.zeros(2), self._by_class
        )
        self._weights = np.empty(n)
        # The last column requested, with the result.
        self._latest: tuple[np.ndarray, float, np.ndarray | None] | None = None
        self.cost = 1.0  # the margin cost (4.2) over N (K - 1), the mean of all entries for other classes

    @property
    def confusion(self) -> np.ndarray:
        """The K x K weights that a column gains by separating two classes."""
        return self._by_class + self._by_class.T

    def compute_column_weights(self, column: np.ndarray) -> tuple[float, np.ndarray | None]:
        """Return U, the share of the weight that a column separates, and sample weights to fit the column with.

        The sample weights sum to 1, and are None if U is 0.
        """
        if self._latest is None or not np.array_equal(column, self._latest[0]):
            U = kernels.compute_pair_weights(self.D, self.codes, column, self._weights)
            D_t = self._weights * (1.0 / U) if np.finfo(np.float64).tiny <= U else None
            self._latest = column, U / self._sum, D_t
        return self._latest[1:]

    def find_best_column(self, outputs: np.ndarray) -> np.ndarray:
        """Return the column that best suits a base classifier: step 8 of Algorithm 4.2, +1 on a tie."""
        mu = kernels.compute_class_preferences(self.D, self.codes, outputs)
        return np.where(mu >= 0.0, 1, -1).astype(np.int8)

    def add_classifier(self, column: np.ndarray, outputs: np.ndarray, alphas: np.ndarray) -> None:
        """Update the weights and the cost for a base classifier with coefficients for its outputs -1 and +1."""
        before, self._sum = (
            self._sum,
            kernels.update_joint_weights(self.D, self.codes, column, outputs, alphas, self._by_class),
        )
        self.cost *= self._sum / before
        scale = self.D.shape[1] / self._sum
        if not 1.0 / RESCALE_FACTOR < scale < RESCALE_FACTOR:
            for values in (self.D, self._by_class):
                values *= scale
            self._sum *= scale
        self._latest = None


# Each takes the confusion between classes, a symmetric K x K matrix whose entry (a, b) is how much weight a
# column gains by separating a from b, and a random generator; it returns -1, 0 or +1 for each class.

MAX_EXACT_CLASSES = 13  # of an exact max-cut in every round: 4096 cuts to examine


def choose_max_cut(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the column that separates the most weight."""
    return kernels.find_max_cut(confusion)


def choose_greedy_cut(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column that cuts the heaviest edges first; two new ends are assigned to sides at random."""
    first, second = _list_pairs(len(confusion))
    column = np.zeros(len(confusion), np.int8)
    for edge in np.argsort(-confusion[first, second], kind="stable"):
        a, b = first[edge], second[edge]
        if column[a] == 0 and column[b] == 0:
            column[a] = rng.choice((-1, 1))
        if column[a] == 0:
            column[a] = -column[b]
        elif column[b] == 0:
            column[b] = -column[a]
    return column


def draw_random_half(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column with a random half of the classes on each side."""
    column = np.empty(len(confusion), np.int8)
    column[rng.permutation(len(confusion))] = np.where(np.arange(len(confusion)) % 2 == 0, 1, -1)
    return column


def choose_heaviest_pair(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column with the two most confused classes."""
    first, second = _list_pairs(len(confusion))
    heaviest = np.argmax(confusion[first, second])
    return build_pair_column(len(confusion), first[heaviest], second[heaviest])


def draw_pair_sign(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column with the two most confused classes, either of them +1, as in the author's program."""
    column = choose_heaviest_pair(confusion, rng)
    return column if rng.random() < 0.5 else -column


def draw_random_pair(confusion: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column of two random classes."""
    return build_pair_column(len(confusion), *rng.choice(len(confusion), 2, replace=False))


def build_pair_column(n_classes: int, a: int, b: int) -> np.ndarray:
    """Return the column with +1 for class a, -1 for class b, and 0 for all others."""
    column = np.zeros(n_classes, np.int8)
    column[a], column[b] = 1, -1
    return column


@cache
def _list_pairs(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs a < b, neighbours first: the order in which the author's program tries equal edges."""
    a, b = np.triu_indices(n_classes, 1)
    order = np.argsort(b - a, kind="stable")
    return a[order], b[order]


PARTITIONS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "max-cut": choose_max_cut,
    "greedy": choose_greedy_cut,
    "rand-half": draw_random_half,
    "max-2": choose_heaviest_pair,
    "max-2-random-sign": draw_pair_sign,
    "rand-2": draw_random_pair,
}
EXACT_PARTITION = "max-cut"
RANDOM_PARTITIONS = {"greedy", "rand-half", "max-2-random-sign", "rand-2"}
