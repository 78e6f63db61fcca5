"""Score cards as text, and as files for print: HTML, LaTeX, Markdown, or a drawing."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from zoloss_cli.errors import OutputError
from zoloss_cli.workflows.score_card import ScoreCard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RENDERERS = {"html": "html", "tex": "latex", "md": "markdown"}
DRAWINGS = ("png", "svg", "pdf")
CHARACTER_INCHES, LINE_INCHES = 0.075, 0.19
STYLE = """
body { font-family: sans-serif; max-width: 44em; margin: 2em auto; color: #000; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border-bottom: 1px solid #999; padding: 0.25em 0.8em; text-align: left; }
@media print { body { margin: 0; } }
""".strip()


def find_card_format(path: Path) -> str:
    """Return the format that a file name implies; OutputError for any other."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in (*RENDERERS, *DRAWINGS):
        ending = f"ends in .{suffix}" if suffix else "has no ending"
        valid = ", ".join(f".{name}" for name in (*RENDERERS, *DRAWINGS))
        raise OutputError(f"--out: {path} {ending}; a card is written as one of {valid}")
    if suffix in DRAWINGS:
        from zoloss_cli.reporting.figures.style import check_can_draw

        check_can_draw()
    return suffix


def render_card_text(card: ScoreCard) -> list[str]:
    """Return a card as lines for a terminal."""
    from zoloss_cli.reporting.render.text import render_grid

    points, risks = card.build_grids()
    lines = [f"rule      {card.rule}", ""]
    lines += [render_grid(points), ""] if points.lines else []
    return [
        *lines,
        render_grid(risks),
        "(training samples by their total; risk: the share of the positive class)",
    ]


def render_card(card: ScoreCard, format: str) -> bytes:
    """Return a card as the content of a file.

    Parameters
    ----------
    card : ScoreCard
        The card.
    format : str
        The format from `find_card_format`.

    Returns
    -------
    bytes
        The content.
    """
    if format in DRAWINGS:
        from zoloss_cli.reporting.figures.files import render_figure

        return render_figure(draw_card(card), format)
    renderer = importlib.import_module(f"zoloss_cli.reporting.render.{RENDERERS[format]}")
    points, risks = card.build_grids()
    title = f"{card.label}: {card.rule}"
    parts = [renderer.render_heading(title)]
    parts += [renderer.render_grid(grid) for grid in (points, risks) if grid.lines]
    parts += [renderer.render_paragraph(f"{fact[0].upper()}{fact[1:]}.") for fact in card.facts]
    text = renderer.join(parts)
    if format == "html":
        from zoloss_cli.reporting.render.html import escape

        head = f'<meta charset="utf-8">\n<title>{escape(title)}</title>\n<style>\n{STYLE}\n</style>'
        text = f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{text}\n</body>\n</html>'
    return f"{text}\n".encode()


def draw_card(card: ScoreCard) -> Figure:
    """Draw a card as two tables under its rule."""
    from zoloss_cli.reporting.figures import style

    grids = [grid for grid in card.build_grids() if grid.lines]
    rows = sum(len(grid.lines) + 1 for grid in grids)
    widest = max(
        sum(max(len(line[k]) for line in [grid.header, *grid.lines]) + 3 for k in range(len(grid.header)))
        for grid in grids
    )
    width = max(CHARACTER_INCHES * widest, 0.6 * CHARACTER_INCHES * len(card.rule), style.COLUMN)
    with style.apply_style():
        figure = style.new_figure(width, LINE_INCHES * (rows + 4))
        heights = [len(grid.lines) + 1 for grid in grids]
        axes = figure.subplots(len(grids), 1, squeeze=False, height_ratios=heights).ravel()
        figure.suptitle(f"{card.label}: {card.rule}", fontsize=8, wrap=True)
        for panel, grid in zip(axes, grids, strict=True):
            panel.axis("off")
            drawn = panel.table(
                [[style.shorten(text, 60) for text in line] for line in grid.lines],
                colLabels=grid.header,
                loc="center",
                cellLoc="left",
                colLoc="left",
                edges="horizontal",
                bbox=[0.0, 0.0, 1.0, 1.0],
            )
            drawn.auto_set_font_size(False)
            drawn.set_fontsize(8)
            drawn.auto_set_column_width(list(range(len(grid.header))))
        return figure
