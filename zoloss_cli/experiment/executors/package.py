"""What a cluster's workers need for a run: its cells, and files that only the client has; sent once."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from zoloss_cli.config.data_models import CsvData, DataSpec, EmbeddedData
from zoloss_cli.datasets.csv_reader import read_content
from zoloss_cli.datasets.dataset import describe_change, find_data_path
from zoloss_cli.datasets.sent_files import SentFile, name_sent_file
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.plan import Cell


@dataclass(frozen=True)
class RunPackage:
    """The cells of a run by key, and the files that they read.

    The code of learners in files travels inside their cells. Data sets that come with zoloss or with a package
    are on every host; by its key, a worker verifies that everything in a cell is the same there.

    Attributes
    ----------
    cells : dict of str to Cell
        The cells.
    files : tuple of SentFile
        Users' tables, and data from UCI.
    versions : dict of str to str or None
        The versions that must be installed; None if they may differ.
    """

    cells: dict[str, Cell]
    files: tuple[SentFile, ...]
    versions: dict[str, str] | None

    @cached_property
    def name(self) -> str:
        """The name by which workers know it: a hash of its content."""
        content = pickle.dumps((self.cells, [file.path for file in self.files], self.versions))
        return f"zoloss-{hashlib.sha256(content).hexdigest()[:32]}"


def build_package(cells: Sequence[Cell], versions: dict[str, str] | None) -> RunPackage:
    """Return what workers need for the tasks of these cells.

    Parameters
    ----------
    cells : sequence of Cell
        The cells to run, planned here.
    versions : dict or None
        The versions that must be installed on workers.

    Raises
    ------
    DataError
        If a file changed since the cells were planned.
    """
    files: dict[DataSpec, SentFile] = {}
    packed = {cell.key: _pack_cell(cell, files) for cell in cells}
    return RunPackage(packed, _list_once(files.values()), versions)


def _list_once(files: Iterable[SentFile]) -> tuple[SentFile, ...]:
    return tuple({file.path: file for file in files}.values())


def _pack_cell(cell: Cell, files: dict[DataSpec, SentFile]) -> Cell:
    """Return the cell with the path of its file at the destination."""
    data = cell.data
    is_own = isinstance(data, CsvData)
    if not is_own and not (isinstance(data, EmbeddedData) and data.source == "uci"):
        return replace(cell)  # without what was computed here
    assert isinstance(data, CsvData | EmbeddedData)
    if data not in files:
        files[data] = _read_file(data, cell.identity["data"]["sha256"])
    if isinstance(data, CsvData):
        return replace(cell, data=data.model_copy(update={"csv": files[data].path}))
    return replace(cell)


def _read_file(data: CsvData | EmbeddedData, sha256: str) -> SentFile:
    path = find_data_path(data)
    content = read_content(path)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(describe_change(str(path)))
    return SentFile(
        name_sent_file(path, sha256), content, data.dataset if isinstance(data, EmbeddedData) else ""
    )
