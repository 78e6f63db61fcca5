"""Certificates of the fewest errors: reading them, and checking them against a table."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.datasets.column_selection import ColumnSelection
from zoloss_cli.datasets.csv_table import CsvTable, read_for_training
from zoloss_cli.errors import ConfigError, DataError, ModelError
from zoloss_cli.workflows.certificate import CONES, EQUAL_ROWS, FORMAT, SETS, SWEEP, VERSION
from zoloss_cli.workflows.proofs.cone_tree import check_cones
from zoloss_cli.workflows.proofs.hitting_tree import check_sets
from zoloss_cli.workflows.proofs.hyperplanes import count_fewest_copies
from zoloss_cli.workflows.proofs.samples import (
    RefutedProofError,
    count_rule_copies,
    hash_samples,
    merge_places,
    read_exact_features,
)

FIELDS = {
    "data": dict,
    "reading": dict,
    "units": list,
    "rule": dict,
    "bound": int,
    "method": str,
    "proof": dict,
}
GZIP_MARK = b"\x1f\x8b"
FREE_BYTES = 100_000_000  # that any file may unpack to
MAX_RATIO = 100  # of unpacked to packed bytes beyond that: certificates have a ratio of about ten
TREES = {CONES: (check_cones, "cones"), SETS: (check_sets, "leaves")}


def read_certificate(path: Path) -> dict[str, Any]:
    """Return the certificate in a file, or raise ModelError if it is not one."""
    try:
        content = path.read_bytes()
        certificate = json.loads(_unpack(path, content) if content[:2] == GZIP_MARK else content)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, RecursionError) as error:
        raise ModelError(f"{path}: is damaged or not a certificate: {error}") from None
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        raise ModelError(f"{path}: is not a certificate; `zoloss fit --certificate` writes one")
    if certificate.get("version") != VERSION:
        raise ModelError(
            f"{path}: has format version {certificate.get('version')!r}, but this zoloss reads {VERSION}; "
            f"check it with the zoloss that wrote it, or write it again with `zoloss fit --certificate`"
        )
    for name, kind in FIELDS.items():
        if type(certificate.get(name)) is not kind:
            raise ModelError(f"{path}: is damaged: there is no valid '{name}'")
    return certificate


def _unpack(path: Path, content: bytes) -> bytes:
    """Return the contents of a compressed file, and refuse one that holds far more than a certificate can."""
    limit = max(FREE_BYTES, MAX_RATIO * len(content))
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as file:
            found = file.read(limit + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ModelError(f"{path}: is damaged, or cut off: {error}") from None
    if len(found) > limit:
        raise ModelError(f"{path}: is not a certificate: it has more than {limit:,} bytes when unpacked")
    return found


@dataclass(frozen=True)
class CheckedCertificate:
    """What a certificate proves.

    Attributes
    ----------
    bound, loss : int
        Misclassified copies of every linear rule, at least, and those of the certificate's rule.
    errors : int
        Errors of the rule.
    is_weighted : bool
        Whether classes weigh differently.
    n_leaves : int
        Number of leaves checked.
    method : str
        How the bound is proved.
    """

    bound: int
    loss: int
    errors: int
    is_weighted: bool
    n_leaves: int
    method: str


def check_certificate(path: Path, data: Path) -> CheckedCertificate:
    """Check a certificate against a table.

    Parameters
    ----------
    path : Path
        The certificate.
    data : Path
        The table that it is about.

    Returns
    -------
    CheckedCertificate
        What is proved; a certificate that proves less than it claims is a ModelError.
    """
    certificate = read_certificate(path)
    try:
        table, y = _read_same_table(path, certificate["reading"], data)
        samples = read_exact_features(table.X)
        if hash_samples(samples, y) != certificate["data"]["sha256"]:
            raise ModelError(
                f"{path}: is about other data than {data}; check it with the table that it was made from"
            )
        return _check_proof(certificate, samples, table.X, y)
    except RefutedProofError as error:
        raise ModelError(f"{path}: does not prove its bound: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, MemoryError) as error:
        raise ModelError(f"{path}: is damaged: {type(error).__name__}: {error}") from None


def _read_table(reading: dict[str, Any], data: Path) -> tuple[CsvTable, list[int]]:
    selection = ColumnSelection(tuple(reading["drop"]), tuple(reading["features"]), reading["id"])
    table = read_for_training(data, reading["label"], reading["missing"], selection=selection)
    y, classes = table.index_classes(reading["positive"])
    if len(classes) != 2:
        raise DataError(f"{data}: has {len(classes)} classes, and a certificate is about two")
    return table, y.tolist()


def _read_same_table(path: Path, reading: dict[str, Any], data: Path) -> tuple[CsvTable, list[int]]:
    """Return a table read in the way that a certificate says; without its columns, it is another table."""
    try:
        return _read_table(reading, data)
    except (ConfigError, DataError) as error:
        if not data.is_file():
            raise
        raise ModelError(f"{path}: is about other data than {data}: {error}") from None


def _check_proof(
    certificate: dict[str, Any], samples: list[list[int]], X: np.ndarray, y: list[int]
) -> CheckedCertificate:
    copies, proof, method = certificate["units"], certificate["proof"], certificate["method"]
    if len(copies) != 2 or not all(type(count) is int and count > 0 for count in copies):
        raise RefutedProofError("the weights of the classes are not positive integers")
    places = merge_places(samples, y, copies)
    proved, n_leaves, bound = places.unavoidable, 0, certificate["bound"]
    if method in TREES:
        factor, target = proof["factor"], proof["target"]
        if type(factor) is not int or type(target) is not int or factor < 1 or target < 0:
            raise RefutedProofError("the weights of the proof are not positive integers")
        n_leaves = TREES[method][0](proof, samples, places, factor)
        proved += factor * target
    elif method == SWEEP:
        proved += count_fewest_copies(places)
    elif method != EQUAL_ROWS:
        raise RefutedProofError("it names an unknown method")
    if bound != proved:
        raise RefutedProofError(f"it claims {bound}, but proves {proved}")
    errors, loss = count_rule_copies(certificate["rule"], X, y, copies)
    if loss < bound:
        raise RefutedProofError("its rule has fewer errors than its bound")
    return CheckedCertificate(bound, loss, errors, copies[0] != copies[1], n_leaves, method)


def render_check(checked: CheckedCertificate) -> str:
    """Return what a certificate proves, in two lines."""
    what = "of weight" if checked.is_weighted else "errors"
    makes = "loses" if checked.is_weighted else "makes"
    how = checked.method
    if how in TREES:
        how += f", {checked.n_leaves:,} {TREES[how][1]} checked"
    verdict = "proved optimal" if checked.loss == checked.bound else "not proved optimal"
    return (
        f"bound     every linear rule {makes} at least {checked.bound:,} {what}: proved ({how})\n"
        f"rule      that of the certificate {makes} {checked.loss:,} {what}: {verdict}"
    )
