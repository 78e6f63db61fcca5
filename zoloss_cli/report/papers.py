"""Read the published values, and the choices that their reproduction depends on."""

from __future__ import annotations

import csv
import functools
import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from zoloss_cli.config.models import LearnerSpec, Published
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.files import PUBLISHED_FOLDER

if TYPE_CHECKING:
    from zoloss_cli.report.runs import RunResult

# The names of metrics in tables.csv, if they differ from ours. Table 3 of Nguyen & Sanner (2013) has two kinds
# of seconds: its last two columns are "T0", the time until the solution was found, because these learners were
# stopped after 300 s; the others are "T1", the total time.
METRIC_NAMES = {"seconds": "fit_time"}
TIMES_TO_BEST = {("nguyen-sanner-2013", "3", "pcs"), ("nguyen-sanner-2013", "3", "bnb")}


class PublishedValue(NamedTuple):
    """A published cell."""

    value: float  # the number
    stderr: float | None  # its standard error, if published
    decimals: int  # number of decimals that it was rounded to
    star: bool = False  # whether it is marked with *
    deviation: float | None = None  # the number after ±, if that is a standard deviation
    agreement: str = "stated"  # a key of AGREEMENT

    @property
    def rounding(self) -> float:
        """Return the standard error of rounding to the published decimals."""
        return 10.0**-self.decimals / math.sqrt(12.0)


# What agreement with a published number rests on, from the strongest to the weakest. Only the first two are an
# independent check of the reproduction.
AGREEMENT = {
    "stated": "stated",  # everything that the number depends on is in the paper
    "program": "from the authors' program",  # a rule is taken from it
    "inferred": "inferred",  # a rule was found by comparing with published numbers
    "nearness": "chosen for nearness",  # a setting is the one that comes closest to published numbers
}
INDEPENDENT = ("stated", "program")

PublishedCells = dict[tuple[str, str, str], PublishedValue]  # by data set, learner and metric


@functools.cache
def _read_rows() -> list[dict[str, str]]:
    with (PUBLISHED_FOLDER / "tables.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@functools.cache
def read_published_tables() -> dict[tuple[str, str], PublishedCells]:
    """Return the published numbers by paper and table; cells without a number are left out."""
    tables: dict[tuple[str, str], PublishedCells] = {}
    for row in _read_rows():
        paper, table, learner, number = row["paper"], row["table"], row["learner"], row["value"]
        if number == "":
            continue
        metric = METRIC_NAMES.get(row["metric"], row["metric"])
        if metric == "fit_time" and (paper, table, learner) in TIMES_TO_BEST:
            metric = "time_to_best"
        stderr = float(row["stderr"]) if row["stderr"] else None
        decimals = len(number.partition(".")[2])
        value = PublishedValue(
            float(number), stderr, decimals, row["star"] == "1", agreement=_check_agreement(row)
        )
        tables.setdefault((paper, table), {})[row["dataset"], learner, metric] = value
    return tables


def _check_agreement(row: dict[str, str]) -> str:
    """Return the key of AGREEMENT in a row of tables.csv; raise ConfigError if there is none."""
    if (found := row["agreement"] or "") in AGREEMENT:
        return found
    where = f"{row['learner']} on {row['dataset']} ({row['paper']}/{row['table']}, {row['metric']})"
    what = f"'{found}' is no class of agreement" if found else "no class of agreement"
    raise ConfigError(f"tables.csv: {where}: {what}{suggest_nearest(found, AGREEMENT)}")


def count_unpublished(places: set[tuple[str, str]] | None = None) -> int:
    """Return how many cells the papers leave empty, in these tables or in all."""
    empty = [(row["paper"], row["table"]) for row in _read_rows() if row["value"] == ""]
    return len(empty) if places is None else sum(place in places for place in empty)


def name_place(mirrored: Published) -> str:
    """Return the number of the mirrored table, or the figure for which a text gives numbers."""
    return mirrored.table or f"figure {mirrored.figure}"


def name_place_in_text(place: str) -> str:
    """Return the table, figure or section of `name_place` as named in a sentence."""
    return place if place.startswith(("figure ", "section ")) else f"table {place}"


def find_published_cells(mirrored: Published | None) -> PublishedCells:
    """Return the cells that a run mirrors, by its config's `published` section; empty if there is none."""
    if mirrored is None:
        return {}
    cells = read_published_tables().get((mirrored.paper, name_place(mirrored)), {})
    if mirrored.spread == "deviation":
        share = 1.0 / math.sqrt(mirrored.runs)
        cells = {
            key: cell._replace(stderr=cell.stderr * share, deviation=cell.stderr) if cell.stderr else cell
            for key, cell in cells.items()
        }
    # The papers publish one count of errors: ours, by either rule, is shown next to it.
    lenient = {(d, x, "train_01_loss_lenient"): c for (d, x, m), c in cells.items() if m == "train_01_loss"}
    return cells | lenient


OPEN_CHOICES = PUBLISHED_FOLDER / "open_choices.yaml"
OTHER_DATA, NO_TEST = "other data", "no test"
BEST_OF = "best_of"
ANY = ("*",)


@dataclass(frozen=True)
class OpenChoice:
    """A choice that a paper leaves open, and the cells that depend on it."""

    name: str  # its name in CSV files
    kind: str  # a key of AGREEMENT, or OTHER_DATA
    tables: tuple[str, ...]  # tables as PAPER/TABLE, or names of runs
    sentence: str  # the sentence about it
    datasets: tuple[str, ...] = ANY  # patterns of names
    learners: tuple[str, ...] = ANY
    setting: Any = None  # settings that the learner must have
    noise: dict[str, str] | None = None  # noise that the data must have
    data: str = ""  # the data set of the catalog that they must be

    def applies(self, run: RunResult, dataset: str, learner: str) -> bool:
        """Return whether a cell of a run depends on the choice."""
        return (
            not {run.full_name, run.name}.isdisjoint(self.tables)
            and any(fnmatchcase(dataset, pattern) for pattern in self.datasets)
            and any(fnmatchcase(learner, pattern) for pattern in self.learners)
            and (self.setting is None or any(map(self._is_set, _find_specs(run, learner))))
            and (self.noise is None or self._has_noise(run, dataset))
            and self.data in ("", getattr(run.get_data(dataset), "dataset", ""))
        )

    def _has_noise(self, run: RunResult, dataset: str) -> bool:
        assert self.noise is not None
        found = run.get_data(dataset).noise
        return found is not None and all(getattr(found, key) == value for key, value in self.noise.items())

    def _is_set(self, spec: LearnerSpec) -> bool:
        if self.setting == BEST_OF:
            return bool(spec.choice)
        return any(_has_setting(spec, name, value) for name, value in self.setting.items())


@functools.cache
def read_open_choices() -> tuple[OpenChoice, ...]:
    """Return the choices of open_choices.yaml."""
    import yaml

    entries = yaml.safe_load(OPEN_CHOICES.read_text(encoding="utf-8"))
    lists = ("tables", "datasets", "learners")
    return tuple(
        OpenChoice(**entry | {key: tuple(entry[key]) for key in lists if key in entry}) for entry in entries
    )


@functools.cache  # called for every cell of a run, and few runs have any
def _read_choices_of(*names: str) -> tuple[OpenChoice, ...]:
    """Return the choices that concern a table or run with any of these names."""
    return tuple(choice for choice in read_open_choices() if not set(names).isdisjoint(choice.tables))


def find_choices(run: RunResult, dataset: str, learner: str) -> list[OpenChoice]:
    """Return the choices that a cell of a run depends on; differences in the data first."""
    known = _read_choices_of(run.full_name, run.name)
    found = [choice for choice in known if choice.applies(run, dataset, learner)]
    return sorted(found, key=lambda choice: choice.kind != OTHER_DATA)


def name_choices(choices: list[OpenChoice]) -> str:
    """Return names of choices as in CSV files; empty if there are none."""
    return "; ".join(choice.name for choice in choices)


def describe_open_choices(run: RunResult) -> list[str]:
    """Return a note on every choice that a cell of a table depends on."""
    places = list(run.cells)
    return [
        f"{AGREEMENT.get(choice.kind, choice.kind)}: {choice.sentence}"
        for choice in _read_choices_of(run.full_name, run.name)
        if any(choice.applies(run, *place) for place in places)
    ]


def _find_specs(run: RunResult, learner: str) -> list[LearnerSpec]:
    return [spec for spec in run.experiment.learners if spec.label == learner]


def _has_setting(spec: LearnerSpec, name: str, value: Any) -> bool:
    """Return whether a learner, or one inside it, has a setting."""
    return any(
        (key == name and each == value) or (isinstance(each, LearnerSpec) and _has_setting(each, name, value))
        for key, each in spec.settings
    )


@functools.cache
def read_paper_titles() -> dict[str, str]:
    """Return the titles of papers by their names in configs."""
    import yaml

    return yaml.safe_load((PUBLISHED_FOLDER / "papers.yaml").read_text(encoding="utf-8"))
