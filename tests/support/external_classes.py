"""Classes of your own in a file: one that behaves, and ones that each do one thing wrong."""

CLASSES = '''
import numpy as np

from zoloss_cli import LinearLearner, SearchProgress


class Duck:
    """The class whose mean is nearer; nothing but fit and predict."""

    def __init__(self, order=2):
        self.order = order

    def fit(self, X, y):
        self.means = [X[y == k].mean(axis=0) for k in np.unique(y)]

    def predict(self, X):
        return np.argmin([np.linalg.norm(X - m, self.order, axis=1) for m in self.means], axis=0)


class Drawing(Duck):
    """Draws from its seed."""

    def __init__(self, random_state=None):
        super().__init__()
        self.random_state = random_state

    def fit(self, X, y):
        noise = np.random.default_rng(self.random_state).standard_normal(X.shape)
        super().fit(X + noise, y)


class Seedless(Duck):
    """Draws from nowhere."""

    def fit(self, X, y):
        super().fit(X + np.random.default_rng().standard_normal(X.shape), y)

    def decision_function(self, X):
        return np.linalg.norm(X - self.means[0], axis=1) - np.linalg.norm(X - self.means[1], axis=1)


class Mutating(Duck):
    def fit(self, X, y):
        X -= X.mean(axis=0)
        super().fit(X, y)


class Raising(Duck):
    def fit(self, X, y):
        raise ArithmeticError("no luck")


class Leaving(Duck):
    def fit(self, X, y):
        raise SystemExit(3)


class Signs(Duck):
    def predict(self, X):
        return 2 * super().predict(X) - 1


class Short(Duck):
    def predict(self, X):
        return super().predict(X)[:-1]


class Searching(Duck):
    """Says what it found, and when."""

    reports = ("time_to_best", "lower_bound")
    multiclass = False

    def fit(self, X, y):
        progress = SearchProgress("Searching", time_limit=9.0)
        super().fit(X, y)
        progress.offer(len(y), np.zeros(1))
        progress.offer(np.count_nonzero(self.predict(X) != y), np.zeros(1))
        progress.raise_bound(1)
        self.trace_, self.lower_bound_ = progress.trace, progress.lower_bound


class Boasting(Searching):
    def fit(self, X, y):
        super().fit(X, y)
        self.trace_ = [*self.trace_, (9.0, 0.0)]


class Bounding(Searching):
    def fit(self, X, y):
        super().fit(X, y)
        self.lower_bound_ = 1e6


class Silent(Searching):
    def fit(self, X, y):
        super().fit(X, y)
        del self.trace_


class Own(LinearLearner):
    """Derives from ours."""

    def __init__(self, shift: float = 1.0):
        self.shift = shift

    def learn(self, problem, start):
        return problem.phi * problem.y @ problem.X + np.eye(start.size)[0] * self.shift


class Untyped(Own):
    """Its parameter has no type."""

    def __init__(self, shift=1.0):
        self.shift = shift


class Nothing:
    """No estimator."""


number = 7
'''
