"""Random coordinate descent step by step in the plane, for teaching. It needs no results.

Li & Lin (2007), section III; Li (2006), Algorithms 2.3 to 2.5. The steps are those of `RCDClassifier` itself,
which records its weights after every epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.figures.cone import ORIGIN, load_plane
from zoloss_cli.reporting.figures.learner_looks import find_look
from zoloss_cli.reporting.figures.lines import CLASS_MARKERS, MARGIN, SAMPLE_COLOUR, clip_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPOCHS, SEED = 60, 4
N_PANELS = 6
VARIANT: Final = "plain"  # all weights move in every epoch, so that lines rotate and shift
EARLIER = "#9A9A9A"


class DescentStep(NamedTuple):
    """An epoch that left fewer errors than all before it.

    Attributes
    ----------
    epoch : int
        Its number, starting at 1.
    before, after : ndarray of shape (3,)
        The weights before and after it, bias first.
    errors : ndarray of bool of shape (n_samples,)
        Which samples are misclassified afterwards.
    """

    epoch: int
    before: np.ndarray
    after: np.ndarray
    errors: np.ndarray


class Descent(NamedTuple):
    """A run in the plane: samples, their labels 1 and -1, errors by epoch, and the steps that left fewer."""

    X: np.ndarray
    y: np.ndarray
    counts: np.ndarray
    steps: list[DescentStep]


def run_descent() -> Descent:
    """Fit RCD on iris and return every epoch that left fewer errors than all before it."""
    from zoloss_cli.learners.search.rcd import RCDClassifier

    positive, negative = load_plane()
    X = np.vstack([positive, negative])
    y = np.repeat([1.0, -1.0], [len(positive), len(negative)])
    learner = RCDClassifier(variant=VARIANT, epochs=EPOCHS, record_every=1, random_state=SEED).fit(X, y)
    weights = learner.recorded_weights_[np.argsort(learner.recorded_epochs_)]
    if learner.recorded_epochs_.min() == 0:
        weights = weights[1:]
    wrong = np.array([find_strict_errors(X @ w[1:] + w[0], y) for w in weights])
    counts = wrong.sum(axis=1)
    before = np.vstack([np.zeros(3), weights[:-1]])
    fewest = np.minimum.accumulate(np.concatenate([[len(y)], counts[:-1]]))
    steps = [
        DescentStep(int(i) + 1, before[i], weights[i], wrong[i].astype(bool))
        for i in np.flatnonzero(counts < fewest)
    ]
    return Descent(X, y, counts, steps)


def draw_rcd_steps() -> Figure:
    """Draw six of the epochs that left fewer errors: the line before, the line after, and its errors."""
    found = run_descent()
    places = np.linspace(0, len(found.steps) - 1, min(N_PANELS, len(found.steps)))
    chosen = np.unique(places.round().astype(int))
    figure = style.new_figure(style.PAGE, 4.6)
    panels = style.add_panels(figure, len(chosen), 3, sharex=True, sharey=True)
    for panel, place in zip(panels, chosen, strict=True):
        _draw_step(panel, found, found.steps[place])
    for panel in panels[-3:]:
        panel.set_xlabel("sepal width, scaled")
    for panel in panels[::3]:
        panel.set_ylabel("petal width, scaled")
    style.add_legend_below(figure, panels, 5)
    style.add_origin(figure, f"{ORIGIN}; RCD-{VARIANT}, {EPOCHS} epochs, random_state={SEED}")
    return figure


def draw_rcd_frames() -> list[Figure]:
    """Draw a frame for every epoch that left fewer errors: the lines next to the errors so far."""
    found = run_descent()
    frames = []
    for step in found.steps:
        figure = style.new_figure(style.PAGE, 3.4)
        left, right = style.add_panels(figure, 2, 2)
        _draw_step(left, found, step)
        left.set(xlabel="sepal width, scaled", ylabel="petal width, scaled")
        epochs = np.arange(1, step.epoch + 1)
        right.step(epochs, found.counts[: step.epoch], where="post", color=find_look(f"rcd-{VARIANT}").colour)
        right.set(
            xlim=(0, EPOCHS), ylim=(0, 1.05 * found.counts.max()), xlabel="epochs", ylabel="training errors"
        )
        right.set_title("errors so far")
        style.add_legend_below(figure, [left], 5)
        style.add_origin(figure, f"{ORIGIN}; RCD-{VARIANT}, random_state={SEED}")
        frames.append(figure)
    return frames


def _draw_step(axes: Axes, found: Descent, step: DescentStep) -> None:
    low, high = found.X.min(axis=0), found.X.max(axis=0)
    box = np.array([low - MARGIN * (high - low), high + MARGIN * (high - low)])
    for label, marker, name in ((-1.0, CLASS_MARKERS[0], "the rest"), (1.0, CLASS_MARKERS[1], "versicolor")):
        here = (found.y == label) & ~step.errors
        axes.plot(
            *found.X[here].T, marker, color=SAMPLE_COLOUR, markersize=3, markerfacecolor="none", label=name
        )
        wrong = found.X[(found.y == label) & step.errors]
        axes.plot(*wrong.T, marker, color=style.VERMILION, markersize=3.5, markerfacecolor="none")
    axes.plot([], [], "s", color=style.VERMILION, markersize=3.5, label="misclassified")
    for weights, look in (
        (step.before, {"color": EARLIER, "linestyle": style.DASHED, "label": "before the epoch"}),
        (step.after, {"color": find_look(f"rcd-{VARIANT}").colour, "linewidth": 1.6, "label": "after it"}),
    ):
        axes.plot(*clip_line(weights[1:], float(weights[0]), box).T, **look)
    axes.set(xlim=box[:, 0], ylim=box[:, 1])
    axes.grid(visible=False)
    axes.set_title(f"epoch {step.epoch}: {int(step.errors.sum())} errors")
