"""Scoring systems of growing size on your own table: training and cross-validated errors, and a suggestion."""

from __future__ import annotations

import json
import math
import re
import shlex
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.api.choose import SCORING_LEARNER, ScoringOptions, check_scoring, parse_learner
from zoloss_cli.api.fit import TableFit, fit_table
from zoloss_cli.api.fit_text import describe_table
from zoloss_cli.api.validation import MIN_SAMPLES, FoldPlan, iterate_held_out, plan_folds
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.learners.scoring.conditions import name_features
from zoloss_cli.report.render.render import Grid
from zoloss_cli.report.render.text import render_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SIZES = tuple(range(1, 11))
MAX_SIZE = 100  # of a readable card
PATH_SETTINGS = {"nodes": 500_000, "steps": 200}  # for each size, unless an option says otherwise


@dataclass(frozen=True)
class PathStep:
    """Rules of at most `size` terms.

    Attributes
    ----------
    size : int
        The maximum number of terms.
    terms : int
        The number of terms of the rule for all samples.
    errors, n : int
        Its training errors, and the number of training samples.
    is_proved : bool
        Whether no such rule has fewer.
    rates : tuple of float
        The error on each left-out part.
    """

    size: int
    terms: int
    errors: int
    n: int
    is_proved: bool
    rates: tuple[float, ...]

    @property
    def training_error(self) -> float:
        """The share of misclassified training samples."""
        return self.errors / self.n

    @property
    def validated_error(self) -> float:
        """The mean error on left-out samples."""
        return float(np.mean(self.rates))

    @property
    def stderr(self) -> float:
        """The standard error of that mean, as if the parts were independent."""
        return float(np.std(self.rates, ddof=1) / math.sqrt(len(self.rates)))


@dataclass(frozen=True)
class SizePath:
    """Scoring systems of several sizes, all validated on the same parts.

    Attributes
    ----------
    table : CsvTable
        The table.
    steps : tuple of PathStep
        One for each size, ascending.
    plan : FoldPlan
        How the error on other samples was estimated.
    notes : tuple of str
        Notes about the table and the fits.
    """

    table: CsvTable
    steps: tuple[PathStep, ...]
    plan: FoldPlan
    notes: tuple[str, ...] = field(default=())

    @property
    def best(self) -> PathStep:
        """The size with the smallest validated error; the smallest such size on a tie."""
        return min(self.steps, key=lambda step: (step.validated_error, step.size))

    @property
    def suggested(self) -> PathStep:
        """The smallest size whose validated error is within one standard error of the best one's."""
        most = self.best.validated_error + self.best.stderr
        return next(step for step in self.steps if step.validated_error <= most)


def parse_sizes(text: str | None) -> tuple[int, ...]:
    """Return the sizes from an option: 1..10, a list such as 2,4,8, or one number for all sizes up to it."""
    if text is None:
        return DEFAULT_SIZES
    if found := re.fullmatch(r"\s*(\d+)\s*\.\.\s*(\d+)\s*", text):
        first, last = int(found[1]), int(found[2])
        sizes = list(range(first, min(last, MAX_SIZE + 1) + 1))
    elif re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", text):
        numbers = [int(part) for part in text.split(",")]
        alone = range(1, min(numbers[0], MAX_SIZE + 1) + 1)
        sizes = sorted(set(numbers)) if len(numbers) > 1 else list(alone)
    else:
        raise ConfigError(
            f"--max-terms: '{text}' is not a range of sizes; write it as 1..10, or as a list 2,4,8"
        )
    if not sizes or min(sizes) < 1 or max(sizes) > MAX_SIZE:
        raise ConfigError(f"--max-terms: '{text}' must ask for sizes from 1 to {MAX_SIZE}, the smallest first")
    return tuple(sizes)


@dataclass(frozen=True)
class PathRequest:
    """A path as described by options.

    Attributes
    ----------
    sizes : tuple of int or None
        The maximum numbers of terms; None for 1 to 10, as far as the table has conditions.
    scoring : ScoringOptions
        Other options for a scoring system.
    assignments : list of str
        Its other parameters as KEY=VALUE.
    positive : str or None
        The class against the rest.
    seed : int
        The seed of all random numbers.
    """

    sizes: tuple[int, ...] | None
    scoring: ScoringOptions
    assignments: list[str]
    positive: str | None = None
    seed: int = 1

    def parse(self, size: int) -> LearnerSpec:
        """Return the validated learner for a size."""
        keys = {text.partition("=")[0].strip() for text in self.assignments}
        if "max_terms" in keys:
            raise ConfigError("--set max_terms: --max-terms sets the sizes of a path; leave it out")
        own = replace(self.scoring, max_terms=size).list_assignments(SCORING_LEARNER)
        own += [f"{key}={value}" for key, value in PATH_SETTINGS.items() if key not in keys]
        return parse_learner(SCORING_LEARNER, [*own, *self.assignments], None)

    def run(self, table: CsvTable, report: Callable[[int], object]) -> SizePath:
        """Fit and validate all sizes.

        Parameters
        ----------
        table : CsvTable
            The table.
        report : callable
            Called with the next size.

        Returns
        -------
        SizePath
            The finished sizes: Ctrl-C leaves out the rest, and a note says so.
        """
        y, classes = table.index_classes(self.positive)
        if len(y) < MIN_SAMPLES:
            raise DataError(f"{table.path}: {len(y)} samples are too few for a path, which needs {MIN_SAMPLES}")
        sizes = self.sizes
        if len(classes) == 2:
            smallest = 1 if sizes is None else sizes[0]
            count = check_scoring(table, y, self.parse(smallest), None if sizes is None else max(sizes))
            sizes = sizes or tuple(size for size in DEFAULT_SIZES if size <= count)
        steps: list[PathStep] = []
        notes = list(table.notes)
        with name_features(table.features):
            for size in sizes or DEFAULT_SIZES:
                try:
                    report(size)
                    step, plan = self._take_step(table, size)
                except (KeyboardInterrupt, UserWarning):
                    notes.append(f"interrupted: the sizes from {size} on are left out")
                    break
                steps.append(step)
        if not steps:
            raise KeyboardInterrupt
        return SizePath(table, tuple(steps), plan, tuple(notes))

    def _take_step(self, table: CsvTable, size: int) -> tuple[PathStep, FoldPlan]:
        """Return a step; an interrupted search raises KeyboardInterrupt or its warning."""
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*interrupted after")
            fitted = fit_table(table, self.parse(size), self.positive, "none", self.seed)
            if any("interrupted after" in note for note in fitted.notes):
                raise KeyboardInterrupt
            return validate_size(fitted, size)


def validate_size(fitted: TableFit, size: int) -> tuple[PathStep, FoldPlan]:
    """Return a step of the path from the fit to all samples, with errors on left-out parts.

    Parameters
    ----------
    fitted : TableFit
        The fit.
    size : int
        The maximum number of terms.

    Returns
    -------
    step : PathStep
        The step.
    plan : FoldPlan
        The parts, which are the same for all sizes.
    """
    plan = plan_folds(fitted.learner, len(fitted.y), fitted.seconds)
    try:
        rates = [
            float(np.mean(part.predictions != fitted.y[part.indices]))
            for part in iterate_held_out(plan, fitted.fold_data)
        ]
    except ValueError as error:
        raise DataError(f"{fitted.table.path}: a part of the samples cannot be fitted: {error}") from None
    terms = len(fitted.estimator.points_)
    step = PathStep(size, terms, fitted.errors, len(fitted.y), bool(fitted.is_optimal), tuple(rates))
    return step, plan


def render_path_text(path: SizePath) -> str:
    """Return the table of sizes, and the suggestion."""
    lines = [
        [
            f"{step.size}",
            f"{step.terms}",
            f"{step.errors:,}",
            f"{100 * step.training_error:.2f}",
            "yes" if step.is_proved else "no",
            f"{100 * step.validated_error:.2f} ± {100 * step.stderr:.2f}",
            "suggested" if step is path.suggested else "smallest" if step is path.best else "",
        ]
        for step in path.steps
    ]
    header = ["at most", "terms", "errors", "training %", "proved", "validated %", ""]
    folds = (
        f"{path.plan.folds}-fold cross-validation, {path.plan.repeats} repeat{'s' * (path.plan.repeats != 1)}"
    )
    note = f"validated: {folds}, mean ± standard error; proved: no rule of this size has fewer training errors"
    best, chosen, where = path.best, path.suggested, shlex.quote(str(path.table.path))
    rule = (
        f"which {'has' if best.size == 1 else 'have'} the smallest validated error"
        if chosen is best
        else f"the fewest within one standard error of the smallest validated error, which {best.size} have"
    )
    return "\n".join(
        [
            f"data      {describe_table(path.table)}",
            "",
            render_grid(Grid(header=header, lines=lines, n_left=0, notes=[note])),
            "",
            f"suggested {chosen.size} term{'s' * (chosen.size != 1)}, {rule}",
            f"          zoloss fit {where} --learner scoring --max-terms {chosen.size}",
        ]
    )


def render_path_json(path: SizePath) -> str:
    """Return the path as one JSON object."""
    content = {
        "label": path.table.label,
        "n": path.steps[0].n,
        "folds": path.plan.folds,
        "repeats": path.plan.repeats,
        "steps": [
            {
                "max_terms": step.size,
                "terms": step.terms,
                "errors": step.errors,
                "error_rate": step.training_error,
                "optimal": step.is_proved,
                "validated_error_rate": step.validated_error,
                "stderr": step.stderr,
            }
            for step in path.steps
        ],
        "smallest": path.best.size,
        "suggested": path.suggested.size,
        "notes": list(path.notes),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def draw_path(path: SizePath) -> Figure:
    """Draw training and validated errors against the size, with the suggestion."""
    from zoloss_cli.figures import style

    sizes = [step.size for step in path.steps]
    with style.apply_style():
        figure = style.new_figure(style.COLUMN, 2.6)
        axes = figure.subplots()
        axes.plot(
            sizes,
            [100 * step.training_error for step in path.steps],
            color=style.BLUE,
            marker="o",
            label="training",
        )
        axes.errorbar(
            sizes,
            [100 * step.validated_error for step in path.steps],
            yerr=[100 * step.stderr for step in path.steps],
            color=style.VERMILION,
            linestyle=style.DASHED,
            marker="s",
            capsize=2,
            label="validated, ± standard error",
        )
        most = 100 * (path.best.validated_error + path.best.stderr)
        axes.axhline(most, color=style.BLACK, linestyle=style.DOTTED, linewidth=0.8, label="one standard error")
        chosen = path.suggested
        axes.plot(
            [chosen.size],
            [100 * chosen.validated_error],
            linestyle="none",
            marker="o",
            markersize=9,
            markerfacecolor="none",
            markeredgecolor=style.BLACK,
            label=f"suggested: {chosen.size}",
        )
        axes.set(xlabel="terms, at most", ylabel="errors (%)", xticks=sizes)
        axes.set_ylim(bottom=0)
        style.add_legend_below(figure, [axes], 2)
        return figure
