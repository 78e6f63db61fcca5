"""Values that options of several commands choose from; light, because a shell completes them."""

from __future__ import annotations

FORMATS = ("text", "markdown", "latex", "csv", "html")
SCALINGS = ("standard", "minmax", "none")
POLICIES = ("error", "drop", "zero")  # what to do with missing values
OF_PAPERS = ("1", "2", "3", "4", "6", "9", "3.1", "4.2", "4.3", "4.4", "4.5")
KERNELS = ("perceptron", "stump", "rbf", "linear")  # of the SVM that measures complexity
SIGNS_OF_NOISE = ("contribution", "neighbours")
FIGURES = (*OF_PAPERS, "ranks", "curves", "time", "bounds", "boundary")
