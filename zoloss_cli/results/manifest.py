"""What a run leaves besides numbers: the resolved config, its cells, versions, platform and times."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from zoloss_cli import __version__
from zoloss_cli.config.models import Experiment, LearnerSpec
from zoloss_cli.experiment.plan import FORMAT, Cell

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "liblinear-official", "cvxpy")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def make_manifest(experiment: Experiment, cells: list[Cell], source: str, runs: list[dict]) -> dict:
    """`runs` are all runs that added units to these results, the newest last."""
    return {
        "format": FORMAT,
        "config": source,
        "experiment": experiment.model_dump(mode="json"),
        "cells": [
            {"dataset": c.data.name, "learner": c.learner.label, "key": c.key, "file": c.filename}
            | ({"choice": c.learner.choice} if c.learner.choice else {})
            | ({"repeats": c.repeats} if c.repeats != experiment.split.repeats else {})
            for c in cells
        ],
        "runs": runs,
    }


def read_experiment(manifest: dict) -> Experiment:
    """The experiment that a manifest was made of: its plan has the manifest's cells."""
    experiment = Experiment.model_validate_json(json.dumps(manifest["experiment"]))
    return experiment.model_copy(update={"learners": tuple(_restored(x) for x in experiment.learners)})


def _restored(spec: LearnerSpec) -> LearnerSpec:
    """With learners and tuples among the parameters, where JSON has mappings and lists."""
    settings = tuple((key, _value(value)) for key, value in spec.settings)
    return spec.model_copy(update={"settings": settings, "tune": tuple(_restored(t) for t in spec.tune)})


def _value(value):
    if isinstance(value, dict):
        return _restored(LearnerSpec.model_validate_json(json.dumps(value)))
    return tuple(value) if isinstance(value, list) else value


def command_of(manifest: dict, fresh: bool = False) -> str:
    """What to type to run it again, or anew: a config, or the command that stood for one, elsewhere."""
    source = manifest["config"]
    if source.startswith("zoloss "):
        return f"{source} --out another-folder" if fresh else source
    return f"zoloss run {source}" + " --fresh" * fresh


def make_run(started: str, seconds: float, jobs: int, units: int) -> dict:
    """When, how long, how much, and with what a run was made."""
    return {
        "started": started,
        "finished": now(),
        "seconds": round(seconds, 1),
        "jobs": jobs,
        "units": units,
        "zoloss": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
