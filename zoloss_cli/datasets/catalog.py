"""The embedded data sets: `datasets/catalog.yaml` describes the CSV files that lie beside it."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from zoloss_cli.errors import DataError, suggest_nearest
from zoloss_cli.utils.paths import shipped_folder


@dataclass(frozen=True)
class Entry:
    """One fixed table: what the file is, where it comes from, what was done to it."""

    name: str
    title: str
    rows: int
    features: int
    classes: dict[str, int]
    sha256: str
    removed: int
    notes: str
    row_order: str
    source: dict
    licence: str
    attribution: str
    uci: dict
    positive: str | None = None
    train_rows: int | None = None
    extra_source: dict = field(default_factory=dict)
    file: Path | None = None  # where it is not one of ours

    @property
    def path(self) -> Path:
        return self.file or shipped_folder("datasets") / f"{self.name}.csv"


@functools.cache
def catalog() -> dict[str, Entry]:
    """All embedded data sets by name."""
    text = (shipped_folder("datasets") / "catalog.yaml").read_text(encoding="utf-8")
    return {name: Entry(name=name, **facts) for name, facts in yaml.safe_load(text).items()}


def find_entry(name: str) -> Entry:
    """One embedded data set; an unknown name is the user's mistake."""
    try:
        return catalog()[name]
    except KeyError:
        raise DataError(f"no embedded data set is called '{name}'{suggest_nearest(name, catalog())}") from None


def compute_file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
