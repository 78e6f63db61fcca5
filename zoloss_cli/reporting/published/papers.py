"""The papers whose tables are mirrored."""

from __future__ import annotations

import functools

from zoloss_cli.utils.paths import PUBLISHED_FOLDER


@functools.cache
def read_paper_titles() -> dict[str, str]:
    """Return the title of each paper on pages, by its name in configs."""
    import yaml

    return yaml.safe_load((PUBLISHED_FOLDER / "papers.yaml").read_text(encoding="utf-8"))
