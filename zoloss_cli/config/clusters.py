"""Where a run finds its workers: the section `run` of a config, or a YAML file of its own.

Either names a scheduler, or a class that starts a cluster, with its settings. Such a class submits jobs and
starts programs, so only classes of known packages are accepted, with settings that cannot hold a command;
anything else is code and must be allowed as such.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from zoloss_cli.config.messages import ErrorCollector, Keys, check_duplicate_keys, read_yaml, shorten
from zoloss_cli.config.models import StrictModel
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.code_files import find_code_policy, is_dotted_name

CLUSTER_PACKAGES = ("distributed", "dask_jobqueue", "dask_kubernetes", "dask_cloudprovider")
EXAMPLES = (
    "distributed.LocalCluster",
    "distributed.SSHCluster",
    "dask_jobqueue.SLURMCluster",
    "dask_jobqueue.PBSCluster",
    "dask_jobqueue.SGECluster",
    "dask_jobqueue.LSFCluster",
    "dask_kubernetes.operator.KubeCluster",
)
# Settings that say how much and where, and that cannot start a program.
SAFE_SETTINGS = frozenset(
    {
        *("account", "cores", "cpus", "death_timeout", "hosts", "interface", "job_cpu", "job_mem"),
        *("job_extra_directives", "local_directory", "log_directory", "memory", "memory_limit", "n_workers"),
        *("name", "namespace", "nanny", "ncpus", "nthreads", "ntasks", "processes", "project", "protocol"),
        *(
            "queue",
            "region",
            "resource_spec",
            "shared_temp_directory",
            "threads_per_worker",
            "walltime",
            "zone",
        ),
    }
)
DIRECTIVES = "job_extra_directives"  # lines of a job script that begin with the queue system's prefix
SAFE_TEXT = re.compile(r"(?!-)[A-Za-z0-9_.,:/=@%+~-]*")  # no blank, no quote, nothing that a shell reads
SAFE_DIRECTIVE = re.compile(r"[A-Za-z0-9_.,:/=@%+~ -]*")
DEFAULT_WAIT_SECONDS = 300.0


class ClusterSettings(StrictModel):
    """Where workers are or how to start them, and how many."""

    scheduler: Annotated[
        str | None, Field(description="address of a Dask scheduler, tcp://host:8786, or its scheduler file")
    ] = None
    workers: Annotated[int | None, Field(ge=1, description="workers to start, no more and no less")] = None
    minimum: Annotated[int, Field(ge=0, description="fewest workers, where their number follows the work")] = 0
    maximum: Annotated[int | None, Field(ge=1, description="most workers, likewise")] = None
    wait: Annotated[
        float, Field(gt=0, description="seconds to wait for a first worker, and for a lost connection")
    ] = DEFAULT_WAIT_SECONDS
    cluster: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_choice(self) -> ClusterSettings:
        if (self.scheduler is None) == (self.cluster is None):
            raise ValueError(
                "name a scheduler, or one class that starts a cluster such as dask_jobqueue.SLURMCluster"
            )
        if self.scheduler is not None and (self.workers or self.minimum or self.maximum):
            raise ValueError("a scheduler has the workers that it has: leave their number out")
        if self.workers is not None and (self.minimum or self.maximum):
            raise ValueError("name workers for a fixed number, or minimum and maximum, not both")
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError("maximum must be at least minimum")
        if self.cluster is not None and self.workers is None and self.maximum is None:
            raise ValueError("name the number of workers: workers for a fixed one, or minimum and maximum")
        return self

    @property
    def n_wanted(self) -> int:
        """Return the maximum number of workers; 0 if unknown."""
        return self.workers or self.maximum or 0


def load_cluster_file(path: Path) -> ClusterSettings:
    """Read and validate a file that names a scheduler or a cluster class."""
    content, root = read_yaml(path)
    errors = ErrorCollector(path, root)
    check_duplicate_keys(root, errors)
    settings = build_cluster_settings(content, (), errors)
    errors.raise_errors()
    assert settings is not None
    return settings


def load_run_section(config: Path | Mapping[str, Any]) -> ClusterSettings | None:
    """Return the section `run` of a valid config, given as a file or its keys; None if it has none."""
    content: Mapping[str, Any]
    if isinstance(config, Path):
        content, root = read_yaml(config)
        errors = ErrorCollector(config, root)
    else:
        content, errors = config, ErrorCollector(Path("config"), None)
    if content.get("run") is None:
        return None
    settings = build_cluster_settings(content["run"], ("run",), errors)
    errors.raise_errors()
    return settings


def build_cluster_settings(content: Any, keys: Keys, errors: ErrorCollector) -> ClusterSettings | None:
    """Return what a mapping says about workers.

    Parameters
    ----------
    content : object
        The keys, one of which may be the dotted name of a class, with its settings.
    keys : tuple
        Their place in the file.
    errors : ErrorCollector
        Collects what is wrong.
    """
    if not isinstance(content, dict):
        errors.add(keys, f"must be a mapping of keys (got {shorten(content)})")
        return None
    known = [name for name in ClusterSettings.model_fields if name not in ("cluster", "settings")]
    values = {key: value for key, value in content.items() if key in known}
    classes = [key for key in content if key not in known]
    for name in classes:
        if not (isinstance(name, str) and is_dotted_name(name)):
            errors.add((*keys, name), f"unknown key '{name}'{suggest_nearest(name, [*known, *EXAMPLES])}")
            return None
    if len(classes) > 1:
        errors.add((*keys, classes[1]), "a run has one cluster: name one class")
        return None
    if classes:
        settings = content[classes[0]] if content[classes[0]] is not None else {}
        if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
            errors.add((*keys, classes[0]), f"settings must be a mapping of keys (got {shorten(settings)})")
            return None
        _check_code(classes[0], settings, keys, errors)
        values |= {"cluster": classes[0], "settings": settings}
    if "wait" in values and isinstance(values["wait"], int) and not isinstance(values["wait"], bool):
        values["wait"] = float(values["wait"])
    return errors.validate(ClusterSettings, values, keys)


def _check_code(name: str, settings: dict[str, Any], keys: Keys, errors: ErrorCollector) -> None:
    """Add an error for anything that is, or could hold, a command, unless code is allowed."""
    if find_code_policy() == "run":
        return
    allow = "add --allow-code if you trust it"
    if name.partition(".")[0] not in CLUSTER_PACKAGES:
        near = suggest_nearest(name, EXAMPLES)
        errors.add((*keys, name), f"'{name}' is code of a package that is not known here; {allow}{near}")
        return
    for key, value in settings.items():
        if key not in SAFE_SETTINGS:
            errors.add((*keys, name, key), f"'{key}' may hold commands or programs; {allow}")
        elif not _is_plain(value, SAFE_DIRECTIVE if key == DIRECTIVES else SAFE_TEXT):
            errors.add((*keys, name, key), f"{shorten(value)} has characters that a shell reads; {allow}")


def _is_plain(value: Any, pattern: re.Pattern[str]) -> bool:
    if isinstance(value, str):
        return pattern.fullmatch(value) is not None
    if isinstance(value, list):
        return all(isinstance(each, str | int | float) and _is_plain(each, pattern) for each in value)
    return value is None or isinstance(value, int | float)


def parse_scheduler(text: str) -> ClusterSettings:
    """Return the settings for a scheduler that an option or the environment names."""
    if not text.strip():
        raise ConfigError("--scheduler: name an address such as tcp://host:8786, or a scheduler file")
    return ClusterSettings(scheduler=text.strip())
