"""Tables and comparisons of results in a folder, returned by another function, or in a DataFrame."""

from __future__ import annotations

import contextlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack, runtime_checkable

from zoloss_cli.choices import BOLD_RULES, MAX_DIGITS, STATS
from zoloss_cli.config.models import EmbeddedData, Experiment, LearnerSpec, Split
from zoloss_cli.errors import ClusterError, ConfigError, ResultsError, suggest_nearest
from zoloss_cli.figures.drawings import narrow_run
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import METRICS
from zoloss_cli.report.agreement import build_comparison_report
from zoloss_cli.report.compare import COLUMNS
from zoloss_cli.report.render import render_tables
from zoloss_cli.report.runs import CellResult, Place, RunResult, explain_empty, load_runs, select_runs
from zoloss_cli.report.tables import Table, TableCell, TableOptions, build_table, load_tables, shape_runs
from zoloss_cli.results.manifest import Manifest, ManifestCell

if TYPE_CHECKING:
    import pandas as pd

MAX_NAMED_TABLES = 12


@runtime_checkable
class RunSource(Protocol):
    """An object that holds runs: the results of an experiment or of an evaluation."""

    def collect_runs(self, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
        """Return the selected runs, and all runs that are stored with them."""


def collect_runs(results: Any, table: str | None = None) -> tuple[list[RunResult], list[RunResult]]:
    """Return the runs that `results` refers to, and all runs of the same folder."""
    if isinstance(results, RunSource):
        return results.collect_runs(table)
    if isinstance(results, str | PathLike):
        runs, store = load_runs(Path(results), table)
        for note in store.notes:
            warnings.warn(note, stacklevel=4)
        return select_runs(runs, table), runs
    if type(results).__name__ == "DataFrame":
        if table is not None:
            raise ConfigError(
                "table: a DataFrame has no tables; choose its rows with load_results(path, table=...)"
            )
        run = build_run_of_frame(results)
        return [run], [run]
    raise ConfigError(
        "results must be a folder, a DataFrame of load_results, or what run_experiment or evaluate returned "
        f"(got {type(results).__name__})"
    )


def select_run(
    results: Any,
    table: str | None = None,
    *,
    metric: str | None = None,
    learners: str | Sequence[str] = (),
) -> tuple[RunResult, list[RunResult]]:
    """Return the selected run, or a part of it, and all runs that are stored with it."""
    selected, runs = collect_runs(results, table)
    shown = selected if table else [run for run in selected if not run.figure] or selected
    if len(shown) != 1:
        raise ResultsError(name_several([run.number for run in shown]))
    (run,) = shown
    if fault := explain_empty(run):
        raise ResultsError(fault)
    if metric is not None:
        run = run.show_metric(metric)
    if learners:
        run = narrow_run(run, [], list_names(learners))
    return run, runs


def name_several(numbers: Sequence[str]) -> str:
    """Return a message that asks to name one of several tables."""
    more = f" and {len(numbers) - MAX_NAMED_TABLES} more" if len(numbers) > MAX_NAMED_TABLES else ""
    listed = ", ".join(numbers[:MAX_NAMED_TABLES])
    return f"these results hold several tables; name one with table=...: {listed}{more}"


def list_names(names: str | Sequence[str]) -> list[str]:
    """Return one name, or a sequence of names, as a list."""
    return [names] if isinstance(names, str) else list(names)


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
    """A table of results; `str` returns it as text, and a notebook shows it."""

    def __init__(self, table: Table):
        self._table = table

    @property
    def notes(self) -> list[str]:
        """The notes under the table."""
        return list(self._table.notes)

    def render(self, format: str = "text", *, terminal: bool = False, standalone: bool = False) -> str:
        """Return the table in a format: text, with bold cells on a terminal, markdown, latex, html or csv."""
        with name_parameters():
            return render_tables([self._table], format, terminal, standalone)

    def to_markdown(self) -> str:
        """Return the table in GitHub's Markdown."""
        return self.render("markdown")

    def to_latex(self, *, standalone: bool = False) -> str:
        """Return the table in LaTeX: a fragment for an article that uses booktabs, or a whole document."""
        return self.render("latex", standalone=standalone)

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
        values: dict[tuple[str, str], list[float | None]] = {}
        for place, heading in enumerate(self._table.headings):
            ours = [row.ours[place] for row in rows]
            values[heading, "mean"] = [cell.mean for cell in ours]
            values[heading, "stderr"] = [cell.stderr for cell in ours]
            if any(cell.deviation is not None for cell in ours):
                values[heading, "sd"] = [cell.deviation for cell in ours]
            if any(cell.interval for cell in ours):
                values[heading, "low"] = [cell.interval[0] if cell.interval else None for cell in ours]
                values[heading, "high"] = [cell.interval[1] if cell.interval else None for cell in ours]
            if any(row.published for row in rows):
                theirs = [row.published[place] if row.published else TableCell(None) for row in rows]
                values[heading, "published"] = [cell.mean for cell in theirs]
                values[heading, "published_stderr"] = [cell.stderr for cell in theirs]
        index = pd.Index([row.dataset for row in rows], name="dataset")
        frame = pd.DataFrame(values, index=index, dtype=float)
        frame.columns = pd.MultiIndex.from_tuples(values, names=["learner", "value"])
        return frame.T if self._table.transpose else frame

    def __repr__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


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

    This is the function of `zoloss table`. A notebook shows the table, `str` returns it as text, and its
    methods return other formats and a DataFrame.

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
    folder, name = getattr(results, "folder", None), table
    if isinstance(results, str | PathLike):
        folder = Path(results)
    elif folder is not None:
        name = table or getattr(results, "name", None)
    with name_parameters():
        if folder is None:
            return ResultTable(_build_in_memory(results, table, chosen))
        tables, notes = load_tables(folder, name, chosen)
    if len(tables) > 1:
        raise ResultsError(name_several([each.number for each in tables]))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return ResultTable(tables[0])


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
    """Replace the names of options in messages by those of function parameters."""
    try:
        yield
    except (ClusterError, ConfigError, ResultsError) as error:
        text = OPTION.sub(lambda match: match[1].replace("-", "_"), str(error))
        raise type(error)(text) from None


NUMBERS = ("mean", "stderr", "published", "published_stderr", "z", "ratio")


def compare(
    results: str | PathLike[str] | RunSource, table: str | None = None, *, beyond: float | None = None
) -> pd.DataFrame:
    """Return every cell of the results next to its published value.

    This is the function of `zoloss compare`. Errors are compared by z, the difference over its joint standard
    error; counts of training errors by whether they match; times by their ratio.

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
        all cells as sentences, ``attrs["remarks"]`` known explanations of large deviations.

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


PLACE_COLUMNS = ("dataset", "learner")
VARIED = ("noise", "flip", "positive")  # variations of the same samples


def build_run(
    cells: Sequence[tuple[Place, CellResult]],
    metrics: Sequence[str],
    name: str,
    title: str,
    origin: str,
    *,
    n_splits: int | None = None,
    sources: Mapping[str, str] | None = None,
) -> RunResult:
    """Return a run of given cells."""
    datasets = list(dict.fromkeys(dataset for (dataset, _), _ in cells))
    learners = list(dict.fromkeys((learner, cell.choice) for (_, learner), cell in cells))
    experiment = Experiment(
        name=name,
        title=title,
        metric=metrics[0],
        also=metrics[1] if len(metrics) > 1 else None,
        datasets=tuple(EmbeddedData(name=d, dataset=(sources or {}).get(d, d)) for d in datasets),
        learners=tuple(LearnerSpec(label=x, learner=x, choice=choice) for x, choice in learners),
        split=Split(repeats=n_splits or max(len(cell) for _, cell in cells)),
    )
    planned = [
        ManifestCell(*place, f"{i:016x}", f"cell-{i}.jsonl", cell.choice, n_splits or len(cell))
        for i, (place, cell) in enumerate(cells)
    ]
    run = RunResult(Manifest(origin, experiment, planned, []))
    for place, cell in cells:
        run.count_done(place, len(cell))
        run.add(place, cell)
    return run


def build_run_of_frame(frame: pd.DataFrame) -> RunResult:
    """Return the run that the rows of a DataFrame describe: one row per record, as in `load_results`."""
    for column in PLACE_COLUMNS:
        if column not in frame.columns:
            hint = suggest_nearest(column, map(str, frame.columns))
            raise ResultsError(f"the DataFrame has no column '{column}'{hint}")
    known = [name for name in METRICS.builtin if name in frame.columns]
    if not known:
        raise ResultsError("no column of the DataFrame is named after a metric; name one, such as test_error")
    shown = "test_error" if "test_error" in known and frame["test_error"].notna().any() else known[0]
    rows = frame[frame[shown].notna()]
    if rows.empty:
        raise ResultsError(f"the DataFrame has no row with a value of '{shown}'")
    groups = [column for column in (*PLACE_COLUMNS, "variant") if column in rows.columns]
    cells = []
    for names, part in rows.groupby(groups, observed=True, sort=False, dropna=False):
        dataset, learner, *variant = ("" if name != name or name is None else str(name) for name in names)
        cells.append(((dataset, learner), _build_cell(part, [shown, *known], "".join(variant))))
    title, origin, sources = f"Means of {shown}", "load_results(...)", _find_sources(rows)
    return build_run(cells, [shown], "frame", title, origin, sources=sources)


def _build_cell(part: pd.DataFrame, metrics: Sequence[str], choice: str) -> CellResult:
    splits = part["split"].tolist() if "split" in part.columns else list(range(len(part)))
    if len(set(splits)) < len(splits):
        where = ", ".join(str(part[column].iloc[0]) for column in PLACE_COLUMNS)
        raise ResultsError(
            f"the DataFrame has a split of '{where}' more than once: keep the rows of one table, as "
            "load_results with table=... does"
        )
    values = {name: part[name].astype(float).tolist() for name in metrics if part[name].notna().all()}
    sizes = None
    if {"n_train", "n_test"} <= {*part.columns}:
        sizes = Sizes(int(part["n_train"].iloc[0]), int(part["n_test"].iloc[0]))
    return CellResult(splits=[int(split) for split in splits], sizes=sizes, choice=choice, values=values)


def _find_sources(rows: pd.DataFrame) -> dict[str, str]:
    """Return what identifies the samples of each data set, if the DataFrame has it."""
    if "data" not in rows.columns:
        return {}
    first, sources = rows.drop_duplicates("dataset"), {}
    for name, data in zip(first["dataset"], first["data"], strict=True):
        with contextlib.suppress(TypeError, ValueError, AttributeError):
            content = {key: value for key, value in json.loads(data).items() if key not in VARIED}
            sources[str(name)] = json.dumps(content, sort_keys=True)
    return sources
