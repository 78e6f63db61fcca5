"""Manifests of runs: the resolved config, its cells, versions, platform and times."""

from __future__ import annotations

import json
import platform
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any
from zlib import crc32

import msgspec
from pydantic import ValidationError

from zoloss_cli import __version__
from zoloss_cli.config.models import Experiment, LearnerSpec, SettingMapping
from zoloss_cli.errors import ConfigError
from zoloss_cli.registry import load_metric
from zoloss_cli.results.record import FORMAT
from zoloss_cli.utils.imports import remember_code
from zoloss_cli.utils.text import show_controls

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "liblinear-official", "cvxpy")

MISSING = "missing"

# How commands begin that are stored instead of a config's path.
PYTHON_CALLS = ("run_experiment(", "evaluate(", "load_results(")

CHECK_LINE = re.compile(rb',\n "check": "([0-9a-f]{8})"\n}\n\Z')

Filename = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*\.jsonl$")]


class ManifestCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """A cell of a run's table, and the file that holds its records."""

    dataset: str
    learner: str
    key: str
    file: Filename
    choice: str = ""
    repeats: Annotated[int, msgspec.Meta(ge=1)] | None = None  # if they differ from the experiment's


class HostShare(msgspec.Struct, frozen=True):
    """The share of a host in a run: its tasks, and the seconds that they took in total."""

    tasks: int
    seconds: float


class ClusterInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """The cluster of a run."""

    scheduler: str  # its address, or the class that started it
    dask: str  # version
    differences: tuple[str, ...] = ()  # allowed ones, between versions on workers and on the client


class RunInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """The times, size and environment of a run, and its hosts if it ran on a cluster."""

    started: str
    finished: str
    seconds: float
    jobs: int
    tasks: int
    zoloss: str
    python: str
    platform: str
    packages: dict[str, str]
    shard: str = ""  # such as 3/20, if it ran a part of the tasks
    cluster: ClusterInfo | None = None
    hosts: dict[str, HostShare] = {}


@dataclass(frozen=True)
class Manifest:
    """What is stored about a run besides its records."""

    config: str  # its path, or the command that replaces one
    experiment: Experiment  # the config, resolved and typed
    cells: list[ManifestCell]
    runs: list[RunInfo]  # all that added tasks to these results, the newest last
    is_checked: bool = field(default=True, compare=False)  # older versions wrote no checksum

    @property
    def n_tasks(self) -> int:
        """Return how many tasks the complete run has."""
        repeats = self.experiment.split.repeats
        return sum(cell.repeats or repeats for cell in self.cells)

    def command(self, fresh: bool = False) -> str:
        """Return the command that runs it again, or from scratch."""
        if self.config.startswith(PYTHON_CALLS):
            return self.config
        command = self.config if self.config.startswith("zoloss ") else f"zoloss run {self.config}"
        other = " --fresh" if command.startswith("zoloss run ") else " --out another-folder"
        return command + other * fresh


class _ManifestFile(msgspec.Struct):
    format: int
    config: str
    experiment: msgspec.Raw
    cells: list[ManifestCell]
    runs: list[RunInfo]
    check: str | None = None


_DECODER = msgspec.json.Decoder(_ManifestFile)


def encode_manifest(manifest: Manifest) -> str:
    """Return a manifest as indented JSON whose last key is its checksum."""
    content = {
        "format": FORMAT,
        "config": show_controls(manifest.config),  # it may name a file whose name is not UTF-8
        "experiment": manifest.experiment.model_dump(mode="json"),
        "cells": msgspec.to_builtins(manifest.cells),
        "runs": msgspec.to_builtins(manifest.runs),
    }
    return append_check(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def append_check(text: str) -> str:
    """Return indented JSON with the CRC-32 of everything before it as its last key."""
    body = text.removesuffix("\n}\n")
    return f'{body},\n "check": "{crc32(body.encode()):08x}"\n}}\n'


def _verify_check(content: bytes, check: str | None) -> bool:
    """Return whether there is a checksum; raise ValueError if it does not match."""
    found = CHECK_LINE.search(content)
    if found is None and check is None:
        return False
    if found is None or crc32(content[: found.start()]) != int(found[1], 16):
        raise ValueError("it was changed: its checksum does not match")
    return True


def decode_manifest(content: bytes) -> Manifest:
    """Return the manifest in a file; raise ValueError with one sentence if it is invalid."""
    try:
        file = _DECODER.decode(content)
        if file.format != FORMAT:
            raise ValueError(f"its format is {file.format}, not {FORMAT}")
        is_checked = _verify_check(content, file.check)
        experiment = decode_experiment(bytes(file.experiment))
        manifest = Manifest(file.config, experiment, file.cells, file.runs, is_checked)
        _check_consistency(manifest)
        return manifest
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"experiment.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from None


def _check_consistency(manifest: Manifest) -> None:
    """Raise ValueError for metrics that are not registered, and for cells of other data sets or learners."""
    experiment = manifest.experiment
    for name in experiment.metrics:
        try:
            load_metric(name)
        except ConfigError as error:
            raise ValueError(str(error)) from None
    datasets = {data.name for data in experiment.datasets}
    labels = {spec.label for spec in experiment.learners}
    for cell in manifest.cells:
        if cell.dataset not in datasets or cell.learner not in labels:
            raise ValueError(f"{cell.learner} on {cell.dataset} is not a cell of its experiment")


def decode_experiment(content: bytes) -> Experiment:
    """Return the experiment that JSON describes; planned again, it has the same cells."""
    experiment = Experiment.model_validate_json(content)
    return experiment.model_copy(update={"learners": tuple(map(_restore_spec, experiment.learners))})


def _restore_spec(spec: LearnerSpec) -> LearnerSpec:
    """Restore nested learners and tuples, which JSON stores as mappings and lists."""
    if spec.code is not None:
        remember_code(spec.code)
    settings = tuple((key, _restore_value(value)) for key, value in spec.settings)
    nested = {key: tuple(map(_restore_spec, getattr(spec, key))) for key in ("tune", "trials")}
    return spec.model_copy(update={"settings": settings} | nested)


def _restore_value(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"pairs"}:
        return SettingMapping(pairs=tuple((_restore_value(k), _restore_value(v)) for k, v in value["pairs"]))
    if isinstance(value, dict):
        return _restore_spec(LearnerSpec.model_validate_json(json.dumps(value)))
    return tuple(map(_restore_value, value)) if isinstance(value, list) else value


def format_now() -> str:
    """Return the current time in ISO 8601 format."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def describe_run(started: str, seconds: float, jobs: int, tasks: int, **more: Any) -> RunInfo:
    """Return the information about a run that ends now, with `more` fields of a run on a cluster or a shard."""
    return RunInfo(
        started=started,
        finished=format_now(),
        seconds=round(seconds, 1),
        jobs=jobs,
        tasks=tasks,
        zoloss=__version__,
        python=platform.python_version(),
        platform=" ".join(filter(None, [platform.system(), platform.machine(), find_processor()])),
        packages={name: find_version(name) for name in PACKAGES},
        **more,
    )


def find_processor() -> str:
    """Return the name of the processor that kernels are compiled for; empty if unknown.

    Its instructions affect rounding, which may break ties between equal sums.
    """
    try:
        from llvmlite import binding
    except ImportError:
        return ""
    return binding.get_host_cpu_name()


def find_version(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return MISSING
