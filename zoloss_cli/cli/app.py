"""A group of commands that are imported only when called: their summaries suffice to list them."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import warnings
from typing import Annotated, Any, ClassVar, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from zoloss_cli import __version__
from zoloss_cli.errors import OutputError, ZolossError
from zoloss_cli.utils.interrupt import has_abandoned_threads
from zoloss_cli.utils.text import show_controls, show_notices_by

MARKUP: Literal["markdown"] = "markdown"
INTERRUPTED = 130  # the exit code that shells use


class FlagsWithoutType:
    """Show no type next to an option without a value: `--force`, not `--force <bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with an empty value name for flags."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class PlainCommand(FlagsWithoutType, TyperCommand):
    """A command whose flags are shown without a type."""


class PlainGroup(FlagsWithoutType, TyperGroup):
    """A group of commands whose flags are shown without a type."""


def load_command(name: str) -> Any:
    """Import a command and return it in the form that the parser takes.

    It is a function, or a group of further commands, with the same name as its module.
    """
    command = getattr(importlib.import_module(f"zoloss_cli.cli.{name}"), name)
    if not isinstance(command, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
        single.command(name, cls=PlainCommand)(command)
        command = single
    return typer.main.get_command(command)


class LazyGroup(PlainGroup):
    """Commands known only by their summaries until one is called or its options are completed.

    Attributes
    ----------
    summaries : dict of str to str
        The first line of each command's docstring, by the command's name.
    """

    summaries: ClassVar[dict[str, str]]

    def __init__(self, **settings: Any):
        commands = {name: TyperCommand(name, help=summary) for name, summary in self.summaries.items()}
        super().__init__(**settings | {"commands": commands})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the first word names, and import it."""
        name, summary, rest = super().resolve_command(ctx, args)
        return name, summary and load_command(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C that it does not handle ends it with a sentence."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("zoloss: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


OUTPUT_CLOSED = 141  # what shells report for a program whose reader is gone
GARBAGE_COLLECTION_THRESHOLD = 500_000  # new objects between two garbage collections
# A command is a function with the same name as its module; its summary is the function's first line.
COMMANDS = {
    "fit": "Fit a learner to your data: errors, a lower bound, and the rule in the table's own units.",
    "verify": "Verify a certificate of the fewest errors against a table, in integer arithmetic.",
    "path": "Show how the error of scoring systems falls with their size on your data, and suggest a size.",
    "predict": "Predict new samples with a saved model: CSV with the columns prediction and score.",
    "evaluate": "Compare learners on your data: test errors, and which differences are significant.",
    "complexity": "Measure how complex your data are, and find the rows that look like noise.",
    "prune": "Write a copy of your data without the rows that look like noise, and a report on those rows.",
    "run": "Run an experiment; an interrupted run continues where it stopped.",
    "table": "Show tables of mean ± standard error as in the papers, beside the published values.",
    "compare": "Compare every cell with its published value: both, their difference, and z, match or ratio.",
    "stats": "Test which differences between learners are significant, within and across data sets.",
    "plot": "Draw the papers' figures and others from results; without --figure, list what is available.",
    "report": "Write a self-contained HTML page: tables beside published values, figures, cells that differ.",
    "status": "Show what a results folder contains: runs, how complete they are, and which tasks failed.",
    "export": "Export all records of a results folder as one table, CSV or Parquet, with one row per record.",
    "merge": "Merge results folders into a new one: shards of one run, or runs from several machines.",
    "diff": "List the cells that differ between two results folders, with paired tests.",
    "show": "Rerun one stored task: show its record and rule, and whether they match what is stored.",
    "warmup": "Compile the kernels of learners now, so that their first fit does not have to wait.",
    "validate": "Validate configs without running them; every mistake is reported with file, line and key.",
    "schema": "Show the JSON schema of configs, for editors.",
    "learners": "List the learners and measures, or describe one: parameters, defaults and source.",
    "datasets": "List all data sets and generators: samples, features, classes and source.",
}


class ZolossGroup(LazyGroup):
    """The commands of zoloss."""

    summaries = COMMANDS


app = typer.Typer(
    name="zoloss",
    cls=ZolossGroup,
    help="Classifiers that minimize the 0/1 loss directly, and the tables of the papers that introduced them.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=MARKUP,
    epilog="Start with: `zoloss run configs/table2.yaml --splits 20`, then `zoloss table results/`.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zoloss {__version__}")
        raise typer.Exit


@app.callback()
def _set_options(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if debug:
        os.environ["ZOLOSS_DEBUG"] = "1"


def _format_warning(message, category, filename, lineno, line=None) -> str:
    where = f"{filename}:{lineno}: " if os.environ.get("ZOLOSS_DEBUG") else ""
    return show_controls(f"zoloss: {where}{message}\n")


def _show_notice(text: str) -> None:
    print(show_controls(f"zoloss: {text}"), file=sys.stderr, flush=True)


def main() -> None:
    """Run the command line: user errors become one sentence and an exit code, warnings one sentence."""
    warnings.formatwarning = _format_warning
    show_notices_by(_show_notice)
    # Imports and records make hundreds of thousands of objects and hardly any garbage: collecting it as
    # often as Python does by default takes a tenth of a short command's time.
    gc.set_threshold(GARBAGE_COLLECTION_THRESHOLD)
    try:
        _run_app()
    except SystemExit as end:
        if has_abandoned_threads():  # a solver cut off by Python's exit aborts the process
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code if isinstance(end.code, int) else int(bool(end.code)))
        raise


def _run_app() -> None:
    try:
        try:
            app(prog_name="zoloss")
        finally:
            sys.stdout.flush()  # here, where a full disk can still be reported
    except ZolossError as mistake:
        if os.environ.get("ZOLOSS_DEBUG"):
            raise
        print(
            "\n".join(f"zoloss: {line}" for line in show_controls(str(mistake)).splitlines()), file=sys.stderr
        )
        sys.exit(mistake.exit_code)
    except BrokenPipeError:  # the reader, such as head, has read enough
        _drop_output()
        sys.exit(OUTPUT_CLOSED)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # the parser noticed it and exits with 1
            _drop_output()
            sys.exit(OUTPUT_CLOSED)
        raise
    except OSError as error:
        if os.environ.get("ZOLOSS_DEBUG"):
            raise
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        fault = _find_folder_fault() or f"{where}{error.strerror or error}"
        print(show_controls(f"zoloss: {fault}"), file=sys.stderr)
        _drop_output()
        sys.exit(OutputError.exit_code)
    except Exception as error:
        if os.environ.get("ZOLOSS_DEBUG"):
            raise
        unexpected = f"unexpected {type(error).__name__}: {error} (zoloss --debug ... shows where)"
        print(show_controls(f"zoloss: {_find_folder_fault() or unexpected}"), file=sys.stderr)
        sys.exit(1)


def _drop_output() -> None:
    """Discard the remaining output, so that Python does not fail again at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def _find_folder_fault() -> str:
    """Return what is wrong with the working folder, which Python and packages need; empty if nothing is."""
    try:
        os.getcwd()
    except OSError as error:
        return f"the working folder cannot be used ({error.strerror}); change to another one"
    return ""
