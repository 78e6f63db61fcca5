"""Results hold no weights and no examples: figures that show them make them again, by the same seeds."""

from __future__ import annotations

from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.task import Trained, count_unit, train_unit
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.results.manifest import command_of, read_experiment

SPLIT = 0  # the one that figures show


def trained_again(run: RunResult, dataset: str, learner: str) -> tuple[Trained, dict]:
    """(the learner of split 0, its row of errors), which must be those that are stored."""
    place = (dataset, learner)
    if SPLIT not in run.splits.get(place, []):
        raise ResultsError(
            f"split {SPLIT} of {learner} on {dataset} is not in the run '{run.name}'; "
            f"finish it: {command_of(run.manifest)}"
        )
    cell = cell_of(run, dataset, learner)
    trained = train_unit(cell, SPLIT)
    row = count_unit(cell, SPLIT, trained)
    part, at = trained.part, run.splits[place].index(SPLIT)
    stored = run.cells[place]
    again = {"train_error": 100.0 * row["train"] / len(part.train)}
    if len(part.test):
        again["test_error"] = 100.0 * row["test"] / len(part.test)
    for metric, value in again.items():
        if value != stored[metric][at]:
            raise ResultsError(
                f"{learner} on {dataset}, trained again, has a {metric} of {value:.2f} % where "
                f"{stored[metric][at]:.2f} % is stored: the results of '{run.name}' were changed or are of "
                f"another version; run: {command_of(run.manifest, fresh=True)}"
            )
    return trained, row


def cell_of(run: RunResult, dataset: str, learner: str) -> Cell:
    """The cell behind a number of the run; it must still be the one that was run."""
    choice = run.choices.get((dataset, learner), "")  # what is measured has none
    for cell, stored in zip(plan(read_experiment(run.manifest)), run.manifest["cells"], strict=True):
        if (stored["dataset"], stored["learner"], stored.get("choice", "")) == (dataset, learner, choice):
            if cell.key != stored["key"]:
                break
            return cell
    raise ResultsError(
        f"{learner} on {dataset} is no longer what '{run.name}' ran: the data or the algorithm changed; "
        f"run: {command_of(run.manifest)}"
    )
