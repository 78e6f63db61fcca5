"""One classifier for each pair of classes, or for each class: several classes without boosting."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from zoloss_cli.learners.multiclass.coding import CodedEnsemble
from zoloss_cli.learners.parameters import BaseLearner


class _FixedCode(CodedEnsemble):
    """A fixed coding matrix; every column is learned once, with the examples' own weights."""

    def __init__(self, base: BaseLearner = "rcd-bias", random_state=None):
        self.base = base
        self.random_state = random_state

    def encode(self, training):
        columns, learned = [], []
        for column in self.code(training.classes):
            involved = column[training.codes] != 0
            weights = np.where(involved, training.phi, 0.0)
            sides = column[training.codes[weights > 0.0]]
            if sides.size == 0 or np.ptp(sides) == 0:  # examples without weight: nothing to learn from
                continue
            # The sum from the first to the last: its rounding decides a printed cell of vowel in Table 4.4.
            learned.append(training.learned(column, weights / np.cumsum(weights)[-1], len(columns) + 1))
            columns.append(column)
        return columns, learned, [1.0] * len(columns)


class OneVsOneClassifier(_FixedCode):
    """One-vs-one: a base classifier for each pair of classes, and the class with the most votes.

    Allwein et al. (2000); the first column of Tables 4.2-4.5 of Li's thesis (2006). On a tie the first of
    the classes is predicted.

    >>> from zoloss_cli import OneVsOneClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = OneVsOneClassifier(base="rcd-bias", random_state=0).fit(X, y)
    >>> model.coding_matrix_.shape, model.score(X, y) > 0.9
    ((3, 3), True)
    """

    def code(self, classes: int):
        for a, b in combinations(range(classes), 2):
            column = np.zeros(classes, np.int8)
            column[a], column[b] = 1, -1
            yield column


class OneVsAllClassifier(_FixedCode):
    """One-vs-all: a base classifier for each class against all others.

    Allwein et al. (2000); the first column of Tables 4.2-4.5 of Li's thesis (2006). What the base classifiers
    say is compared with the classes' words, so that only their signs count; on a tie the first class is
    predicted. Two classes need one classifier only.

    >>> from zoloss_cli import OneVsAllClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = OneVsAllClassifier(base="fld").fit(X, y)
    >>> model.coding_matrix_.tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    """

    def code(self, classes: int):
        for a in range(classes) if classes > 2 else (1,):
            column = np.full(classes, -1, np.int8)
            column[a] = 1
            yield column
