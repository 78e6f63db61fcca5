"""Figures as <svg> elements of a page: small, and with styles that do not leak into the rest of the page."""

from __future__ import annotations

import io
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.font_manager import findfont, get_font
from matplotlib.path import Path as MarkerPath
from matplotlib.textpath import TextToPath
from matplotlib.transforms import IdentityTransform

from zoloss_cli.figures.style import apply_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import GraphicsContextBase
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import Transform

# matplotlib draws a figure twice when saving it (first without output, for the layout), measures text and fonts
# again for each, and writes an element for each marker of a line. Here the layout alone is computed first,
# measurements are cached, and a marker is written once, with all of its positions. With `figure.savefig` in
# `render_once`, `time zoloss report results/reference` needs 12 to 40 % more user time.

POINTS_PER_INCH = 72  # SVG counts in points
IMAGE_DPI = 300
MAX_CACHED_TEXTS = 4096
MIN_JOINED = 4  # from this number of markers on, one path for all is shorter
PLACES = "places"  # an element after the group of a marker, with all of its positions


class _Renderer(RendererSVG):
    """A matplotlib renderer that caches text sizes across figures."""

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple:
        """Return the size of a text in points; its font settings may change later, so a copy is cached."""
        return _measure_text(s, prop.copy(), ismath)

    def _get_font_height_metrics(self, prop: FontProperties) -> tuple:
        """Return ascent, descent and line gap of a font, for which matplotlib would read the file each time."""
        return _measure_font(prop.copy())

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: MarkerPath,
        marker_trans: Transform,
        path: MarkerPath,
        trans: Transform,
        rgbFace: Any = None,
    ) -> None:
        """Draw a marker at each point of a line; if there are many, one marker and the positions of all."""
        ends = trans.transform(path.vertices)
        points = ends[np.isfinite(ends).all(axis=1)]
        if len(points) < MIN_JOINED:
            super().draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)
            return
        middle = MarkerPath([[self.width / 2, self.height / 2]])  # a marker beyond the edges would be clipped
        super().draw_markers(gc, marker_path, marker_trans, middle, IdentityTransform(), rgbFace)
        self.writer.element(PLACES, d=" ".join(f"{x:f} {self.height - y:f}" for x, y in points.tolist()))


@lru_cache(MAX_CACHED_TEXTS)
def _measure_text(text: str, font: FontProperties, is_math: Any) -> tuple:
    return TextToPath().get_text_width_height_descent(text, font, is_math)


@lru_cache
def _measure_font(font: FontProperties) -> tuple:
    """Return ascent, descent and line gap from the font's tables; without them, matplotlib falls back."""
    file = get_font(findfont(font))
    metrics, head = file.get_sfnt_table("OS/2"), file.get_sfnt_table("head")
    if metrics is None or head is None:
        return None, None, None
    unit = font.get_size_in_points() / head["unitsPerEm"]
    return metrics["sTypoAscender"] * unit, -metrics["sTypoDescender"] * unit, metrics["sTypoLineGap"] * unit


class _Canvas(FigureCanvasSVG):
    """A canvas that provides its renderer for the layout."""

    def get_renderer(self) -> _Renderer:
        """Return a renderer whose output is discarded."""
        return _build_renderer(self.figure, io.StringIO())


def _build_renderer(figure: Figure, file: io.StringIO) -> _Renderer:
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    return _Renderer(width, height, file, image_dpi=IMAGE_DPI, metadata={"Date": None})


def _ease_layout(axes: Axes) -> None:
    """Skip slow layout steps that change nothing, since tick labels extend beyond their axis."""
    for axis, side in ((axes.xaxis, "bottom"), (axes.yaxis, "left")):
        if not axis.get_label_text():
            axis.set_label_coords(0.0, 0.0)  # otherwise its position is computed from all tick labels
        if side in axes.spines and axis.get_tick_params().get(f"label{side}", True):
            axes.spines[side].set_in_layout(False)


def render_once(figure: Figure) -> str:
    """Return a figure as SVG; it is drawn with the current settings, and cannot be drawn on afterwards.

    Elements named `PLACES` are not standard SVG; `render_svg` turns them into markers.
    """
    _Canvas(figure)
    figure.dpi = POINTS_PER_INCH
    for axes in figure.axes:
        _ease_layout(axes)
    layout = figure.get_layout_engine()
    if layout is not None and figure.axes:
        layout.execute(figure)
        figure.set_layout_engine("none")
    file = io.StringIO()
    renderer = _build_renderer(figure, file)
    figure.draw(renderer)
    renderer.finalize()
    return file.getvalue()


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
    """Return an <svg> element without a prolog, whose styles apply only to itself."""
    ElementTree.register_namespace("", SVG)
    with apply_style():
        root = ElementTree.fromstring(render_once(figure))
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    # matplotlib's style sheet is meant for a separate document: it would style the rest of the page.
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
            element.set("d", path.replace(" L ", " "))  # "line to" is the default after the first point
        if element.get("transform", "").startswith(NO_ROTATION):
            del element.attrib["transform"]
        element.text, element.tail = _trim(element.text), _trim(element.tail)
    _share_styles(root, prefix)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _rename(root: ElementTree.Element, prefix: str) -> None:
    """Shorten the ids of referenced elements, and remove all others."""
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
    """Remove groups without attributes."""
    children = list(element)
    for child in children:
        _dissolve_groups(child)
        element.remove(child)
    for child in children:
        element.extend(list(child) if child.tag == GROUP and not child.attrib else [child])


def _join_markers(root: ElementTree.Element, tag: str) -> None:
    """Join the many markers of a line, given as one marker and the positions of all, into one path.

    Of several at the same position, only one is kept.
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
    """Write shared styles once: on a group if all of its elements have the same, otherwise as a class."""
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
