"""Values that options of several commands choose from; light, because a shell completes them."""

from __future__ import annotations

FORMATS = ("text", "markdown", "latex", "csv", "html")
SCALINGS = ("standard", "minmax", "none")
POLICIES = ("error", "drop", "zero")  # what to do with missing values
KERNELS = ("perceptron", "stump", "rbf", "linear")  # of the SVM that measures complexity
SIGNS_OF_NOISE = ("contribution", "neighbours")
OF_CHAPTER_1 = ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.11", "1.12", "1.13")  # of Li's thesis
OF_PAPERS = ("1", "2", "3", "4", "6", "9", *OF_CHAPTER_1, "3.1", "4.2", "4.3", "4.4", "4.5")
FIGURES = (*OF_PAPERS, "ranks", "curves", "time", "bounds", "boundary")
