"""Where the data sets, configs and published numbers that come with the project lie."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def shipped(folder: str) -> Path:
    """The folder `datasets` or `configs`: inside an installed wheel, or at the top of a checkout."""
    in_wheel = PACKAGE / "shipped" / folder
    return in_wheel if in_wheel.is_dir() else PACKAGE.parent / folder


PUBLISHED = PACKAGE / "published"
