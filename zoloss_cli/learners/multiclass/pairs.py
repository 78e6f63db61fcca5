"""One classifier per pair of classes or per class: several classes without boosting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.multiclass.coding import CodedEnsemble, ColumnFitter
from zoloss_cli.learners.multiclass.partitions import build_pair_column
from zoloss_cli.learners.parameters import BaseLearner


class FixedCode(CodedEnsemble):
    """A fixed coding matrix; each column is fitted once, with the original sample weights."""

    def __init__(self, base: BaseLearner = "rcd-bias", random_state=None):
        self.base = base
        self.random_state = random_state

    def iterate_columns(self, n_classes: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the columns of the coding matrix for this many classes.

        Parameters
        ----------
        n_classes : int
            Number of classes.
        rng : numpy.random.Generator
            Source of random draws.

        Yields
        ------
        ndarray of shape (n_classes,)
            -1, 0 or +1 for each class.
        """
        raise NotImplementedError

    def encode(self, fitter: ColumnFitter) -> tuple[list[np.ndarray], list[BinaryLearner], list[float]]:
        """Fit each column that has samples with weight on both sides."""
        columns: list[np.ndarray] = []
        estimators: list[BinaryLearner] = []
        for column in self.iterate_columns(fitter.n_classes, fitter.rng):
            involved = column[fitter.codes] != 0
            weights = np.where(involved, fitter.phi, 0.0)
            sides = column[fitter.codes[weights > 0.0]]
            if sides.size == 0 or np.ptp(sides) == 0:  # samples without weight: nothing to learn from
                continue
            # Summed from first to last: the rounding decides a published cell of vowel in Table 4.4.
            estimators.append(fitter.fit_column(column, weights / np.cumsum(weights)[-1], len(columns) + 1))
            columns.append(column)
        return columns, estimators, [1.0] * len(columns)


class OneVsOneClassifier(FixedCode):  # numpydoc ignore=PR02
    """One-vs-one: a base classifier for each pair of classes; the class with the most votes is predicted.

    On a tie, the first class is predicted. The first column of Tables 4.2-4.5 of Li's thesis [2]_.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. It may also be an estimator of
        this package. Its `random_state` is not used: all fits draw from this one's.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coding_matrix_ : ndarray of shape (n_classes, n_pairs)
        The code words, one row per class, of -1, 0 and +1.
    estimator_weights_ : ndarray of shape (n_pairs,)
        The coefficients of the base classifiers: 1.
    estimators_ : list of BinaryLearner
        The base classifiers.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] Allwein, E. L., Schapire, R. E. and Singer, Y. (2000). Reducing multiclass to binary: A unifying
       approach for margin classifiers.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Tables 4.2-4.5.

    Examples
    --------
    >>> from zoloss_cli import OneVsOneClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = OneVsOneClassifier(base="rcd-bias", random_state=0).fit(X, y)
    >>> model.coding_matrix_.shape, model.score(X, y) > 0.9
    ((3, 3), True)
    """

    def iterate_columns(self, n_classes: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield a column for each pair of classes."""
        for a, b in combinations(range(n_classes), 2):
            yield build_pair_column(n_classes, a, b)


class OneVsAllClassifier(FixedCode):  # numpydoc ignore=PR02
    """One-vs-all: a base classifier for each class against all others.

    The predictions of the base classifiers are compared with the words of the classes, so that only their
    signs matter; on a tie, the first class is predicted. Two classes need only one classifier. The first column
    of Tables 4.2-4.5 of Li's thesis [2]_.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. It may also be an estimator of
        this package. Its `random_state` is not used: all fits draw from this one's.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coding_matrix_ : ndarray of shape (n_classes, n_columns)
        The code words, one row per class, of -1 and +1.
    estimator_weights_ : ndarray of shape (n_columns,)
        The coefficients of the base classifiers: 1.
    estimators_ : list of BinaryLearner
        The base classifiers.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] Allwein, E. L., Schapire, R. E. and Singer, Y. (2000). Reducing multiclass to binary: A unifying
       approach for margin classifiers.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Tables 4.2-4.5.

    Examples
    --------
    >>> from zoloss_cli import OneVsAllClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = OneVsAllClassifier(base="fld").fit(X, y)
    >>> model.coding_matrix_.tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    """

    def iterate_columns(self, n_classes: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield a column for each class; for two classes, only one."""
        for a in range(n_classes) if n_classes > 2 else (1,):
            column = np.full(n_classes, -1, np.int8)
            column[a] = 1
            yield column
