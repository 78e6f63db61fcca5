"""Certificates of the fewest errors: writing them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from pathlib import Path
from typing import Any

from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.learners.search.cone_workspace import Cone
from zoloss_cli.learners.search.exact_features import ExactFeatures
from zoloss_cli.learners.search.hitting_tree import BRANCH, GRAINS_PER_COPY
from zoloss_cli.workflows.class_weights import Weighting
from zoloss_cli.workflows.fit import TableFit
from zoloss_cli.workflows.proofs.cone_tree import RESET
from zoloss_cli.workflows.proofs.hyperplanes import MAX_STEPS, count_fewest_copies
from zoloss_cli.workflows.proofs.samples import MergedPlaces, hash_samples, merge_places, read_exact_features

FORMAT, VERSION = "zoloss certificate", 2  # 2: proofs by impossible sets and by sweeps
MAX_WEIGHT_DENOMINATOR = 1000
MAX_SAMPLES = 100_000
COMPRESSION = 6  # of gzip: 9 takes twice as long and saves 2 %
CERTIFYING_LEARNER = "certify"
EQUAL_ROWS, CONES, SETS, SWEEP = "equal rows", "cones of directions", "impossible sets", "all hyperplanes"


def check_certifying(learner: str | None) -> None:
    """Refuse a certificate for a learner that proves nothing."""
    if learner != CERTIFYING_LEARNER:
        raise ConfigError(
            f"--certificate: only the learner '{CERTIFYING_LEARNER}' proves a bound; add "
            f"--learner {CERTIFYING_LEARNER}"
        )


def prepare_features(
    table: CsvTable, positive: str | None = None, weighting: Weighting | None = None
) -> ExactFeatures:
    """Return the features of a table as integers, for a proof about them.

    Parameters
    ----------
    table : CsvTable
        The table.
    positive : str or None
        The class against the rest.
    weighting : Weighting or None
        The class weights, which must be multiples of a common measure.

    Returns
    -------
    ExactFeatures
        The integers, to which a fit adds its proofs.
    """
    y, classes = table.index_classes(positive)
    weights = (weighting or Weighting()).compute(y, classes)
    if len(classes) == 2:  # otherwise the learner reports what it takes
        find_class_copies(None if weights is None else weights.tolist())
    if len(table.X) > MAX_SAMPLES:
        raise DataError(
            f"--certificate: {table.path} has {len(table.X):,} samples, and a certificate is about at most "
            f"{MAX_SAMPLES:,}"
        )
    return ExactFeatures(read_exact_features(table.X), max_swept=MAX_STEPS)


def find_class_copies(weights: Sequence[float] | None) -> list[int]:
    """Return the weights of both classes as integers.

    Parameters
    ----------
    weights : sequence of float or None
        The weight of a sample of each class; None if all are equal.

    Returns
    -------
    list of int
        The weights, as small integers with the same ratio.
    """
    if weights is None:
        return [1, 1]
    negative, positive = map(float, weights)
    ratio = Fraction(positive / negative).limit_denominator(MAX_WEIGHT_DENOMINATOR)
    if not ratio or abs(float(ratio) * negative - positive) > 1e-9 * positive:
        raise DataError(
            f"--certificate: the weights of the classes, {negative:.6g} and {positive:.6g}, are not "
            "multiples of a common measure; choose small whole numbers"
        )
    return [ratio.denominator, ratio.numerator]


def build_certificate(fitted: TableFit, features: ExactFeatures, reading: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate of the bound of a fit.

    Parameters
    ----------
    fitted : TableFit
        A fit of certify to a table with two classes.
    features : ExactFeatures
        The integers that it was fitted with, and its proofs.
    reading : dict
        The options with which the table was read.

    Returns
    -------
    dict
        The certificate, which `check_certificate` accepts.
    """
    rule = fitted.rule
    assert rule is not None  # certify is linear
    y = fitted.y.tolist()
    copies = find_class_copies(None if fitted.class_weights is None else fitted.class_weights.tolist())
    places = merge_places(features.samples, y, copies)
    bound, method, proof = _choose_proof(features, places)
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


def _choose_proof(features: ExactFeatures, places: MergedPlaces) -> tuple[int, str, dict[str, Any]]:
    """Return the highest bound with a stored proof, what it rests on, and the proof."""
    found: list[tuple[int, str, dict[str, Any]]] = [(places.unavoidable, EQUAL_ROWS, {})]
    for method, proof in (
        (CONES, _describe_cones(features, places)),
        (SETS, _describe_sets(features, places)),
    ):
        if proof is not None:
            found.append((places.unavoidable + proof["factor"] * proof["target"], method, proof))
    if features.is_swept:
        found.append((places.unavoidable + count_fewest_copies(places), SWEEP, {}))
    return max(found, key=lambda each: each[0])


def _describe_cones(features: ExactFeatures, places: MergedPlaces) -> dict[str, Any] | None:
    """Return the proof of the cone search, if there is one."""
    if features.proof is None:
        return None
    problem, target, roots = features.proof
    merged = sorted({place for place, net in places.net.items() if net})
    first = {tuple(sample): i for i, sample in reversed(list(enumerate(features.samples)))}
    by_vector = {}
    for place in merged:
        by_vector[tuple(place[j] for j in problem.features)] = first[place]
    middle = _find_shift(problem.vectors, list(by_vector))
    vectors = [tuple(v + m for v, m in zip(x, middle, strict=True)) for x in problem.vectors]
    indices = [by_vector.get(vector, -1) for vector in vectors]
    factor = _find_factor(indices, problem.copies.tolist(), features, places)
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
        "factor": factor,
    }


def _describe_sets(features: ExactFeatures, places: MergedPlaces) -> dict[str, Any] | None:
    """Return the proof by impossible sets, if there is one, with only the sets that it uses."""
    if features.hitting is None:
        return None
    proof, indices = features.hitting
    factor = _find_factor(indices, proof.copies, features, places)
    numbers: dict[int, int] = {}
    tree, at = [], 0
    while at < len(proof.entries):
        kind, count = proof.entries[at : at + 2]
        at += 2
        if kind == BRANCH:
            tree += [kind, indices[count]]
            continue
        tree += [kind, count]
        for number, weight in zip(*[iter(proof.entries[at : at + 2 * count])] * 2, strict=True):
            tree += [numbers.setdefault(number, len(numbers)), weight]
        at += 2 * count
    sets = [[[indices[i] for i in proof.sets[k][0]], proof.sets[k][1]] for k in numbers]
    return {
        "sets": sets,
        "target": proof.target,
        "grains": GRAINS_PER_COPY,
        "tree": tree,
        "factor": factor,
    }


def _find_factor(indices: list[int], copies: list[int], features: ExactFeatures, places: MergedPlaces) -> int:
    """Return the weight of a copy of a proof in copies of the certificate.

    Parameters
    ----------
    indices : list of int
        The samples that represent their places; -1 for none.
    copies : list of int
        The weights of the places in the proof.
    features : ExactFeatures
        All samples.
    places : MergedPlaces
        The weights of the places in the certificate.

    Returns
    -------
    int
        The factor.
    """
    found = [tuple(features.samples[i]) for i in indices if i >= 0]
    if len(set(found)) < len(copies) or len(copies) < sum(map(bool, places.net.values())):
        raise DataError(
            "--certificate: some samples differ by less than the rounding of scaled features; add --scale none"
        )
    nets = [abs(places.net[place]) for place in found]
    factor = gcd(*nets)
    if [net // factor for net in nets] != copies:
        raise DataError(
            "--certificate: the weights have no common measure large enough; choose small whole numbers"
        )
    return factor


def _find_shift(vectors: list[list[int]], places: list[tuple[int, ...]]) -> list[int]:
    """Return the shift from the vectors to the places, which are otherwise the same."""
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
    text = json.dumps(certificate, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=COMPRESSION, mtime=0)


def describe_certificate(
    certificate: dict[str, Any], path: Path, data: Path, lower_bound: int | None, has_errors: bool = True
) -> list[str]:
    """Return notes about a written certificate, including one if it proves less than the fit.

    Parameters
    ----------
    certificate : dict
        The certificate.
    path, data : Path
        Its path, and the table that it is about.
    lower_bound : int or None
        The bound of the fit; None if it is not a bound on errors.
    has_errors : bool
        Whether the rule has training errors.

    Returns
    -------
    list of str
        The notes.
    """
    what = "makes at least {:,} errors" if certificate["units"] == [1, 1] else "loses at least {:,} of weight"
    claim = what.format(certificate["bound"])
    if not certificate["bound"] and has_errors:
        return [
            f"{path} proves nothing yet: allow more time for a bound above 0 (--time-limit, --set time_limit=)"
        ]
    notes = [f"{path} proves that every linear rule {claim}; check it with: zoloss verify {path} {data}"]
    if lower_bound is not None and lower_bound > certificate["bound"]:
        notes.append(f"{path} does not prove the bound of {lower_bound:,}, whose proof was not kept")
    return notes
