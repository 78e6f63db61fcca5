"""The same boosting with several cost functions, a panel each: Figure 3.1 of Li's thesis (2006)."""

from __future__ import annotations

import string

from zoloss_cli.registry import LEARNERS
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.curves import with_band
from zoloss_cli.reporting.figures.style import Look
from zoloss_cli.reporting.results import RunResult

# A margin far below 0 has the bisigmoid cost 2, and is one error: in % that is 50 times the cost.
SCALE = {"cost": 50.0, "train_error": 1.0, "test_error": 1.0}
SHOWN = {
    "cost": (f"{SCALE['cost']:.0f} × cost", style.BLACK, "o"),
    "train_error": ("training error", style.BLUE, "s"),
    "test_error": ("test error", style.VERMILLION, "^"),
}


def has_cost_functions(run: RunResult) -> bool:
    return bool(_by_cost_function(run))


def by_cost_function(run: RunResult):
    """Cost, training and test errors by round in one panel a cost function; CGBoost solid, others dashed."""
    panels = _by_cost_function(run)
    figure = style.new_figure(style.PAGE if len(panels) > 1 else style.COLUMN, 3.2)
    axes = style.panels(figure, len(panels), len(panels), sharey=True)
    for panel, letter, (cost, entries) in zip(axes, string.ascii_lowercase, panels.items(), strict=False):
        for place, metric in enumerate(SHOWN):
            for entry in sorted(entries, key=_others_last):
                _draw(panel, run, entry, metric, place)
        panel.set_xlim(left=0)
        panel.set(xlabel="rounds", title=f"({letter}) {cost} cost")
    axes[0].set_ylabel("error (%), scaled cost")
    style.legend_below(figure, axes, 3 if len(panels) > 1 else 2)
    return figure


def _by_cost_function(run: RunResult) -> dict[str, list[dict]]:
    """The learners of each cost function that recorded all that is shown, on the run's first data set."""
    found: dict[str, list[dict]] = {}
    for entry in run.experiment["learners"]:
        curves = run.curves.get((run.datasets[0], entry["label"]))
        cost = dict(entry["settings"]).get("cost")
        if cost and curves and SHOWN.keys() <= curves.values.keys():
            found.setdefault(cost, []).append(entry)
    return found


def _draw(axes, run: RunResult, entry: dict, metric: str, place: int) -> None:
    curves, (name, colour, marker) = run.curves[run.datasets[0], entry["label"]], SHOWN[metric]
    dashed = _others_last(entry)
    look = Look(colour, style.DASHED if dashed else style.SOLID, marker)
    mean, stderr = (SCALE[metric] * values for values in (curves.mean(metric), curves.stderr(metric)))
    step = len(mean) // style.MARKS_A_LINE // (2 * len(SHOWN))
    shift = (2 * place + dashed) * step
    title = f"{name}, {LEARNERS[entry['learner']].title}"
    with_band(axes, curves.epochs, mean, stderr, look, title, shift)


def _others_last(entry: dict) -> bool:
    return entry["learner"] != "cgboost"
