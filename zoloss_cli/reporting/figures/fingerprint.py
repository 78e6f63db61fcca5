"""Which examples look typical, critical or noisy, by distance to the boundary: Figure 1.13 of Li's thesis."""

from __future__ import annotations

import numpy as np

from zoloss_cli.complexity.growth import NOISY_THRESHOLD, TYPICAL_THRESHOLD, categorize_contributions
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.examples import Examples, can_be_made, examples_of
from zoloss_cli.reporting.figures.facts import Place, contributions, first_draw
from zoloss_cli.reporting.measured import noise_of, scores_of
from zoloss_cli.reporting.results import RunResult

# As in the thesis: a dot, an empty circle, a filled square.
MARKS = {
    "typical": {"marker": ".", "markersize": 2.5, "color": "#6E6E6E"},
    "critical": {"marker": "o", "markersize": 4, "markerfacecolor": "none", "color": style.BLUE},
    "noisy": {"marker": "s", "markersize": 3, "color": style.VERMILLION},
}
RULES = {
    "typical": f"typical: below {TYPICAL_THRESHOLD:.2f}",
    "critical": "critical: between",
    "noisy": f"noisy: above {NOISY_THRESHOLD:g}",
}


def has_contributions(run: RunResult) -> bool:
    return bool(_contributed(run))


def fingerprint(run: RunResult):
    """The examples of the first draw in their order, wrong labels last, by category of average contribution."""
    place, draws = next(iter(_contributed(run).items()))
    draw, facts = first_draw(draws)
    scores, wrong = scores_of(facts)["auc"], noise_of(facts)
    examples = examples_of(run, place, draw, len(scores))
    order = np.argsort(wrong, kind="stable")
    heights, wrong = signed_distances(examples)[order], wrong[order]
    kinds = categorize_contributions(scores)[order]
    figure = style.new_figure(style.PAGE, 3.6)
    (axes,) = style.panels(figure, 1, 1)
    for kind, look in MARKS.items():
        at = np.flatnonzero(kinds == kind)
        axes.plot(at, heights[at], linestyle="none", label=RULES[kind], **look)
    axes.axhline(0.0, color=style.BLACK, linewidth=0.6)
    axes.axvline(np.sum(~wrong) - 0.5, color=style.BLACK, linewidth=0.8, linestyle=style.DASHED)
    axes.set(xlim=(-2, len(order) + 1), xlabel="example, those with wrong labels last")
    axes.set_ylabel("signed distance to the boundary")
    tellings = [f"{name} labels: {_tally(kinds[of])}" for name, of in (("right", ~wrong), ("wrong", wrong))]
    axes.set_title(f"draw {draw}\n" + "; ".join(tellings))
    style.legend_below(figure, [axes], 3)
    return figure


def signed_distances(examples: Examples) -> np.ndarray:
    """To the target's boundary, by its geometry: positive where the label is right, negative where wrong."""
    return np.where(examples.right, 1.0, -1.0) * examples.target.distances(examples.X)


def _contributed(run: RunResult) -> dict[Place, dict[int, dict]]:
    return {place: draws for place, draws in contributions(run).items() if can_be_made(run, place[0])}


def _tally(kinds: np.ndarray) -> str:
    return ", ".join(f"{np.sum(kinds == kind)} {kind}" for kind in MARKS)
