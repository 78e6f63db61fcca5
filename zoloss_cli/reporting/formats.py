"""Tables and comparisons as text, Markdown, LaTeX, CSV or HTML."""

from __future__ import annotations

import csv
import html
import io
import math

from tabulate import tabulate

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.reporting.choices import FORMATS
from zoloss_cli.reporting.compare import COLUMNS, Comparison
from zoloss_cli.reporting.metrics import BY_MATCH, BY_RATIO, BY_Z, KNOWN, decimals_of
from zoloss_cli.reporting.tables import CellText, TableView


def check_format(name: str) -> str:
    if name not in FORMATS:
        raise ConfigError(f"--format '{name}' is unknown{suggest_nearest(name, FORMATS)}")
    return name


# -- tables -------------------------------------------------------------------------------------------


def render_tables(views: list[TableView], format: str, bold_terminal: bool = False) -> str:
    if format == "latex":
        return latex_document([_latex_table(v) for v in views])
    if format == "csv":
        return _tables_csv(views)
    render = {"text": _text_table, "markdown": _markdown_table, "html": _html_table}[format]
    return "\n\n".join(render(v, bold_terminal) if format == "text" else render(v) for v in views)


def _grid(view: TableView, ours, printed, label) -> list[list[str]]:
    """Two lines a data set: ours, then the published numbers."""
    lines = []
    for row in view.rows:
        lines.append([label(row.dataset), *(ours(c) for c in row.ours)])
        if row.printed:
            lines.append([label("  published"), *(printed(c) for c in row.printed)])
    return lines


def number_text(cell: CellText, sign: str, star: str = "*") -> str:
    if cell.mean is None:
        return "–"
    text = f"{cell.mean:{'+' if cell.signed else ''}.{cell.decimals}f}"
    if float(text) == 0.0:
        text = text.lstrip("+-")
    spread = cell.stderr if cell.deviation is None else cell.deviation
    if spread is not None and not math.isnan(spread):
        text += f" {sign} {spread:.{cell.decimals}f}"
    return text + (star if cell.star else "")


def caption(view: TableView) -> str:
    state = "; incomplete" if view.incomplete else ""
    return f"{table_name(view.number)}. {view.title} ({view.splits}{state})"


def table_name(number: str) -> str:
    """A table's number as one says it; a run without a number has its own name."""
    return f"Table {number}" if number[:1].isdigit() or number.isupper() else number


def _text_table(view: TableView, bold_terminal: bool) -> str:
    mark = ("\x1b[1m{}\x1b[0m" if bold_terminal else "**{}**").format

    def cell(c: CellText) -> str:
        text = number_text(c, "±")
        return mark(text) if c.best else text

    lines = _grid(view, cell, lambda c: number_text(c, "±"), str)
    body = tabulate(lines, ["data set", *view.headings], tablefmt="simple", disable_numparse=True)
    note = "bold" if bold_terminal else "**"
    notes = [*([f"{note}: {view.bold}"] if view.bold else []), *view.notes]
    return f"{caption(view)}\n\n{body}\n" + "\n".join(f"({text})" for text in notes)


def _markdown_table(view: TableView) -> str:
    def number(c: CellText) -> str:
        return number_text(c, "±", r"\*")

    def cell(c: CellText) -> str:
        return f"**{number(c)}**" if c.best else number(c)

    lines = _grid(view, cell, lambda c: f"*{number(c)}*", str.strip)
    body = tabulate(lines, ["data set", *view.headings], tablefmt="github", disable_numparse=True)
    notes = "".join(f"\n\n{note[:1].replace('*', chr(92) + '*')}{note[1:]}" for note in view.notes)
    return f"**{caption(view)}**\n\n{body}{notes}"


def _html_table(view: TableView) -> str:
    def cell(c: CellText) -> str:
        text = html.escape(number_text(c, "±"))
        return f"<b>{text}</b>" if c.best else text

    lines = _grid(view, cell, lambda c: f"<i>{html.escape(number_text(c, '±'))}</i>", html.escape)
    header = ["data set", *(html.escape(c) for c in view.headings)]
    body = tabulate(lines, header, tablefmt="unsafehtml", disable_numparse=True)
    notes = "".join(f"\n<p>{html.escape(note)}</p>" for note in view.notes)
    return f"<h3>{html.escape(caption(view))}</h3>\n{body}{notes}"


def _latex_table(view: TableView) -> str:
    def number(c: CellText) -> str:
        return number_text(c, r"\pm", "^*").replace("–", r"\text{--}")

    def ours(c: CellText) -> str:
        return rf"$\mathbf{{{number(c)}}}$" if c.best else f"${number(c)}$"

    def printed(c: CellText) -> str:
        return rf"{{\small ${number(c)}$}}"

    def label(text: str) -> str:
        return r"\quad{\small\itshape published}" if text.startswith(" ") else escape_latex(text)

    lines = [" & ".join(line) + r" \\" for line in _grid(view, ours, printed, label)]
    header = " & ".join(["data set", *(escape_latex(c) for c in view.headings)]) + r" \\"
    return "\n".join(
        [
            r"\begin{table}[p]",
            r"\centering",
            rf"\caption{{{escape_latex(caption(view).partition('. ')[2])}}}",
            rf"\label{{tab:{view.number}}}",
            rf"\begin{{tabular}}{{l{'r' * len(view.columns)}}}",
            r"\toprule",
            header,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\smallskip{{\small {escape_latex(note)}}}" for note in view.notes),
            r"\end{table}",
        ]
    )


def latex_document(tables: list[str]) -> str:
    head = [
        r"\documentclass{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{amsmath}",
        r"\usepackage{booktabs}",
        r"\usepackage{longtable}",
        r"\usepackage[a4paper,landscape,margin=1cm]{geometry}",
        r"\begin{document}",
    ]
    return "\n".join([*head, *tables, r"\end{document}"])


def long_table(header: list[str], lines: list[list[str]], left: int) -> str:
    """A table that may run over pages, its first columns aligned to the left."""
    return "\n".join(
        [
            rf"\begin{{longtable}}{{{'l' * left}{'r' * (len(header) - left)}}}",
            r"\toprule",
            " & ".join(escape_latex(name) for name in header) + r" \\",
            r"\midrule",
            r"\endhead",
            *(" & ".join(escape_latex(value) for value in line) + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{longtable}",
        ]
    )


def escape_latex(text: str) -> str:
    text = text.replace("\\", "\0")
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    for character, command in (("\0", "textbackslash"), ("^", "textasciicircum"), ("~", "textasciitilde")):
        text = text.replace(character, rf"\{command}{{}}")
    return text.replace("±", r"$\pm$")


def _tables_csv(views: list[TableView]) -> str:
    lines = [
        [
            view.number,
            row.dataset,
            column.learner,
            column.metric,
            digits(ours.mean),
            digits(ours.stderr),
            int(ours.best),
            int(ours.star),
            ours.choice,
            digits(beside.mean),
            digits(beside.stderr),
            int(beside.star),
        ]
        for view in views
        for row in view.rows
        for column, ours, beside in zip(
            view.columns, row.ours, row.printed or [CellText(None)] * len(view.columns), strict=True
        )
    ]
    numbers = ["mean", "stderr", "best", "star", "choice", "published", "published_stderr", "published_star"]
    return csv_text(["table", "dataset", "learner", "metric", *numbers], lines)


# -- comparisons --------------------------------------------------------------------------------------


def render_comparison(rows: list[Comparison], format: str) -> str:
    if format == "csv":
        return csv_text(COLUMNS, [[digits(getattr(row, c)) for c in COLUMNS] for row in rows])
    marks = {
        BY_Z: lambda row: "" if row.compared != BY_Z and math.isnan(row.z) else f"{row.z:+.1f}",
        BY_MATCH: lambda row: row.match,
        BY_RATIO: lambda row: "" if row.ratio is None else f"{row.ratio:.2g}",
    }
    # A comparison of errors has no ratios, one of times no z.
    marks = {name: mark for name, mark in marks.items() if not rows or any(mark(row) for row in rows)}
    header = ["table", "data set", "learner", "ours", "published", "difference", *marks]
    lines = [
        [
            row.table,
            row.dataset,
            " ".join(filter(None, [row.learner, KNOWN[row.metric].heading])),
            our_number(row),
            printed_number(row),
            f"{row.difference:+.{_decimals(row)}f}",
            *(mark(row) for mark in marks.values()),
        ]
        for row in rows
    ]
    if format == "latex":
        return latex_document([long_table(header, lines, 3)])
    style = {"text": "simple", "markdown": "github", "html": "html"}[format]
    right = ("left",) * 3 + ("right",) * (len(header) - 3)
    return tabulate(lines, header, tablefmt=style, disable_numparse=True, colalign=right)


def our_number(row: Comparison) -> str:
    return number_text(CellText(row.mean, row.stderr, decimals=_decimals(row)), "±")


def printed_number(row: Comparison) -> str:
    decimals = 0 if row.compared == BY_MATCH and not row.to_the_digit else KNOWN[row.metric].decimals
    return number_text(CellText(row.published, row.published_stderr, decimals=decimals), "±")


def _decimals(row: Comparison) -> int:
    """As in a table, but iterations by the hundredth, since they are compared by z."""
    return KNOWN[row.metric].decimals if row.compared == BY_Z else decimals_of(row.metric, row.mean, row.splits)


def digits(value) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def csv_text(header, lines) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return out.getvalue().rstrip("\n")
