"""Convert a results folder of zoloss 0.1 to the current layout: the same records under the current names.

Manifests of the current layout that were written before check values existed get them.

Nothing is recomputed. Files are written one by one next to the old ones and renamed, the folder's marker
last: an interrupted conversion continues where it stopped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from zoloss_cli.errors import ResultsError
from zoloss_cli.registry import MEASURES, METRIC_ALIASES
from zoloss_cli.results.manifest import append_check, decode_manifest
from zoloss_cli.results.record import (
    FORMAT,
    CellHeader,
    FailedRecord,
    FitRecord,
    MeasureRecord,
    encode_line,
    hash_identity,
)
from zoloss_cli.results.store import (
    CELLS,
    MAX_CELL_BYTES,
    MAX_MANIFEST_BYTES,
    RUNS,
    Store,
    explain_os_errors,
)
from zoloss_cli.utils.files import FileError, read_file, write_text

OLD_FORMAT = 1
RECORD_KEYS = {
    "k": "split",
    "train": "train_errors",
    "test": "test_errors",
    "lenient": "train_errors_lenient",
    "pruned": "n_pruned",
    "flipped": "n_flipped",
    "caught": "n_flipped_pruned",
    "unseen": "n_unseen",
    "tuned": "choice",
    "seconds": "fit_time",
    "reached": "time_to_best",
    "unsplit": "n_unsplit",
    "s": "wall_time",
}
_UNREADABLE = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OSError, FileError),
    msgspec.MsgspecError,
)


def migrate(folder: Path) -> list[str]:
    """Convert a folder of zoloss 0.1 in place.

    Parameters
    ----------
    folder : Path
        The results folder.

    Returns
    -------
    list of str
        What was done, and what could not be converted and was left unchanged.
    """
    store = Store(folder)
    if not store.is_ours():
        raise ResultsError(f"{folder} is not a results folder")
    try:
        store.check_format()
        return _add_checks(folder)
    except ResultsError as error:
        if "zoloss migrate" not in str(error):
            raise
    notes: list[str] = []
    converted = {CELLS: 0, RUNS: 0}
    for sub, pattern, convert in ((CELLS, "*.jsonl", _convert_cell), (RUNS, "*.json", _convert_manifest)):
        for path in sorted((folder / sub).glob(pattern)):
            try:
                text = convert(path, notes)
            except _UNREADABLE as error:
                reason = f"it has no {error}" if isinstance(error, KeyError) else error
                notes.append(f"{path} could not be converted and is left as it is: {reason}")
                continue
            if text is not None:
                with explain_os_errors(path):
                    write_text(path, text)
            converted[sub] += 1
    with explain_os_errors(folder):
        store.write_marker()
    return [f"{folder}: {converted[CELLS]:,} cells and {converted[RUNS]:,} manifests converted", *notes]


def _add_checks(folder: Path) -> list[str]:
    """Add check values to manifests of the current layout that have none."""
    notes: list[str] = []
    n_added = 0
    for path in sorted((folder / RUNS).glob("*.json")):
        try:
            content = read_file(path, MAX_MANIFEST_BYTES)
            if decode_manifest(content).is_checked:
                continue
            text = append_check(json.dumps(json.loads(content), indent=1, ensure_ascii=False) + "\n")
        except _UNREADABLE as error:
            notes.append(f"{path} is left as it is: {error}")
            continue
        with explain_os_errors(path):
            write_text(path, text)
        n_added += 1
    if not n_added:
        return [f"{folder} has the current layout already", *notes]
    manifests = f"{n_added:,} manifest{'s' * (n_added > 1)}"
    return [f"{folder} has the current layout; check values added to {manifests}", *notes]


def _convert_cell(path: Path, notes: list[str]) -> str | None:
    """Return a cell's file in the current layout, or None if it already has it; damaged lines are dropped."""
    header, *lines = read_file(path, MAX_CELL_BYTES).split(b"\n")
    old = json.loads(header)
    if old["format"] == FORMAT:
        return None
    if old["format"] != OLD_FORMAT or hash_identity(old["identity"]) not in path.name:
        raise ValueError("it is not the cell that its name says")
    kind = "measure" if old["identity"]["learner"] in MEASURES else "fit"
    new_header = msgspec.convert(old | {"format": FORMAT, "kind": kind}, CellHeader)
    records = [_convert_record(line) for line in lines if line]
    if dropped := records.count(None):
        notes.append(f"{path}: {dropped} damaged line{'s' * (dropped > 1)} dropped")
    kept = [record for record in records if record is not None]
    return b"".join(map(encode_line, [new_header, *kept])).decode()


def _convert_record(line: bytes) -> msgspec.Struct | None:
    try:
        record = {RECORD_KEYS.get(key, key): value for key, value in json.loads(line).items()}
        kind = FailedRecord if "failed" in record else MeasureRecord if "measured" in record else FitRecord
        return msgspec.convert(record, kind)
    except (ValueError, AttributeError, msgspec.MsgspecError, RecursionError):
        return None


def _convert_manifest(path: Path, notes: list[str]) -> str | None:
    """Return a manifest in the current layout, or None if it already has it."""
    manifest: dict[str, Any] = json.loads(read_file(path, MAX_MANIFEST_BYTES))
    if manifest["format"] == FORMAT:
        return None
    if manifest["format"] != OLD_FORMAT:
        raise ValueError(f"its format is {manifest['format']}")
    experiment = manifest["experiment"]
    for key in ("metric", "also"):
        experiment[key] = METRIC_ALIASES.get(experiment.get(key), experiment.get(key))
    for run in manifest["runs"]:
        run["tasks"] = run.pop("units")
    manifest["format"] = FORMAT
    text = append_check(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    decode_manifest(text.encode())
    return text
