"""The command `zoloss warmup`."""

from __future__ import annotations

from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def warmup(
    learners: Annotated[
        list[str] | None,
        typer.Argument(help="Learners (default: all).", autocompletion=options.complete_learner),
    ] = None,
) -> None:
    """Compile the kernels of learners now, so that their first fit does not have to wait.

    numba compiles a kernel when it is first used, and caches it for later commands. Compiling all of them takes
    about a minute; cached kernels take no time.

    **Examples**

    `zoloss warmup pivot rcd-bias`: those of two learners

    `zoloss warmup`: those of all
    """
    from zoloss_cli.api.experiments import warm_up_learners
    from zoloss_cli.cli._progress import countdown
    from zoloss_cli.utils.text import format_duration

    with countdown("; kernels compiled so far are cached") as line:
        count, seconds = warm_up_learners(learners or [], line.count_steps("compiling kernels"))
    options.show(
        f"the kernels of {count} learner{'s' * (count != 1)} are ready, after {format_duration(seconds)}"
    )
