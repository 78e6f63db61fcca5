"""The keys of a config: typed, with defaults and descriptions. Nothing here computes anything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from zoloss_cli.config.data_models import DataSpec, PartSizes, Prune, StrictModel, TrainPart, convert_list
from zoloss_cli.utils.code_files import CodeSource
from zoloss_cli.utils.names import check_file_name


class Split(PartSizes):
    """Random splits into training and test samples, the same for every learner."""

    train: TrainPart = 0.8
    repeats: Annotated[
        int, Field(ge=1, le=1_000_000, description="how many random splits, or fits on all samples")
    ] = 500
    seed: Annotated[int, Field(ge=0, description="master seed of splits and learners")] = 1


class Preprocess(StrictModel):
    """Preprocessing of each split before the learner sees it."""

    scale: Annotated[
        Literal["minmax", "standard", "none"],
        Field(description="features to [-1, 1], to mean 0 and variance 1, or as they are"),
    ] = "minmax"
    fit_on: Annotated[
        Literal["train", "all"],
        Field(description="fit the scaling on the training samples, or on all (a leak: test samples are seen)"),
    ] = "train"
    seeding: Annotated[
        Literal["zero", "fld"] | None,
        Field(description="where learners that can be seeded start, unless they say otherwise"),
    ] = None
    prune: Prune | None = None


class Tuning(StrictModel):
    """How the learners with a `tune` entry choose among its values: by cross-validation."""

    folds: Annotated[int, Field(ge=2, description="how many folds")] = 5
    on: Annotated[
        Literal["train", "all"],
        Field(
            description="fold each split's training samples, or all of a draw (a leak: test samples are seen)"
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


ColumnLabels = Annotated[tuple[str, ...], BeforeValidator(convert_list), Field(min_length=1)]


class Improvement(StrictModel):
    """A last column: by how many % the best of some learners is below the best of others."""

    of: Annotated[ColumnLabels, Field(description="the learners that improve")]
    over: Annotated[ColumnLabels, Field(description="the learners that they improve on")]


class Ratio(StrictModel):
    """A column computed from two: the cost of one learner over that of another, on the same splits."""

    of: Annotated[str, Field(description="the column above the line")]
    over: Annotated[str, Field(description="the column below it")]


class Published(StrictModel):
    """The published table or figure that this config reproduces."""

    paper: Annotated[str, Field(description="as in published/tables.csv, e.g. li-lin-2007")]
    table: Annotated[
        str | None, Field(description="the table's own number; 'section 2.4.2' for numbers in a text")
    ] = None
    figure: Annotated[str | None, Field(description="the figure's own number")] = None
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
            description="what stands after ± in the published table, and in ours: standard error or deviation"
        ),
    ] = "error"
    runs: Annotated[
        int, Field(ge=2, description="splits behind a published number (for spread: deviation, and for ratios)")
    ] = 500

    @model_validator(mode="after")
    def _check_table_or_figure(self) -> Published:
        if (self.table is None) == (self.figure is None):
            raise ValueError("name either a table or a figure")
        if self.drawn_as is not None and self.figure is None:
            raise ValueError("drawn_as is for a figure; a table needs none")
        return self


class SettingMapping(StrictModel):
    """A parameter that is a mapping, such as class_weight of an estimator, as hashable pairs."""

    pairs: tuple[tuple[Any, Any], ...]


class LearnerSpec(StrictModel):
    """A learner as a table column: its label, its name and all its parameters.

    The name is a registered one, the dotted name of a class, or that of a class in a file, whose content is
    `code`. For another package's estimator, the parameters are those that were given; the others have their
    defaults. A parameter that holds another learner (an ensemble's base) is itself a LearnerSpec. Several specs
    may share a label: then the column shows the best of them on each data set, and `choice` distinguishes them.
    One with `only` runs on these data sets; the others with its label have the rest. With `tune`, this is only
    the first of the learners from which each task chooses by cross-validation; with `trials`, these replace
    them there, one for each.
    """

    label: str
    learner: str
    settings: tuple[tuple[str, Any], ...] = ()
    choice: str = ""
    tune: tuple[LearnerSpec, ...] = ()
    trials: tuple[LearnerSpec, ...] = ()
    only: tuple[str, ...] | None = None
    code: CodeSource | None = None
    added: bool = False  # by an option of `zoloss run`; the config itself does not have it

    @model_serializer(mode="wrap")
    def _leave_out_unused(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the keys without those that few learners have, so that other manifests do not change."""
        content = serialize(self)
        if self.code is None:
            content.pop("code", None)
        elif isinstance(content.get("code"), dict):
            content["code"].pop("path", None)  # the place of the file does not affect results
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
        """Return the metric that a column shows, and those next to it."""
        also = (self.also,) if isinstance(self.also, str) else self.also or ()
        return [self.metric, *also]
