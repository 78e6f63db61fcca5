"""A plain grid of texts with caption and notes, which every format can write."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Grid:
    """Lines of text under a header, or notes only.

    Attributes
    ----------
    caption : str
        The caption above it.
    header : list of str
        Titles of the columns.
    lines : list of list of str
        The cells.
    n_left : int
        How many columns are left-aligned; the others are right-aligned.
    notes : list of str
        The notes below it.
    """

    caption: str = ""
    header: list[str] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)
    n_left: int = 1
    notes: list[str] = field(default_factory=list)


def align_columns(grid: Grid) -> tuple[str, ...]:
    """Return the alignment of each column, as tabulate names it."""
    return ("left",) * grid.n_left + ("right",) * (len(grid.header) - grid.n_left)
