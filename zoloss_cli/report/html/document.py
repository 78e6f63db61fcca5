"""The frame of the page: its head, navigation, panels, style sheet and scripts, in one HTML document."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoloss_cli import __version__
from zoloss_cli.config.models import Experiment
from zoloss_cli.report.html.tables import Z_ALERT, Z_WARN
from zoloss_cli.report.render.html import escape
from zoloss_cli.report.render.render import render_tables
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.tables import Table
from zoloss_cli.results.manifest import RunInfo

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


ALWAYS = {
    "a number": "The mean over splits ± its standard error, or a count on the whole set; the heading of each "
    "table says which. What bold means stands under the table.",
    "a data set's name": "Click it for box plots and the value of every split. A heading sorts its column; the "
    "fields over a table filter rows and columns.",
}
OF_PUBLISHED = {
    "published": "A number from a paper. It stands below ours, in italics. Where a choice that the "
    "paper leaves open was made by how near ours comes, the cell is called fitted and is counted apart, as are "
    "cells on other data and cells too uncertain for a test. What the choices are stands under each table.",
    "z": "For errors, z is the difference divided by its standard error: ours minus published, over the "
    f"standard error of both together. Chance alone gives |z| up to {Z_WARN:g} in about 95 % of cells; z = +1 "
    "means that ours is higher by one standard error.",
    "a coloured cell": f"|z| is beyond {Z_WARN:g}, or beyond {Z_ALERT:g} where the colour is darker; the small "
    "raised number is z. What is known of the reasons is under “Cells that differ, and why”.",
    "losses and times": "Losses are counts: they are equal, lower (better) or higher. Times are compared by "
    "their ratio, ours over published: the machines are not the same.",
}


def explain_page(has_published: bool) -> str:
    """Return the explanations as HTML; those of published values only if there are any."""
    items = ALWAYS | (OF_PUBLISHED if has_published else {})
    body = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in items.items())
    return f'<div class="reading"><h3>How to read this page</h3><dl>{body}</dl></div>'


def provenance_html(run: RunResult) -> str:
    """Return what is known about how a run was made, with its resolved config, in a collapsed section."""
    runs = run.manifest.runs
    failed = f", {run.n_failed:,} failed" if run.n_failed else ""
    items: list[tuple[str, Any]] = [
        ("command", run.manifest.command()),
        ("seed", run.experiment.split.seed),
        ("tasks", f"{run.n_tasks:,}{failed}"),
    ]
    if runs:
        duration = _format_duration(sum(info.seconds for info in runs))
        items += [
            ("time", f"{duration} in {len(runs)} run{'s' * (len(runs) > 1)}, {_format_jobs(runs)}"),
            ("finished", runs[-1].finished),
            ("versions", _format_versions(runs[-1])),
        ]
    else:
        items.append(("time", "none: other runs had computed all of its tasks"))
    rows = "".join(f"<dt>{key}</dt><dd>{escape(str(value))}</dd>" for key, value in items)
    return (
        f'<details class="made"><summary>How it was made</summary><dl>{rows}</dl>'
        f"<pre>{escape(format_config(run.experiment))}</pre></details>"
    )


def format_config(experiment: Experiment) -> str:
    """Return the resolved config as YAML, without unset keys."""
    import yaml

    content = experiment.model_dump(mode="json", exclude={"name", "title", "citation"})
    content["datasets"] = {d["name"]: {k: v for k, v in d.items() if k != "name"} for d in content["datasets"]}
    kept = _drop_empty(content)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # libyaml's, if PyYAML has it: a tenth of the time
    return yaml.dump(
        kept, None, dumper, sort_keys=False, default_flow_style=None, width=100, allow_unicode=True
    )


def _drop_empty(value: Any) -> Any:
    """Return a value without empty keys; lists of pairs, as in settings, become mappings."""
    if isinstance(value, dict):
        return {k: _drop_empty(v) for k, v in value.items() if v not in (None, "", [], {})}
    if isinstance(value, list):
        if value and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in value):
            return {k: _drop_empty(v) for k, v in value}
        return [_drop_empty(v) for v in value]
    return value


def _format_duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _format_jobs(runs: list[RunInfo]) -> str:
    jobs = sorted({info.jobs for info in runs})
    return f"{' or '.join(map(str, jobs))} process{'es' * (jobs != [1])}"


def _format_versions(info: RunInfo) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in info.packages.items())
    return f"zoloss {info.zoloss}, Python {info.python} on {info.platform}; {packages}"


TYPES = {"csv": "text/csv", "tex": "application/x-tex"}


def render_download(label: str, name: str, content: str) -> str:
    """Return a link that saves a text as a file.

    Parameters
    ----------
    label : str
        The text on it.
    name : str
        The file name, whose extension gives the type.
    content : str
        The text.

    Returns
    -------
    str
        The link element; it works without a script.
    """
    data = b64encode(f"{content}\n".encode()).decode()
    kind = TYPES[name.rpartition(".")[2]]
    return (
        f'<a class="button" download="{escape(name)}" href="data:{kind};charset=utf-8;base64,{data}">'
        f'{escape(label)}<span class="hidden"> of {escape(name)}</span></a>'
    )


def render_table_downloads(table: Table, name: str) -> str:
    """Return the links for a table; the page's script adds one for the values of all splits."""
    stem = build_file_stem(name)
    links = [
        render_download("CSV", f"{stem}.csv", render_tables([table], "csv")),
        render_download("LaTeX", f"{stem}.tex", render_tables([table], "latex")),
    ]
    return f'<p class="tools">{"".join(links)}</p>'


def build_file_stem(name: str) -> str:
    """Return a name without characters that a file system may reject."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "table"
