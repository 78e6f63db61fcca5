"""A figure as SVG in one pass, for pages with many figures."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.font_manager import findfont, get_font
from matplotlib.path import Path as MarkerPath
from matplotlib.textpath import TextToPath
from matplotlib.transforms import IdentityTransform

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import GraphicsContextBase
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import Transform


# matplotlib draws a figure twice when saving it: once without output, for the layout, and once more. Only the
# layout is needed from the first. Besides, each new renderer measures every text and font again, which takes a
# fifth of the time; here figures share the measurements. For a line with many markers it writes one element
# each; here one marker is written, and the places of all of them.

POINTS_PER_INCH = 72  # SVG counts in points
IMAGE_DPI = 300
TEXTS_REMEMBERED = 4096
MIN_JOINED = 4  # markers from which on a path for all of them is shorter
PLACES = "places"  # an element after the group of a marker: where all that look like it are


class _Renderer(RendererSVG):
    """A renderer of matplotlib that remembers the size of a text from one figure to the next."""

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple:
        """Return the size of a text in points; its font settings may change later, so a copy is remembered."""
        return _measure_text(s, prop.copy(), ismath)

    def _get_font_height_metrics(self, prop: FontProperties) -> tuple:
        """Return ascent, descent and line gap of a font, for which matplotlib else reads its file each time."""
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
        """Draw a marker at each point of a line; of many, one anywhere and the places of all."""
        ends = trans.transform(path.vertices)
        points = ends[np.isfinite(ends).all(axis=1)]
        if len(points) < MIN_JOINED:
            super().draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)
            return
        middle = MarkerPath([[self.width / 2, self.height / 2]])  # a marker beyond the edges would be left out
        super().draw_markers(gc, marker_path, marker_trans, middle, IdentityTransform(), rgbFace)
        self.writer.element(PLACES, d=" ".join(f"{x:f} {self.height - y:f}" for x, y in points.tolist()))


@lru_cache(TEXTS_REMEMBERED)
def _measure_text(text: str, font: FontProperties, is_math: Any) -> tuple:
    return TextToPath().get_text_width_height_descent(text, font, is_math)


@lru_cache
def _measure_font(font: FontProperties) -> tuple:
    """Return ascent, descent and line gap where matplotlib finds them first; without them it looks further."""
    file = get_font(findfont(font))
    metrics, head = file.get_sfnt_table("OS/2"), file.get_sfnt_table("head")
    if metrics is None or head is None:
        return None, None, None
    unit = font.get_size_in_points() / head["unitsPerEm"]
    return metrics["sTypoAscender"] * unit, -metrics["sTypoDescender"] * unit, metrics["sTypoLineGap"] * unit


class _Canvas(FigureCanvasSVG):
    """A canvas that lends its renderer to the layout."""

    def get_renderer(self) -> _Renderer:
        """Return a renderer whose output is not kept."""
        return _build_renderer(self.figure, io.StringIO())


def _build_renderer(figure: Figure, file: io.StringIO) -> _Renderer:
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    return _Renderer(width, height, file, image_dpi=IMAGE_DPI, metadata={"Date": None})


def _ease_layout(axes: Axes) -> None:
    """Leave out what is slow and changes nothing, since the numbers of an axis extend farther than it."""
    for axis, side in ((axes.xaxis, "bottom"), (axes.yaxis, "left")):
        if not axis.get_label_text():
            axis.set_label_coords(0.0, 0.0)  # otherwise its place is computed from all numbers of the axis
        if side in axes.spines and axis.get_tick_params().get(f"label{side}", True):
            axes.spines[side].set_in_layout(False)


def render_once(figure: Figure) -> str:
    """Return a figure as SVG; it is drawn with the current settings, and cannot be drawn on afterwards.

    Elements named `PLACES` are for `inline`, which makes markers of them: no viewer knows them.
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
