"""Results next to the published values, as a DataFrame."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from zoloss_cli.api.sources import RunSource, collect_runs
from zoloss_cli.errors import ResultsError
from zoloss_cli.reporting.comparison import COLUMNS
from zoloss_cli.reporting.comparison_report import build_comparison_report

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = ("mean", "stderr", "published", "published_stderr", "z", "ratio")


def compare(
    results: str | PathLike[str] | RunSource, table: str | None = None, *, beyond: float | None = None
) -> pd.DataFrame:
    """Return every cell of the results next to its published value.

    This is `zoloss compare`. Errors are compared by z, the difference over its joint standard error; counts of
    training errors by whether they match; times by their ratio.

    Parameters
    ----------
    results : str, path-like or RunSource
        A results folder, or what `run_experiment` returned.
    table : str or None, default=None
        The table's number or the run's name; None for all tables.
    beyond : float or None, default=None
        Only cells with |z| above this, worse losses and slower times; None for all cells.

    Returns
    -------
    DataFrame
        One row per cell: paper, table, dataset, learner, metric, ours (mean, stderr, splits), the
        published value and its error, difference, z, match and ratio. ``attrs["summary"]`` has the counts of
        all cells as sentences, ``attrs["remarks"]`` what is known about the rows that are far off.

    Raises
    ------
    ResultsError
        If nothing in the results mirrors a published table.

    Examples
    --------
    >>> from zoloss_cli import compare, run_experiment
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> results = run_experiment("table2", out=folder, splits=2, datasets="heart", learners="pocket")
    >>> cells = compare(results)
    >>> cells[["dataset", "learner", "splits", "published"]].values.tolist()
    [['heart', 'pocket', 2, 11.22]]
    """
    import pandas as pd

    selected, runs = collect_runs(results, table)
    if not any(run.experiment.published for run in selected):
        raise ResultsError("nothing in these results mirrors a published table")
    report = build_comparison_report(runs, Path("these results"), table, beyond)
    rows = [{name: getattr(cell, name) for name in COLUMNS} for cell in report.cells]
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float))
    frame.insert(COLUMNS.index("z"), "difference", frame["mean"] - frame["published"])
    frame.attrs = {"summary": report.summary, "remarks": report.remarks}
    return frame
