"""The card of a scoring system: conditions and points, the threshold, and the observed risk for each total."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.api.fit import TableFit
from zoloss_cli.api.validation import CONFIDENCE
from zoloss_cli.errors import OutputError
from zoloss_cli.learners.scoring.classifier import ScoringSystemClassifier
from zoloss_cli.report.render.render import Grid
from zoloss_cli.report.statistics import compute_proportion_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ROWS = 12  # of totals; with more, neighbours on one side of the threshold are joined


@dataclass(frozen=True)
class RiskRow:
    """The training samples whose totals are in a range.

    Attributes
    ----------
    low, high : int
        The smallest and the largest total.
    count, positives : int
        The number of samples, and of those in the positive class.
    """

    low: int
    high: int
    count: int
    positives: int

    @property
    def risk(self) -> float:
        """The share of the positive class."""
        return self.positives / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the risk, by Wilson's formula."""
        return compute_proportion_interval(self.risk, self.count, CONFIDENCE)

    @property
    def totals(self) -> str:
        """The range as text."""
        return f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"


@dataclass(frozen=True)
class ScoreCard:
    """A scoring system in readable form.

    Attributes
    ----------
    label : str
        The label column.
    classes : tuple of (str, str)
        The negative and the positive class.
    terms : tuple of tuple of (str, int)
        Conditions and their points.
    threshold : int
        The lowest total for which the positive class is predicted.
    rows : tuple of RiskRow
        The totals of training samples, ascending.
    facts : tuple of str
        How many errors it makes, and whether that is proved to be optimal.
    """

    label: str
    classes: tuple[str, str]
    terms: tuple[tuple[str, int], ...]
    threshold: int
    rows: tuple[RiskRow, ...]
    facts: tuple[str, ...]

    @property
    def rule(self) -> str:
        """The rule in a sentence."""
        positive = f"'{self.classes[1]}'"
        if not self.terms:
            constant = self.classes[1] if self.threshold <= 0 else self.classes[0]
            return f"always '{constant}': no condition has points"
        return f"{positive} where the points of the conditions that hold sum up to {self.threshold} or more"

    def build_grids(self) -> list[Grid]:
        """Return the two tables of the card: points, and risks."""
        points = Grid(
            header=["condition", "points"], lines=[[text, f"{value:+d}"] for text, value in self.terms]
        )
        percent = f"{100 * CONFIDENCE:.0f} % interval"
        lines = [
            [
                row.totals,
                f"'{self.classes[row.low >= self.threshold]}'",
                f"{row.count:,}",
                f"{row.positives:,}",
                f"{100 * row.risk:.0f} %",
                "{:.0f} to {:.0f} %".format(*(100 * end for end in row.interval)),
            ]
            for row in self.rows
        ]
        header = ["total", "predicted", "samples", f"'{self.classes[1]}'", "risk", percent]
        return [points, Grid(header=header, lines=lines, n_left=2)]

    def describe(self) -> dict[str, Any]:
        """Return the card as part of a JSON object."""
        return {
            "terms": [{"condition": text, "points": value} for text, value in self.terms],
            "threshold": self.threshold,
            "totals": [
                {
                    "low": row.low,
                    "high": row.high,
                    "samples": row.count,
                    "positives": row.positives,
                    "risk": row.risk,
                    "interval": list(row.interval),
                }
                for row in self.rows
            ],
        }


def build_card(fitted: TableFit) -> ScoreCard | None:
    """Return the card of a fit; None if its learner has none.

    Parameters
    ----------
    fitted : TableFit
        The fit.

    Returns
    -------
    ScoreCard or None
        The card.
    """
    estimator = fitted.estimator
    if not isinstance(estimator, ScoringSystemClassifier):
        return None
    terms = [(c.text, int(p)) for c, p in zip(estimator.conditions_, estimator.points_, strict=True)]
    totals = np.rint(estimator.compute_totals(fitted.table.X)).astype(np.int64)
    n, errors = len(fitted.y), fitted.errors
    facts = [f"{errors:,} of {n:,} training samples are misclassified ({100 * errors / n:.2f} %)"]
    if fitted.lower_bound is not None and errors <= fitted.lower_bound:
        facts.append(f"it is proved that no {estimator.rule_kind} misclassifies fewer")
    elif fitted.lower_bound is not None:
        facts.append(f"every {estimator.rule_kind} misclassifies {fitted.lower_bound:,} or more")
    if fitted.validation is not None:
        low, high = (100 * end for end in fitted.validation.interval)
        facts.append(
            f"{100 * fitted.validation.error:.2f} % errors on samples that were left out "
            f"({100 * CONFIDENCE:.0f} % interval {low:.1f} to {high:.1f} %)"
        )
    facts.append("risks are shares of the samples that the points were chosen on; of others they may differ")
    return ScoreCard(
        fitted.table.label,
        (fitted.classes[0], fitted.classes[1]),
        tuple(terms),
        estimator.threshold_,
        tuple(join_rows(count_totals(totals, fitted.y), estimator.threshold_)),
        tuple(facts),
    )


def count_totals(totals: np.ndarray, y: np.ndarray) -> list[RiskRow]:
    """Return a row for each total that occurs, ascending."""
    values, place = np.unique(totals, return_inverse=True)
    counts, positives = np.bincount(place.ravel()), np.bincount(place.ravel(), y == 1)
    return [RiskRow(int(v), int(v), int(c), int(p)) for v, c, p in zip(values, counts, positives, strict=True)]


def join_rows(rows: list[RiskRow], threshold: int) -> list[RiskRow]:
    """Join neighbouring rows with the fewest samples, on one side of the threshold, until few are left."""
    rows = list(rows)
    while len(rows) > MAX_ROWS:
        pairs = [
            (rows[k].count + rows[k + 1].count, k)
            for k in range(len(rows) - 1)
            if (rows[k].high >= threshold) == (rows[k + 1].low >= threshold)
        ]
        _, k = min(pairs)
        first, second = rows[k], rows[k + 1]
        both = RiskRow(first.low, second.high, first.count + second.count, first.positives + second.positives)
        rows[k : k + 2] = [both]
    return rows


RENDERERS = {"html": "html", "tex": "latex", "md": "markdown"}
DRAWINGS = ("png", "svg", "pdf")
CHARACTER_INCHES, LINE_INCHES = 0.075, 0.19
STYLE = """
body { font-family: sans-serif; max-width: 44em; margin: 2em auto; color: #000; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border-bottom: 1px solid #999; padding: 0.25em 0.8em; text-align: left; }
@media print { body { margin: 0; } }
""".strip()


def find_card_format(path: Path) -> str:
    """Return the format that a file name implies; OutputError for any other."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in (*RENDERERS, *DRAWINGS):
        ending = f"ends in .{suffix}" if suffix else "has no ending"
        valid = ", ".join(f".{name}" for name in (*RENDERERS, *DRAWINGS))
        raise OutputError(f"--out: {path} {ending}; a card is written as one of {valid}")
    if suffix in DRAWINGS:
        from zoloss_cli.figures.style import check_can_draw

        check_can_draw()
    return suffix


def render_card_text(card: ScoreCard) -> list[str]:
    """Return a card as lines for a terminal."""
    from zoloss_cli.report.render.text import render_grid

    points, risks = card.build_grids()
    lines = [f"rule      {card.rule}", ""]
    lines += [render_grid(points), ""] if points.lines else []
    return [
        *lines,
        render_grid(risks),
        "(training samples by their total; risk: the share of the positive class)",
    ]


def render_card(card: ScoreCard, format: str) -> bytes:
    """Return a card as the content of a file.

    Parameters
    ----------
    card : ScoreCard
        The card.
    format : str
        The format from `find_card_format`.

    Returns
    -------
    bytes
        The content.
    """
    if format in DRAWINGS:
        from zoloss_cli.figures.files import render_figure

        return render_figure(draw_card(card), format)
    renderer = importlib.import_module(f"zoloss_cli.report.render.{RENDERERS[format]}")
    points, risks = card.build_grids()
    title = f"{card.label}: {card.rule}"
    parts = [renderer.render_heading(title)]
    parts += [renderer.render_grid(grid) for grid in (points, risks) if grid.lines]
    parts += [renderer.render_paragraph(f"{fact[0].upper()}{fact[1:]}.") for fact in card.facts]
    text = renderer.join(parts)
    if format == "html":
        from zoloss_cli.report.render.html import escape

        head = f'<meta charset="utf-8">\n<title>{escape(title)}</title>\n<style>\n{STYLE}\n</style>'
        text = f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{text}\n</body>\n</html>'
    return f"{text}\n".encode()


def draw_card(card: ScoreCard) -> Figure:
    """Draw a card as two tables under its rule."""
    from zoloss_cli.figures import style

    grids = [grid for grid in card.build_grids() if grid.lines]
    rows = sum(len(grid.lines) + 1 for grid in grids)
    widest = max(
        sum(max(len(line[k]) for line in [grid.header, *grid.lines]) + 3 for k in range(len(grid.header)))
        for grid in grids
    )
    width = max(CHARACTER_INCHES * widest, 0.6 * CHARACTER_INCHES * len(card.rule), style.COLUMN)
    with style.apply_style():
        figure = style.new_figure(width, LINE_INCHES * (rows + 4))
        heights = [len(grid.lines) + 1 for grid in grids]
        axes = figure.subplots(len(grids), 1, squeeze=False, height_ratios=heights).ravel()
        figure.suptitle(f"{card.label}: {card.rule}", fontsize=8, wrap=True)
        for panel, grid in zip(axes, grids, strict=True):
            panel.axis("off")
            drawn = panel.table(
                [[style.shorten(text, 60) for text in line] for line in grid.lines],
                colLabels=grid.header,
                loc="center",
                cellLoc="left",
                colLoc="left",
                edges="horizontal",
                bbox=[0.0, 0.0, 1.0, 1.0],
            )
            drawn.auto_set_font_size(False)
            drawn.set_fontsize(8)
            drawn.auto_set_column_width(list(range(len(grid.header))))
        return figure
