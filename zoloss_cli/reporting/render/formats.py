"""Names of output formats; kept light, because a shell completes them."""

from __future__ import annotations

FORMATS = ("text", "markdown", "latex", "csv", "html")
EXPORT_FORMATS = ("csv", "parquet")  # of single records
