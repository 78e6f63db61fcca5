"""The command `zoloss run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.cli import _options as options


def run(
    config: options.ConfigFile,
    out: options.OutFolder = Path("results"),
    jobs: options.Jobs = options.ALL_CORES,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Run this many splits instead of the config's.")
    ] = None,
    datasets: Annotated[
        str,
        typer.Option(
            help="Only these data sets, separated by commas.",
            autocompletion=completion.complete_config_datasets,
        ),
    ] = "",
    learners: Annotated[
        str,
        typer.Option(
            help="Only these learners, separated by commas.", autocompletion=completion.complete_config_learners
        ),
    ] = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Another master seed.")] = None,
    dry_run: options.DryRun = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Set earlier results of this plan aside; run all.")
    ] = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first task that fails.")] = False,
) -> None:
    """Run an experiment; what was interrupted continues where it stopped.

    **Examples**

    `zoloss run configs/table2.yaml`: Table II of Li & Lin (2007), 500 splits, into results/

    `zoloss run configs/table2.yaml --splits 20 --datasets heart,sonar`: a quick look

    `zoloss run mine.yaml --out results/mine --dry-run`: what would run, and for how long
    """
    from zoloss_cli.experiment.executors.process_pool import limit_threads

    limit_threads()
    from zoloss_cli.cli._running import run_and_report, show_plan
    from zoloss_cli.experiment.plan import select_part
    from zoloss_cli.workflows.load_experiment import load_experiment

    whole = select_part(load_experiment(config), [], [], splits, seed)
    part = select_part(whole, options.parse_names(datasets), options.parse_names(learners), None, None)
    if dry_run:
        show_plan(part, out, jobs)
        return
    command = ["run", str(config)]
    run_and_report(whole, str(config), out, jobs, command, fail_fast=fail_fast, fresh=fresh, part=part)
    options.show(f"show it with: zoloss table {out}", err=True)
