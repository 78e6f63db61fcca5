"""What readers can save from the page without a server: tables as CSV and LaTeX, inside their links."""

from __future__ import annotations

import re
from base64 import b64encode

from zoloss_cli.reporting.render.html import escape
from zoloss_cli.reporting.render.render import render_tables
from zoloss_cli.reporting.tables import Table

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
