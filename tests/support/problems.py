"""Problems that several tests share."""

from itertools import combinations

import numpy as np

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data
from zoloss_cli.data.splits import scale_parts


def whole(name):
    """A data set as Nguyen & Sanner (2013) use it: mean 0 and variance 1 over all rows."""
    data = load_data(EmbeddedData(name=name, dataset=name, positive="1" if name == "cmc" else None))
    return scale_parts(data.X, data.X[:2], "standard")[0], data.y


def signed(X, y):
    rows, signs = signs_of(X, y)
    return np.ascontiguousarray(rows * signs[:, None])


def signs_of(X, y):
    """Rows with a constant in front, and labels as signs."""
    return np.column_stack([np.ones(len(y)), X]), np.where(y == 1, 1.0, -1.0)


def weights_of(learner):
    return np.concatenate([learner.intercept_, learner.coef_[0]])


def strict_errors(learner, X, y):
    return int(np.sum(np.where(y == 1, 1, -1) * learner.decision_function(X) <= 0))


def fewest_errors(X, y, phi):
    """The least weight of errors over all hyperplanes, each moved off the points that it passes through.

    Every way to separate the points strictly comes from a hyperplane through as many independent points
    as there are, by tilting it: points on it fall to either side as their own hyperplanes do, so the rule
    is applied again to them. Points in one place share their side.
    """
    rows, signs = signs_of(X, y)

    def least(members):
        """The least error on these points over all w, each of which leaves none of them at 0."""
        A = rows[members]
        rank = np.linalg.matrix_rank(A, tol=1e-9)
        if rank <= 1:  # one place (or one direction): they are all on one side or the other
            side = np.sign(A @ A[0])
            wrong = [phi[members][signs[members] * s * side <= 0].sum() for s in (1.0, -1.0)]
            return min(wrong)
        basis = np.linalg.svd(A, full_matrices=False)[2][:rank]
        B = A @ basis.T
        best = np.inf
        for chosen in combinations(range(len(members)), rank - 1):
            part = B[list(chosen)]
            if np.linalg.matrix_rank(part, tol=1e-9) < rank - 1:
                continue
            normal = np.linalg.svd(part)[2][-1]
            scores = B @ normal
            on = np.abs(scores) < 1e-9
            for s in (1.0, -1.0):
                off = phi[members][~on & (signs[members] * s * scores < 0)].sum()
                if off < best:
                    best = min(best, off + least(members[on]))
        return best

    return least(np.arange(len(y)))


def tiny_problem(seed, n, m, kind):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m))
    if kind == "discrete":
        X = rng.integers(0, 3, (n, m)).astype(float)
    elif kind == "collinear":
        X = np.round(rng.standard_normal((n, 1)), 1) @ rng.standard_normal((1, m))
    elif kind == "duplicates":
        X = X[rng.integers(0, max(2, n // 2), n)]
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    return X, y


def several(seed, n, K, m=3, discrete=False):
    """Points of K classes around K centres, every class present; on a grid, ties are everywhere."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    X = 1.5 * rng.standard_normal((K, m))[y] + rng.standard_normal((n, m))
    return np.round(X) if discrete else X, y
