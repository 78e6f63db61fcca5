"""Packages that the learners of a run need: a missing one is reported before the first task."""

from __future__ import annotations

from collections.abc import Iterable

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.errors import MissingPackageError
from zoloss_cli.experiment.fitting import walk_learners
from zoloss_cli.experiment.pending import find_pending
from zoloss_cli.experiment.plan import Cell
from zoloss_cli.learners.needed_package import NeededPackage
from zoloss_cli.registry import MEASURES, make_learner
from zoloss_cli.results.store import Store
from zoloss_cli.utils.optional_imports import build_missing_error, is_installed


def find_missing_needs(spec: LearnerSpec) -> list[tuple[LearnerSpec, NeededPackage]]:
    """Return what is not installed, with the learner that needs it: this one, or one inside it."""
    return [
        (each, need)
        for each in walk_learners(spec)
        if each.learner not in MEASURES  # which need no package
        for need in make_learner(each.source, each.parameters).list_needed_packages()
        if not is_installed(need.module)
    ]


def list_missing_packages(spec: LearnerSpec) -> list[MissingPackageError]:
    """Return what is needed but not installed, for a learner, its candidates, and the learners inside them.

    Parameters
    ----------
    spec : LearnerSpec
        The learner as a config names it.

    Returns
    -------
    list of MissingPackageError
        One sentence each, naming the learner and the package.
    """
    return [
        build_missing_error(need.module, f"the learner '{each.learner}'", need.purpose, need.instead)
        for each, need in find_missing_needs(spec)
    ]


def check_packages(cells: Iterable[Cell], store: Store, fresh: bool) -> None:
    """Raise MissingPackageError if a pending task needs a package that is not installed.

    Parameters
    ----------
    cells : iterable of Cell
        The cells to run.
    store : Store
        Where results are stored: complete cells need no packages.
    fresh : bool
        Whether all tasks run again.
    """
    lines: dict[str, None] = {}
    found = Store(store.folder)  # a separate one: its notes come again when the run reads
    for cell in cells:
        missing = list_missing_packages(cell.learner)
        if missing and (fresh or find_pending(cell, found.read(cell.filename, cell.key)).splits):
            lines.update(dict.fromkeys(map(str, missing)))
    if lines:
        raise MissingPackageError("\n".join(lines))
