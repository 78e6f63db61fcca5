"""Runs made of known numbers: an experiment by its keys, and the values of metrics in its cells."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from zoloss_cli.config.models import Experiment
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.report.runs import CellResult, Place, RunResult
from zoloss_cli.results.manifest import Manifest, ManifestCell

Entry = str | Mapping[str, Any]


def build_experiment(datasets: Iterable[Entry], learners: Iterable[Entry], **keys: Any) -> Experiment:
    """Return an experiment; a data set or a learner is given by its name or by its keys.

    Any learner without a registered name has one, since tables ask for the label only.
    """
    content = {
        "name": "mine",
        "title": "Mine",
        "datasets": [{"name": each} if isinstance(each, str) else each for each in datasets],
        "learners": [
            {"learner": "fld"} | ({"label": each} if isinstance(each, str) else dict(each)) for each in learners
        ],
        **keys,
    }
    return Experiment.model_validate_json(json.dumps(content))


def build_manifest(experiment: Experiment, config: str = "configs/mine.yaml") -> Manifest:
    cells = [
        ManifestCell(data.name, spec.label, f"{i:016x}", f"cell-{i}.jsonl", spec.choice, data.repeats)
        for i, (data, spec) in enumerate((d, x) for d in experiment.datasets for x in experiment.learners)
    ]
    return Manifest(config, experiment, cells, [])


def build_cell(
    values: Mapping[str, Sequence[float]],
    splits: Sequence[int] | None = None,
    sizes: tuple[int, int] | None = None,
    choice: str = "",
) -> CellResult:
    """Return a cell of known values, by metric; splits are numbered from 0 unless they are given."""
    count = len(next(iter(values.values())))
    return CellResult(
        splits=range(count) if splits is None else splits,
        sizes=None if sizes is None else Sizes(*sizes),
        choice=choice,
        values={metric: list(v) for metric, v in values.items()},
    )


def build_run(
    cells: Mapping[Place, Mapping[str, Sequence[float]]],
    splits: Mapping[Place, Sequence[int]] | None = None,
    sizes: tuple[int, int] | None = None,
    **keys: Any,
) -> RunResult:
    """Return a run from {(data set, learner): {metric: values}} and the keys of its experiment.

    Data sets and learners that no key names are those of the cells.
    """
    keys.setdefault("datasets", list(dict.fromkeys(dataset for dataset, _ in cells)))
    keys.setdefault("learners", list(dict.fromkeys(learner for _, learner in cells)))
    run = RunResult(build_manifest(build_experiment(**keys)))
    for place, values in cells.items():
        add_cell(run, place, build_cell(values, (splits or {}).get(place), sizes))
    return run


def add_cell(run: RunResult, place: Place, cell: CellResult) -> None:
    run.count_done(place, min(run.experiment.split.repeats, len(cell)))
    run.add(place, cell)
