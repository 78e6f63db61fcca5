"""The base class of metrics: numbers computed from one record, with direction, format and comparison."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from operator import attrgetter
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

from zoloss_cli.results.record import Measurement, MeasureRecord

if TYPE_CHECKING:
    import numpy as np

# A metric is one class in one file, and one line in ``zoloss_cli/registry.py``. Configs, the schema, tables,
# statistics and comparisons get everything they know about it from the class.

PERCENT_DECIMALS = 2
Summary = Callable[[Sequence[float]], float]
AGGREGATIONS_WITHOUT_ERROR: dict[str, Summary] = {"median": median, "max": max, "min": min, "sum": math.fsum}
T = TypeVar("T")


class Sizes(NamedTuple):
    """Number of training and of test samples."""

    n_train: int
    n_test: int


class Stat(NamedTuple):
    """An aggregate over splits with its standard error and standard deviation, in the metric's unit."""

    mean: float
    stderr: float
    splits: int
    deviation: float = math.nan


class Metric(ABC):
    """One number computed from a record.

    Subclasses set ``name``, override what differs, and implement ``compute``.

    Attributes
    ----------
    name : str
        Its name in configs.
    requires : tuple of str
        Fields that the record must have.
    source : {'fit', 'measure', 'any'}
        Whether it applies to fitted learners, to measures of data, or to both.
    part : {'train', 'test', None}
        Whether it is an error on training or test samples.
    direction : {'lower', 'higher', None}
        Which values are better; None if neither is, and no cell is marked as best.
    aggregation : {'mean', 'geometric', 'median', 'max', 'min', 'sum'}
        How values are summarized over splits.
    comparison : {'z', 'match', 'ratio'}
        How it is compared with a published value: by the difference over its standard error, by equality of
        counts, or by the ratio of the two.
    decimals, comparison_decimals : int
        Decimals of a mean in tables, and in comparisons (None for the same).
    published_decimals : int or None
        Decimals of a published value; None for as many as were published.
    exact_if_constant : bool
        Whether a value without randomness must equal the published one to the digit.
    assumes_own_variance : bool
        Whether a value published without a standard error is assumed to vary over splits as in our results.
    heading : str
        The heading of its column, next to a learner's name.
    note : str
        The note about it under a table.
    shows_stderr : bool
        Whether ± follows it if there are several splits.
    collapse_if_constant : bool
        Whether a note replaces its column if all values are equal.
    n_classes : int
        2 if it is defined for two classes only, otherwise 0.
    is_joint : bool
        Whether it is computed from all splits together, so that it has no value while some are missing.
    ratio_of : str
        The metric whose ratio between two learners it shows; such a metric has no ``compute`` of its own.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[Literal["fit", "measure", "any"]] = "fit"
    part: ClassVar[Literal["train", "test"] | None] = None
    direction: ClassVar[Literal["lower", "higher"] | None] = "lower"
    aggregation: ClassVar[Literal["mean", "geometric", "median", "max", "min", "sum"]] = "mean"
    comparison: ClassVar[Literal["z", "match", "ratio"]] = "z"
    decimals: ClassVar[int] = 2
    comparison_decimals: ClassVar[int | None] = None
    published_decimals: ClassVar[int | None] = None
    exact_if_constant: ClassVar[bool] = False
    assumes_own_variance: ClassVar[bool] = False
    heading: ClassVar[str] = ""
    note: ClassVar[str] = ""
    shows_stderr: ClassVar[bool] = True
    collapse_if_constant: ClassVar[bool] = False
    n_classes: ClassVar[int] = 0
    is_joint: ClassVar[bool] = False
    ratio_of: ClassVar[str] = ""

    @abstractmethod
    def compute(self, record: Any, sizes: Sizes) -> float:
        """Return the value of the metric for one record."""

    def explain_missing(self, records: Sequence[Any]) -> str:
        """Return why records cannot provide the metric; empty if all can."""
        for name in self.requires:
            if not hasattr(records[0], name) or None in map(attrgetter(name), records):
                return f"its records hold no {name}"
        if self.n_classes == 2 and len(getattr(records[0], "test_confusion", None) or ()) > 2:
            return "it is defined for two classes only"
        return ""

    def aggregate(self, values: Sequence[float]) -> Stat:
        """Return the summary of values over splits."""
        if without_error := AGGREGATIONS_WITHOUT_ERROR.get(self.aggregation):
            return Stat(without_error(values), math.nan, len(values))
        if self.aggregation == "geometric":
            logs = summarize([math.log(v) for v in values])
            mean = math.exp(logs.mean)
            return Stat(mean, mean * logs.stderr, logs.splits, mean * logs.deviation)
        return summarize(values)

    def count_decimals(self, value: float, n_values: int) -> int:
        """Return the number of decimals to show for an aggregate of this many values."""
        if self.comparison == "ratio":  # two significant digits below a second, and three above
            if value <= 0.0 or not math.isfinite(value):
                return PERCENT_DECIMALS
            first = math.floor(math.log10(value))
            return 1 - first if first < 0 else max(0, 2 - first)
        if self.comparison == "match":
            return 0 if n_values == 1 else 1
        return self.decimals

    def sort_key(self, value: float) -> float:
        """Return a number that is lower for better values."""
        return -value if self.direction == "higher" else value


class FieldMetric(Metric):
    """Base class of metrics whose value is the field that a record must have, times a scale."""

    scale: ClassVar[float] = 1.0

    def compute(self, record: Any, sizes: Sizes) -> float:
        """Return the value of one record."""
        return float(self.scale * getattr(record, self.requires[0]))


class ErrorRate(Metric):
    """Base class of error rates in percent."""

    published_decimals = PERCENT_DECIMALS
    exact_if_constant = True


def require_field(value: T | None) -> T:
    """Return a field of a record that is present because `requires` names it."""
    assert value is not None
    return value


def summarize(values: Sequence[float]) -> Stat:
    """Return mean, standard error and standard deviation."""
    mean, n = fmean(values), len(values)
    # statistics.stdev computes in fractions, which takes longer than reading the results.
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else math.nan
    return Stat(mean, deviation / math.sqrt(n), n, deviation)


def compute_half_width(values: Sequence[float], share: float, confidence: float) -> float:
    """Return half the length of Student's confidence interval of a mean over k >= 2 splits or folds.

    Training parts of splits overlap, so the variance of the mean is not s^2 / k but (1/k + share) s^2, with the
    ratio of test to training samples as `share` (Nadeau and Bengio 2003); 0 if the values are independent.
    """
    from scipy.special import stdtrit  # scipy.stats has it, too, but takes far longer to import

    mean, k = fmean(values), len(values)
    variance = sum((value - mean) ** 2 for value in values) / (k - 1)
    return float(stdtrit(k - 1, (1.0 + confidence) / 2.0)) * math.sqrt((1.0 / k + share) * variance)


SUMMED = {
    *("permutations", "growth", "times", "growth_by_size"),
    *("flipped_growth_by_size", "flipped_times_by_size"),
}
AVERAGED = {"scores", "least_squares"}


class PooledMeasurement:
    """The measurements of one draw by all tasks that measured it; it has the fields of a Measurement.

    Sums over random paths are added and scores averaged, as arrays, on demand; everything else is the same
    in all records of a draw.
    """

    def __init__(self, records: Sequence[MeasureRecord]):
        self.records = records

    def __getattr__(self, name: str) -> Any:
        if name not in Measurement.__struct_fields__:
            raise AttributeError(f"a measurement has no '{name}'")
        value = getattr(self.records[0].measured, name)
        if value is not None and name in SUMMED | AVERAGED:
            import numpy as np

            value = np.sum([getattr(record.measured, name) for record in self.records], axis=0)
            if name in AVERAGED:
                value = value / len(self.records)
        setattr(self, name, value)
        return value

    def holds(self, name: str) -> bool:
        """Return whether a field was measured, without pooling it."""
        return getattr(self.records[0].measured, name) is not None

    @property
    def fit_time(self) -> float:
        """Return the seconds that all tasks took."""
        return sum(record.fit_time or 0.0 for record in self.records)

    @property
    def flipped(self) -> tuple[int, ...] | None:
        """Return the samples with wrong labels; None if no label is known to be wrong."""
        return tuple(self.records[0].measured.flipped) or None

    @property
    def outlier_scores(self) -> np.ndarray | None:
        """Return how much each sample looks like an outlier: its average contribution, or its score."""
        if self.growth is not None and self.times is not None:
            import numpy as np

            return self.growth / np.maximum(self.times, 1)
        return self.scores

    @property
    def is_flipped(self) -> np.ndarray:
        """Return which samples have wrong labels."""
        import numpy as np

        scores = self.outlier_scores
        if scores is None:
            raise ValueError("the measurement scores no samples")
        return np.isin(np.arange(len(scores)), self.flipped or ())


def pool_by_draw(records: Sequence[MeasureRecord]) -> dict[int, PooledMeasurement]:
    """Return the combined measurements of each draw."""
    by_draw: dict[int, list[MeasureRecord]] = {}
    for record in records:
        by_draw.setdefault(record.split if record.draw is None else record.draw, []).append(record)
    return {draw: PooledMeasurement(several) for draw, several in sorted(by_draw.items())}
