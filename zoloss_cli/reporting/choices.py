"""Names of figures; light, because a shell completes them."""

from __future__ import annotations

CHAPTER_1_FIGURES = ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.11", "1.12", "1.13")  # of Li's thesis
PAPER_FIGURES = ("1", "2", "3", "4", "6", "9", *CHAPTER_1_FIGURES, "3.1", "4.2", "4.3", "4.4", "4.5")
FIGURE_NAMES = (*PAPER_FIGURES, "ranks", "curves", "time", "bounds", "boundary")
