"""The command `zoloss learners`."""

from __future__ import annotations

from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.cli import _options as options


def learners(
    name: Annotated[
        str | None,
        typer.Argument(help="Describe this learner or measure.", autocompletion=completion.complete_learner),
    ] = None,
) -> None:
    """List the learners and measures, or describe one with its parameters, defaults and source.

    **Example:** `zoloss learners rcd-bias`
    """
    from zoloss_cli.workflows.learner_info import describe_learner, list_learners

    options.show(list_learners() if name is None else describe_learner(name))
