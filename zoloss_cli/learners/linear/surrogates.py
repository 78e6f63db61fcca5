"""Linear learners that minimize a surrogate of the 0/1 loss: LIBLINEAR, soft-margin SVM, Bayes point."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.expectation import fit_bayes_point
from zoloss_cli.kernels.svm import pad_columns, solve_linear_svm
from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import NEGLIGIBLE_WEIGHT_SHARE, NeededPackage, PositiveList, Problem
from zoloss_cli.learners.linear_base import LinearLearner, UnweightedLinearLearner, rotate_into_span
from zoloss_cli.learners.search.progress import SearchResultMixin
from zoloss_cli.utils.imports import import_optional, is_installed

Loss = Literal["squared-hinge", "logistic"]
SOLVERS = {"squared-hinge": 2, "logistic": 0}
NAMES = {"squared-hinge": "svm", "logistic": "lr"}  # their registered names
# A tuple, since a default must be immutable.
LIBLINEAR_GRID: Any = tuple(2.0**exponent for exponent in (*range(-10, 0), 0, 0.5, 1, 2, 4, 6, 8, 10))


@dataclass(eq=False, repr=False)
class LibLinearClassifier(SearchResultMixin, UnweightedLinearLearner):  # numpydoc ignore=PR02
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
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        Training errors that no linear classifier can avoid: samples with equal features and both labels.
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
    Details that the paper omits: the solvers -s 2 and -s 0 with -e 1e-4 and the grid are those of the
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

    loss: Annotated[
        Literal["squared-hinge", "logistic"],
        Field(description="loss to minimize: that of an SVM (-s 2) or of logistic regression (-s 0)"),
    ] = "squared-hinge"
    C: Annotated[PositiveList, Field(description="values of C to choose from")] = LIBLINEAR_GRID
    tolerance: Annotated[float, Field(gt=0, description="tolerance of LIBLINEAR's stopping criterion (-e)")] = (
        1e-4
    )

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights with the fewest training errors; on a tie, those of the last C."""
        best = _find_fewest_errors(problem, self._solve_grid(problem.X, problem.y))
        if best is None:
            raise ValueError(f"{type(self).__name__}: no C gives finite weights; scale the features")
        self.C_, weights = best
        return weights

    def list_needed_packages(self) -> list[NeededPackage]:
        """Return LIBLINEAR's own package."""
        return [NeededPackage("liblinear")]

    def _solve_grid(self, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        """Yield each C with LIBLINEAR's weights, bias first."""
        liblinear = import_optional("liblinear.liblinearutil", f"the learner '{NAMES[self.loss]}'")
        data = liblinear.problem(y, X)
        for C in self.C:
            options = f"-s {SOLVERS[self.loss]} -c {C:.17g} -e {self.tolerance:.17g} -q"
            model = liblinear.train(data, liblinear.parameter(options))
            # LIBLINEAR's weights are oriented towards the label that it saw first.
            yield C, model.get_labels()[0] * np.array(model.w[: X.shape[1]])


MAX_ITERATIONS = 1000  # as in LIBLINEAR
TOLERANCE = 1e-4


def compute_liblinear_start(loss: Loss, problem: Problem) -> np.ndarray:
    """Return LIBLINEAR's best weights, bias first, for a search to start from; 0 if no C gives finite ones."""
    if not is_installed("liblinear"):
        return compute_substitute_start(loss, problem)
    start = np.zeros(problem.X.shape[1])
    with contextlib.suppress(ValueError):  # unscaled features
        return LibLinearClassifier(loss).learn(problem, start)
    return start


def compute_substitute_start(loss: Loss, problem: Problem) -> np.ndarray:
    """Return the best weights, bias first, of scikit-learn's older LIBLINEAR; warn that they may differ."""
    warnings.warn(
        "the package liblinear-official is not installed, so the search starts from scikit-learn's weights, "
        "and its result may differ: pip install liblinear-official",
        stacklevel=2,
    )
    solutions = ((C, _solve_by_sklearn(loss, C, problem)) for C in LIBLINEAR_GRID)
    best = _find_fewest_errors(problem, solutions)
    return np.zeros(problem.X.shape[1]) if best is None else best[1]


def _solve_by_sklearn(loss: Loss, C: float, problem: Problem) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    # The bias is the first feature, regularized like any other.
    common = {"C": C, "tol": TOLERANCE, "fit_intercept": False, "max_iter": MAX_ITERATIONS, "random_state": 0}
    model = (
        LogisticRegression(solver="liblinear", **common)
        if loss == "logistic"
        else LinearSVC(loss="squared_hinge", dual=False, **common)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not be exact
        return model.fit(problem.X, problem.y).coef_[0]


def _find_fewest_errors(
    problem: Problem, solutions: Iterable[tuple[float, np.ndarray]]
) -> tuple[float, np.ndarray] | None:
    """Return the C and the finite weights with the fewest training errors, the last ones on a tie."""
    fewest, best = problem.y.size, None
    for C, weights in solutions:
        if not np.all(np.isfinite(weights)):  # LIBLINEAR can overflow if features are not scaled
            continue
        errors = int(find_strict_errors(problem.X @ weights, problem.y).sum())
        if errors <= fewest:
            fewest, best = errors, (float(C), weights)
    return best


DUALITY_GAP = 1e-7  # relative duality gap to solve to
MAX_DUALITY_GAP = 1e-3
SOFT_SVM_GRID: Any = tuple(2.0**exponent for exponent in (-5, -3, -1, 1, 3, 5))
MAX_COLUMNS_BYTES = 32 << 20  # beyond this, they do not speed up the solver
ERROR_DECIMALS = 9  # weighted errors that agree to this many decimals are equal


@dataclass(eq=False, repr=False)
class SoftSVMClassifier(LinearLearner):  # numpydoc ignore=PR02
    """The soft-margin SVM (soft-SVM): the linear C-SVC with C chosen by cross-validation.

    C is the one with the smallest (weighted) cross-validation error; on a tie the smallest C, as in LIBSVM's
    grid search. Folds are stratified and drawn at random, as in LIBSVM. Sample weights scale C: C_i =
    C N phi_i. AdaBoost chooses C in its first round and keeps it.

    Parameters
    ----------
    C : non-empty list of float > 0, default=(0.03125, 0.125, 0.5, 2.0, 8.0, 32.0)
        Values of C to choose from.
    folds : int >= 2, default=5
        Number of folds of the cross-validation. If a class has fewer samples than folds, there are as many
        folds as that class has samples; with fewer than two, the middle C of the grid is used.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    C_ : float
        The chosen value.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Li & Lin do not give the grid: 2^-5, 2^-3, ..., 2^5 fits the published numbers. Deviation: solved to the
    optimum by an interior-point method instead of to LIBSVM's 1e-3, which gives the same errors several times
    faster.

    References
    ----------
    .. [1] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section IV.B.
    .. [2] Chang, C.-C. and Lin, C.-J. (2001). LIBSVM: A library for support vector machines.
    .. [3] Hsu, C.-W., Chang, C.-C. and Lin, C.-J. (2003). A practical guide to support vector classification.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import SoftSVMClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = SoftSVMClassifier(C=[0.03, 0.3, 3.0], random_state=0).fit(scale(X), y)
    >>> model.C_ in model.C, model.score(scale(X), y) > 0.82
    (True, True)
    """

    C: Annotated[PositiveList, Field(description="values of C to choose from")] = SOFT_SVM_GRID
    folds: Annotated[int, Field(ge=2, description="number of folds of the cross-validation")] = 5
    random_state: Any = None

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the optimal weights for the C with the smallest cross-validation error."""
        scale = problem.phi * problem.phi.size
        # The solver stalls if negligible weights are extremely small relative to the largest one.
        kept = scale > NEGLIGIBLE_WEIGHT_SHARE * scale.max()
        X, y, axes = problem.X, problem.y, None
        if X.shape[1] > 1 + X.shape[0]:
            X, axes = problem.cached_by_X("span", lambda: rotate_into_span(problem.X, 1))
        columns = problem.cached_by_X("padded columns", lambda: build_columns(X))
        if not kept.all():
            X, y, scale = X[kept], y[kept], scale[kept]
            columns = build_columns(X)
        self.C_ = problem.cached_by_X_and_y("C", lambda: self._choose_C(X, y, scale, problem.rng))
        # After a round of boosting without errors the weights are the same, and so is the solution.
        latest = problem.cached_by_X_and_y("latest solution", dict)
        if not np.array_equal(latest.get("phi"), problem.phi):
            weights = self._solve(X, columns, y, self.C_ * scale)
            latest.update(phi=problem.phi.copy(), weights=weights)
        return latest["weights"] if axes is None else axes @ latest["weights"]

    def _solve(self, X: np.ndarray, columns: np.ndarray, y: np.ndarray, C: np.ndarray) -> np.ndarray:
        weights, gap = _solve_or_fail(X, columns, y, C)
        if not gap < MAX_DUALITY_GAP:  # features far from 0 are nearly collinear with the constant: centre them
            mean = X.mean(axis=0) - np.eye(X.shape[1])[0]
            centred = X - mean
            weights, gap = _solve_or_fail(centred, build_columns(centred), y, C)
            weights[0] -= mean @ weights
        if not gap < MAX_DUALITY_GAP:
            raise ValueError(
                f"{type(self).__name__}: no solution with C={self.sorted_C[-1]:g}; scale the features"
            )
        return weights

    @property
    def sorted_C(self) -> list[float]:
        """The values of C in ascending order."""
        return sorted(float(c) for c in self.C)

    def _choose_C(self, X: np.ndarray, y: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> float:
        grid = self.sorted_C
        n_folds = min(self.folds, int((y > 0).sum()), int((y < 0).sum()))
        if len(grid) == 1 or n_folds < 2:
            return grid[len(grid) // 2]
        fold = draw_stratified_folds(y, n_folds, rng)
        errors = np.zeros(len(grid))
        for f in range(n_folds):
            train, held_out = fold != f, fold == f
            X_train, y_train, scale_train = X[train], y[train], scale[train]
            columns = build_columns(X_train)
            X_held_out, y_held_out, scale_held_out = X[held_out], y[held_out], scale[held_out]
            for g, C in enumerate(grid):
                margins = y_held_out * (X_held_out @ self._solve(X_train, columns, y_train, C * scale_train))
                # A score of 0 predicts +1.
                wrong = (margins < 0.0) | ((margins == 0.0) & (y_held_out < 0.0))
                errors[g] += scale_held_out[wrong].sum()
        # Weighted errors are sums of floats: equal ones must compare equal.
        return grid[int(np.argmin(np.round(errors, ERROR_DECIMALS)))]


def _solve_or_fail(
    X: np.ndarray, columns: np.ndarray, y: np.ndarray, C: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the weights and the duality gap, which is infinite if there is no solution."""
    try:
        return solve_linear_svm(X, columns, y, C, DUALITY_GAP)
    except np.linalg.LinAlgError:
        return np.zeros(X.shape[1]), np.inf


def build_columns(X: np.ndarray) -> np.ndarray:
    """Return X' padded, which the solver takes in addition to X; empty if it would need too much memory."""
    return pad_columns(X) if X.nbytes <= MAX_COLUMNS_BYTES else np.empty((0, 0))


def draw_stratified_folds(y: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return a fold for each sample: each class is shuffled and dealt out in turn."""
    fold = np.empty(y.size, int)
    for sign in (-1.0, 1.0):
        members = rng.permutation(np.flatnonzero(y == sign))
        fold[members] = np.arange(members.size) % n_folds
    return fold


@dataclass(eq=False, repr=False)
class BayesPointClassifier(SearchResultMixin, UnweightedLinearLearner):  # numpydoc ignore=PR02
    """The Bayes point machine: the posterior mean of w, found by expectation propagation.

    The prior is N(0, I) over (b, w), the likelihood Phi(y <w, x>) with noise variance 1 [1]_. Nguyen & Sanner
    compare with it [2]_.

    Parameters
    ----------
    noise : float > 0, default=1.0
        Variance of the probit noise.
    sweeps : int >= 1, default=200
        Maximum number of sweeps over the samples.

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        Training errors that no linear classifier can avoid: samples with equal features and both labels.
    n_features_in_ : int
        Number of features.
    n_sweeps_ : int
        Number of sweeps until the posterior converged.
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
    Prior and likelihood are those of the authors' program. Sample weights are not supported.

    References
    ----------
    .. [1] Minka, T. P. (2001). Expectation propagation for approximate Bayesian inference.
    .. [2] Nguyen, T. and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary
       classification. ICML. Section 6.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import BayesPointClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> BayesPointClassifier().fit(scale(X), y).training_errors_
    38
    """

    noise: Annotated[float, Field(gt=0, description="variance of the probit noise")] = 1.0
    sweeps: Annotated[int, Field(ge=1, description="maximum number of sweeps over the samples")] = 200

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the posterior mean of the weights."""
        X, axes = problem.X, None
        if X.shape[1] > 1 + X.shape[0]:
            X, axes = rotate_into_span(X, 1)
        signed = np.ascontiguousarray(X * problem.y[:, None])
        weights, self.n_sweeps_ = fit_bayes_point(signed, float(self.noise), self.sweeps)
        return weights if axes is None else axes @ weights
