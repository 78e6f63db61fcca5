"""A path over sizes, as text, as one JSON object, and as a figure."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from zoloss_cli.reporting.render.grid import Grid
from zoloss_cli.reporting.render.text import render_grid
from zoloss_cli.workflows.fit_text import describe_table
from zoloss_cli.workflows.size_path import SizePath

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    from zoloss_cli.reporting.figures import style

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
