"""Learners that the user did not name and whose packages are missing: left out, or started differently."""

from __future__ import annotations

from dataclasses import replace

from zoloss_cli.experiment.packages import find_missing_needs
from zoloss_cli.utils.optional_imports import find_install_name
from zoloss_cli.workflows.evaluate import Evaluation

OTHER_START = "seeding=fld"


def adapt_to_packages(evaluation: Evaluation) -> tuple[Evaluation, list[str]]:
    """Return an evaluation of the learners for which packages are installed, and a note about the changes.

    Parameters
    ----------
    evaluation : Evaluation
        A comparison of the usual learners, which the user did not choose.

    Returns
    -------
    evaluation : Evaluation
        The same if nothing is missing. Otherwise without the learners that need what is missing; those that
        need it only for their start begin from Fisher's linear discriminant, by one of their parameters.
    notes : list of str
        One sentence if something was changed.
    """
    left_out: list[str] = []
    restarted: list[str] = []
    packages: list[str] = []
    for spec in evaluation.to_experiment().learners:
        needs = find_missing_needs(spec)
        if not needs:
            continue
        packages += [find_install_name(need.module) for _, need in needs]
        only_start = all(inner == spec and need.instead for inner, need in needs)
        (restarted if only_start else left_out).append(spec.label)
    if not packages:
        return evaluation, []
    adapted = replace(
        evaluation,
        learners=[name for name in evaluation.learners if name not in left_out],
        assignments=[*evaluation.assignments, *(f"{name}.{OTHER_START}" for name in restarted)],
    )
    return adapted, [_describe_changes(left_out, restarted, list(dict.fromkeys(packages)))]


def _describe_changes(left_out: list[str], restarted: list[str], packages: list[str]) -> str:
    changes = []
    if left_out:
        changes.append(f"{_join(left_out)} {'is' if len(left_out) == 1 else 'are'} left out")
    if restarted:
        verb = "starts" if len(restarted) == 1 else "start"
        changes.append(f"{_join(restarted)} {verb} from Fisher's linear discriminant")
    missing = f"{_join(packages)} {'is' if len(packages) == 1 else 'are'} not installed"
    return f"{missing}, so {', and '.join(changes)}: pip install {' '.join(packages)}"


def _join(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
