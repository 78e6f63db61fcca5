"""The examples that something was measured of, made again, and how they look in the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.retrain import cell_of
from zoloss_cli.experiment.split_data import part_of
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.facts import Place
from zoloss_cli.reporting.figures.target import KNOWN, Target, target_of
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.results.manifest import command_of

MARKS = ("x", "+")  # of class 0, on grey, and class 1, on white: as in the thesis
SIDES = ("grey", "white")


@dataclass(frozen=True)
class Examples:
    X: np.ndarray
    y: np.ndarray  # 0 or 1
    right: np.ndarray  # whether y is what the target says
    classes: list[str]
    target: Target


def can_be_made(run: RunResult, dataset: str) -> bool:
    """Whether all rows of a set were measured, whose target can be drawn."""
    return run.generator(dataset) in KNOWN and run.whole(dataset)


def examples_of(run: RunResult, place: Place, draw: int, count: int) -> Examples:
    """The examples of a draw, which must be as many as something was measured of."""
    cell = cell_of(run, *place)
    part = part_of(cell, draw)
    data, rows = part.data, part.learned_from
    if len(rows) != count:
        raise ResultsError(
            f"{place[1]} on {place[0]} was measured of {count} examples where draw {draw} has {len(rows)}: the "
            f"results of '{run.name}' were changed; run: {command_of(run.manifest, fresh=True)}"
        )
    y = data.y[rows]
    return Examples(data.X[rows], y, y == data.truth[rows], data.classes, target_of(cell.data))


def show(axes, examples: Examples, rows: np.ndarray | None = None, size: float = 4.0) -> None:
    """The examples of these rows, or all, marked by their class."""
    rows = np.arange(len(examples.y)) if rows is None else rows
    for index, (mark, side) in enumerate(zip(MARKS, SIDES, strict=True)):
        X = examples.X[rows[examples.y[rows] == index]]
        axes.plot(
            *X.T, linestyle="none", marker=mark, color=style.BLACK, markersize=size, markeredgewidth=0.8,
            label=f"class {examples.classes[index]} ({side})",
        )  # fmt: skip
