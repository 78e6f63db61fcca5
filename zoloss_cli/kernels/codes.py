"""Joint weights of samples and classes, and cuts between classes: Li's thesis (2006), chapter 4.

Each base classifier updates the joint weights D in one pass, which also sums up the confusion between classes.
`find_max_cut` enumerates all partitions of the classes in Gray code: a step moves one class, so that the cut is
updated in O(K).

`D` is N x K; D[n, k] is proportional to exp(-rho_k(x_n, y_n)), with 0 at k = y_n. `y` holds N class indices;
`column` is a column of the coding matrix, with -1, 0 or +1 for each of K classes; `f` holds the output of a
base classifier, -1.0 or +1.0, for each of N samples.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import exact_kernel
from zoloss_cli.kernels.numeric import copy_vector


@exact_kernel
def compute_pair_weights(D, y, column, weights):
    """Set weights[n] to the sum of D[n, k] over all k with column[k] column[y_n] < 0; return their sum U."""
    n, K = D.shape
    against = np.zeros((3, K))  # by the sign of the sample's class: which classes have the opposite sign
    for k in range(K):
        against[0, k] = 1.0 if column[k] > 0 else 0.0
        against[2, k] = 1.0 if column[k] < 0 else 0.0
    U = 0.0
    for i in range(n):
        total, row = 0.0, against[int(column[y[i]]) + 1]
        for k in range(K):
            total += row[k] * D[i, k]
        weights[i] = total
        U += total
    return U


@exact_kernel
def compute_class_preferences(D, y, f):
    """Return mu of equation (4.5), length K, whose signs are those that f prefers for the classes."""
    n, K = D.shape
    mu = np.zeros(K)
    for i in range(n):  # in one pass: if mu is 0 up to rounding, the order of the sum decides its sign
        own, s = mu[y[i]], f[i]
        for k in range(K):
            own += s * D[i, k]
        mu[y[i]] = own
        for k in range(K):
            mu[k] -= s * D[i, k]
    return mu


@exact_kernel
def compute_weighted_error(weights, signs, f):
    """Return the total weight of the samples for which f differs from the sign; all have length N."""
    e = 0.0
    for i in range(weights.size):
        e += weights[i] if f[i] != signs[i] else 0.0  # without a branch
    return e


@exact_kernel
def sum_sides(weights, signs, f):
    """Return total weights by the output of f (rows: -1, +1) and the sign (columns); all have length N."""
    sums = np.zeros((2, 2))
    for i in range(weights.size):
        sums[int(f[i] > 0.0), int(signs[i] > 0.0)] += weights[i]
    return sums


@exact_kernel
def update_joint_weights(D, y, column, f, alphas, confusion):
    """Update D by step 9 of Algorithm 4.1, without normalizing it; return the sum of D.

    `alphas` holds the coefficients for f = -1 and for f = +1. confusion[a, k] (K x K) is set to the sum of
    D[n, k] over the samples with y_n = a.
    """
    n, K = D.shape
    confusion[:] = 0.0
    # A row of factors for each sign of the sample's class and each output of f.
    factors = np.ones((2, 2, K))
    for own in range(2):
        for said in range(2):
            worse = np.exp(alphas[said])
            for k in range(K):
                if column[k] == 1 - 2 * own:
                    factors[own, said, k] = worse if own != said else 1.0 / worse
    for i in range(n):
        row = factors[int(column[y[i]] > 0), int(f[i] > 0.0)]
        sums = confusion[y[i]]
        for k in range(K):
            D[i, k] *= row[k]
            sums[k] += D[i, k]
    return confusion.sum()


@exact_kernel
def find_max_cut(edges):
    """Return the column with the largest cut, with the first class at -1; on ties, the first in Gray code.

    `edges` is K x K and symmetric: the weights between classes. The last class changes most often in that
    order. Ties are frequent in the first round, when all sample weights are equal: up to rounding, all
    partitions of an even number of classes into halves have equal cuts.
    """
    K = edges.shape[0]
    column, best = np.full(K, -1, np.int8), np.full(K, -1, np.int8)
    cut, largest = 0.0, 0.0
    for step in range(1, 2 ** (K - 1)):
        flipped = K - 1
        while (step >> (K - 1 - flipped)) & 1 == 0:
            flipped -= 1
        column[flipped] = -column[flipped]
        for k in range(K):
            if k != flipped:
                cut += -edges[flipped, k] if column[k] == column[flipped] else edges[flipped, k]
        if cut > largest:
            largest = cut
            copy_vector(column, best)
    return best


@exact_kernel
def add_distances(distances, scores, column, alphas):
    """Add alpha (1 - M(k) f) / 2 to distances[n, k] for a base classifier f with these N scores.

    `alphas` holds alpha for f = -1 and for f = +1. f is +1 if the score is >= 0, else -1; `distances` is
    N x K, and `column` is M.
    """
    n, K = distances.shape
    steps = np.empty((2, K))
    for k in range(K):
        steps[0, k] = alphas[0] * (1 + column[k]) / 2
        steps[1, k] = alphas[1] * (1 - column[k]) / 2
    for i in range(n):
        row = steps[int(scores[i] >= 0.0)]
        for k in range(K):
            distances[i, k] += row[k]
