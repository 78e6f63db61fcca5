"""Learners that an option adds to an experiment, without a new config."""

from __future__ import annotations

import shlex
from pathlib import Path

from zoloss_cli.config.learner_spec import build_learner_spec
from zoloss_cli.config.metric_checks import check_metrics
from zoloss_cli.config.models import Experiment
from zoloss_cli.errors import ConfigError
from zoloss_cli.registry import MEASURES, is_unchecked
from zoloss_cli.results.store import Store
from zoloss_cli.workflows.earlier_columns import has_results
from zoloss_cli.workflows.learner_options import OptionErrorCollector, parse_labels, parse_settings

OPTION = "--add-learner"


def add_learners(experiment: Experiment, names: list[str], assignments: list[str]) -> Experiment:
    """Return an experiment with more columns.

    Parameters
    ----------
    experiment : Experiment
        The experiment of a config.
    names : list of str
        Learners to add: registered names, or classes of packages or files, optionally as LABEL=LEARNER.
    assignments : list of str
        Their parameters, as LEARNER.KEY=VALUE.
    """
    if not names:
        if assignments:
            raise ConfigError(
                f"--set {assignments[0]}: there is no learner to set it for: name one with {OPTION}"
            )
        return experiment
    if any(spec.learner in MEASURES for spec in experiment.learners):
        raise ConfigError(f"{OPTION}: '{experiment.name}' measures data, so no learner can be added to it")
    taken = {spec.label for spec in experiment.learners}
    for label, name in parse_labels(names, OPTION).items():
        if label in taken:
            raise ConfigError(
                f"{OPTION}: '{experiment.name}' has a column '{label}': give this one another label, as in "
                f"other={name}"
            )
    mistakes, added = OptionErrorCollector(), []
    for label, entry in parse_settings(names, assignments).items():
        spec = build_learner_spec(label, entry, experiment.preprocess.seeding, mistakes)
        if spec is not None:
            added.append(spec.model_copy(update={"added": True}))
    mistakes.raise_errors()
    extended = experiment.model_copy(update={"learners": (*experiment.learners, *added)})
    check_metrics(extended, {}, mistakes)
    mistakes.raise_errors()
    return extended


def keep_added_learners(experiment: Experiment, folder: Path) -> tuple[Experiment, list[str]]:
    """Return an experiment with the columns that earlier runs of it added, and a note about them.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    folder : Path
        The results folder; its results of these learners are shown, but not continued.

    Returns
    -------
    experiment : Experiment
        The same experiment with these columns.
    notes : list of str
        A sentence that names them.
    """
    store, kept = Store(folder), []
    new = {spec.label for spec in experiment.learners}
    for manifest in store.read_manifests():
        if manifest.experiment.name == experiment.name:
            earlier = [spec for spec in manifest.experiment.learners if spec.added and spec.label not in new]
            kept += [spec for spec in earlier if has_results(experiment, spec, store)]
    if not kept:
        return experiment, []
    names = ", ".join(dict.fromkeys(spec.label for spec in kept))
    note = f"{folder} has results of {names}, added by an earlier run, which are shown, too"
    return experiment.model_copy(update={"learners": (*experiment.learners, *kept)}), [note]


def name_run(config: Path, added: list[str], assignments: list[str], allow_code: bool) -> tuple[str, list[str]]:
    """Return the origin of a run, its config or the command that adds to it, and the command that continues it.

    Parameters
    ----------
    config : Path
        The config.
    added, assignments : list of str
        The added learners and their parameters.
    allow_code : bool
        Whether other people's code was allowed.

    Returns
    -------
    source : str
        For the manifest.
    command : list of str
        The words of the command line.
    """
    command = ["run", str(config)]
    command += [word for name in added for word in (OPTION, name)]
    command += [word for text in assignments for word in ("--set", text)]
    command += ["--allow-code"] if allow_code else []
    return (shlex.join(["zoloss", *command]) if added else str(config)), command


def list_unchecked(experiment: Experiment) -> list[str]:
    """Return the learners of an experiment whose classes were not loaded, so their parameters are unknown."""
    return list(dict.fromkeys(spec.learner for spec in experiment.learners if is_unchecked(spec.learner)))
