"""Tables as objects: shown in a notebook, printed, or written in any format."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from zoloss_cli.api.sources import RunSource, select_run
from zoloss_cli.reporting.render.render import render_tables
from zoloss_cli.reporting.tables import Table, TableCell, build_table

if TYPE_CHECKING:
    import pandas as pd


class ResultTable:
    """A table of results; `str` gives it as text, and a notebook shows it.

    Parameters
    ----------
    table : Table
        Its rows, columns and notes.
    """

    def __init__(self, table: Table):
        self._table = table

    @property
    def notes(self) -> list[str]:
        """What stands under it."""
        return list(self._table.notes)

    def render(self, format: str = "text") -> str:
        """Return it in a format: text, markdown, latex, html or csv."""
        return render_tables([self._table], format)

    def to_markdown(self) -> str:
        """Return it in GitHub's Markdown."""
        return self.render("markdown")

    def to_latex(self) -> str:
        """Return it in LaTeX, for the package booktabs."""
        return self.render("latex")

    def to_csv(self) -> str:
        """Return it as CSV, a line for each cell."""
        return self.render("csv")

    def to_frame(self) -> pd.DataFrame:
        """Return its numbers as a DataFrame.

        Returns
        -------
        DataFrame
            A row for each data set. Columns have two levels: the heading, and ``mean`` and ``stderr`` of ours,
            with ``published`` and ``published_stderr`` where there are published values.
        """
        import pandas as pd

        has_published = any(row.published for row in self._table.rows)
        values: dict[tuple[str, str], list[float | None]] = {}
        for place, heading in enumerate(self._table.headings):
            ours = [row.ours[place] for row in self._table.rows]
            _add_cells(values, heading, "mean", "stderr", ours)
            if has_published:
                empty = TableCell(None)
                theirs = [row.published[place] if row.published else empty for row in self._table.rows]
                _add_cells(values, heading, "published", "published_stderr", theirs)
        index = pd.Index([row.dataset for row in self._table.rows], name="dataset")
        frame = pd.DataFrame(values, index=index, dtype=float)
        frame.columns = pd.MultiIndex.from_tuples(values, names=["learner", "value"])
        return frame

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


def _add_cells(
    values: dict[tuple[str, str], list[float | None]],
    heading: str,
    mean: str,
    stderr: str,
    cells: list[TableCell],
) -> None:
    values[heading, mean] = [cell.mean for cell in cells]
    values[heading, stderr] = [cell.stderr for cell in cells]


def make_table(
    results: str | PathLike[str] | RunSource | pd.DataFrame,
    table: str | None = None,
    *,
    metric: str | None = None,
    datasets: str | Sequence[str] = (),
    learners: str | Sequence[str] = (),
) -> ResultTable:
    """Return the table of results: means and standard errors, beside the published values.

    This is `zoloss table`. A notebook shows the table, `print` writes it as text, and its methods give it in
    other formats and as a DataFrame.

    Parameters
    ----------
    results : str, path-like, RunSource or DataFrame
        A results folder, what `run_experiment` or `evaluate` returned, or rows of `load_results`.
    table : str or None, default=None
        The table's number or the run's name, where the results hold several.
    metric : str or None, default=None
        Another metric than the table's own; the records must hold what it needs.
    datasets : str or sequence of str, default=()
        Only these data sets; none for all.
    learners : str or sequence of str, default=()
        Only these learners; none for all.

    Returns
    -------
    ResultTable
        With the methods `to_frame`, `to_markdown`, `to_latex`, `to_csv` and `render`.

    Raises
    ------
    ResultsError
        If there is no such table, or nothing in it.

    Examples
    --------
    >>> import pandas as pd
    >>> from zoloss_cli import make_table
    >>> errors = {"pocket": [20.0, 22.0], "fld": [25.0, 27.0]}
    >>> rows = [("heart", x, k, e) for x, both in errors.items() for k, e in enumerate(both)]
    >>> frame = pd.DataFrame(rows, columns=["dataset", "learner", "split", "test_error"])
    >>> table = make_table(frame)
    >>> print(table.to_frame()["pocket"])
    value    mean  stderr
    dataset
    heart    21.0     1.0
    """
    run, runs = select_run(results, table, metric=metric, datasets=datasets, learners=learners)
    return ResultTable(build_table(run, runs))
