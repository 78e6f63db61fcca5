"""A figure as SVG in one pass, for pages with many figures.

matplotlib draws a figure twice when saving it: once without output, for the layout, and once more. Only the
layout is needed from the first. Besides, each new renderer measures every text and font again, which takes a
fifth of the time; here figures share the measurements.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.textpath import TextToPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

POINTS_PER_INCH = 72  # SVG counts in points
IMAGE_DPI = 300
TEXTS_REMEMBERED = 4096


class _Renderer(RendererSVG):
    """A renderer of matplotlib that remembers the size of a text from one figure to the next."""

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple:
        """Return the size of a text in points; its font settings may change later, so a copy is remembered."""
        return _measure_text(s, prop.copy(), ismath)


@lru_cache(TEXTS_REMEMBERED)
def _measure_text(text: str, font: FontProperties, is_math: Any) -> tuple:
    return TextToPath().get_text_width_height_descent(text, font, is_math)


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
    """Return a figure as SVG; it is drawn with the current settings, and cannot be drawn on afterwards."""
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
