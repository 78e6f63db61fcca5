"""Values that options choose from, and their defaults; light, because a shell completes them."""

from __future__ import annotations

from dataclasses import dataclass

from zoloss_cli.errors import ConfigError

SCALINGS = ("standard", "minmax", "none")
DEFAULT_SCALING = "standard"  # of fit, evaluate, complexity and prune
MISSING_POLICIES = ("error", "drop", "zero", "impute", "indicator")
UNKNOWN_POLICIES = ("error", "ignore")  # for levels unseen in training
CALIBRATIONS = ("sigmoid", "isotonic")
KERNELS = ("perceptron", "stump", "rbf", "linear")  # of the SVM that measures complexity
NOISE_SCORES = ("contribution", "neighbours")


STATS = ("stderr", "sd", "ci", "median", "quartiles")
BOLD_RULES = ("best", "stderr", "significant")
MEDIANS = ("median", "quartiles")
CONFIDENCE = 0.95  # of the intervals of `ci`
MAX_DIGITS = 10


@dataclass(frozen=True)
class TableOptions:
    """What a table shows of a run, and how.

    Attributes
    ----------
    datasets, learners : tuple of str
        Names in the order of rows and columns; none for all.
    metrics : tuple of str
        The metrics to show instead of the config's; none for the config's.
    stat : {'stderr', 'sd', 'ci', 'median', 'quartiles', None}
        Mean ± standard error, mean ± standard deviation, mean and its confidence interval, median, or median
        and quartiles; None for that of the published table, or else the first.
    digits : int or None
        Decimals of all numbers; None for those of the metric.
    published : bool
        Whether to show published values below ours.
    transpose : bool
        Whether learners are rows and data sets columns.
    rank_row : bool
        Whether to add a last row with the mean ranks of the learners.
    bold : {'best', 'stderr', 'significant', None}
        Which cells are bold: the best, those within one standard error of it, or those not significantly
        worse; None for the second, or for medians the first.
    """

    datasets: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    stat: str | None = None
    digits: int | None = None
    published: bool = True
    transpose: bool = False
    rank_row: bool = False
    bold: str | None = None

    def __post_init__(self) -> None:
        if self.bold == "stderr" and self.stat in MEDIANS:
            raise ConfigError(f"--bold stderr is of means, and --stat {self.stat} has medians: use --bold best")

    @property
    def bold_rule(self) -> str:
        """Return which cells are bold, including the default rule."""
        return self.bold or ("best" if self.stat in MEDIANS else "stderr")

    @property
    def shows_medians(self) -> bool:
        """Return whether the numbers are medians over splits."""
        return self.stat in MEDIANS


AS_PUBLISHED = TableOptions()


FORMATS = ("text", "markdown", "latex", "csv", "html")
EXPORT_FORMATS = ("csv", "parquet")  # of single records
