"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path

from zoloss_cli.errors import OutputError
from zoloss_cli.reporting.figures.style import styled

# What a file says of itself besides the drawing: nothing of when it was made.
METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def format_of(path: Path, option: str = "--out") -> str:
    """The format that a file's name asks for."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in METADATA:
        ending = f"ends in .{suffix}" if suffix else "has no ending"
        valid = ", ".join(f".{name}" for name in METADATA)
        raise OutputError(f"{option}: {path} {ending}; a figure is written as one of {valid}")
    return suffix


def rendered(figure, format: str) -> bytes:
    file = io.BytesIO()
    with styled():
        figure.savefig(file, format=format, metadata=METADATA[format])
    return file.getvalue()
