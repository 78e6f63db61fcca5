"""Where fetched data sets are stored."""

from __future__ import annotations

import os
from pathlib import Path

from zoloss_cli.config.catalog import find_embedded_entry


def find_fetched_path(name: str, into: Path | None = None) -> Path:
    """Return the path of a fetched CSV, existing or not: in the folder `into`, or in the user's cache.

    The cache is the folder that ZOLOSS_CACHE names, or else zoloss in XDG_CACHE_HOME or ~/.cache.
    """
    find_embedded_entry(name)  # only a known name becomes a path
    if into is None:
        own = os.environ.get("ZOLOSS_CACHE")
        cache = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "zoloss"
        into = cache.expanduser() / "uci"
    return Path(into) / f"{name}.csv"
