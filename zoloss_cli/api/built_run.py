"""Runs built from numbers in memory, so that tables, statistics and figures treat them like stored results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zoloss_cli.config.data_models import EmbeddedData
from zoloss_cli.config.models import Experiment, LearnerSpec, Split
from zoloss_cli.errors import ResultsError, suggest_nearest
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import METRICS, load_metric
from zoloss_cli.reporting.run_result import CellResult, Place, RunResult
from zoloss_cli.results.manifest import Manifest, ManifestCell

if TYPE_CHECKING:
    import pandas as pd

PLACE_COLUMNS = ("dataset", "learner")
VARIED = ("noise", "flip", "positive")  # what may be done with the same samples


def build_run(
    cells: Sequence[tuple[Place, CellResult]],
    metrics: Sequence[str],
    *,
    name: str,
    title: str,
    n_splits: int | None,
    origin: str,
    sources: Mapping[str, str] | None = None,
) -> RunResult:
    """Return a run of given cells.

    Parameters
    ----------
    cells : sequence of ((data set, learner), CellResult)
        The cells, in the order of the table. If several share a place, the best is shown.
    metrics : sequence of str
        What a table shows, the main metric first; at most one more is shown next to it.
    name, title : str
        Name and caption of its table.
    n_splits : int or None
        How many splits a complete cell has; None for as many as there are.
    origin : str
        The call that produced them, in place of a config.
    sources : mapping of str to str, optional
        What identifies the samples of each data set, to find rows with the same data; by default, its name.

    Returns
    -------
    RunResult
        As if it had been read from a results folder.
    """
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


def build_run_of_frame(frame: pd.DataFrame, metric: str | None = None) -> RunResult:
    """Return the run that the rows of a DataFrame describe: one row per record, as in `load_results`.

    Parameters
    ----------
    frame : DataFrame
        Columns ``dataset`` and ``learner``, at least one column named after a metric, and optionally
        ``split``, ``n_train`` and ``n_test``.
    metric : str or None, default=None
        What a table shows; None for test errors, or for the only metric among the columns.

    Returns
    -------
    RunResult
        Only what these rows hold: other records of the same folder do not count.
    """
    for column in PLACE_COLUMNS:
        if column not in frame.columns:
            hint = suggest_nearest(column, map(str, frame.columns))
            raise ResultsError(f"the DataFrame has no column '{column}'{hint}")
    shown = _choose_metric(frame, metric)
    rows = frame[frame[shown].notna()]
    if rows.empty:
        raise ResultsError(f"the DataFrame has no row with a value of '{shown}'")
    known = [name for name in METRICS.builtin if name in frame.columns]
    groups = [column for column in (*PLACE_COLUMNS, "variant") if column in rows.columns]
    cells = []
    for names, part in rows.groupby(groups, observed=True, sort=False, dropna=False):
        dataset, learner, *variant = ("" if name != name or name is None else str(name) for name in names)
        cells.append(((dataset, learner), _build_cell(part, [shown, *known], "".join(variant))))
    return build_run(
        cells,
        [shown],
        name="frame",
        title=f"Means of {shown}",
        n_splits=None,
        origin="load_results(...)",
        sources=_find_sources(rows),
    )


def _choose_metric(frame: pd.DataFrame, metric: str | None) -> str:
    known = [name for name in METRICS.builtin if name in frame.columns]
    if metric is not None:
        name = load_metric(metric).name
        if name not in frame.columns:
            raise ResultsError(f"the DataFrame has no column '{name}'{suggest_nearest(name, known)}")
        return name
    if "test_error" in known and frame["test_error"].notna().any():
        return "test_error"
    if not known:
        raise ResultsError("no column of the DataFrame is named after a metric; name one, such as test_error")
    return known[0]


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
    """Return what identifies the samples of each data set, if the DataFrame says so."""
    if "data" not in rows.columns:
        return {}
    first = rows.drop_duplicates("dataset")
    return {
        str(name): source
        for name, data in zip(first["dataset"], first["data"], strict=True)
        if (source := _describe_source(data))
    }


def _describe_source(data: Any) -> str:
    try:
        content = json.loads(data)
        return json.dumps({key: value for key, value in content.items() if key not in VARIED}, sort_keys=True)
    except (TypeError, ValueError, AttributeError):
        return ""
