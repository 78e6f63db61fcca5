"""Values that options of several commands choose from; light, because a shell completes them."""

from __future__ import annotations

FORMATS = ("text", "markdown", "latex", "csv", "html")
SCALINGS = ("standard", "minmax", "none")
POLICIES = ("error", "drop", "zero")  # what to do with missing values
FIGURES = ("1", "2", "3", "4", "6", "9", "ranks", "curves", "time", "bounds", "boundary")
