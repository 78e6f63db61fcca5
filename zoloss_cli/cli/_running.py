"""Run an experiment or show its plan, for `run` and `evaluate` alike."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path

import typer

from zoloss_cli.cli._lazy import INTERRUPTED
from zoloss_cli.cli._options import show
from zoloss_cli.cli._progress import build_progress
from zoloss_cli.config.models import Experiment
from zoloss_cli.errors import RunError
from zoloss_cli.experiment.executors.dask_cluster import DaskWorkers
from zoloss_cli.experiment.runner import RunOptions, run_experiment
from zoloss_cli.experiment.shards import WHOLE, Shard
from zoloss_cli.results.store import Store
from zoloss_cli.utils.durations import format_duration

MAX_SHOWN_FAILURES = 5


def show_plan(experiment: Experiment, out: Path, workers: int | DaskWorkers, shard: Shard = WHOLE) -> None:
    """Print what would run, what is already done, and how long it may take."""
    from zoloss_cli.reporting.plan_report import render_plan
    from zoloss_cli.workflows.choose_workers import count_workers

    noun = "jobs" if isinstance(workers, int) else "workers"
    text, notes = render_plan(experiment, Store(out), count_workers(workers), noun, shard)
    for note in notes:
        show(note, err=True)
    show(text)


def run_and_report(
    experiment: Experiment,
    source: str,
    out: Path,
    workers: int | DaskWorkers,
    command: list[str],
    options: RunOptions,
) -> None:
    """Run an experiment and show its progress; exit with an error if it did not finish.

    Parameters
    ----------
    experiment : Experiment
        The whole experiment, which the manifest names.
    source : str
        Where it comes from: the path of a config, or a command.
    out : Path
        The results folder.
    workers : int or DaskWorkers
        Worker processes, or a cluster.
    command : list of str
        The command that continues it, if the program was not started under its own name.
    options : RunOptions
        Other options.

    Raises
    ------
    RunError
        If tasks failed.
    """
    progress = build_progress()
    heard: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    summary = run_experiment(experiment, source, Store(out), workers, progress, options)
    counts = f"{summary.n_tasks:,} tasks: {summary.n_done_before:,} were done, {summary.n_run:,} run"
    progress.note(f"{experiment.name}: {counts} in {format_duration(summary.seconds)}; results in {out}")
    if summary.interrupted:
        left = summary.n_tasks - summary.n_done_before - summary.n_run
        again = [a for a in sys.argv[1:] if a != "--fresh"] if sys.argv[0].endswith("zoloss") else command
        progress.note(f"interrupted with {left:,} tasks to go; continue with: {shlex.join(['zoloss', *again])}")
        raise typer.Exit(128 + heard[0] if heard else INTERRUPTED)
    if summary.failures:
        shown = summary.failures[:MAX_SHOWN_FAILURES]
        more = len(summary.failures) - len(shown)
        lines = [f"{len(summary.failures)} tasks failed (each is tried again in the next run)", *shown]
        raise RunError("\n".join(lines + ([f"and {more} more"] if more else [])))
