"""The solver of SVMs against its rule in plain Python, to the last bit, and what SVMs on one kernel share."""

import numpy as np
import pytest
from problems import several
from scipy.spatial.distance import cdist

from zoloss_cli.kernels.svm import MIN_CURVATURE, solve_dual
from zoloss_cli.learners import kernel_svm
from zoloss_cli.learners.base import Samples, add_bias_column
from zoloss_cli.learners.kernel_svm import KernelSVMClassifier, share_kernels
from zoloss_cli.learners.multiclass.ecc import AdaBoostECCClassifier, AdaBoostERPClassifier


def solve_plainly(K, y, upper, tolerance):
    """Return alpha, the gradient and the number of steps; of equal choices, the last sample."""
    n = len(y)
    alpha, gradient, steps = np.zeros(n), y.copy(), 0
    while True:
        rises = np.where(y > 0, alpha < upper, alpha > 0)
        falls = np.where(y > 0, alpha > 0, alpha < upper)
        largest = max(gradient[rises], default=-np.inf)
        smallest = min(gradient[falls], default=np.inf)
        if largest <= smallest or largest - smallest < tolerance:
            return alpha, gradient, steps
        i = max(t for t in range(n) if rises[t] and gradient[t] == largest)
        gains = {}
        for t in range(n):
            if falls[t] and gradient[t] < largest:
                apart = largest - gradient[t]
                gains[t] = apart * apart / max(K[i, i] + K[t, t] - 2.0 * K[i, t], MIN_CURVATURE)
        j = max(t for t, gain in gains.items() if gain == max(gains.values()))
        step = (largest - gradient[j]) / max(K[i, i] + K[j, j] - 2.0 * K[i, j], MIN_CURVATURE)
        room_i = upper[i] - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else upper[j] - alpha[j]
        step = min(step, room_i, room_j)
        alpha[i] += y[i] * step
        alpha[j] -= y[j] * step
        if step == room_i:
            alpha[i] = upper[i] if y[i] > 0 else 0.0
        if step == room_j:
            alpha[j] = 0.0 if y[j] > 0 else upper[j]
        gradient = gradient - step * (K[i] - K[j])
        steps += 1


@pytest.mark.parametrize("share", [1.0, 0.9, 0.4])
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_the_solver_takes_the_same_steps_as_plain_loops(share, C):
    rng = np.random.default_rng(int(10 * share + C))
    X = rng.integers(0, 6, (150, 3)).astype(float)  # with repeated samples, so that many choices are equal
    K = -cdist(X, X)
    members = np.flatnonzero(rng.random(150) < share) if share < 1 else np.arange(150)
    y = np.where(X[members].sum(axis=1) + rng.normal(size=len(members)) > 7.5, 1.0, -1.0)
    upper = C * rng.exponential(size=len(members))
    alpha, bias, gradient, steps = solve_dual(K, members, y, upper, 1e-3)
    expected, expected_gradient, expected_steps = solve_plainly(K[np.ix_(members, members)], y, upper, 1e-3)
    assert steps == expected_steps > 20
    np.testing.assert_array_equal(alpha, expected)
    np.testing.assert_array_equal(gradient, expected_gradient)
    free = (alpha > 0) & (alpha < upper)
    assert not free.any() or bias == pytest.approx(gradient[free].mean())


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_scores_from_the_solver_are_those_of_the_support_vectors(C, monkeypatch):
    X, y = several(3, 120, 4)
    seen, whole = [], KernelSVMClassifier.compute_scores

    def compare(self, samples):
        scores = whole(self, samples)
        np.testing.assert_allclose(scores, self.scores(samples.X), atol=1e-9 * C)
        seen.append(samples.X is self.samples_)
        return scores

    monkeypatch.setattr(KernelSVMClassifier, "compute_scores", compare)
    base = {"learner": "svm-perceptron", "C": C}
    AdaBoostERPClassifier(base, "rand-2", "LRLR", rounds=12, random_state=0).fit(X, y)
    assert len(seen) > 12
    assert all(seen)


def test_many_svms_score_together():
    X, y = several(3, 120, 4)
    model = AdaBoostECCClassifier("svm-perceptron", rounds=40).fit(X[:80], y[:80])
    samples = Samples(add_bias_column(X))
    together = list(KernelSVMClassifier.iterate_scores(model.estimators_, samples))
    assert len(together) == 40
    for scores, estimator in zip(together, model.estimators_, strict=True):
        np.testing.assert_allclose(scores, estimator.scores(samples.X), atol=1e-9)


def test_fits_on_the_same_samples_share_a_kernel_where_they_may(monkeypatch):
    X, y = several(3, 120, 4)
    calls, whole = [], kernel_svm.cdist
    monkeypatch.setattr(kernel_svm, "cdist", lambda *a: calls.append(a) or whole(*a))

    def fit_all():
        return [
            AdaBoostECCClassifier({"learner": "svm-perceptron", "C": C}, rounds=5).fit(X, y) for C in (1.0, 8.0)
        ]

    alone = fit_all()
    assert len(calls) == 2
    with share_kernels():
        shared = fit_all()
    assert len(calls) == 3
    for a, b in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(a.estimator_errors_, b.estimator_errors_)
    monkeypatch.setattr(kernel_svm, "MAX_SHARED_BYTES", 10)
    with share_kernels():
        fit_all()
    assert len(calls) == 5
