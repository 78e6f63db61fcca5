"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zoloss_cli.errors import OutputError
from zoloss_cli.figures.style import apply_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Metadata of files besides the drawing: nothing about when they were made.
METADATA: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
ANIMATION = "gif"
FRAME_MILLISECONDS, LAST_FRAME_MILLISECONDS, FRAME_DPI = 900, 3000, 120


def find_format(path: Path, option: str = "--out", animated: bool = False) -> str:
    """Return the format that a file name implies; raise OutputError about the option for any other."""
    known = [*METADATA, *([ANIMATION] if animated else [])]
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in known:
        ending = f"ends in .{suffix}" if suffix else "has no ending"
        valid = ", ".join(f".{name}" for name in known)
        raise OutputError(f"{option}: {path} {ending}; a figure is written as one of {valid}")
    return suffix


def render_figure(figure: Figure, format: str) -> bytes:
    """Return a figure as the content of a file."""
    file = io.BytesIO()
    with apply_style():
        figure.savefig(file, format=format, metadata=METADATA[format])
    return file.getvalue()


def render_pages(figures: Sequence[Figure], format: str) -> list[bytes]:
    """Return the pages of a figure as files: one PDF with several pages, otherwise a file per page."""
    if format != "pdf" or len(figures) == 1:
        return [render_figure(figure, format) for figure in figures]
    from matplotlib.backends.backend_pdf import PdfPages

    file = io.BytesIO()
    with apply_style(), PdfPages(file, metadata=METADATA["pdf"]) as pdf:
        for figure in figures:
            pdf.savefig(figure)
    return [file.getvalue()]


def name_pages(path: Path, count: int) -> list[Path]:
    """Return the file names of this many pages: boxes.svg, boxes-2.svg, boxes-3.svg."""
    return [path, *(path.with_name(f"{path.stem}-{i}{path.suffix}") for i in range(2, count + 1))]


def render_animation(frames: Sequence[Figure]) -> bytes:
    """Return figures of equal size as an animated GIF that pauses at the last one and starts again."""
    from PIL import Image

    images = []
    for frame in frames:
        file = io.BytesIO()
        with apply_style():
            frame.savefig(file, format="png", dpi=FRAME_DPI)
        images.append(Image.open(file).convert("P", palette=Image.Palette.ADAPTIVE))
    durations = [*([FRAME_MILLISECONDS] * (len(images) - 1)), LAST_FRAME_MILLISECONDS]
    animation = io.BytesIO()
    images[0].save(animation, format="GIF", save_all=True, append_images=images[1:], duration=durations, loop=0)
    return animation.getvalue()
