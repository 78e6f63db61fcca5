"""Figures as files and as <svg> elements of a page: the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from zoloss_cli.errors import OutputError
from zoloss_cli.figures.style import apply_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Metadata of files besides the drawing: nothing about when they were made.
METADATA: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
ANIMATION = "gif"
FRAME_MILLISECONDS, LAST_FRAME_MILLISECONDS, FRAME_DPI = 900, 3000, 120


def find_format(path: Path, option: str = "--out", animated: bool = False) -> str:
    """Return the format that a file name implies; an OutputError about the option for any other.

    Parameters
    ----------
    path : Path
        The file.
    option : str, default="--out"
        The option that the error is about.
    animated : bool, default=False
        Whether the figure can be animated.

    Returns
    -------
    str
        The format.
    """
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


SVG, XLINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
GROUP, USE, STYLE, DEFS, PATH, MARKER = (
    f"{{{SVG}}}{name}" for name in ("g", "use", "style", "defs", "path", "marker")
)
FONT = re.compile(r"font-family: [^;]+; ?")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
CURVE_COMMAND = re.compile("[ACQ]")
NO_ROTATION = "rotate(-0 "
MARKER_SETTINGS = {"markerUnits": "userSpaceOnUse", "overflow": "visible"}


def render_svg(figure: Figure, prefix: str = "figure") -> str:
    """Return an <svg> element without a prolog, which styles only itself.

    Parameters
    ----------
    figure : Figure
        The figure to draw.
    prefix : str, default="figure"
        The prefix of its ids and classes.

    Returns
    -------
    str
        The element.
    """
    from zoloss_cli.figures.svg_renderer import PLACES, render_once

    ElementTree.register_namespace("", SVG)
    with apply_style():
        root = ElementTree.fromstring(render_once(figure))
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    # matplotlib's style sheet is meant for a page of its own: it would style the rest of ours.
    for parent in list(root.iter()):
        for sheet in parent.findall(STYLE):
            parent.remove(sheet)
    root.set("style", "font-family: 'DejaVu Sans', Verdana, sans-serif; stroke-linejoin: round")
    _join_markers(root, f"{{{SVG}}}{PLACES}")
    _rename(root, prefix)
    _dissolve_groups(root)
    for element in root.iter():
        for key, value in element.attrib.items():
            element.set(key, LONG_NUMBER.sub(_round_number, " ".join(value.split())))
        if not CURVE_COMMAND.search(path := element.get("d", "C")):
            element.set("d", path.replace(" L ", " "))  # points after the first are line ends anyway
        if element.get("transform", "").startswith(NO_ROTATION):
            del element.attrib["transform"]
        element.text, element.tail = _trim(element.text), _trim(element.tail)
    _share_styles(root, prefix)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _rename(root: ElementTree.Element, prefix: str) -> None:
    """Give short ids to elements that are referred to, and none to the rest."""
    used = {element.get(XLINK, "#")[1:] for element in root.iter()}
    for element in root.iter():
        used.update(name for value in element.attrib.values() for name in REFERENCE.findall(value))
    names: dict[str, str] = {}
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            names[name] = f"{prefix}-{len(names)}"
            element.set("id", names[name])
    for element in root.iter():
        if XLINK in element.attrib:
            target = element.attrib.pop(XLINK)
            element.set("href", f"#{names[target[1:]]}" if target.startswith("#") else target)
        for key, value in element.attrib.items():
            element.set(key, REFERENCE.sub(lambda hit: f"url(#{names[hit[1]]})", value))


def _dissolve_groups(element: ElementTree.Element) -> None:
    """Remove groups that say nothing about their content."""
    children = list(element)
    for child in children:
        _dissolve_groups(child)
        element.remove(child)
    for child in children:
        element.extend(list(child) if child.tag == GROUP and not child.attrib else [child])


def _join_markers(root: ElementTree.Element, tag: str) -> None:
    """Make one path of the many markers of a line, of which one and the places of all are given.

    Of several at one place, one is kept, which is all that can be seen.
    """
    joined: dict[tuple[str, str], str] = {}
    for parent in list(root.iter(GROUP)):
        for group, places in [pair for pair in pairwise(parent) if pair[1].tag == tag]:
            (use,) = group
            style, name = use.get("style", ""), use.get(XLINK, "")[1:]
            group.remove(use)
            parent.remove(places)
            if (style, name) not in joined:
                joined[style, name] = f"{name}-{len(joined)}"
                definition = ElementTree.SubElement(group, DEFS)
                marker = ElementTree.SubElement(definition, MARKER, MARKER_SETTINGS, id=joined[style, name])
                ElementTree.SubElement(marker, USE, {XLINK: f"#{name}", "style": style})
            shown = {"style": f"fill: none; stroke: none; marker: url(#{joined[style, name]})"}
            ends = LONG_NUMBER.sub(_round_number, places.get("d", "")).split()
            distinct = dict.fromkeys(zip(ends[::2], ends[1::2], strict=True))
            ElementTree.SubElement(group, PATH, shown, d="M " + " ".join(map(" ".join, distinct)))


def _share_styles(root: ElementTree.Element, prefix: str) -> None:
    """Write a style that several elements share only once; on their group if all in it have it."""
    for group in root.iter(GROUP):
        styles = {child.get("style") for child in group}
        if len(group) > 1 and len(styles) == 1 and None not in styles and "style" not in group.attrib:
            group.set("style", styles.pop() or "")
            for child in group:
                del child.attrib["style"]
    styled = [element for element in root.iter() if element is not root and "style" in element.attrib]
    for element in styled:
        element.set("style", FONT.sub("", element.attrib["style"]))
    often = [style for style, count in Counter(e.attrib["style"] for e in styled).items() if count > 1]
    classes = {style: f"{prefix}-s{i}" for i, style in enumerate(often)}
    for element in styled:
        if element.get("style") in classes:
            element.set("class", classes[element.attrib.pop("style")])
    sheet = ElementTree.Element(STYLE)
    sheet.text = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    root.insert(0, sheet)


def _round_number(number: re.Match) -> str:
    """Round to a tenth of a point; the outlines of markers, which are near 0, to a hundredth."""
    value = float(number[0])
    text = f"{value:.1f}" if abs(value) >= 10.0 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".")


def _trim(text: str | None) -> str | None:
    return text if text and text.strip() else None
