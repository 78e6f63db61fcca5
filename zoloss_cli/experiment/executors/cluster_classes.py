"""Clusters that a run starts itself: the class that a config names, and its workers."""

from __future__ import annotations

import contextlib
import importlib
import inspect
from typing import Any

from zoloss_cli.config.cluster_spec import ClusterSettings
from zoloss_cli.errors import ClusterError, ConfigError, MissingPackageError, suggest_nearest
from zoloss_cli.utils.optional_imports import is_installed


def start_cluster(settings: ClusterSettings) -> Any:
    """Start the cluster described by settings, and request its workers.

    Parameters
    ----------
    settings : ClusterSettings
        The class, its arguments, and the number of workers.

    Returns
    -------
    distributed.deploy.Cluster
        The cluster, which the caller must close.
    """
    assert settings.cluster is not None
    kind = load_cluster_class(settings.cluster)
    try:
        cluster = kind(**settings.settings)
    except Exception as error:
        raise ClusterError(
            f"{settings.cluster} cannot be started ({shorten_error(error)}); correct its settings, or what it "
            "needs"
        ) from None
    try:
        _scale_cluster(cluster, settings)
    except BaseException:
        with contextlib.suppress(Exception):
            cluster.close()
        raise
    return cluster


def _scale_cluster(cluster: Any, settings: ClusterSettings) -> None:
    """Request the workers of a cluster; one with named hosts, by ssh, has those of its hosts."""
    can_scale = getattr(cluster, "_supports_scaling", True)
    if settings.workers is None and not can_scale:
        raise ClusterError(f"{settings.cluster} has a fixed number of workers: name it by workers")
    try:
        if settings.workers is None:
            cluster.adapt(minimum=settings.minimum, maximum=settings.maximum)
        elif can_scale:
            cluster.scale(settings.workers)
    except Exception as error:
        raise ClusterError(
            f"{settings.cluster} cannot start workers ({shorten_error(error)}); correct its settings"
        ) from None


def load_cluster_class(name: str) -> Any:
    """Import a cluster class by its dotted name; a function that returns a cluster will do, too."""
    from distributed.deploy.cluster import Cluster

    module, _, attribute = name.rpartition(".")
    package = module.partition(".")[0]
    if not is_installed(package):
        install = package.replace("_", "-")
        raise MissingPackageError(
            f"{name} needs the package {install}, which is not installed: pip install {install}"
        )
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(f"{name} cannot be imported: {shorten_error(error)}") from None
    classes = [
        key
        for key, value in vars(found).items()
        if (issubclass(value, Cluster) if isinstance(value, type) else _is_starter(key, value))
    ]
    kind = getattr(found, attribute, None)
    if attribute not in classes:
        raise ConfigError(f"{module} has no cluster class '{attribute}'{suggest_nearest(attribute, classes)}")
    return kind


def _is_starter(name: str, value: object) -> bool:
    """Return whether a function starts a cluster, as SSHCluster does."""
    return name.endswith("Cluster") and inspect.isfunction(value)


def shorten_error(error: BaseException) -> str:
    """Return the type and message of an error, as a clause."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else f"{text[:200]}..."
