"""Where the data sets and configs that come with the project are stored."""

from __future__ import annotations

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
PUBLISHED_FOLDER = PACKAGE_FOLDER / "reporting" / "published"


def shipped_folder(name: str) -> Path:
    """Return the folder `datasets` or `configs`: inside an installed wheel, or at the top of a checkout."""
    in_wheel = PACKAGE_FOLDER / "shipped" / name
    return in_wheel if in_wheel.is_dir() else PACKAGE_FOLDER.parent / name


def list_embedded_datasets() -> list[str]:
    """Return the names of the data sets that come with zoloss, in order, without reading them."""
    return sorted(path.stem for path in shipped_folder("datasets").glob("*.csv"))


def find_shipped_config(path: Path) -> Path | None:
    """Return the config that comes with zoloss for a path such as configs/table2.yaml or table2."""
    parts = path.parts[1:] if path.parts[:1] == ("configs",) else path.parts
    if path.is_absolute() or not parts or ".." in parts:
        return None
    ours = shipped_folder("configs").joinpath(*parts)
    named = ours.with_name(f"{ours.name}.yaml")
    return ours if ours.is_file() else named if named.is_file() else None


def list_shipped_configs() -> list[str]:
    """Return the short names of the configs that come with zoloss, such as table2 and thesis/table3.1."""
    folder = shipped_folder("configs")
    return sorted(path.relative_to(folder).as_posix()[: -len(".yaml")] for path in folder.rglob("*.yaml"))
