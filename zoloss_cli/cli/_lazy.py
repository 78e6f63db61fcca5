"""A group of commands that are imported only when called: their summaries suffice to list them."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, Literal

import typer
from typer.core import TyperCommand, TyperGroup

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
