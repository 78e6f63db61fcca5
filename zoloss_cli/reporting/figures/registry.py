"""Every figure, one entry each: a new one is a file with a function that draws a run, and its entry.

Those of papers are in `published_kinds.py`. Nothing is imported until a figure is drawn or a run is checked for
what a figure shows, so that a shell completes names and a command shows its help at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.reporting.figures.kind import FigureKind
from zoloss_cli.reporting.figures.published_kinds import BAND, BANDS, PUBLISHED_FIGURES

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
        target="rcd_steps:draw_rcd_steps",
        legend="Each epoch minimizes the errors exactly along one random direction of bias and weights; "
        "no line has fewer errors than the last one, as the figure cone of the same samples shows.",
        frames="rcd_steps:draw_rcd_frames",
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
        spread="boxes: quartiles and median; diamonds: means; whiskers: 1.5 box lengths at most",
        datasets_per_page=6,
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
        target="times:draw_errors_against_time",
        condition="times:has_searches",
        legend=TIMES,
        requirement="several learners, some of them searches that say when their result was found",
        datasets_per_page=6,
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
        name="convergence",
        title="Share of splits at the minimum by epoch",
        target="convergence:draw_shares",
        condition="convergence:has_minimum",
        requirement="learners that record their epochs, and one that proves the fewest errors, such as certify",
    ),
    FigureKind(
        name="lookup",
        title="Complexity with a lookup table by the cost of an error",
        target="lookup_table:draw_trade_off",
        condition="complexity_error:has_pairs",
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
