"""What is done: a results folder of plain text that survives any interruption.

results/
  zoloss.json          marks the folder as ours
  runs/<name>.json     one manifest a run: the resolved config, its cells, versions, times
  cells/<...>.jsonl    one file a cell: a header with the cell's identity, then one line a split

Lines are appended and flushed by one process at a time; everything else is written to a temporary file
and renamed. A torn line is dropped on load, a file that is not what its name says is set aside.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from zoloss_cli.config.models import METRICS
from zoloss_cli.errors import ResultsError
from zoloss_cli.experiment.plan import FORMAT, Cell, identity_key
from zoloss_cli.results.measured import is_sound
from zoloss_cli.utils.atomic_io import write_text

MARKER = "zoloss.json"
RUNS = "runs"
CELLS = "cells"
ASIDE = "set-aside"
# What may lie in a results folder without being ours: a place for the reference, notes, dot-files.
TOLERATED = {"README.md", "reference"}


@dataclass
class CellRows:
    """What a cell's file holds: finished splits, failed ones, and what had to be dropped."""

    rows: dict[int, dict] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    dropped_lines: int = 0
    fault: str = ""  # why the whole file cannot be used
    n_train: int = 0
    n_test: int = 0


class Store:
    """A results folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.notes: list[str] = []  # what was found and set right, for the user

    # -- the folder ---------------------------------------------------------------------------------

    def is_ours(self) -> bool:
        return (self.folder / MARKER).is_file()

    @contextlib.contextmanager
    def writing(self):
        """Prepare the folder and hold it: a second run into it is refused."""
        with _explained(self.folder):
            if self.folder.exists() and not self.folder.is_dir():
                raise ResultsError(f"{self.folder} is a file, not a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign()
            lock = FileLock(self.folder / ".lock", timeout=0)
            try:
                lock.acquire()
            except Timeout:
                raise ResultsError(
                    f"another run is writing to {self.folder}; wait for it or choose another --out"
                ) from None
            with lock:
                for sub in (RUNS, CELLS):
                    (self.folder / sub).mkdir(exist_ok=True)
                if not self.is_ours():
                    write_text(
                        self.folder / MARKER, json.dumps({"results_of": "zoloss", "format": FORMAT}) + "\n"
                    )
                yield self

    def _refuse_foreign(self) -> None:
        if self.is_ours():
            try:
                marker = json.loads((self.folder / MARKER).read_text(encoding="utf-8"))
                known = marker["format"] == FORMAT and marker["results_of"] == "zoloss"
            except (ValueError, KeyError, TypeError):
                known = False
            if not known:
                raise ResultsError(f"{self.folder / MARKER} is not of this version; choose another --out")
            return
        foreign = [
            p.name for p in self.folder.iterdir() if not p.name.startswith(".") and p.name not in TOLERATED
        ]
        if foreign:
            raise ResultsError(
                f"{self.folder} holds files that zoloss did not write (such as {sorted(foreign)[0]}); "
                f"choose another --out"
            )

    # -- cells --------------------------------------------------------------------------------------

    def path(self, filename: str) -> Path:
        return self.folder / CELLS / filename

    def read(self, filename: str, key: str) -> CellRows:
        """A cell's finished splits; never raises for damaged content, but says what was wrong."""
        return read_cell_file(self.path(filename), key)

    def open_cell(self, cell: Cell) -> CellRows:
        """As `read`, but leaves a clean file to append to: damage is set aside or cut off."""
        path = self.path(cell.filename)
        found = read_cell_file(path, cell.key)
        if found.fault:
            self.notes.append(f"{path} {found.fault}; moved to {self.set_aside(cell)}")
            return CellRows()
        if found.dropped_lines:
            self.notes.append(f"{path}: {found.dropped_lines} damaged line(s) dropped, their splits run again")
        if found.dropped_lines or found.failed:
            self._write_cell(path, cell.identity, found)
        return found

    def set_aside(self, cell: Cell) -> Path | None:
        """Move a cell's file out of the way without losing it; returns where it went."""
        path, folder = self.path(cell.filename), self.folder / ASIDE
        if not path.exists():
            return None
        folder.mkdir(exist_ok=True)
        taken = {p.name for p in folder.iterdir()}
        name = next(n for i in itertools.count() if (n := f"{path.name}.{i}" if i else path.name) not in taken)
        os.replace(path, folder / name)
        return folder / name

    def append(self, cell: Cell, rows: list[dict], sizes: tuple[int, int]) -> None:
        """Add rows to a cell's file and hand them to the operating system at once."""
        path = self.path(cell.filename)
        with _explained(path):
            text = "".join(_line(row) for row in rows)
            if not path.exists():
                text = _line(_header(cell.identity, *sizes)) + text
            with path.open("a", encoding="utf-8") as file:
                file.write(text)

    def tidy(self, cell: Cell) -> None:
        """Rewrite a cell's file with its splits in order."""
        path = self.path(cell.filename)
        found = read_cell_file(path, cell.key)
        if found.rows and not found.fault and list(found.rows) != sorted(found.rows):
            self._write_cell(path, cell.identity, found, keep_failed=True)

    def _write_cell(self, path: Path, identity: dict, found: CellRows, keep_failed: bool = False) -> None:
        lines = [_line(_header(identity, found.n_train, found.n_test))]
        lines += [_line(found.rows[k]) for k in sorted(found.rows)]
        if keep_failed:
            lines += [_line({"k": k, "failed": reason}) for k, reason in sorted(found.failed.items())]
        with _explained(path):
            write_text(path, "".join(lines))

    # -- manifests ----------------------------------------------------------------------------------

    def write_manifest(self, name: str, manifest: dict) -> Path:
        path = self.folder / RUNS / f"{name}.json"
        with _explained(path):
            write_text(path, json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
        return path

    def earlier_runs(self, name: str, keys: set[str]) -> list[dict]:
        """The runs that the manifest of this name knows of, if it is about any of these cells."""
        return next(
            (
                m["runs"]
                for m in self.manifests()
                if m["experiment"]["name"] == name and keys & {cell["key"] for cell in m["cells"]}
            ),
            [],
        )

    def manifests(self) -> list[dict]:
        """All manifests, those that cannot be read left out and noted."""
        found = []
        for path in sorted((self.folder / RUNS).glob("*.json")):
            try:
                manifest = json.loads(path.read_text(encoding="utf-8"))
                if manifest["format"] != FORMAT:
                    raise ValueError
                _check_manifest(manifest)
            except (ValueError, KeyError, TypeError, OSError):
                self.notes.append(f"{path} is not a manifest of this version of zoloss; left out")
                continue
            found.append(manifest)
        return found


def _check_manifest(manifest: dict) -> None:
    """Whether those who read it find what they need."""
    for cell in manifest["cells"]:
        cell["dataset"], cell["learner"], cell["key"], cell["file"]
    for run in manifest["runs"]:
        run["finished"][:16], run["zoloss"], run["python"], run["platform"], dict(run["packages"])
        float(run["seconds"]), int(run["jobs"])
    experiment = manifest["experiment"]
    if experiment["metric"] not in METRICS:
        raise ValueError
    experiment["name"], experiment["title"], int(experiment["split"]["repeats"]), experiment["split"]["seed"]
    [data["name"] for data in experiment["datasets"]], [x["label"] for x in experiment["learners"]]


def read_cell_file(path: Path, key: str) -> CellRows:
    found = CellRows()
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return found
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}") from None
    lines = raw.split(b"\n")
    complete, tail = lines[:-1], lines[-1]
    header = _parse(complete[0]) if complete else None
    if header is None:
        # A run killed within its first write leaves at most a piece of a header, and no split.
        found.fault = "has no readable header"
        return found
    if header.get("format") != FORMAT:
        found.fault = "was written by another version of zoloss"
        return found
    if identity_key(header.get("identity") or {}) != key:
        found.fault = "is not the cell that its name says"
        return found
    try:
        found.n_train, found.n_test = int(header["n_train"]), int(header["n_test"])
    except (KeyError, TypeError, ValueError):
        found.fault = "has no readable header"
        return found
    for row in _parse_all(complete[1:]):
        k = row.get("k") if row else None
        if not isinstance(k, int) or isinstance(k, bool) or k < 0:
            found.dropped_lines += 1
        elif isinstance(row.get("failed"), str):
            found.failed[k] = row["failed"]
        elif _learned(row, found) or is_sound(row.get("measured")):
            found.rows[k] = row
        else:
            found.dropped_lines += 1
    found.dropped_lines += bool(tail)
    for k in found.rows:
        found.failed.pop(k, None)
    return found


def _parse_all(lines: list[bytes]) -> list[dict | None]:
    """Every line's row. Good lines, which nearly all are, are much faster to read together."""
    with contextlib.suppress(ValueError, RecursionError):
        rows = json.loads(b"[" + b",".join(lines) + b"]")
        if len(rows) == len(lines) and all(isinstance(row, dict) for row in rows):
            return rows
    return [_parse(line) for line in lines]


def _counts(row: dict, part: str, most: int) -> bool:
    value = row.get(part)
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _learned(row: dict, found: CellRows) -> bool:
    return _counts(row, "train", found.n_train) and _tested(row, found.n_test)


def _tested(row: dict, n_test: int) -> bool:
    """Where all rows train there is no test count."""
    return _counts(row, "test", n_test) if n_test else "test" not in row


def _parse(line: bytes) -> dict | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _header(identity: dict, n_train: int, n_test: int) -> dict:
    return {"format": FORMAT, "n_train": n_train, "n_test": n_test, "identity": identity}


def _line(row: dict) -> str:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n"


@contextlib.contextmanager
def _explained(path: Path):
    """File system trouble as one sentence."""
    try:
        yield
    except OSError as error:
        raise ResultsError(
            f"cannot write to {path}: {error.strerror or error}; what was finished before is kept"
        ) from None
