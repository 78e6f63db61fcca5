"""Check a proof by impossible sets: each set must be impossible, and no light samples may hit them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zoloss_cli.workflows.proofs.samples import (
    MergedPlaces,
    RefutedProofError,
    expect_integers,
    find_place,
)

LEAF, BRANCH = 0, 1
HIT, SPARED = 1, 2


class HittingTreeChecker:
    """Go through a tree of decisions once, and check that every leaf proves the goal.

    A leaf gives weights to sets. Any samples that hit all sets, subject to the decisions above, weigh at least
    the sum of these weights, plus the weight of hit samples beyond that of the sets that they are in, minus the
    weight of sets beyond that of their free samples: this is the dual of a linear program, and holds for all
    weights of sets.

    Parameters
    ----------
    sets : list of list of int
        The samples of each set.
    capacities : dict of {int: int}
        The weight of each sample in grains, which are parts of a copy.
    goal : int
        The number of grains that each leaf needs.
    """

    def __init__(self, sets: list[list[int]], capacities: dict[int, int], goal: int):
        self.sets, self.capacities, self.goal = sets, capacities, goal
        self.n_leaves = 0
        self._path: list[int] = []
        self._decisions: dict[int, int] = {}

    def check(self, tree: Sequence[int]) -> None:
        """Raise RefutedProofError unless the tree proves the goal."""
        waiting: list[tuple[int, int, int]] = [(0, 0, 0)]  # number of decisions before, and the last one
        at = 0
        while waiting:
            self._decide(*waiting.pop())
            kind, number = self._read(tree, at, 2)
            at += 2
            if kind == BRANCH:
                if number not in self.capacities or number in self._decisions:
                    raise RefutedProofError("the tree decides a sample that is already decided, or in no set")
                depth = len(self._path)
                waiting += [(depth, number, SPARED), (depth, number, HIT)]
            elif kind == LEAF and number >= 0:
                self._check_leaf(self._read(tree, at, 2 * number))
                at += 2 * number
            else:
                raise RefutedProofError("the tree has an entry of unknown kind")
        if at < len(tree):
            raise RefutedProofError("the tree goes on after its last leaf")

    @staticmethod
    def _read(tree: Sequence[int], at: int, count: int) -> Sequence[int]:
        found = tree[at : at + count]
        if len(found) < count:
            raise RefutedProofError("the tree ends before its last leaf")
        return found

    def _decide(self, depth: int, sample: int, decision: int) -> None:
        """Go back to this many decisions, and add one."""
        while len(self._path) > depth:
            del self._decisions[self._path.pop()]
        if decision:
            self._path.append(sample)
            self._decisions[sample] = decision

    def _check_leaf(self, weights: Sequence[int]) -> None:
        loads: dict[int, int] = {}
        total = 0
        for number, weight in zip(weights[::2], weights[1::2], strict=True):
            if not 0 <= number < len(self.sets) or weight < 0:
                raise RefutedProofError("a leaf has a set that does not exist, or a negative weight")
            total += weight
            for sample in self.sets[number]:
                loads[sample] = loads.get(sample, 0) + weight
        for sample, decision in self._decisions.items():
            load = loads.pop(sample, 0)
            total += self.capacities[sample] - load if decision == HIT else 0
        total += sum(min(0, self.capacities[sample] - load) for sample, load in loads.items())
        if total < self.goal:
            raise RefutedProofError("a leaf does not prove the bound")
        self.n_leaves += 1


def check_sets(proof: dict[str, Any], samples: list[list[int]], places: MergedPlaces, factor: int) -> int:
    """Check a proof by impossible sets.

    Parameters
    ----------
    proof : dict
        Has sets (pairs of indices of samples and Farkas' weights), target, grains and tree.
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
    named: dict[tuple[int, ...], int] = {}
    capacities: dict[int, int] = {}
    (grains,) = expect_integers([proof["grains"]], least=1)
    sets = []
    for indices, weights in proof["sets"]:
        _check_set(samples, places, indices, weights)
        for i in indices:
            place = find_place(samples, i)
            if named.setdefault(place, i) != i:
                raise RefutedProofError("a place has two names")
            capacities[i] = abs(places.net[place]) // factor * grains
        sets.append(indices)
    # Samples that hit all sets weigh a whole number: if it is above the target minus 1, it is at least the
    # target.
    checker = HittingTreeChecker(sets, capacities, (proof["target"] - 1) * grains + 1)
    checker.check(expect_integers(proof["tree"]))
    return checker.n_leaves


def _check_set(samples: list[list[int]], places: MergedPlaces, indices: Any, weights: Any) -> None:
    """Refuse a set unless positive weights make its signed samples sum to 0: then no rule is right on all."""
    expect_integers(indices)
    if len(set(indices)) < len(indices) or len(indices) != len(expect_integers(weights, least=1)):
        raise RefutedProofError("a set has a sample twice, or not one weight for each")
    total = [0] * (1 + len(samples[0]))
    for i, weight in zip(indices, weights, strict=True):
        place = find_place(samples, i)
        if not places.net[place]:
            raise RefutedProofError("a set has a place where both classes weigh the same")
        signed = weight if places.net[place] > 0 else -weight
        total[0] += signed
        for j, value in enumerate(place, 1):
            total[j] += signed * value
    if not indices or any(total):
        raise RefutedProofError("a set of samples is not impossible")
