"""Write certificates of the fewest errors, and check them with `zoloss_cli/proofs/check.py`."""

from __future__ import annotations

import contextlib
import gzip
import json
import shlex
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd
from pathlib import Path
from typing import Any

from zoloss_cli.api.fit import TableFit, Weighting
from zoloss_cli.data.read import PARQUET, ZIP, name_source, read_raw_table, read_source, resolve_table, unpack
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError, ModelError, ZolossError
from zoloss_cli.learners.search.samples import ExactFeatures
from zoloss_cli.proofs import check
from zoloss_cli.proofs.cones import Cone
from zoloss_cli.proofs.impossible_sets import BRANCH, GRAINS_PER_COPY

MAX_WEIGHT_DENOMINATOR = 1000
MAX_SAMPLES = 100_000
COMPRESSION = 6  # of gzip: 9 takes twice as long and saves 2 %
CERTIFYING_LEARNER = "certify"
LEAF, SPLIT, RESET = 0, 1, 2  # entries of a tree of cones
SPLIT_ENTRIES = 7  # of a split in the log of the search: kind, vertices, p, q, shift, divisor


def check_certifying(learner: str | None) -> None:
    """Reject a certificate for a learner that proves no bound."""
    if learner != CERTIFYING_LEARNER:
        raise ConfigError(
            f"--certificate: only the learner '{CERTIFYING_LEARNER}' proves a bound; add "
            f"--learner {CERTIFYING_LEARNER}"
        )


def check_provable(table: CsvTable, positive: str | None, weighting: Weighting) -> None:
    """Reject a table or weights that a certificate cannot cover, before any computation."""
    y, classes = table.index_classes(positive)
    weights = weighting.compute(y, classes)
    if len(classes) == 2:  # otherwise the learner itself reports the error
        find_class_weights(None if weights is None else weights.tolist())
    if len(table.X) > MAX_SAMPLES:
        raise DataError(
            f"--certificate: {table.path} has {len(table.X):,} samples, and a certificate covers at most "
            f"{MAX_SAMPLES:,}"
        )


def find_class_weights(weights: Sequence[float] | None) -> list[int]:
    """Return the weights of both classes as coprime integers."""
    if weights is None:
        return [1, 1]
    negative, positive = map(float, weights)
    ratio = Fraction(positive / negative).limit_denominator(MAX_WEIGHT_DENOMINATOR)
    if not ratio or abs(float(ratio) * negative - positive) > 1e-9 * positive:
        raise DataError(
            f"--certificate: the weights of the classes, {negative:.6g} and {positive:.6g}, are not "
            "integer multiples of a common unit; choose small integers"
        )
    return [ratio.denominator, ratio.numerator]


def build_certificate(fitted: TableFit, missing: str) -> dict[str, Any]:
    """Return a certificate of the lower bound of a fit."""
    rule, exact = fitted.rule, fitted.exact
    assert rule is not None, "certify is linear"
    assert exact is not None, "certify proves its bound for the values of the table"
    weights = find_class_weights(None if fitted.class_weights is None else fitted.class_weights.tolist())
    y = fitted.y.tolist()
    samples = check.Samples([tuple(sample) for sample in exact.samples], y, [], [])
    both: dict[check.Place, list[int]] = {}
    for place, label in zip(samples.places, y, strict=True):
        both.setdefault(place, [0, 0])[label] += weights[label]
    net = {place: positive - negative for place, (negative, positive) in both.items()}
    bound, method, proof = _choose_proof(exact, net, sum(map(min, both.values())))
    return {
        "format": check.FORMAT,
        "version": check.VERSION,
        "table": _describe_table(fitted, missing),
        "sha256": check.hash_samples(samples),
        "weights": weights,
        "bound": bound,
        "rule": {
            "weights": list(map(repr, rule.weights.tolist())),
            "centre": list(map(repr, rule.centre.tolist())),
            "at_centre": repr(float(rule.at_centre)),
        },
        "method": method,
        "proof": proof,
    }


def _describe_table(fitted: TableFit, missing: str) -> dict[str, Any]:
    """Return how the table is encoded: the label, the positive class, and each feature."""
    table, features, start = fitted.table, [], 0
    filled = {gap.start for gap in table.gaps}
    for column in table.columns:
        named: dict[str, Any] = {"column": column.name}
        if missing == "zero":
            named["fill"] = "0" if column.levels is None else ""
        elif start in filled:
            named["fill"] = column.fill if isinstance(column.fill, str) else repr(column.fill)
        features += [named] if column.levels is None else [{**named, "level": level} for level in column.levels]
        if column.is_marked:
            features.append({"column": column.name, "missing": "yes"})
        start += len(column.features)
    return {
        "label": table.label,
        "positive": fitted.classes[1],
        "features": features,
        "drop_missing": table.dropped > 0,
    }


def _choose_proof(
    exact: ExactFeatures, net: dict[check.Place, int], unavoidable: int
) -> tuple[int, str, dict[str, Any]]:
    """Return the highest bound with a stored proof, the method, and the proof."""
    found: list[tuple[int, str, dict[str, Any]]] = [(unavoidable, check.EQUAL_ROWS, {})]
    for method, proof in ((check.CONES, _describe_cones(exact, net)), (check.SETS, _describe_sets(exact, net))):
        if proof is not None:
            found.append((unavoidable + proof["factor"] * proof["target"], method, proof))
    if exact.n_swept is not None:
        factor = gcd(*filter(None, net.values()))
        found.append((unavoidable + factor * exact.n_swept, check.SWEEP, {}))
    return max(found, key=lambda each: each[0])


def _describe_cones(exact: ExactFeatures, net: dict[check.Place, int]) -> dict[str, Any] | None:
    """Return the proof of the cone search, if there is one."""
    if exact.proof is None:
        return None
    problem, target, roots, indices = exact.proof
    members = [indices[i] for i in problem.members.tolist()]
    tree: list[int] = []
    for root in roots:
        _write_tree(root, tree)
    return {
        "left": members[: problem.n_left],
        "right": members[problem.n_left :],
        "features": problem.features,
        "scales": [vertex[k] for k, vertex in enumerate(problem.vertices)],
        "target": target,
        "factor": _find_factor(members, problem.copies.tolist(), exact, net),
        "tree": tree,
    }


def _write_tree(cone: Cone, tree: list[int]) -> None:
    """Append the logs of a cone and its children to a tree, with shifts as powers of two."""
    tree.append(RESET)
    log = [entry for part in cone.log for entry in part.tolist()]
    at = 0
    while at < len(log):
        if log[at] == SPLIT:
            _, a, b, p, q, shift, divisor = log[at : at + SPLIT_ENTRIES]
            tree += [SPLIT, a, b, p << max(shift, 0), q << max(-shift, 0), divisor]
            at += SPLIT_ENTRIES
        else:
            stop = at + 2 + 2 * log[at + 1]
            tree += log[at:stop]
            at = stop
    for child in cone.children:
        _write_tree(child, tree)


def _describe_sets(exact: ExactFeatures, net: dict[check.Place, int]) -> dict[str, Any] | None:
    """Return the proof by impossible sets, if there is one, with only the sets that it uses."""
    if exact.hitting is None:
        return None
    proof, indices = exact.hitting
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
    return {
        "sets": [[[indices[i] for i in proof.sets[k][0]], proof.sets[k][1]] for k in numbers],
        "target": proof.target,
        "factor": _find_factor(indices, proof.copies, exact, net),
        "grains": GRAINS_PER_COPY,
        "tree": tree,
    }


def _find_factor(
    indices: list[int], copies: list[int], exact: ExactFeatures, net: dict[check.Place, int]
) -> int:
    """Return the weight of one copy in the proof, in units of the certificate."""
    nets = [abs(net[tuple(exact.samples[i])]) for i in indices]
    factor = gcd(*nets)
    if [weight // factor for weight in nets] != copies:
        raise DataError(
            "--certificate: the weights have no common unit that is large enough; choose small integers"
        )
    return factor


def render_certificate(certificate: dict[str, Any]) -> bytes:
    """Return a certificate as the bytes of a compressed JSON file, deterministically."""
    text = json.dumps(certificate, separators=(",", ":")).encode()
    packed = gzip.compress(text, compresslevel=COMPRESSION, mtime=0)
    # The checker limits the compression ratio: what compresses better is stored uncompressed.
    too_small = len(text) > max(check.FREE_BYTES, check.MAX_INFLATION * len(packed))
    return gzip.compress(text, compresslevel=0, mtime=0) if too_small else packed


def check_certificate(path: Path, data: Path) -> check.Proved:
    """Return what a certificate proves about a table; raise ModelError if it does not prove its bound."""
    with _report_refusal(ModelError, path):
        content = check.read_file(str(path), check.MAX_CERTIFICATE_BYTES)
        certificate = check.parse_certificate(content)
    table = resolve_table(data)
    source = unpack(name_source(table), read_source(table))
    with _report_refusal(DataError, table):
        if source.startswith((PARQUET, ZIP)):
            raw = read_raw_table(table, source)
            header = raw.header
            rows = [list(row) for row in zip(*(c.get_texts() for c in raw.columns), strict=True)]
        else:
            header, rows = check.parse_table(source, table.name.removesuffix(".gz"))
    with _report_refusal(ModelError, path):
        return check.check(certificate, header, rows, len(content))


@contextlib.contextmanager
def _report_refusal(kind: type[ZolossError], path: Path) -> Iterator[None]:
    """Add the file to an error of the checker, which imports nothing else of zoloss."""
    try:
        yield
    except check.RefusedError as error:
        raise kind(f"{path}: {error}") from None


def describe_certificate(
    certificate: dict[str, Any], path: Path, data: Path, lower_bound: int | None, has_errors: bool = True
) -> list[str]:
    """Return notes about a written certificate, including one if it proves less than the fit."""
    what = "makes at least {:,} errors" if certificate["weights"] == [1, 1] else "loses at least {:,} of weight"
    claim = what.format(certificate["bound"])
    if not certificate["bound"] and has_errors:
        return [
            f"{path} proves nothing yet: allow more time for a bound above 0 (--time-limit, --set time_limit=)"
        ]
    command = shlex.join(["zoloss", "verify", str(path), str(data)])
    notes = [f"{path} proves that every linear rule {claim}; check it with: {command}"]
    if lower_bound is not None and lower_bound > certificate["bound"]:
        notes.append(f"{path} does not prove the bound of {lower_bound:,}, whose proof was not kept")
    return notes
