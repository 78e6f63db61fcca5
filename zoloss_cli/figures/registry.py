"""What is known about a figure before it is drawn: its name, its functions, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registrations import import_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoloss_cli.report.runs import RunResult


@dataclass(frozen=True)
class FigureKind:
    """A figure that can be drawn, from a run that has what it shows or without results.

    Attributes
    ----------
    name : str
        The value of --figure: PAPER/NUMBER for a published figure, otherwise a word.
    title : str
        What it shows.
    target : str
        The function that draws it, as "module:function" in this package. It takes the run, if there is one.
    condition : str
        The function that returns whether a run has what it shows; empty for a figure without results.
    config : str
        Config of the run behind a published figure.
    legend : str
        What its caption says about how to read it.
    requirement : str
        What a run must have.
    source_figure : str
        Number of the published figure whose run it shows, if not its own.
    is_quick : bool
        Whether it takes at most seconds for all runs of a folder; a page has only such figures.
    is_covered : bool
        Whether a published figure of the same run shows as much, so that lists leave this one out.
    options : tuple of {'metric', 'against'}
        What can be chosen: a metric other than the table's, and the learner to compare others with.
    spread : str
        What its bands, boxes or bars are, as a phrase above the drawing.
    datasets_per_page, learners_per_page : int
        How many data sets or learners one picture shows, if each has a panel; more need further pages.
        0: all.
    origin : str
        For a figure without results: the data that it shows, written above it.
    frames : str
        The function that draws the frames of its animation; empty if there is none.
    beside_tables : {'none', 'all', 'times'}
        Next to which tables it appears on the page of `zoloss report`: none, as it is among the figures; all
        tables; or those that compare times.
    """

    name: str
    title: str
    target: str
    condition: str = ""
    config: str = ""
    legend: str = ""
    requirement: str = ""
    source_figure: str = ""
    is_quick: bool = True
    is_covered: bool = False
    beside_tables: Literal["none", "all", "times"] = "none"
    options: tuple[str, ...] = ()
    spread: str = ""
    datasets_per_page: int = 0
    learners_per_page: int = 0
    origin: str = ""
    frames: str = ""

    @property
    def paper(self) -> str:
        """Return the paper of a published figure; empty for others."""
        return self.name.rpartition("/")[0]

    @property
    def number(self) -> str:
        """Return the number of a published figure, or the name of another."""
        return self.name.rpartition("/")[2]

    @property
    def full_title(self) -> str:
        """Return the title, with number and paper if published."""
        from zoloss_cli.report.papers import read_paper_titles

        if not self.paper:
            return self.title
        paper = read_paper_titles().get(self.paper, self.paper)
        return f"Figure {self.number} of {paper}: {self.title}"

    @property
    def needs_results(self) -> bool:
        """Return whether it is drawn from a run."""
        return bool(self.condition)

    def draw(self, *run: RunResult, against: str | None = None) -> Figure:
        """Draw it, from a run if it needs one; some take the learner to compare others with."""
        return self._import(self.target)(*run, **({} if against is None else {"against": against}))

    def draw_frames(self) -> list[Figure]:
        """Draw the frames of its animation, all of the same size."""
        return self._import(self.frames)()

    def check_options(self, **options: str | None) -> None:
        """Refuse an option that this figure does not have."""
        for name, value in options.items():
            if value is not None and name not in self.options:
                those = ", ".join(kind.name for kind in FIGURES if name in kind.options)
                raise ConfigError(f"--{name} is for the figures {those}, and '{self.name}' has no such choice")

    def accepts(self, run: RunResult) -> bool:
        """Return whether a run has what it shows."""
        return self.needs_results and bool(run.cells) and self._import(self.condition)(run)

    def matches(self, run: RunResult) -> bool:
        """Return whether this run has what it shows and, if the figure is published, mirrors it."""
        mirrored = (run.paper, run.figure)
        if self.paper and mirrored != (self.paper, self.source_figure or self.number):
            return False
        return self.accepts(run)

    def _import(self, target: str) -> Callable[..., Any]:
        return import_target(f"{__package__}.{target}")


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
        target="nguyen_sanner:draw_boundaries",
        condition="nguyen_sanner:has_boundaries",
        config="configs/nguyen/figure1.yaml",
    ),
    FigureKind(
        name="nguyen-sanner-2013/2",
        title="Losses as functions of the margin",
        target="nguyen_sanner:draw_margin_losses",
    ),
    FigureKind(
        name="nguyen-sanner-2013/4",
        title="A line with the fewest errors, and one through two samples with the same",
        target="nguyen_sanner:draw_lines_through_samples",
        origin="20 samples of two Gaussians (seed 3), whole set",
    ),
    FigureKind(
        name="nguyen-sanner-2013/6",
        title="The smooth 0–1 loss for growing precision K",
        target="nguyen_sanner:draw_smooth_losses",
    ),
    FigureKind(
        name="nguyen-sanner-2013/9",
        title="SLA's loss against that of others on synthetic data",
        target="nguyen_sanner:draw_paired_losses",
        condition="nguyen_sanner:has_paired_losses",
        config="configs/nguyen/figure9.yaml",
        legend="One marker per data set.",
    ),
)

THESIS_FIGURES = (
    FigureKind(
        name="li-thesis-2006/1.1",
        title="Subsets of the concentric disks problem, and their complexity",
        target="thesis_complexity:draw_example_subsets",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.2",
        title="Complexity-error plots of subsets and of hypotheses, measured where the thesis's are fictional",
        target="thesis_complexity:draw_pairs_of_both_kinds",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.3",
        title="A complexity-error plot with principal points circled",
        target="thesis_complexity:draw_principal_pairs",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.4",
        title="Clusters of the concentric disks problem",
        target="thesis_samples:draw_clusters",
        condition="thesis_samples:has_samples",
        config=DISKS,
        legend=TARGET,
        source_figure="1.5",
    ),
    FigureKind(
        name="li-thesis-2006/1.5",
        title="Complexity-error plots of the concentric disks problem",
        target="thesis_complexity:draw_complexity_error",
        condition="thesis_complexity:has_pairs",
        config=DISKS,
        legend=PAIRS,
    ),
    FigureKind(
        name="li-thesis-2006/1.6",
        title="Three selected principal subsets of the concentric disks problem",
        target="thesis_samples:draw_three_subsets",
        condition="thesis_samples:has_samples",
        config=DISKS,
        legend=SELECTED,
        source_figure="1.5",
    ),
    FigureKind(
        name="li-thesis-2006/1.7",
        title="Clusters of the Yin-Yang problem",
        target="thesis_samples:draw_clusters",
        condition="thesis_samples:has_samples",
        config=YIN_YANG,
        legend=TARGET,
        source_figure="1.8",
    ),
    FigureKind(
        name="li-thesis-2006/1.8",
        title="Complexity-error plot of the Yin-Yang problem",
        target="thesis_complexity:draw_complexity_error",
        condition="thesis_complexity:has_pairs",
        config=YIN_YANG,
        legend=PAIRS,
    ),
    FigureKind(
        name="li-thesis-2006/1.9",
        title="Eleven selected principal subsets of the Yin-Yang problem",
        target="thesis_samples:draw_eleven_subsets",
        condition="thesis_samples:has_samples",
        config=YIN_YANG,
        legend=SELECTED,
        source_figure="1.8",
    ),
    FigureKind(
        name="li-thesis-2006/1.10",
        title="A complexity-error path, and the rightmost segment",
        target="thesis_complexity:draw_complexity_error_path",
        origin=DISKS_ORIGIN,
    ),
    FigureKind(
        name="li-thesis-2006/1.11",
        title="Average complexity contribution of samples with right and wrong labels",
        target="thesis_samples:draw_contribution_by_size",
        condition="thesis_samples:has_contribution_by_size",
        config="configs/thesis/figure1.11.yaml",
        legend="Bands: the range over draws.",
        spread="bands: the range over draws",
    ),
    FigureKind(
        name="li-thesis-2006/1.12",
        title="ROC curves of scores of wrong labels",
        target="thesis_samples:draw_roc_curves",
        condition="thesis_samples:has_outlier_scores",
        config="configs/thesis/figure1.12.yaml",
        legend="The thesis has average contribution and least squares; the best AUC comes first in the legend.",
    ),
    FigureKind(
        name="li-thesis-2006/1.13",
        title="Fingerprint plot by average complexity contribution",
        target="thesis_complexity:draw_fingerprint",
        condition="thesis_complexity:has_contributions",
        config="configs/thesis/figure1.13.yaml",
        legend="Above zero, the label is the target's; below, it is wrong.",
    ),
    FigureKind(
        name="li-thesis-2006/1.14",
        title="All principal subsets of the concentric disks problem",
        target="thesis_complexity:draw_all_subsets",
        condition="thesis_samples:has_samples",
        config=DISKS,
        legend=TARGET,
        source_figure="1.5",
    ),
    FigureKind(
        name="li-thesis-2006/1.15",
        title="Principal subsets of the Yin-Yang problem, part I",
        target="thesis_complexity:draw_first_half",
        condition="thesis_samples:has_samples",
        config=YIN_YANG,
        legend=HALVES,
        source_figure="1.8",
    ),
    FigureKind(
        name="li-thesis-2006/1.16",
        title="Principal subsets of the Yin-Yang problem, part II",
        target="thesis_complexity:draw_second_half",
        condition="thesis_samples:has_samples",
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
        target="thesis_boosting:draw_two_costs",
        condition="thesis_boosting:has_cost_functions",
        config="configs/thesis/figure3.1.yaml",
        legend=BANDS,
        spread=BAND,
    ),
    FigureKind(
        name="li-thesis-2006/3.2",
        title="Three margin cost functions",
        target="thesis_boosting:draw_cost_functions",
        origin="functions of the margin of one sample, without data",
    ),
    FigureKind(
        name="li-thesis-2006/4.1",
        title="The tangram with seven pieces",
        target="thesis_boosting:draw_tangram",
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
        target="thesis_boosting:draw_partitions",
        condition="thesis_boosting:has_partitions",
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


# Those of papers are in `published_kinds.py`. Nothing is imported until a figure is drawn or a run is checked
# for what a figure shows, so that a shell completes names and a command shows its help at once.

TIMES = "Steps: fewest errors so far, where stored; markers: when the result was found; lines: until the end."

GENERAL_FIGURES = (
    FigureKind(
        name="cone",
        title="How cones of directions prove the fewest errors, in two dimensions",
        target="cone:draw_cone_bound",
        legend="Left: arrows bound a cone, and lines join pairs that no direction in it ranks correctly.",
        frames="cone:draw_search_frames",
    ),
    FigureKind(
        name="rcd-steps",
        title="How random coordinate descent finds fewer errors, in two dimensions",
        target="li_lin:draw_rcd_steps",
        legend="Each epoch minimizes the errors exactly along one random direction of bias and weights; "
        "no line has fewer errors than the last one, as the figure cone of the same samples shows.",
        frames="li_lin:draw_rcd_frames",
    ),
    FigureKind(
        name="ranks",
        title="Average ranks",
        target="comparisons:draw_critical_difference",
        condition="comparisons:has_ranks",
        legend="A bar joins learners that the Nemenyi test cannot tell apart.",
        requirement="three learners that all ran on two distinct data sets, and a metric with a direction",
        beside_tables="all",
        options=("metric",),
    ),
    FigureKind(
        name="boxes",
        title="Values over splits",
        target="comparisons:draw_boxes",
        condition="comparisons:has_values",
        legend="Boxes: quartiles and median; diamonds: means; whiskers: 1.5 box lengths at most.",
        requirement="learners that ran on several splits",
        spread="boxes: quartiles and median; diamonds: means; whiskers: 1.5 box lengths at most",
        datasets_per_page=6,
        is_quick=False,
        is_covered=True,
        options=("metric",),
    ),
    FigureKind(
        name="differences",
        title="Paired differences",
        target="comparisons:draw_differences",
        condition="comparisons:has_pairs",
        legend="Lines: 95 % intervals of the mean, corrected for overlapping splits (Nadeau & Bengio 2003), in "
        "colour and with a circle where they leave zero out; pale bars: quartiles of the differences.",
        requirement="two learners that share several splits, and a metric with a direction",
        spread="lines: 95 % intervals of the mean; pale bars: quartiles",
        datasets_per_page=6,
        is_quick=False,
        is_covered=True,
        options=("metric", "against"),
    ),
    FigureKind(
        name="curves",
        title="Errors by epoch",
        target="curves:draw_errors_by_epoch",
        condition="curves:has_curves",
        legend=BANDS,
        spread=BAND,
        requirement="learners that record their epochs, by record_every in the config",
        datasets_per_page=3,
        is_covered=True,
    ),
    FigureKind(
        name="time",
        title="Errors against time",
        target="curves:draw_errors_against_time",
        condition="curves:has_searches",
        legend=TIMES,
        requirement="several learners, some of them searches that say when their result was found",
        datasets_per_page=6,
        beside_tables="times",
    ),
    FigureKind(
        name="bounds",
        title="What was counted against what a theorem allows",
        target="li_lin:draw_counted_against_bound",
        condition="li_lin:has_bounds",
        legend="One marker per data set, or for several in one place; none may lie above the line.",
        requirement="learners that say what they counted and what its bound is, such as mistake-bound",
    ),
    FigureKind(
        name="convergence",
        title="Share of splits at the minimum by epoch",
        target="li_lin:draw_shares",
        condition="li_lin:has_minimum",
        requirement="learners that record their epochs, and one that proves the fewest errors, such as certify",
    ),
    FigureKind(
        name="lookup",
        title="Complexity with a lookup table by the cost of an error",
        target="thesis_complexity:draw_trade_off",
        condition="thesis_complexity:has_pairs",
        legend="Lines: means over draws, of the principal points (Definition 1.3 of Li's thesis).",
        requirement="decompositions of data sets, by the measure decomposition",
        is_covered=True,
    ),
    FigureKind(
        name="boundary",
        title="Regions learned",
        target="boundary:draw_run",
        condition="boundary:has_two_features",
        requirement="data of two features",
        datasets_per_page=1,
        learners_per_page=6,
        is_quick=False,
    ),
)
FIGURES = (*PUBLISHED_FIGURES, *GENERAL_FIGURES)
FIGURE_NAMES = tuple(kind.name for kind in FIGURES)
FIGURE_NUMBERS = tuple(kind.number for kind in FIGURES if kind.paper)


def find_figure(name: str, kinds: Sequence[FigureKind] = FIGURES) -> FigureKind:
    """Return the figure with a name; the number of a published one suffices if only one paper has it."""
    hits = [kind for kind in kinds if name in (kind.name, kind.number)]
    exact = [kind for kind in hits if kind.name == name]
    if len(exact or hits) == 1:
        return (exact or hits)[0]
    if hits:
        names = ", ".join(sorted(kind.name for kind in hits))
        raise ConfigError(f"--figure: several papers have a figure '{name}'; name one: {names}")
    known = [known for kind in kinds for known in (kind.name, kind.number)]
    hint = suggest_nearest(name, list(dict.fromkeys(known))) or "; zoloss plot lists them"
    raise ConfigError(f"--figure: no figure is called '{name}'{hint}")


def find_drawn_as(drawn_as: str, config: str) -> FigureKind:
    """Return the figure that a config's `published.drawn_as` names; an unknown one is a ConfigError."""
    for kind in FIGURES:
        if kind.name == drawn_as and kind.needs_results:
            return kind
    names = [kind.name for kind in FIGURES if kind.needs_results]
    hint = suggest_nearest(drawn_as, names)
    raise ConfigError(f"{config}: published.drawn_as: no figure of results is called '{drawn_as}'{hint}")
