"""Where tasks run: in processes here, or on a cluster named by an option, the config or the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoloss_cli.config.cluster_spec import (
    ClusterSettings,
    load_cluster_file,
    load_run_section,
    parse_scheduler,
)
from zoloss_cli.config.loader import find_config
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.executors.dask_cluster import DaskWorkers

SCHEDULER_VARIABLE = "DASK_SCHEDULER_ADDRESS"


def choose_workers(
    config: Path | Mapping[str, Any], jobs: int, scheduler: str, cluster: Path | None, allow_versions: bool
) -> int | DaskWorkers:
    """Return the number of processes, or the cluster.

    An option takes precedence over the section `run` of the config, and that over the environment.

    Parameters
    ----------
    config : Path or mapping
        The config, or its keys.
    jobs : int
        Worker processes on this machine, if no cluster is named.
    scheduler : str
        The address or file of a scheduler, from an option or the environment; empty for none.
    cluster : Path or None
        A file that describes a cluster.
    allow_versions : bool
        Whether the package versions of workers may differ from those on this machine.
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
    """Return how many tasks can run at a time; a scheduler is asked for its workers."""
    if isinstance(workers, int):
        return workers
    if workers.settings.cluster is not None:
        return workers.settings.n_wanted
    executor = workers(lambda text: None)
    try:
        return executor.n_workers
    finally:
        executor.close()
