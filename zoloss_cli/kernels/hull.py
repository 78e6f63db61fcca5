"""Can some w be right on all of these rows? The point of their convex hull that is nearest to 0 tells.

Wolfe (1976), "Finding the nearest point in a polytope". If the nearest point x is not 0, then
<x, z> >= |x|^2 > 0 for every row z: x is such a w, and the one with the largest margin. If it is 0, the
few rows that it is a mixture of (the corral) cannot all be right: by Farkas' lemma they are a certificate,
and as they are affinely independent no row of it can be spared.

This is the linear program of Nguyen & Sanner (2013), section 3: a point lies in the convex hull of others
exactly if no w is right on (1, x_k) for all of them and on -(1, p).
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel

ZERO = 1e-11  # rows have length 1: a hull this near to 0 contains it
SURE = 1e-12  # a margin above this is one
DEPENDENT = 1e-13
MOST_ROUNDS = 1000


@kernel
def affine_nearest(A, size, mu, x, Q, R):
    """mu and x = mu A nearest to 0 with sum(mu) = 1 over the first `size` rows; false if they depend.

    Modified Gram-Schmidt with the right-hand side along, which gives x to full precision even near 0.
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
        if r <= DEPENDENT * (1.0 + length):
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
def separate(Z, signs, members, count, first, w, corral, weights):
    """Search a w that is right on rows signs_i Z_i, i in members[:count], which have length 1.

    Returns the size of the corral if there is none, with its rows in `corral` and their weights, which
    add up to 1; 0 if there is one, which is then in `w`; -1 where rounding leaves it open. `first` is
    the place among the members to start from; another start may end in another corral.
    """
    P = Z.shape[1]
    A, Q, R = np.empty((P + 2, P)), np.empty((P + 2, P)), np.empty((P + 2, P + 2))
    mu, x = np.empty(P + 2), np.empty(P)
    size = 1
    corral[0] = members[first]
    weights[0] = 1.0
    for j in range(P):
        A[0, j] = signs[members[first]] * Z[members[first], j]
        w[j] = A[0, j]
    for _ in range(MOST_ROUNDS):
        square = np.dot(w, w)
        if square <= ZERO * ZERO:
            return size
        least, entering = np.inf, -1
        for m in range(count):
            i = members[m]
            margin = signs[i] * np.dot(Z[i], w)
            if margin < least:
                least, entering = margin, i
        if least > SURE * np.sqrt(square):
            return 0
        if size > P:
            return -1
        for k in range(size):
            if corral[k] == entering:
                return -1
        corral[size] = entering
        weights[size] = 0.0
        for j in range(P):
            A[size, j] = signs[entering] * Z[entering, j]
        size += 1
        while True:
            if not affine_nearest(A, size, mu, x, Q, R):
                return -1
            theta, leaving = 1.0, -1
            for k in range(size):
                if mu[k] <= 1e-14:
                    step = weights[k] / (weights[k] - mu[k]) if weights[k] > mu[k] else 0.0
                    if step < theta or leaving < 0:
                        theta, leaving = step, k
            if leaving < 0:
                for k in range(size):
                    weights[k] = mu[k]
                for j in range(P):
                    w[j] = x[j]
                break
            for k in range(size):
                weights[k] += theta * (mu[k] - weights[k])
            size -= 1
            for k in range(leaving, size):
                weights[k], corral[k] = weights[k + 1], corral[k + 1]
                for j in range(P):
                    A[k, j] = A[k + 1, j]
            if size == 0:
                return -1
    return -1
