"""Packages of third parties, as an installer leaves them in a folder: found through their entry points."""

from pathlib import Path


def write_distribution(folder: Path, name: str, groups: dict[str, dict[str, str]]) -> None:
    """Write the metadata of version 1.0 of a package; `groups` maps what it brings to its entry points."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = []
    for group, entry_points in groups.items():
        lines += [f"[zoloss.{group}]", *(f"{key} = {target}" for key, target in entry_points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
