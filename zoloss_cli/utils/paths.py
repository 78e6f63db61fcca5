"""Where the data sets, configs and published numbers that come with the project lie."""

from __future__ import annotations

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parent.parent


def shipped_folder(folder: str) -> Path:
    """The folder `datasets` or `configs`: inside an installed wheel, or at the top of a checkout."""
    in_wheel = PACKAGE_FOLDER / "shipped" / folder
    return in_wheel if in_wheel.is_dir() else PACKAGE_FOLDER.parent / folder


def find_shipped_config(path: Path) -> Path | None:
    """The config that a relative path such as configs/table2.yaml names among those that come with zoloss."""
    parts = path.parts[1:] if path.parts[:1] == ("configs",) else path.parts
    ours = shipped_folder("configs").joinpath(*parts)
    return ours if ours.is_file() and not path.is_absolute() else None


PUBLISHED_FOLDER = PACKAGE_FOLDER / "reporting" / "published"
