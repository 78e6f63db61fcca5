"""What the shell offers after TAB: the values of options and arguments.

A completer is a function of what was typed so far, or of the command's context besides. A shell waits for
it, so nothing heavy is imported, and what cannot be read offers nothing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import typer


def complete_learner(incomplete: str) -> list[str]:
    """Offer the names of learners."""
    from zoloss_cli.registry import LEARNERS

    return _filter_names(LEARNERS, incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Offer the names of data sets and generators."""
    from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
    from zoloss_cli.utils.paths import list_embedded_datasets

    return _filter_names([*list_embedded_datasets(), *GENERATORS, *DATASET_PLUGINS], incomplete)


def complete_dataset_list(incomplete: str) -> list[str]:
    """Offer the names of data sets, separated by commas."""
    return _complete_list(complete_dataset(""), incomplete)


def complete_embedded_dataset(incomplete: str) -> list[str]:
    """Offer the names of the data sets that come with zoloss, which can be fetched from UCI."""
    from zoloss_cli.utils.paths import list_embedded_datasets

    return _filter_names(list_embedded_datasets(), incomplete)


def complete_choice(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a completer that offers fixed values."""

    def complete(incomplete: str) -> list[str]:
        return _filter_names(choices, incomplete)

    return complete


def complete_config_datasets(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the names of a config's data sets, separated by commas."""
    return _complete_list(_read_config_names(context, "datasets"), incomplete)


def complete_config_learners(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the names of a config's learners, separated by commas."""
    return _complete_list(_read_config_names(context, "learners"), incomplete)


def complete_learner_list(incomplete: str) -> list[str]:
    """Offer the names of learners, separated by commas."""
    from zoloss_cli.registry import LEARNERS

    return _complete_list(LEARNERS, incomplete)


def complete_table(context: typer.Context, incomplete: str) -> list[str]:
    """Offer what the results folder has, numbers of tables and names of runs; only manifests are read."""
    names: list[str | None] = []
    for path in sorted(Path(_first_argument(context, "results") or "results").glob("runs/*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            experiment = json.loads(path.read_text(encoding="utf-8"))["experiment"]
            names += [(experiment.get("published") or {}).get("table"), experiment["name"]]
    return _filter_names(sorted(filter(None, names)), incomplete)


def _filter_names(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _complete_list(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the list so far, followed by each name that is not yet in it."""
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [before + comma + name for name in _filter_names(names, last) if name not in given]


def _read_config_names(context: typer.Context, section: str) -> list[str]:
    import yaml

    with contextlib.suppress(OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        path = _find_config(_first_argument(context, "config"))
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        if isinstance(content, dict) and isinstance(content.get(section), list | dict):
            return [str(name) for name in content[section]]
    return []


def _first_argument(context: typer.Context, name: str) -> Path | str:
    """Return the first argument, which has no name yet while the value of an option is being typed."""
    return context.args[0] if context.args else context.params.get(name) or ""


def _find_config(path: Path | str) -> Path:
    """Find a config as `zoloss run` does: the file, or the one of this name that comes with zoloss."""
    from zoloss_cli.utils.paths import find_shipped_config

    path = Path(path)
    return path if path.exists() else find_shipped_config(path) or path
