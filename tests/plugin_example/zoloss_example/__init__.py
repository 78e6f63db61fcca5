"""A learner, a metric and two data sets for zoloss."""

import math
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli import LinearLearner, Pool
from zoloss_cli.metrics.base import Metric


class CentroidClassifier(LinearLearner):
    """Classifier by the nearer class mean: a hyperplane halfway between the weighted means of both classes."""

    version = 1  # part of every result's identity: raise it when results change

    def __init__(
        self, spread: Annotated[bool, Field(description="measure in units of each feature's spread")] = True
    ):
        self.spread = spread

    def learn(self, problem, start):
        X, phi, positive = problem.X[:, 1:], problem.phi, problem.y > 0
        plus, minus = (np.average(X[part], axis=0, weights=phi[part]) for part in (positive, ~positive))
        variance = phi @ (X - phi @ X) ** 2 if self.spread else np.ones(X.shape[1])
        w = np.where(variance > 0, (plus - minus) / np.where(variance > 0, variance, 1), 0)
        return np.concatenate([[-w @ (plus + minus) / 2], w])


class MatthewsCorrelation(Metric):
    """Matthews correlation coefficient on test samples; 0 where it is not defined."""

    name = "matthews"
    requires = ("test_confusion",)
    part = "test"
    direction = "higher"
    decimals = 3
    heading = "MCC"
    n_classes = 2

    def compute(self, record, sizes):
        (tn, fp), (fn, tp) = record.test_confusion
        scale = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return (tp * tn - fp * fn) / scale if scale else 0.0


def stripes(
    rng,
    size: Annotated[int, Field(ge=2, description="samples in the pool")] = 400,
    width: Annotated[float, Field(gt=0, lt=1, description="width of a stripe")] = 0.5,
) -> Pool:
    """Draw samples in the unit square, in vertical stripes that alternate between two classes."""
    X = rng.uniform(0, 1, (size, 2))
    return Pool(X, (X[:, 0] // width).astype(int) % 2, ["even", "odd"], ["x", "y"])


def triangles() -> Path:
    """Return the triangles with sides of whole numbers, acute or obtuse."""
    return Path(__file__).with_name("triangles.csv")
