"""A learner looks the same in all figures."""

from __future__ import annotations

from drawing import luminance

from zoloss_cli.figures.style import (
    LEARNER_COLOURS,
    LEARNERS_BY_COLOUR,
    LOOKS,
    assign_looks_by_name,
    find_look,
)
from zoloss_cli.registry import LEARNERS


def test_every_learner_has_a_colour_once_and_looks_differ():
    named = [learner for learners in LEARNERS_BY_COLOUR.values() for learner in learners]
    assert len(set(named)) == len(named)
    assert len({(look.colour, str(look.dashes), look.marker) for look in LOOKS.values()}) == len(LOOKS)
    assert {"rcd-bias", "pocket", "svm", "lr", "sla", "pivot", "certify", "mip"} <= set(LOOKS) & {*LEARNERS}


def test_colours_are_seen_on_white():
    contrasts = {colour: 1.05 / (luminance(colour) + 0.05) for colour in LEARNER_COLOURS}
    assert min(contrasts.values()) >= 2.0
    assert sum(contrast >= 3.0 for contrast in contrasts.values()) >= 10


def test_a_colour_depends_on_nothing_but_the_name():
    several = assign_looks_by_name({"lr": "lr", "mine": "", "pocket": "pocket", "adaboost:pocket": "adaboost"})
    alone = assign_looks_by_name({"mine": ""})
    assert alone["mine"] == several["mine"] == find_look("mine")
    assert several["pocket"].colour == several["adaboost:pocket"].colour == find_look("pocket").colour
    assert several["pocket"] != several["adaboost:pocket"]
    assert find_look("rcd-bias-zero", "rcd-bias") == LOOKS["rcd-bias"]
    assert find_look("erp:max-2:LRL:stump").colour == find_look("erp:max-2:LRLR:stump").colour


def test_labels_of_one_learner_differ_in_dashes_or_marker_and_alone_in_colour():
    variants = {f"scoring-{i}": "scoring" for i in range(9)}
    looks = assign_looks_by_name(variants | {"lr": "lr"})
    assert looks.pop("lr") == find_look("lr")
    assert len({look.colour for look in looks.values()}) == 1
    assert len({(str(look.dashes), look.marker) for look in looks.values()}) == 9
    alone = assign_looks_by_name(dict.fromkeys(list(variants)[:5], "scoring"))
    assert len({look.colour for look in alone.values()}) == 5
