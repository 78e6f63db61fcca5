"""Tables as objects: shown in a notebook, as text, or in any format."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from zoloss_cli.api.sources import RunSource, list_names, name_several, select_run
from zoloss_cli.errors import ClusterError, ConfigError, ResultsError, suggest_nearest
from zoloss_cli.reporting.render.render import render_tables
from zoloss_cli.reporting.table_cells import TableCell
from zoloss_cli.reporting.table_options import BOLD_RULES, MAX_DIGITS, STATS, TableOptions
from zoloss_cli.reporting.table_selection import load_tables, shape_runs
from zoloss_cli.reporting.tables import Table, build_table

if TYPE_CHECKING:
    import pandas as pd

OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


class TableKeywords(TypedDict, total=False):
    """How to show a table: the options of `zoloss table`."""

    stat: Literal["stderr", "sd", "ci", "median", "quartiles"]
    digits: int
    published: bool
    transpose: bool
    rank_row: bool
    bold: Literal["best", "stderr", "significant"]


class ResultTable:
    """A table of results; `str` returns it as text, and a notebook shows it.

    Parameters
    ----------
    table : Table
        Its rows, columns and notes.
    """

    def __init__(self, table: Table):
        self._table = table

    @property
    def notes(self) -> list[str]:
        """The notes under the table."""
        return list(self._table.notes)

    def render(self, format: str = "text") -> str:
        """Return the table in a format: text, markdown, latex, html or csv."""
        with name_parameters():
            return render_tables([self._table], format)

    def to_markdown(self) -> str:
        """Return the table in GitHub's Markdown."""
        return self.render("markdown")

    def to_latex(self, *, standalone: bool = False) -> str:
        """Return the table in LaTeX: a fragment for an article that uses booktabs, or a whole document."""
        return render_tables([self._table], "latex", standalone=standalone)

    def to_csv(self) -> str:
        """Return the table as CSV, with a line per cell."""
        return self.render("csv")

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of the table as a DataFrame.

        Returns
        -------
        DataFrame
            A row per data set. Columns have two levels: the heading, and our ``mean`` and ``stderr``, with
            ``published`` and ``published_stderr`` if there are published values. With ``stat="sd"`` there is
            also ``sd``, with an interval ``low`` and ``high``; a median takes the place of the mean.
        """
        import pandas as pd

        rows = self._table.rows
        has_published = any(row.published for row in rows)
        values: dict[tuple[str, str], list[float | None]] = {}
        for place, heading in enumerate(self._table.headings):
            ours = [row.ours[place] for row in rows]
            values |= {(heading, name): found for name, found in _collect_numbers(ours).items()}
            if has_published:
                theirs = [row.published[place] if row.published else TableCell(None) for row in rows]
                values[heading, "published"] = [cell.mean for cell in theirs]
                values[heading, "published_stderr"] = [cell.stderr for cell in theirs]
        index = pd.Index([row.dataset for row in rows], name="dataset")
        frame = pd.DataFrame(values, index=index, dtype=float)
        frame.columns = pd.MultiIndex.from_tuples(values, names=["learner", "value"])
        return frame.T if self._table.transpose else frame

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


def _collect_numbers(cells: list[TableCell]) -> dict[str, list[float | None]]:
    """Return the numbers of a column; measures of spread that no cell has are left out."""
    found: dict[str, list[float | None]] = {
        "mean": [cell.mean for cell in cells],
        "stderr": [cell.stderr for cell in cells],
        "sd": [cell.deviation for cell in cells],
        "low": [cell.interval[0] if cell.interval else None for cell in cells],
        "high": [cell.interval[1] if cell.interval else None for cell in cells],
    }
    always = ("mean", "stderr")
    return {name: values for name, values in found.items() if name in always or set(values) != {None}}


def make_table(
    results: str | PathLike[str] | RunSource | pd.DataFrame,
    table: str | None = None,
    *,
    metric: str | Sequence[str] | None = None,
    datasets: str | Sequence[str] = (),
    learners: str | Sequence[str] = (),
    **options: Unpack[TableKeywords],
) -> ResultTable:
    """Return a table of results: means and standard errors, next to the published values.

    This is `zoloss table`. A notebook shows the table, `str` returns it as text, and its methods return other
    formats and a DataFrame.

    Parameters
    ----------
    results : str, path-like, RunSource or DataFrame
        A results folder, what `run_experiment` or `evaluate` returned, or rows from `load_results`.
    table : str or None, default=None
        The table's number or the run's name, if the results hold several.
    metric : str, sequence of str or None, default=None
        Metrics other than the table's own; the records must hold what they need.
    datasets : str or sequence of str, default=()
        Only these data sets, in this order; none for all.
    learners : str or sequence of str, default=()
        Only these learners, in this order; none for all.
    **options
        The options of `zoloss table`: ``stat`` (stderr, sd, ci, median or quartiles), ``digits``,
        ``published=False``, ``transpose=True``, ``rank_row=True``, and ``bold`` (best, stderr or significant).

    Returns
    -------
    ResultTable
        With the methods `to_frame`, `to_markdown`, `to_latex`, `to_csv` and `render`.

    Raises
    ------
    ConfigError
        If a data set, learner, metric or option is unknown.
    ResultsError
        If there is no such table, or it is empty.

    Examples
    --------
    >>> import pandas as pd
    >>> from zoloss_cli import make_table
    >>> errors = {"pocket": [20.0, 22.0], "fld": [25.0, 27.0]}
    >>> rows = [("heart", x, k, e) for x, both in errors.items() for k, e in enumerate(both)]
    >>> frame = pd.DataFrame(rows, columns=["dataset", "learner", "split", "test_error"])
    >>> table = make_table(frame, digits=1)
    >>> table.to_frame().loc["heart", "pocket"].to_dict()
    {'mean': 21.0, 'stderr': 1.0}
    >>> table.to_markdown().splitlines()[4]
    '| heart      | **21.0 ± 1.0** | 26.0 ± 1.0 |'
    """
    metrics = () if metric is None else tuple(list_names(metric))
    chosen = _check_options(tuple(list_names(datasets)), tuple(list_names(learners)), metrics, dict(options))
    folder, name = _find_folder(results, table)
    with name_parameters():
        if folder is None:
            return ResultTable(_build_in_memory(results, table, chosen))
        tables, notes = load_tables(folder, name, chosen)
    if len(tables) > 1:
        raise ResultsError(name_several([each.number for each in tables]))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return ResultTable(tables[0])


def _find_folder(results: Any, table: str | None) -> tuple[Path | None, str | None]:
    """Return the folder that results were read from, if any, and the table in it."""
    if isinstance(results, str | PathLike):
        return Path(results), table
    folder = getattr(results, "folder", None)
    return folder, (table or results.name) if folder is not None else table


def _build_in_memory(results: Any, table: str | None, chosen: TableOptions) -> Table:
    run, _ = select_run(results, table)
    (shaped,) = shape_runs([run], chosen)
    if shaped is not run:
        kept = {*shaped.datasets}, {*shaped.learners}
        for place, cell in run.cells.items():
            if place[0] in kept[0] and place[1] in kept[1]:
                shaped.count_done(place, run.n_done_at.get(place, 0))
                shaped.add(place, cell)
        if not shaped.cells:
            raise ResultsError(f"there is no {shaped.metric}: {next(iter(shaped.missing.values()))}")
    return build_table(shaped, [shaped], chosen)


def _check_options(
    datasets: tuple[str, ...], learners: tuple[str, ...], metrics: tuple[str, ...], options: dict[str, Any]
) -> TableOptions:
    for name in options:
        if name not in TableKeywords.__annotations__:
            raise ConfigError(f"unknown option '{name}'{suggest_nearest(name, TableKeywords.__annotations__)}")
    for name, valid in (("stat", STATS), ("bold", BOLD_RULES)):
        if options.get(name) not in (None, *valid):
            raise ConfigError(f"{name}: '{options[name]}' is unknown{suggest_nearest(options[name], valid)}")
    digits = options.get("digits")
    if digits is not None and not (isinstance(digits, int) and 0 <= digits <= MAX_DIGITS):
        raise ConfigError(f"digits: must be between 0 and {MAX_DIGITS} (got {digits!r})")
    with name_parameters():
        return TableOptions(datasets, learners, metrics, **options)


@contextlib.contextmanager
def name_parameters() -> Iterator[None]:
    """Make messages name the parameters of functions instead of the options of commands."""
    try:
        yield
    except (ClusterError, ConfigError, ResultsError) as error:
        text = OPTION.sub(lambda match: match[1].replace("-", "_"), str(error))
        raise type(error)(text) from None
