"""Learning from a stream: rows come one after the other, and what was learned goes on from call to call."""

from __future__ import annotations

import contextlib

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import validate_data

from zoloss_cli.learners.base import Problem, add_bias_column, build_generator
from zoloss_cli.learners.linear.online import pad_columns
from zoloss_cli.learners.parameters import check_parameters

NOT_RECORDED = np.empty(0, np.int64), np.empty((0, 0))
NO_SEED = np.uint64(0)  # in a fixed order nothing is drawn


class PartialFitMixin:
    """Mixed into a linear learner whose algorithm looks at one row after the other, without sample weights.

    Subclasses write `update_in_order`. A call changes the weights row by row, each row once, in the order given:
    `epochs`, `order` and `record_every` are for `fit`. The first call starts from `seeding`, later ones from
    where the last call, or `fit`, ended; `fit` begins anew.
    """

    def partial_fit(self, X, y, classes=None):
        """Learn from more rows, each once and in this order. The first call needs both `classes`."""
        return self._partial_fit(X, y, classes, None)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The weights after the rows Z = y (1, x), padded, with these step sizes; `w` may be changed."""
        raise TypeError(f"{type(self).__name__} does not say how it goes on")

    def _partial_fit(self, X, y, classes, sample_weight):
        first = not hasattr(self, "coef_")
        check_parameters(self)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        known = self._known_classes(y, classes, first)
        step = self._validate_sample_weight(X, sample_weight)
        rows, signs = add_bias_column(X), np.where(y == known[1], 1.0, -1.0)
        if first:
            w = self._first_weights(rows, signs, step)
        else:
            w = np.concatenate([self.intercept_, self.coef_[0]])
        weights = self.update_in_order(pad_columns(rows * signs[:, None]), step, pad_columns(w))
        self.classes_ = known
        self._store_weights(weights[: w.size])
        return self

    def _known_classes(self, y: np.ndarray, classes, first: bool) -> np.ndarray:
        name = type(self).__name__
        if first and classes is None:
            raise ValueError(
                f"{name}: the first call of partial_fit needs classes, both labels that y may have"
            )
        known = unique_labels(classes) if first else self.classes_
        self.check_classes(known.size)
        if known.size < 2:
            raise ValueError(f"{name} needs two classes, but classes holds one class: '{known[0]}'")
        if classes is not None and not np.array_equal(known, unique_labels(classes)):
            raise ValueError(f"{name}: classes={list(classes)} are not those of the first call, {list(known)}")
        unknown = y[~np.isin(y, known)]
        if unknown.size:
            raise ValueError(f"{name}: y holds '{unknown[0]}', which is not one of the classes {list(known)}")
        return known

    def _first_weights(self, rows: np.ndarray, signs: np.ndarray, step: np.ndarray) -> np.ndarray:
        if isinstance(seeding := getattr(self, "seeding", "zero"), str) and seeding != "zero":
            raise ValueError(
                f"{type(self).__name__}: seeding='{seeding}' needs all rows at once; "
                f"partial_fit starts from 'zero' or from given weights"
            )
        return self._compute_start(Problem(rows, signs, step, build_generator(self.random_state)))


class WeightedPartialFitMixin(PartialFitMixin):
    """As PartialFitMixin, with sample weights."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows, each once and in this order. The first call needs both `classes`.

        A sample weight is the size of its row's step, and 1 if none is given. It is not relative to the mean
        weight, as in `fit`: a stream does not know it.
        """
        if sample_weight is not None and self.weighting == "resample":
            raise ValueError(
                f"{type(self).__name__}: weighting='resample' draws by sample weight, but partial_fit takes "
                f"every row as it comes; use 'reweight'"
            )
        return self._partial_fit(X, y, classes, sample_weight)


def progressive_errors(learner, X, y, classes=None) -> np.ndarray:
    """Predict each row, then learn from it: which rows were predicted wrongly.

    Their mean is the error by progressive validation: every row tests what was learned from those before
    it. The learner, any with `partial_fit`, goes on from where it is. One that has seen nothing yet says
    nothing of its first row, which counts as wrong.

    >>> import numpy as np
    >>> from zoloss_cli import PerceptronClassifier, progressive_errors
    >>> X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> wrong = progressive_errors(PerceptronClassifier(), X, X[:, 0] > X[:, 1])
    >>> bool(wrong[:200].sum() > wrong[200:].sum())
    True
    """
    X, y = np.asarray(X), np.asarray(y)
    classes = np.unique(y) if classes is None else classes
    wrong = np.ones(len(y), bool)
    for i in range(len(y)):
        row, label = X[i : i + 1], y[i : i + 1]
        with contextlib.suppress(NotFittedError):
            wrong[i] = learner.predict(row)[0] != label[0]
        learner.partial_fit(row, label, classes=classes)
    return wrong
