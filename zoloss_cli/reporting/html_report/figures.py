"""The figures of a page: those of the papers, and beside each table what sums it up."""

from __future__ import annotations

import re
from pathlib import Path

from zoloss_cli.registry import load_metric
from zoloss_cli.reporting.figures.catalog import Drawing, build_drawing_without_results, find_drawings
from zoloss_cli.reporting.figures.inline import render_svg
from zoloss_cli.reporting.figures.registry import FIGURES
from zoloss_cli.reporting.figures.style import list_drawing_faults
from zoloss_cli.reporting.html_report.provenance import provenance_html
from zoloss_cli.reporting.render.html import escape
from zoloss_cli.reporting.run_result import RunResult

SIZE = re.compile(r'(width|height)="([\d.]+)pt"')
SCREEN_SCALE = 1.4  # figures are made for a column on paper


class PageFigures:
    """What can be drawn of these runs in a few seconds, each drawn when asked for.

    Parameters
    ----------
    runs : list of RunResult
        The runs of the page.
    source : Path
        The results folder, for the commands.

    Notes
    -----
    Without matplotlib there are none; whoever asks for the page says so.
    """

    def __init__(self, runs: list[RunResult], source: Path):
        self._runs = {run.name: run for run in runs}
        drawings = [] if list_drawing_faults() else find_drawings(runs, source)
        self._of_tables = [d for d in drawings if self._is_beside_table(d)]
        self._of_papers = [d for d in drawings if self._runs[d.run].figure and d.kind.beside_tables == "none"]
        if self._of_papers:
            kinds = [kind for kind in FIGURES if not kind.needs_results]
            self._of_papers += map(build_drawing_without_results, kinds)
        self._n_drawn = 0

    def _is_beside_table(self, drawing: Drawing) -> bool:
        """Return whether it sums a table up: times stand beside times only, as drawing them takes longest."""
        run = self._runs[drawing.run]
        if run.figure:
            return False
        compares_times = load_metric(run.metric).comparison == "ratio"
        return drawing.kind.beside_tables == "all" or (drawing.kind.beside_tables == "times" and compares_times)

    def render_of_table(self, run: RunResult) -> str:
        """Return the figures that stand beside a run's table."""
        return "".join(self._render(drawing) for drawing in self._of_tables if drawing.run == run.name)

    def render_of_papers(self) -> str:
        """Return the papers' figures, and once for all figures of a run how it was made."""
        parts = []
        following = [*(drawing.run for drawing in self._of_papers[1:]), None]
        for drawing, next_run in zip(self._of_papers, following, strict=False):
            parts.append(f"<h3>{escape(drawing.title)}</h3>{self._render(drawing)}")
            if drawing.run and drawing.run != next_run:
                parts.append(provenance_html(self._runs[drawing.run]))
        return "".join(parts)

    def _render(self, drawing: Drawing) -> str:
        self._n_drawn += 1
        try:
            svg = render_svg(drawing.draw(), f"f{self._n_drawn}")
        except Exception as error:  # whatever is wrong with one figure must not cost the page
            return f'<p class="note">{escape(drawing.title)}: {escape(str(error))}</p>'
        named = svg.replace("<svg", f'<svg role="img" aria-label="{escape(drawing.title)}"', 1)
        larger = SIZE.sub(lambda side: f'{side[1]}="{float(side[2]) * SCREEN_SCALE:.0f}pt"', named, count=2)
        return f"<figure>{larger}<figcaption>{escape(drawing.caption)}</figcaption></figure>"
