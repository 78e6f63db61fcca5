"""Check a certificate of the fewest errors against the samples, in integers.

This module shares no code with the search that finds proofs: it imports neither kernels nor learners, and uses
no floating point. What it checks, and why that suffices, is described in docs/proofs.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

LEAF, SPLIT, RESET = 0, 1, 2
MAX_INT64 = 2**62
MAX_SHIFT = 100_000


class RefutedProofError(Exception):
    """A certificate does not prove what it says; the message says where it fails."""


def read_exact_features(X: np.ndarray) -> list[list[int]]:
    """Return the samples as integers: each feature from its least value on, in steps of its greatest divisor.

    A value is the shortest decimal number that is read as it, which is how it stands in a table.
    """
    columns = []
    for values in np.asarray(X, dtype=float).T.tolist():
        exact = [Fraction(Decimal(repr(value))) for value in values]
        denominator = lcm(*(value.denominator for value in exact))
        whole = [int(value * denominator) for value in exact]
        least = min(whole)
        step = gcd(*(value - least for value in whole)) or 1
        columns.append([(value - least) // step for value in whole])
    return [list(sample) for sample in zip(*columns, strict=True)]


def hash_samples(samples: list[list[int]], y: Sequence[int]) -> str:
    """Return the sha256 of samples of integers and their classes."""
    lines = (",".join(map(str, [*sample, label])) for sample, label in zip(samples, y, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True)
class MergedPlaces:
    """What samples in one place weigh, by place.

    Attributes
    ----------
    net : dict of {tuple of int: int}
        The copies by which the positive class is ahead of the negative one.
    unavoidable : int
        The copies that are misclassified whatever the rule is.
    """

    net: dict[tuple[int, ...], int]
    unavoidable: int


def merge_places(samples: list[list[int]], y: Sequence[int], copies: Sequence[int]) -> MergedPlaces:
    """Merge samples in one place, where only the heavier class can be right."""
    totals: dict[tuple[int, ...], list[int]] = {}
    for sample, label in zip(samples, y, strict=True):
        totals.setdefault(tuple(sample), [0, 0])[label] += copies[label]
    return MergedPlaces(
        {place: positive - negative for place, (negative, positive) in totals.items()},
        sum(min(both) for both in totals.values()),
    )


def count_rank(rows: list[list[int]]) -> int:
    """Return the rank of rows of integers, by elimination in fractions."""
    basis: list[tuple[int, list[Fraction]]] = []
    for row in rows:
        rest = [Fraction(value) for value in row]
        for pivot, other in basis:
            if rest[pivot]:
                factor = rest[pivot]
                rest = [value - factor * o for value, o in zip(rest, other, strict=True)]
        lead = next((k for k, value in enumerate(rest) if value), None)
        if lead is not None:
            basis.append((lead, [value / rest[lead] for value in rest]))
    return len(basis)


class _ExactColumn:
    """The scores of the samples in one direction, which are integers of any size."""

    __slots__ = ("largest", "values")

    def __init__(self, values: np.ndarray, largest: int):
        self.values, self.largest = values, largest

    @classmethod
    def build(cls, values: list[int]) -> _ExactColumn:
        largest = max(map(abs, values))
        return cls(np.array(values, dtype=np.int64 if largest < MAX_INT64 else object), largest)

    def mix(self, p: int, other: _ExactColumn, q: int, divisor: int) -> _ExactColumn:
        largest = p * self.largest + q * other.largest
        kind = np.int64 if max(largest, p, q, divisor) < MAX_INT64 else object
        values = self.values.astype(kind, copy=False) * p + other.values.astype(kind, copy=False) * q
        if divisor > 1:
            if np.any(values % divisor):
                raise RefutedProofError("a direction is divided by what does not divide it")
            values //= divisor
        if divisor > 1 or kind is object:
            largest = int(max(values.max(), -values.min()))
            if largest < MAX_INT64:
                values = values.astype(np.int64)
        return _ExactColumn(values, largest)


class ConeTreeChecker:
    """Goes through a tree of cones once, and checks that every leaf has enough conflicting pairs.

    Parameters
    ----------
    columns : list of list of int
        The scores of the samples at the D + 1 first directions.
    left_copies, right_copies : list of int
        The places in a column of the samples of each copy.
    target : int
        The pairs that each leaf needs.
    """

    def __init__(self, columns: list[list[int]], left_copies: list[int], right_copies: list[int], target: int):
        self.roots = [_ExactColumn.build(column) for column in columns]
        self.left, self.right = np.array(left_copies), np.array(right_copies)
        self.target, self.n_leaves = target, 0
        self._mates = np.full(len(left_copies), -1)

    def check(self, tree: Sequence[int]) -> None:
        """Raise RefutedProofError unless the tree, cone by cone, proves the target."""
        entries = iter(tree)
        waiting = [
            [column for k, column in enumerate(self.roots) if k != left_out]
            for left_out in reversed(range(len(self.roots)))
        ]
        while waiting:
            kind = self._read(entries)
            if kind == RESET:
                self._mates[:] = -1
                continue
            cone = waiting.pop()
            if kind == LEAF:
                self._check_leaf(cone, entries)
            elif kind == SPLIT:
                waiting += reversed(self._split(cone, entries))
            else:
                raise RefutedProofError("the tree has an entry of unknown kind")
        if next(entries, None) is not None:
            raise RefutedProofError("the tree goes on after its last cone")

    def _read(self, entries: Iterator[int]) -> int:
        value = next(entries, None)
        if not isinstance(value, int) or isinstance(value, bool):
            raise RefutedProofError("the tree ends before its last cone" if value is None else "no integer")
        return value

    def _split(self, cone: list[_ExactColumn], entries: Iterator[int]) -> list[list[_ExactColumn]]:
        a, b, p, q, shift, divisor = (self._read(entries) for _ in range(6))
        if not (0 <= a < len(cone) and 0 <= b < len(cone) and a != b):
            raise RefutedProofError("a cone is split at an edge that it does not have")
        if p < 1 or q < 1 or divisor < 1 or abs(shift) > MAX_SHIFT:
            raise RefutedProofError("a cone is split outside of its edge")
        new = cone[a].mix(p << max(shift, 0), cone[b], q << max(-shift, 0), divisor)
        return [[*cone[:b], new, *cone[b + 1 :]], [*cone[:a], new, *cone[a + 1 :]]]

    def _check_leaf(self, cone: list[_ExactColumn], entries: Iterator[int]) -> None:
        for _ in range(self._read(entries)):
            left, right = self._read(entries), self._read(entries)
            if not (0 <= left < len(self._mates) and -1 <= right < len(self.right)):
                raise RefutedProofError("a pair has a sample that there is not")
            self._mates[left] = right
        lefts = np.flatnonzero(self._mates >= 0)
        rights = self._mates[lefts]
        if len(lefts) < self.target:
            raise RefutedProofError(f"a cone has {len(lefts)} pairs, and needs {self.target}")
        if np.bincount(rights, minlength=1).max() > 1:
            raise RefutedProofError("a sample is in more pairs than it weighs copies")
        above, below = self.right[rights], self.left[lefts]
        for column in cone:
            if not np.all(column.values[below] <= column.values[above]):
                raise RefutedProofError("a pair does not conflict in its cone")
        self.n_leaves += 1


def check_cones(proof: dict[str, Any], samples: list[list[int]], places: MergedPlaces, factor: int) -> int:
    """Check a proof by cones of directions.

    Parameters
    ----------
    proof : dict
        Has left, right (indices of samples), features, vertices, target and tree.
    samples : list of list of int
        All samples.
    places : MergedPlaces
        Their weights.
    factor : int
        The of weight that one of the proof stands for.

    Returns
    -------
    int
        The number of leaves.
    """
    chosen = [[tuple(samples[i]) for i in proof[side]] for side in ("left", "right")]
    signs = [{places.net[place] > 0 for place in side} for side in chosen]
    if any(len(sign) != 1 for sign in signs) or signs[0] == signs[1]:
        raise RefutedProofError("the samples on each side are not of one class each")
    everything = chosen[0] + chosen[1]
    if len(set(everything)) < len(everything):
        raise RefutedProofError("a place is named twice")
    features, D = proof["features"], len(proof["features"])
    if len(set(features)) < D or not all(0 <= j < len(samples[0]) for j in features):
        raise RefutedProofError("the features are not features of the samples")
    parts = [[place[j] for j in features] for place in everything]
    if count_rank([[1, *p] for p in parts]) != D + 1 or count_rank([[1, *p] for p in everything]) != D + 1:
        raise RefutedProofError("the features do not determine the others")
    vertices = proof["vertices"]
    if (
        len(vertices) != D + 1
        or any(len(v) != D for v in vertices)
        or any(map(sum, zip(*vertices, strict=True)))
    ):
        raise RefutedProofError("the first directions do not surround 0")
    if count_rank(vertices) != D:
        raise RefutedProofError("the first directions do not span all others")
    columns = [[sum(x * v for x, v in zip(p, vertex, strict=True)) for p in parts] for vertex in vertices]
    columns = [[*column, *vertex] for column, vertex in zip(columns, vertices, strict=True)]
    weights = [abs(places.net[place]) // factor for place in everything]
    copies = [[at for at in side for _ in range(weights[at])] for side in _split_places(chosen)]
    checker = ConeTreeChecker(columns, copies[0], copies[1], proof["target"])
    checker.check(proof["tree"])
    return checker.n_leaves


def _split_places(chosen: list[list[tuple[int, ...]]]) -> tuple[range, range]:
    n_left = len(chosen[0])
    return range(n_left), range(n_left, n_left + len(chosen[1]))


def count_rule_copies(
    rule: dict[str, Any], X: np.ndarray, y: Sequence[int], copies: Sequence[int]
) -> tuple[int, int]:
    """Return the errors and the misclassified copies of a linear rule, where a score of 0 is an error."""
    weights = [Fraction(w) for w in rule["weights"]]
    centre = [Fraction(c) for c in rule["centre"]]
    offset = Fraction(rule["at_centre"]) - sum(
        (w * c for w, c in zip(weights, centre, strict=True)), Fraction(0)
    )
    errors = lost = 0
    for sample, label in zip(np.asarray(X, dtype=float).tolist(), y, strict=True):
        exact = (Fraction(Decimal(repr(value))) for value in sample)
        score = offset + sum((w * x for w, x in zip(weights, exact, strict=True)), Fraction(0))
        if (score if label == 1 else -score) <= 0:
            errors += 1
            lost += copies[label]
    return errors, lost
