"""The linear SVM and logistic regression of Nguyen & Sanner (2013): LIBLINEAR over a grid of C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import NeededPackage, PositiveList, Problem
from zoloss_cli.learners.linear_base import UnweightedLinearLearner
from zoloss_cli.learners.search.progress import SearchResultMixin
from zoloss_cli.utils.imports import import_optional

SOLVERS = {"squared-hinge": 2, "logistic": 0}
NAMES = {"squared-hinge": "svm", "logistic": "lr"}  # as they are registered
# A tuple, since a default must not change.
C_GRID: Any = tuple(2.0**exponent for exponent in (*range(-10, 0), 0, 0.5, 1, 2, 4, 6, 8, 10))


class LibLinearClassifier(SearchResultMixin, UnweightedLinearLearner):
    """LIBLINEAR with the C that gives the fewest training errors: a linear SVM or logistic regression.

    The columns SVM and LR of Nguyen & Sanner [1]_. The bias is a feature of ones, regularized like any other.

    Parameters
    ----------
    loss : {'squared-hinge', 'logistic'}, default='squared-hinge'
        Loss to minimize: that of an SVM (-s 2) or of logistic regression (-s 0).
    C : non-empty list of float > 0, default=(0.0009765625, ..., 1024.0)
        Values of C to choose from. By default 2 to the powers -10, -9, ..., 0, 0.5, 1, 2, 4, 6, 8 and 10.
    tolerance : float > 0, default=0.0001
        Tolerance of LIBLINEAR's stopping criterion (-e).

    Attributes
    ----------
    C_ : float
        The chosen value.
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved, rather than right up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        Training errors that no linear classifier can go below: samples with equal features and both labels.
    n_features_in_ : int
        Number of features.
    optimal_ : bool
        Whether `lower_bound_` is attained.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and training errors at the end of the fit.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the training samples that are misclassified.

    Notes
    -----
    Rules that the paper leaves out: the solvers -s 2 and -s 0 with -e 1e-4 and the grid are those of the
    authors' program; on equal errors the last C of the grid is kept, as the published numbers of SLA, which
    starts here, require. LIBLINEAR does not take sample weights.

    References
    ----------
    .. [1] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Section 6.
    .. [2] Fan, R.-E., Chang, K.-W., Hsieh, C.-J., Wang, X.-R. and Lin, C.-J. (2008). LIBLINEAR: A library for
       large linear classification.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import LibLinearClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = LibLinearClassifier(loss="logistic").fit(scale(X), y)
    >>> model.training_errors_, model.lower_bound_, model.optimal_
    (39, 0.0, False)
    """

    def __init__(
        self,
        loss: Annotated[
            Literal["squared-hinge", "logistic"],
            Field(description="loss to minimize: that of an SVM (-s 2) or of logistic regression (-s 0)"),
        ] = "squared-hinge",
        C: Annotated[PositiveList, Field(description="values of C to choose from")] = C_GRID,
        tolerance: Annotated[
            float, Field(gt=0, description="tolerance of LIBLINEAR's stopping criterion (-e)")
        ] = 1e-4,
    ):
        self.loss = loss
        self.C = C
        self.tolerance = tolerance

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights with the fewest training errors; on a tie, those of the last C."""
        fewest, best = problem.y.size + 1, start
        for C, weights in zip(self.C, self.solve_grid(problem.X, problem.y), strict=True):
            if not np.all(np.isfinite(weights)):  # LIBLINEAR can overflow if features are not scaled
                continue
            errors = int(find_strict_errors(problem.X @ weights, problem.y).sum())
            if errors <= fewest:
                fewest, best, self.C_ = errors, weights, float(C)
        if fewest > problem.y.size:
            raise ValueError(f"{type(self).__name__}: no C gives finite weights; scale the features")
        return best

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return LIBLINEAR's own package."""
        return [NeededPackage("liblinear")]

    def solve_grid(self, X: np.ndarray, y: np.ndarray) -> Iterator[np.ndarray]:
        """Yield LIBLINEAR's weights for each C.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 1 + n_features)
            Samples (1, x).
        y : ndarray of shape (n_samples,)
            Labels, -1.0 or +1.0.

        Yields
        ------
        ndarray of shape (1 + n_features,)
            The weights, bias first.
        """
        liblinear = import_optional("liblinear.liblinearutil", f"the learner '{NAMES[self.loss]}'")
        data = liblinear.problem(y, X)
        for C in self.C:
            options = f"-s {SOLVERS[self.loss]} -c {C:.17g} -e {self.tolerance:.17g} -q"
            model = liblinear.train(data, liblinear.parameter(options))
            # LIBLINEAR's weights are for the label that it saw first.
            yield model.get_labels()[0] * np.array(model.w[: X.shape[1]])
