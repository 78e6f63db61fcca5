"""Random targets in the spirit of the Caltech Data Engine (Pratap 2003), which Li's thesis (2006) uses.

That program is not available. According to the thesis, it picks a model at random (neural network, support
vector machine or radial basis functions), draws the model's parameters, and lets the model label random
samples; a complexity factor controls the model. The distributions here are our own choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

Target = Callable[[np.ndarray], np.ndarray]
N_PROBES = 2000


def build_random_target(rng: np.random.Generator, model: str, dimensions: int, complexity: int) -> Target:
    """Return a random function on [-1, 1]^dimensions that is positive on about half of it."""
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
    """Return a sum of `complexity` Gaussians, wide enough to overlap."""
    centres, weights = draw_inputs(rng, complexity, dimensions), rng.standard_normal(complexity)
    widths = rng.uniform(0.5, 1.0, complexity) * np.sqrt(dimensions)
    return lambda X: np.exp(-(((X[:, None, :] - centres) ** 2).sum(axis=2)) / widths**2) @ weights


MODELS = {"network": _build_network, "svm": _build_svm, "rbf": _build_rbf}


N_DISKS = 3  # concentric disks of equal widths (Li's thesis 2006, Fig. 1.1)
DISK_RADII = (1 / N_DISKS, 2 / N_DISKS, 1.0)

# The Yin-Yang of Li et al. (2005): a plate with two lobes, whose centres are a lobe's radius to the left and
# right of its own, and samples in a slightly larger disk.
PLATE_RADIUS = 1.0
LOBE_RADIUS = PLATE_RADIUS / 2
YINYANG_RADIUS = 1.1


# Every generator is a function of a random Generator and annotated parameters, and returns a Pool. The
# annotations declare what a config can set. A new one is a function here and a line in registry.py.

Size = Annotated[int, Field(ge=2, description="number of samples in the pool")]
Rng = np.random.Generator


class Pool(NamedTuple):  # numpydoc ignore=PR02
    """Generated samples.

    Generators, including those of installed packages, return their samples in this form.

    Parameters
    ----------
    X : ndarray of shape (size, n_features)
        The samples.
    y : ndarray of shape (size,)
        Indices into `classes`.
    classes : list of str
        The names of the classes.
    features : list of str
        The names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from zoloss_cli import Pool
    >>> pool = Pool(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0, 1]), ["no", "yes"], ["a", "b"])
    >>> pool.classes[pool.y[1]]
    'yes'
    """

    X: np.ndarray
    y: np.ndarray
    classes: list[str]
    features: list[str]


def ringnorm(rng: Rng, size: Size = 5000) -> Pool:
    """Draw Breiman's ringnorm, 20 dimensions, equal priors: N(0, 4I) against N((a, ..., a), I), a = 1/sqrt(20).

    Breiman's text is often quoted with a = 2/sqrt(20), but the published errors of Li & Lin (2007) fit only
    a = 1/sqrt(20) (35.8 % against 24.8 %).
    """
    y = rng.integers(0, 2, size)
    X = rng.standard_normal((size, 20))
    X = np.where(y[:, None] == 0, 2.0 * X, X + 1.0 / np.sqrt(20.0))
    return Pool(X, y, ["wide", "narrow"], _number_features(20))


def threenorm(rng: Rng, size: Size = 5000) -> Pool:
    """Draw Breiman's threenorm, 20 dimensions, equal priors, a = 2/sqrt(20).

    One class is an equal mixture of N((a, ..., a), I) and N(-(a, ..., a), I), the other is
    N((a, -a, a, -a, ...), I).
    """
    a = 2.0 / np.sqrt(20.0)
    y = rng.integers(0, 2, size)
    side = rng.choice([-1.0, 1.0], size)
    X = rng.standard_normal((size, 20))
    alternating = a * np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    X += np.where(y[:, None] == 0, side[:, None] * a, alternating)
    return Pool(X, y, ["two", "one"], _number_features(20))


def yinyang(
    rng: Rng,
    size: Size = 5000,
    eye: Annotated[float, Field(gt=0, lt=0.5, description="radius of the two eyes")] = 0.18,
) -> Pool:
    """Draw the Yin-Yang of Li et al. (2005): a plate of radius 1, samples uniform in the disk of radius 1.1.

    The upper half-plane is one class. Inside the plate, the lobe of radius 1/2 around (-1/2, 0) belongs to the
    upper half, the one around (1/2, 0) to the lower half, and the eyes in their middles to the opposite one.
    The papers give no eye radius; 1/6 to 3/16 fit their numbers.
    """
    X = _draw_in_disk(rng, size, YINYANG_RADIUS)
    upper = X[:, 1] > 0.0
    left = np.hypot(X[:, 0] + LOBE_RADIUS, X[:, 1])
    right = np.hypot(X[:, 0] - LOBE_RADIUS, X[:, 1])
    y = np.where(left <= LOBE_RADIUS, left > eye, np.where(right <= LOBE_RADIUS, right <= eye, upper))
    return Pool(X, y.astype(int), ["yin", "yang"], _number_features(2))


def disks(rng: Rng, size: Size = 31) -> Pool:
    """Draw three concentric disks of radii 1/3, 2/3 and 1 (Li's thesis 2006, Fig. 1.1), uniform in the largest.

    The innermost disk and the outer ring are class 1, the ring between them is class 0.
    """
    X = _draw_in_disk(rng, size, DISK_RADII[-1])
    ring = np.minimum((N_DISKS * np.hypot(X[:, 0], X[:, 1])).astype(int), N_DISKS - 1)
    return Pool(X, (ring != 1).astype(int), ["0", "1"], _number_features(2))


# The classic seven pieces on a 4 x 4 square, corners counter-clockwise. The thesis's own drawing (Fig. 4.1) is
# not in its text, so these coordinates are our own.
TANGRAM = {
    "large-1": [(0, 0), (2, 2), (0, 4)],
    "large-2": [(0, 4), (2, 2), (4, 4)],
    "medium": [(2, 0), (4, 0), (4, 2)],
    "small-1": [(1, 1), (3, 1), (2, 2)],
    "small-2": [(4, 2), (4, 4), (3, 3)],
    "square": [(2, 2), (3, 1), (4, 2), (3, 3)],
    "parallelogram": [(0, 0), (2, 0), (3, 1), (1, 1)],
}


def tangram(rng: Rng, size: Size = 500) -> Pool:
    """Draw samples uniform in a square covered by the seven pieces of a tangram; the class is the piece.

    Li's thesis (2006), section 4.2 and Fig. 4.1; see TANGRAM for the coordinates.
    """
    X = rng.uniform(0.0, 4.0, (size, 2))
    y = np.full(size, -1)
    for piece, corners in enumerate(TANGRAM.values()):
        inside = np.ones(size, bool)
        for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
            inside &= (bx - ax) * (X[:, 1] - ay) - (by - ay) * (X[:, 0] - ax) >= 0.0
        y[inside & (y < 0)] = piece
    return Pool(X / 4.0, y, list(TANGRAM), _number_features(2))


def gaussians(
    rng: Rng,
    size: Size = 500,
    dimensions: Annotated[int, Field(ge=1, description="number of features")] = 5,
) -> Pool:
    """Draw Nguyen & Sanner's synthetic sets (2013, section 6): one Gaussian per class, of equal size.

    A range R is uniform in [5, 10]; the centres are uniform within R/2 of the origin in each
    dimension, the variances uniform in [1, R^2].
    """
    R = rng.uniform(5.0, 10.0)
    centres = rng.uniform(-R / 2, R / 2, (2, dimensions))
    deviations = np.sqrt(rng.uniform(1.0, R**2, (2, dimensions)))
    y = np.arange(size) % 2
    X = centres[y] + deviations[y] * rng.standard_normal((size, dimensions))
    return Pool(X, y, ["0", "1"], _number_features(dimensions))


def outliers(
    rng: Rng,
    size: Size = 300,
    share: Annotated[float, Field(gt=0, lt=0.5, description="outliers, as a share of the samples")] = 0.1,
) -> Pool:
    """Draw two classes in the plane and outliers that skew convex losses, as in Nguyen & Sanner's Figure 1.

    The paper shows 300 samples, a tenth of them outliers, but no recipe; this one is our own. The classes are
    Gaussians to the left and right of a vertical line, taller than wide. The outliers are samples of the right
    class in a small cloud far to the upper left.
    """
    y = np.arange(size) % 2
    X = rng.standard_normal((size, 2)) * [0.85, 1.7] + np.where(y == 1, 1.5, -1.5)[:, None] * [1.0, 0.0]
    lost = rng.permutation(np.flatnonzero(y == 1))[: int(share * size)]
    X[lost] = rng.standard_normal((lost.size, 2)) + [-10.0, 10.0]
    return Pool(X, y, ["left", "right"], _number_features(2))


def data_engine(
    rng: Rng,
    size: Size = 3400,
    dimensions: Annotated[int, Field(ge=1, description="number of features")] = 8,
    model: Annotated[
        Literal["any", "network", "svm", "rbf"],
        Field(description="model that labels the samples: this one, or a random one of the three"),
    ] = "any",
    complexity: Annotated[
        int, Field(ge=1, description="hidden units, support vectors or Gaussians of the model")
    ] = 10,
    flipped: Annotated[float, Field(ge=0, lt=0.5, description="share of labels that are flipped")] = 0.0,
) -> Pool:
    """Draw samples in a cube, labelled by a random neural network, SVM or RBF model that depends on the seed.

    In the spirit of the Caltech Data Engine of Li's thesis (2006, section 3.3.1).
    """
    target = build_random_target(rng, model, dimensions, complexity)
    X = draw_inputs(rng, size, dimensions)
    y = (target(X) >= 0.0) ^ (rng.uniform(size=size) < flipped)
    return Pool(X, y.astype(int), ["0", "1"], _number_features(dimensions))


def separable(
    rng: Rng,
    size: Size = 100,
    dimensions: Annotated[int, Field(ge=2, description="number of features")] = 10,
    margin: Annotated[float, Field(gt=0, lt=1, description="minimum distance to the separating plane")] = 0.1,
    flipped: Annotated[float, Field(ge=0, lt=0.5, description="share of labels that are flipped")] = 0.0,
) -> Pool:
    """Draw samples on the unit sphere, and a plane through the origin that separates them with a margin.

    Distances to the plane are uniform from the margin to 1, with half of the samples on each side. Then labels
    are flipped. It serves to test the mistake bounds of perceptrons.
    """
    normal = rng.standard_normal(dimensions)
    normal /= np.linalg.norm(normal)
    y = rng.permutation(np.arange(size) % 2)
    distance = rng.uniform(margin, 1.0, size)
    along = rng.standard_normal((size, dimensions))
    along -= np.outer(along @ normal, normal)
    along *= (np.sqrt(1.0 - distance**2) / np.linalg.norm(along, axis=1))[:, None]
    X = along + np.outer(np.where(y == 1, distance, -distance), normal)
    wrong = rng.permutation(size)[: int(flipped * size)]
    y[wrong] = 1 - y[wrong]
    return Pool(X, y, ["0", "1"], _number_features(dimensions))


def axes(rng: Rng, size: Size = 10) -> Pool:
    """Draw the unit vectors e_1, ..., e_k: a perceptron errs on each of them, as often as its bound allows.

    Those of class 0 are negated; classes and order are random. Negating both a sample and its label changes
    nothing for learners that count a margin of 0 as a mistake.
    """
    y = rng.permutation(np.arange(size) % 2)
    X = np.eye(size)[rng.permutation(size)] * np.where(y == 1, 1.0, -1.0)[:, None]
    return Pool(X, y, ["0", "1"], _number_features(size))


def nested(rng: Rng, size: Size = 10) -> Pool:
    """Draw k samples in k dimensions whose margin through the origin falls exponentially with k.

    Sample i is e_i plus all e_j with j < i of the other class; classes alternate, and the order is random.
    Correct weights must grow like the Fibonacci numbers, since each must outweigh the sum of those before it
    that vote for the other class. The lecture on linear separators (004), section 1.1, says about the margin
    gamma that "in the worst case, gamma can be exponentially small in n", without an example: this is one.
    """
    i, j = np.indices((size, size))
    X = ((i == j) | ((j < i) & ((i - j) % 2 == 1))).astype(float)
    order = rng.permutation(size)
    return Pool(X[order], order % 2, ["0", "1"], _number_features(size))


def _number_features(count: int) -> list[str]:
    return [f"x{i + 1}" for i in range(count)]


def _draw_in_disk(rng: Rng, size: int, radius: float) -> np.ndarray:
    r = radius * np.sqrt(rng.uniform(0.0, 1.0, size))
    angle = rng.uniform(0.0, 2.0 * np.pi, size)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])
