"""Every figure there is: one entry each. A new one is a function that draws a run, and its entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zoloss_cli.reporting.figures import (
    boundary,
    bounds,
    complexity_error,
    curves,
    dominating,
    fingerprint,
    lines,
    losses,
    principal,
    ranks,
    synthetic,
    times,
    two_costs,
    wrong_labels,
)
from zoloss_cli.reporting.published.cells import PAPERS
from zoloss_cli.reporting.results import RunResult

LI_LIN, NGUYEN, THESIS = "li-lin-2007", "nguyen-sanner-2013", "li-thesis-2006"
BANDS = "Bands: ± one standard error."
COSTS = f"Cost: over N (K - 1), so that it starts at 1. {BANDS}"
NEMENYI = "A bar joins learners that the Nemenyi test cannot tell apart."
DISKS, YIN_YANG = "configs/thesis/figure1.5.yaml", "configs/thesis/figure1.8.yaml"
TARGET = "The target is white and grey."
PAIRS = "Above: the first draw; below: the counts of all draws."
SELECTED = f"Evenly spaced along the principal points, the first subset of each. {TARGET}"
FOUND = "Steps: fewest errors so far, where stored; markers: when the result was found; lines: until the end."


@dataclass(frozen=True)
class FigureKind:
    """A figure that can be drawn: of a run that suits it, or, where `suits` is None, of nothing."""

    name: str  # after --figure
    title: str
    draw: Callable
    suits: Callable[[RunResult], bool] | None = None
    paper: str = ""  # whose figure of this name it is
    config: str = ""  # and the config of its run
    legend: str = ""  # what its caption says of how to read it
    needs: str = ""  # what a run must have, for one of any run
    quick: bool = True  # whether it takes seconds at most
    of: str = ""  # the printed figure whose run it shows, where that is not its own

    @property
    def printed_title(self) -> str:
        return f"Figure {self.name} of {PAPERS[self.paper]}: {self.title}"

    def fits(self, run: RunResult) -> bool:
        if self.suits is None or not run.cells:
            return False
        printed = (run.published.get("paper"), run.published.get("figure"))
        return (not self.config or printed == (self.paper, self.of or self.name)) and self.suits(run)


KINDS = [
    FigureKind(
        "1",
        "Points with outliers, and the boundary of each learner",
        lines.boundaries,
        lines.has_points,
        NGUYEN,
        "configs/nguyen/figure1.yaml",
    ),
    FigureKind("2", "Losses as functions of the margin", losses.margin_losses, paper=NGUYEN),
    FigureKind(
        "3",
        "Training errors of RCD algorithms by epoch",
        curves.rcd_variants,
        curves.has_curves,
        LI_LIN,
        "configs/figure3.yaml",
        BANDS,
    ),
    FigureKind(
        "4",
        "Training and test errors of stochastic algorithms by epoch",
        curves.by_epoch,
        curves.has_curves,
        LI_LIN,
        "configs/figure4.yaml",
        BANDS,
    ),
    FigureKind("6", "The smooth 0–1 loss for growing precision K", losses.smooth_losses, paper=NGUYEN),
    FigureKind(
        "9",
        "SLA's loss against that of others on synthetic data",
        synthetic.against_others,
        synthetic.can_be_paired,
        NGUYEN,
        "configs/nguyen/figure9.yaml",
        "One point a data set.",
    ),
    FigureKind(
        "1.4",
        "Clusters of the concentric disks problem",
        principal.clusters,
        principal.has_examples,
        THESIS,
        DISKS,
        TARGET,
        of="1.5",
    ),
    FigureKind(
        "1.5",
        "Complexity-error plots of the concentric disks problem",
        complexity_error.plots,
        complexity_error.has_pairs,
        THESIS,
        DISKS,
        PAIRS,
    ),
    FigureKind(
        "1.6",
        "Three selected principal subsets of the concentric disks problem",
        principal.three_subsets,
        principal.has_examples,
        THESIS,
        DISKS,
        SELECTED,
        of="1.5",
    ),
    FigureKind(
        "1.7",
        "Clusters of the Yin-Yang problem",
        principal.clusters,
        principal.has_examples,
        THESIS,
        YIN_YANG,
        TARGET,
        of="1.8",
    ),
    FigureKind(
        "1.8",
        "Complexity-error plot of the Yin-Yang problem",
        complexity_error.plots,
        complexity_error.has_pairs,
        THESIS,
        YIN_YANG,
        PAIRS,
    ),
    FigureKind(
        "1.9",
        "Eleven selected principal subsets of the Yin-Yang problem",
        principal.eleven_subsets,
        principal.has_examples,
        THESIS,
        YIN_YANG,
        SELECTED,
        of="1.8",
    ),
    FigureKind(
        "1.11",
        "Average complexity contribution of examples with right and wrong labels",
        wrong_labels.contribution_by_size,
        wrong_labels.has_sizes,
        THESIS,
        "configs/thesis/figure1.11.yaml",
        "Bands: the range over draws.",
    ),
    FigureKind(
        "1.12",
        "ROC curves of signs of wrong labels",
        wrong_labels.roc_curves,
        wrong_labels.has_signs,
        THESIS,
        "configs/thesis/figure1.12.yaml",
        "The thesis has average contribution and least squares; the best AUC comes first in the legend.",
    ),
    FigureKind(
        "1.13",
        "Fingerprint plot by average complexity contribution",
        fingerprint.fingerprint,
        fingerprint.has_contributions,
        THESIS,
        "configs/thesis/figure1.13.yaml",
        "Above zero, the label is the target's; below, it is wrong.",
    ),
    FigureKind(
        "3.1",
        "CGBoost (solid) and AnyBoost (dashed) with two cost functions",
        two_costs.by_cost_function,
        two_costs.has_cost_functions,
        THESIS,
        "configs/thesis/figure3.1.yaml",
        BANDS,
    ),
    FigureKind(
        "4.2",
        "AdaBoost.ECC in the tangram experiment",
        curves.costs_by_round,
        curves.has_costs,
        THESIS,
        "configs/thesis/figure4.2.yaml",
        COSTS,
    ),
    FigureKind(
        "4.3",
        "Dominating partitions in the tangram experiment",
        dominating.on_the_tangram,
        dominating.has_partitions,
        THESIS,
        "configs/thesis/figure4.3.yaml",
        "Of one run, split 0: the two partitions with the largest sums of coefficients α, blue against yellow.",
        quick=False,
    ),
    FigureKind(
        "4.4",
        "Multiclass boosting with the decision stump",
        curves.costs_by_round,
        curves.has_costs,
        THESIS,
        "configs/thesis/figure4.4.yaml",
        COSTS,
    ),
    FigureKind(
        "4.5",
        "Multiclass boosting with the perceptron on letter",
        curves.costs_by_round,
        curves.has_costs,
        THESIS,
        "configs/thesis/figure4.5.yaml",
        COSTS,
    ),
    FigureKind(
        "ranks",
        "Average ranks",
        ranks.critical_difference,
        ranks.can_be_ranked,
        legend=NEMENYI,
        needs="three learners that all ran on two data sets, and a metric in which less is better",
    ),
    FigureKind(
        "curves",
        "Errors by epoch",
        curves.by_epoch,
        curves.has_curves,
        legend=BANDS,
        needs="learners that record their epochs, by record_every in the config",
    ),
    FigureKind(
        "time",
        "Errors against time",
        times.error_against_time,
        times.has_searches,
        legend=FOUND,
        needs="several learners, some of them searches that say when their result was found",
    ),
    FigureKind(
        "bounds",
        "What was counted against what a theorem allows",
        bounds.counted_against_bound,
        bounds.has_bounds,
        legend="One point a data set, or for several in one place; none may lie above the line.",
        needs="learners that say what they counted and what its bound is, such as mistake-bound",
    ),
    FigureKind(
        "boundary",
        "Regions learned",
        boundary.of_run,
        boundary.in_a_plane,
        needs="data of two features",
        quick=False,
    ),
]
