"""All figures by name. A figure is declared beside the function that draws it, by `register_figure`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from zoloss_cli.errors import ConfigError, suggest_nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoloss_cli.report.runs import RunResult

Draw = TypeVar("Draw", bound=Callable[..., Any])

# The figures of each module, which is imported when one is used, so completion stays fast.
_PUBLISHED = (
    ("curves", "li-lin-2007", "3 4"),
    ("thesis_complexity", "li-thesis-2006", "1.1 1.2 1.3 1.5 1.8 1.10 1.13 1.14 1.15 1.16"),
    ("thesis_samples", "li-thesis-2006", "1.4 1.6 1.7 1.9 1.11 1.12"),
    ("curves", "li-thesis-2006", "2.1 2.2 2.3 2.4 4.2 4.4 4.5"),
    ("thesis_boosting", "li-thesis-2006", "3.1 3.2 4.1 4.3"),
    ("nguyen_sanner", "nguyen-sanner-2013", "1 2 4 6 9"),
)
_OTHERS = (  # in the order of lists
    ("li_lin", "cone rcd-steps"),
    ("comparisons", "ranks sensitivity boxes differences"),
    ("curves", "curves time"),
    ("li_lin", "bounds convergence"),
    ("thesis_complexity", "lookup"),
    ("boundary", "boundary"),
)


def _number_parts(name: str) -> tuple[str, list[int]]:
    paper, _, number = name.partition("/")
    return paper, list(map(int, number.split(".")))


_named = {f"{paper}/{number}": module for module, paper, numbers in _PUBLISHED for number in numbers.split()}
FIGURE_MODULES = {name: _named[name] for name in sorted(_named, key=_number_parts)}
FIGURE_MODULES |= {name: module for module, names in _OTHERS for name in names.split()}
FIGURE_NAMES = tuple(FIGURE_MODULES)
FIGURE_NUMBERS = tuple(name.rpartition("/")[2] for name in FIGURE_NAMES if "/" in name)
CONFIG_FOLDERS = {"li-lin-2007": "", "li-thesis-2006": "thesis/", "nguyen-sanner-2013": "nguyen/"}
_declared: dict[str, FigureKind] = {}


@dataclass(frozen=True)
class FigureKind:
    """A figure that can be drawn, from a run that has what it shows or without results."""

    name: str  # the value of --figure: PAPER/NUMBER for a published figure, otherwise a word
    title: str
    function: Callable[..., Figure]  # draws it, from a run if it needs one
    # whether a run has what it shows; None if it needs no results
    condition: Callable[[RunResult], bool] | None = None
    config: str = ""  # of the run that it shows, if published
    legend: str = ""  # what its caption says about how to read it
    requirement: str = ""  # what a run must have, for error messages
    source_figure: str = ""  # number of the published figure whose run it shows, if not its own
    is_quick: bool = True  # takes at most seconds for all runs of a folder; a page has only such figures
    is_covered: bool = False  # lists leave it out if a published figure of the same run shows as much
    beside_tables: Literal["none", "all", "times"] = "none"  # next to which tables of the page it appears
    options: tuple[str, ...] = ()  # of 'metric' and 'against': what can be chosen
    spread: str = ""  # what its bands, boxes or bars are, as a phrase above the drawing
    datasets_per_page: int = 0  # how many data sets one picture shows, if each has a panel; 0: all
    learners_per_page: int = 0
    origin: str = ""  # for a figure without results: the data that it shows, written above it
    frames: Callable[[], list[Figure]] | None = None  # draws its animation: frames of the same size

    @property
    def paper(self) -> str:
        """Return the paper of a published figure; empty for others."""
        return self.name.rpartition("/")[0]

    @property
    def number(self) -> str:
        """Return the number of a published figure, or the name of another."""
        return self.name.rpartition("/")[2]

    @property
    def full_title(self) -> str:
        """Return the title, with number and paper if published."""
        from zoloss_cli.report.papers import read_paper_titles

        if not self.paper:
            return self.title
        paper = read_paper_titles().get(self.paper, self.paper)
        return f"Figure {self.number} of {paper}: {self.title}"

    @property
    def needs_results(self) -> bool:
        """Return whether it is drawn from a run."""
        return self.condition is not None

    def draw(self, *run: RunResult, against: str | None = None) -> Figure:
        """Draw it, from a run if it needs one; some take the learner to compare others with."""
        return self.function(*run, **({} if against is None else {"against": against}))

    def check_options(self, **options: str | None) -> None:
        """Raise ConfigError for an option that this figure does not have."""
        for name, value in options.items():
            if value is not None and name not in self.options:
                those = ", ".join(kind.name for kind in list_figures() if name in kind.options)
                raise ConfigError(f"--{name} applies to the figures {those}, not to '{self.name}'")

    def accepts(self, run: RunResult) -> bool:
        """Return whether a run has what it shows."""
        return self.condition is not None and bool(run.cells) and bool(self.condition(run))

    def matches(self, run: RunResult) -> bool:
        """Return whether this run has what it shows and, if the figure is published, mirrors it."""
        mirrored = (run.paper, run.figure)
        if self.paper and mirrored != (self.paper, self.source_figure or self.number):
            return False
        return self.accepts(run)


def register_figures(
    titles: Mapping[str, str], condition: Callable[[RunResult], Any] | None = None, **properties: Any
) -> Callable[[Draw], Draw]:
    """Declare that the decorated function draws several figures, each with a name and a title."""

    def declare(function: Draw) -> Draw:
        for name, title in titles.items():
            register_figure(name, title, condition, **properties)(function)
        return function

    return declare


def register_figure(
    name: str, title: str, condition: Callable[[RunResult], Any] | None = None, **properties: Any
) -> Callable[[Draw], Draw]:
    """Declare that the decorated function draws the figure of this name."""
    paper, _, number = name.rpartition("/")
    if paper and condition is not None:
        source = properties.get("source_figure", number)
        properties["config"] = f"configs/{CONFIG_FOLDERS[paper]}figure{source}.yaml"

    def declare(function: Draw) -> Draw:
        _declared[name] = FigureKind(name, title, function, condition, **properties)
        return function

    return declare


def load_figure(name: str) -> FigureKind:
    """Return a figure by its full name, which must be known."""
    import_module(f"{__package__}.{FIGURE_MODULES[name]}")
    return _declared[name]


def list_figures() -> list[FigureKind]:
    """Return all figures."""
    return [load_figure(name) for name in FIGURE_NAMES]


def find_figure(name: str, kinds: Sequence[FigureKind] = ()) -> FigureKind:
    """Return the figure with a name among these, or all; the number suffices if only one paper has it."""
    known = {kind.name: kind for kind in kinds} or dict.fromkeys(FIGURE_NAMES)
    hits = [full for full in known if name in (full, full.rpartition("/")[2])]
    if name in known or len(hits) == 1:
        found = name if name in known else hits[0]
        return known[found] or load_figure(found)
    if hits:
        raise ConfigError(
            f"--figure: several papers have a figure '{name}'; name one: {', '.join(sorted(hits))}"
        )
    names = [part for full in known for part in (full, full.rpartition("/")[2])]
    hint = suggest_nearest(name, list(dict.fromkeys(names))) or "; zoloss plot lists them"
    raise ConfigError(f"--figure: no figure is called '{name}'{hint}")


def find_drawn_as(drawn_as: str, config: str) -> FigureKind:
    """Return the figure that a config's `published.drawn_as` names; raise ConfigError if it is unknown."""
    if drawn_as in FIGURE_MODULES and (kind := load_figure(drawn_as)).needs_results:
        return kind
    hint = suggest_nearest(drawn_as, [kind.name for kind in list_figures() if kind.needs_results])
    raise ConfigError(f"{config}: published.drawn_as: no figure of results is called '{drawn_as}'{hint}")
