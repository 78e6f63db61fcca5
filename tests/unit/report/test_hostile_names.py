"""Names that are commands to a terminal, a browser, LaTeX or a spreadsheet: each format shows them as text."""

from __future__ import annotations

import csv
import io
import re

import pytest

from zoloss_cli.choices import FORMATS
from zoloss_cli.report.render import Grid, guard_cell, load_renderer, render_tables
from zoloss_cli.report.tables import Table, TableCell, TableColumn, TableRow

HOSTILE = {
    "terminal": "a\x1b]0;title\x07\x9b2J\r\x00\x7f",
    "direction": "a\u202eb\u2066c\u200f\u061cd\u2028e",
    "html": "<script>alert(1)</script><img src=x onerror=y>",
    "link": r"a\[b](javascript:c)[d](e)![f](g)",
    "latex": r"a}\input{evil}\write18{evil}^^5cinput{evil}",
    "formula": '=HYPERLINK("http://e.invalid","x")',
}
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def render_everywhere(name: str, format: str) -> str:
    """A table and a grid whose every text is the name."""
    rows = [TableRow(name, [TableCell(1.0, 0.5, best=True)], [TableCell(-2.0)])]
    table = Table(name, name, [TableColumn(name, "test_error", name)], rows, name, False, name, [name])
    text = render_tables([table], format)
    if format == "csv":
        return text
    renderer = load_renderer(format)
    grid = Grid(name, [name, name], [[name, name]], 1, [name])
    return "\n".join([text, renderer.render_grid(grid), renderer.render_heading(name)])


def test_no_format_has_control_characters():
    for name in HOSTILE.values():
        for format in FORMATS:
            assert not ACTIVE.search(render_everywhere(name, format)), (name, format)


def test_bold_on_a_terminal_is_the_only_escape():
    rows = [TableRow("\x1b[31m", [TableCell(1.0, best=True)], [])]
    table = Table("a", "\x1b", [TableColumn("b", "test_error", "\x9b")], rows, "", False, "", [])
    shown = render_tables([table], "text", terminal=True)
    assert not ACTIVE.search(shown.replace("\x1b[1m", "").replace("\x1b[0m", ""))
    assert r"\x1b[31m" in shown
    assert r"\u009b" in shown


def test_latex_has_no_command_of_a_name():
    text = render_everywhere(HOSTILE["latex"], "latex")
    assert r"\input" not in text
    assert r"\write" not in text
    assert "^^" not in text
    assert r"\label{tab:a-input-evil-write18-evil-5cinput-evil-}" in text
    assert load_renderer("latex").escape("a_b\\c\n") == r"a\_b\textbackslash{}c\textbackslash{}x0a"


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_pages_have_no_element_of_a_name(format):
    text = render_everywhere(HOSTILE["html"], format)
    assert "<script" not in text
    assert "</script" not in text
    assert "<img" not in text


def test_markdown_has_no_link_code_or_cell_of_a_name():
    assert load_renderer("markdown").escape(r"a\[b](c)") == r"a\\\[b](c)"
    assert load_renderer("markdown").escape("`a` | *b* <= c") == r"\`a\` \| \*b\* <= c"
    assert not re.search(r"(?<!\\)(\\\\)*\[", render_everywhere(HOSTILE["link"], "markdown"))


def test_csv_has_no_formula_of_a_name():
    name = HOSTILE["formula"]
    _, line = csv.reader(io.StringIO(render_everywhere(name, "csv")))
    assert line[:3] == ["'" + name] * 3
    assert "-2" in line


def test_what_starts_like_a_formula_gets_an_apostrophe_and_numbers_and_signs_do_not():
    for text in ("=1+1", "+a", "-a", "@SUM(a)", "\ta", "-1+cmd|' /C calc'!A0", "--1", "+1_0"):
        assert guard_cell(text) == "'" + text
    for cell in ("-1", "+1", "-0.5", "1e-05", "-inf", "nan", "", "+", "-", "a=b", -1.5, 3):
        assert guard_cell(cell) == cell
