"""A group of commands that are imported when they are called: to list them, their summaries are enough."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, Literal

import typer
from typer.core import TyperCommand, TyperGroup

MARKUP: Literal["markdown"] = "markdown"
INTERRUPTED = 130  # the exit code that shells use


def load_command(name: str) -> Any:
    """Import a command and return it as the parser takes it.

    It is a function, or a group of further commands, of its own name in the module of its name.
    """
    command = getattr(importlib.import_module(f"zoloss_cli.cli.{name}"), name)
    if not isinstance(command, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
        single.command(name)(command)
        command = single
    return typer.main.get_command(command)


class LazyGroup(TyperGroup):
    """Commands that are known by their summaries until one of them is called or its options are completed.

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
        """Run the command; Ctrl-C that it does not answer itself ends it with a sentence."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("zoloss: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
