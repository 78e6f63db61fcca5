"""Which samples look typical, critical or noisy, by distance to the boundary: Figure 1.13 of Li's thesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.complexity.growth import NOISY_THRESHOLD, TYPICAL_THRESHOLD, categorize_contributions
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.measurements import OutlierScores, find_contributions, find_first_draw
from zoloss_cli.reporting.figures.samples import PlaneSamples, can_generate, generate_samples
from zoloss_cli.reporting.run_result import Place, RunResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# As in the thesis: a dot, an empty circle, a filled square.
MARKERS: dict[str, dict[str, Any]] = {
    "typical": {"marker": ".", "markersize": 2.5, "color": "#6E6E6E"},
    "critical": {"marker": "o", "markersize": 4, "markerfacecolor": "none", "color": style.BLUE},
    "noisy": {"marker": "s", "markersize": 3, "color": style.VERMILION},
}
CATEGORY_LABELS = {
    "typical": f"typical: below {TYPICAL_THRESHOLD:.2f}",
    "critical": "critical: between",
    "noisy": f"noisy: above {NOISY_THRESHOLD:g}",
}


def has_contributions(run: RunResult) -> bool:
    """Return whether contributions were measured for samples that can be regenerated."""
    return bool(_find_drawable(run))


def draw_fingerprint(run: RunResult) -> Figure:
    """Draw the samples of the first draw in order, wrong labels last, by category of contribution."""
    place, draws = next(iter(_find_drawable(run).items()))
    draw, found = find_first_draw(draws)
    scores, wrong = found.scores["auc"], found.is_flipped
    samples = generate_samples(run, place, draw, len(scores))
    order = np.argsort(wrong, kind="stable")
    heights, wrong = compute_signed_distances(samples)[order], wrong[order]
    categories = categorize_contributions(scores)[order]
    figure = style.new_figure(style.PAGE, 3.6)
    (axes,) = style.add_panels(figure, 1, 1)
    for category, look in MARKERS.items():
        at = np.flatnonzero(categories == category)
        axes.plot(at, heights[at], linestyle="none", label=CATEGORY_LABELS[category], **look)
    axes.axhline(0.0, color=style.BLACK, linewidth=0.6)
    axes.axvline(np.sum(~wrong) - 0.5, color=style.BLACK, linewidth=0.8, linestyle=style.DASHED)
    axes.set(xlim=(-2, len(order) + 1), xlabel="sample, those with wrong labels last")
    axes.set_ylabel("signed distance to the boundary")
    parts = {"right": categories[~wrong], "wrong": categories[wrong]}
    counts = "; ".join(f"{name} labels: {_count_categories(part)}" for name, part in parts.items())
    axes.set_title(f"draw {draw}\n{counts}")
    style.add_legend_below(figure, [axes], 3)
    return figure


def compute_signed_distances(samples: PlaneSamples) -> np.ndarray:
    """Return distances to the target's boundary: positive if the label is right, negative if it is wrong."""
    return np.where(samples.is_right, 1.0, -1.0) * samples.target.compute_distances(samples.X)


def _find_drawable(run: RunResult) -> dict[Place, dict[int, OutlierScores]]:
    return {place: draws for place, draws in find_contributions(run).items() if can_generate(run, place[0])}


def _count_categories(categories: np.ndarray) -> str:
    return ", ".join(f"{np.sum(categories == category)} {category}" for category in MARKERS)
