"""Linear separability test, by the point of the convex hull of signed rows that is nearest to 0.

Wolfe (1976), "Finding the nearest point in a polytope". If the nearest point x is not 0, then
<x, z> >= |x|^2 > 0 for every row z: w = x separates the rows, with the largest margin. If it is 0, the rows are
inseparable: by Farkas' lemma, the few rows of which it is a convex combination (the corral) are a certificate,
and since they are affinely independent, none of them can be left out.

This replaces the linear program of Nguyen & Sanner (2013), section 3: a sample p lies in the convex hull of
others if and only if no w has positive margins on all of their (1, x_k) and on -(1, p). It takes 16 us, HiGHS
1.3 ms: python -m pytest tests/bench/test_speed.py --benchmark-only -k hull.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import kernel

ZERO_DISTANCE = 1e-11  # rows have length 1: a hull this close to 0 contains it
MIN_MARGIN = 1e-12  # of a w of length 1: a larger margin is not a rounding error
DEPENDENT_LENGTH = 1e-13  # what rounding can leave of a row that depends on others
MIN_MIXTURE_WEIGHT = 1e-14  # a row of the corral with no more weight is dropped
MAX_ROUNDS = 1000


@kernel
def find_affine_minimum(A, size, mu, x, Q, R):
    """Set mu and the x = mu A nearest to 0 with sum(mu) = 1; return False if the rows are dependent.

    Uses the first `size` rows of A, which have length P; Q and R are workspace. Modified Gram-Schmidt with
    the right-hand side carried along gives x to full precision even near 0.
    """
    P = A.shape[1]
    for j in range(P):
        x[j] = A[0, j]
    for k in range(1, size):
        for j in range(P):
            Q[k, j] = A[k, j] - A[0, j]
        length = np.sqrt(np.dot(Q[k], Q[k]))
        for q in range(1, k):
            r = np.dot(Q[q], Q[k])
            R[q, k] = r
            for j in range(P):
                Q[k, j] -= r * Q[q, j]
        r = np.sqrt(np.dot(Q[k], Q[k]))
        if r <= DEPENDENT_LENGTH * (1.0 + length):
            return False
        R[k, k] = r
        for j in range(P):
            Q[k, j] /= r
        r = np.dot(Q[k], x)
        R[k, 0] = r
        for j in range(P):
            x[j] -= r * Q[k, j]
    rest = 1.0
    for k in range(size - 1, 0, -1):
        value = -R[k, 0]
        for q in range(k + 1, size):
            value -= R[k, q] * mu[q]
        mu[k] = value / R[k, k]
        rest -= mu[k]
    mu[0] = rest
    return True


@kernel
def append_row(Z, signs, i, size, weight, corral, weights, A):
    """Append row signs_i Z_i to the `size` rows of the corral; return the new size."""
    corral[size] = i
    weights[size] = weight
    for j in range(Z.shape[1]):
        A[size, j] = signs[i] * Z[i, j]
    return size + 1


@kernel
def drop_row(k, size, corral, weights, A):
    """Drop row k of the corral and close the gap; return the new size."""
    size -= 1
    for later in range(k, size):
        weights[later], corral[later] = weights[later + 1], corral[later + 1]
        for j in range(A.shape[1]):
            A[later, j] = A[later + 1, j]
    return size


@kernel
def find_least_margin(Z, signs, members, count, w):
    """Return (smallest margin, its row) of w on rows signs_i Z_i for i in members[:count]."""
    least, row = np.inf, -1
    for m in range(count):
        i = members[m]
        margin = signs[i] * np.dot(Z[i], w)
        if margin < least:
            least, row = margin, i
    return least, row


@kernel
def shrink_corral(size, w, corral, weights, A, mu, x, Q, R):
    """Set w to the point of the corral's hull nearest to 0: Wolfe's minor cycle.

    While the nearest point of the affine hull lies outside the convex hull, go towards it up to the boundary,
    and drop a row that has no weight there. Returns the remaining size, or 0 if rounding prevents a result.
    """
    while size > 0:
        if not find_affine_minimum(A, size, mu, x, Q, R):
            return 0
        theta, leaving = 1.0, np.int64(-1)
        for k in range(size):
            if mu[k] <= MIN_MIXTURE_WEIGHT:
                step = weights[k] / (weights[k] - mu[k]) if weights[k] > mu[k] else 0.0
                if step < theta or leaving < 0:
                    theta, leaving = step, k
        if leaving < 0:
            for k in range(size):
                weights[k] = mu[k]
            for j in range(x.shape[0]):
                w[j] = x[j]
            return size
        for k in range(size):
            weights[k] += theta * (mu[k] - weights[k])
        size = drop_row(leaving, size, corral, weights, A)
    return 0


@kernel
def separate(Z, signs, members, count, first, w, corral, weights):
    """Search for a w with positive margins on the rows signs_i Z_i of length 1, for i in members[:count].

    Z is n x P; w has length P, and `corral` and `weights` have room for P + 2. Returns 0 if there is such a
    w, which is then in `w`; the size of the corral if there is none, with its rows in `corral` and their
    weights, which sum to 1, in `weights`; and -1 if rounding prevents a decision. `first` is the index into
    `members` to start from; another start may end in another corral.
    """
    P = Z.shape[1]
    A, Q, R = np.empty((P + 2, P)), np.empty((P + 2, P)), np.empty((P + 2, P + 2))
    mu, x = np.empty(P + 2), np.empty(P)
    size = append_row(Z, signs, members[first], np.int64(0), 1.0, corral, weights, A)
    for j in range(P):
        w[j] = A[0, j]
    for _ in range(MAX_ROUNDS):
        square = np.dot(w, w)
        if square <= ZERO_DISTANCE * ZERO_DISTANCE:
            return size
        least, entering = find_least_margin(Z, signs, members, count, w)
        if least > MIN_MARGIN * np.sqrt(square):
            return 0
        if size > P or entering < 0:  # no row enters if all margins are NaN
            return -1
        for k in range(size):
            if corral[k] == entering:
                return -1
        size = append_row(Z, signs, entering, size, 0.0, corral, weights, A)
        size = shrink_corral(size, w, corral, weights, A, mu, x, Q, R)
        if size == 0:
            return -1
    return -1
