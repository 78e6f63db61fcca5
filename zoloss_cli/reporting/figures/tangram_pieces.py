"""The tangram with seven pieces: Figure 4.1 of Li's thesis (2006). It needs no results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.datasets.generators import TANGRAM
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.dominating import Partition, draw_pieces

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_tangram() -> Figure:
    """Draw the pieces with the numbers of their classes."""
    figure = style.new_figure(style.COLUMN, style.COLUMN)
    (axes,) = style.add_panels(figure, 1, 1)
    draw_pieces(axes, Partition(np.zeros(len(TANGRAM), np.int8), 0, 0.0))
    return figure
