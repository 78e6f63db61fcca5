"""zoloss table, compare, stats, status, pools"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion

RESULTS = typer.Argument(help="Results folder.", show_default=True)
FORMAT = typer.Option(
    "--format", "-f", help="text, markdown, latex, csv or html.", autocompletion=completion.format
)
TABLE = typer.Option(
    "--table",
    "-t",
    help="Only this table: its number (II) or the run's name.",
    autocompletion=completion.table,
)


def table(
    results: Annotated[Path, RESULTS] = Path("results"),
    format: Annotated[str, FORMAT] = "text",
    table: Annotated[str | None, TABLE] = None,
) -> None:
    """Print mean ± standard error tables as in the papers, best cells in bold, beside the published numbers.

    **Examples**

    `zoloss table results/`

    `zoloss table results/reference --table II --format latex > table2.tex`
    """
    from zoloss_cli.reporting.formats import check_format, render_tables
    from zoloss_cli.reporting.results import choose, load_results
    from zoloss_cli.reporting.tables import make_table

    check_format(format)
    runs, store = load_results(results, table)
    shown = [r for r in choose(runs, table) if table or not r.published.get("figure")]
    views = [view for view in (make_table(run, runs) for run in shown) if view.rows]
    show_notes(store)
    typer.echo(render_tables(views, format, bold_terminal=sys.stdout.isatty()))


def compare(
    results: Annotated[Path, RESULTS] = Path("results"),
    format: Annotated[str, FORMAT] = "text",
    table: Annotated[str | None, TABLE] = None,
    beyond: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="List only cells with |z| above this, worse losses, slower times; the summary counts all.",
        ),
    ] = None,
) -> None:
    """Compare every cell with the published one: ours, printed, difference, and z, match or ratio.

    z divides the difference by the joint standard error: both sides' errors over splits, the rounding of
    the printed number, and the variance from pool to pool of generated sets and from draw to draw of noise
    on either side. Iterations are printed without an error; 5 % stands for it. Counts of training errors
    match (=) or are better or worse; over several draws z says whether print could be one more of them.
    Seconds are compared by the ratio of ours to print's.

    **Examples**

    `zoloss compare results/reference`

    `zoloss compare results/ --beyond 2`: the cells that are off

    `zoloss compare results/ --format csv > cells.csv`
    """
    from zoloss_cli.reporting.compare import compare_run, distinct, missing_pools, star_differences
    from zoloss_cli.reporting.formats import check_format, render_comparison
    from zoloss_cli.reporting.published.cells import printed_name
    from zoloss_cli.reporting.published.remarks import remark_lines
    from zoloss_cli.reporting.results import baseline_of, choose, load_results
    from zoloss_cli.reporting.summary import summary_lines

    check_format(format)
    runs, store = load_results(results, table)
    chosen = choose(runs, table)
    by_run = [(run, rows) for run in chosen if (rows := compare_run(run))]
    rows = [row for _, part in by_run for row in part]
    show_notes(store)
    if not rows:
        from zoloss_cli.errors import ResultsError

        raise ResultsError(f"nothing in {results} mirrors a published table")
    shown = rows if beyond is None else [row for row in rows if row.beyond(beyond)]
    if shown or format == "csv":
        typer.echo(render_comparison(shown, format))
    # A table format's output is a document of its own: the summary must not get into it.
    to_stderr = format in ("csv", "latex", "html")
    for line in remark_lines([row for row in shown if row.beyond(2)]):
        typer.echo(line, err=to_stderr)
    typer.echo("", err=to_stderr)
    for run, part in by_run:
        for line in summary_lines(part):
            typer.echo(f"{printed_name(run.published)}: {line}", err=to_stderr)
        if baseline_of(run, runs):
            same, differ = star_differences(run, runs)
            typer.echo(f"table {run.table}, stars: {same} cells as printed; {_listed(differ)}", err=to_stderr)
    if len(by_run) > 1:
        for line in summary_lines(distinct(rows)):
            typer.echo(f"all distinct: {line}", err=to_stderr)
    if missing := missing_pools(chosen):
        typer.echo(f"pool variance not measured for {', '.join(missing)}: their z is too large", err=to_stderr)


def stats(
    results: Annotated[Path, RESULTS] = Path("results"),
    format: Annotated[str, FORMAT] = "text",
    table: Annotated[str | None, TABLE] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Compare with this learner instead of each data set's best.", autocompletion=completion.learner
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="What p must not exceed for a difference.")] = 0.05,
) -> None:
    """Test which differences between learners could be luck, on each data set and across them.

    On a data set: the corrected resampled t-test of Nadeau & Bengio (2003), on the splits that two learners
    share. Across data sets, by their means (Demšar 2006): average ranks with Friedman's test and Nemenyi's
    critical difference, and Wilcoxon's signed-rank test of all pairs with Holm's correction. CSV holds every
    pair of learners, a row each.

    **Examples**

    `zoloss stats results/reference --table IV`

    `zoloss stats results/ --against rcd-bias --alpha 0.01`

    `zoloss stats results/ --format csv > tests.csv`
    """
    from zoloss_cli.errors import ConfigError, ResultsError
    from zoloss_cli.reporting.formats import check_format
    from zoloss_cli.reporting.results import choose, load_results
    from zoloss_cli.reporting.statistics import check_comparable
    from zoloss_cli.reporting.statistics_view import render_statistics

    check_format(format)
    if not 0.0 < alpha < 1.0:
        raise ConfigError(f"--alpha: must be between 0 and 1, both excluded (got {alpha:g})")
    runs, store = load_results(results, table)
    show_notes(store)
    shown, reasons = [], []
    for run in [r for r in choose(runs, table) if table or not r.published.get("figure")]:
        try:
            check_comparable(run, against)
            shown.append(run)
        except ResultsError as error:
            reasons.append(str(error))
    if not shown:
        raise ResultsError("\n".join(reasons) or f"{results} holds no runs")
    typer.echo(render_statistics(shown, format, alpha, against))


def status(results: Annotated[Path, RESULTS] = Path("results")) -> None:
    """Show what a results folder holds: runs, how complete they are, what failed.

    **Example:** `zoloss status results/reference`
    """
    from tabulate import tabulate

    from zoloss_cli.reporting.results import load_results

    runs, store = load_results(results)
    lines, used = [], set()
    for run in runs:
        used |= {cell["file"] for cell in run.manifest["cells"]}
        wanted = run.planned
        state = "complete" if run.units >= wanted else f"{100 * run.units / wanted:.0f} %"
        mirrors = f"{run.published['paper']} {run.table or run.published['figure']}" if run.published else ""
        lines.append(
            [
                run.name,
                mirrors,
                f"{len(run.cells)}/{run.places}",
                f"{run.units:,}/{wanted:,}",
                state,
                run.failed,
                run.manifest["runs"][-1]["finished"][:16] if run.manifest["runs"] else "by other runs",
            ]
        )
    header = ["run", "mirrors", "cells", "units", "state", "failed", "last run"]
    typer.echo(tabulate(lines, header, tablefmt="simple", disable_numparse=True))
    files = {p.name for p in (store.folder / "cells").glob("*.jsonl")}
    if other := files - used:
        typer.echo(f"\n{len(other)} cell files belong to no run here (earlier versions or settings)")
    show_notes(store)


def pools(results: Annotated[Path, RESULTS] = Path("results")) -> None:
    """Print how much mean errors move between generated pools, as the CSV that `compare` uses.

    **Example:** `zoloss run configs/pools.yaml && zoloss pools results/`
    """
    import csv

    from zoloss_cli.reporting.pools import pool_deviations
    from zoloss_cli.reporting.published.cells import POOL_SD_COLUMNS
    from zoloss_cli.reporting.results import load_results

    runs, store = load_results(results)
    show_notes(store)
    writer = csv.DictWriter(sys.stdout, POOL_SD_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(pool_deviations(runs))


def _listed(differ: list[str]) -> str:
    return f"{len(differ)} differ: {', '.join(differ)}" if differ else "none differs"


def show_notes(store) -> None:
    for note in store.notes:
        typer.echo(f"zoloss: {note}", err=True)
