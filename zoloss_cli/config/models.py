"""What a config may say: typed, with defaults and descriptions. Nothing here computes anything."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Noise(Model):
    """Rows of noise appended to the data set before anything else (Nguyen & Sanner 2013)."""

    fraction: Annotated[float, Field(gt=0, le=10, description="rows to add, as a share of N")]
    labels: Annotated[Literal["random", "one-class"], Field(description="how their labels are chosen")] = (
        "random"
    )
    label: Annotated[
        str | None, Field(description="the class of one-class noise (default: that of the data's first row)")
    ] = None
    seed: Annotated[int, Field(ge=0, description="seed of the noise")] = 1
    draws: Annotated[int, Field(ge=1, description="draws of the noise; split k has draw k mod draws")] = 1

    @model_validator(mode="after")
    def _label_of_one_class(self):
        if self.label is not None and self.labels != "one-class":
            raise ValueError("label is for one-class noise; add labels: one-class")
        return self


class Flip(Model):
    """Labels that are turned round in some rows; where such a row tests, its true label counts."""

    share: Annotated[float, Field(gt=0, lt=0.5, description="rows whose label is another one, as a share of N")]
    rows: Annotated[
        Literal["random", "last"],
        Field(description="which rows: any, or the last ones, as in Li's thesis (2006)"),
    ] = "random"
    seed: Annotated[int, Field(ge=0, description="seed of which rows they are, and of their labels")] = 1
    draws: Annotated[int, Field(ge=1, description="draws of these rows; split k has draw k mod draws")] = 1


class Prune(Model):
    """Training rows that look like noise are left out before a learner sees them (Li's thesis 2006, 1.5)."""

    by: Annotated[
        Literal["contribution", "neighbours"],
        Field(
            description="what a row adds to the complexity on average, or the share of its nearest neighbours "
            "that are of the other class"
        ),
    ] = "contribution"
    threshold: Annotated[
        float | None, Field(description="leave out what is above it (default: 1 for contribution, else 0.5)")
    ] = None
    permutations: Annotated[
        int, Field(ge=1, description="random orders that contributions are averaged over")
    ] = 200
    neighbours: Annotated[int, Field(ge=1, description="how many neighbours")] = 10


ALL = "all"
GIVEN = "given"


def _training_part(value):
    share = isinstance(value, float) and 0.0 < value < 1.0
    count = isinstance(value, int) and not isinstance(value, bool) and value >= 2
    if value in (ALL, GIVEN) or share or count:
        return value
    raise ValueError(
        "must be a share between 0 and 1 (both excluded), a count of at least 2, 'given', or 'all'"
    )


def _tuple(value):
    """YAML has lists, but what is frozen must hold tuples."""
    return tuple(value) if isinstance(value, list) else value


TrainPart = Annotated[
    int | float | Literal["all", "given"],
    BeforeValidator(_training_part),
    Field(
        description="training rows: a share of N below 1, a count of at least 2, all (no test part), or given "
        "(the data set's own training part)"
    ),
]
TestPart = Annotated[int, Field(ge=1, description="test rows (default: all that are not for training)")]


class Parts(Model):
    """Which rows train and which test."""

    train: TrainPart | None = None
    test: TestPart | None = None

    @model_validator(mode="after")
    def _nothing_is_left_of_all(self):
        if self.train == ALL and self.test is not None:
            raise ValueError("with 'train: all' no row is left to test: leave 'test' out")
        if self.train == GIVEN and self.test is not None:
            raise ValueError("with 'train: given' the test part is given too: leave 'test' out")
        return self


class DataBase(Parts):
    """What every data set may say besides its source."""

    name: Annotated[str, Field(description="name in tables")] = ""
    noise: Noise | None = None
    flip: Flip | None = None
    prune: Annotated[
        Prune | Literal[False] | None, Field(description="as in preprocess, for this data set only; or false")
    ] = None
    repeats: (
        Annotated[int, Field(ge=1, le=1_000_000, description="as in split, for this data set only")] | None
    ) = None

    @property
    def pool_seeds(self) -> tuple[int, ...]:
        """Return the seeds of the pools that splits take in turn; real data are one pool."""
        return (0,)

    @property
    def n_draws(self) -> int:
        """Return how many different data sets it stands for: draws of its noise, pools of its generator."""
        return math.lcm(len(self.pool_seeds), *(each.draws for each in (self.noise, self.flip) if each))


class EmbeddedData(DataBase):
    """One of the data sets that come with zoloss, or its original from UCI."""

    dataset: Annotated[str, Field(description="which one (default: the entry's own name)")] = ""
    source: Annotated[
        Literal["embedded", "uci"], Field(description="our copy, or what `zoloss datasets fetch` got")
    ] = "embedded"
    positive: Annotated[str | None, Field(description="positive class, against the rest")] = None


Seed = Annotated[int, Field(ge=0)]


def _pool_seeds(value):
    seeds = list(value) if isinstance(value, list | tuple) else [value]
    if seeds and all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in seeds):
        return _tuple(value)
    raise ValueError("must be a number of at least 0, or a list of such numbers")


class GeneratedData(DataBase):
    """One pool from a generator, split again for every run; or several pools that take turns."""

    generator: Annotated[str, Field(description="which one (default: the entry's own name)")] = ""
    size: Annotated[int, Field(ge=2, description="examples in the pool")] = 5000
    seed: Annotated[
        Seed | tuple[Seed, ...],
        BeforeValidator(_pool_seeds),
        Field(description="seed of the pool; of a list, split k has the pool of seed k mod its length"),
    ] = 1
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def pool_seeds(self) -> tuple[int, ...]:
        """Return the seeds of the pools that splits take in turn."""
        return self.seed if isinstance(self.seed, tuple) else (self.seed,)


class CsvData(DataBase):
    """The user's own CSV file."""

    csv: Annotated[str, Field(description="path, relative to the config file")]
    label: Annotated[str | int | None, Field(description="label column: name or index")] = None
    positive: Annotated[str | None, Field(description="positive class, against the rest")] = None
    missing: Annotated[
        Literal["error", "drop", "zero"], Field(description="what to do with missing values")
    ] = "error"


DataSpec = EmbeddedData | GeneratedData | CsvData


class Split(Parts):
    """Random splits into training and test rows, the same for every learner."""

    train: TrainPart = 0.8
    repeats: Annotated[
        int, Field(ge=1, le=1_000_000, description="how many random splits, or runs on all rows")
    ] = 500
    seed: Annotated[int, Field(ge=0, description="master seed of splits and learners")] = 1


class Preprocess(Model):
    """What happens to each split before the learner sees it."""

    scale: Annotated[
        Literal["minmax", "standard", "none"],
        Field(description="features to [-1, 1], to mean 0 and variance 1, or as they are"),
    ] = "minmax"
    fit_on: Annotated[
        Literal["train", "all"],
        Field(description="fit the scaling on the training rows, or on all (a leak: test rows are seen)"),
    ] = "train"
    seeding: Annotated[
        Literal["zero", "fld"] | None,
        Field(description="where learners that can be seeded start, unless they say otherwise"),
    ] = None
    prune: Prune | None = None


class Tuning(Model):
    """How the learners with a `tune` entry choose among its values: by cross-validation."""

    folds: Annotated[int, Field(ge=2, description="how many folds")] = 5
    on: Annotated[
        Literal["train", "all"],
        Field(
            description="fold each split's training rows, or all rows of a draw (a leak: test rows are seen)"
        ),
    ] = "train"
    held_out: Annotated[
        float | None,
        Field(
            gt=0,
            lt=1,
            description="hold out this share at random, `folds` times, in the place of cross-validation",
        ),
    ] = None


Labels = Annotated[tuple[str, ...], BeforeValidator(_tuple), Field(min_length=1)]


class Improvement(Model):
    """A last column: how much less, in %, the best of some learners has than the best of others."""

    of: Annotated[Labels, Field(description="the learners that improve")]
    over: Annotated[Labels, Field(description="the learners that they improve on")]


class Ratio(Model):
    """A column made of two: the cost of one learner over that of another, on the same splits."""

    of: Annotated[str, Field(description="the column above the line")]
    over: Annotated[str, Field(description="the column below it")]


class Published(Model):
    """The printed table or figure that this config mirrors."""

    paper: Annotated[str, Field(description="as in published/tables.csv, e.g. li-lin-2007")]
    table: Annotated[str | None, Field(description="the table's own number")] = None
    figure: Annotated[str | None, Field(description="the figure's own number")] = None
    drawn_as: Annotated[
        str | None,
        Field(
            description="how to draw the figure: curves, ranks, time, bounds, boundary, or as PAPER/NUMBER"
        ),
    ] = None
    spread: Annotated[
        Literal["error", "deviation"],
        Field(description="what stands after ± in print, and then in our table: standard error or deviation"),
    ] = "error"
    runs: Annotated[
        int, Field(ge=2, description="runs behind a printed number (for spread: deviation, and for ratios)")
    ] = 500

    @model_validator(mode="after")
    def _one_of_them(self):
        if (self.table is None) == (self.figure is None):
            raise ValueError("name either a table or a figure")
        if self.drawn_as is not None and self.figure is None:
            raise ValueError("drawn_as is for a figure; a table needs none")
        return self


class LearnerSpec(Model):
    """A learner as a table's column: its label, registered name and all its parameters.

    A parameter that holds another learner (an ensemble's base) is a LearnerSpec itself. Several specs may
    share a label: then the column shows the best of them on each data set, and `choice` tells them apart.
    One with `only` runs on these data sets; the others of its label have the rest.
    With `tune` this is only the first of those learners, which each unit chooses from by cross-validation.
    """

    label: str
    learner: str
    settings: tuple[tuple[str, Any], ...] = ()
    choice: str = ""
    tune: tuple[LearnerSpec, ...] = ()
    only: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The registered name, followed by those of the learners inside: adaboost:rcd-bias."""
        return ":".join([self.learner, *(v.name for _, v in self.settings if isinstance(v, LearnerSpec))])

    @property
    def parameters(self) -> dict:
        """The parameters as the registry takes them."""
        return {k: _plain(v) for k, v in self.settings}


def _plain(value):
    if isinstance(value, LearnerSpec):
        return {"learner": value.learner, **value.parameters}
    return list(value) if isinstance(value, tuple) else value


class Experiment(Model):
    """A config, checked and with every default filled in."""

    name: str
    title: str = ""
    citation: str = ""
    published: Published | None = None
    metric: str = "test_error"
    also: str | None = None
    keep: Literal["scores"] | None = None
    baseline: str | None = None
    split: Split = Split()
    preprocess: Preprocess = Preprocess()
    tuning: Tuning | None = None
    improvement: Improvement | None = None
    ratios: dict[str, Ratio] | None = None
    datasets: tuple[DataSpec, ...]
    learners: tuple[LearnerSpec, ...]

    @property
    def metrics(self) -> list[str]:
        """Return what a column shows, and what a second one beside it shows."""
        return [self.metric, self.also] if self.also else [self.metric]
