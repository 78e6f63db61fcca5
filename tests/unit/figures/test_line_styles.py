"""A learner looks the same in all figures."""

from drawing import luminance

from zoloss_cli.figures.style import (
    LEARNER_COLOURS,
    LEARNERS_BY_COLOUR,
    LINE_STYLES,
    assign_line_styles_by_name,
    find_line_style,
)
from zoloss_cli.registry import LEARNERS


def test_every_learner_has_a_colour_once_and_line_styles_differ():
    named = [learner for learners in LEARNERS_BY_COLOUR.values() for learner in learners]
    assert len(set(named)) == len(named)
    assert len({(pen.colour, str(pen.dashes), pen.marker) for pen in LINE_STYLES.values()}) == len(LINE_STYLES)
    assert {"rcd-bias", "pocket", "svm", "lr", "sla", "pivot", "mip"} <= set(LINE_STYLES) & {*LEARNERS}


def test_colours_are_seen_on_white():
    contrasts = {colour: 1.05 / (luminance(colour) + 0.05) for colour in LEARNER_COLOURS}
    assert min(contrasts.values()) >= 2.0
    assert sum(contrast >= 3.0 for contrast in contrasts.values()) >= 10


def test_a_colour_depends_on_nothing_but_the_name():
    names = {"lr": "lr", "mine": "", "pocket": "pocket", "adaboost:pocket": "adaboost"}
    several = assign_line_styles_by_name(names)
    alone = assign_line_styles_by_name({"mine": ""})
    assert alone["mine"] == several["mine"] == find_line_style("mine")
    assert several["pocket"].colour == several["adaboost:pocket"].colour == find_line_style("pocket").colour
    assert several["pocket"] != several["adaboost:pocket"]
    assert find_line_style("rcd-bias-zero", "rcd-bias") == LINE_STYLES["rcd-bias"]
    assert find_line_style("erp:max-2:LRL:stump").colour == find_line_style("erp:max-2:LRLR:stump").colour


def test_labels_of_one_learner_differ_in_dashes_or_marker_and_alone_in_colour():
    variants = {f"scoring-{i}": "scoring" for i in range(9)}
    pens = assign_line_styles_by_name(variants | {"lr": "lr"})
    assert pens.pop("lr") == find_line_style("lr")
    assert len({pen.colour for pen in pens.values()}) == 1
    assert len({(str(pen.dashes), pen.marker) for pen in pens.values()}) == 9
    alone = assign_line_styles_by_name(dict.fromkeys(list(variants)[:5], "scoring"))
    assert len({pen.colour for pen in alone.values()}) == 5
