"""Refit a stored task: results hold no weights or samples, but the same seeds give the same ones."""

from __future__ import annotations

from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.task import FittedTask, build_record, fit_task
from zoloss_cli.results.manifest import Manifest
from zoloss_cli.results.record import FitRecord


def find_cell(manifest: Manifest, dataset: str, learner: str, choice: str = "") -> Cell:
    """Return the planned cell of a stored one, which must be unchanged since the run.

    Parameters
    ----------
    manifest : Manifest
        The run.
    dataset, learner : str
        Names of the data set and the column.
    choice : str, default=""
        Which of the column's settings.

    Returns
    -------
    Cell
        The cell, with the same key as in the manifest.
    """
    for cell, stored in zip(plan(manifest.experiment), manifest.cells, strict=False):
        if (stored.dataset, stored.learner, stored.choice) == (dataset, learner, choice):
            if cell.key != stored.key:
                break
            return cell
    raise ResultsError(
        f"{learner} on {dataset} is no longer what '{manifest.experiment.name}' ran: the data or the algorithm "
        f"changed; run: {manifest.command()}"
    )


def fit_again(manifest: Manifest, cell: Cell, stored: FitRecord) -> tuple[FittedTask, FitRecord]:
    """Refit the learner of a stored task; its errors must match the stored ones.

    Parameters
    ----------
    manifest : Manifest
        The run, for messages.
    cell : Cell
        The cell.
    stored : FitRecord
        The record of the task.

    Returns
    -------
    fitted : FittedTask
        Learner and data.
    record : FitRecord
        The new record.
    """
    fitted = fit_task(cell, stored.split)
    record = build_record(cell, stored.split, fitted)
    for name in ("train_errors", "test_errors"):
        now, before = getattr(record, name), getattr(stored, name)
        if now != before:
            raise ResultsError(
                f"{cell.learner.label} on {cell.data.name}, fitted again, has {now} {name} where {before} are "
                f"stored: the results of '{manifest.experiment.name}' were changed or are of another version; "
                f"run: {manifest.command(fresh=True)}"
            )
    return fitted, record
