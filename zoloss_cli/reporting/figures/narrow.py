"""Parts of runs: only some data sets and learners, and the parts with a picture each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from zoloss_cli.errors import ResultsError, suggest_nearest
from zoloss_cli.reporting.figures.kind import FigureKind
from zoloss_cli.reporting.run_result import RunResult


def narrow_run(run: RunResult, datasets: Sequence[str], learners: Sequence[str]) -> RunResult:
    """Return the run with only these data sets and learners, if any are named."""
    for what, wanted, known in (("data set", datasets, run.datasets), ("learner", learners, run.learners)):
        for name in wanted:
            if name not in known:
                raise ResultsError(f"'{run.name}' has no {what} '{name}'{suggest_nearest(name, known)}")
    kept_data, kept_learners = set(datasets or run.datasets), set(learners or run.learners)
    experiment = run.experiment
    changes: dict[str, Any] = {"datasets": tuple(d for d in experiment.datasets if d.name in kept_data)}
    if experiment.ratios:
        changes["ratios"] = {x: ratio for x, ratio in experiment.ratios.items() if x in kept_learners}
        columns = {spec.label for spec in experiment.learners}
    else:
        changes["learners"] = tuple(spec for spec in experiment.learners if spec.label in kept_learners)
        columns = kept_learners
    manifest = replace(
        run.manifest,
        experiment=experiment.model_copy(update=changes),
        cells=[c for c in run.manifest.cells if c.dataset in kept_data and c.learner in columns],
    )
    kept = {(dataset, learner) for dataset in kept_data for learner in kept_learners}
    return replace(
        run,
        manifest=manifest,
        cells={place: cell for place, cell in run.cells.items() if place in kept},
        measurements={place: draws for place, draws in run.measurements.items() if place in kept},
    )


def split_into_pages(kind: FigureKind, run: RunResult) -> list[RunResult]:
    """Return the parts of a run that a figure shows on one page each: as many panels as are readable.

    Parameters
    ----------
    kind : FigureKind
        The figure, which says how many data sets and learners a page has.
    run : RunResult
        The run.

    Returns
    -------
    list of RunResult
        Only the run itself if one page suffices.
    """
    datasets = _split(run.datasets, kind.datasets_per_page)
    learners = _split(run.learners, kind.learners_per_page)
    if len(datasets) * len(learners) == 1:
        return [run]
    shown = [d for d in run.datasets if kind.accepts(narrow_run(run, [d], []))]
    parts = [
        narrow_run(run, some, others) for some in _split(shown, kind.datasets_per_page) for others in learners
    ]
    return [part for part in parts if kind.accepts(part)] or [run]


def _split(names: list[str], size: int) -> list[list[str]]:
    """Return names in groups of nearly equal size, none larger than `size`; 0 for one group of all."""
    n_groups = -(-len(names) // size) if size and names else 1
    each, larger = divmod(len(names), n_groups)
    starts = [i * each + min(i, larger) for i in range(n_groups + 1)]
    return [names[first:last] for first, last in pairwise(starts)]
