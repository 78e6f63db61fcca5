"""The keys of a config that describe data: typed, with defaults and descriptions."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)


class StrictModel(BaseModel):
    """A model that refuses unknown keys and wrong types, and that cannot be changed."""

    # A validator is built at first use; one that is only a part of another is never built.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Noise(StrictModel):
    """Samples of noise, added to the data set before anything else (Nguyen & Sanner 2013)."""

    fraction: Annotated[float, Field(gt=0, le=10, description="samples to add, as a share of N")]
    labels: Annotated[Literal["random", "one-class"], Field(description="how their labels are chosen")] = (
        "random"
    )
    label: Annotated[
        str | None, Field(description="the class of one-class noise (default: that of the data's first sample)")
    ] = None
    seed: Annotated[int, Field(ge=0, description="seed of the noise")] = 1
    draws: Annotated[int, Field(ge=1, description="draws of the noise; split k has draw k mod draws")] = 1

    @model_validator(mode="after")
    def _check_label(self) -> Noise:
        if self.label is not None and self.labels != "one-class":
            raise ValueError("label is for one-class noise; add labels: one-class")
        return self


class Flip(StrictModel):
    """Flipped labels of some samples; if such a sample is used for testing, its true label counts."""

    share: Annotated[float, Field(gt=0, lt=0.5, description="samples whose label is flipped, as a share of N")]
    rows: Annotated[
        Literal["random", "last"],
        Field(description="which samples: any, or the last ones, as in Li's thesis (2006)"),
    ] = "random"
    seed: Annotated[int, Field(ge=0, description="seed of which samples they are, and of their labels")] = 1
    draws: Annotated[int, Field(ge=1, description="draws of these samples; split k has draw k mod draws")] = 1


class Prune(StrictModel):
    """Training samples that look like noise, left out before a learner sees them (Li's thesis 2006, 1.5)."""

    by: Annotated[
        Literal["contribution", "neighbours"],
        Field(
            description="what a sample adds to the complexity on average, or the share of its nearest "
            "neighbours that are of the other class"
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
PREDEFINED = "predefined"
OLD_PREDEFINED = "given"  # as in configs and manifests of zoloss 0.1


def _validate_train(value: Any) -> Any:
    """Return a valid training part, with the old word for 'predefined' replaced."""
    if value == OLD_PREDEFINED:
        return PREDEFINED
    share = isinstance(value, float) and 0.0 < value < 1.0
    count = isinstance(value, int) and not isinstance(value, bool) and value >= 2
    if value in (ALL, PREDEFINED) or share or count:
        return value
    raise ValueError(
        "must be a share between 0 and 1 (both excluded), a count of at least 2, 'predefined', or 'all'"
    )


def convert_list(value: Any) -> Any:
    """Return a list as a tuple: YAML has lists, but frozen models must hold tuples."""
    return tuple(value) if isinstance(value, list) else value


TrainPart = Annotated[
    int | float | Literal["all", "predefined"],
    BeforeValidator(_validate_train),
    Field(
        description="training samples: a share of N below 1, a count of at least 2, all (no test part), or "
        "predefined (the data set's own training part)"
    ),
]
TestPart = Annotated[int, Field(ge=1, description="test samples (default: all that are not for training)")]


class PartSizes(StrictModel):
    """How many samples train and how many test."""

    train: TrainPart | None = None
    test: TestPart | None = None

    @model_validator(mode="after")
    def _check_test(self) -> Self:
        if self.train == ALL and self.test is not None:
            raise ValueError("with 'train: all' no sample is left to test: leave 'test' out")
        if self.train == PREDEFINED and self.test is not None:
            raise ValueError("with 'train: predefined' the test part is predefined, too: leave 'test' out")
        return self


class DataOptions(PartSizes):
    """The keys that every data set has in addition to its source."""

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
        """Return the seeds of the pools that splits use in turn; real data are one pool."""
        return (0,)

    @property
    def n_draws(self) -> int:
        """Return how many different data sets it represents: draws of its noise, pools of its generator."""
        return math.lcm(len(self.pool_seeds), *(each.draws for each in (self.noise, self.flip) if each))


class EmbeddedData(DataOptions):
    """One of the data sets that come with zoloss, or its original from UCI."""

    dataset: Annotated[str, Field(description="which one (default: the entry's own name)")] = ""
    source: Annotated[
        Literal["embedded", "uci"], Field(description="our copy, or what `zoloss datasets fetch` got")
    ] = "embedded"
    positive: Annotated[str | None, Field(description="positive class, against the rest")] = None


Seed = Annotated[int, Field(ge=0)]


def _validate_seeds(value: Any) -> Any:
    """Return the seed or seeds of pools, if valid."""
    seeds = list(value) if isinstance(value, list | tuple) else [value]
    if seeds and all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in seeds):
        return convert_list(value)
    raise ValueError("must be a number of at least 0, or a list of such numbers")


class GeneratedData(DataOptions):
    """One pool from a generator, split repeatedly; or several pools in turn."""

    generator: Annotated[str, Field(description="which one (default: the entry's own name)")] = ""
    size: Annotated[int, Field(ge=2, le=10_000_000, description="samples in the pool")] = 5000
    seed: Annotated[
        Seed | tuple[Seed, ...],
        BeforeValidator(_validate_seeds),
        Field(description="seed of the pool; of a list, split k has the pool of seed k mod its length"),
    ] = 1
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def pool_seeds(self) -> tuple[int, ...]:
        """Return the seeds of the pools that splits use in turn."""
        return self.seed if isinstance(self.seed, tuple) else (self.seed,)


class CsvData(DataOptions):
    """The user's own table."""

    csv: Annotated[str, Field(description="path, relative to the config file")]
    label: Annotated[str | int | None, Field(description="label column: name or index")] = None
    positive: Annotated[str | None, Field(description="positive class, against the rest")] = None
    missing: Annotated[
        Literal["error", "drop", "zero", "impute", "indicator"],
        Field(description="what to do with missing values"),
    ] = "error"
    drop: Annotated[
        tuple[str, ...], BeforeValidator(convert_list), Field(description="columns to leave out")
    ] = ()
    features: Annotated[
        tuple[str, ...], BeforeValidator(convert_list), Field(description="the only columns to use")
    ] = ()
    id: Annotated[str | None, Field(description="column that only names rows, no feature")] = None


DataSpec = EmbeddedData | GeneratedData | CsvData
