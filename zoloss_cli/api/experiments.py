"""Run experiments: `run_experiment`, and the functions that it shares with `zoloss run`."""

from __future__ import annotations

import html
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoloss_cli.api.choose import OptionErrorCollector, parse_labels, parse_learner, parse_settings
from zoloss_cli.config.learners import build_learner_spec
from zoloss_cli.config.loader import (
    build_experiment,
    check_metrics,
    find_config,
    load_cluster_file,
    load_config,
    load_run_section,
)
from zoloss_cli.config.messages import ErrorCollector, parse_yaml
from zoloss_cli.config.models import ClusterSettings, Experiment, LearnerSpec, parse_scheduler
from zoloss_cli.data.dataset import compute_fingerprint, load_data, replace_unfetched
from zoloss_cli.errors import ConfigError, RunError, ZolossError
from zoloss_cli.experiment import runner
from zoloss_cli.experiment.dask import DaskWorkers
from zoloss_cli.experiment.plan import plan, select_part
from zoloss_cli.experiment.runner import Progress
from zoloss_cli.experiment.warming import compile_kernels
from zoloss_cli.registry import LEARNERS, MEASURES, is_unchecked
from zoloss_cli.results.store import Store
from zoloss_cli.utils import imports
from zoloss_cli.utils.text import format_duration, show_controls

if TYPE_CHECKING:
    import pandas as pd

    from zoloss_cli.api.tables import ResultTable
    from zoloss_cli.report.runs import RunResult


def build_progress(shown: bool | None) -> Progress:
    """Return a progress bar, or an object that shows nothing; None for a bar in notebooks and on terminals."""
    ipython = sys.modules.get("IPython")
    if shown is not False and ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        return _NotebookBar()
    return _TerminalBar() if shown or (shown is None and sys.stderr.isatty()) else Progress()


class _TerminalBar(Progress):
    """A line on standard error that overwrites itself."""

    def __init__(self) -> None:
        self.total = self.done = 0
        self.left = "?"

    def note(self, text: str) -> None:
        print(show_controls(text), file=sys.stderr, flush=True)

    def start(self, totals: dict[str, int], done: dict[str, int]) -> None:
        self.total, self.done = sum(totals.values()), sum(done.values())
        self.show()

    def advance(self, dataset: str, tasks: int, seconds_left: float | None) -> None:
        self.done, self.left = self.done + tasks, format_duration(seconds_left)
        self.show()

    def show(self) -> None:
        text = f"\r{self.done:,} of {self.total:,} tasks, {self.left} left  "
        print(text, end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self.total:
            print(file=sys.stderr, flush=True)


class _NotebookBar(_TerminalBar):
    """An HTML element in a notebook's cell, which IPython updates in place: it needs no widgets."""

    _handle: Any = None  # IPython's, after the first display

    def note(self, text: str) -> None:
        print(show_controls(text))

    def show(self) -> None:
        from IPython.display import HTML, display

        element = HTML(self.render())
        if self._handle is None:
            self._handle = display(element, display_id=True)
        else:
            self._handle.update(element)

    def finish(self) -> None:
        pass

    def render(self) -> str:
        left = f", {self.left} left" if self.done < self.total else ""
        text = html.escape(f"{self.done:,} of {self.total:,} tasks{left}")
        return f'<progress value="{self.done}" max="{max(1, self.total)}"></progress> {text}'


OPTION = "--add-learner"


def extend_experiment(experiment: Experiment, names: list[str], assignments: list[str]) -> Experiment:
    """Return an experiment with added learners."""
    if not names and assignments:
        raise ConfigError(f"--set {assignments[0]}: there is no learner to set it for: name one with {OPTION}")
    if not names:
        return experiment
    if any(spec.learner in MEASURES for spec in experiment.learners):
        raise ConfigError(f"{OPTION}: '{experiment.name}' measures data, so no learner can be added to it")
    taken = {spec.label for spec in experiment.learners}
    for label, name in parse_labels(names, OPTION).items():
        if label in taken:
            raise ConfigError(
                f"{OPTION}: '{experiment.name}' has a column '{label}': give this one another label, as in "
                f"other={name}"
            )
    mistakes, added = OptionErrorCollector(), []
    for label, entry in parse_settings(names, assignments).items():
        spec = build_learner_spec(label, entry, experiment.preprocess.seeding, mistakes)
        if spec is not None:
            added.append(spec.model_copy(update={"added": True}))
    mistakes.raise_errors()
    extended = experiment.model_copy(update={"learners": (*experiment.learners, *added)})
    check_metrics(extended, {}, mistakes)
    mistakes.raise_errors()
    return extended


def add_stored_learners(
    experiment: Experiment, folder: Path, added_only: bool = False
) -> tuple[Experiment, list[str]]:
    """Return an experiment with the learners of its earlier runs, which are shown but not run, and a note.

    A learner qualifies if it has results for exactly the cells that it would have in this experiment. With
    `added_only`, it must also have been added to a config.
    """
    store, kept = Store(folder), []
    new = {spec.label for spec in experiment.learners}
    for manifest in store.read_manifests():
        if manifest.experiment.name == experiment.name:
            earlier = [spec for spec in manifest.experiment.learners if spec.added or not added_only]
            kept += [s for s in earlier if s.label not in new and _has_results(experiment, s, store)]
    if not kept:
        return experiment, []
    names = ", ".join(dict.fromkeys(spec.label for spec in kept))
    learners = (*experiment.learners, *kept) if added_only else (*kept, *experiment.learners)
    what = f"{names}, added by an earlier run" if added_only else f"{names} for the same table and splits"
    note = f"{folder} has results of {what}, which are also shown"
    return experiment.model_copy(update={"learners": learners}), [note]


def _has_results(experiment: Experiment, spec: LearnerSpec, store: Store) -> bool:
    try:
        cells = plan(experiment.model_copy(update={"learners": (spec,)}))
        return all(store.read(cell.filename, cell.key).records for cell in cells)
    except ZolossError:  # a package was removed, or zoloss has another version
        return False


def name_run(config: Path, added: list[str], assignments: list[str], allow_code: bool) -> tuple[str, list[str]]:
    """Return the origin of a run, a config or a command that extends it, and the command that continues it."""
    command = ["run", str(config)]
    command += [word for name in added for word in (OPTION, name)]
    command += [word for text in assignments for word in ("--set", text)]
    command += ["--allow-code"] if allow_code else []
    return (shlex.join(["zoloss", *command]) if added else str(config)), command


def list_unchecked(experiment: Experiment) -> list[str]:
    """Return the learners of an experiment whose classes were not loaded, so their parameters are unknown."""
    return list(dict.fromkeys(spec.learner for spec in experiment.learners if is_unchecked(spec.learner)))


SCHEDULER_VARIABLE = "DASK_SCHEDULER_ADDRESS"


def choose_workers(
    config: Path | Mapping[str, Any], jobs: int, scheduler: str, cluster: Path | None, allow_versions: bool
) -> int | DaskWorkers:
    """Return the number of processes, or the cluster.

    Options take precedence over the section `run` of the config, which takes precedence over the environment.
    """
    by_option = scheduler if scheduler != os.environ.get(SCHEDULER_VARIABLE) else ""
    if by_option and cluster is not None:
        raise ConfigError("--scheduler and --cluster both name a cluster: use one")
    settings: ClusterSettings | None = None
    if cluster is not None:
        settings = load_cluster_file(cluster)
    elif by_option:
        settings = parse_scheduler(by_option)
    else:
        named = find_config(config) if isinstance(config, Path) else config
        settings = load_run_section(named) or (parse_scheduler(scheduler) if scheduler else None)
    if settings is not None:
        return DaskWorkers(settings, allow_versions)
    if allow_versions:
        raise ConfigError("--allow-versions is for a run on a cluster: add --scheduler or --cluster")
    return jobs


def count_workers(workers: int | DaskWorkers) -> int:
    """Return how many tasks can run concurrently; of a scheduler, the number of its workers."""
    if isinstance(workers, int):
        return workers
    if workers.settings.cluster is not None:
        return workers.settings.n_wanted
    executor = workers(lambda text: None)
    try:
        return executor.n_workers
    finally:
        executor.close()


def load_experiment(path: Path) -> Experiment:
    """Return the experiment of a config; every error raises a ConfigError that names file and key."""
    experiment = _replace_unfetched(load_config(path))
    if experiment.published and experiment.published.drawn_as:
        from zoloss_cli.figures.figure_kinds import find_drawn_as

        find_drawn_as(experiment.published.drawn_as, str(path))
    return experiment


def _replace_unfetched(experiment: Experiment) -> Experiment:
    """Return an experiment whose data are on this machine; warn about those that others replace."""
    replaced, notes = replace_unfetched(experiment)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return replaced


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
        Duration of the run.
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
        from zoloss_cli.report.frame import load_results

        return load_results(self.folder, table=self.name)

    @property
    def table(self) -> ResultTable:
        """The table of the run, as `make_table` returns it."""
        from zoloss_cli.api.tables import make_table

        return make_table(self)

    def collect_runs(self, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
        """Return the run, or another one in the folder, and all runs of the folder."""
        wanted = self.name if table is None else table
        from zoloss_cli.report.runs import load_runs, select_runs

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

    This is the function of `zoloss run`: tasks run in worker processes, each result is stored as soon as it is
    available, and an interrupted run continues where it stopped. Results do not depend on the number of
    workers. Since processes are started, a script must call this under ``if __name__ == "__main__":``.

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
        Whether classes from files, or from packages that zoloss does not trust, may be used; their code runs.
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
        Whether to show progress; None for only in notebooks and on terminals.

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
        If every task failed. If only some failed, a warning is issued, and the results contain the others.

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
    for name, value, least in (("splits", splits, 1), ("n_jobs", n_jobs, 1), ("seed", seed, 0)):
        if value is None or (name == "n_jobs" and value == -1):
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{name} must be a number of at least {least} (got {value!r})")
    jobs = (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
    from zoloss_cli.api.tables import list_names, name_parameters

    for cached in (load_data, compute_fingerprint):
        cached.cache_clear()  # a table may have changed since an earlier run in this process
    shown, store, added = build_progress(progress), Store(Path(out)), list_names(add_learners)
    with imports.allow_code(allow_code), name_parameters():
        experiment, source, content = _load(config)
        named = scheduler or os.environ.get(SCHEDULER_VARIABLE, "")
        described = None if cluster is None else Path(cluster)
        workers = choose_workers(content, jobs, named, described, allow_versions)
        if added and source != TEXT_SOURCE:
            source, _ = name_run(Path(source), added, [], allow_code)
        asked = select_part(extend_experiment(experiment, added, []), [], [], splits, seed)
        part = select_part(asked, list_names(datasets), list_names(learners), None, None)
        whole, notes = add_stored_learners(asked, store.folder, added_only=True)
        for note in notes:
            shown.note(note)
        options = runner.RunOptions(part=part)
        summary = runner.run_experiment(whole, source, store, workers, shown, options)
    if summary.interrupted:
        raise KeyboardInterrupt
    if summary.failures:
        text = describe_failures(summary.failures, "tasks")
        if summary.n_run + summary.n_done_before == 0:
            raise RunError(text)
        warnings.warn(text, stacklevel=2)
    counts = (summary.n_tasks, summary.n_done_before, summary.n_run)
    return ExperimentResults(Path(out), whole.name, *counts, tuple(summary.failures), summary.seconds)


def describe_failures(failures: Sequence[str], noun: str) -> str:
    """Return how many fits or tasks failed, and the first of them."""
    more = len(failures) - MAX_NAMED_FAILURES
    shown = "; ".join(failures[:MAX_NAMED_FAILURES])
    return f"{len(failures)} {noun} failed: {shown}{f'; and {more} more' if more > 0 else ''}"


def _load(config: str | PathLike[str] | Mapping[str, Any]) -> tuple[Experiment, str, Path | Mapping[str, Any]]:
    """Return the experiment, its origin, and its file or keys."""
    if isinstance(config, Mapping):
        content, errors = dict(config), _MappingErrorCollector(Path("config"), None)
        return _replace_unfetched(build_experiment(content, DEFAULT_NAME, Path(), errors)), TEXT_SOURCE, content
    if isinstance(config, str) and "\n" in config:
        content, root = parse_yaml(config, Path("config"))
        experiment = build_experiment(content, DEFAULT_NAME, Path(), ErrorCollector(Path("config"), root))
        return _replace_unfetched(experiment), TEXT_SOURCE, content
    if not isinstance(config, str | PathLike):
        raise ConfigError(
            f"config must be a path, a name, a mapping or YAML text (got {type(config).__name__})"
        )
    return load_experiment(Path(config)), str(config), Path(config)


class _MappingErrorCollector(ErrorCollector):
    """Collect the errors of a config that is a Python mapping, which has no line numbers."""

    def add(self, keys: tuple, message: str) -> None:
        self.lines.append(": ".join(filter(None, ["config", ".".join(map(str, keys)), message])))


def warm_up_learners(names: Sequence[str], report: Callable[[int, int], object]) -> tuple[int, float]:
    """Compile the kernels of learners, or load those already compiled."""
    specs = [parse_learner(name, [], None) for name in names or LEARNERS.builtin]
    return len(specs), compile_kernels(specs, report)
