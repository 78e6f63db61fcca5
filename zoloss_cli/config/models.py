"""The typed content of a config: experiment, data sets, splits and metrics."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from zoloss_cli.errors import ConfigError
from zoloss_cli.utils.imports import CodeSource
from zoloss_cli.utils.text import check_file_name


class StrictModel(BaseModel):
    """An immutable model that rejects unknown keys and wrong types."""

    # Validators are built at first use; those of nested models are never built.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Noise(StrictModel):
    """Noise samples, added to the data set before anything else (Nguyen & Sanner 2013)."""

    fraction: Annotated[float, Field(gt=0, le=10, description="samples to add, as a share of N")]
    labels: Annotated[Literal["random", "one-class"], Field(description="how their labels are chosen")] = (
        "random"
    )
    label: Annotated[
        str | None, Field(description="the class of one-class noise (default: that of the data's first sample)")
    ] = None
    seed: Annotated[int, Field(ge=0, description="seed of the noise")] = 1
    draws: Annotated[int, Field(ge=1, description="draws of the noise; split k uses draw k mod draws")] = 1

    @model_validator(mode="after")
    def _check_label(self) -> Noise:
        if self.label is not None and self.labels != "one-class":
            raise ValueError("label requires labels: one-class")
        return self


class Flip(StrictModel):
    """Label flips of some samples; test errors are counted by the true labels."""

    share: Annotated[float, Field(gt=0, lt=0.5, description="samples whose label is flipped, as a share of N")]
    rows: Annotated[
        Literal["random", "last"],
        Field(description="which samples: random ones, or the last ones, as in Li's thesis (2006)"),
    ] = "random"
    seed: Annotated[int, Field(ge=0, description="seed of the choice of samples and of their new labels")] = 1
    draws: Annotated[int, Field(ge=1, description="draws of these samples; split k uses draw k mod draws")] = 1


class Prune(StrictModel):
    """Removal of training samples that look like noise, before the fit (Li's thesis 2006, 1.5)."""

    by: Annotated[
        Literal["contribution", "neighbours"],
        Field(
            description="score of a sample: its average contribution to the complexity, or the share of its "
            "nearest neighbours in the other class"
        ),
    ] = "contribution"
    threshold: Annotated[
        float | None,
        Field(description="remove samples that score above it (default: 1 for contribution, else 0.5)"),
    ] = None
    permutations: Annotated[
        int, Field(ge=1, description="random orders over which contributions are averaged")
    ] = 200
    neighbours: Annotated[int, Field(ge=1, description="number of neighbours")] = 10


ALL = "all"
PREDEFINED = "predefined"
OLD_PREDEFINED = "given"  # as in configs and manifests of zoloss 0.1


def _validate_train(value: Any) -> Any:
    """Return a valid training part, with the legacy name of 'predefined' replaced."""
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
TestPart = Annotated[int, Field(ge=1, description="test samples (default: all but the training samples)")]


Folds = Annotated[
    int,
    Field(
        ge=2,
        description="folds of each random partition, instead of train and test: split k tests fold k mod folds "
        "of partition k div folds, and trains on its other folds",
    ),
]


class PartSizes(StrictModel):
    """Sizes of the training and the test part, or the number of folds."""

    train: TrainPart | None = None
    test: TestPart | None = None
    folds: Folds | None = None

    @model_serializer(mode="wrap")
    def _leave_out_unused(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit folds if there are none, so that other manifests do not change."""
        return {key: value for key, value in serialize(self).items() if key != "folds" or value}

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if self.folds and (given := [key for key in ("train", "test") if getattr(self, key) is not None]):
            raise ValueError(f"'folds' determines both parts: leave '{given[0]}' out")
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
        """Return the number of distinct data sets: draws of its noise, pools of its generator."""
        return math.lcm(len(self.pool_seeds), *(each.draws for each in (self.noise, self.flip) if each))


class EmbeddedData(DataOptions):
    """One of the data sets that come with zoloss, or its original from UCI."""

    dataset: Annotated[str, Field(description="which data set (default: the entry's own name)")] = ""
    source: Annotated[
        Literal["embedded", "uci"],
        Field(description="the shipped copy, or the original from `zoloss datasets fetch`"),
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

    generator: Annotated[str, Field(description="which generator (default: the entry's own name)")] = ""
    size: Annotated[int, Field(ge=2, le=10_000_000, description="samples in the pool")] = 5000
    seed: Annotated[
        Seed | tuple[Seed, ...],
        BeforeValidator(_validate_seeds),
        Field(description="seed of the pool; with a list, split k uses seed number k mod its length"),
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
    id: Annotated[str | None, Field(description="column that identifies rows and is not a feature")] = None


DataSpec = EmbeddedData | GeneratedData | CsvData


class Split(PartSizes):
    """Random splits into training and test samples, the same for every learner."""

    train: TrainPart | None = 0.8
    repeats: Annotated[
        int,
        Field(
            ge=1,
            le=1_000_000,
            description="number of random splits, of test folds, or of fits on all samples",
        ),
    ] = 500
    seed: Annotated[int, Field(ge=0, description="master seed of splits and learners")] = 1

    @model_validator(mode="before")
    @classmethod
    def _set_train(cls, values: Any) -> Any:
        """Set the default training part, unless there are folds."""
        if not isinstance(values, dict) or values.get("train") is not None:
            return values
        has_folds = values.get("folds") is not None
        return values | {"train": None if has_folds else cls.model_fields["train"].default}

    def choose_parts(self, data: PartSizes) -> PartSizes:
        """Return the parts of a data set: its own, or these."""
        return self if data.train is None and data.folds is None else data


class Preprocess(StrictModel):
    """Preprocessing of each split before the learner sees it."""

    scale: Annotated[
        Literal["minmax", "standard", "none"],
        Field(description="features to [-1, 1], to mean 0 and variance 1, or as they are"),
    ] = "minmax"
    fit_on: Annotated[
        Literal["train", "all"],
        Field(
            description="fit the scaling on the training samples, or on all (leakage: includes test samples)"
        ),
    ] = "train"
    seeding: Annotated[
        Literal["zero", "fld"] | None,
        Field(description="default of the learners' parameter seeding, the weights that they start from"),
    ] = None
    prune: Prune | None = None


class Tuning(StrictModel):
    """Cross-validation of learners with a `tune` entry, by which they choose among its values."""

    folds: Annotated[int, Field(ge=2, description="number of folds")] = 5
    on: Annotated[
        Literal["train", "all"],
        Field(
            description="samples to cross-validate on: each split's training samples, or all of a draw (data "
            "leakage: includes test samples)"
        ),
    ] = "train"
    held_out: Annotated[
        float | None,
        Field(
            gt=0,
            lt=1,
            description="hold out this share at random, `folds` times, instead of cross-validation",
        ),
    ] = None


ColumnLabels = Annotated[tuple[str, ...], BeforeValidator(convert_list), Field(min_length=1)]


class Improvement(StrictModel):
    """The last column: by how many percent the best of some learners is below the best of others."""

    of: Annotated[ColumnLabels, Field(description="the learners that improve")]
    over: Annotated[ColumnLabels, Field(description="the learners that they improve on")]


class Ratio(StrictModel):
    """A column computed from two: the cost of one learner over that of another, on the same splits."""

    of: Annotated[str, Field(description="the column in the numerator")]
    over: Annotated[str, Field(description="the column in the denominator")]


class Published(StrictModel):
    """The published table or figure that this config reproduces."""

    paper: Annotated[str, Field(description="the paper as in published/tables.csv, e.g. li-lin-2007")]
    table: Annotated[
        str | None,
        Field(description="number of the table in the paper; 'section 2.4.2' for numbers in the text"),
    ] = None
    figure: Annotated[str | None, Field(description="number of the figure in the paper")] = None
    alternative: Annotated[
        bool,
        Field(
            description="whether another config reproduces the table: this one keeps its own name, and counts "
            "only if it is named or alone"
        ),
    ] = False
    drawn_as: Annotated[
        str | None,
        Field(
            description="how to draw the figure: curves, ranks, boxes, differences, time, bounds, boundary, or "
            "as PAPER/NUMBER"
        ),
    ] = None
    spread: Annotated[
        Literal["error", "deviation"],
        Field(
            description="what follows ± in the published table and in the reproduced one: standard error or "
            "standard deviation"
        ),
    ] = "error"
    runs: Annotated[
        int,
        Field(
            ge=2,
            description="number of splits behind a published value (for spread: deviation, and for ratios)",
        ),
    ] = 500

    @model_serializer(mode="wrap")
    def _leave_out_unused(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `alternative` if it is not set, so that other manifests do not change."""
        return {key: value for key, value in serialize(self).items() if key != "alternative" or value}

    @model_validator(mode="after")
    def _check_table_or_figure(self) -> Published:
        if (self.table is None) == (self.figure is None):
            raise ValueError("name either a table or a figure")
        if self.drawn_as is not None and self.figure is None:
            raise ValueError("drawn_as applies only to figures")
        if self.alternative and self.table is None:
            raise ValueError("alternative applies only to tables")
        return self


class SettingMapping(StrictModel):
    """A mapping-valued parameter, such as an estimator's class_weight, as hashable pairs."""

    pairs: tuple[tuple[Any, Any], ...]


class LearnerSpec(StrictModel):
    """A learner as a table column: its label, its name and all its parameters.

    The name is a registered one, the dotted name of a class, or that of a class in a file, whose content is
    `code`. For another package's estimator, only the given parameters are stored; the others have their
    defaults. A parameter that holds another learner (an ensemble's base) is itself a LearnerSpec. Specs with
    the same label share a column, which shows the best of them on each data set; `choice` distinguishes them.
    A spec with `only` runs on these data sets; the others with its label run on the rest. With `tune`, the spec
    is the first of the candidates from which each task chooses by cross-validation; `trials`, one for each
    candidate, replace them during cross-validation.
    """

    label: str
    learner: str
    settings: tuple[tuple[str, Any], ...] = ()
    choice: str = ""
    tune: tuple[LearnerSpec, ...] = ()
    trials: tuple[LearnerSpec, ...] = ()
    only: tuple[str, ...] | None = None
    code: CodeSource | None = None
    added: bool = False  # by an option of `zoloss run`, not by the config

    @model_serializer(mode="wrap")
    def _leave_out_unused(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit optional keys that are unused, so that other manifests do not change."""
        content = serialize(self)
        if self.code is None:
            content.pop("code", None)
        elif isinstance(content.get("code"), dict):
            content["code"].pop("path", None)  # the location of the file does not affect results
        for key in ("added", "trials"):
            if not getattr(self, key):
                content.pop(key, None)
        return content

    @property
    def name(self) -> str:
        """The registered name, followed by the names of the learners inside: adaboost:rcd-bias."""
        return ":".join([self.learner, *(v.name for _, v in self.settings if isinstance(v, LearnerSpec))])

    @property
    def source(self) -> str:
        """The name by which the registry finds the learner: with the content, if it is a class in a file."""
        return self.learner if self.code is None else f"{self.learner}@{self.code.sha256}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters in the form that the registry takes."""
        return {k: _convert_setting(v) for k, v in self.settings}


def _convert_setting(value: Any) -> Any:
    """Return a setting as in a config: a mapping for a learner, a list for a tuple."""
    if isinstance(value, LearnerSpec):
        return {"learner": value.source, **value.parameters}
    if isinstance(value, SettingMapping):
        return {key: _convert_setting(each) for key, each in value.pairs}
    return [_convert_setting(each) for each in value] if isinstance(value, tuple) else value


class Experiment(StrictModel):
    """A validated config, with every default filled in."""

    name: Annotated[str, AfterValidator(check_file_name)]  # also a file name in a results folder
    title: str = ""
    citation: str = ""
    published: Published | None = None
    metric: str = "test_error"
    also: str | tuple[str, ...] | None = None
    keep: Literal["scores", "probabilities"] | None = None
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
        """Return the main metric and the additional ones."""
        also = (self.also,) if isinstance(self.also, str) else self.also or ()
        return [self.metric, *also]


DEFAULT_WAIT_SECONDS = 300.0


class ClusterSettings(StrictModel):
    """The workers of a cluster: where they are or how to start them, and how many."""

    scheduler: Annotated[
        str | None, Field(description="address of a Dask scheduler, tcp://host:8786, or its scheduler file")
    ] = None
    workers: Annotated[int | None, Field(ge=1, description="fixed number of workers to start")] = None
    minimum: Annotated[int, Field(ge=0, description="minimum number of workers, with adaptive scaling")] = 0
    maximum: Annotated[
        int | None, Field(ge=1, description="maximum number of workers, with adaptive scaling")
    ] = None
    wait: Annotated[
        float, Field(gt=0, description="seconds to wait for a first worker, or for a lost connection")
    ] = DEFAULT_WAIT_SECONDS
    cluster: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_choice(self) -> ClusterSettings:
        if (self.scheduler is None) == (self.cluster is None):
            raise ValueError(
                "name a scheduler, or one class that starts a cluster such as dask_jobqueue.SLURMCluster"
            )
        if self.scheduler is not None and (self.workers or self.minimum or self.maximum):
            raise ValueError("the number of a scheduler's workers cannot be set: leave it out")
        if self.workers is not None and (self.minimum or self.maximum):
            raise ValueError("name workers for a fixed number, or minimum and maximum, not both")
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError("maximum must be at least minimum")
        if self.cluster is not None and self.workers is None and self.maximum is None:
            raise ValueError("name the number of workers: workers for a fixed one, or minimum and maximum")
        return self

    @property
    def n_wanted(self) -> int:
        """The maximum number of workers; 0 if unknown."""
        return self.workers or self.maximum or 0


def parse_scheduler(text: str) -> ClusterSettings:
    """Return the settings of a scheduler given by an option or the environment."""
    if not text.strip():
        raise ConfigError("--scheduler: name an address such as tcp://host:8786, or a scheduler file")
    return ClusterSettings(scheduler=text.strip())
