"""Values that options choose from, and their defaults; light, because a shell completes them."""

from __future__ import annotations

SCALINGS = ("standard", "minmax", "none")
DEFAULT_SCALING = "standard"  # of fit, evaluate, complexity and prune alike
MISSING_POLICIES = ("error", "drop", "zero")
KERNELS = ("perceptron", "stump", "rbf", "linear")  # of the SVM that measures complexity
NOISE_SCORES = ("contribution", "neighbours")
