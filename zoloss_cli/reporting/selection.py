"""The runs of a results folder that a command uses: all tables, or a named one."""

from __future__ import annotations

from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.loading import select_runs
from zoloss_cli.reporting.run_result import RunResult


def select_tables(runs: list[RunResult], table: str | None) -> list[RunResult]:
    """Return the run that `table` names, or without a name all runs except those of the papers' figures."""
    return [run for run in select_runs(runs, table) if table or not run.figure]


def select_comparable(runs: list[RunResult], table: str | None, against: str | None) -> list[RunResult]:
    """Return the runs whose learners can be compared by tests.

    Parameters
    ----------
    runs : list of RunResult
        All runs of a results folder.
    table : str or None
        The table's number or the run's name; None for all.
    against : str or None
        The learner to compare the others with; None for each data set's best.

    Returns
    -------
    list of RunResult
        At least one run.

    Raises
    ------
    ResultsError
        With the reason for each run, if there is no such run.
    """
    from zoloss_cli.reporting.statistics import check_comparable  # SciPy takes long to import

    comparable, reasons = [], []
    for run in select_tables(runs, table):
        try:
            check_comparable(run, against)
            comparable.append(run)
        except ResultsError as error:
            reasons.append(str(error))
    if not comparable:
        raise ResultsError("\n".join(reasons) or "there are no runs to compare learners of")
    return comparable
