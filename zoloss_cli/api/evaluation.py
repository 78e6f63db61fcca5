"""The result of evaluating learners: the numbers of every split, a table, and tests of differences."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from zoloss_cli.api.tables import ResultTable
from zoloss_cli.errors import ConfigError
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.statistics import check_comparable, compare_with_best, correct_by_holm
from zoloss_cli.reporting.statistics_report import describe_best
from zoloss_cli.reporting.tables import build_table

if TYPE_CHECKING:
    import pandas as pd


class EvaluationResult:
    """Errors of learners on the same random splits; a notebook shows the table.

    Parameters
    ----------
    run : RunResult
        The numbers of all splits.
    metrics : list of str
        The requested metrics, the main one first.
    failures : tuple of str
        One sentence for each fit that failed.

    Attributes
    ----------
    metrics : list of str
        The metrics.
    failures : tuple of str
        What failed.
    """

    def __init__(self, run: RunResult, metrics: list[str], failures: tuple[str, ...] = ()):
        self._run, self.metrics, self.failures = run, metrics, failures

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per learner and split: learner, split, sizes, the metrics and the seconds of fitting."""
        import pandas as pd

        parts = []
        for (dataset, learner), cell in self._run.cells.items():
            names = list(dict.fromkeys([*self.metrics, "train_error", "test_error", "fit_time"]))
            values = {name: cell.get(name) for name in names}
            columns = {name: found for name, found in values.items() if found is not None}
            sizes = {} if cell.sizes is None else cell.sizes._asdict()
            places = {"dataset": dataset, "learner": learner, "split": cell.splits, **sizes}
            parts.append(pd.DataFrame(places | columns))
        return pd.concat(parts, ignore_index=True)

    @property
    def table(self) -> ResultTable:
        """The table of means and standard errors, with a column per learner."""
        return ResultTable(build_table(self._run, [self._run]))

    def compare(self, against: str | None = None) -> pd.DataFrame:
        """Test how the other learners differ from one of them on the same splits.

        Parameters
        ----------
        against : str or None, default=None
            The learner to compare the others with; None for the one with the best mean.

        Returns
        -------
        DataFrame
            A row for each other learner: the mean difference, t and p of the corrected test of Nadeau and
            Bengio (2003), p after Holm's correction for all rows, and the effect size d_z. If there is no
            test, the column reason says why.
        """
        import pandas as pd

        check_comparable(self._run, against)
        (dataset,) = self._run.datasets
        found = compare_with_best(self._run, dataset, against)
        tested = [c.p for c in found if c.p is not None]
        corrected = iter(correct_by_holm(tested))
        rows = [
            {
                "learner": c.first,
                "against": c.second,
                "difference": c.difference,
                "splits": c.splits,
                "t": c.t,
                "p": c.p,
                "holm": None if c.p is None else next(corrected),
                "d_z": c.effect,
                "reason": c.reason,
            }
            for c in found
        ]
        return pd.DataFrame(rows)

    def describe(self, alpha: float = 0.05) -> str:
        """Compare the best learner with each other one, in words.

        Parameters
        ----------
        alpha : float, default=0.05
            Significance level.

        Returns
        -------
        str
            A sentence, a line for each other learner, and a note on how to read them.
        """
        if not 0.0 < alpha < 1.0:
            raise ConfigError(f"alpha must be between 0 and 1, both excluded (got {alpha:g})")
        (dataset,) = self._run.datasets
        return "\n".join(describe_best(self._run, dataset, alpha))

    def collect_runs(self, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
        """Return the run in the form that other functions take; it has no tables to choose from."""
        if table is not None:
            raise ConfigError(f"table: an evaluation has only one table, and no '{table}'")
        return [self._run], [self._run]

    def __str__(self) -> str:
        return str(self.table)

    def __repr__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()
