"""Several classes by way of two: base classifiers that learn the columns of a coding matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from zoloss_cli.kernels.codes import add_distances
from zoloss_cli.kernels.zero_one import predicted_signs
from zoloss_cli.learners.base import (
    BinaryLearner,
    Learner,
    Problem,
    Samples,
    add_bias_column,
    build_generator,
    load_blas_controller,
)
from zoloss_cli.learners.boosting.base_learner import BaseLearnerFactory

SIDES = np.array([-1, 1])


class ColumnFitter:
    """The rows that all columns are learned on, and what is shared between them."""

    def __init__(self, base: BaseLearnerFactory, X, codes, phi, classes: int, rng):
        self.base, self.rows, self.codes, self.phi = base, Samples(add_bias_column(X)), codes, phi
        self.classes, self.rng = classes, rng
        self._made: dict[bytes, dict] = {}

    def learned(self, column: np.ndarray, weights: np.ndarray, round_: int) -> BinaryLearner:
        """The base classifier of a column, from the examples whose class is not 0 in it; weights sum to 1."""
        signs = column[self.codes].astype(np.float64)
        made = self._made.setdefault(column.tobytes(), {})
        if np.all(column):
            problem = Problem(self.rows.X, signs, weights, self.rng, made, _cache=self.rows._cache)
        else:
            part = np.flatnonzero(signs)
            problem = Problem(self.rows.X[part], signs[part], weights[part], self.rng, made, (self.rows, part))
        return self.base.learned(problem, SIDES, round_)

    def outputs(self, learner: BinaryLearner) -> np.ndarray:
        """-1.0 or +1.0 for every training example, also those that the column leaves out."""
        return predicted_signs(learner.compute_scores(self.rows))


class CodedEnsemble(Learner):
    """A classifier for K classes whose code words are compared with what T base classifiers say.

    Class k has the word M(k, .) of -1, 0 and +1, one letter a base classifier f_t with coefficient alpha_t;
    the prediction is the class with the smallest Hamming distance, sum of alpha_t (1 - M(k, t) f_t(x)) / 2,
    on a tie the first of them (Allwein et al. 2000; Li's thesis 2006, section 4.2).

    Subclasses write `encode`, which learns from a ColumnFitter. Attributes after fit: `classes_`,
    `coding_matrix_` (K x T), `estimators_`, `estimator_weights_` (alpha_t), `n_features_in_`.
    """

    multiclass = True
    version = 2  # 2: columns, sums and ties in the order of the author's program

    def fit(self, X, y, sample_weight=None):
        """Learn from N x m features and N labels of two or more classes, optionally with sample weights."""
        X, codes, phi = self._validate_fit_input(X, y, sample_weight)
        base = BaseLearnerFactory(self, self.base)
        base.check()
        training = ColumnFitter(base, X, codes, phi, self.classes_.size, build_generator(self.random_state))
        # The matrices are small: BLAS threads cost more than they bring.
        with load_blas_controller().limit(limits=1, user_api="blas"):
            columns, self.estimators_, alphas = self.encode(training)
        self.estimator_weights_ = np.array(alphas, np.float64)
        matrix = np.array(columns, np.int8).reshape(len(columns), self.classes_.size)
        self.coding_matrix_ = np.ascontiguousarray(matrix.T)
        return self

    def encode(self, training: ColumnFitter) -> tuple[list[np.ndarray], list[BinaryLearner], list[float]]:
        """The columns, their base classifiers and coefficients; the first step of `fit` checked everything."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    @property
    def deterministic(self):
        return BaseLearnerFactory(self, self.base).learner.deterministic

    def _staged_distances(self, X) -> Iterator[np.ndarray]:
        """The distances (N x K) after 0, 1, 2, ... base classifiers; one array that changes."""
        rows = Samples(self._validate_samples(X))
        distances = np.zeros((rows.X.shape[0], self.classes_.size))
        yield distances
        steps = zip(self.coding_matrix_.T, self.estimators_, self.estimator_weights_, strict=True)
        for column, f_t, alpha_t in steps:
            add_distances(distances, f_t.compute_scores(rows), np.ascontiguousarray(column), alpha_t)
            yield distances

    def decision_function(self, X):
        """Minus the distance to each class's word (N x K); of two classes, by how much the second is nearer."""
        *_, distances = self._staged_distances(X)
        return distances[:, 0] - distances[:, 1] if self.classes_.size == 2 else -distances

    def predict(self, X):
        """The class of each row."""
        *_, distances = self._staged_distances(X)
        return self.classes_[np.argmin(distances, axis=1)]

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The classes after 1, 2, ... base classifiers."""
        stages = self._staged_classes(X)
        next(stages)
        yield from stages

    def _staged_classes(self, X) -> Iterator[np.ndarray]:
        return (self.classes_[np.argmin(distances, axis=1)] for distances in self._staged_distances(X))
