"""Which rows of a table share the same data, so that ranks count a data set once.

Tests across data sets assume that these are independent. Two rows with the same samples, with and without
noise, flipped labels or pruning, or with another positive class, are not: they are averaged before ranking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from zoloss_cli.config.data_models import CsvData, DataSpec, GeneratedData
from zoloss_cli.datasets.csv_reader import read_content
from zoloss_cli.datasets.tables import find_entry
from zoloss_cli.errors import ZolossError
from zoloss_cli.reporting.run_result import RunResult


def group_by_data(run: RunResult, datasets: Sequence[str]) -> list[list[str]]:
    """Return these rows of a run's table, grouped by data, in the order of the table.

    Parameters
    ----------
    run : RunResult
        The run, whose experiment says what data each row has.
    datasets : sequence of str
        The rows, by their names.

    Returns
    -------
    list of list of str
        The rows of each distinct data set.
    """
    groups: list[tuple[frozenset[tuple], list[str]]] = []
    for name in datasets:
        sources, rows = find_sources(run.get_data(name)), [name]
        for known in [group for group in groups if group[0] & sources]:  # several, if it shares pools with each
            groups.remove(known)
            sources, rows = sources | known[0], [*known[1], *rows]
        groups.append((sources, rows))
    order = {name: place for place, name in enumerate(datasets)}
    return sorted((sorted(rows, key=order.__getitem__) for _, rows in groups), key=lambda rows: order[rows[0]])


def find_sources(data: DataSpec) -> frozenset[tuple]:
    """Return what identifies the samples of a row, whatever is done with them: several for several pools.

    A file is identified by its sha256, so that a copy under another name is the same data. If a file no longer
    exists, its path has to do.
    """
    if isinstance(data, GeneratedData):
        return frozenset((data.generator, data.size, repr(data.settings), seed) for seed in data.pool_seeds)
    try:
        if isinstance(data, CsvData):
            return frozenset([("file", hashlib.sha256(read_content(Path(data.csv))).hexdigest())])
        return frozenset([("file", find_entry(data.dataset).sha256)])
    except ZolossError:
        return frozenset([("name", data.csv if isinstance(data, CsvData) else data.dataset or data.name)])


def describe_merged(groups: Sequence[Sequence[str]]) -> str:
    """Return a sentence about rows that count as one data set; empty if every row is a data set of its own."""
    merged = [rows for rows in groups if len(rows) > 1]
    if not merged:
        return ""
    n_rows = sum(map(len, groups))
    listed = "; ".join(" = ".join(rows) for rows in merged)
    return (
        f"{n_rows} rows are of {len(groups)} distinct data sets: rows of the same data count once, by the mean "
        f"of their values ({listed})"
    )
