"""Fisher's linear discriminant, as a learner and as the seed of others."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.linear_base import LinearLearner

SHRINKAGE = 1e-10

MANY_SAMPLES = 1 << 16
MANY_VALUES = 1 << 23  # from here on, parts are smaller and no class is copied
VALUES_PER_PART = 1 << 22


def compute_fisher_weights(X: np.ndarray, y: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Return the weights of Fisher's linear discriminant, bias first, for samples (1, x); phi sums to 1.

    The bias is -(p- m+'w + p+ m-'w) with p± the classes' weights. With more features than samples, w comes from
    the Gram matrix of the samples, so that memory does not grow with m squared.
    """
    features = X[:, 1:]
    positive = y > 0
    p_plus, p_minus = phi[positive].sum(), phi[~positive].sum()
    is_wide = X.size > MANY_VALUES
    if len(X) > MANY_SAMPLES or is_wide:
        mean_plus, mean_minus = (np.where(side, phi, 0.0) @ features for side in (positive, ~positive))
        mean_plus, mean_minus = mean_plus / p_plus, mean_minus / p_minus
    else:
        mean_plus = phi[positive] @ features[positive] / p_plus
        mean_minus = phi[~positive] @ features[~positive] / p_minus
    difference = mean_plus - mean_minus
    if features.shape[1] > len(X):
        w = _solve_by_samples(features, np.where(positive[:, None], mean_plus, mean_minus), phi, difference)
    else:
        w = cho_solve(_factor_covariance(X, positive, phi, mean_plus, mean_minus), difference)
    bias = -(p_minus * (mean_plus @ w) + p_plus * (mean_minus @ w))
    return np.concatenate([[bias], w])


def _factor_covariance(
    X: np.ndarray, positive: np.ndarray, phi: np.ndarray, mean_plus: np.ndarray, mean_minus: np.ndarray
) -> tuple[np.ndarray, bool]:
    """Return the Cholesky factor of S, shrunk if it has none."""
    features = X[:, 1:]
    S = np.zeros((features.shape[1], features.shape[1]))
    rows = max(1, min(MANY_SAMPLES, VALUES_PER_PART // X.shape[1])) if X.size > MANY_VALUES else MANY_SAMPLES
    for start in range(0, len(X), rows):  # one part at a time, to limit memory
        part = slice(start, start + rows)
        centred = features[part] - np.where(positive[part, None], mean_plus, mean_minus)
        S += (centred * phi[part, None]).T @ centred
    try:
        return cho_factor(S)
    except LinAlgError:
        m = S.shape[0]
        return cho_factor(S + _compute_ridge(np.trace(S), m) * np.eye(m))


def _solve_by_samples(
    features: np.ndarray, means: np.ndarray, phi: np.ndarray, difference: np.ndarray
) -> np.ndarray:
    """Return (S + ridge I)^-1 difference by Woodbury's identity, from S = C'C and the eigenvectors of CC'."""
    C = np.sqrt(phi)[:, None] * (features - means)
    values, vectors = eigh(C @ C.T)
    values = np.maximum(values, 0.0)  # rounding may make some negative
    ridge = _compute_ridge(values.sum(), C.shape[1])
    shares = vectors @ (vectors.T @ (C @ difference) / (values + ridge))
    return (difference - shares @ C) / ridge


def _compute_ridge(trace: float, m: int) -> float:
    """Return the ridge, which is added to the diagonal of S."""
    # If each class lies at a single point, S = 0: any positive ridge then gives the same direction.
    return SHRINKAGE / (1.0 - SHRINKAGE) * trace / m or 1.0


class FLDClassifier(LinearLearner):
    """Fisher's linear discriminant.

    w = S^-1 (m+ - m-) with S the weighted pooled within-class covariance and m± the classes' means. The bias
    puts the cut nearer to the mean of the rarer class than the midpoint. Other learners can start from it,
    with the parameter `seeding`.

    Attributes
    ----------
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
    If S has no Cholesky factor, as with more features than samples, g/(1-g) trace(S)/m is added to its diagonal
    with g = 1e-10: the eigenvalue shrinkage of Friedman [2]_ that Li & Lin name.

    Deviation from common practice: the papers do not specify the bias. Textbooks use the midpoint between the
    two means, possibly shifted by the logarithm of the classes' odds; here, as in the authors' program, each
    class's mean is weighted by the other class's share.

    References
    ----------
    .. [1] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section IV, "Initial Seeding".
    .. [2] Friedman, J. H. (1989). Regularized discriminant analysis.

    Examples
    --------
    >>> from zoloss_cli import FLDClassifier
    >>> model = FLDClassifier().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist()
    ([[8.0]], [-12.0])
    """

    def __init__(self):
        pass

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights of the discriminant."""
        return compute_fisher_weights(problem.X, problem.y, problem.phi)
