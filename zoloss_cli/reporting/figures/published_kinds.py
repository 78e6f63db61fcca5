"""The figures of the papers, one entry each; those drawn from a run's results name its config."""

from __future__ import annotations

from zoloss_cli.reporting.figures.kind import FigureKind

BAND = "bands: ± one standard error of the mean"
BANDS = "Bands: ± one standard error."
COSTS = f"Cost: over N (K - 1), so that it starts at 1. {BANDS}"
DISKS, YIN_YANG = "configs/thesis/figure1.5.yaml", "configs/thesis/figure1.8.yaml"
DISKS_ORIGIN = f"disks, the first draw of {DISKS}: whole set"
TARGET = "The target is white and grey."
PAIRS = "Above: the first draw; below: the counts of all draws."
SELECTED = f"Evenly spaced along the principal points, the first subset of each. {TARGET}"
HALVES = f"By complexity, at most two subsets of each principal point. {TARGET}"

LI_LIN_FIGURES = (
    FigureKind(
        name="li-lin-2007/3",
        title="Training errors of RCD algorithms by epoch",
        target="curves:draw_rcd_variants",
        condition="curves:has_curves",
        config="configs/figure3.yaml",
        legend=BANDS,
        spread=BAND,
    ),
    FigureKind(
        name="li-lin-2007/4",
        title="Training and test errors of stochastic algorithms by epoch",
        target="curves:draw_errors_by_epoch",
        condition="curves:has_curves",
        config="configs/figure4.yaml",
        legend=BANDS,
        spread=BAND,
    ),
)

NGUYEN_SANNER_FIGURES = (
    FigureKind(
        name="nguyen-sanner-2013/1",
        title="Samples with outliers, and the boundary of each learner",
        target="lines:draw_boundaries",
        condition="lines:has_boundaries",
        config="configs/nguyen/figure1.yaml",
    ),
    FigureKind(
        name="nguyen-sanner-2013/2",
        title="Losses as functions of the margin",
        target="losses:draw_margin_losses",
    ),
    FigureKind(
        name="nguyen-sanner-2013/4",
        title="A line with the fewest errors, and one through two samples with the same",
        target="through_samples:draw_lines_through_samples",
        origin="20 samples of two Gaussians (seed 3), whole set",
    ),
    FigureKind(
        name="nguyen-sanner-2013/6",
        title="The smooth 0–1 loss for growing precision K",
        target="losses:draw_smooth_losses",
    ),
    FigureKind(
        name="nguyen-sanner-2013/9",
        title="SLA's loss against that of others on synthetic data",
        target="synthetic:draw_paired_losses",
        condition="synthetic:has_paired_losses",
        config="configs/nguyen/figure9.yaml",
        legend="One marker per data set.",
    ),
)

THESIS_FIGURES = (
    FigureKind(
        name="li-thesis-2006/1.1",
        title="Subsets of the concentric disks problem, and their complexity",
        target="example_subsets:draw_example_subsets",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.2",
        title="Complexity-error plots of subsets and of hypotheses, measured where the thesis's are fictional",
        target="complexity_plane:draw_pairs_of_both_kinds",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.3",
        title="A complexity-error plot with principal points circled",
        target="complexity_plane:draw_principal_pairs",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.4",
        title="Clusters of the concentric disks problem",
        target="principal:draw_clusters",
        condition="principal:has_samples",
        config=DISKS,
        legend=TARGET,
        source_figure="1.5",
    ),
    FigureKind(
        name="li-thesis-2006/1.5",
        title="Complexity-error plots of the concentric disks problem",
        target="complexity_error:draw_complexity_error",
        condition="complexity_error:has_pairs",
        config=DISKS,
        legend=PAIRS,
    ),
    FigureKind(
        name="li-thesis-2006/1.6",
        title="Three selected principal subsets of the concentric disks problem",
        target="principal:draw_three_subsets",
        condition="principal:has_samples",
        config=DISKS,
        legend=SELECTED,
        source_figure="1.5",
    ),
    FigureKind(
        name="li-thesis-2006/1.7",
        title="Clusters of the Yin-Yang problem",
        target="principal:draw_clusters",
        condition="principal:has_samples",
        config=YIN_YANG,
        legend=TARGET,
        source_figure="1.8",
    ),
    FigureKind(
        name="li-thesis-2006/1.8",
        title="Complexity-error plot of the Yin-Yang problem",
        target="complexity_error:draw_complexity_error",
        condition="complexity_error:has_pairs",
        config=YIN_YANG,
        legend=PAIRS,
    ),
    FigureKind(
        name="li-thesis-2006/1.9",
        title="Eleven selected principal subsets of the Yin-Yang problem",
        target="principal:draw_eleven_subsets",
        condition="principal:has_samples",
        config=YIN_YANG,
        legend=SELECTED,
        source_figure="1.8",
    ),
    FigureKind(
        name="li-thesis-2006/1.10",
        title="A complexity-error path, and the rightmost segment",
        target="complexity_plane:draw_complexity_error_path",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.11",
        title="Average complexity contribution of samples with right and wrong labels",
        target="wrong_labels:draw_contribution_by_size",
        condition="wrong_labels:has_contribution_by_size",
        config="configs/thesis/figure1.11.yaml",
        legend="Bands: the range over draws.",
        spread="bands: the range over draws",
    ),
    FigureKind(
        name="li-thesis-2006/1.12",
        title="ROC curves of scores of wrong labels",
        target="wrong_labels:draw_roc_curves",
        condition="wrong_labels:has_outlier_scores",
        config="configs/thesis/figure1.12.yaml",
        legend="The thesis has average contribution and least squares; the best AUC comes first in the legend.",
    ),
    FigureKind(
        name="li-thesis-2006/1.13",
        title="Fingerprint plot by average complexity contribution",
        target="fingerprint:draw_fingerprint",
        condition="fingerprint:has_contributions",
        config="configs/thesis/figure1.13.yaml",
        legend="Above zero, the label is the target's; below, it is wrong.",
    ),
    FigureKind(
        name="li-thesis-2006/1.14",
        title="All principal subsets of the concentric disks problem",
        target="all_subsets:draw_all_subsets",
        condition="principal:has_samples",
        config=DISKS,
        legend=TARGET,
        source_figure="1.5",
    ),
    FigureKind(
        name="li-thesis-2006/1.15",
        title="Principal subsets of the Yin-Yang problem, part I",
        target="all_subsets:draw_first_half",
        condition="principal:has_samples",
        config=YIN_YANG,
        legend=HALVES,
        source_figure="1.8",
    ),
    FigureKind(
        name="li-thesis-2006/1.16",
        title="Principal subsets of the Yin-Yang problem, part II",
        target="all_subsets:draw_second_half",
        condition="principal:has_samples",
        config=YIN_YANG,
        legend=HALVES,
        source_figure="1.8",
    ),
    FigureKind(
        name="li-thesis-2006/2.1",
        title="Training errors of several RCD algorithms by epoch",
        target="curves:draw_rcd_variants",
        condition="curves:has_curves",
        config="configs/thesis/figure2.1.yaml",
        legend=BANDS,
        spread=BAND,
    ),
    FigureKind(
        name="li-thesis-2006/2.2",
        title="Training and test errors of the averaged perceptron by the order of samples",
        target="curves:draw_errors_by_epoch",
        condition="curves:has_curves",
        config="configs/thesis/figure2.2.yaml",
        legend=BANDS,
        spread=BAND,
    ),
    FigureKind(
        name="li-thesis-2006/2.3",
        title="Training and test errors of several perceptron learning algorithms on pima",
        target="curves:draw_errors_by_epoch",
        condition="curves:has_curves",
        config="configs/thesis/figure2.3.yaml",
        legend=BANDS,
        spread=BAND,
    ),
    FigureKind(
        name="li-thesis-2006/2.4",
        title="Training and test errors of several perceptron learning algorithms on yinyang",
        target="curves:draw_errors_by_epoch",
        condition="curves:has_curves",
        config="configs/thesis/figure2.4.yaml",
        legend=BANDS,
        spread=BAND,
    ),
    FigureKind(
        name="li-thesis-2006/3.1",
        title="CGBoost (solid) and AnyBoost (dashed) with two cost functions",
        target="two_costs:draw_cost_functions",
        condition="two_costs:has_cost_functions",
        config="configs/thesis/figure3.1.yaml",
        legend=BANDS,
        spread=BAND,
    ),
    FigureKind(
        name="li-thesis-2006/3.2",
        title="Three margin cost functions",
        target="cost_functions:draw_cost_functions",
        origin="functions of the margin of one sample, without data",
    ),
    FigureKind(
        name="li-thesis-2006/4.1",
        title="The tangram with seven pieces",
        target="tangram_pieces:draw_tangram",
        origin="the pieces that samples are drawn from, without samples",
    ),
    FigureKind(
        name="li-thesis-2006/4.2",
        title="AdaBoost.ECC in the tangram experiment",
        target="curves:draw_costs_by_round",
        condition="curves:has_costs",
        config="configs/thesis/figure4.2.yaml",
        legend=COSTS,
        spread=BAND,
        datasets_per_page=3,
    ),
    FigureKind(
        name="li-thesis-2006/4.3",
        title="Dominating partitions in the tangram experiment",
        target="dominating:draw_partitions",
        condition="dominating:has_partitions",
        config="configs/thesis/figure4.3.yaml",
        legend="Of split 0: the two partitions with the largest sums of coefficients α, blue against yellow.",
        is_quick=False,
    ),
    FigureKind(
        name="li-thesis-2006/4.4",
        title="Multiclass boosting with the decision stump",
        target="curves:draw_costs_by_round",
        condition="curves:has_costs",
        config="configs/thesis/figure4.4.yaml",
        legend=COSTS,
        spread=BAND,
        datasets_per_page=3,
    ),
    FigureKind(
        name="li-thesis-2006/4.5",
        title="Multiclass boosting with the perceptron on letter",
        target="curves:draw_costs_by_round",
        condition="curves:has_costs",
        config="configs/thesis/figure4.5.yaml",
        legend=COSTS,
        spread=BAND,
        datasets_per_page=3,
    ),
)

PUBLISHED_FIGURES = (*LI_LIN_FIGURES, *THESIS_FIGURES, *NGUYEN_SANNER_FIGURES)
