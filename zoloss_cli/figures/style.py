"""The style of all figures: readable in print, in greyscale and for colour-blind readers.

matplotlib's global settings are changed only within `apply_style`, which restores them; the user's
matplotlibrc is not read, so that the same results give the same file.
"""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from zoloss_cli.errors import MissingPackageError
from zoloss_cli.report.runs import RunResult
from zoloss_cli.utils.imports import build_missing_error, import_optional, is_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

NEEDED_BY = "drawing a figure"  # the subject of a sentence about matplotlib
COLUMN, PAGE = 3.4, 7.0  # inches: the width of a column and of a page
MARKERS_PER_LINE = 8
MAX_NAME_LENGTH = 28
LEGEND_LINE_INCHES, LETTER_INCHES = 0.5, 0.055  # a line in a legend with its margins, and a letter
ORIGIN_POINTS, ORIGIN_LINE_INCHES, ORIGIN_LETTER_INCHES = 6.5, 0.14, 0.053
ORIGIN_COLOUR = "#444444"

# Okabe & Ito's colours, those with the most contrast to white first; their yellow is too faint for a line.
BLACK, BLUE, VERMILION, GREEN, PURPLE = "#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, YELLOW = "#E69F00", "#56B4E9", "#F0E442"
COLOURS = (BLACK, BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
SOLID, DASHED, DOTTED = "-", (0, (5, 1.5)), (0, (1, 1))
# As many kinds of line as colours would let the eighth line differ from the first only in its marker.
DASHES = (SOLID, DASHED, (0, (5, 1.5, 1, 1.5)), DOTTED, (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

SETTINGS = {
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titley": 1.0,  # no axis has numbers above, so titles need not make room for them, which is slow
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.linewidth": 0.4,
    "grid.color": "#D9D9D9",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "hatch.linewidth": 0.4,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # embedded fonts, as publishers require
    "svg.fonttype": "none",  # text stays text: small, searchable, read aloud
    "text.parse_math": False,  # names may contain dollar signs
    "svg.hashsalt": "zoloss",  # the same ids for the same figure
}
_is_applied: ContextVar[bool] = ContextVar("_is_applied", default=False)


class LineStyle(NamedTuple):
    """Colour, dashes and marker of a line; for a few lines, each of the three attributes distinguishes them."""

    colour: str
    dashes: object
    marker: str


def build_line_styles(count: int) -> list[LineStyle]:
    """Return the line styles of this many lines, in a fixed order; the first 315 are all different."""
    return [_build_line_style(COLOURS[i % len(COLOURS)], i, i) for i in range(count)]


def check_can_draw() -> None:
    """Raise MissingPackageError without matplotlib, before anything is computed for a figure."""
    if not is_installed("matplotlib"):
        raise build_missing_error("matplotlib", NEEDED_BY)


def list_drawing_faults() -> list[str]:
    """Return why a page is written without figures: one sentence, or none if they can be drawn."""
    try:
        check_can_draw()
    except MissingPackageError as error:
        return [f"figures are left out: {error}"]
    return []


@contextlib.contextmanager
def apply_style() -> Iterator[None]:
    """Use matplotlib with the settings above only; nested uses have no effect."""
    if _is_applied.get():
        yield
        return
    style = import_optional("matplotlib.style", NEEDED_BY)
    with style.context(["default", SETTINGS]):
        token = _is_applied.set(True)
        try:
            yield
        finally:
            _is_applied.reset(token)


def new_figure(width: float, height: float) -> Figure:
    """Return a figure of this size in inches with a constrained layout, without pyplot's global state."""
    figure = import_optional("matplotlib.figure", NEEDED_BY)
    return figure.Figure(figsize=(width, height), layout="constrained")


def shorten(name: str, length: int = MAX_NAME_LENGTH) -> str:
    """Return a name that fits next to an axis or above a panel; matplotlib hides names that begin with _."""
    text = name if len(name) <= length else f"{name[: length - 1]}…"
    return f" {text}" if text.startswith("_") else text


def new_grid(
    width: float, height: float, count: int, columns: int, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure of this size in inches, and this many axes in it, row by row."""
    figure, rows = new_figure(width, height), math.ceil(count / columns)
    axes = figure.subplots(rows, min(columns, count), squeeze=False, **options).ravel()
    for spare in axes[count:]:
        spare.remove()
    return figure, list(axes[:count])


def new_panels(count: int, most: int, row: float, extra: float) -> tuple[Figure, list[Axes], int]:
    """Return a figure, this many axes, and the number of columns, at most `most`.

    A row is `row` inches high, and the figure `extra` more; one column is as wide as a column of a page.
    """
    columns = min(most, count)
    width, height = COLUMN if columns == 1 else PAGE, row * math.ceil(count / columns) + extra
    return *new_grid(width, height, count, columns), columns


def new_axes(height: float, width: float = COLUMN) -> tuple[Figure, Axes]:
    """Return a figure of this height in inches with one panel."""
    figure, (axes,) = new_grid(width, height, 1, 1)
    return figure, axes


def label_outer(panels: list[Axes], columns: int, x: str, y: str) -> None:
    """Label the axes below the last row of panels and beside the first column."""
    for panel in panels[-columns:]:
        panel.set_xlabel(x)
    for panel in panels[::columns]:
        panel.set_ylabel(y)


def add_origin(figure: Figure, text: str) -> None:
    """Write above a drawing, in small type, which data and splits it shows and what its bands are.

    The figure grows by the lines needed, so that panels keep their size. A title of the figure itself stays
    above.
    """
    layout = import_optional("matplotlib.layout_engine", NEEDED_BY)
    if not isinstance(figure.get_layout_engine(), layout.ConstrainedLayoutEngine):
        return  # laid out manually, with this text below
    lines = wrap_origin(text, figure.get_figwidth())
    above = figure.get_suptitle()
    figure.set_figheight(figure.get_figheight() + ORIGIN_LINE_INCHES * len(lines))
    figure.suptitle("\n".join(filter(None, [above, *lines])), fontsize=ORIGIN_POINTS, color=ORIGIN_COLOUR)


def wrap_origin(text: str, width: float) -> list[str]:
    """Wrap a text in small type to this many inches."""
    return textwrap.wrap(text, int((width - 0.2) / ORIGIN_LETTER_INCHES))


def plot_line(axes: Axes, x: ArrayLike, y: ArrayLike, pen: LineStyle, name: str, shift: int = 0) -> None:
    """Plot a line with a few markers."""
    every = max(1, len(y) // MARKERS_PER_LINE)  # type: ignore[arg-type]
    line: dict[str, Any] = {"color": pen.colour, "linestyle": pen.dashes, "marker": pen.marker}
    axes.plot(x, y, markevery=(shift % every, every), label=shorten(name), **line)


def plot_hollow(axes: Axes, x: ArrayLike, y: ArrayLike, pen: LineStyle, name: str, edge: float) -> None:
    """Plot small hollow markers, without a line."""
    empty: dict[str, Any] = {"markerfacecolor": "none", "markersize": 3, "markeredgewidth": edge}
    axes.plot(x, y, pen.marker, color=pen.colour, label=shorten(name), **empty)


def set_logarithmic(axes: Axes) -> None:
    """Make the y-axis logarithmic, with plain tick labels: powers of ten, and more between if these are few."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    between = (1, 2, 3, 4, 6, 8) if high < 10.0 * low else (1, 2, 5) if high < 1000.0 * low else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=between))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def add_legend_below(figure: Figure, axes: list[Axes], columns: int, order: list[str] | None = None) -> None:
    """Add one legend for all panels below them: each name once, in order of appearance or as given.

    It has fewer columns than requested if names are too long.
    """
    entries: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    names = [name for name in map(shorten, order or entries) if name in entries]
    handles = [entries[name] for name in names]
    width = LEGEND_LINE_INCHES + LETTER_INCHES * max(map(len, names), default=0)
    columns = max(1, min(columns, len(names), int(figure.get_figwidth() / width)))
    figure.legend(handles, names, loc="outside lower center", ncols=columns)


# There are fewer colours than learners. Learners that the papers compare have different colours; others share
# one and differ in dashes and marker.

# Colours of Paul Tol's scheme "muted", after those of Okabe and Ito in `style`: colour-blind readers can
# distinguish all of them at the width of a line.
INDIGO, WINE, OLIVE, TEAL, GREY = "#332288", "#882255", "#84842B", "#2F8F82", "#6E6E6E"

LEARNERS_BY_COLOUR: dict[str, tuple[str, ...]] = {
    BLUE: ("rcd-bias", "sla", "ecc:max-cut", "contribution", "scoring"),
    VERMILION: ("pocket", "lr", "erp:max-2", "neighbours", "romma-aggressive"),
    GREEN: ("ave-perc", "bpm", "erp:rand-2", "multipliers"),
    PURPLE: ("sgd-mls", "csa", "ecc:rand-half", "leave-one-out", "margin-perceptron", "ecoc"),
    BLACK: ("soft-svm", "fld", "one-vs-one", "cross-validation", "exact"),
    ORANGE: ("sgd-hinge", "bnb", "cgboost", "rcd-conj", "heuristic"),
    SKY: ("rcd-plain", "pcs", "one-vs-all", "anyboost", "all subsets"),
    INDIGO: ("pivot", "rcd-grad", "adaboost-stump", "batch-perceptron"),
    WINE: ("sgd-ls", "certify", "stump", "sgd-perceptron", "rcd-grad-batch", "ecc-asymmetric"),
    OLIVE: ("perceptron", "mip", "tree", "rcd-conj-bias", "voted-perc"),
    TEAL: ("ccd", "romma", "adaboost", "svm-perceptron", "pocket-plain"),
    GREY: ("svm", "majority", "ecc", "erp", "one-vs-one/one-vs-all"),
}
LEARNER_COLOURS = tuple(LEARNERS_BY_COLOUR)
WITHOUT_COLOUR_OF_THEIR_OWN = "adaboost"  # boosted learners have the colour of their base


def _build_line_style(colour: str, dashes: int, marker: int) -> LineStyle:
    return LineStyle(colour, DASHES[dashes % len(DASHES)], MARKERS[marker % len(MARKERS)])


LINE_STYLES = {
    learner: _build_line_style(colour, i + 2 * j, i + 4 * j)
    for i, (colour, learners) in enumerate(LEARNERS_BY_COLOUR.items())
    for j, learner in enumerate(learners)
}


def find_line_style(label: str, learner: str = "") -> LineStyle:
    """Return the line style of a label such as `ecc:max-cut:stump`, or of the learner behind it."""
    parts = label.split(":")
    if parts[0] == WITHOUT_COLOUR_OF_THEIR_OWN and len(parts) > 1:
        parts = parts[1:]
    starts = [":".join(parts[:k]) for k in range(len(parts), 0, -1)]
    for name in (*starts, learner):
        if name in LINE_STYLES:
            return LINE_STYLES[name]
    code = crc32(label.encode())  # an unknown name: deterministic, unlike `hash`
    return _build_line_style(LEARNER_COLOURS[code % len(LEARNER_COLOURS)], code // 16, code // 256)


def assign_line_styles(run: RunResult) -> dict[str, LineStyle]:
    """Return the styles of a run's columns: colours by learner, and no two with the same dashes and marker."""
    behind = {spec.label: spec.learner for spec in run.experiment.learners}
    return assign_line_styles_by_name({label: behind.get(label, "") for label in run.learners})


def assign_line_styles_by_name(learners: Mapping[str, str]) -> dict[str, LineStyle]:
    """Return the line styles of learners that are shown together, by the registered learner behind each label.

    Each has the colour of its learner. If two of one colour would look the same, the later one gets other
    dashes and another marker. If there are only variants of one learner, their colours differ.
    """
    if len(learners) > 1 and len({find_line_style(*item).colour for item in learners.items()}) == 1:
        return dict(zip(learners, build_line_styles(len(learners)), strict=True))
    pens: dict[str, LineStyle] = {}
    for label, learner in learners.items():
        pens[label] = _choose_line_style(find_line_style(label, learner), list(pens.values()))
    return pens


def _choose_line_style(wanted: LineStyle, taken: list[LineStyle]) -> LineStyle:
    """Return a line style of this colour with unused dashes and marker, or an unused combination of them."""
    dashes = DASHES.index(wanted.dashes)
    marker = MARKERS.index(wanted.marker)
    shifts = range(len(DASHES) * len(MARKERS))  # as many as there are combinations
    choices = [_build_line_style(wanted.colour, dashes + i, marker + i) for i in shifts]
    same = [pen for pen in taken if pen.colour == wanted.colour]
    for pen in choices:
        if all(pen.dashes != other.dashes and pen.marker != other.marker for other in same):
            return pen
    return next((pen for pen in choices if pen not in same), wanted)
