"""Scoring systems of increasing size on a table: training and cross-validated errors, and a suggested size."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.api.choose import SCORING_LEARNER, ScoringOptions, check_scoring, parse_learner
from zoloss_cli.api.fit import TableFit, describe_table, fit_table
from zoloss_cli.api.validation import MIN_SAMPLES, FoldPlan, iterate_held_out, plan_folds
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.learners.base import name_features
from zoloss_cli.report.render import Grid, render_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SIZES = tuple(range(1, 11))
MAX_SIZE = 100  # of a readable card
PATH_SETTINGS = {"nodes": 500_000, "steps": 200}  # for each size, unless an option says otherwise


@dataclass(frozen=True)
class PathStep:
    """Rules of at most `size` terms."""

    size: int
    terms: int  # of the rule for all samples
    errors: int  # its training errors
    n: int  # training samples
    is_proved: bool  # whether it is proved that no such rule has fewer
    rates: tuple[float, ...]  # the error on each held-out fold

    @property
    def training_error(self) -> float:
        """The share of misclassified training samples."""
        return self.errors / self.n

    @property
    def validated_error(self) -> float:
        """The mean error on held-out samples."""
        return float(np.mean(self.rates))

    @property
    def stderr(self) -> float:
        """The standard error of that mean, as if the folds were independent."""
        return float(np.std(self.rates, ddof=1) / math.sqrt(len(self.rates)))


@dataclass(frozen=True)
class SizePath:
    """Scoring systems of several sizes, all validated on the same folds."""

    table: CsvTable
    steps: tuple[PathStep, ...]  # one for each size, ascending
    plan: FoldPlan  # how the error on new samples was estimated
    notes: tuple[str, ...] = ()  # about the table and the fits
    options: dict[str, Any] = field(default_factory=dict)  # as given, to fit one of the sizes

    @property
    def best(self) -> PathStep:
        """The size with the smallest validated error; the smallest such size on a tie."""
        return min(self.steps, key=lambda step: (step.validated_error, step.size))

    @property
    def suggested(self) -> PathStep:
        """The smallest size whose validated error is within one standard error of the best."""
        most = self.best.validated_error + self.best.stderr
        return next(step for step in self.steps if step.validated_error <= most)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Parse the sizes: 1..10, a list such as 2,4,8, or one number for all sizes up to it."""
    if found := re.fullmatch(r"\s*(?:(\d+)\s*\.\.)?\s*(\d+)\s*", text):
        sizes = list(range(int(found[1] or 1), min(int(found[2]), MAX_SIZE + 1) + 1))
    elif re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", text):
        sizes = sorted({int(part) for part in text.split(",")})
    else:
        raise ConfigError(
            f"--max-terms: '{text}' is not a range of sizes; write it as 1..10, or as a list 2,4,8"
        )
    if not sizes or min(sizes) < 1 or max(sizes) > MAX_SIZE:
        raise ConfigError(f"--max-terms: '{text}' must be sizes from 1 to {MAX_SIZE}, in ascending order")
    return tuple(sizes)


@dataclass(frozen=True)
class PathRequest:
    """A path as described by options."""

    sizes: tuple[int, ...] | None  # maximum numbers of terms; None: 1 to 10, as far as there are conditions
    scoring: ScoringOptions  # other options for a scoring system
    assignments: list[str]  # its other parameters as KEY=VALUE
    positive: str | None = None  # the class against the rest
    seed: int = 1  # the seed of all random numbers

    def parse(self, size: int) -> LearnerSpec:
        """Return the validated learner for a size."""
        keys = {text.partition("=")[0].strip() for text in self.assignments}
        if "max_terms" in keys:
            raise ConfigError("--set max_terms: --max-terms sets the sizes of a path; leave it out")
        own = replace(self.scoring, max_terms=size).list_assignments(SCORING_LEARNER)
        own += [f"{key}={value}" for key, value in PATH_SETTINGS.items() if key not in keys]
        return parse_learner(SCORING_LEARNER, [*own, *self.assignments], None)

    def run(self, table: CsvTable, report: Callable[[int], object]) -> SizePath:
        """Fit and validate all sizes."""
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
        with name_features(table.features), warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*interrupted after")
            for size in sizes or DEFAULT_SIZES:
                try:
                    report(size)
                    fitted = fit_table(table, self.parse(size), self.positive, "none", self.seed)
                    if any("interrupted after" in note for note in fitted.notes):
                        raise KeyboardInterrupt
                    step, plan = _validate_size(fitted, size)
                except (KeyboardInterrupt, UserWarning):
                    notes.append(f"interrupted: the sizes from {size} on are left out")
                    break
                steps.append(step)
        if not steps:
            raise KeyboardInterrupt
        options = {**vars(self.scoring), "positive": self.positive, "set": self.assignments}
        options |= {"seed": self.seed} if self.seed != PathRequest.seed else {}
        return SizePath(table, tuple(steps), plan, tuple(notes), options)


def _validate_size(fitted: TableFit, size: int) -> tuple[PathStep, FoldPlan]:
    """Return a step of the path: the fit to all samples, and the errors on held-out folds."""
    plan = plan_folds(fitted.learner, len(fitted.y), fitted.seconds)
    try:
        rates = [
            float(np.mean(part.predictions != fitted.y[part.indices]))
            for part in iterate_held_out(plan, fitted.fold_data)
        ]
    except ValueError as error:
        raise DataError(f"{fitted.table.path}: a fold cannot be fitted: {error}") from None
    terms = len(fitted.estimator.points_)
    step = PathStep(size, terms, fitted.errors, len(fitted.y), bool(fitted.is_optimal), tuple(rates))
    return step, plan


def render_text(path: SizePath) -> str:
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
    note = (
        f"validated: {path.plan.describe()}, mean ± standard error; proved: no rule of this size has fewer "
        "training errors"
    )
    best, chosen = path.best, path.suggested
    options = {"learner": SCORING_LEARNER, **path.options, "max_terms": chosen.size}
    command = path.table.suggest("fit", **options)
    reason = f"the fewest within one standard error of the smallest validated error, that of {best.size} terms"
    if chosen is best:
        reason = f"which {'has' if best.size == 1 else 'have'} the smallest validated error"
    grid = render_grid(Grid(header=header, lines=lines, n_left=0, notes=[note]))
    return (
        f"data      {describe_table(path.table)}\n\n{grid}\n\n"
        f"suggested {chosen.size} term{'s' * (chosen.size != 1)}, {reason}\n"
        f"          {command}"
    )


def render_json(path: SizePath) -> str:
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

    sizes, chosen = [step.size for step in path.steps], path.suggested
    trained = [100 * step.training_error for step in path.steps]
    validated = [100 * step.validated_error for step in path.steps]
    spread = [100 * step.stderr for step in path.steps]
    limit = 100 * (path.best.validated_error + path.best.stderr)
    bars: dict[str, Any] = {"color": style.VERMILION, "linestyle": style.DASHED, "marker": "s", "capsize": 2}
    ring: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 9, "markerfacecolor": "none"}
    with style.apply_style():
        figure = style.new_figure(style.COLUMN, 2.6)
        axes = figure.subplots()
        axes.plot(sizes, trained, color=style.BLUE, marker="o", label="training")
        axes.errorbar(sizes, validated, yerr=spread, label="validated, ± standard error", **bars)
        axes.axhline(
            limit, color=style.BLACK, linestyle=style.DOTTED, linewidth=0.8, label="one standard error"
        )
        at = [chosen.size], [100 * chosen.validated_error]
        axes.plot(*at, markeredgecolor=style.BLACK, label=f"suggested: {chosen.size}", **ring)
        axes.set(xlabel="terms, at most", ylabel="errors (%)", xticks=sizes)
        axes.set_ylim(bottom=0)
        style.add_legend_below(figure, [axes], 2)
        return figure
