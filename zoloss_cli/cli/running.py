"""zoloss run, and how any experiment is carried out"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.errors import ConfigError, RunError

SHOWN_FAILURES = 5
OUT = typer.Option("--out", "-o", help="Results folder.")
JOBS = typer.Option("--jobs", "-j", min=1, help="Worker processes.")
DRY_RUN = typer.Option("--dry-run", help="Show the plan; run nothing.")
ALL_CORES = os.cpu_count() or 1


def run(
    config: Annotated[Path, typer.Argument(help="The experiment, as a YAML file.")],
    out: Annotated[Path, OUT] = Path("results"),
    jobs: Annotated[int, JOBS] = ALL_CORES,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Run this many splits instead of the config's.")
    ] = None,
    datasets: Annotated[
        str,
        typer.Option(
            help="Only these data sets, separated by commas.", autocompletion=completion.config_datasets
        ),
    ] = "",
    learners: Annotated[
        str,
        typer.Option(
            help="Only these learners, separated by commas.", autocompletion=completion.config_learners
        ),
    ] = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Another master seed.")] = None,
    dry_run: Annotated[bool, DRY_RUN] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Set earlier results of this plan aside; run all.")
    ] = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first unit that fails.")] = False,
) -> None:
    """Run an experiment; a run that was interrupted continues where it stopped.

    **Examples**

    `zoloss run configs/table2.yaml`: Table II of Li & Lin (2007), 500 splits, into results/

    `zoloss run configs/table2.yaml --splits 20 --datasets heart,sonar`: a quick look

    `zoloss run mine.yaml --out results/mine --dry-run`: what would run, and for how long
    """
    from zoloss_cli.experiment.execute import one_blas_thread

    one_blas_thread()
    from zoloss_cli.config.loader import load_config
    from zoloss_cli.experiment.plan import select

    whole = select(load_config(config), [], [], splits, seed)
    part = select(whole, names(datasets), names(learners), None, None)
    if dry_run:
        show_plan(part, out, jobs)
        return
    carry_out(whole, str(config), out, jobs, ["run", str(config)], fail_fast, fresh, part)
    typer.echo(f"show it with: zoloss table {out}", err=True)


def carry_out(
    whole, source: str, out: Path, jobs: int, command: list[str], fail_fast=False, fresh=False, part=None
) -> None:
    """Run an experiment, or a part of it, and tell how it goes; what did not finish ends the program.

    `command` is what continues it where the program was not started by its own name.
    """
    from zoloss_cli.cli._progress import clock, make_progress
    from zoloss_cli.experiment.runner import run_experiment
    from zoloss_cli.results.store import Store

    progress = make_progress()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    summary = run_experiment(whole, source, Store(out), jobs, progress, fail_fast, fresh, part)
    left = summary.units - summary.done_before - summary.run
    counts = f"{summary.units:,} units: {summary.done_before:,} were done, {summary.run:,} run"
    progress.note(f"{whole.name}: {counts} in {clock(summary.seconds)}; results in {out}")
    if summary.interrupted:
        again = [a for a in sys.argv[1:] if a != "--fresh"] if sys.argv[0].endswith("zoloss") else command
        progress.note(f"interrupted with {left:,} units to go; continue with: {shlex.join(['zoloss', *again])}")
        raise typer.Exit(130)
    if summary.failures:
        shown = summary.failures[:SHOWN_FAILURES]
        more = len(summary.failures) - len(shown)
        lines = [f"{len(summary.failures)} units failed (each is tried again in the next run)", *shown]
        raise RunError("\n".join(lines + ([f"and {more} more"] if more else [])))


def names(text: str) -> list[str]:
    """The names in a list separated by commas."""
    found = [name.strip() for name in text.split(",")] if text else []
    if not all(found):
        raise ConfigError(f"'{text}' is not a list of names separated by commas")
    return found


def show_plan(experiment, out: Path, jobs: int) -> None:
    """What would run, what is done already, and how long it may take."""
    from tabulate import tabulate

    from zoloss_cli.cli._progress import clock
    from zoloss_cli.experiment.execute import Remaining
    from zoloss_cli.experiment.plan import plan
    from zoloss_cli.experiment.runner import data_notes, sizes_of, work_of
    from zoloss_cli.results.store import Store

    cells, store = plan(experiment), Store(out)
    sizes = sizes_of(cells)
    for note in data_notes(cells):
        typer.echo(note, err=True)
    works, lines = [], []
    for cell in cells:
        work = work_of(cell, store.read(cell.filename, cell.key))
        works.append(work)
        units = [cell.repeats, cell.repeats - len(work.todo), len(work.todo)]
        label = " ".join(filter(None, [cell.learner.label, cell.learner.choice]))
        lines.append([cell.data.name, label, *sizes[(cell.data, cell.rule)], *units])
    header = ["data set", "learner", "train", "test", "units", "done", "to run"]
    typer.echo(tabulate(lines, header, tablefmt="simple"))
    left = sum(len(w.todo) for w in works)
    seconds = Remaining(works, jobs).seconds()
    if left == 0:
        estimate = "nothing to run"
    elif seconds is None:
        estimate = "time unknown until some units are done"
    else:
        estimate = f"about {clock(seconds)} with {jobs} jobs"
    typer.echo(
        f"\n{len(cells)} cells, {sum(w.cell.repeats for w in works):,} units, {left:,} to run: {estimate}"
    )
