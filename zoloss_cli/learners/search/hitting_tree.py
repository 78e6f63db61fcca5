"""A proof by branch and bound that no set of samples below a given weight hits all impossible sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoloss_cli.learners.search.cover_program import HIT, SPARED, CoverProgram
from zoloss_cli.learners.search.impossible_sets import ImpossibleSets
from zoloss_cli.learners.search.progress import SearchProgress

LEAF, BRANCH = 0, 1  # entries of the tree, see docs/proofs.md
GRAINS_PER_COPY = 1_000_000  # for rounding the weights of sets
PROVED, REFUTED, STOPPED = 0, 1, 2
VIOLATION = 1e-6  # by which a solution hits a set less than once
MAX_ADDED = 1000  # violated sets added to a linear program at a time
ROOT_ROUNDS, NODE_ROUNDS = 15, 1  # searches for new sets at the root, and at each node below
ROUNDS_PER_THRESHOLD = 2
THRESHOLDS = (0.5, 0.25, 0.12, 0.06)  # samples above these are left out in searches for new sets


@dataclass(frozen=True)
class _Node:
    """Which samples are decided, as HIT or SPARED, and the share of the search that the node represents."""

    decisions: dict[int, int]
    share: float


class HittingTree:
    """Branch and bound over which samples are misclassified, as part of a search for the smallest loss.

    At a node of the tree, some samples are hit, which costs their weight, and some are spared. A linear program
    over the sets not hit yet bounds the rest, and its dual solution, rounded to integers, is the proof that a
    leaf keeps. If a solution hits all sets so far, more sets are needed, unless the samples that it spares can
    be separated: that is a better rule.

    Parameters
    ----------
    sets : ImpossibleSets
        Sets with their proofs, to which missing ones are added.
    capacities : ndarray of int of shape (n_samples,)
        The weights of the samples in grains, which are parts of a copy.
    search : SearchProgress
        The search that provides the clock and is offered better weights.

    Attributes
    ----------
    entries : list of int
        The tree of the last proof, in depth-first order: BRANCH, sample; or LEAF, n, and n sets with their
        weights in grains.
    n_nodes : int
        Nodes of the last proof.
    share_done : float
        The share of the last proof that is done, if all children of a node are alike.
    """

    def __init__(self, sets: ImpossibleSets, capacities: Sequence[int], search: SearchProgress):
        self.sets, self.search = sets, search
        self.capacities = [int(capacity) for capacity in capacities]
        self.entries: list[int] = []
        self.n_nodes, self.share_done = 0, 0.0
        self._program = CoverProgram(np.array(self.capacities) / GRAINS_PER_COPY, search)
        self._members: list[tuple[int, ...]] = []
        self._added: set[int] = set()  # numbers of the sets in the program
        self._matrix: Any = None
        self._sizes = np.zeros(0)

    def prove(self, goal: int, describe: Callable[[], str] = str) -> int:
        """Prove that every hitting set weighs at least this many grains.

        Parameters
        ----------
        goal : int
            The grains.
        describe : callable, optional
            Returns a note about the search to show next to its bound.

        Returns
        -------
        int
            PROVED; REFUTED if there is a lighter one, whose rule was offered; STOPPED if time is up.
        """
        self.entries, self.n_nodes, self.share_done = [], 0, 0.0
        self._take_in_sets()
        waiting = [_Node({}, 1.0)]
        while waiting:
            self.search.note = describe()
            if self.search.should_stop():
                return STOPPED
            node = waiting.pop()
            self.n_nodes += 1
            parts = self._visit(node, goal)
            if parts is None:
                return STOPPED if self.search.should_stop() else REFUTED
            waiting += parts
            self.share_done += 0.0 if parts else node.share
        return PROVED

    def _visit(self, node: _Node, goal: int) -> list[_Node] | None:
        """Return the children of a node, last first; empty if it is a leaf, None if it cannot be proved."""
        rounds = NODE_ROUNDS if node.decisions else ROOT_ROUNDS
        program = self._program
        program.decide(node.decisions)
        while True:
            empty = self._find_spared_set(node)
            if empty is not None:
                self.entries += [LEAF, 1, empty, goal]
                return []
            if not program.solve():
                return None
            if self._close(node, goal):
                return []
            if self._add_violated():
                continue
            if rounds > 0 and self._find_sets():
                rounds -= 1
                continue
            fractions = np.abs(program.x - np.round(program.x))
            if fractions.max() > VIOLATION:
                return self._branch(node, fractions)
            if not self._complete():
                return None

    def _branch(self, node: _Node, fractions: np.ndarray) -> list[_Node]:
        """Branch on a sample that the solution has in part: the one in the most sets, weighted."""
        degrees = np.zeros(len(fractions))
        for number, weight in zip(self._program.rows, self._program.duals.tolist(), strict=True):
            if weight > VIOLATION:
                degrees[list(self._members[number])] += 1.0
        at = int(np.argmax(np.where(fractions > VIOLATION, self._program.x * (1.0 + degrees), -1.0)))
        self.entries += [BRANCH, at]
        return [_Node({**node.decisions, at: value}, node.share / 2) for value in (SPARED, HIT)]

    def _close(self, node: _Node, goal: int) -> bool:
        """Make the node a leaf if weights of sets prove the goal, in integers; return whether they do."""
        duals = np.maximum(self._program.duals, 0.0)
        weights = np.round(duals * GRAINS_PER_COPY).astype(np.int64).tolist()
        chosen = [
            (number, weight) for number, weight in zip(self._program.rows, weights, strict=True) if weight
        ]
        loads = {i: 0 for i, value in node.decisions.items() if value == HIT}
        for number, weight in chosen:
            for i in self._members[number]:
                loads[i] = loads.get(i, 0) + weight
        total = sum(weight for _, weight in chosen)
        for i, load in loads.items():
            free, value = self.capacities[i] - load, node.decisions.get(i)
            total += free if value == HIT else 0 if value == SPARED else min(0, free)
        if total < goal:
            return False
        self.entries += [LEAF, len(chosen)]
        for number, weight in chosen:
            self.entries += [number, weight]
        return True

    def _find_spared_set(self, node: _Node) -> int | None:
        """Return a set whose samples are all spared, if there is one."""
        spared = [i for i, value in node.decisions.items() if value == SPARED]
        if not spared or self._matrix is None:
            return None
        mask = np.zeros(len(self.capacities))
        mask[spared] = 1.0
        found = np.flatnonzero(self._matrix @ mask >= self._sizes)
        return int(found[0]) if len(found) else None

    def _add_violated(self) -> bool:
        """Add sets to the program that its solution does not hit, and return whether there are any."""
        if self._matrix is None:
            return False
        loads = self._matrix @ self._program.x
        found = np.flatnonzero(loads < 1.0 - VIOLATION)
        if not len(found):
            return False
        found = found[np.argsort(loads[found], kind="stable")[:MAX_ADDED]]
        numbers = [number for number in found.tolist() if number not in self._added]
        if numbers:
            self._added.update(numbers)
            self._program.add_sets(numbers, [self._members[number] for number in numbers])
        return bool(numbers)

    def _find_sets(self) -> bool:
        """Search for new sets that a fractional solution does not hit, and return whether one was found."""
        for threshold in THRESHOLDS:
            if self.search.should_stop():
                return False
            self.sets.collect_sets(np.flatnonzero(self._program.x > threshold), ROUNDS_PER_THRESHOLD)
        self._take_in_sets()
        return self._add_violated()

    def _complete(self) -> bool:
        """Return whether there are sets that an integer solution does not hit; if not, offer its rule."""
        chosen = np.flatnonzero(self._program.x > 0.5)
        if self.sets.find_separator(chosen):
            samples = self.sets.samples
            loss = float(samples.c[samples.Y @ self.sets.w <= 0.0].sum())
            self.search.offer(samples.unavoidable_loss + loss, self.sets.w)
            return False
        self.sets.collect_sets(chosen, ROUNDS_PER_THRESHOLD)
        self._take_in_sets()
        return self._add_violated()

    def _take_in_sets(self) -> None:
        """Register the sets found since the last call."""
        from scipy.sparse import csr_matrix

        if len(self._members) == len(self.sets.proofs):
            return
        self._members = list(self.sets.proofs)
        sizes = [len(members) for members in self._members]
        places = (np.repeat(np.arange(len(sizes)), sizes), np.concatenate(self._members))
        self._matrix = csr_matrix((np.ones(sum(sizes)), places), shape=(len(sizes), len(self.capacities)))
        self._sizes = np.array(sizes)
