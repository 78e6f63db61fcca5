"""Bounds by impossible sets: the sets, the linear program that hits them, and branch and bound in integers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoloss_cli.kernels.hull import separate
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress, run_solver
from zoloss_cli.learners.search.samples import MergedSamples, find_farkas_weights
from zoloss_cli.proofs.cones import find_copies


class ImpossibleSets:
    """Sets of samples that no rule can all classify correctly, with their proofs.

    Proofs are checked on `integers`, the signed features; `rng` decides where a search for a set starts.
    """

    def __init__(self, samples: MergedSamples, integers: list[list[int]], rng: np.random.Generator):
        self.samples, self.integers, self.rng = samples, integers, rng
        self.proofs: dict[tuple[int, ...], list[int]] = {}  # Farkas' weights of each set: positive integers
        c, size = samples.c, samples.Y.shape[1]
        self._ones = np.ones(len(c))
        self.w, self._corral, self._weights = np.empty(size), np.empty(size + 2, np.int64), np.empty(size + 2)

    def find_separator(self, without: Iterable[int] = ()) -> bool:
        """Return whether some w classifies all other samples correctly; it is then in `w`."""
        return self._separate(self._mask_without(without)) == 0

    def collect_sets(self, without: Iterable[int], rounds: int) -> tuple[int, float]:
        """Collect impossible sets among the other samples; return (number of new sets, lower bound).

        The sets of one round have no sample in common, so every w misclassifies a sample of each: their total
        is a lower bound.
        """
        before, bound, c = len(self.proofs), 0.0, self.samples.c
        for _ in range(rounds):
            alive = self._mask_without(without)
            total = 0.0
            while (size := self._separate(alive)) > 0:
                members = tuple(sorted(int(i) for i in self._corral[:size]))
                alive[list(members)] = False
                if members not in self.proofs:
                    proof = find_farkas_weights([self.integers[i] for i in members])
                    if proof is None:
                        continue
                    self.proofs[members] = proof
                total += float(c[list(members)].min())
            bound = max(bound, total)
        return len(self.proofs) - before, bound

    def _mask_without(self, without: Iterable[int]) -> np.ndarray:
        alive = np.ones(len(self.samples.c), bool)
        alive[list(without)] = False
        return alive

    def _separate(self, alive: np.ndarray) -> int:
        """Return 0 if `w` now separates all samples alive, otherwise the size of an impossible set, or -1."""
        members = np.flatnonzero(alive)
        if len(members) == 0:
            return -1
        first = int(self.rng.integers(len(members)))
        return separate(
            self.samples.Y, self._ones, members, len(members), first, self.w, self._corral, self._weights
        )


HIT, SPARED = 1, 0


class CoverProgram:
    """The hitting-set linear program, by HiGHS: the cheapest fractions of samples that hit each set once."""

    def __init__(self, costs: np.ndarray, search: SearchProgress):
        import highspy

        self.search, self.rows = search, list[int]()  # numbers of the sets, in the order added
        self.x, self.duals = np.zeros(len(costs)), np.zeros(0)  # the solution; the dual weights of the sets
        self._is_optimal = highspy.HighsModelStatus.kOptimal
        self._infinity = highspy.kHighsInf
        self._decided: dict[int, int] = {}
        self._solver = solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        n = len(costs)
        solver.addVars(n, np.zeros(n), np.full(n, self._infinity))
        solver.changeColsCost(n, np.arange(n, dtype=np.int32), np.asarray(costs, dtype=float))

    def add_sets(self, numbers: Sequence[int], members: Sequence[Sequence[int]]) -> None:
        """Add sets, each with a number and its samples."""
        sizes = [len(each) for each in members]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        indices = np.concatenate(members).astype(np.int32)
        bounds = np.ones(len(sizes)), np.full(len(sizes), self._infinity)
        self._solver.addRows(len(sizes), *bounds, len(indices), starts, indices, np.ones(len(indices)))
        self.rows += numbers

    def decide(self, decisions: dict[int, int]) -> None:
        """Set samples to HIT or SPARED, and all others to free."""
        for i in self._decided.keys() - decisions.keys():
            self._solver.changeColBounds(i, 0.0, self._infinity)
        for i, value in decisions.items():
            if self._decided.get(i) != value:
                self._solver.changeColBounds(i, float(value), float(value))
        self._decided = dict(decisions)

    def solve(self) -> bool:
        """Find a solution, and return whether there is one before time is up."""
        solver = self._solver
        left = self.search.seconds_left
        limit = self._infinity if left is None else solver.getRunTime() + left  # its clock keeps running
        solver.setOptionValue("time_limit", limit)
        run_solver(self.search, solver.run)
        if solver.getModelStatus() != self._is_optimal:
            return False
        found = solver.getSolution()
        self.x, self.duals = np.array(found.col_value), np.array(found.row_dual)
        return True


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

    At a node, some samples are hit, which costs their weight, and some are spared. A linear program over the
    sets not hit yet bounds the rest; its dual solution, rounded to integers, is the proof that a leaf keeps.
    `capacities` are the weights of the samples in grains, which are parts of a copy.
    """

    def __init__(self, sets: ImpossibleSets, capacities: Sequence[int], search: SearchProgress):
        self.sets, self.search = sets, search
        self.capacities = [int(capacity) for capacity in capacities]
        # The tree of the last proof, depth first: BRANCH, sample; or LEAF, n, and n sets with their weights.
        self.entries: list[int] = []
        self.n_nodes, self.share_done = 0, 0.0  # of the last proof, as if all children of a node were alike
        self._program = CoverProgram(np.array(self.capacities) / GRAINS_PER_COPY, search)
        self._members: list[tuple[int, ...]] = []
        self._added: set[int] = set()  # numbers of the sets in the program
        self._matrix: Any = None
        self._sizes = np.zeros(0)

    def prove(self, goal: int, describe: Callable[[], str] = str) -> int:
        """Prove that every hitting set weighs at least this many grains; `describe` returns a progress note.

        Returns PROVED; REFUTED if there is a lighter one, whose rule was offered; STOPPED if time is up.
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
        """Branch on a fractional sample of the solution: the one in the most sets, weighted."""
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


MAX_COPIES = 10**9  # of weight, in both classes
FIRST_ROUNDS = 20  # passes through the samples before the first program
STEP_SHARE = 0.1  # of the gap: the next bound if weights have no common measure
MIN_STEP = 1e-4  # in mean sample weights: below this, the gap is closed within the resolution of grains
WEIGHT_TOLERANCE = 1e-6  # of a copy: maximum error of sums of weights
MANY_COPIES = 1000  # to prove: with more, the next target is a share of them, not one more
MIN_SHARE = 0.05  # of a search, below which it does not predict how long the rest takes


@dataclass(frozen=True)
class HittingProof:
    """A proof that no lighter samples hit all impossible sets."""

    copies: list[int]  # the weight of each merged sample
    target: int  # every hitting set has at least this many copies
    sets: list[tuple[tuple[int, ...], list[int]]]  # merged samples, and Farkas' weights
    entries: list[int]  # of `HittingTree`


class HittingBound:
    """Branch and bound over impossible sets, for successive bounds.

    Every w misclassifies a sample of each impossible set, so its errors hit all of them.
    """

    def __init__(self, sets: ImpossibleSets, search: SearchProgress):
        self.sets, self.search = sets, search
        self.proof: HittingProof | None = None  # of the last bound, unless weights have no common measure
        c = sets.samples.c
        found = find_copies(c, MAX_COPIES)
        self._is_whole = found is not None
        self._copies, self._copy_weight = found if found is not None else (c, 1.0)
        # Rounded down, so that the bound is not too large.
        grains = np.floor(self._copies * float(GRAINS_PER_COPY)).astype(np.int64)
        self._tree = HittingTree(sets, grains.tolist(), search)

    def raise_bound(self, programs: int) -> None:
        """Prove one bound after the other, at most `programs`, until the search should stop."""
        known, unavoidable = self._count_copies(self.search.lower_bound), self.sets.samples.unavoidable_loss
        first = 0.0
        for _ in range(0 if self.sets.proofs else FIRST_ROUNDS):
            first = max(first, self.sets.collect_sets([], 1)[1])
            if self.search.should_stop():
                break
        try:  # build a tree for the first bound, too, for a certificate
            packed = first / self._copy_weight
            packed = math.floor(packed + WEIGHT_TOLERANCE) if self._is_whole else packed
            self._prove_targets(max(self._find_next(known), packed), programs)
        finally:
            self.search.raise_bound(unavoidable + first)

    def _prove_targets(self, target: float, programs: int) -> None:
        """Prove at most this many bounds, starting with `target`."""
        unavoidable = self.sets.samples.unavoidable_loss
        for _ in range(programs):
            last = self._count_copies(self.search.loss)
            if self.search.should_stop() or math.isinf(target):
                break
            target = min(target, last)
            if not self._prove(target):
                if self._count_copies(self.search.loss) < last:  # a better rule: is it optimal?
                    continue
                break
            is_last = self._is_whole and target >= last - LOSS_TOLERANCE
            bound = self.search.loss if is_last else unavoidable + target * self._copy_weight
            self.search.raise_bound(bound)
            target = self._find_next(target)

    def _count_copies(self, loss: float) -> float:
        """Return a loss in copies, without the unavoidable part."""
        copies = (loss - self.sets.samples.unavoidable_loss) / self._copy_weight
        is_near = abs(copies - round(copies)) < WEIGHT_TOLERANCE
        return round(copies) if self._is_whole and is_near else copies

    def _find_next(self, proved: float) -> float:
        """Return the next bound to prove, in copies; infinite if there is none."""
        gap = self._count_copies(self.search.loss) - proved
        if self._is_whole:
            step = int(STEP_SHARE * gap) if MANY_COPIES < gap < math.inf else 1
            return math.floor(proved + LOSS_TOLERANCE) + step
        return proved + max(STEP_SHARE * gap, MIN_STEP) if gap > 2 * MIN_STEP else math.inf

    def _prove(self, target: float) -> bool:
        """Return whether every hitting set has this many copies, and keep the proof."""
        start = time.perf_counter()

        def describe() -> str:
            share, seconds = self._tree.share_done, time.perf_counter() - start
            left = f", {seconds * (1.0 - share) / share:.0f} s for the rest" if share > MIN_SHARE else ""
            bound = self.sets.samples.unavoidable_loss + target * self._copy_weight
            return f"impossible sets for {bound:g}: {100.0 * share:.0f} % searched{left}"

        # Copies are whole: a hitting set with more than target - 1 copies has at least target.
        goal = (
            (int(target) - 1) * GRAINS_PER_COPY + 1 if self._is_whole else math.ceil(target * GRAINS_PER_COPY)
        )
        is_proved = self._tree.prove(goal, describe) == PROVED
        self.search.note = ""
        if is_proved and self._is_whole:
            sets = list(self.sets.proofs.items())
            self.proof = HittingProof(self._copies.tolist(), int(target), sets, self._tree.entries)
        return is_proved
