"""What the shell offers after TAB: the values of options and arguments.

A completer is a function of what was typed so far, or of the command's context besides. A shell waits for
it, so nothing heavy is imported, and what cannot be read offers nothing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

import typer

from zoloss_cli.cli._choices import FIGURES, FORMATS, KERNELS, POLICIES, SCALINGS, SIGNS_OF_NOISE


def learner(incomplete: str) -> list[str]:
    """Names of learners."""
    from zoloss_cli.registry import learners

    return _starting(learners(), incomplete)


def dataset(incomplete: str) -> list[str]:
    """Names of data sets and generators."""
    from zoloss_cli.plugins import plugins
    from zoloss_cli.registry import GENERATORS

    added = [plugin.name for plugin in plugins("data set", ())]
    return _starting([*_embedded(), *GENERATORS, *added], incomplete)


def dataset_list(incomplete: str) -> list[str]:
    """Names of data sets, separated by commas."""
    return _listed(dataset(""), incomplete)


def embedded_dataset(incomplete: str) -> list[str]:
    """Names of the data sets that come with zoloss, which can be fetched from UCI."""
    return _starting(_embedded(), incomplete)


def format(incomplete: str) -> list[str]:
    return _starting(FORMATS, incomplete)


def figure(incomplete: str) -> list[str]:
    return _starting(FIGURES, incomplete)


def scaling(incomplete: str) -> list[str]:
    return _starting(SCALINGS, incomplete)


def missing(incomplete: str) -> list[str]:
    return _starting(POLICIES, incomplete)


def kernel(incomplete: str) -> list[str]:
    return _starting(KERNELS, incomplete)


def sign_of_noise(incomplete: str) -> list[str]:
    return _starting(SIGNS_OF_NOISE, incomplete)


def config_datasets(context: typer.Context, incomplete: str) -> list[str]:
    """Names of a config's data sets, separated by commas."""
    return _listed(_config_names(context, "datasets"), incomplete)


def config_learners(context: typer.Context, incomplete: str) -> list[str]:
    """Names of a config's learners, separated by commas."""
    return _listed(_config_names(context, "learners"), incomplete)


def learner_list(incomplete: str) -> list[str]:
    """Names of learners, separated by commas."""
    from zoloss_cli.registry import learners

    return _listed(learners(), incomplete)


def table(context: typer.Context, incomplete: str) -> list[str]:
    """What the results folder has: numbers of tables, and names of runs. Only manifests are read."""
    names: list[str] = []
    for path in sorted(Path(_positional(context, "results") or "results").glob("runs/*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            experiment = json.loads(path.read_text(encoding="utf-8"))["experiment"]
            names += [(experiment.get("published") or {}).get("table"), experiment["name"]]
    return _starting(sorted(filter(None, names)), incomplete)


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _listed(names: Iterable[str], incomplete: str) -> list[str]:
    """The list so far, followed by each name that is not yet in it."""
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [before + comma + name for name in _starting(names, last) if name not in given]


def _embedded() -> list[str]:
    from zoloss_cli.utils.paths import shipped

    return sorted(path.stem for path in shipped("datasets").glob("*.csv"))


def _config_names(context: typer.Context, section: str) -> list[str]:
    import yaml

    with contextlib.suppress(OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        path = _config_path(_positional(context, "config"))
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        if isinstance(content, dict) and isinstance(content.get(section), list | dict):
            return [str(name) for name in content[section]]
    return []


def _positional(context: typer.Context, name: str) -> Path | str:
    """The command's first argument, which has no name yet while the value of an option is being typed."""
    return context.args[0] if context.args else context.params.get(name) or ""


def _config_path(path: Path | str) -> Path:
    """As `zoloss run` finds it: the file, or the one of this name that comes with zoloss."""
    from zoloss_cli.utils.paths import shipped_config

    path = Path(path)
    return path if path.exists() else shipped_config(path) or path
