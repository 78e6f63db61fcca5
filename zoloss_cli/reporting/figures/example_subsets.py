"""Subsets of the concentric disks problem and their complexity: Figure 1.1 of Li's thesis (2006).

It needs no results: the samples are those of the first draw of configs/thesis/figure1.5.yaml.
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.complexity.hard_margin import build_problem, fit_hard_margin_svm
from zoloss_cli.datasets.geometry import DISK_RADII
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.principal import draw_subset
from zoloss_cli.reporting.figures.samples import PlaneSamples, load_first_draw
from zoloss_cli.reporting.figures.target import draw_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISKS_CONFIG, DISKS = Path("configs/thesis/figure1.5.yaml"), "disks"


def select_example_subsets(samples: PlaneSamples) -> dict[str, np.ndarray]:
    """Return the indices of all samples, of the two outer rings, of the middle disk, and of the grey class."""
    radius = np.hypot(*samples.X.T)
    inner, middle, _ = DISK_RADII
    return {
        "all samples": np.arange(len(samples.y)),
        "two outer rings": np.flatnonzero(radius > inner),
        "within the middle disk": np.flatnonzero(radius <= middle),
        f"all of class {samples.classes[0]}": np.flatnonzero(samples.y == 0),
    }


def draw_example_subsets() -> Figure:
    """Draw four subsets, each with its complexity: leaving samples out makes the rest simpler."""
    samples = load_first_draw(DISKS_CONFIG, DISKS)
    problem = build_problem(samples.X, samples.y)
    subsets = select_example_subsets(samples)
    figure = style.new_figure(style.PAGE, 2.5)
    panels = style.add_panels(figure, len(subsets), len(subsets))
    for letter, panel, (title, inside) in zip(string.ascii_lowercase, panels, subsets.items(), strict=False):
        draw_target(panel, samples.target)
        draw_subset(panel, samples, inside, 3.5)
        complexity = len(fit_hard_margin_svm(problem, inside).support)
        panel.set_title(title)
        panel.set_xlabel(f"({letter}) {len(inside)} samples, complexity {complexity}")
    style.add_legend_below(figure, panels, 3)
    return figure
