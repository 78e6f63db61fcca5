"""The man page zoloss(1), written from the commands themselves.

`python tests/support/man_page.py` (`make man`) writes docs/man/zoloss.1, which a wheel installs.
"""

import inspect
import re
import sys
import textwrap
from typing import Any

import typer
from places import TOP

from zoloss_cli import __version__, errors
from zoloss_cli.cli.app import COMMANDS, app, load_command

PAGE = TOP / "docs" / "man" / "zoloss.1"
# Exit codes that no class of errors has.
OTHER_CODES = {
    0: "Success.",
    1: "An unexpected error; `zoloss --debug` shows where.",
    130: "Interrupted by Ctrl-C.",
    141: "Whoever read the output stopped reading, as `head` does.",
}
ENVIRONMENT = {
    "NUMBA_CACHE_DIR": "The folder that keeps compiled kernels.",
    "DASK_SCHEDULER_ADDRESS": "The scheduler that `zoloss run` uses when `--scheduler` is not given.",
    "NO_COLOR": "Help and messages have no colours if it is set.",
}
# Options that typer adds, in words of our own, since those of typer depend on its version.
ADDED_OPTIONS = {
    "install_completion": "Install completion for the current shell.",
    "show_completion": "Show completion for the current shell, to copy or customize it.",
    "help": "Show help and exit.",
}
FOLD = 110


def escape(text: str) -> str:
    """A text as roff: backslashes and hyphens literal, `code` in bold, no line that is taken for a request."""
    text = text.replace("\\\\", "\\").replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fR", text)
    lines = textwrap.wrap(" ".join(text.split()), FOLD, break_on_hyphens=False, break_long_words=False)
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def list_parameters(command: Any) -> list[Any]:
    context = typer.Context(command, info_name=command.name)
    return [param for param in command.get_params(context) if not getattr(param, "hidden", False)]


def name_value(option: Any) -> str:
    if getattr(option, "is_flag", False) or option.name in ADDED_OPTIONS:
        return ""
    name = option.metavar or max(option.opts, key=len).lstrip("-").upper().replace("-", "_")
    return f" \\fI{name}\\fR"


def render_option(option: Any) -> str:
    names = sorted(option.opts, key=len) + option.secondary_opts
    shown = ", ".join(f"\\fB{name}\\fR{name_value(option)}".replace("-", "\\-") for name in names)
    if option.name in ADDED_OPTIONS:
        return f".TP\n{shown}\n{escape(ADDED_OPTIONS[option.name])}"
    default = option.default
    has_default = (
        not getattr(option, "is_flag", False) and default not in (None, [], ()) and not callable(default)
    )
    # The number of workers is that of the machine's cores.
    value = "the number of cores" if option.name == "jobs" else default
    note = f" Default: {value}." if has_default and option.show_default is not False else ""
    return f".TP\n{shown}\n{escape((option.help or '') + note)}"


def render_synopsis(name: str, command: Any) -> str:
    words = [f"\\fB{name}\\fR", "[\\fIoptions\\fR]"]
    for param in list_parameters(command):
        if param.param_type_name == "argument":
            shown = f"\\fI{param.name.upper()}\\fR" + (" ..." if param.nargs != 1 else "")
            words.append(shown if param.required else f"[{shown}]")
    if getattr(command, "commands", None):
        words.append("[\\fIcommand\\fR]")
    return " ".join(words).replace("-", "\\-")


def render_command(name: str, command: Any) -> list[str]:
    parts = [f".SS {name}", render_synopsis(f"zoloss {name}", command)]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        parts += [".PP", escape(paragraph)]
    for param in list_parameters(command):
        if param.param_type_name == "argument":
            parts.append(f".TP\n\\fI{param.name.upper()}\\fR\n{escape(param.help or '')}")
        elif param.name != "help":
            parts.append(render_option(param))
    for inner, found in getattr(command, "commands", {}).items():
        parts += render_command(f"{name} {inner}", found)
    return parts


def render_list(entries: dict[Any, str]) -> list[str]:
    return [f".TP\n.B {key}\n{escape(text)}" for key, text in entries.items()]


def list_exit_codes() -> dict[int, str]:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__
    ]
    codes = {kind.exit_code: (kind.__doc__ or "").partition("\n")[0] for kind in kinds}
    return dict(sorted((codes | OTHER_CODES).items()))


def render_page() -> str:
    program = typer.main.get_command(app)
    options = [param for param in list_parameters(program) if param.param_type_name == "option"]
    commands = [part for name in COMMANDS for part in render_command(name, load_command(name))]
    summary = (program.help or "").rstrip(".")
    parts = [
        '.\\" Written by `make man`; do not edit.',
        f'.TH ZOLOSS 1 "" "zoloss {__version__}" "User Commands"',
        ".SH NAME",
        f"zoloss \\- {escape(summary[0].lower() + summary[1:])}",
        ".SH SYNOPSIS",
        "\\fBzoloss\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
        ".SH DESCRIPTION",
        escape(
            "zoloss minimizes the number of training errors itself, not a surrogate. It fits classifiers "
            "to your tables, and reproduces the tables and figures of the papers that introduced them."
        ),
        ".SH OPTIONS",
        *(render_option(option) for option in options),
        ".SH COMMANDS",
        *commands,
        ".SH EXIT STATUS",
        *render_list(list_exit_codes()),
        ".SH ENVIRONMENT",
        *render_list(ENVIRONMENT),
        ".SH EXAMPLES",
        escape("`zoloss fit heart`: the rule with the fewest errors on a data set that comes with zoloss."),
        ".PP",
        escape("`zoloss run table2 --splits 20`, then `zoloss table results`: Table II of Li & Lin (2007)."),
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != render_page() and f"{PAGE}: out of date; run `make man`")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render_page(), encoding="utf-8")
