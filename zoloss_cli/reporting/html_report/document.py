"""The frame of the page: its head, navigation, panels, style sheet and scripts, in one HTML document."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from zoloss_cli import __version__
from zoloss_cli.reporting.render.html import escape
from zoloss_cli.reporting.run_result import RunResult

HERE = Path(__file__).parent
SCRIPTS = "page.js", "details.js"


@dataclass(frozen=True)
class Panel:
    """A part of the page that its navigation switches to.

    Attributes
    ----------
    group : str
        The text before its link, such as the paper.
    title : str
        The text of the link.
    heading : str
        The heading above it.
    body : str
        Its HTML.
    """

    group: str
    title: str
    heading: str
    body: str

    @property
    def id(self) -> str:
        """Return its address: readable, and different for every name."""
        return build_id(f"{self.group} {self.title}".strip())


def build_id(name: str) -> str:
    """Return the address for a name: readable, and different for every name."""
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
    return slug if re.fullmatch(r"[A-Za-z0-9.&'() -]+", name) else f"{slug}-{zlib.crc32(name.encode()):08x}"


def render_anchor(id: str, what: str) -> str:
    """Return the symbol next to a heading that links to what is below it."""
    return f'<a class="anchor" href="#{id}" aria-label="Link to {escape(what)}"></a>'


def render_document(panels: list[Panel], source: Path, runs: list[RunResult]) -> str:
    """Return the page with these panels: one self-contained HTML document."""
    newest = max((info.finished for run in runs for info in run.manifest.runs), default="")
    groups: dict[str, list[Panel]] = {}
    for panel in panels:
        groups.setdefault(panel.group, []).append(panel)
    links = "".join(
        f"<li>{f'<span>{escape(group)}</span>' if group else ''}"
        + "".join(f'<a href="#{p.id}">{escape(p.title)}</a>' for p in part)
        + "</li>"
        for group, part in groups.items()
    )
    sections = "\n".join(
        f'<section id="{p.id}"><h2>{escape(p.heading)}{render_anchor(p.id, p.title)}</h2>\n{p.body}\n</section>'
        for p in panels
    )
    return PAGE.format(
        title=escape(f"zoloss: {source}"),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        script="".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
        source=escape(str(source)),
        origin=escape(f"made by zoloss {__version__}" + (f"; newest result {newest[:10]}" if newest else "")),
        links=links,
        sections=sections,
    )


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<h1>Results in {source}</h1>
<p>{origin}</p>
</header>
<nav aria-label="Tables and figures"><ul>{links}</ul></nav>
<form class="filters" role="search" hidden>
<label>data set <input name="datasets" type="search" placeholder="heart, sonar"></label>
<label>learner <input name="learners" type="search" placeholder="rcd, svm"></label>
<label><input name="different" type="checkbox"> only cells that differ</label>
<output name="count"></output>
</form>
<main id="main" tabindex="-1">
{sections}
</main>
<dialog id="detail" aria-labelledby="detail-title">
<header><h2 id="detail-title"></h2><button type="button" class="close">Close</button></header>
<div class="content"></div>
</dialog>
<div id="tip" role="status" hidden></div>
<script>
{script}</script>
</body>
</html>
"""
