"""One learner's loss against the others', data set by data set: Figure 9 of Nguyen & Sanner (2013)."""

from __future__ import annotations

from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.improvement import our_improvement
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.tables import column_titles


def can_be_paired(run: RunResult) -> bool:
    """Whether all learners that are compared have run."""
    sides = run.experiment.get("improvement") or {}
    compared = [x for side in ("of", "over") for x in sides.get(side, [])]
    return bool(compared) and all((d, x) in run.cells for d in run.datasets for x in compared)


def against_others(run: RunResult):
    """A panel for each data set of the run, a point for each of its draws; above the line the others lose."""
    sides = run.experiment["improvement"]
    titles = column_titles(run.learners)
    figure = style.new_figure(style.PAGE, 3.2)
    axes = style.panels(figure, len(run.datasets), 2)
    looks = style.looks(1 + len(sides["over"]))[1:]
    name = " or ".join(titles[x] for x in sides["of"])
    for panel, dataset in zip(axes, run.datasets, strict=True):
        ours = _by_draw(run, dataset, sides["of"])
        for learner, look in zip(sides["over"], looks, strict=True):
            theirs = _by_draw(run, dataset, [learner])
            both = sorted(ours.keys() & theirs.keys())
            points = [ours[k] for k in both], [theirs[k] for k in both]
            mark = {"marker": look.marker, "markerfacecolor": "none", "markersize": 3, "markeredgewidth": 0.7}
            panel.plot(
                *points, linestyle="none", color=look.colour, label=style.shortened(titles[learner]), **mark
            )
        limits = {"xlim": panel.get_xlim(), "ylim": panel.get_ylim()}
        panel.axline((0.0, 0.0), slope=1.0, color="black", linewidth=0.6, linestyle=style.DASHED)
        panel.set(**limits, xlabel=f"0–1 loss of {name}", ylabel="0–1 loss of the others")
        less = our_improvement(run, dataset)
        panel.set_title(dataset if less is None else f"{dataset}: {less:.1f} % below the best of them")
    style.legend_below(figure, axes, 4)
    return figure


def _by_draw(run: RunResult, dataset: str, learners: list[str]) -> dict[int, float]:
    """The least loss of some learners in each draw that all of them ran."""
    places = [(dataset, learner) for learner in learners]
    found = [dict(zip(run.splits[p], run.cells[p][run.metric], strict=True)) for p in places]
    return {k: min(losses[k] for losses in found) for k in set.intersection(*map(set, found))}
