"""What a config may say: typed, with defaults and descriptions. Nothing here computes anything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Noise(Model):
    """Rows of noise appended to the data set before anything else (Nguyen & Sanner 2013)."""

    fraction: Annotated[float, Field(gt=0, le=10, description="rows to add, as a share of N")]
    labels: Annotated[Literal["random", "one-class"], Field(description="how their labels are chosen")] = (
        "random"
    )
    seed: Annotated[int, Field(ge=0, description="seed of the noise")] = 1


def _share_or_count(value: int | float) -> int | float:
    if isinstance(value, float) and 0.0 < value < 1.0:
        return value
    if isinstance(value, int) and value >= 2:
        return value
    raise ValueError("must be a share between 0 and 1 (both excluded) or a count of at least 2")


TrainPart = Annotated[
    int | float,
    AfterValidator(_share_or_count),
    Field(description="training rows: a share of N below 1, or a count of at least 2"),
]
TestPart = Annotated[int, Field(ge=1, description="test rows (default: all that are not for training)")]


class DataBase(Model):
    """What every data set may say besides its source."""

    name: Annotated[str, Field(description="name in tables")] = ""
    train: TrainPart | None = None
    test: TestPart | None = None
    noise: Noise | None = None


class EmbeddedData(DataBase):
    """One of the data sets that come with zoloss, or its original from UCI."""

    dataset: Annotated[str, Field(description="which one (default: the entry's own name)")] = ""
    source: Annotated[
        Literal["embedded", "uci"], Field(description="our copy, or what `zoloss datasets fetch` got")
    ] = "embedded"
    positive: Annotated[str | None, Field(description="positive class, against the rest")] = None


class GeneratedData(DataBase):
    """One pool from a generator, split again for every run."""

    generator: Annotated[str, Field(description="which one (default: the entry's own name)")] = ""
    size: Annotated[int, Field(ge=2, description="examples in the pool")] = 5000
    seed: Annotated[int, Field(ge=0, description="seed of the pool")] = 1
    settings: tuple[tuple[str, Any], ...] = ()


class CsvData(DataBase):
    """The user's own CSV file."""

    csv: Annotated[str, Field(description="path, relative to the config file")]
    label: Annotated[str | int | None, Field(description="label column: name or index")] = None
    positive: Annotated[str | None, Field(description="positive class, against the rest")] = None
    missing: Annotated[
        Literal["error", "drop", "zero"], Field(description="what to do with missing values")
    ] = "error"


DataSpec = EmbeddedData | GeneratedData | CsvData


class Split(Model):
    """Random splits into training and test rows, the same for every learner."""

    train: TrainPart = 0.8
    test: TestPart | None = None
    repeats: Annotated[int, Field(ge=1, le=1_000_000, description="how many random splits")] = 500
    seed: Annotated[int, Field(ge=0, description="master seed of splits and learners")] = 1


class Preprocess(Model):
    """What happens to each split before the learner sees it; fitted on the training rows only."""

    scale: Annotated[
        Literal["minmax", "standard", "none"],
        Field(description="features to [-1, 1], to mean 0 and variance 1, or as they are"),
    ] = "minmax"
    seeding: Annotated[
        Literal["zero", "fld"] | None,
        Field(description="where learners that can be seeded start, unless they say otherwise"),
    ] = None


class Published(Model):
    """The printed table or figure that this config mirrors."""

    paper: Annotated[str, Field(description="as in published/tables.csv, e.g. li-lin-2007")]
    table: Annotated[str | None, Field(description="the table's own number")] = None
    figure: Annotated[str | None, Field(description="the figure's own number")] = None

    @model_validator(mode="after")
    def _one_of_them(self):
        if (self.table is None) == (self.figure is None):
            raise ValueError("name either a table or a figure")
        return self


class LearnerSpec(Model):
    """A learner as a table's column: its label, registered name and all its parameters.

    A parameter that holds another learner (an ensemble's base) is a LearnerSpec itself. Several specs may
    share a label: then the column shows the best of them on each data set, and `choice` tells them apart.
    """

    label: str
    learner: str
    settings: tuple[tuple[str, Any], ...] = ()
    choice: str = ""

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


METRICS = ("train_error", "test_error")
SECOND_METRICS = ("iterations",)


class Experiment(Model):
    """A config, checked and with every default filled in."""

    name: str
    title: str = ""
    citation: str = ""
    published: Published | None = None
    metric: str = "test_error"
    also: str | None = None
    baseline: str | None = None
    split: Split = Split()
    preprocess: Preprocess = Preprocess()
    datasets: tuple[DataSpec, ...]
    learners: tuple[LearnerSpec, ...]
