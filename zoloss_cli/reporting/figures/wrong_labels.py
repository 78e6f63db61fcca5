"""What tells examples with wrong labels from others: Figures 1.11 and 1.12 of Li's thesis (2006)."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

import numpy as np

from zoloss_cli.complexity.growth import compute_mean_growth
from zoloss_cli.metrics.roc import compute_auc, compute_roc_curve
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.facts import first_draw, paths_by_size, signs
from zoloss_cli.reporting.measured import noise_of, scores_of
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles

BAND = 0.2  # how opaque
LIMIT, SAID = 2.5, "wrong, thesis: around 2.5"  # what they converge to
LONGEST = style.LONGEST_NAME - len(": 0.000")
NEAR = 0.35  # the corner of good signs
ESTIMATORS = {"auc": "average contribution", "auc_least_squares": "least squares"}  # of contributions


def has_sizes(run: RunResult) -> bool:
    return bool(paths_by_size(run))


def contribution_by_size(run: RunResult):
    """What an example adds to a subset, by the subset's size: the mean of all draws and their range."""
    draws = next(iter(paths_by_size(run).values()))
    size = len(first_draw(draws)[1]["growth_by_size"])
    curves = [mean_growth(facts) for facts in draws.values() if len(facts["growth_by_size"]) == size]
    several = "" if len(curves) == 1 else f", mean of {len(curves)} draws and their range"
    figure = style.new_figure(style.PAGE, 3.2)
    (axes,) = style.panels(figure, 1, 1)
    for name, group, colour in (("wrong", 1, style.VERMILLION), ("right", 0, style.BLUE)):
        of_draws = np.array([curve[group] for curve in curves])
        counted = np.isfinite(of_draws).any(axis=0)  # in a few paths no wrong label may have come so early
        x, of_draws = np.flatnonzero(counted), of_draws[:, counted]
        axes.plot(x, np.nanmean(of_draws, axis=0), color=colour, label=f"{name} labels")
        if several:
            low, high = np.nanmin(of_draws, axis=0), np.nanmax(of_draws, axis=0)
            axes.fill_between(x, low, high, color=colour, alpha=BAND, linewidth=0)
    axes.axhline(LIMIT, color=style.BLACK, linewidth=0.8, linestyle=style.DOTTED, label=SAID)
    axes.set(xlim=(0, size), xlabel="subset size", ylabel="average complexity contribution")
    axes.set_title(f"{size} examples{several}")
    style.legend_below(figure, [axes], 3)
    return figure


def mean_growth(facts: dict) -> np.ndarray:
    """The mean growth of the complexity by subset size, of right labels (row 0) and wrong ones; NaN for none.

    In every path one example joins at each size, so that those who are not wrong are the rest of all paths.
    """
    wrong = np.asarray(facts["flipped_times_by_size"], dtype=float)
    times = np.array([int(facts["permutations"]) - wrong, wrong])
    growth = np.array([facts["growth_by_size"], facts["flipped_growth_by_size"]], dtype=float)
    return compute_mean_growth(growth, times)


# -- ROC curves -------------------------------------------------------------------------------------------


def has_signs(run: RunResult) -> bool:
    return bool(signs(run))


def roc_curves(run: RunResult):
    """The curves of one draw, whole and near their best corner, of every column that has it.

    It is the first draw of the first data set that most columns have. AUCs are means over the data set with the
    most draws, and the legend has the best first.
    """
    places = signs(run)
    dataset = next(iter(places))[0]
    found = {learner: draws for (d, learner), draws in places.items() if d == dataset}
    common = Counter(draw for draws in found.values() for draw in draws)
    shown = max(sorted(common), key=lambda draw: common[draw])
    names = _names(run, found)
    curves, areas = {}, {}
    for (learner, metric), name in names.items():
        if shown in found[learner]:
            facts = found[learner][shown]
            curves[name] = compute_roc_curve(scores_of(facts)[metric], noise_of(facts))
            most = max((draws for (_, x), draws in places.items() if x == learner), key=len)
            areas[name] = [compute_auc(scores_of(f)[metric], noise_of(f)) for f in most.values()]
    return _panels(curves, areas, shown)


def _names(run: RunResult, found: dict[str, dict[int, dict]]) -> dict[tuple[str, str], str]:
    """(column, metric) -> what its curve is called: of contributions there are two estimators."""
    titles, names = column_titles(run.learners), {}
    contributed = [learner for learner, draws in found.items() if "growth" in first_draw(draws)[1]]
    for learner, draws in found.items():
        for metric in scores_of(first_draw(draws)[1]):
            if learner not in contributed:
                names[learner, metric] = titles[learner]
            elif len(contributed) == 1:
                names[learner, metric] = ESTIMATORS[metric]
            else:
                names[learner, metric] = f"{titles[learner]}, {ESTIMATORS[metric].split()[0]}"
    return names


def _panels(curves: dict[str, tuple], areas: dict[str, list[float]], draw: int):
    figure = style.new_figure(style.PAGE, 4.0)
    panels = style.panels(figure, 2, 2)
    labels = {name: f"{_short(name)}: {fmean(areas[name]):.3f}" for name in curves}
    for panel, limit in zip(panels, (1.0, NEAR), strict=True):
        for name, look in zip(curves, style.looks(len(curves)), strict=True):
            panel.plot(*curves[name], color=look.colour, linestyle=look.dashes, label=labels[name])
        room = 0.02 * limit
        panel.set(xlim=(-room, limit), ylim=(-room, limit), xlabel="false positive rate", aspect="equal")
    panels[0].set_ylabel("false negative rate")
    counts = sorted({len(several) for several in areas.values()})
    of = "AUC" if counts == [1] else f"mean AUC of {' or '.join(map(str, counts))} draws"
    panels[0].set_title(f"draw {draw}; in the legend: {of}")
    panels[1].set_title("the corner of the best")
    best_first = sorted(curves, key=lambda name: -fmean(areas[name]))
    style.legend_below(figure, panels, 3, [labels[name] for name in best_first])
    return figure


def _short(name: str) -> str:
    """So that there is room for a number in the legend."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
