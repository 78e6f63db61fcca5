"""A lower bound on the errors of linear rules, raised step by step by the cone search."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np

from zoloss_cli.kernels.cone import PROVED, REFUTED, TOO_DEEP
from zoloss_cli.learners.search.cone_problem import ConeProblem
from zoloss_cli.learners.search.cone_search import ConeSearch, count_threads
from zoloss_cli.learners.search.merged_samples import MergedSamples
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress

FIRST_SHARE = 0.5  # of the smallest loss so far: the first target, which is cheap
COST_FACTOR = 3.0  # a target may cost this many times as much as the previous one
TIME_SHARE = 0.6  # of the time left: the most that the next target may be expected to take
LAST_SAFETY = 6.0  # aim at the last target if the time left is this many times its expected time ...
LAST_GROWTH = 2.0  # ... with cones growing this many times faster than so far, as growth always does
OVERRUN_FACTOR = 1.5  # by which cones grow faster than abandoned targets show
MIN_CONES = 2000  # below this, their number says little about growth ...
ENOUGH_TARGETS = 3  # ... unless this many targets were proved
MIN_GROWTH, MAX_EXPONENT = 1e-3, 100.0
MAX_SIZE_BITS = 900  # of integers whose products are floating-point numbers


class ConeBound:
    """The cone search for one target after the other, as part of a search for the smallest loss.

    Parameters
    ----------
    problem : ConeProblem
        The samples as integers.
    samples : MergedSamples
        The same samples in the form that the search has.
    search : SearchProgress
        The search whose bound is raised and that is offered better weights.
    does_log : bool
        Whether to keep the tree of cones of the last target, for a certificate.

    Attributes
    ----------
    proved : int
        Misclassified copies proved to be unavoidable.
    cones : ConeSearch
        The search for the last target.
    """

    def __init__(
        self,
        problem: ConeProblem,
        samples: MergedSamples,
        search: SearchProgress,
        does_log: bool = False,
    ):
        self.problem, self.samples, self.search = problem, samples, search
        self.cones = ConeSearch(problem, count_threads(), does_log, self._offer)
        self.proved, self.proved_roots = 0, self.cones.roots
        self._history: list[tuple[int, float]] = []  # targets, and the number of cones they took
        self._overruns: list[tuple[int, int]] = []  # targets that took too many cones, and how many at least
        self._seconds_per_cone = 0.0

    @property
    def last_target(self) -> int:
        """The number of misclassified copies that, once proved, makes the best rule so far optimal."""
        loss = self.search.loss - self.samples.unavoidable_loss
        return max(0, math.ceil((loss - LOSS_TOLERANCE) / self.problem.copy_weight))

    def raise_bound(self, max_cones: int, is_trial: bool = False) -> None:
        """Prove one target after the other until the search should stop, or cones become too thin.

        Parameters
        ----------
        max_cones : int
            Maximum number of cones to visit for a target.
        is_trial : bool
            Whether to stop as soon as one target is proved and another has taken too many cones.
        """
        self.cones.max_cones = max_cones
        self._history = [(target, cones) for target, cones in self._history if math.isfinite(cones)]
        copy_weight, unavoidable = self.problem.copy_weight, self.samples.unavoidable_loss
        known = self.search.lower_bound - unavoidable
        self.proved = max(0, math.floor((known + LOSS_TOLERANCE) / copy_weight))
        while self.proved < self.last_target and not self.search.should_stop():
            target = self._choose_target()
            start = time.perf_counter()
            status = self.cones.prove(target, partial(self._should_stop, target, start))
            self.search.note = ""
            if status == PROVED:
                self.proved, self.proved_roots = target, self.cones.roots
                self._history.append((target, self.cones.n_cones))
                self._seconds_per_cone = (time.perf_counter() - start) / max(1, self.cones.n_cones)
                is_last = target >= self.last_target
                self.search.raise_bound(self.search.loss if is_last else unavoidable + target * copy_weight)
            elif status == REFUTED and self.last_target < target:
                continue
            elif status == TOO_DEEP and target > self.proved + 1:
                self._overruns.append((target, max(self.cones.n_cones, MIN_CONES)))
                if is_trial and any(math.isfinite(cones) for _, cones in self._history):
                    break
                self._history.append((target, math.inf))
            else:
                break

    def prove_part(self, errors: int, part: int, parts: int, max_cones: int) -> bool:
        """Return whether all directions of a part need this many errors; raise the bound if it is all of them.

        Parameters
        ----------
        errors : int
            The loss, in mean sample weights.
        part, parts : int
            Which part of the directions, and the number of parts.
        max_cones : int
            Maximum number of cones to visit.

        Returns
        -------
        bool
            Whether it is proved.
        """
        search, copy_weight, unavoidable = self.search, self.problem.copy_weight, self.samples.unavoidable_loss
        target = math.ceil((errors - unavoidable - LOSS_TOLERANCE) / copy_weight)
        if target <= 0:
            return True
        self.cones.max_cones, self.cones.part, self.cones.parts = max_cones, part, parts
        start = time.perf_counter()
        status = self.cones.prove(target, partial(self._should_stop, target, start))
        search.note = ""
        if status == PROVED and parts == 1:
            self.proved, self.proved_roots = target, self.cones.roots
            search.raise_bound(min(search.loss, unavoidable + target * copy_weight))
        return status == PROVED

    def _should_stop(self, target: int, start: float) -> bool:
        share = self.cones.share_done
        seconds = time.perf_counter() - start
        left = f", {seconds * (1.0 - share) / share:.0f} s for the rest" if share > 0.05 else ""
        bound = self.samples.unavoidable_loss + target * self.problem.copy_weight
        self.search.note = f"cones for {bound:g}: {100.0 * share:.0f} % searched{left}"
        return self.search.should_stop() or self.last_target < target

    def _choose_target(self) -> int:
        """Return the next target: as high as its expected cost, given the growth so far, allows."""
        last, low = self.last_target, self.proved + 1
        failed = [target for target, cones in self._history if math.isinf(cones)]
        if failed:
            return min(last, max(low, (self.proved + min(failed)) // 2))
        known = self._history
        if not known:
            return min(last, max(low, math.ceil(FIRST_SHARE * last)))
        target, cones = known[-1]
        few = cones <= MIN_CONES
        if (few and len(known) < ENOUGH_TARGETS) or (len(known) == 1 and not self._overruns):
            return min(last, max(low, (target + last + 1) // 2))
        if len(known) > 1:
            before, cones_before = known[-2]
            least = 1 if few else MIN_CONES
            growth = math.log(max(cones, least) / max(cones_before, least)) / max(1, target - before)
        else:
            slopes = [math.log(more / cones) / (t - target) for t, more in self._overruns if t > target]
            growth = OVERRUN_FACTOR * max(slopes, default=0.0)
        growth = max(MIN_GROWTH, growth)
        affordable = COST_FACTOR
        if self.search.seconds_left is not None:
            factor_left = self.search.seconds_left / max(1e-9, cones * self._seconds_per_cone)
            exponent = min(LAST_GROWTH * growth * (last - target), MAX_EXPONENT)
            if LAST_SAFETY * math.exp(exponent) < factor_left:
                return last
            affordable = min(COST_FACTOR, max(1.0, TIME_SHARE * factor_left))
        if few:
            return min(last, max(low, (target + last + 1) // 2))
        return min(last, max(low, target + int(math.log(affordable) / growth)))

    def _offer(self, direction: np.ndarray, target: int) -> bool:
        """Offer the best threshold for a direction, and return whether its loss is below a target."""
        w = _find_weights(self.problem, self.samples, direction)
        if w is not None:
            self.search.offer(self.samples.compute_loss(w), w)
        return self.last_target < target


def _find_weights(problem: ConeProblem, samples: MergedSamples, direction: np.ndarray) -> np.ndarray | None:
    """Return weights with this direction and its best threshold; None if they are not finite."""
    sizes = [max(1, *(abs(v) for v in column)) for column in zip(*problem.vectors, strict=True)]
    if max(sizes).bit_length() > MAX_SIZE_BITS:
        return None
    scaled = np.array([[v / s for v, s in zip(x, sizes, strict=True)] for x in problem.vectors])
    scores = scaled @ (direction * np.array([float(s) for s in sizes]))
    features = samples.raw[problem.members] / samples.raw[problem.members, :1]
    w, *_ = np.linalg.lstsq(features, scores, rcond=None)
    order = np.argsort(scores)
    signed = np.where(np.arange(len(scores)) < problem.n_left, 1, -1) * problem.copies
    # All but the k lowest are predicted as left: errors are the left ones below and the right ones above.
    losses = np.concatenate([[0], np.cumsum(signed[order])]) + int(problem.copies[problem.n_left :].sum())
    ranked = np.concatenate([[scores[order[0]] - 1.0], scores[order], [scores[order[-1]] + 1.0]])
    is_gap = ranked[1:] > ranked[:-1]
    best = int(np.argmin(np.where(is_gap, losses, np.iinfo(np.int64).max)))
    w[0] -= 0.5 * (ranked[best] + ranked[best + 1])
    if not problem.is_left_positive:
        w = -w
    small = samples.axes @ w
    return small if np.all(np.isfinite(small)) and np.any(small) else None
