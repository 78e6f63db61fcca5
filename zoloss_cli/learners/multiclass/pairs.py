"""Fixed coding matrices: one-vs-one, one-vs-all and error-correcting output codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.learners.base import BaseLearner, BinaryLearner
from zoloss_cli.learners.multiclass.codes import CodedEnsemble, ColumnFitter, build_pair_column


@dataclass(eq=False, repr=False)
class FixedCode(CodedEnsemble):  # numpydoc ignore=PR02
    """A fixed coding matrix; each column is fitted once, with the original sample weights."""

    base: BaseLearner = "rcd-bias"
    random_state: Any = None

    def iterate_columns(self, n_classes: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the columns of the coding matrix for this many classes: -1, 0 or +1 for each class."""
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
            # Summed from first to last: the rounding affects a published value of vowel in Table 4.4.
            estimators.append(fitter.fit_column(column, weights / np.cumsum(weights)[-1], len(columns) + 1))
            columns.append(column)
        return columns, estimators, [1.0] * len(columns)


class OneVsOneClassifier(FixedCode):  # numpydoc ignore=PR02
    """One-vs-one: a base classifier for each pair of classes; the class with the most votes is predicted.

    On a tie, the first class is predicted. The first column of Tables 4.2-4.5 of Li's thesis [2]_.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
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
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
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


MAX_EXHAUSTIVE_CLASSES = 11  # 1023 columns
TRIES = 10_000  # random matrices, the best of which is used
TRIES_AT_A_TIME = 500
COLUMNS_PER_BIT = {"dense": 10, "sparse": 15}  # times log2 of the number of classes
LETTERS = {"dense": np.array([-1, 1], np.int8), "sparse": np.array([-1, 0, 0, 1], np.int8)}


class OutputCodeClassifier(FixedCode):
    """Error-correcting output codes: a base classifier for each column of a fixed coding matrix.

    The exhaustive code of Dietterich & Bakiri [1]_ has every partition of the classes into two. The random
    codes of Allwein, Schapire & Singer [2]_ have 10 log2 K columns of -1 and +1 (dense), or 15 log2 K columns
    with 0 for half of the letters (sparse). The class with the nearest word is predicted, by Hamming decoding
    (section 4.2 of Li's thesis [3]_): on a tie the first, or with two classes the second.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
    code : {'dense', 'sparse', 'exhaustive'}, default='dense'
        The coding matrix.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coding_matrix_ : ndarray of shape (n_classes, n_columns)
        The code words, one row per class, of -1, 0 and +1.
    estimator_weights_ : ndarray of shape (n_columns,)
        The coefficients of the base classifiers: 1.
    estimators_ : list of BinaryLearner
        The base classifiers.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    As in [2]_, the random matrix is the one among 10,000 whose two nearest words are farthest apart; here, on a
    tie, the first. A column without both signs has nothing to separate, and is redrawn. The exhaustive code is
    limited to 11 classes, which have 1023 columns.

    References
    ----------
    .. [1] Dietterich, T. G. and Bakiri, G. (1995). Solving multiclass learning problems via error-correcting
       output codes. Section 2.3.1.
    .. [2] Allwein, E. L., Schapire, R. E. and Singer, Y. (2000). Reducing multiclass to binary: A unifying
       approach for margin classifiers. Section 6.
    .. [3] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Sections 4.1 and 4.2.

    Examples
    --------
    >>> from zoloss_cli import OutputCodeClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = OutputCodeClassifier(base="stump", code="exhaustive").fit(X, y)
    >>> model.coding_matrix_.tolist()
    [[1, 1, 1], [1, -1, -1], [-1, 1, -1]]
    """

    def __init__(
        self,
        base: BaseLearner = "rcd-bias",
        code: Annotated[
            Literal["dense", "sparse", "exhaustive"], Field(description="the coding matrix")
        ] = "dense",
        random_state=None,
    ):
        super().__init__(base, random_state)
        self.code = code

    def check_classes(self, count: int) -> None:
        """Raise ValueError if an exhaustive code for this many classes would have too many columns."""
        super().check_classes(count)
        if self.code == "exhaustive" and count > MAX_EXHAUSTIVE_CLASSES:
            raise ValueError(
                f"{type(self).__name__}: code='exhaustive' is for at most {MAX_EXHAUSTIVE_CLASSES} classes, "
                f"and y holds {count}; use code='dense' instead"
            )

    def iterate_columns(self, n_classes: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield all partitions into two (+1 for the first class), or the columns of the best random matrix."""
        if self.code == "exhaustive":
            for number in range(2 ** (n_classes - 1) - 2, -1, -1):
                bits = [number >> shift & 1 for shift in range(n_classes - 2, -1, -1)]
                yield np.array([1, *(2 * bit - 1 for bit in bits)], np.int8)
        else:
            yield from draw_best_matrix(n_classes, self.code, rng)

    @property
    def deterministic(self) -> bool:
        """Whether neither the base learner nor the code uses random draws."""
        return super().deterministic and self.code == "exhaustive"


def draw_best_matrix(n_classes: int, code: str, rng: np.random.Generator) -> np.ndarray:
    """Return the columns, as rows, of the random matrix whose two nearest words are farthest apart."""
    n_columns = int(np.ceil(COLUMNS_PER_BIT[code] * np.log2(n_classes)))
    own = np.arange(n_classes)
    best, least = np.empty((0, n_classes), np.int8), np.inf
    for _ in range(TRIES // TRIES_AT_A_TIME):
        matrices = _draw_columns(TRIES_AT_A_TIME * n_columns, n_classes, LETTERS[code], rng)
        matrices = matrices.reshape(TRIES_AT_A_TIME, n_columns, n_classes)
        wide = matrices.astype(np.float32)
        agreement = wide.transpose(0, 2, 1) @ wide  # of two words; their distance is half of T minus this
        agreement[:, own, own] = -np.inf
        nearest = agreement.max(axis=(1, 2))
        at = int(np.argmin(nearest))
        if nearest[at] < least:
            best, least = matrices[at].copy(), nearest[at]
    return best


def _draw_columns(count: int, n_classes: int, letters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return random columns, as rows, that have both signs."""
    columns = letters[rng.integers(0, letters.size, (count, n_classes))]
    while True:
        again = np.flatnonzero((columns.max(axis=1) < 1) | (columns.min(axis=1) > -1))
        if again.size == 0:
            return columns
        columns[again] = letters[rng.integers(0, letters.size, (again.size, n_classes))]
