"""Every numbered figure of the five documents: drawn by `zoloss plot`, or a listing that a learner implements.

The documents are Li & Lin (2007), Nguyen & Sanner (2013), Li's thesis (2006), the course notes "The Perceptron"
(003) and the lecture "Perceptron algorithm for learning linear separators" (004); the last two have no figures.
"""

from __future__ import annotations

import pytest
from reference_runs import load_reference

import zoloss_cli
from zoloss_cli.figures.registry import FIGURES, find_figure

DRAWN = {
    "li-lin-2007": ["3", "4"],
    "nguyen-sanner-2013": ["1", "2", "4", "6", "9"],
    "li-thesis-2006": [
        *(f"1.{n}" for n in range(1, 17)),
        *(f"2.{n}" for n in range(1, 5)),
        *(f"3.{n}" for n in range(1, 3)),
        *(f"4.{n}" for n in range(1, 6)),
    ],
    "003": [],
    "004": [],
}
# Figures that are pseudo-code: (document, number) -> the class that implements it, and how it cites the figure.
LISTINGS = {
    ("li-lin-2007", "1"): ("RCDClassifier", "Section III, Figures 1 and 2"),
    ("li-lin-2007", "2"): ("RCDClassifier", "Section III, Figures 1 and 2"),
    ("nguyen-sanner-2013", "3"): ("BranchAndBoundClassifier", "Section 3, Figure 3"),
    ("nguyen-sanner-2013", "5"): ("PrioritizedSearchClassifier", "Section 4, Figure 5"),
    ("nguyen-sanner-2013", "7"): ("SmoothLossClassifier", "Section 5, Figures 7 and 8"),
    ("nguyen-sanner-2013", "8"): ("SmoothLossClassifier", "Section 5, Figures 7 and 8"),
}
LAST_FIGURES = {"li-lin-2007": 4, "nguyen-sanner-2013": 9}  # numbered from 1 without a gap
PUBLISHED = [f"{paper}/{number}" for paper, numbers in DRAWN.items() for number in numbers]


@pytest.mark.parametrize("paper", LAST_FIGURES)
def test_no_figure_of_a_paper_is_left_out(paper):
    listed = DRAWN[paper] + [number for of, number in LISTINGS if of == paper]
    assert sorted(map(int, listed)) == list(range(1, LAST_FIGURES[paper] + 1))


def test_the_registry_has_these_figures_and_no_others():
    assert sorted(kind.name for kind in FIGURES if kind.paper) == sorted(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_is_of_no_results_or_of_one_run_of_the_reference(name):
    kind = find_figure(name)
    if kind.needs_results:
        assert len([run for run in load_reference() if kind.matches(run)]) == 1


@pytest.mark.parametrize("place", LISTINGS, ids=" ".join)
def test_each_listing_is_cited_by_what_implements_it(place):
    name, citation = LISTINGS[place]
    assert citation in getattr(zoloss_cli, name).__doc__
