"""Experiments from Python: the runner of `zoloss run`, and its results as an object."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoloss_cli.api.progress import build_progress
from zoloss_cli.api.sources import list_names
from zoloss_cli.api.tables import ResultTable, make_table, name_parameters
from zoloss_cli.config.loader import build_experiment
from zoloss_cli.config.messages import ErrorCollector
from zoloss_cli.config.models import Experiment
from zoloss_cli.config.yaml_reader import parse_yaml
from zoloss_cli.errors import ConfigError, RunError
from zoloss_cli.experiment import runner
from zoloss_cli.experiment.plan import select_part
from zoloss_cli.reporting.loading import load_runs, select_runs
from zoloss_cli.results.store import Store
from zoloss_cli.utils import code_files
from zoloss_cli.workflows import added_learners
from zoloss_cli.workflows.choose_workers import SCHEDULER_VARIABLE, choose_workers
from zoloss_cli.workflows.load_experiment import load_experiment

if TYPE_CHECKING:
    import pandas as pd

    from zoloss_cli.reporting.run_result import RunResult

DEFAULT_NAME = "experiment"
TEXT_SOURCE = "run_experiment(...)"  # in place of a config's path
MAX_NAMED_FAILURES = 3


@dataclass(frozen=True)
class ExperimentResults:
    """The results of an experiment, in its folder; a notebook shows the table.

    Attributes
    ----------
    folder : Path
        The results folder, which every zoloss command accepts, too.
    name : str
        Name of the run in this folder.
    n_tasks, n_done_before, n_run : int
        Number of tasks requested, done before, and run now.
    failures : tuple of str
        One sentence for each failed task; the next run tries it again.
    seconds : float
        How long it took.
    """

    folder: Path
    name: str
    n_tasks: int = 0
    n_done_before: int = 0
    n_run: int = 0
    failures: tuple[str, ...] = ()
    seconds: float = 0.0

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The records of the run, as `load_results` returns them."""
        from zoloss_cli.reporting.frame import load_results

        return load_results(self.folder, table=self.name)

    @property
    def table(self) -> ResultTable:
        """The table of the run, as `make_table` returns it."""
        return make_table(self)

    def collect_runs(self, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
        """Return the run, or another one in the folder, and all runs of the folder."""
        wanted = self.name if table is None else table
        runs, store = load_runs(self.folder, wanted)
        for note in store.notes:
            warnings.warn(note, stacklevel=2)
        return select_runs(runs, wanted), runs

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def run_experiment(  # noqa: PLR0913  as many as the command has options
    config: str | PathLike[str] | Mapping[str, Any],
    *,
    out: str | PathLike[str] = "results",
    splits: int | None = None,
    datasets: str | Sequence[str] = (),
    learners: str | Sequence[str] = (),
    add_learners: str | Sequence[str] = (),
    allow_code: bool = False,
    seed: int | None = None,
    n_jobs: int = 1,
    scheduler: str = "",
    cluster: str | PathLike[str] | None = None,
    allow_versions: bool = False,
    progress: bool | None = None,
) -> ExperimentResults:
    """Run the missing tasks of an experiment, and return its results.

    This is `zoloss run`: tasks run in worker processes, each result is stored as soon as it is available, and
    an interrupted run continues where it stopped. The numbers are the same for any number of workers. As always
    when Python starts processes, a script must call this under ``if __name__ == "__main__":``.

    Parameters
    ----------
    config : str, path-like or mapping
        Path of a config, name of one that comes with zoloss such as ``"table2"``, a mapping with the keys of a
        config, or YAML text of several lines.
    out : str or path-like, default="results"
        The results folder.
    splits : int or None, default=None
        Number of splits, instead of the config's.
    datasets : str or sequence of str, default=()
        Only these data sets; none for all.
    learners : str or sequence of str, default=()
        Only these learners; none for all.
    add_learners : str or sequence of str, default=()
        Columns to add: names, or classes such as ``"sklearn.svm.LinearSVC"`` and ``"mine.py:MyClass"``.
    allow_code : bool, default=False
        Whether classes from files, or from packages that zoloss does not know, may be used: their code runs.
    seed : int or None, default=None
        Master seed, instead of the config's.
    n_jobs : int, default=1
        Number of worker processes, if no cluster is named; -1 for one per core.
    scheduler : str, default=''
        Address or file of a Dask scheduler whose workers run the tasks. By default, the section ``run`` of the
        config applies, then the variable ``DASK_SCHEDULER_ADDRESS``.
    cluster : str, path-like or None, default=None
        A YAML file that describes a cluster to start for this run and close afterwards.
    allow_versions : bool, default=False
        Whether the package versions of a cluster's workers may differ from those on this machine.
    progress : bool or None, default=None
        Whether to show progress; None: in a notebook and on a terminal.

    Returns
    -------
    ExperimentResults
        With `table`, `frame` and `failures`; `make_table`, `compare` and the plot functions take it.

    Raises
    ------
    ConfigError
        If the config is wrong; the message has one line for each mistake.
    DataError
        If a data set cannot be used.
    ClusterError
        If a cluster cannot be reached, or its workers are not compatible.
    RunError
        If every task failed. If only some failed, a warning says so, and the results have the others.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from zoloss_cli import run_experiment
    >>> config = {"datasets": ["heart"], "learners": ["fld", "pocket"], "split": {"repeats": 3}}
    >>> with TemporaryDirectory() as folder:
    ...     results = run_experiment(config, out=folder)
    ...     frame = results.table.to_frame()
    >>> results.n_run, frame.shape
    (6, (1, 4))
    >>> run_experiment({"datasets": ["hart"], "learners": ["fld"]})
    Traceback (most recent call last):
    zoloss_cli.errors.ConfigError: config: datasets.hart: unknown data set 'hart'; did you mean 'heart'?
    """
    for name, value in (("splits", splits), ("n_jobs", n_jobs), ("seed", seed)):
        _check_count(name, value)
    jobs = (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
    shown, store, added = build_progress(progress), Store(Path(out)), list_names(add_learners)
    with code_files.allow_code(allow_code), name_parameters():
        experiment, source, content = _load(config)
        named = scheduler or os.environ.get(SCHEDULER_VARIABLE, "")
        described = None if cluster is None else Path(cluster)
        workers = choose_workers(content, jobs, named, described, allow_versions)
        if added and source != TEXT_SOURCE:
            source, _ = added_learners.name_run(Path(source), added, [], allow_code)
        asked = select_part(added_learners.add_learners(experiment, added, []), [], [], splits, seed)
        part = select_part(asked, list_names(datasets), list_names(learners), None, None)
        whole, notes = added_learners.keep_added_learners(asked, store.folder)
        for note in notes:
            shown.note(note)
        options = runner.RunOptions(part=part)
        summary = runner.run_experiment(whole, source, store, workers, shown, options)
    if summary.interrupted:
        raise KeyboardInterrupt
    if summary.failures:
        _report_failures(summary)
    counts = (summary.n_tasks, summary.n_done_before, summary.n_run, tuple(summary.failures), summary.seconds)
    return ExperimentResults(Path(out), whole.name, *counts)


def _report_failures(summary: runner.RunSummary) -> None:
    """Raise RunError if nothing was done, otherwise warn."""
    shown = "; ".join(summary.failures[:MAX_NAMED_FAILURES])
    more = len(summary.failures) - MAX_NAMED_FAILURES
    text = f"{len(summary.failures)} tasks failed: {shown}{f'; and {more} more' if more > 0 else ''}"
    if summary.n_run + summary.n_done_before == 0:
        raise RunError(text)
    warnings.warn(text, stacklevel=3)


def _check_count(name: str, value: int | None) -> None:
    least = 0 if name == "seed" else 1
    is_all = name == "n_jobs" and value == -1
    if value is None or is_all:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} must be a number of at least {least} (got {value!r})")


def _load(
    config: str | PathLike[str] | Mapping[str, Any],
) -> tuple[Experiment, str, Path | Mapping[str, Any]]:
    """Return the experiment, where it comes from, and its file or keys."""
    if isinstance(config, Mapping):
        content, errors = dict(config), MappingErrorCollector()
        return build_experiment(content, DEFAULT_NAME, Path(), errors), TEXT_SOURCE, content
    if isinstance(config, str) and "\n" in config:
        content, root = parse_yaml(config, Path("config"))
        experiment = build_experiment(content, DEFAULT_NAME, Path(), ErrorCollector(Path("config"), root))
        return experiment, TEXT_SOURCE, content
    if not isinstance(config, str | PathLike):
        raise ConfigError(
            f"config must be a path, a name, a mapping or YAML text (got {type(config).__name__})"
        )
    return load_experiment(Path(config)), str(config), Path(config)


class MappingErrorCollector(ErrorCollector):
    """Collect the errors of a config that is a Python mapping, which has no lines to name."""

    def __init__(self) -> None:
        super().__init__(Path("config"), None)

    def add(self, keys: tuple, message: str) -> None:
        """Add a message about the value at these keys."""
        place = ".".join(map(str, keys))
        self.lines.append(": ".join(filter(None, ["config", place, message])))
