"""Sets of samples that no w can all classify correctly, each with a proof."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from zoloss_cli.kernels.hull import separate
from zoloss_cli.learners.search.certificates import find_farkas_weights
from zoloss_cli.learners.search.merged_samples import MergedSamples


class ImpossibleSets:
    """Impossible sets of samples with their proofs.

    Parameters
    ----------
    samples : MergedSamples
        The samples.
    integers : list of list of int
        Their signed features as integers, on which the proofs are checked.
    rng : numpy.random.Generator
        Random generator that decides where a search for a set starts.

    Attributes
    ----------
    proofs : dict of {tuple of int: list of int}
        Farkas' weights of each set: exact, positive integers.
    w : ndarray
        The last separator from `find_separator`.
    """

    def __init__(self, samples: MergedSamples, integers: list[list[int]], rng: np.random.Generator):
        self.samples, self.integers, self.rng = samples, integers, rng
        self.proofs: dict[tuple[int, ...], list[int]] = {}
        c, size = samples.c, samples.Y.shape[1]
        self._ones = np.ones(len(c))
        self.w, self._corral, self._weights = np.empty(size), np.empty(size + 2, np.int64), np.empty(size + 2)

    def find_separator(self, without: Iterable[int] = ()) -> bool:
        """Return whether some w classifies all other samples correctly; it is then in `w`."""
        return self._separate(self._mask_without(without)) == 0

    def collect_sets(self, without: Iterable[int], rounds: int) -> tuple[int, float]:
        """Collect impossible sets among the other samples.

        The sets of one round have no sample in common, so every w is wrong on a sample of each.

        Parameters
        ----------
        without : iterable of int
            Samples to leave out.
        rounds : int
            How often to start over.

        Returns
        -------
        n_new : int
            Number of new sets.
        bound : float
            A lower bound implied by the sets of one round.
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
        """Return 0 if `w` is now right on all samples alive, otherwise the size of an impossible set, or -1."""
        members = np.flatnonzero(alive)
        if len(members) == 0:
            return -1
        first = int(self.rng.integers(len(members)))
        return separate(
            self.samples.Y, self._ones, members, len(members), first, self.w, self._corral, self._weights
        )
