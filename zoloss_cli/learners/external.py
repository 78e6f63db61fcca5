"""Estimators of other packages, used in the same way as zoloss's own learners."""

from __future__ import annotations

import copy
import inspect
import time
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from zoloss_cli.learners.base import NeededPackage, build_generator, refuse_masked
from zoloss_cli.utils.signature import RANDOM_STATE

MAX_SEED = 2**31 - 1
# The attribute of a fitted estimator behind each optional field of records that its class lists in `reports`.
REPORTED_ATTRIBUTES = {
    "time_to_best": "trace_",
    "lower_bound": "lower_bound_",
    "iterations": "n_rounds_",
    "cost": "costs_",
    "error_counts": "n_error_counts_",
}


def _has_scores(learner: ExternalLearner) -> bool:
    estimator = getattr(learner, "estimator_", learner.estimator)
    return hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")


def _has_probabilities(learner: ExternalLearner) -> bool:
    return hasattr(getattr(learner, "estimator_", learner.estimator), "predict_proba")


class ExternalLearner(ClassifierMixin, BaseEstimator):
    """A classifier that wraps an estimator which knows nothing about zoloss.

    The estimator gets copies of the samples, class indices from 0, and a seed for each of its parameters called
    `random_state`. It needs the methods `fit` and `predict`; scores, probabilities and sample weights are used
    if it has them. The wrapper checks that it does not modify its input and predicts only known classes.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from zoloss_cli import load_dataset
    >>> from zoloss_cli.learners.external import ExternalLearner
    >>> X, y = load_dataset("iris")
    >>> ExternalLearner(GaussianNB()).fit(X, y).score(X, y) > 0.9
    True
    """

    is_external = True

    def __init__(self, estimator, random_state=None):
        self.estimator = estimator
        self.random_state = random_state

    @property
    def wrapped_estimator(self) -> Any:
        """The wrapped estimator, for another estimator that takes it as a parameter."""
        return self.estimator

    @property
    def name(self) -> str:
        """The estimator's class, for messages."""
        return type(self.estimator).__name__

    @property
    def multiclass(self) -> bool:
        """Whether it takes more than two classes, by its attribute `multiclass` or scikit-learn's tags."""
        said = getattr(self.estimator, "multiclass", None)
        if isinstance(said, bool):
            return said
        if not hasattr(self.estimator, "__sklearn_tags__"):
            return True
        tags = get_tags(self.estimator).classifier_tags
        return tags is None or tags.multi_class

    @property
    def deterministic(self) -> bool:
        """Whether no parameter accepts a seed."""
        return not _list_seed_parameters(self.estimator)

    @property
    def reports(self) -> tuple[str, ...]:
        """The optional record fields that the estimator declares."""
        return tuple(getattr(self.estimator, "reports", ()))

    def check_classes(self, count: int) -> None:
        """Raise ValueError if the estimator does not support this many classes."""
        if count > 2 and not self.multiclass:
            raise ValueError(f"{self.name} separates two classes, and there are {count}")

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return nothing: its package is already imported."""
        return []

    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit a copy of the estimator."""
        refuse_masked(self.name, X=X, y=y, sample_weight=sample_weight)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.check_classes(self.classes_.size)
        given = {"X": X.copy(), "y": codes.astype(np.int64)}
        if sample_weight is not None:
            if "sample_weight" not in inspect.signature(self.estimator.fit).parameters:
                raise ValueError(f"{self.name} takes no sample weights")
            given["sample_weight"] = np.array(sample_weight, dtype=np.float64)
        before = {name: values.copy() for name, values in given.items()}
        self.estimator_ = _seed_copy(self.estimator, self.random_state)
        start = time.perf_counter()
        # By position: they are not always called X and y.
        self.estimator_.fit(
            *list(given.values())[:2], **{k: v for k, v in given.items() if k == "sample_weight"}
        )
        self.seconds_ = time.perf_counter() - start
        for name, values in given.items():
            self._check_unchanged(values, before[name], f"{name} in fit")
        self._take_reports()
        return self

    def _take_reports(self) -> None:
        """Copy what the estimator reports about its search, as far as its class declares it."""
        for field, attribute in REPORTED_ATTRIBUTES.items():
            if field not in self.reports:
                continue
            if not hasattr(self.estimator_, attribute):
                raise ValueError(f"{self.name} lists {field} in reports, but has no {attribute} after fit")
            setattr(self, attribute, getattr(self.estimator_, attribute))

    def _check_unchanged(self, values: np.ndarray, before: np.ndarray, where: str) -> None:
        if not np.array_equal(values, before):
            raise ValueError(f"{self.name} changes its input {where}: it must work on a copy")

    def _ask(self, method: str, X) -> np.ndarray:
        """Call a method of the estimator; return its result, with one entry or row per sample."""
        check_is_fitted(self, "estimator_")
        refuse_masked(self.name, X=X)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        given = X.copy()
        said = np.asarray(getattr(self.estimator_, method)(given))
        self._check_unchanged(given, X, f"X in {method}")
        if said.shape[:1] != X.shape[:1]:
            raise ValueError(f"{self.name}: {method} of {len(X)} samples has the shape {said.shape}")
        return said

    def predict(self, X) -> np.ndarray:
        """Return the predicted class of each sample."""
        said = self._ask("predict", X)
        if said.ndim == 2 and said.shape[1] == 1:
            said = said[:, 0]
        known = np.arange(self.classes_.size)
        strange = ~np.isin(said, known)
        if said.ndim != 1 or np.any(strange):
            shown = repr(said[strange].flat[0].item()) if np.any(strange) else f"an array of shape {said.shape}"
            raise ValueError(f"{self.name} predicts {shown}, but it was given the classes 0 to {known[-1]}")
        return self.classes_[said.astype(np.int64)]

    @available_if(_has_scores)
    def decision_function(self, X) -> np.ndarray:
        """Return the scores of samples, or their probabilities minus a half if it has no scores."""
        if hasattr(getattr(self, "estimator_", self.estimator), "decision_function"):
            return self._ask("decision_function", X)
        probabilities = self._ask("predict_proba", X)
        return probabilities[:, 1] - 0.5 if self.classes_.size == 2 else probabilities

    @available_if(_has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities of the classes, in the order of `classes_`."""
        return self._ask("predict_proba", X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multiclass
        return tags


def _list_seed_parameters(estimator: Any) -> list[str]:
    """Return the parameters of an estimator, and of those inside it, that accept a seed and have none set."""
    if hasattr(estimator, "get_params") and hasattr(estimator, "set_params"):
        values = estimator.get_params(deep=True)
        return [
            name for name in sorted(values) if name.rpartition("__")[2] == RANDOM_STATE and values[name] is None
        ]
    return [RANDOM_STATE] if getattr(estimator, RANDOM_STATE, 0) is None else []


def _seed_copy(estimator: Any, random_state: Any) -> Any:
    """Return a copy of an estimator with integer seeds, which all accept, drawn from `random_state`."""
    seeded = copy.deepcopy(estimator)
    if random_state is None:
        return seeded
    rng = build_generator(random_state)
    for name in _list_seed_parameters(seeded):
        seed = int(rng.integers(MAX_SEED))
        if hasattr(seeded, "set_params"):
            seeded.set_params(**{name: seed})
        else:
            setattr(seeded, name, seed)
    return seeded
