"""Joint weights of examples and classes, and the cuts between classes: Li's thesis (2006), chapter 4.

`D` is N x K, D[n, k] proportional to exp(-rho_k(x_n, y_n)) with 0 at k = y_n; `y` holds class indices;
`column` is a column of the coding matrix, -1, 0 or +1 a class; `f` is -1.0 or +1.0 an example.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

CUT_TIE = 1e-12


@exact_kernel
def pair_weights(D, y, column, weights):
    """U = sum over n of what is set in `weights`: sum over k of D[n, k] where column[k] column[y_n] < 0."""
    n, K = D.shape
    against = np.zeros((3, K))  # by the sign of the example's own class: which classes stand against it
    for k in range(K):
        against[0, k] = 1.0 if column[k] > 0 else 0.0
        against[2, k] = 1.0 if column[k] < 0 else 0.0
    U = 0.0
    for i in range(n):
        other = against[int(column[y[i]]) + 1]
        # Four sums instead of one, which do not wait for each other.
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        k = 0
        while k + 4 <= K:
            a += other[k] * D[i, k]
            b += other[k + 1] * D[i, k + 1]
            c += other[k + 2] * D[i, k + 2]
            d += other[k + 3] * D[i, k + 3]
            k += 4
        while k < K:
            a += other[k] * D[i, k]
            k += 1
        weights[i] = (a + b) + (c + d)
        U += weights[i]
    return U


@exact_kernel
def preferences(D, y, f):
    """mu of equation (4.5): the sign that the classifier f would like each class to have."""
    n, K = D.shape
    signed = np.zeros((K, K))
    for i in range(n):
        row, s = signed[y[i]], f[i]
        for k in range(K):
            row[k] += s * D[i, k]
    return signed.sum(axis=1) - signed.sum(axis=0)


@exact_kernel
def weighted_error(weights, signs, f):
    e = 0.0
    for i in range(weights.size):
        e += weights[i] if f[i] != signs[i] else 0.0  # without a branch
    return e


@exact_kernel
def update(D, y, column, f, alpha, scale, confusion):
    """Step 9 of Algorithm 4.1, with all of D times `scale`; sets confusion[a, k] = sum of D[n, k], y_n = a.

    Returns the sum of D.
    """
    n, K = D.shape
    confusion[:] = 0.0
    # By the sign of the example's class and by what f says of the example: a row of factors.
    factors = np.full((2, 2, K), scale)
    for own in range(2):
        for said in range(2):
            for k in range(K):
                sign = 2 * own - 1
                if column[k] == -sign:
                    factors[own, said, k] = scale * np.exp(-alpha * sign * (2 * said - 1))
    for i in range(n):
        row = factors[int(column[y[i]] > 0), int(f[i] > 0.0)]
        sums = confusion[y[i]]
        for k in range(K):
            D[i, k] *= row[k]
            sums[k] += D[i, k]
    return confusion.sum()


@exact_kernel
def max_cut(edges):
    """The column that cuts most, with the last class at +1; of equal ones, the last in the Gray code's order.

    The first round has many ties: where all examples weigh the same, every split of an even number of
    classes in halves cuts the same.
    """
    K = edges.shape[0]
    column, best = np.full(K, 1, np.int8), np.full(K, 1, np.int8)
    cut, largest, tie = 0.0, 0.0, CUT_TIE * edges.sum()
    for step in range(1, 2 ** (K - 1)):
        flipped = 0
        while (step >> flipped) & 1 == 0:
            flipped += 1
        for k in range(K):
            if k != flipped:
                cut += edges[flipped, k] if column[k] == column[flipped] else -edges[flipped, k]
        column[flipped] = -column[flipped]
        if cut >= largest - tie:
            largest = cut
            best[:] = column
    return best


@exact_kernel
def add_distances(distances, scores, column, alpha):
    """Adds alpha (1 - M(k) f) / 2 for a base classifier that says +1 where its score is >= 0, else -1."""
    n, K = distances.shape
    steps = np.empty((2, K))
    for k in range(K):
        steps[0, k] = alpha * (1 + column[k]) / 2
        steps[1, k] = alpha * (1 - column[k]) / 2
    for i in range(n):
        row = steps[int(scores[i] >= 0.0)]
        for k in range(K):
            distances[i, k] += row[k]
