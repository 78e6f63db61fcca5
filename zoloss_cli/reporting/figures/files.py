"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from zoloss_cli.errors import OutputError
from zoloss_cli.reporting.figures.style import apply_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a file says of itself besides the drawing: nothing of when it was made.
METADATA: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def find_format(path: Path, option: str = "--out") -> str:
    """Return the format that a file's name asks for; another one is an OutputError about the option."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in METADATA:
        ending = f"ends in .{suffix}" if suffix else "has no ending"
        valid = ", ".join(f".{name}" for name in METADATA)
        raise OutputError(f"{option}: {path} {ending}; a figure is written as one of {valid}")
    return suffix


def render_figure(figure: Figure, format: str) -> bytes:
    """Return a figure as the content of a file."""
    file = io.BytesIO()
    with apply_style():
        figure.savefig(file, format=format, metadata=METADATA[format])
    return file.getvalue()
