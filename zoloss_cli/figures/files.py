"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree import ElementTree

from zoloss_cli.errors import OutputError
from zoloss_cli.figures.style import styled

# What a file says of itself besides the drawing: nothing of when it was made.
METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
REFERENCE = re.compile(r"url\(#([^)]+)\)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def format_of(path: Path) -> str:
    """The format that a file's name asks for."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in METADATA:
        ending = f"ends in .{suffix}" if suffix else "has no ending"
        valid = ", ".join(f".{name}" for name in METADATA)
        raise OutputError(f"--out: {path} {ending}; a figure is written as one of {valid}")
    return suffix


def rendered(figure, format: str) -> bytes:
    file = io.BytesIO()
    with styled():
        figure.savefig(file, format=format, metadata=METADATA[format])
    return file.getvalue()


def to_svg(figure, prefix: str = "figure") -> str:
    """An <svg> element to stand inside a page: no prolog, ids that begin with `prefix`, and small."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(rendered(figure, "svg"))
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    _rename(root, prefix)
    for element in root.iter():
        for key, value in element.attrib.items():
            element.set(key, LONG_NUMBER.sub(_rounded, value))
        _share_style(element)
        element.text, element.tail = _trimmed(element.text), _trimmed(element.tail)
    return ElementTree.tostring(root, encoding="unicode")


def _rename(root, prefix: str) -> None:
    """Short ids of our own for what is referred to, and none for the rest."""
    used = {value[1:] for element in root.iter() if (value := element.get(HREF, "")).startswith("#")}
    used |= {
        name
        for element in root.iter()
        for value in element.attrib.values()
        for name in REFERENCE.findall(value)
    }
    names: dict[str, str] = {}
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            names[name] = f"{prefix}-{len(names)}"
            element.set("id", names[name])
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == HREF:
                element.set(key, "#" + names[value[1:]])
            else:
                element.set(key, REFERENCE.sub(lambda hit: f"url(#{names[hit[1]]})", value))


def _share_style(group) -> None:
    """What all markers of a line say of their style is said once, by the group around them."""
    marks = [child for child in group if child.tag == f"{{{SVG}}}use"]
    styles = {mark.get("style") for mark in marks}
    if len(marks) > 1 and len(marks) == len(group) and len(styles) == 1 and "style" not in group.attrib:
        group.set("style", styles.pop() or "")
        for mark in marks:
            mark.attrib.pop("style", None)


def _rounded(number: re.Match) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _trimmed(text: str | None) -> str | None:
    return text if text and text.strip() else None
