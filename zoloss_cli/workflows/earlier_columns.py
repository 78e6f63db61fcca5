"""Columns that an earlier evaluation of the same table left in a results folder."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.config.models import Experiment, LearnerSpec
from zoloss_cli.errors import ZolossError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.results.store import Store


def add_earlier_columns(experiment: Experiment, folder: Path) -> tuple[Experiment, list[str]]:
    """Return the experiment with the learners that were compared earlier on the same table and splits.

    A learner qualifies if it has results for exactly this table content, split rule and preprocessing. One with
    the same name as a new one is replaced by it.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    folder : Path
        The results folder.

    Returns
    -------
    experiment : Experiment
        The experiment to show, with earlier learners first.
    notes : list of str
        Which learners were added.
    """
    store = Store(folder)
    new = {spec.label for spec in experiment.learners}
    kept: list[LearnerSpec] = []
    for manifest in store.read_manifests():
        if manifest.experiment.name == experiment.name:
            candidates = [spec for spec in manifest.experiment.learners if spec.label not in new]
            kept += [spec for spec in candidates if has_results(experiment, spec, store)]
    if not kept:
        return experiment, []
    names = ", ".join(dict.fromkeys(spec.label for spec in kept))
    note = f"{folder} has results of {names} for the same table and splits, which are shown, too"
    return experiment.model_copy(update={"learners": (*kept, *experiment.learners)}), [note]


def has_results(experiment: Experiment, spec: LearnerSpec, store: Store) -> bool:
    """Return whether a learner has results in the cell that it would have in this experiment."""
    try:
        cells = plan(experiment.model_copy(update={"learners": (spec,)}))
        return all(store.read(cell.filename, cell.key).records for cell in cells)
    except ZolossError:  # from a package that is no longer installed, or another version of ours
        return False
