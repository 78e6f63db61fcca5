"""Values that options choose from, and their defaults; light, because a shell completes them."""

from __future__ import annotations

SCALINGS = ("standard", "minmax", "none")
DEFAULT_SCALING = "standard"  # of fit, evaluate, complexity and prune alike
MISSING_POLICIES = ("error", "drop", "zero", "impute", "indicator")
UNKNOWN_POLICIES = ("error", "ignore")  # for levels that were not there in training
CALIBRATIONS = ("sigmoid", "isotonic")
KERNELS = ("perceptron", "stump", "rbf", "linear")  # of the SVM that measures complexity
NOISE_SCORES = ("contribution", "neighbours")
