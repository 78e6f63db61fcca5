"""Check a proof by cones of directions: every leaf of the tree must have enough conflicting pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
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
        One row per direction.
    largest : list of int
        Upper bounds on the absolute values of each row.
    """

    __slots__ = ("largest", "values")

    def __init__(self, values: np.ndarray, largest: list[int]):
        self.values, self.largest = values, largest

    @classmethod
    def build(cls, columns: list[list[int]]) -> ExactColumns:
        """Return the columns of one of the first cones."""
        largest = [max(map(abs, column)) for column in columns]
        return cls(np.array(columns, dtype=np.int64 if max(largest) < MAX_INT64 else object), largest)

    def mix(self, a: int, p: int, b: int, q: int, divisor: int) -> tuple[np.ndarray, int]:
        """Return the scores in a new direction, (p A + q B) / divisor, and a bound on their absolute values."""
        largest = p * self.largest[a] + q * self.largest[b]
        # Then products and their sum, and so the dividend, are below 2^62.
        kind = np.int64 if max(largest, p, q, divisor) < MAX_INT64 else object
        first, second = self.values[a], self.values[b]
        if first.dtype != kind:
            first, second = first.astype(kind), second.astype(kind)
        values = first * p + second * q
        if divisor > 1:
            parts = values // divisor
            if (parts * divisor != values).any():
                raise RefutedProofError("a direction is divided by a number that does not divide it")
            values, largest = parts, largest // divisor
        if kind is object:
            largest = int(max(values.max(), -values.min()))
            if largest < MAX_INT64:
                values = values.astype(np.int64)
        return values, largest

    def replace(self, place: int, column: np.ndarray, largest: int, is_last: bool = False) -> ExactColumns:
        """Return the columns with one of them replaced; `is_last` if these are no longer needed."""
        sizes = self.largest.copy()
        sizes[place] = largest
        values = self.values
        if values.dtype != column.dtype:
            is_small = column.dtype != object and max(sizes) < MAX_INT64
            values = values.astype(np.int64 if is_small else object)
        elif not is_last:
            values = values.copy()
        values[place] = column
        return ExactColumns(values, sizes)


class ConeTreeChecker:
    """Go through a tree of cones once, and check that every leaf has enough conflicting pairs.

    Parameters
    ----------
    columns : list of list of int
        The scores of the samples at the first directions: D + 1, any D of which span a cone, or D, which span
        one with any signs.
    n_features : int
        D.
    left_copies, right_copies : list of int
        For each copy, the place of its sample in a column.
    target : int
        The number of pairs that each leaf needs.
    """

    def __init__(
        self,
        columns: list[list[int]],
        n_features: int,
        left_copies: list[int],
        right_copies: list[int],
        target: int,
    ):
        self.columns, self.n_features = columns, n_features
        self.left, self.right = np.array(left_copies), np.array(right_copies)
        self.target, self.n_leaves = target, 0
        self._mates = np.full(len(left_copies), -1)
        self._owners = np.full(len(right_copies), -1)

    def check(self, tree: Any) -> None:
        """Raise RefutedProofError unless the tree, cone by cone, proves the target."""
        entries, pairs = self._scan(_expect_integers(tree))
        first_cones = self._list_first_cones()
        waiting = [ExactColumns.build(next(first_cones))]
        for kind, at in entries:
            if kind == RESET:
                self._mates[:] = -1
                continue
            if not waiting:
                raise RefutedProofError("the tree goes on after its last cone")
            if kind == SPLIT:
                waiting += self._split(waiting.pop(), tree[at : at + SPLIT_LENGTH])
            else:
                self._check_leaf(waiting.pop(), pairs[at : at - kind])
            if not waiting and (following := next(first_cones, None)) is not None:
                waiting.append(ExactColumns.build(following))
        if waiting:
            raise RefutedProofError("the tree ends before its last cone")

    def _list_first_cones(self) -> Iterator[list[list[int]]]:
        """Yield the cones that cover all directions, each as the columns of its vertices."""
        if len(self.columns) > self.n_features:
            for left_out in range(len(self.columns)):
                yield [column for k, column in enumerate(self.columns) if k != left_out]
            return
        opposite = [[-score for score in column] for column in self.columns]
        for signs in product((1, -1), repeat=self.n_features):
            yield [(self.columns if sign > 0 else opposite)[k] for k, sign in enumerate(signs)]

    def _scan(self, tree: list[int]) -> tuple[list[tuple[int, int]], np.ndarray]:
        """Return the entries of the tree, as RESET, SPLIT and its place, or minus its pairs; and all pairs."""
        entries: list[tuple[int, int]] = []
        numbers: list[int] = []
        at, end, n_pairs = 0, len(tree), 0
        while at < end:
            kind = tree[at]
            if kind == LEAF and at + 1 < end and tree[at + 1] >= 0:
                entries.append((-tree[at + 1], n_pairs))
                n_pairs += tree[at + 1]
                stop = at + 2 + 2 * tree[at + 1]
                numbers += tree[at + 2 : stop]
                at = stop
            elif kind in (SPLIT, RESET):
                entries.append((kind, at))
                at += SPLIT_LENGTH if kind == SPLIT else 1
            else:
                raise RefutedProofError("the tree has an entry of unknown kind")
        if at > end:
            raise RefutedProofError("the tree ends before its last cone")
        lefts, rights = numbers[::2], numbers[1::2]
        if numbers and not (
            0 <= min(lefts) <= max(lefts) < len(self._mates)
            and -1 <= min(rights) <= max(rights) < len(self.right)
        ):
            raise RefutedProofError("a pair has a sample that does not exist")
        return entries, np.array(numbers, dtype=np.int64).reshape(n_pairs, 2)

    def _split(self, cone: ExactColumns, entry: Sequence[int]) -> list[ExactColumns]:
        _, a, b, p, q, shift, divisor = entry
        D = len(cone.values)
        if not (0 <= a < D and 0 <= b < D and a != b):
            raise RefutedProofError("a cone is split at an edge that it does not have")
        if p < 1 or q < 1 or divisor < 1 or abs(shift) > MAX_SHIFT:
            raise RefutedProofError("a cone is split outside of its edge")
        new, largest = cone.mix(a, p << max(shift, 0), b, q << max(-shift, 0), divisor)
        first = cone.replace(b, new, largest)
        return [cone.replace(a, new, largest, is_last=True), first]

    def _check_leaf(self, cone: ExactColumns, pairs: np.ndarray) -> None:
        """Check a leaf whose pairs are those of the previous one, with some changes."""
        mates = self._mates
        mates[pairs[:, 0]] = pairs[:, 1]
        lefts = (mates >= 0).nonzero()[0]
        if len(lefts) < self.target:
            raise RefutedProofError(f"a cone has {len(lefts)} pairs, but needs {self.target}")
        rights = mates[lefts]
        self._owners[rights] = lefts
        if (self._owners[rights] != lefts).any():
            raise RefutedProofError("a sample is in more pairs than it weighs copies")
        values = cone.values
        if (values.take(self.left[lefts], axis=1) > values.take(self.right[rights], axis=1)).any():
            raise RefutedProofError("a pair does not conflict in its cone")
        self.n_leaves += 1


def _expect_integers(tree: Any) -> list[int]:
    """Return the entries of a tree, which a file may hold in any form."""
    if not isinstance(tree, list) or not set(map(type, tree)) <= {int}:
        raise RefutedProofError("the tree has an entry that is not an integer")
    return tree


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
        The weight in the certificate of one copy in the proof.

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
    checker = ConeTreeChecker(columns, len(parts[0]), copies[0], copies[1], proof["target"])
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
    """Refuse first directions whose cones do not cover all directions.

    D of them must be independent: then every direction is a combination of them, whose signs are those of a
    cone. If there is one more, their sum must be 0 as well.
    """
    if len(vertices) not in (D, D + 1) or any(len(v) != D or not set(map(type, v)) <= {int} for v in vertices):
        raise RefutedProofError("there must be as many first directions as features, or one more")
    if len(vertices) > D and any(map(sum, zip(*vertices, strict=True))):
        raise RefutedProofError("the first directions do not surround 0")
    if count_rank(vertices) != D:
        raise RefutedProofError("the first directions do not span all others")
