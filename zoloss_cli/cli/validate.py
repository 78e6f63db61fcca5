"""The command `zoloss validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options
from zoloss_cli.errors import ConfigError


def validate(
    configs: Annotated[list[Path], typer.Argument(help="Config files.")], allow_code: options.AllowCode = False
) -> None:
    """Validate configs without running them; every mistake is reported with file, line and key.

    Learners in Python files are loaded only with --allow-code; otherwise their parameters are not checked.

    **Example:** `zoloss validate mine.yaml configs/table2.yaml`
    """
    from zoloss_cli.api.experiments import list_unchecked, load_experiment
    from zoloss_cli.config.loader import describe_lacking
    from zoloss_cli.experiment.plan import plan
    from zoloss_cli.utils.imports import use_code_policy

    mistakes = []
    for path in configs:
        with use_code_policy("run" if allow_code else "skip"):
            try:
                experiment = load_experiment(path)
            except ConfigError as error:
                mistakes.append(str(error))
                continue
            cells, unchecked = plan(experiment), list_unchecked(experiment)
        n_tasks = sum(cell.repeats for cell in cells)
        options.show_notes(f"{path}: {note}" for note in describe_lacking(experiment))
        options.show(f"{path}: valid; {len(cells)} cell{'s' * (len(cells) != 1)}, {n_tasks:,} tasks")
        options.show_notes(
            f"{path}: '{name}' and its parameters were not checked, since that runs its code: add --allow-code"
            for name in unchecked
        )
    if mistakes:
        raise ConfigError("\n".join(mistakes))
