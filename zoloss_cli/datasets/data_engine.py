"""Random targets in the spirit of the Caltech Data Engine (Pratap 2003), which Li's thesis (2006) draws from.

That program is not at hand. As the thesis describes it, it picks a model at random (neural network, support
vector machine or radial basis functions), draws the model's parameters, and lets the model label random
examples; a complexity factor controls the model. What is drawn, and how, is ours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Target = Callable[[np.ndarray], np.ndarray]
PROBES = 2000


def random_target(rng: np.random.Generator, model: str, dimensions: int, complexity: int) -> Target:
    """A function on [-1, 1]^dimensions that is positive on about one half of it."""
    name = str(rng.choice(list(MODELS))) if model == "any" else model
    score = MODELS[name](rng, dimensions, complexity)
    middle = np.median(score(inputs(rng, PROBES, dimensions)))
    return lambda X: score(X) - middle


def inputs(rng: np.random.Generator, size: int, dimensions: int) -> np.ndarray:
    return rng.uniform(-1.0, 1.0, (size, dimensions))


def _network(rng, dimensions: int, complexity: int) -> Target:
    """One hidden layer of as many tanh units as the complexity says, all weights normal."""
    W, b = 2.0 * rng.standard_normal((dimensions, complexity)), rng.standard_normal(complexity)
    out = rng.standard_normal(complexity)
    return lambda X: np.tanh(X @ W + b) @ out


def _svm(rng, dimensions: int, complexity: int) -> Target:
    """As many support vectors as the complexity says, in the cubic kernel (1 + <x, s>)^3."""
    support, weights = inputs(rng, complexity, dimensions), rng.standard_normal(complexity)
    return lambda X: (1.0 + X @ support.T) ** 3 @ weights


def _rbf(rng, dimensions: int, complexity: int) -> Target:
    """As many Gaussians as the complexity says, of widths about those that reach each other."""
    centres, weights = inputs(rng, complexity, dimensions), rng.standard_normal(complexity)
    widths = rng.uniform(0.5, 1.0, complexity) * np.sqrt(dimensions)
    return lambda X: np.exp(-(((X[:, None, :] - centres) ** 2).sum(axis=2)) / widths**2) @ weights


MODELS = {"network": _network, "svm": _svm, "rbf": _rbf}
