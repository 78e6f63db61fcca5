"""The figures of a page: those of the papers, and next to each table those that summarize it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from zoloss_cli.figures.catalog import Drawing, build_drawing_without_results, find_drawings
from zoloss_cli.figures.files import render_svg
from zoloss_cli.figures.registry import FIGURES
from zoloss_cli.figures.style import apply_style, list_drawing_faults
from zoloss_cli.registry import load_metric
from zoloss_cli.report.html.document import build_id, provenance_html, render_anchor
from zoloss_cli.report.render.html import escape
from zoloss_cli.report.runs import RunResult
from zoloss_cli.utils.processes import map_in_forks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = re.compile(r'(width|height)="([\d.]+)pt"')
SCREEN_SCALE = 1.4  # figures are designed for a column on paper


class PageFigures:
    """The figures that can be drawn from these runs in a few seconds.

    Parameters
    ----------
    runs : list of RunResult
        The runs of the page.
    source : Path
        The results folder, for the commands.

    Notes
    -----
    Without matplotlib there are none; the caller of the page reports this.
    """

    def __init__(self, runs: list[RunResult], source: Path):
        self._runs = {run.name: run for run in runs}
        drawings = [] if list_drawing_faults() else find_drawings(runs, source)
        self._of_tables = [d for d in drawings if self._is_beside_table(d)]
        self._of_papers = [d for d in drawings if self._runs[d.run].figure and d.kind.beside_tables == "none"]
        if self._of_papers:
            kinds = [kind for kind in FIGURES if not kind.needs_results and kind.is_quick]
            self._of_papers += map(build_drawing_without_results, kinds)
        self._rendered: dict[str, str] = {}

    def _is_beside_table(self, drawing: Drawing) -> bool:
        """Return whether it summarizes a table: times are only next to times, as drawing them takes longest."""
        run = self._runs[drawing.run]
        if run.figure:
            return False
        compares_times = load_metric(run.metric).comparison == "ratio"
        return drawing.kind.beside_tables == "all" or (drawing.kind.beside_tables == "times" and compares_times)

    def render_all(self) -> None:
        """Draw all figures, on all cores where that is safe."""
        drawings = [*self._of_papers, *self._of_tables]
        if not drawings:
            return
        prefixes = (f"f{i}" for i in range(1, len(drawings) + 1))
        with apply_style():  # once: to change matplotlib's settings for each figure takes long
            elements = map_in_forks(_render, list(zip(drawings, prefixes, strict=True)))
        self._rendered = dict(zip((each.stem for each in drawings), elements, strict=True))

    def render_of_table(self, run: RunResult) -> str:
        """Return the figures that stand beside a run's table."""
        return "".join(self._rendered[drawing.stem] for drawing in self._of_tables if drawing.run == run.name)

    def render_all_of_papers(self) -> str:
        """Return the index of all figures, the papers' figures, and, once per run, how they were made."""
        if not self._of_papers and not self._of_tables:
            return ""
        return self._render_index() + "".join(self._render_of_papers())

    def _render_of_papers(self) -> Iterator[str]:
        following = [*(drawing.run for drawing in self._of_papers[1:]), None]
        for drawing, next_run in zip(self._of_papers, following, strict=False):
            heading = f"{escape(drawing.title)}{render_anchor(find_id(drawing), drawing.title)}"
            yield f"<h3>{heading}</h3>{self._rendered[drawing.stem]}"
            if drawing.run and drawing.run != next_run:
                yield provenance_html(self._runs[drawing.run])

    def _render_index(self) -> str:
        """Return links to all figures of the page, those of papers first."""
        groups = {"Of the papers": self._of_papers, "Beside tables": self._of_tables}
        lists = []
        for name, drawings in groups.items():
            links = [f'<li><a href="#{find_id(each)}">{escape(each.title)}</a></li>' for each in drawings]
            if links:
                lists.append(f"<h4>{name}</h4><ul>{''.join(links)}</ul>")
        return f'<div class="index"><h3 id="index-of-figures">Index of figures</h3>{"".join(lists)}</div>'


def _render(item: tuple[Drawing, str]) -> str:
    """Return a figure, a figure element for each of its pages; all ids in it begin with the prefix."""
    drawing, prefix = item
    try:
        pages = [
            _render_page(drawing, page, f"{prefix}-{number}" if number else prefix)
            for number, page in enumerate(drawing.draw_pages())
        ]
    except Exception as error:  # an error in one figure must not cost the page
        return f'<p class="note" id="{find_id(drawing)}">{escape(drawing.title)}: {escape(str(error))}</p>'
    caption = f"<figcaption>{escape(drawing.caption)}</figcaption>"
    name = f'id="{find_id(drawing)}" data-name="{escape(drawing.stem)}"'
    return f"<figure {name}>{''.join(pages)}{caption}</figure>"


def _render_page(drawing: Drawing, figure: Figure, prefix: str) -> str:
    named = render_svg(figure, prefix).replace(
        "<svg", f'<svg role="img" aria-label="{escape(drawing.title)}"', 1
    )
    return SIZE.sub(lambda side: f'{side[1]}="{float(side[2]) * SCREEN_SCALE:.0f}pt"', named, count=2)


def find_id(drawing: Drawing) -> str:
    """Return the address of a figure on the page."""
    return build_id(drawing.stem)
