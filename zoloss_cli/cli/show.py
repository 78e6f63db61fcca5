"""The command `zoloss show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def show(
    dataset: Annotated[
        str, typer.Argument(help="Name of the data set in the run.", autocompletion=options.complete_dataset)
    ],
    learner: Annotated[
        str,
        typer.Argument(
            help="Label of the learner in the run, or its name.", autocompletion=options.complete_learner
        ),
    ],
    split: Annotated[int, typer.Argument(min=0, help="Number of the split, starting at 0.")],
    results: Annotated[
        Path | None, typer.Option("--results", "-r", help="Results folder (default: results).")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", help="Use this config instead of a results folder; it need not have been run."
        ),
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", "-t", help="Table, by its number (II) or the name of the run.")
    ] = None,
    model: options.ModelFile = None,
    force: options.Force = False,
    allow_code: options.AllowCode = False,
    show_all: options.ShowAll = False,
) -> None:
    """Rerun one stored task: show its record and rule, and whether they match what is stored.

    Results do not store weights. The same seeds give the same weights, so the task is rerun from the config
    in the run's manifest. If its numbers differ from the stored ones, the exit code is 9.

    **Examples**

    `zoloss show heart pocket 3 --results results/reference --table II`

    `zoloss show heart rcd-bias 0 --config table2 --model heart.json`: then `zoloss predict heart.json NEW.csv`
    """
    from zoloss_cli.api import show as tasks
    from zoloss_cli.errors import CheckError, ConfigError
    from zoloss_cli.utils import files as atomic_io
    from zoloss_cli.utils import imports
    from zoloss_cli.utils.processes import run_interruptibly

    if config is not None and (results is not None or table is not None):
        raise ConfigError("--config is for tasks without results: omit --results and --table, or --config")
    with imports.allow_code(allow_code):
        if config is not None:
            address = tasks.find_planned_task(config, dataset, learner, split)
        else:
            address = tasks.find_stored_task(results or Path("results"), table, dataset, learner, split)
        options.show_notes(address.notes)
        if model is not None:
            tasks.check_model_possible(address.cell)
            atomic_io.check_target(model, force, [])
        shown = run_interruptibly(lambda: tasks.run_again(address))
        fit = None if shown.fitted is None else tasks.build_table_fit(address.cell, shown.fitted)
        options.show(tasks.render_task(shown, fit, show_all))
    if model is not None and fit is not None:
        atomic_io.write(model, tasks.render_task_model(address.cell, fit), force, [])
        options.show_model_file(model)
    if shown.list_differences():
        raise CheckError(f"the task does not reproduce its stored record: {tasks.describe_agreement(shown)}")
