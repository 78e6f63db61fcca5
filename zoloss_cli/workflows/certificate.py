"""Certificates of the fewest errors: what is written, and how one is read and checked."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np

from zoloss_cli.datasets.column_selection import ColumnSelection
from zoloss_cli.datasets.csv_table import CsvTable, read_for_training
from zoloss_cli.errors import ConfigError, DataError, ModelError
from zoloss_cli.learners.search.cone_workspace import Cone
from zoloss_cli.learners.search.exact_features import ExactFeatures
from zoloss_cli.workflows.fit import TableFit
from zoloss_cli.workflows.proof_checker import (
    RESET,
    MergedPlaces,
    RefutedProofError,
    check_cones,
    count_rule_copies,
    hash_samples,
    merge_places,
    read_exact_features,
)

FORMAT, VERSION = "zoloss certificate", 1
MAX_WEIGHT_DENOMINATOR = 1000
CERTIFYING_LEARNER = "certify"
FIELDS = {
    "data": dict,
    "reading": dict,
    "units": list,
    "rule": dict,
    "bound": int,
    "method": str,
    "proof": dict,
}


def prepare_features(table: CsvTable) -> ExactFeatures:
    """Return the features of a table as integers, for a proof about these."""
    return ExactFeatures(read_exact_features(table.X))


def find_class_copies(fitted: TableFit) -> list[int]:
    """Return the weights of both classes as integers."""
    if fitted.class_weights is None:
        return [1, 1]
    ratio = Fraction(float(fitted.class_weights[1] / fitted.class_weights[0])).limit_denominator(
        MAX_WEIGHT_DENOMINATOR
    )
    if abs(float(ratio) * fitted.class_weights[0] - fitted.class_weights[1]) > 1e-9 * fitted.class_weights[1]:
        raise DataError(
            "--certificate: the weights of the classes are no multiples of each other; choose whole numbers"
        )
    return [ratio.denominator, ratio.numerator]


def build_certificate(fitted: TableFit, features: ExactFeatures, reading: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate of the bound of a fit.

    Parameters
    ----------
    fitted : TableFit
        A fit of certify to a table with two classes.
    features : ExactFeatures
        The integers that it was fitted with, and its proof.
    reading : dict
        The options with which the table was read.

    Returns
    -------
    dict
        The certificate, which `check_certificate` accepts.
    """
    assert fitted.rule is not None  # certify is linear
    y, copies = fitted.y.tolist(), find_class_copies(fitted)
    places = merge_places(features.samples, y, copies)
    proof: dict[str, Any] = {}
    bound, method = places.unavoidable, "equal rows"
    if features.proof is not None:
        proof, factor = _describe_cones(fitted, features, places)
        bound, method = bound + factor * proof["target"], "cones of directions"
        proof["factor"] = factor
    rule = fitted.rule
    return {
        "format": FORMAT,
        "version": VERSION,
        "data": {
            "sha256": hash_samples(features.samples, y),
            "samples": len(y),
            "features": list(fitted.table.features),
            "classes": list(fitted.classes),
        },
        "reading": reading,
        "units": copies,
        "rule": {
            "weights": rule.weights.tolist(),
            "centre": rule.centre.tolist(),
            "at_centre": float(rule.at_centre),
        },
        "bound": bound,
        "method": method,
        "proof": proof,
    }


def _describe_cones(
    fitted: TableFit, features: ExactFeatures, places: MergedPlaces
) -> tuple[dict[str, Any], int]:
    """Return the proof of the cone search, and how many copies of the classes one of it stands for."""
    assert features.proof is not None
    problem, target, roots = features.proof
    merged = sorted({place for place, net in places.net.items() if net})
    first = {tuple(sample): i for i, sample in reversed(list(enumerate(features.samples)))}
    by_vector = {}
    for place in merged:
        by_vector[tuple(place[j] for j in problem.features)] = first[place]
    middle = _find_shift(problem.vectors, list(by_vector))
    indices = [by_vector[tuple(v + m for v, m in zip(x, middle, strict=True))] for x in problem.vectors]
    nets = [abs(places.net[tuple(features.samples[i])]) for i in indices]
    factor = gcd(*nets)
    if [n // factor for n in nets] != problem.copies.tolist():
        raise DataError(
            "--certificate: the weights have no common measure large enough; choose small whole numbers"
        )
    tree: list[int] = []
    for root in roots:
        _write_tree(root, tree)
    return {
        "left": indices[: problem.n_left],
        "right": indices[problem.n_left :],
        "features": problem.features,
        "vertices": problem.vertices,
        "target": target,
        "tree": tree,
    }, factor


def _find_shift(vectors: list[list[int]], places: list[tuple[int, ...]]) -> list[int]:
    """Return by how much the places are ahead of the vectors, which are the same but shifted."""
    return [
        min(place[k] for place in places) - min(vector[k] for vector in vectors) for k in range(len(vectors[0]))
    ]


def _write_tree(cone: Cone, tree: list[int]) -> None:
    tree.append(RESET)
    for part in cone.log:
        tree += part.tolist()
    for child in cone.children:
        _write_tree(child, tree)


def render_certificate(certificate: dict[str, Any]) -> bytes:
    """Return a certificate as the bytes of a compressed JSON file, the same for the same certificate."""
    return gzip.compress(json.dumps(certificate, separators=(",", ":")).encode(), mtime=0)


def describe_certificate(
    certificate: dict[str, Any], path: Path, data: Path, lower_bound: int | None
) -> list[str]:
    """Return notes about a certificate that was written, one of them if it proves less than the fit."""
    what = "makes at least {:,} errors" if certificate["units"] == [1, 1] else "misclassifies {:,} of weight"
    claim = what.format(certificate["bound"])
    notes = [f"{path} proves that every linear rule {claim}; check it with: zoloss verify {path} {data}"]
    if lower_bound is not None and lower_bound > certificate["bound"]:
        notes.append(
            f"{path} does not have the bound of {lower_bound:,}, which rests on impossible sets and a solver"
        )
    return notes


def read_certificate(path: Path) -> dict[str, Any]:
    """Return the certificate in a file, or raise ModelError if it is none."""
    try:
        content = path.read_bytes()
        text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        certificate = json.loads(text)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        raise ModelError(f"{path}: is damaged, or no certificate: {error}") from None
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        raise ModelError(f"{path}: is no certificate; `zoloss fit --certificate` writes one")
    if certificate.get("version") != VERSION:
        raise ModelError(
            f"{path}: has version {certificate.get('version')!r} of the format, and this zoloss reads {VERSION}"
        )
    for name, kind in FIELDS.items():
        if not isinstance(certificate.get(name), kind):
            raise ModelError(f"{path}: is damaged: there is no valid '{name}'")
    return certificate


@dataclass(frozen=True)
class CheckedCertificate:
    """What a certificate proves.

    Attributes
    ----------
    bound, loss : int
        Misclassified copies that every linear rule has, and those of the certificate's rule.
    errors : int
        Errors of the rule.
    is_weighted : bool
        Whether classes weigh differently.
    n_leaves : int
        Cones that were checked.
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
        What is proved; a certificate that proves less than it says is a ModelError.
    """
    certificate = read_certificate(path)
    try:
        table, y = _read_table(certificate["reading"], data)
        samples = read_exact_features(table.X)
        if hash_samples(samples, y) != certificate["data"].get("sha256"):
            raise ModelError(f"{path}: is about other data than {data}; it has another sha256")
        return _check_proof(certificate, samples, table.X, y)
    except RefutedProofError as error:
        raise ModelError(f"{path}: does not prove its bound: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelError(f"{path}: is damaged: {type(error).__name__}: {error}") from None


def _read_table(reading: dict[str, Any], data: Path) -> tuple[CsvTable, list[int]]:
    selection = ColumnSelection(tuple(reading["drop"]), tuple(reading["features"]), reading["id"])
    table = read_for_training(data, reading["label"], reading["missing"], selection=selection)
    y, classes = table.index_classes(reading["positive"])
    if len(classes) != 2:
        raise DataError(f"{data}: has {len(classes)} classes, and a certificate is about two")
    return table, y.tolist()


def _check_proof(
    certificate: dict[str, Any], samples: list[list[int]], X: np.ndarray, y: list[int]
) -> CheckedCertificate:
    copies, proof, bound = certificate["units"], certificate["proof"], certificate["bound"]
    if len(copies) != 2 or not all(type(count) is int and count > 0 for count in copies):
        raise RefutedProofError("the weights of the classes are no positive integers")
    places = merge_places(samples, y, copies)
    proved, n_leaves = places.unavoidable, 0
    if proof:
        factor, target = proof["factor"], proof["target"]
        if type(factor) is not int or type(target) is not int or factor < 1 or target < 0:
            raise RefutedProofError("the weights of the proof are no positive integers")
        n_leaves = check_cones(proof, samples, places, factor)
        proved += factor * target
    if bound != proved:
        raise RefutedProofError(f"it says {bound}, and proves {proved}")
    errors, loss = count_rule_copies(certificate["rule"], X, y, copies)
    if loss < bound:
        raise RefutedProofError("its rule has fewer errors than it says are needed")
    return CheckedCertificate(bound, loss, errors, copies[0] != copies[1], n_leaves, certificate["method"])


def render_check(checked: CheckedCertificate) -> str:
    """Return what a certificate proves, in two lines."""
    what = "of weight" if checked.is_weighted else "errors"
    makes = "loses" if checked.is_weighted else "makes"
    how = f"{checked.method}, {checked.n_leaves:,} cones checked" if checked.n_leaves else checked.method
    verdict = "proved optimal" if checked.loss == checked.bound else "not proved optimal"
    return (
        f"bound     every linear rule {makes} at least {checked.bound:,} {what}: proved ({how})\n"
        f"rule      that of the certificate {makes} {checked.loss:,} {what}: {verdict}"
    )


def check_certifying(learner: str | None) -> None:
    """Refuse a certificate of a learner that proves nothing."""
    if learner != CERTIFYING_LEARNER:
        raise ConfigError(
            f"--certificate: only the learner '{CERTIFYING_LEARNER}' proves a bound; add "
            f"--learner {CERTIFYING_LEARNER}"
        )
