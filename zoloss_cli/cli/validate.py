"""The command `zoloss validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options
from zoloss_cli.errors import ConfigError


def validate(configs: Annotated[list[Path], typer.Argument(help="Config files.")]) -> None:
    """Check configs without running them; every mistake is named with file, line and key.

    **Example:** `zoloss validate mine.yaml configs/table2.yaml`
    """
    from zoloss_cli.config.metric_checks import describe_lacking
    from zoloss_cli.experiment.plan import plan
    from zoloss_cli.workflows.load_experiment import load_experiment

    mistakes = []
    for path in configs:
        try:
            experiment = load_experiment(path)
        except ConfigError as error:
            mistakes.append(str(error))
            continue
        cells = plan(experiment)
        n_tasks = sum(cell.repeats for cell in cells)
        options.show_notes(f"{path}: {note}" for note in describe_lacking(experiment))
        options.show(f"{path}: valid; {len(cells)} cell{'s' * (len(cells) != 1)}, {n_tasks:,} tasks")
    if mistakes:
        raise ConfigError("\n".join(mistakes))
