"""The command `zoloss learners`."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def learners(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Learner or measure to describe, or a class such as sklearn.svm.SVC or mine.py:MyClass.",
            autocompletion=options.complete_learner,
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Fit it to small data, and report what is wrong or missing.")
    ] = False,
    allow_code: options.AllowCode = False,
) -> None:
    """List the learners and measures, or describe one: parameters, defaults and source.

    **Examples**

    `zoloss learners rcd-bias`

    `zoloss learners mine.py:MyClass --check --allow-code`: check that it can be used in an experiment
    """
    from zoloss_cli.api.info import check_named_learner, describe_learner, list_learners
    from zoloss_cli.errors import ConfigError
    from zoloss_cli.utils import imports

    if name is None:
        if check:
            raise ConfigError("--check: name the class to check, as in zoloss learners mine.py:MyClass --check")
        # Lines are cut only on a terminal.
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        options.show(list_learners(width))
        return
    with imports.allow_code(allow_code):
        described = describe_learner(name)  # also rejects classes that are not allowed
        for line in check_named_learner(name) if check else [described]:
            options.show(line)
