"""Choices and defaults of options, without heavy imports, since shell completion uses them."""

from __future__ import annotations

SCALINGS = ("standard", "minmax", "none")
DEFAULT_SCALING = "standard"  # of fit, evaluate, complexity and prune
MISSING_POLICIES = ("error", "drop", "zero", "impute", "indicator")
UNKNOWN_POLICIES = ("error", "ignore")  # for levels unseen in training
CALIBRATIONS = ("sigmoid", "isotonic")
KERNELS = ("perceptron", "stump", "rbf", "linear")  # of the SVM that measures complexity
NOISE_SCORES = ("contribution", "neighbours")

STATS = ("stderr", "sd", "ci", "median", "quartiles")
BOLD_RULES = ("best", "stderr", "significant")
CONFIDENCE = 0.95  # level of the intervals of `ci`
MAX_DIGITS = 10

FORMATS = ("text", "markdown", "latex", "csv", "html")
EXPORT_FORMATS = ("csv", "parquet")  # of `zoloss export`
