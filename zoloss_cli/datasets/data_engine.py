"""Random targets in the spirit of the Caltech Data Engine (Pratap 2003), which Li's thesis (2006) uses.

That program is not available. According to the thesis, it picks a model at random (neural network, support
vector machine or radial basis functions), draws the model's parameters, and lets the model label random
samples; a complexity factor controls the model. What is drawn, and how, is our own choice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Target = Callable[[np.ndarray], np.ndarray]
N_PROBES = 2000


def build_random_target(rng: np.random.Generator, model: str, dimensions: int, complexity: int) -> Target:
    """Return a random function on [-1, 1]^dimensions that is positive on about half of it.

    Parameters
    ----------
    rng : Generator
        The source of all random choices.
    model : {'any', 'network', 'svm', 'rbf'}
        The kind of model; 'any' for one of them at random.
    dimensions, complexity : int
        The number of inputs; the number of hidden units, support vectors or Gaussians.
    """
    name = str(rng.choice(list(MODELS))) if model == "any" else model
    score = MODELS[name](rng, dimensions, complexity)
    middle = np.median(score(draw_inputs(rng, N_PROBES, dimensions)))
    return lambda X: score(X) - middle


def draw_inputs(rng: np.random.Generator, size: int, dimensions: int) -> np.ndarray:
    """Draw samples uniform in the cube [-1, 1]^dimensions."""
    return rng.uniform(-1.0, 1.0, (size, dimensions))


def _build_network(rng: np.random.Generator, dimensions: int, complexity: int) -> Target:
    """Return one hidden layer with `complexity` tanh units, all weights normal."""
    W, b = 2.0 * rng.standard_normal((dimensions, complexity)), rng.standard_normal(complexity)
    out = rng.standard_normal(complexity)
    return lambda X: np.tanh(X @ W + b) @ out


def _build_svm(rng: np.random.Generator, dimensions: int, complexity: int) -> Target:
    """Return a sum over `complexity` support vectors, in the cubic kernel (1 + <x, s>)^3."""
    support, weights = draw_inputs(rng, complexity, dimensions), rng.standard_normal(complexity)
    return lambda X: (1.0 + X @ support.T) ** 3 @ weights


def _build_rbf(rng: np.random.Generator, dimensions: int, complexity: int) -> Target:
    """Return a sum of `complexity` Gaussians, wide enough to about reach each other."""
    centres, weights = draw_inputs(rng, complexity, dimensions), rng.standard_normal(complexity)
    widths = rng.uniform(0.5, 1.0, complexity) * np.sqrt(dimensions)
    return lambda X: np.exp(-(((X[:, None, :] - centres) ** 2).sum(axis=2)) / widths**2) @ weights


MODELS = {"network": _build_network, "svm": _build_svm, "rbf": _build_rbf}
