"""Every numbered figure of the five documents: drawn by `zoloss plot`, or a listing that a learner implements.

The documents are Li & Lin (2007), Nguyen & Sanner (2013), Li's thesis (2006), the course notes "The Perceptron"
(003) and the lecture "Perceptron algorithm for learning linear separators" (004); the last two have no figures.
"""

from reference_runs import load_reference

import zoloss_cli
from zoloss_cli.figures.figure_kinds import FIGURE_NAMES, list_figures

# Figures that are pseudo-code: (document, number) -> the class that implements it, and how it cites the figure.
LISTINGS = {
    ("li-lin-2007", "1"): ("RCDClassifier", "Section III, Figures 1 and 2"),
    ("li-lin-2007", "2"): ("RCDClassifier", "Section III, Figures 1 and 2"),
    ("nguyen-sanner-2013", "3"): ("BranchAndBoundClassifier", "Section 3, Figure 3"),
    ("nguyen-sanner-2013", "5"): ("PrioritizedSearchClassifier", "Section 4, Figure 5"),
    ("nguyen-sanner-2013", "7"): ("SmoothLossClassifier", "Section 5, Figures 7 and 8"),
    ("nguyen-sanner-2013", "8"): ("SmoothLossClassifier", "Section 5, Figures 7 and 8"),
}
LAST_FIGURES = {  # numbered from 1 without a gap; in the thesis, within each chapter
    "li-lin-2007/": 4,
    "nguyen-sanner-2013/": 9,
    "li-thesis-2006/1.": 16,
    "li-thesis-2006/2.": 4,
    "li-thesis-2006/3.": 2,
    "li-thesis-2006/4.": 5,
}


def test_no_figure_of_a_document_is_left_out():
    known = {*FIGURE_NAMES, *map("/".join, LISTINGS)}
    for start, last in LAST_FIGURES.items():
        assert {f"{start}{number}" for number in range(1, last + 1)} <= known


def test_each_is_of_no_results_or_of_one_run_of_the_reference():
    for kind in list_figures():
        if kind.paper and kind.needs_results:
            assert len([run for run in load_reference() if kind.matches(run)]) == 1, kind.name


def test_each_listing_is_cited_by_what_implements_it():
    for name, citation in LISTINGS.values():
        assert citation in getattr(zoloss_cli, name).__doc__
