"""Fits to a stream: samples come one after the other, and each call goes on from where the last one ended."""

from __future__ import annotations

import contextlib
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import validate_data

from zoloss_cli.learners.linear.online import pad_columns
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.learners.problem import (
    Problem,
    add_bias_column,
    build_generator,
    check_feature_sizes,
    drop_tiny_values,
)

NOT_RECORDED = np.empty(0, np.int64), np.empty((0, 0))
NO_SEED = np.uint64(0)  # in a fixed order nothing is drawn


class OnlineLinearLearner(LinearLearner):
    """A linear learner whose algorithm looks at one sample after the other, without sample weights.

    Subclasses write `update_in_order`. A call of `partial_fit` changes the weights sample by sample, each
    sample once, in the order given: `epochs`, `order` and `record_every` are for `fit`. The first call starts
    from `seeding`, later ones from where the last call, or `fit`, ended; `fit` begins anew.
    """

    def partial_fit(self, X, y, classes=None) -> Self:
        """Fit to more samples, each once and in this order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (2,) or None, default=None
            Both labels that y may have. The first call needs them.

        Returns
        -------
        object
            The fitted classifier.
        """
        return self._partial_fit(X, y, classes, None)

    def update_in_order(self, Z: np.ndarray, step: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the weights after one pass over samples in their order.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_columns)
            Samples y (1, x), padded.
        step : ndarray of shape (n_samples,)
            Step sizes.
        w : ndarray of shape (n_columns,)
            Padded weights to start from, which may be overwritten.

        Returns
        -------
        ndarray of shape (n_columns,)
            Padded weights.
        """
        raise TypeError(f"{type(self).__name__} does not say how it goes on")

    def _partial_fit(self, X, y, classes, sample_weight) -> Self:
        first = not hasattr(self, "coef_")
        check_parameters(self)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", reset=first)
        X = drop_tiny_values(X)  # before the check: a feature that is tiny here need not be so in later samples
        check_feature_sizes(X, type(self).__name__)
        check_classification_targets(y)
        known = self._validate_classes(y, classes, first)
        step = self._validate_sample_weight(X, sample_weight)
        samples, signs = add_bias_column(X), np.where(y == known[1], 1.0, -1.0)
        if first:
            w = self._compute_first_weights(samples, signs, step)
        else:
            w = np.concatenate([self.intercept_, self.coef_[0]])
        weights = self.update_in_order(pad_columns(samples * signs[:, None]), step, pad_columns(w))
        self.classes_ = known
        self._store_weights(weights[: w.size])
        return self

    def _validate_classes(self, y: np.ndarray, classes, first: bool) -> np.ndarray:
        """Return both classes, given at the first call and known later."""
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

    def _compute_first_weights(self, samples: np.ndarray, signs: np.ndarray, step: np.ndarray) -> np.ndarray:
        if isinstance(seeding := getattr(self, "seeding", "zero"), str) and seeding != "zero":
            raise ValueError(
                f"{type(self).__name__}: seeding='{seeding}' needs all samples at once; "
                f"partial_fit starts from 'zero' or from given weights"
            )
        return self._compute_start(Problem(samples, signs, step, build_generator(self.random_state)))


class WeightedOnlineLinearLearner(OnlineLinearLearner):
    """A linear learner whose algorithm looks at one sample after the other, with sample weights."""

    weighting: str  # a parameter of subclasses

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Fit to more samples, each once and in this order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (2,) or None, default=None
            Both labels that y may have. The first call needs them.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Step sizes, 1 each if None. They are not relative to the mean weight, as in `fit`: a stream does
            not know it.

        Returns
        -------
        object
            The fitted classifier.
        """
        if sample_weight is not None and self.weighting == "resample":
            raise ValueError(
                f"{type(self).__name__}: weighting='resample' draws by sample weight, but partial_fit takes "
                f"every sample as it comes; use 'reweight'"
            )
        return self._partial_fit(X, y, classes, sample_weight)


def progressive_errors(learner: Any, X, y, classes=None) -> np.ndarray:
    """Predict each sample, then fit to it, and return which predictions were wrong.

    Their mean is the error by progressive validation: every sample tests what was fitted to those before it.
    The learner goes on from where it is. One that was not fitted yet predicts nothing for its first sample,
    which counts as wrong.

    Parameters
    ----------
    learner : estimator
        Any classifier with `partial_fit`.
    X : array-like of shape (n_samples, n_features)
        Samples, in the order of the stream.
    y : array-like of shape (n_samples,)
        Labels.
    classes : array-like of shape (n_classes,) or None, default=None
        All labels that may occur; None: those in y.

    Returns
    -------
    ndarray of shape (n_samples,)
        Whether each sample was predicted wrongly.

    Examples
    --------
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
        sample, label = X[i : i + 1], y[i : i + 1]
        with contextlib.suppress(NotFittedError):
            wrong[i] = learner.predict(sample)[0] != label[0]
        learner.partial_fit(sample, label, classes=classes)
    return wrong
