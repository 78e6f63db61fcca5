"""The papers' pseudo-code in plain Python and NumPy: slow, obvious, and independent of the kernels."""

import itertools
from typing import NamedTuple

import numpy as np


def numpy_threshold(p, delta, y, phi):
    """Algorithm 2.4's threshold by sorting with NumPy; phi are integers."""
    moving = np.flatnonzero(delta)
    if moving.size == 0:
        return 0.0
    r = p[moving] / delta[moving]
    order = np.argsort(r)
    r = r[order]
    c = (phi * np.sign(y * delta).astype(np.int64))[moving][order]
    first = np.flatnonzero(np.concatenate(([True], r[1:] != r[:-1])))
    net = np.add.reduceat(c, first)
    values, net = r[first][net != 0], net[net != 0]
    if values.size == 0:
        return 0.0
    e = np.cumsum(net)
    at = int(np.argmin(e))
    if e[at] >= 0:
        return values[0] - 1.0
    if at == values.size - 1:
        return values[-1] + 1.0
    return 0.5 * (values[at] + values[at + 1])


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


def survive(X, y, w, indices, step):
    """The weight vectors of a perceptron's trials, and their survival times."""
    step = np.ones(len(y)) if step is None else step
    vectors, lives = [w.copy()], [0.0]
    for k in indices:
        if y[k] * (vectors[-1] @ X[k]) > 0:
            lives[-1] += step[k]
        else:
            vectors.append(vectors[-1] + step[k] * y[k] * X[k])
            lives.append(step[k])
    return np.array(vectors), np.array(lives)


def python_averaged_perceptron(X, y, w, indices, step=None):
    """Algorithm 2.6 as printed."""
    vectors, lives = survive(X, y, w, indices, step)
    return lives @ vectors


def python_voted_perceptron(X, y, indices, new, step=None):
    """Freund & Schapire (1999), Figure 1: the votes on new samples, by survival times."""
    vectors, lives = survive(X, y, np.zeros(X.shape[1]), indices, step)
    return np.where(new @ vectors.T >= 0, 1, -1) @ lives / lives.sum()


def python_perceptron(X, y, w, indices):
    w = w.copy()
    for k in indices:
        if y[k] * (w @ X[k]) <= 0:
            w += y[k] * X[k]
    return w


def python_sgd(X, y, w, indices, rate, cost):
    """Minus the gradient of the cost at one sample, without the squares' factor 2."""
    slope_of = {
        "hinge": lambda rho: float(rho < 1),
        "mls": lambda rho: max(0.0, 1 - rho),
        "ls": lambda rho: 1 - rho,
        "perceptron": lambda rho: float(rho <= 0),
    }[cost]
    w = w.copy()
    for k in indices:
        slope = slope_of(y[k] * (w @ X[k]))
        if slope:
            w += rate * slope * y[k] * X[k]
    return w


def python_adaboost(X, y, phi, learn, rounds, perfect_odds=1000.0):
    """AdaBoost as textbooks write it. learn(X, y, phi) gives w; returns each round's (w, phi, e, alpha)."""
    phi = phi / phi.sum()
    history = []
    for _ in range(rounds):
        w = learn(X, y, phi)
        h = np.where(X @ w >= 0, 1.0, -1.0)
        e = np.sum(phi * (h != y))
        if e >= 0.5:
            break
        alpha = 0.5 * np.log((1 - e) / e if e > 0 else perfect_odds)
        history.append((w, phi, e, alpha))
        phi = phi * np.exp(-alpha * y * h)
        phi = phi / np.sum(phi)
    return history


def sorted_stump(X, signed):
    """The stump by sorting every feature anew: (feature, threshold, direction, error)."""
    best = (0, -np.inf, 1, np.inf)
    for j in range(X.shape[1]):
        groups = []
        for i in np.argsort(X[:, j], kind="stable"):
            if groups and groups[-1][0] == X[i, j]:
                groups[-1][1] += signed[i]
            else:
                groups.append([X[i, j], signed[i]])
        groups = [(value, net) for value, net in groups if abs(net) >= 8e-16]
        sums = list(itertools.accumulate((net for _, net in groups), initial=0.0))  # below each threshold
        negative = (1.0 - sums[-1]) / 2.0
        stumps = []
        for direction, extreme in ((1, min(sums)), (-1, max(sums))):
            places = [at for at, total in enumerate(sums) if total == extreme]
            at = next((at for at in places if at > 0), 0)  # the first, but a constant only if there is no other
            error = negative + extreme if direction > 0 else 1.0 - (negative + extreme)
            if 0 < at < len(groups):
                stumps.append((j, 0.5 * (groups[at - 1][0] + groups[at][0]), direction, error))
            else:
                stumps.append((j, -np.inf, direction if at == 0 else -direction, error))
        rising, falling = stumps
        rises = rising[3] < falling[3]
        if abs(rising[3] - falling[3]) < 1e-9:
            rises = rising[1] > -np.inf
        if (chosen := rising if rises else falling)[3] < best[3]:
            best = chosen
    return best


def largest_cut(edges):
    """The most that any two groups of classes have between them, by trying all."""
    K = len(edges)
    cuts = []
    for code in range(2**K):
        side = [(code >> k) & 1 for k in range(K)]
        cuts.append(sum(edges[a][b] for a in range(K) for b in range(a) if side[a] != side[b]))
    return max(cuts)


def python_erp(X, y, K, learn, choose, schedule, rounds, perfect_odds=1000.0):
    """Algorithm 4.2 of Li's thesis, or 4.1 with the schedule L, as printed.

    learn(X, signs, D) gives a function from rows to -1 and +1, choose(edges) a column. Returns each round's
    (column, function, U, e, alpha, margin cost); U as a share of all that is not of the own class.
    """
    N = len(y)
    weight = np.ones((N, K))  # D tilde; its entries of the own class stay 1

    def distribution(column):
        part = [sum(weight[n, k] for k in range(K) if column[k] * column[y[n]] < 0) for n in range(N)]
        return sum(part), np.array(part) / sum(part)

    history = []
    for _ in range(rounds):
        edges = np.zeros((K, K))
        for n in range(N):
            for k in range(K):
                if k != y[n]:
                    edges[y[n], k] += weight[n, k]
                    edges[k, y[n]] += weight[n, k]
        column = choose(edges)
        for step in schedule:
            if step == "L":
                U, D = distribution(column)
                used = column[y] != 0
                f = learn(X[used], column[y][used].astype(float), D[used])
                said = f(X)
            else:
                mu = [
                    sum(said[n] * weight[n].sum() for n in range(N) if y[n] == k) - weight[:, k] @ said
                    for k in range(K)
                ]
                column = np.where(np.array(mu) >= 0, 1, -1)
        U, D = distribution(column)
        e = D[said != column[y]].sum()
        if e >= 0.5:
            break
        alpha = 0.5 * np.log((1 - e) / e if e > 0 else perfect_odds)
        total = weight.sum() - N
        for n in range(N):
            for k in range(K):
                weight[n, k] *= np.exp(-alpha / 2 * (column[y[n]] - column[k]) * said[n])
        history.append((column, f, U / total, e, alpha, (weight.sum() - N) / (N * (K - 1))))
    return history


def python_sla(Z, phi, w, stages, last):
    """Figures 7 and 8 of Nguyen & Sanner (2013) line by line; stages are (K, R, eps_S)."""

    def loss(v, K):
        return np.sum(phi / (1 + np.exp(np.minimum(K * (Z @ v), 700))))

    def gradient(v, K):
        s = 1 / (1 + np.exp(np.minimum(K * (Z @ v), 700)))
        return -K * (phi * s * (1 - s)) @ Z

    def first_gain(v, K, R, step):
        here = loss(v, K)
        for j in range(len(v)):
            for k in range(1, round(R / step) + 1):
                for change in (k * step, -k * step):
                    u = v.copy()
                    u[j] += change
                    if here - loss(u, K) >= 0.1:
                        return u
        return None

    for K, R, step in stages:
        while w is not None:
            while True:
                r = 0.1
                while r >= 1e-6 and loss(w, K) - loss(w - r * gradient(w, K), K) < 0.1:
                    r *= 0.1
                if r < 1e-6:
                    break
                w = w - r * gradient(w, K)
                if np.all(np.abs(gradient(w, K)) <= 0.01):
                    break
            settled, w = w, first_gain(w, K, R, step)
        w = settled
    radius, step = last
    for j in range(len(w)):
        changes = [0.0, *(c for k in range(1, round(radius / step) + 1) for c in (k * step, -k * step))]
        counts = [np.sum(phi[Z @ (w + c * np.eye(len(w))[j]) <= 0]) for c in changes]
        w = w + changes[int(np.argmin(counts))] * np.eye(len(w))[j]
    return w


def numpy_pivot(Y, c, B, w, V, steps, T, rng):
    """The pivot heat bath at one temperature: every hyperplane of a line, one drawn, the basis exchanged."""
    n, P = Y.shape
    best = np.inf
    for _ in range(steps):
        k = rng.integers(P - 1)
        v = V[k] - (w @ V[k]) * w
        v /= np.sqrt(v @ v)
        f, g = Y @ w, Y @ v
        free = np.ones(n, bool)
        free[B] = False
        free[B[k]] = True
        rows = np.flatnonzero(free & (np.abs(g) > 1e-11))
        alpha = np.where(rows == B[k], 0.0, -f[rows] / g[rows])
        order = np.argsort(alpha)
        rows, alpha = rows[order], alpha[order]
        steady = free & (np.abs(g) <= 1e-11)
        start = c[rows][g[rows] > 0].sum() + c[steady & (f < 0)].sum()
        losses = start + np.concatenate([[0.0], np.cumsum(np.where(g[rows] > 0, -c[rows], c[rows]))])
        gaps = np.concatenate([[np.inf], np.diff(alpha) - 1e-8 * np.abs(alpha[1:]), [np.inf]])
        losses[gaps <= 0] = np.inf
        both = np.concatenate([losses, np.where(np.isinf(losses), np.inf, c[free].sum() - losses)])
        best = min(best, both.min())
        odds = np.exp((both.min() - both) / T)
        drawn = rng.choice(both.size, p=odds / odds.sum())
        interval, sense = drawn % losses.size, 1.0 if drawn < losses.size else -1.0
        at = min(max(interval - int(rng.integers(2)), 0), rows.size - 1)
        entering = rows[at]
        w = sense * (w + alpha[at] * v)
        w /= np.sqrt(w @ w)
        B[k] = entering
        V[k] = v / g[entering]
        for j in range(P - 1):
            if j != k:
                V[j] -= (Y[entering] @ V[j]) * V[k]
    return best


def numpy_margin_cost(cost, kappa, m):
    """c(m) of Li's thesis, section 3.3, as printed."""
    m = np.asarray(m, dtype=float)
    if cost == "exponential":
        return np.exp(-m)
    if cost == "logistic":
        return np.logaddexp(0.0, -m)
    if cost == "sigmoid":
        return 1.0 - np.tanh(m)
    return np.where(m > 0, 1.0 - np.tanh(m), 1.0 - kappa * np.tanh(m / kappa))


class ConjugateRun(NamedTuple):
    """What Algorithm 3.2 computes round by round."""

    D: list
    betas: list
    edges: list
    costs: list
    coefficients: np.ndarray
    F: np.ndarray


def numpy_cgboost(outputs, alphas, y, phi, cost, kappa, plain_rounds):
    """Algorithm 3.2 for given hypotheses (their outputs) and steps; coefficients by eq. (3.3) as printed."""
    derivatives = {
        "exponential": lambda m: -np.exp(-m),
        "logistic": lambda m: -1.0 / (1.0 + np.exp(m)),
        "bisigmoid": lambda m: -1.0 / np.cosh(np.where(m > 0, m, m / kappa)) ** 2,
    }
    T, F, directions, betas = len(outputs), np.zeros(len(y)), [], []
    D, edges, costs = [], [], [np.sum(phi * numpy_margin_cost(cost, kappa, y * F))]
    for t, f in enumerate(outputs):
        slopes = phi * derivatives[cost](y * F)
        D.append(slopes / slopes.sum())
        betas.append(0.0 if t < plain_rounds else 1.0 - np.sum(phi * f * outputs[t - 1]))
        directions.append(f + betas[t] * directions[-1] if t else f.copy())
        edges.append(np.sum(D[t] * y * directions[t]))
        F = F + alphas[t] * directions[t]
        costs.append(np.sum(phi * numpy_margin_cost(cost, kappa, y * F)))
    coefficients = [sum(alphas[t] * np.prod(betas[i + 1 : t + 1]) for t in range(i, T)) for i in range(T)]
    return ConjugateRun(D, betas, edges, costs, np.array(coefficients), F)


def numpy_cones(columns, first_cones, n_left, target):
    """The cone search in NumPy, with matchings by SciPy: how many cones show that target errors are needed.

    `columns` holds the scores of the samples in some directions, the left ones first, and `first_cones` has D
    of them for each of the cones that cover all directions.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    def compare(scores):
        return scores[:n_left, None] <= scores[None, n_left:]

    roots = [(scores, compare(scores)) for scores in columns]
    waiting = [[roots[k] for k in cone] for cone in first_cones]
    visited = 0
    while waiting:
        cone = waiting.pop()
        visited += 1
        above = np.array([vertex[1] for vertex in cone])
        mates = maximum_bipartite_matching(csr_matrix(above.all(axis=0)), perm_type="column")
        if np.sum(mates >= 0) >= target:
            continue
        fails = (~above).sum(axis=0)
        value = np.where(fails == 1, 16, np.where(fails == 2, 4, 1))
        edges = [(a, b) for a in range(len(cone)) for b in range(a + 1, len(cone))]
        a, b = max(edges, key=lambda edge: np.sum(value * (above[edge[0]] ^ above[edge[1]])))
        left, right = np.nonzero(above[a] ^ above[b])
        at_a = cone[a][0][left] - cone[a][0][n_left + right]
        at_b = cone[b][0][left] - cone[b][0][n_left + right]
        t = np.clip(np.round(16 * np.median(at_a / (at_a - at_b))), 1, 15) / 16
        scores = (1 - t) * cone[a][0] + t * cone[b][0]
        new = (scores, compare(scores))
        waiting += [[*cone[:k], new, *cone[k + 1 :]] for k in (a, b)]
    return visited
