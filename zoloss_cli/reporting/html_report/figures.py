"""The figures of a page: those of the papers, and for each table what sums it up."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from zoloss_cli.reporting.figures.catalog import KINDS, Drawing, available, to_svg, without_results
from zoloss_cli.reporting.html_report.provenance import made_html
from zoloss_cli.reporting.metrics import BY_RATIO, KNOWN
from zoloss_cli.reporting.results import RunResult

SIZE = re.compile(r'(width|height)="([\d.]+)pt"')
ON_SCREEN = 1.4  # figures are made for a column in print


class Figures:
    """What can be drawn of these runs in a few seconds, each drawn when asked for."""

    def __init__(self, runs: list[RunResult], source: Path):
        drawings = available(runs, source)
        tables = {run.name: run for run in runs if not run.published.get("figure")}
        self._of_table = [d for d in drawings if d.run in tables and _sums_up(d, tables[d.run])]
        self._of_papers = [d for d in drawings if d.run not in tables and d.name not in ("ranks", "time")]
        if self._of_papers:
            self._of_papers += [without_results(kind) for kind in KINDS if kind.suits is None]
        self._runs = {run.name: run for run in runs}
        self._drawn = 0

    def of_table(self, run: RunResult) -> str:
        return "".join(self._html(d) for d in self._of_table if d.run == run.name)

    def of_papers(self) -> str:
        parts = []
        following = [*(drawing.run for drawing in self._of_papers[1:]), None]
        for drawing, next_run in zip(self._of_papers, following, strict=False):
            parts.append(f"<h3>{escape(drawing.title)}</h3>{self._html(drawing)}")
            if drawing.run and drawing.run != next_run:  # once for all figures of a run
                parts.append(made_html(self._runs[drawing.run]))
        return "".join(parts)

    def _html(self, drawing: Drawing) -> str:
        self._drawn += 1
        try:
            svg = to_svg(drawing.draw(), f"f{self._drawn}")
        except Exception as error:  # whatever is wrong with one figure must not cost the page
            return f'<p class="note">{escape(drawing.title)}: {escape(str(error))}</p>'
        named = svg.replace("<svg", f'<svg role="img" aria-label="{escape(drawing.title)}"', 1)
        larger = SIZE.sub(lambda side: f'{side[1]}="{float(side[2]) * ON_SCREEN:.0f}pt"', named, count=2)
        return f"<figure>{larger}<figcaption>{escape(drawing.caption)}</figcaption></figure>"


def _sums_up(drawing: Drawing, run: RunResult) -> bool:
    """Ranks beside errors; times beside times, since drawing them takes longest."""
    return drawing.name == "ranks" or (drawing.name == "time" and KNOWN[run.metric].compared == BY_RATIO)
