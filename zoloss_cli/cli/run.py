"""The command `zoloss run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def run(
    config: options.ConfigFile,
    out: options.OutFolder = Path("results"),
    jobs: options.Jobs = options.ALL_CORES,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Number of splits to run, instead of the config's.")
    ] = None,
    datasets: Annotated[
        str,
        typer.Option(
            help="Run only these data sets, separated by commas.",
            autocompletion=options.complete_config_datasets,
        ),
    ] = "",
    learners: Annotated[
        str,
        typer.Option(
            help="Run only these learners, separated by commas.",
            autocompletion=options.complete_config_learners,
        ),
    ] = "",
    add_learner: Annotated[
        list[str] | None,
        options.learner_list_option(
            "Learners to add as columns, separated by commas: names, classes such as "
            "sklearn.svm.LinearSVC or mine.py:MyClass, optionally as LABEL=LEARNER; can be repeated.",
            "--add-learner",
            metavar="LEARNERS",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="LEARNER.KEY=VALUE", help="Set a parameter of an added learner; can be repeated."
        ),
    ] = None,
    allow_code: options.AllowCode = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Master seed, instead of the config's.")] = None,
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N", help="Run only the K-th of N shards of the tasks; `zoloss merge` joins the folders."
        ),
    ] = "",
    scheduler: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Run on the workers of this Dask scheduler: tcp://host:8786, or its scheduler file.",
            envvar="DASK_SCHEDULER_ADDRESS",
        ),
    ] = "",
    cluster: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Start the cluster described in this YAML file, run on it, and close it."
        ),
    ] = None,
    allow_versions: Annotated[
        bool,
        typer.Option(
            "--allow-versions", help="Accept workers whose package versions differ; the manifest records them."
        ),
    ] = False,
    dry_run: options.DryRun = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Set earlier results of this plan aside and run all tasks.")
    ] = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first task that fails.")] = False,
) -> None:
    """Run an experiment; an interrupted run continues where it stopped.

    **Examples**

    `zoloss run configs/table2.yaml`: Table II of Li & Lin (2007), 500 splits, into results/

    `zoloss run configs/table2.yaml --splits 20 --datasets heart,sonar`: a quick look

    `zoloss run mine.yaml --out results/mine --dry-run`: what would be run, and how long it may take

    `zoloss run configs/table3.yaml --add-learner sklearn.svm.LinearSVC --set LinearSVC.C=10`: another column

    `zoloss run configs/table2.yaml --add-learner mine.py:MyClass --allow-code`: your own class, from a file

    `zoloss run configs/table4.yaml --scheduler tcp://head:8786`: on the workers of a Dask cluster

    `zoloss run configs/table4.yaml --shard 3/20`: the third of 20 shards, in a job array
    """
    from zoloss_cli.utils.processes import limit_threads

    limit_threads()
    from zoloss_cli.api import experiments
    from zoloss_cli.cli._progress import run_and_report, show_plan
    from zoloss_cli.experiment.plan import WHOLE, parse_shard, select_part
    from zoloss_cli.experiment.runner import RunOptions
    from zoloss_cli.utils import imports

    added = options.parse_name_lists(add_learner)
    with imports.allow_code(allow_code):
        extended = experiments.extend_experiment(experiments.load_experiment(config), added, settings or [])
        asked = select_part(extended, [], [], splits, seed)
        part = select_part(asked, options.parse_names(datasets), options.parse_names(learners), None, None)
        share = parse_shard(shard) if shard else WHOLE
        out = out if share == WHOLE else share.name_folder(out)
        workers = experiments.choose_workers(config, jobs, scheduler, cluster, allow_versions)
        if dry_run:
            show_plan(part, out, workers, share)
            return
        whole, notes = experiments.add_stored_learners(asked, out, added_only=True)
        options.show_notes(notes)
        source, command = experiments.name_run(config, added, settings or [], allow_code)
        run_and_report(whole, source, out, workers, command, RunOptions(fail_fast, fresh, part, share))
    if share == WHOLE:
        options.show(f"show it with: zoloss table {out}", err=True)
    else:
        parts = f"{out.parent / share.list_folders(out.name)}"
        options.show(f"when all {share.count} parts are done: zoloss merge {parts} --out FOLDER", err=True)
