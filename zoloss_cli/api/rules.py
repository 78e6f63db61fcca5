"""Rules in the units of the table: linear rules, rules of scaled estimators, and cards of scoring systems."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoloss_cli.api.validation import CONFIDENCE
from zoloss_cli.data.splits import apply_scaling
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import DataError, OutputError
from zoloss_cli.learners.base import Learner

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoloss_cli.report.render import Grid

MIN_DIGITS, ALL_DIGITS = 4, 17
MAX_SHOWN_FEATURES = 20


@dataclass(frozen=True)
class LinearRule:
    """The score at_centre + <weights, x - centre>, which is <weights, x> + bias.

    It is computed from the centre to avoid cancellation if x is far from 0, such as years or serial numbers.
    """

    weights: np.ndarray
    centre: np.ndarray  # the centre of the training samples
    at_centre: float  # the score at the centre

    @property
    def bias(self) -> float:
        """The score at x = 0, rounded once."""
        pairs = zip(self.weights.tolist(), self.centre.tolist(), strict=True)
        return float(Fraction(self.at_centre) - sum((Fraction(w) * Fraction(c) for w, c in pairs), Fraction(0)))

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the score of each sample."""
        return self.at_centre + (X - self.centre) @ self.weights

    def classify(self, scores: np.ndarray) -> np.ndarray:
        """Return class indices; a score of 0 means the positive class."""
        return (scores >= 0.0).astype(int)


@dataclass(frozen=True)
class ScaledEstimator:
    """An estimator for scaled samples, as a rule in the units of the table."""

    estimator: Learner  # the fitted estimator
    centre: np.ndarray  # what is subtracted from samples, and what they are divided by
    spread: np.ndarray

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the estimator's decision function, one column per class if there are more than two.

        It is NaN if a sample is too large to be scaled.
        """
        samples = apply_scaling(X, self.centre, self.spread)
        overflows = ~np.isfinite(samples).all(axis=1)
        samples[overflows] = 0.0
        scores = self.estimator.decision_function(samples)
        scores[overflows] = np.nan
        return scores

    def classify(self, scores: np.ndarray) -> np.ndarray:
        """Return class indices as the estimator predicts; on a tie, the first of the nearest code words."""
        if scores.ndim == 2:
            return np.argmax(scores, axis=1)
        return (scores > 0.0 if self.estimator.multiclass else scores >= 0.0).astype(int)


def convert_to_original_units(
    weights: np.ndarray, bias: float, centre: np.ndarray, spread: np.ndarray, features: list[str]
) -> LinearRule:
    """Convert a rule for scaled samples to the units of the table."""
    constant = spread == 0.0
    with np.errstate(over="ignore"):
        original = np.where(constant, 0.0, weights / np.where(constant, 1.0, spread))
    finite = np.isfinite(original)
    if not np.all(finite):
        name = features[int(np.flatnonzero(~finite)[0])]
        raise DataError(
            f"the values of '{name}' are too close to each other for a finite weight in their units"
        )
    rule = LinearRule(original, centre, float(bias))
    try:
        rule.bias  # noqa: B018  it may overflow
    except OverflowError:
        raise DataError("the rule's threshold in the units of the table is too large for a number") from None
    return rule


def round_weights(
    weights: np.ndarray, threshold: float, X: np.ndarray, positive: np.ndarray
) -> tuple[list[str], str]:
    """Round a rule to the fewest digits that leave all predictions unchanged, in floating point."""
    for digits in range(MIN_DIGITS, ALL_DIGITS + 1):
        shown, at_least = [f"{w:.{digits}g}" for w in weights], f"{threshold:.{digits}g}"
        if np.array_equal(X @ np.array(shown, dtype=float) >= float(at_least), positive):
            break
    return shown, at_least


@dataclass(frozen=True)
class ReadableRule:
    """A rule in the units of the table, scaled so that the largest effect is 1."""

    names: list[str]  # the features by the size of their effect, the largest first
    weights: list[str]  # the weight of each, with the fewest digits that leave all predictions unchanged
    effects: np.ndarray  # weight times standard deviation: the typical variation of the sum by the feature
    threshold: str  # a sample is positive if the sum of weight times feature is at least this
    indicators: dict[str, tuple[str, str]]  # of text columns with two levels: the level for 0, and for 1


def build_readable_rule(rule: LinearRule, table: CsvTable) -> ReadableRule:
    """Return a rule in the form in which it is shown.

    Of two complementary indicators only the second is kept: its weight becomes the difference of both, and the
    threshold absorbs the weight of the first.
    """
    X, weights, threshold = table.X, rule.weights.copy(), -rule.bias
    kept, indicators, at = np.ones(len(weights), bool), {}, 0
    for column in table.columns:
        count = len(column.features)
        levels = column.levels or ()
        if len(levels) == count == 2 and np.all(X[:, at] + X[:, at + 1] == 1.0):
            threshold -= weights[at]
            weights[at + 1] -= weights[at]
            kept[at] = False
            indicators[column.name] = levels[0], levels[1]
        at += count
    names = [name for name, is_kept in zip(table.features, kept, strict=True) if is_kept]
    X, weights = X[:, kept], weights[kept]
    effects = weights * X.std(axis=0)
    largest = float(np.max(np.abs(effects), initial=0.0))
    if largest == 0.0:  # a constant prediction
        largest = abs(threshold) or 1.0
    with np.errstate(over="ignore"):
        scaled = weights / largest, threshold / largest, effects / largest
    if not all(np.all(np.isfinite(part)) for part in scaled):
        scaled = weights, threshold, effects
    shown, at_least = round_weights(scaled[0], scaled[1], X, rule.score(table.X) >= 0.0)
    order = np.argsort(-np.abs(scaled[2]), kind="stable")
    return ReadableRule(
        [names[i] for i in order], [shown[i] for i in order], scaled[2][order], at_least, indicators
    )


def render_rule(readable: ReadableRule, positive: str, show_all: bool = False) -> list[str]:
    """Return a rule as lines of text, with at most 20 features unless all are requested."""
    from tabulate import tabulate

    count = len(readable.names) if show_all else min(len(readable.names), MAX_SHOWN_FEATURES)
    effects = [f"{effect:+.2f}" for effect in readable.effects]
    rows = list(zip(readable.names, readable.weights, effects, strict=True))[:count]
    table = tabulate(
        rows, ["feature", "weight", "effect"], disable_numparse=True, colalign=("left", "right", "right")
    )
    lines = [
        f"rule      '{positive}' where the sum of weight times feature is at least {readable.threshold}",
        "",
        table,
        "(weights in the units of the table; effect: weight times the feature's standard deviation)",
    ]
    left = len(readable.names) - count
    return lines + ([f"(and {left:,} more features of smaller effect: --all)"] if left else [])


MAX_ROWS = 12  # of totals; with more, adjacent ones on the same side of the threshold are merged

RENDERERS = {"html": "html", "tex": "latex", "md": "markdown"}
DRAWINGS = ("png", "svg", "pdf")
CHARACTER_INCHES, LINE_INCHES = 0.075, 0.19
STYLE = """
body { font-family: sans-serif; max-width: 44em; margin: 2em auto; color: #000; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border-bottom: 1px solid #999; padding: 0.25em 0.8em; text-align: left; }
@media print { body { margin: 0; } }
""".strip()


@dataclass(frozen=True)
class RiskRow:
    """The samples whose totals are in a range."""

    low: int  # the smallest and the largest total
    high: int
    count: int  # the number of samples, and of those in the positive class
    positives: int
    risk: float = math.nan  # the share of the positive class, fitted to rise with the total
    repeats: int = 1  # how often each sample is counted

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the risk, by Wilson's formula."""
        from zoloss_cli.report.statistics import compute_proportion_interval

        if not self.count:
            return 0.0, 1.0
        return compute_proportion_interval(self.risk, math.ceil(self.count / self.repeats), CONFIDENCE)

    def describe(self) -> dict[str, Any]:
        """Return the row as part of a JSON object."""
        counts = {"low": self.low, "high": self.high, "samples": self.count, "positives": self.positives}
        return {**counts, "risk": self.risk, "interval": list(self.interval)}


@dataclass(frozen=True)
class ScoreCard:
    """A scoring system in readable form."""

    label: str  # the label column
    classes: tuple[str, str]  # the negative and the positive class
    terms: tuple[tuple[str, int], ...]  # conditions and their points
    start: int  # the points of every sample, with which the lowest possible total is 0
    threshold: int  # the lowest total for which the positive class is predicted
    rows: tuple[RiskRow, ...]  # the totals of training samples, ascending
    is_held_out: bool  # whether the samples of the rows are held-out ones
    facts: tuple[str, ...]  # the number of errors, whether it is proved optimal, and so on

    @property
    def rule(self) -> str:
        """The rule in a sentence."""
        positive = f"'{self.classes[1]}'"
        if not self.terms:
            constant = self.classes[1] if self.threshold <= 0 else self.classes[0]
            return f"always '{constant}': no condition has points"
        start = f"{self.start} and " if self.start else ""
        return (
            f"{positive} where {start}the points of the conditions that hold sum up to {self.threshold} or more"
        )

    @property
    def note(self) -> str:
        """Which samples the rows count, and what the risk is."""
        source = (
            "held-out samples by their total on the card of their fold"
            if self.is_held_out
            else "training samples by their total; on new samples, risks may differ"
        )
        repeats = max((row.repeats for row in self.rows), default=1)
        times = f", each {repeats} times" if repeats > 1 else ""
        return f"{source}{times}; risk: the share of the positive class, fitted to rise with the total"

    def build_grids(self) -> list[Grid]:
        """Return the two tables of the card: points, and risks."""
        from zoloss_cli.report.render import Grid

        terms = [*([("start", self.start)] if self.start else []), *self.terms]
        points = Grid(header=["condition", "points"], lines=[[text, f"{value:+d}"] for text, value in terms])
        percent = f"{100 * CONFIDENCE:.0f} % interval"
        lines = [
            [
                f"{row.low}" if row.low == row.high else f"{row.low} to {row.high}",
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
            "start": self.start,
            "threshold": self.threshold,
            "held_out": self.is_held_out,
            "totals": [row.describe() for row in self.rows],
        }


def count_totals(totals: np.ndarray, y: np.ndarray, threshold: int) -> list[RiskRow]:
    """Return a row for each total, ascending; beyond MAX_ROWS, adjacent rows with few samples are merged."""
    values, place = np.unique(np.rint(totals).astype(np.int64), return_inverse=True)
    counts, positives = np.bincount(place.ravel()), np.bincount(place.ravel(), y == 1)
    rows = [RiskRow(int(v), int(v), int(c), int(p)) for v, c, p in zip(values, counts, positives, strict=True)]
    while len(rows) > MAX_ROWS:
        _, k = min(
            (rows[k].count + rows[k + 1].count, k)
            for k in range(len(rows) - 1)
            if (rows[k].high >= threshold) == (rows[k + 1].low >= threshold)
        )
        one, other = rows[k : k + 2]
        rows[k : k + 2] = [
            RiskRow(one.low, other.high, one.count + other.count, one.positives + other.positives)
        ]
    return rows


def assign_scores(
    rows: list[RiskRow], scores: np.ndarray, positive: np.ndarray, threshold: int
) -> list[RiskRow]:
    """Return the rows with the samples whose score, the total minus the threshold plus 1/2, is nearest."""
    edges = [
        0.0 if one.high < threshold <= other.low else (one.high + other.low + 1) / 2 - threshold
        for one, other in itertools.pairwise(rows)
    ]
    place = np.searchsorted(edges, scores, side="right")
    counts, positives = (np.bincount(place[chosen], minlength=len(rows)) for chosen in (slice(None), positive))
    return [replace(r, count=int(c), positives=int(p)) for r, c, p in zip(rows, counts, positives, strict=True)]


def fit_risks(rows: list[RiskRow], start: int, repeats: int = 1) -> tuple[RiskRow, ...]:
    """Return the rows with risks that rise with the total, by isotonic regression, and `start` in totals."""
    from sklearn.isotonic import IsotonicRegression

    places, counts = np.arange(len(rows)), np.array([row.count for row in rows])
    shares = np.array([row.positives for row in rows]) / np.maximum(counts, 1)
    known = counts > 0
    model = IsotonicRegression(out_of_bounds="clip").fit(places[known], shares[known], counts[known])
    risks = model.predict(places).tolist()
    return tuple(
        replace(row, low=row.low + start, high=row.high + start, risk=risk, repeats=repeats)
        for row, risk in zip(rows, risks, strict=True)
    )


def find_card_format(path: Path) -> str:
    """Return the format that a file name implies; OutputError for any other."""
    suffix, endings = path.suffix.lower().removeprefix("."), (*RENDERERS, *DRAWINGS)
    if suffix not in endings:
        ending = f"ends in .{suffix}" if suffix else "has no ending"
        valid = ", ".join(f".{name}" for name in endings)
        raise OutputError(f"--out: {path} {ending}; a card is written as one of {valid}")
    if suffix in DRAWINGS:
        from zoloss_cli.figures.style import check_can_draw

        check_can_draw()
    return suffix


def render_card_text(card: ScoreCard) -> list[str]:
    """Return a card as lines for a terminal."""
    from zoloss_cli.report.render import render_grid

    points, risks = card.build_grids()
    lines = [f"rule      {card.rule}", ""]
    lines += [render_grid(points), ""] if points.lines else []
    return [*lines, render_grid(risks), f"({card.note})"]


def render_card(card: ScoreCard, format: str) -> bytes:
    """Return a card as the content of a file."""
    if format in DRAWINGS:
        from zoloss_cli.figures.files import render_figure

        return render_figure(draw_card(card), format)
    from zoloss_cli.report.render import load_renderer

    renderer = load_renderer(RENDERERS[format])
    points, risks = card.build_grids()
    title = f"{card.label}: {card.rule}"
    parts = [renderer.render_heading(title)]
    parts += [renderer.render_grid(grid) for grid in (points, risks) if grid.lines]
    parts += [renderer.render_paragraph(f"{fact[0].upper()}{fact[1:]}.") for fact in (*card.facts, card.note)]
    text = renderer.join(parts)
    if format == "html":
        from zoloss_cli.report.html.fragments import escape

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
            texts = [[style.shorten(text, 60) for text in line] for line in grid.lines]
            layout: dict[str, Any] = {"loc": "center", "cellLoc": "left", "colLoc": "left"}
            layout |= {"edges": "horizontal", "bbox": [0.0, 0.0, 1.0, 1.0]}
            drawn = panel.table(texts, colLabels=grid.header, **layout)
            drawn.auto_set_font_size(False)
            drawn.set_fontsize(8)
            drawn.auto_set_column_width(list(range(len(grid.header))))
        return figure
