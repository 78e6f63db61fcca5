"""A learner looks the same in all figures."""

from __future__ import annotations

import itertools

import pytest
from drawing import drawn, luminance

from zoloss_cli.figures import curves as times
from zoloss_cli.figures import nguyen_sanner as synthetic
from zoloss_cli.figures import style
from zoloss_cli.figures.style import (
    LEARNER_COLOURS,
    LEARNERS_BY_COLOUR,
    LOOKS,
    assign_looks,
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


def test_the_papers_learners_have_different_colours(reference):
    for name in ("table2.2", "nguyen-table1", "figure3", "figure4"):
        run = reference[name]
        behind = {spec.label: spec.learner for spec in run.experiment.learners}
        looks = assign_looks(run)
        assert len({looks[x].colour for x in run.learners}) == len(
            {find_look(x, behind[x]) for x in run.learners}
        )
        assert len({str(look) for look in looks.values()}) == len(run.learners)


def test_a_colour_depends_on_nothing_but_the_name():
    several = assign_looks_by_name({"lr": "lr", "mine": "", "pocket": "pocket", "adaboost:pocket": "adaboost"})
    alone = assign_looks_by_name({"mine": ""})
    assert alone["mine"] == several["mine"] == find_look("mine")
    assert several["pocket"].colour == several["adaboost:pocket"].colour == find_look("pocket").colour
    assert several["pocket"] != several["adaboost:pocket"]
    assert find_look("rcd-bias-zero", "rcd-bias") == LOOKS["rcd-bias"]
    assert find_look("erp:max-2:LRL:stump").colour == find_look("erp:max-2:LRLR:stump").colour


@pytest.mark.parametrize("count", [2, 9])
def test_labels_of_one_learner_differ_in_dashes_or_marker(count):
    variants = {f"scoring-{i}": "scoring" for i in range(count)}
    looks = assign_looks_by_name(variants | {"lr": "lr"})
    assert looks.pop("lr") == find_look("lr")
    for one, other in itertools.combinations(looks.values(), 2):
        assert one.colour == other.colour
        assert (str(one.dashes), one.marker) != (str(other.dashes), other.marker)


def test_variants_of_one_learner_alone_have_colours():
    looks = assign_looks_by_name({f"scoring-{i}": "scoring" for i in range(5)})
    assert len({look.colour for look in looks.values()}) == 5


def test_two_figures_draw_a_learner_in_one_colour(reference):
    figure9 = drawn(synthetic.draw_paired_losses, reference["nguyen-figure9"])
    against_time = style.new_figure(3.0, 3.0)
    axes = against_time.add_subplot()
    times.draw_searches_on(axes, reference["nguyen-table3"], "heart")
    colours = [{line.get_label(): line.get_color() for line in each.lines} for each in (figure9.axes[0], axes)]
    for title in ("BPM", "SVM", "LR"):
        assert colours[0][title] == colours[1][title]
