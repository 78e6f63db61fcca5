"""The program: its commands, error handling and exit codes."""

from __future__ import annotations

import contextlib
import gc
import importlib
import inspect
import os
import shlex
import sys
import warnings
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from zoloss_cli import __version__
from zoloss_cli.errors import DataError, OutputError, ZolossError
from zoloss_cli.utils.text import list_options, show_controls, show_notices_by

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


def import_command(name: str) -> Any:
    """Import a command: a function, or a group of subcommands, with the same name as its module."""
    return getattr(importlib.import_module(f"zoloss_cli.cli.{name}"), name)


def load_command(name: str) -> Any:
    """Import a command and return it as a Click command."""
    command = import_command(name)
    if not isinstance(command, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
        single.command(name, cls=PlainCommand)(command)
        command = single
    return typer.main.get_command(command)


OUTPUT_CLOSED = 141  # the exit code of shells for a broken pipe
GARBAGE_COLLECTION_THRESHOLD = 500_000  # new objects between two garbage collections
COMMANDS = (  # each a module of this folder with a function of the same name, in the order of help
    *("fit", "verify", "path", "predict", "evaluate", "complexity", "prune"),
    *("run", "table", "compare", "stats", "plot", "report", "status", "export", "merge", "diff", "show"),
    *("warmup", "validate", "schema", "learners", "datasets"),
)
MAX_COMMAND_CHARACTERS = 4_000  # of a command to paste
TABLE_COMMANDS = ("fit", "path", "evaluate", "complexity", "prune")  # with options to read a table


class ZolossGroup(PlainGroup):
    """The commands of zoloss, each imported when it is called, completed or listed."""

    def __init__(self, **settings: Any):
        super().__init__(**settings | {"commands": dict.fromkeys(COMMANDS)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command with its help, but without options, which take longer; None if it is unknown."""
        if cmd_name not in COMMANDS:
            return None
        found = import_command(cmd_name)
        group = getattr(found, "registered_callback", None)
        return TyperCommand(cmd_name, help=inspect.getdoc(group.callback if group else found))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called or completed, with its options."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load_command(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C that it does not handle ends it with a message."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("zoloss: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


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


def _is_debugging() -> bool:
    return bool(os.environ.get("ZOLOSS_DEBUG"))


def _format_warning(message, category, filename, lineno, line=None) -> str:
    where = f"{filename}:{lineno}: " if _is_debugging() else ""
    return show_controls(f"zoloss: {where}{message}\n")


def _show_notice(text: str) -> None:
    print(show_controls(f"zoloss: {text}"), file=sys.stderr, flush=True)


def main() -> None:
    """Run the command line: user errors become a message and an exit code, warnings a message."""
    warnings.formatwarning = _format_warning
    show_notices_by(_show_notice)
    # Imports and records create hundreds of thousands of objects and hardly any garbage: garbage collection at
    # Python's default threshold takes a tenth of a short command's time.
    gc.set_threshold(GARBAGE_COLLECTION_THRESHOLD)
    try:
        _run_app()
    except SystemExit as end:
        processes = sys.modules.get("zoloss_cli.utils.processes")
        # A solver thread would abort at interpreter shutdown.
        if processes and processes.has_abandoned_threads():
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
    except BrokenPipeError:  # the reader, such as head, has read enough
        _drop_output()
        sys.exit(OUTPUT_CLOSED)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # the parser caught it and exits with 1
            _drop_output()
            sys.exit(OUTPUT_CLOSED)
        raise
    except Exception as error:
        if _is_debugging():
            raise
        message, code = _describe_error(error)
        for line in show_controls(message).splitlines():
            print(f"zoloss: {line}", file=sys.stderr)
        if isinstance(error, OSError):
            _drop_output()
        sys.exit(code)


def _describe_error(error: Exception) -> tuple[str, int]:
    """Return the message about an error, and the exit code."""
    if isinstance(error, DataError) and error.advice and sys.argv[1] in TABLE_COMMANDS:
        command = shlex.join(["zoloss", *sys.argv[1:], *list_options(error.options)])
        if command.isprintable() and len(command) <= MAX_COMMAND_CHARACTERS:
            return f"{error}\n{error.advice}: {command}", error.exit_code
    if isinstance(error, ZolossError):
        return str(error), error.exit_code
    folder_fault = _find_folder_fault()
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return folder_fault or f"{where}{error.strerror or error}", OutputError.exit_code
    return folder_fault or f"unexpected {type(error).__name__}: {error} (zoloss --debug ... shows where)", 1


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
