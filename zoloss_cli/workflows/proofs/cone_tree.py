"""Check a proof by cones of directions: every leaf of the tree has enough pairs that conflict in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zoloss_cli.workflows.proofs.samples import MergedPlaces, RefutedProofError, count_rank, find_place

LEAF, SPLIT, RESET = 0, 1, 2
SPLIT_LENGTH = 7  # entries of a split
MAX_INT64 = 2**62
MAX_SHIFT = 100_000


class ExactColumns:
    """The scores of the samples in the directions that span a cone: integers of any size.

    Parameters
    ----------
    values : ndarray of shape (D, n), of int64 or of Python's integers
        One row a direction.
    largest : list of int
        Numbers that the size of no entry of a row exceeds.
    """

    __slots__ = ("largest", "values")

    def __init__(self, values: np.ndarray, largest: list[int]):
        self.values, self.largest = values, largest

    @classmethod
    def build(cls, columns: list[list[int]]) -> ExactColumns:
        """Return the columns of a cone of the first directions."""
        largest = [max(map(abs, column)) for column in columns]
        return cls(np.array(columns, dtype=np.int64 if max(largest) < MAX_INT64 else object), largest)

    def mix(self, a: int, p: int, b: int, q: int, divisor: int) -> tuple[np.ndarray, int]:
        """Return the scores in a new direction, (p A + q B) / divisor, and what no size of them exceeds."""
        largest = p * self.largest[a] + q * self.largest[b]
        # Products and their sum are below 2^62 then, and so is what is divided.
        kind = np.int64 if max(largest, p, q, divisor) < MAX_INT64 else object
        first, second = (self.values[k].astype(kind, copy=False) for k in (a, b))
        values = first * p + second * q
        if divisor > 1:
            if np.any(values % divisor):
                raise RefutedProofError("a direction is divided by what does not divide it")
            values //= divisor
        if divisor > 1 or kind is object:
            largest = int(max(values.max(), -values.min()))
            if largest < MAX_INT64:
                values = values.astype(np.int64)
        return values, largest

    def replace(self, place: int, column: np.ndarray, largest: int) -> ExactColumns:
        """Return the columns with one of them replaced."""
        sizes = [*self.largest[:place], largest, *self.largest[place + 1 :]]
        is_small = column.dtype != object and (self.values.dtype != object or max(sizes) < MAX_INT64)
        values = self.values.astype(np.int64 if is_small else object)
        values[place] = column
        return ExactColumns(values, sizes)


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
        self.columns = columns
        self.left, self.right = np.array(left_copies), np.array(right_copies)
        self.target, self.n_leaves = target, 0
        self._mates = np.full(len(left_copies), -1)

    def check(self, tree: Any) -> None:
        """Raise RefutedProofError unless the tree, cone by cone, proves the target."""
        entries = _read_entries(tree)
        waiting = [
            ExactColumns.build([column for k, column in enumerate(self.columns) if k != left_out])
            for left_out in reversed(range(len(self.columns)))
        ]
        at = 0
        while waiting:
            kind = self._read(entries, at, 1)[0]
            if kind == RESET:
                self._mates[:] = -1
                at += 1
            elif kind == LEAF:
                at = self._check_leaf(waiting.pop(), entries, at)
            elif kind == SPLIT:
                waiting += self._split(waiting.pop(), self._read(entries, at, SPLIT_LENGTH))
                at += SPLIT_LENGTH
            else:
                raise RefutedProofError("the tree has an entry of unknown kind")
        if at < len(entries):
            raise RefutedProofError("the tree goes on after its last cone")

    @staticmethod
    def _read(entries: np.ndarray, at: int, count: int) -> list[int]:
        found = entries[at : at + count].tolist()
        if len(found) < count:
            raise RefutedProofError("the tree ends before its last cone")
        return found

    def _split(self, cone: ExactColumns, entry: Sequence[int]) -> list[ExactColumns]:
        _, a, b, p, q, shift, divisor = entry
        D = len(cone.values)
        if not (0 <= a < D and 0 <= b < D and a != b):
            raise RefutedProofError("a cone is split at an edge that it does not have")
        if p < 1 or q < 1 or divisor < 1 or abs(shift) > MAX_SHIFT:
            raise RefutedProofError("a cone is split outside of its edge")
        new, largest = cone.mix(a, p << max(shift, 0), b, q << max(-shift, 0), divisor)
        return [cone.replace(a, new, largest), cone.replace(b, new, largest)]  # the last is next

    def _check_leaf(self, cone: ExactColumns, entries: np.ndarray, at: int) -> int:
        """Check a leaf, and return where the tree goes on."""
        n_pairs = self._read(entries, at, 2)[1]
        end = at + 2 + 2 * n_pairs
        if n_pairs < 0 or end > len(entries):
            raise RefutedProofError("the tree ends before its last cone")
        mates = self._mates
        if n_pairs:
            pairs = entries[at + 2 : end].reshape(n_pairs, 2)
            low, high = pairs.min(axis=0).tolist(), pairs.max(axis=0).tolist()
            if low[0] < 0 or high[0] >= len(mates) or low[1] < -1 or high[1] >= len(self.right):
                raise RefutedProofError("a pair has a sample that there is not")
            mates[pairs[:, 0].astype(np.int64)] = pairs[:, 1]
        lefts = (mates >= 0).nonzero()[0]
        if len(lefts) < self.target:
            raise RefutedProofError(f"a cone has {len(lefts)} pairs, and needs {self.target}")
        if len(lefts):
            rights = mates[lefts]
            if np.bincount(rights).max() > 1:
                raise RefutedProofError("a sample is in more pairs than it weighs copies")
            values = cone.values
            if (values.take(self.left[lefts], axis=1) > values.take(self.right[rights], axis=1)).any():
                raise RefutedProofError("a pair does not conflict in its cone")
        self.n_leaves += 1
        return end


def _read_entries(tree: Any) -> np.ndarray:
    """Return the entries of a tree as an array, of Python's integers where they do not fit in 64 bits."""
    if not isinstance(tree, list) or not set(map(type, tree)) <= {int}:
        raise RefutedProofError("the tree has something else than integers")
    is_small = not tree or max(max(tree), -min(tree)) < MAX_INT64
    return np.array(tree, dtype=np.int64 if is_small else object)


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
        The weight that one of the proof stands for.

    Returns
    -------
    int
        The number of leaves.
    """
    left, right = ([find_place(samples, i) for i in proof[side]] for side in ("left", "right"))
    signs = [{places.net[place] > 0 for place in side} for side in (left, right)]
    everything = left + right
    if (
        any(len(sign) != 1 for sign in signs)
        or signs[0] == signs[1]
        or not all(map(places.net.get, everything))
    ):
        raise RefutedProofError("the samples on each side are not of one class each")
    if len(set(everything)) < len(everything):
        raise RefutedProofError("a place is named twice")
    parts = _select_features(everything, proof["features"], len(samples[0]))
    vertices = proof["vertices"]
    _check_directions(vertices, len(parts[0]))
    columns = [[sum(map(int.__mul__, part, vertex)) for part in parts] for vertex in vertices]
    weights = [abs(places.net[place]) // factor for place in everything]
    copies = [
        [at for at in side for _ in range(weights[at])]
        for side in (range(len(left)), range(len(left), len(everything)))
    ]
    checker = ConeTreeChecker(columns, copies[0], copies[1], proof["target"])
    checker.check(proof["tree"])
    return checker.n_leaves


def _select_features(places: list[tuple[int, ...]], features: Any, n_features: int) -> list[list[int]]:
    """Return some features of the places, if they determine all others."""
    D = len(features)
    if len(set(features)) < D or not all(type(j) is int and 0 <= j < n_features for j in features):
        raise RefutedProofError("the features are not features of the samples")
    parts = [[place[j] for j in features] for place in places]
    if count_rank([[1, *p] for p in parts]) != D + 1 or count_rank([[1, *p] for p in places]) != D + 1:
        raise RefutedProofError("the features do not determine the others")
    return parts


def _check_directions(vertices: Any, D: int) -> None:
    """Refuse first directions that do not surround 0, whose cones would leave directions out."""
    if len(vertices) != D + 1 or any(len(v) != D or not set(map(type, v)) <= {int} for v in vertices):
        raise RefutedProofError("the first directions are not as many as there are features, and one more")
    if any(map(sum, zip(*vertices, strict=True))):
        raise RefutedProofError("the first directions do not surround 0")
    if count_rank(vertices) != D:
        raise RefutedProofError("the first directions do not span all others")
