"""Compile kernels ahead of their first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zoloss_cli.experiment.warming import compile_kernels
from zoloss_cli.registry import LEARNERS
from zoloss_cli.workflows.learner_options import parse_learner


def warm_up_learners(names: Sequence[str], report: Callable[[int, int], object]) -> tuple[int, float]:
    """Compile the kernels of learners, or load those already compiled.

    Parameters
    ----------
    names : sequence of str
        The learners' names; none for all of them.
    report : callable
        Called with the number of learners done and the total.

    Returns
    -------
    count : int
        The number of learners.
    seconds : float
        How long it took.
    """
    specs = [parse_learner(name, [], None) for name in names or LEARNERS.builtin]
    return len(specs), compile_kernels(specs, report)
