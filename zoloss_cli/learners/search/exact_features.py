"""Exact values of features that a learner receives scaled, and the proof that it returns for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from zoloss_cli.learners.search.cone_problem import ConeProblem
from zoloss_cli.learners.search.cone_workspace import Cone
from zoloss_cli.learners.search.hitting_bound import HittingProof


@dataclass
class ExactFeatures:
    """The features of training samples as integers, for a proof about these instead of rounded numbers.

    Attributes
    ----------
    samples : list of list of int
        One list per training sample: its features, each scaled and shifted by its own numbers.
    hitting : tuple of (HittingProof, list of int) or None
        What impossible sets proved, and the training sample that each merged one represents.
    is_swept : bool
        Whether a sweep of all hyperplanes proved the loss of the rule.
    max_swept : int
        Places to the power of the number of features, up to which a sweep can be checked.
    proof : tuple of (ConeProblem, int, list of Cone) or None
        What the cone search proved: its problem, the misclassified copies, and the cones it was divided into;
        None if it proved nothing.
    """

    samples: list[list[int]]
    proof: tuple[ConeProblem, int, list[Cone]] | None = None
    hitting: tuple[HittingProof, list[int]] | None = None
    is_swept: bool = False
    max_swept: int = 0

    def can_sweep(self, n_places: int) -> bool:
        """Return whether there are few enough places for a sweep of all hyperplanes to be checked."""
        return n_places ** max(1, len(self.samples[0])) <= self.max_swept


_features: ContextVar[ExactFeatures | None] = ContextVar("features", default=None)


@contextlib.contextmanager
def use_exact_features(features: ExactFeatures | None) -> Iterator[None]:
    """Within this block, make certify prove its bound for these integers and keep the proof."""
    token = _features.set(features)
    try:
        yield
    finally:
        _features.reset(token)


def get_exact_features(n_samples: int) -> ExactFeatures | None:
    """Return the integers that a caller provides for this many samples, if any."""
    features = _features.get()
    return features if features is not None and len(features.samples) == n_samples else None
