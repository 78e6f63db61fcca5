"""A lower bound on the errors of linear rules, raised step by step by impossible sets."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from zoloss_cli.learners.search.cone_problem import find_copies
from zoloss_cli.learners.search.hitting_tree import GRAINS_PER_COPY, PROVED, HittingTree
from zoloss_cli.learners.search.impossible_sets import ImpossibleSets
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress

MAX_COPIES = 10**9  # of weight, in both classes
FIRST_ROUNDS = 20  # passes through the samples before the first program
STEP_SHARE = 0.1  # of the gap: the next bound if weights have no common measure
MIN_STEP = 1e-4  # in mean sample weights: below this, the gap is closed as far as grains can tell
WEIGHT_TOLERANCE = 1e-6  # of a copy: maximum error of sums of weights
MANY_COPIES = 1000  # to prove: with more, the next target is a share of them, not one more
MIN_SHARE = 0.05  # of a search, below which it does not predict how long the rest takes


@dataclass(frozen=True)
class HittingProof:
    """A proof that no lighter samples hit all impossible sets.

    Attributes
    ----------
    copies : list of int
        The weight of each merged sample, in copies.
    target : int
        The number of copies in every hitting set, at least.
    sets : list of tuple of (tuple of int, list of int)
        Merged samples that no rule can all classify correctly, and Farkas' weights.
    entries : list of int
        The tree of `HittingTree`.
    """

    copies: list[int]
    target: int
    sets: list[tuple[tuple[int, ...], list[int]]]
    entries: list[int]


class HittingBound:
    """Branch and bound over impossible sets, for one bound after the other.

    Every w misclassifies a sample of each impossible set, so its errors hit all of them.

    Parameters
    ----------
    sets : ImpossibleSets
        The sets, to which more are added.
    search : SearchProgress
        The search whose bound is raised and that is offered better weights.

    Attributes
    ----------
    proof : HittingProof or None
        The proof of the last bound; None if there is none, or if weights have no common measure.
    """

    def __init__(self, sets: ImpossibleSets, search: SearchProgress):
        self.sets, self.search = sets, search
        self.proof: HittingProof | None = None
        c = sets.samples.c
        found = find_copies(c, MAX_COPIES)
        self._is_whole = found is not None
        self._copies, self._copy_weight = found if found is not None else (c, 1.0)
        # Rounded down, so that the bound is not too large.
        grains = np.floor(self._copies * float(GRAINS_PER_COPY)).astype(np.int64)
        self._tree = HittingTree(sets, grains.tolist(), search)

    def raise_bound(self, programs: int) -> None:
        """Prove one bound after the other until the search should stop.

        Parameters
        ----------
        programs : int
            Maximum number of bounds to try.
        """
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
                if self._count_copies(self.search.loss) < last:  # a better rule: is it the best?
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
