"""The command `zoloss`: thin functions that only call. Heavy modules are imported by the commands."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated

import typer

from zoloss_cli import __version__
from zoloss_cli.cli import (
    complexity,
    data,
    describe,
    evaluating,
    fitting,
    plotting,
    reporting,
    running,
    showing,
)
from zoloss_cli.errors import ZolossError

app = typer.Typer(
    name="zoloss",
    help="Classifiers that minimize the 0/1 loss directly, and the tables of the papers that introduced them.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Start with: `zoloss run configs/table2.yaml --splits 20`, then `zoloss table results/`.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zoloss {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if debug:
        os.environ["ZOLOSS_DEBUG"] = "1"


app.command("fit")(fitting.fit)
app.command("predict")(fitting.predict)
app.command("evaluate")(evaluating.evaluate)
app.command("complexity")(complexity.complexity)
app.command("prune")(complexity.prune)
app.command("run")(running.run)
app.command("table")(showing.table)
app.command("compare")(showing.compare)
app.command("stats")(showing.stats)
app.command("plot")(plotting.plot)
app.command("report")(reporting.report)
app.command("status")(showing.status)
app.command("pools")(showing.pools)
app.command("validate")(describe.validate)
app.command("schema")(describe.schema)
app.command("learners")(describe.learners)
app.add_typer(data.app, name="datasets")


def _as_note(message, category, filename, lineno, line=None) -> str:
    where = f"{filename}:{lineno}: " if os.environ.get("ZOLOSS_DEBUG") else ""
    return f"zoloss: {where}{message}\n"


def main() -> None:
    """Entry point: the user's mistakes become one sentence and an exit code, warnings one sentence."""
    warnings.formatwarning = _as_note
    try:
        app(prog_name="zoloss")
    except ZolossError as mistake:
        if os.environ.get("ZOLOSS_DEBUG"):
            raise
        print("\n".join(f"zoloss: {line}" for line in str(mistake).splitlines()), file=sys.stderr)
        sys.exit(mistake.exit_code)
    except Exception as error:
        if os.environ.get("ZOLOSS_DEBUG"):
            raise
        print(
            f"zoloss: unexpected {type(error).__name__}: {error} (zoloss --debug ... shows where)",
            file=sys.stderr,
        )
        sys.exit(1)
