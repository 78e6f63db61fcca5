"""The papers' pseudo-code in plain Python and NumPy: slow, obvious, and independent of the kernels."""

from __future__ import annotations

import numpy as np


def numpy_threshold(p, delta, y, phi):
    """Algorithm 2.4's threshold by sorting with NumPy; phi are integers."""
    keep = delta != 0
    r, c = p[keep] / delta[keep], (phi * np.sign(y * delta)).astype(np.int64)[keep]
    values, group = np.unique(r, return_inverse=True)
    net = np.zeros(values.size, np.int64)
    np.add.at(net, group, c)
    values, net = values[net != 0], net[net != 0]
    if values.size == 0:
        return 0.0
    e = np.concatenate([[0], np.cumsum(net)])
    at = int(np.argmin(e))
    if at == 0:
        return values[0] - 1.0
    if at == values.size:
        return values[-1] + 1.0
    return 0.5 * (values[at - 1] + values[at])


def numpy_rcd(X, y, phi, w, D):
    """RCD: one line search a direction, always moving."""
    w = w.copy()
    for d in D:
        w -= numpy_threshold(X @ w, X @ d, y, phi) * d
    return w


def python_pocket(X, y, w, indices, ratchet=True, phi=None, step=None):
    """Algorithm 2.1, its e_p started at the seed's error."""
    n = len(y)
    phi = np.full(n, 1 / n) if phi is None else phi
    step = np.ones(n) if step is None else step

    def error(v):
        return phi[y * (X @ v) <= 0].sum()

    w = w.copy()
    best, best_error, best_run, run = w.copy(), error(w), 0.0, 0.0
    for k in indices:
        if y[k] * (w @ X[k]) > 0:
            run += step[k]
            if run > best_run:
                e = error(w)
                if not ratchet or e < best_error - 1e-12:
                    best, best_error, best_run = w.copy(), e, run
        else:
            w = w + step[k] * y[k] * X[k]
            run = 0.0
    return best


def python_averaged_perceptron(X, y, w, indices, step=None):
    """Algorithm 2.6 as printed: a list of weight vectors and their survival times."""
    step = np.ones(len(y)) if step is None else step
    vectors, lives = [w.copy()], [0.0]
    for k in indices:
        if y[k] * (vectors[-1] @ X[k]) > 0:
            lives[-1] += step[k]
        else:
            vectors.append(vectors[-1] + step[k] * y[k] * X[k])
            lives.append(step[k])
    return np.array(lives) @ np.array(vectors)


def python_perceptron(X, y, w, indices):
    w = w.copy()
    for k in indices:
        if y[k] * (w @ X[k]) <= 0:
            w += y[k] * X[k]
    return w


def python_sgd(X, y, w, indices, rate, cost):
    """Minus the gradient of the cost at one example, without the squares' factor 2."""
    w = w.copy()
    for k in indices:
        rho = y[k] * (w @ X[k])
        slope = {
            "hinge": float(rho < 1),
            "mls": max(0.0, 1 - rho),
            "ls": 1 - rho,
            "perceptron": float(rho <= 0),
        }[cost]
        w += rate * slope * y[k] * X[k]
    return w
