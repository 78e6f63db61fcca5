"""What functions accept as `results`: a folder, the result of another function, or a DataFrame of records."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.reporting.figures.catalog import narrow_run
from zoloss_cli.reporting.loading import explain_empty, load_runs, select_runs
from zoloss_cli.reporting.run_result import RunResult

MAX_NAMED_TABLES = 12


@runtime_checkable
class RunSource(Protocol):
    """An object that holds runs: the results of an experiment or of an evaluation."""

    def collect_runs(self, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
        """Return the selected runs, and all runs that are stored with them."""


def collect_runs(results: Any, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
    """Return the runs that `results` refers to, and all runs of the same folder.

    Parameters
    ----------
    results : str, path-like, RunSource or DataFrame
        A results folder, what `run_experiment` or `evaluate` returned, or rows from `load_results`.
    table : str or None, default=None
        The number of a table or the name of a run.

    Returns
    -------
    selected : list of RunResult
        Those with this name, or all.
    runs : list of RunResult
        All runs, among them the baselines.
    """
    if isinstance(results, RunSource):
        return results.collect_runs(table)
    if isinstance(results, str | PathLike):
        runs, store = load_runs(Path(results), table)
        for note in store.notes:
            warnings.warn(note, stacklevel=4)
        return select_runs(runs, table), runs
    if type(results).__name__ == "DataFrame":
        from zoloss_cli.api.built_run import build_run_of_frame

        if table is not None:
            raise ConfigError(
                "table: a DataFrame has no tables; choose its rows with load_results(path, table=...)"
            )
        run = build_run_of_frame(results)
        return [run], [run]
    raise ConfigError(
        "results must be a folder, a DataFrame of load_results, or what run_experiment or evaluate returned "
        f"(got {type(results).__name__})"
    )


def select_run(
    results: Any,
    table: str | None = None,
    *,
    metric: str | None = None,
    datasets: str | Sequence[str] = (),
    learners: str | Sequence[str] = (),
) -> tuple[RunResult, list[RunResult]]:
    """Return the selected run, or a part of it, and all runs that are stored with it.

    Parameters
    ----------
    results, table : object, str or None
        As in `collect_runs`; without a table, the results must hold only one.
    metric : str or None, default=None
        A metric other than the one its table shows.
    datasets, learners : str or sequence of str
        Only these; none for all.

    Returns
    -------
    run : RunResult
        A run with at least one cell.
    runs : list of RunResult
        All runs.
    """
    selected, runs = collect_runs(results, table)
    shown = selected if table else [run for run in selected if not run.figure] or selected
    if len(shown) != 1:
        raise ResultsError(name_several([run.number for run in shown]))
    (run,) = shown
    if fault := explain_empty(run):
        raise ResultsError(fault)
    if metric is not None:
        run = run.show_metric(metric)
    if datasets or learners:
        run = narrow_run(run, list_names(datasets), list_names(learners))
    return run, runs


def name_several(numbers: Sequence[str]) -> str:
    """Return a message that asks to name one of several tables."""
    more = f" and {len(numbers) - MAX_NAMED_TABLES} more" if len(numbers) > MAX_NAMED_TABLES else ""
    listed = ", ".join(numbers[:MAX_NAMED_TABLES])
    return f"these results hold several tables; name one with table=...: {listed}{more}"


def list_names(names: str | Sequence[str]) -> list[str]:
    """Return one name, or a sequence of names, as a list."""
    return [names] if isinstance(names, str) else list(names)
