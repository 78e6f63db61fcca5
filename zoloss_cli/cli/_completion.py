"""What the shell offers after TAB: values of options and arguments.

A completer is a function of the text typed so far and, optionally, of the command's context. The shell waits
for it, so nothing heavy is imported, and nothing is offered from what cannot be read.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

MAX_CONFIG_BYTES = 1 << 20
MAX_MANIFEST_BYTES = 1 << 24


def complete_learner(incomplete: str) -> list[str]:
    """Offer the names of learners."""
    from zoloss_cli.registry import LEARNERS

    return _filter_names(LEARNERS, incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Offer the names of data sets and generators."""
    from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
    from zoloss_cli.utils.files import list_embedded_datasets

    return _filter_names([*list_embedded_datasets(), *GENERATORS, *DATASET_PLUGINS], incomplete)


def complete_dataset_list(incomplete: str) -> list[str]:
    """Offer the names of data sets, separated by commas."""
    return _complete_list(complete_dataset(""), incomplete)


def complete_metric_list(incomplete: str) -> list[str]:
    """Offer the names of metrics, separated by commas."""
    from zoloss_cli.registry import list_metrics

    return _complete_list(list_metrics(), incomplete)


def complete_embedded_dataset(incomplete: str) -> list[str]:
    """Offer the names of the data sets that come with zoloss, which can be fetched from UCI."""
    from zoloss_cli.utils.files import list_embedded_datasets

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


def complete_metric(incomplete: str) -> list[str]:
    """Offer the names of metrics."""
    from zoloss_cli.registry import METRICS

    return _filter_names(METRICS, incomplete)


def complete_table(context: typer.Context, incomplete: str) -> list[str]:
    """Offer what the results folder has: numbers of tables and names of runs; only manifests are read."""
    from zoloss_cli.utils.files import FileError, read_file

    names: list[object] = []
    for path in sorted(Path(_first_argument(context, "results") or "results").glob("runs/*.json")):
        with contextlib.suppress(FileError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            experiment = json.loads(read_file(path, MAX_MANIFEST_BYTES))["experiment"]
            names += [(experiment.get("published") or {}).get("table"), experiment["name"]]
    return _filter_names(sorted(name for name in names if isinstance(name, str) and name), incomplete)


def _filter_names(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _complete_list(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the list so far, followed by each name not yet in it."""
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [before + comma + name for name in _filter_names(names, last) if name not in given]


def _read_config_names(context: typer.Context, section: str) -> list[str]:
    import yaml

    from zoloss_cli.utils.files import FileError, read_file

    with contextlib.suppress(FileError, OSError, ValueError, yaml.YAMLError):
        text = read_file(_find_config(_first_argument(context, "config")), MAX_CONFIG_BYTES).decode()
        return _list_section(text, section)
    return []


def _list_section(text: str, section: str) -> list[str]:
    """Return the names in a section of YAML, a list or a mapping, without expanding aliases."""
    import yaml

    found: list[str] = []
    counts: list[int] = []  # values begun in each open list or mapping
    mappings: list[bool] = []
    inside = False
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionEndEvent):
            counts.pop()
            mappings.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        is_key = bool(mappings) and mappings[-1] and counts[-1] % 2 == 0
        if isinstance(event, yaml.ScalarEvent):
            if len(counts) == 1 and is_key:
                inside = event.value == section
            elif len(counts) == 2 and inside and (is_key or not mappings[-1]):
                found.append(event.value)
        if counts:
            counts[-1] += 1
        if isinstance(event, yaml.CollectionStartEvent):
            counts.append(0)
            mappings.append(isinstance(event, yaml.MappingStartEvent))
    return found


def _first_argument(context: typer.Context, name: str) -> Path | str:
    """Return the first argument, which has no name yet while the value of an option is being typed."""
    return context.args[0] if context.args else context.params.get(name) or ""


def _find_config(path: Path | str) -> Path:
    """Find a config as `zoloss run` does: the file, or the one of this name that comes with zoloss."""
    from zoloss_cli.utils.files import find_shipped_config

    path = Path(path)
    return path if path.exists() else find_shipped_config(path) or path
