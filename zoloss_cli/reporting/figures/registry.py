"""Every figure there is, one entry each: a new one is a file with a function that draws a run, and its entry.

Nothing is imported until a figure is drawn or a run is asked whether it has what a figure shows, so that a
shell completes names and a command shows its help at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.plugins import import_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoloss_cli.reporting.run_result import RunResult

BANDS = "Bands: ± one standard error."
COSTS = f"Cost: over N (K - 1), so that it starts at 1. {BANDS}"
DISKS, YIN_YANG = "configs/thesis/figure1.5.yaml", "configs/thesis/figure1.8.yaml"
TARGET = "The target is white and grey."
PAIRS = "Above: the first draw; below: the counts of all draws."
TIMES = "Steps: fewest errors so far, where stored; markers: when the result was found; lines: until the end."
SELECTED = f"Evenly spaced along the principal points, the first subset of each. {TARGET}"


@dataclass(frozen=True)
class FigureKind:
    """A figure that can be drawn, of a run that has what it shows or of no results.

    Attributes
    ----------
    name : str
        What --figure takes: PAPER/NUMBER for a published figure, else a word.
    title : str
        What it shows.
    target : str
        The function that draws it, as "module:function" in this package. It takes the run, if there is one.
    condition : str
        The function that says whether a run has what it shows; empty for a figure of no results.
    config : str
        Config of the run that a published figure is of.
    legend : str
        What its caption says of how to read it.
    requirement : str
        What a run must have.
    source_figure : str
        Number of the published figure whose run it shows, where that is not its own.
    is_quick : bool
        Whether it takes seconds at most for all runs of a folder; a page has only such.
    is_covered : bool
        Whether a published figure of the same run shows as much, so that lists leave this one out.
    options : tuple of {'metric', 'against'}
        What can be chosen: another metric than the table's, and the learner that others are compared with.
    beside_tables : {'none', 'all', 'times'}
        Which tables it stands beside on the page of `zoloss report`: none, as it stands among the figures; all
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

    @property
    def paper(self) -> str:
        """Return the paper of a published figure; nothing for others."""
        return self.name.rpartition("/")[0]

    @property
    def number(self) -> str:
        """Return the number of a published figure, or the name of another."""
        return self.name.rpartition("/")[2]

    @property
    def full_title(self) -> str:
        """Return the title of a published figure, with number and paper."""
        from zoloss_cli.reporting.published.papers import read_paper_titles

        paper = read_paper_titles().get(self.paper, self.paper)
        return f"Figure {self.number} of {paper}: {self.title}"

    @property
    def needs_results(self) -> bool:
        """Return whether it is of a run."""
        return bool(self.condition)

    def draw(self, *run: RunResult, against: str | None = None) -> Figure:
        """Draw it, of a run where it needs one; some take the learner that others are compared with."""
        return self._import(self.target)(*run, **({} if against is None else {"against": against}))

    def check_options(self, **options: str | None) -> None:
        """Refuse an option that this figure has not."""
        for name, value in options.items():
            if value is not None and name not in self.options:
                those = ", ".join(kind.name for kind in FIGURES if name in kind.options)
                raise ConfigError(f"--{name} is for the figures {those}, and '{self.name}' has no such choice")

    def accepts(self, run: RunResult) -> bool:
        """Return whether a run has what it shows."""
        return self.needs_results and bool(run.cells) and self._import(self.condition)(run)

    def matches(self, run: RunResult) -> bool:
        """Return whether it is of this run: one that has what it shows and mirrors the figure, if published."""
        mirrored = (run.paper, run.figure)
        if self.paper and mirrored != (self.paper, self.source_figure or self.number):
            return False
        return self.accepts(run)

    def _import(self, target: str) -> Callable[..., Any]:
        return import_target(f"{__package__}.{target}")


FIGURES = (
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
        name="cone",
        title="How cones of directions prove the fewest errors, in two dimensions",
        target="cone:draw_cone_bound",
        legend="Left: arrows bound a cone, and lines join pairs that no direction in it ranks correctly.",
    ),
    FigureKind(
        name="li-lin-2007/3",
        title="Training errors of RCD algorithms by epoch",
        target="curves:draw_rcd_variants",
        condition="curves:has_curves",
        config="configs/figure3.yaml",
        legend=BANDS,
    ),
    FigureKind(
        name="li-lin-2007/4",
        title="Training and test errors of stochastic algorithms by epoch",
        target="curves:draw_errors_by_epoch",
        condition="curves:has_curves",
        config="configs/figure4.yaml",
        legend=BANDS,
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
        name="li-thesis-2006/1.11",
        title="Average complexity contribution of samples with right and wrong labels",
        target="wrong_labels:draw_contribution_by_size",
        condition="wrong_labels:has_contribution_by_size",
        config="configs/thesis/figure1.11.yaml",
        legend="Bands: the range over draws.",
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
        name="li-thesis-2006/3.1",
        title="CGBoost (solid) and AnyBoost (dashed) with two cost functions",
        target="two_costs:draw_cost_functions",
        condition="two_costs:has_cost_functions",
        config="configs/thesis/figure3.1.yaml",
        legend=BANDS,
    ),
    FigureKind(
        name="li-thesis-2006/4.2",
        title="AdaBoost.ECC in the tangram experiment",
        target="curves:draw_costs_by_round",
        condition="curves:has_costs",
        config="configs/thesis/figure4.2.yaml",
        legend=COSTS,
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
    ),
    FigureKind(
        name="li-thesis-2006/4.5",
        title="Multiclass boosting with the perceptron on letter",
        target="curves:draw_costs_by_round",
        condition="curves:has_costs",
        config="configs/thesis/figure4.5.yaml",
        legend=COSTS,
    ),
    FigureKind(
        name="ranks",
        title="Average ranks",
        target="ranks:draw_critical_difference",
        condition="ranks:has_ranks",
        legend="A bar joins learners that the Nemenyi test cannot tell apart.",
        requirement="three learners that all ran on two distinct data sets, and a metric with a direction",
        beside_tables="all",
        options=("metric",),
    ),
    FigureKind(
        name="boxes",
        title="Values over splits",
        target="boxes:draw_boxes",
        condition="boxes:has_values",
        legend="Boxes: quartiles and median; diamonds: means; whiskers: 1.5 box lengths at most.",
        requirement="learners that ran on several splits",
        is_quick=False,
        is_covered=True,
        options=("metric",),
    ),
    FigureKind(
        name="differences",
        title="Paired differences",
        target="differences:draw_differences",
        condition="differences:has_pairs",
        legend="Lines: 95 % intervals of the mean, corrected for overlapping splits (Nadeau & Bengio 2003), in "
        "colour and with a circle where they leave zero out; pale bars: quartiles of the differences.",
        requirement="two learners that share several splits, and a metric with a direction",
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
        requirement="learners that record their epochs, by record_every in the config",
        is_covered=True,
    ),
    FigureKind(
        name="time",
        title="Errors against time",
        target="times:draw_errors_against_time",
        condition="times:has_searches",
        legend=TIMES,
        requirement="several learners, some of them searches that say when their result was found",
        beside_tables="times",
    ),
    FigureKind(
        name="bounds",
        title="What was counted against what a theorem allows",
        target="bounds:draw_counted_against_bound",
        condition="bounds:has_bounds",
        legend="One marker per data set, or for several in one place; none may lie above the line.",
        requirement="learners that say what they counted and what its bound is, such as mistake-bound",
    ),
    FigureKind(
        name="boundary",
        title="Regions learned",
        target="boundary:draw_run",
        condition="boundary:has_two_features",
        requirement="data of two features",
        is_quick=False,
    ),
)
FIGURE_NAMES = tuple(kind.name for kind in FIGURES)
FIGURE_NUMBERS = tuple(kind.number for kind in FIGURES if kind.paper)


def find_figure(name: str, kinds: Sequence[FigureKind] = FIGURES) -> FigureKind:
    """Return the figure of a name; the number of a published one will do where only one paper has it."""
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
