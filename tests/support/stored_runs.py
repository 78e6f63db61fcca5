"""Results folders with known records, written by the store without running anything."""

from collections.abc import Callable, Iterable
from pathlib import Path

from zoloss_cli.config.models import Experiment
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.runner import build_manifest
from zoloss_cli.results.manifest import RunInfo
from zoloss_cli.results.record import AnyRecord, FitRecord
from zoloss_cli.results.store import Store

SIZES = (200, 50)


def make_run_info(**changes) -> RunInfo:
    fields = {
        "started": "2026-01-01T00:00:00+00:00",
        "finished": "2026-01-01T00:00:09+00:00",
        "seconds": 9.0,
        "jobs": 1,
        "tasks": 1,
        "zoloss": "0.1.0",
        "python": "3.11.7",
        "platform": "Linux x86_64",
        "packages": {"numpy": "2.0.0"},
    }
    return RunInfo(**(fields | changes))


def make_record(cell: Cell, split: int, **changes) -> FitRecord:
    start = int(cell.key[:4], 16)
    fields = {"train_errors": (start + 3 * split) % 41, "test_errors": (start + 7 * split) % 19}
    return FitRecord(**({"split": split, "wall_time": 0.25} | fields | changes))


def store_run(
    folder: Path,
    experiment: Experiment,
    records: Callable[[Cell], Iterable[AnyRecord]],
    runs: Iterable[RunInfo] = (),
    config: str = "configs/small.yaml",
    sizes: tuple[int, int] = SIZES,
) -> Store:
    store, cells = Store(folder), plan(experiment)
    with store.writing():
        for cell in cells:
            if found := list(records(cell)):
                store.append(cell, found, sizes)
        store.write_manifest(build_manifest(experiment, cells, config, list(runs)))
    return store


def make_folder(
    folder: Path,
    experiment: Experiment,
    splits: Iterable[int],
    change: Callable[[Cell, int], dict] = lambda cell, split: {},
    **more,
) -> Path:
    """Write a results folder with these splits of every cell; `change` gives other fields of a record."""
    store_run(
        folder, experiment, lambda cell: [make_record(cell, k, **change(cell, k)) for k in splits], **more
    )
    return folder
