"""A lower bound on the errors of linear rules, raised step by step by the cone search."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.cone import PROVED, REFUTED, TOO_DEEP
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.base import Start, TimeLimit
from zoloss_cli.learners.search.hyperplanes import can_sweep_exactly, sweep_exactly, sweep_hyperplanes
from zoloss_cli.learners.search.pivot import PivotClassifier
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress
from zoloss_cli.learners.search.samples import ExactFeatures, MergedSamples
from zoloss_cli.proofs.cones import ConeProblem, ConeSearch, build_cone_problem, count_threads, find_copies
from zoloss_cli.proofs.impossible_sets import HittingBound, ImpossibleSets

FIRST_TARGET_SHARE = 0.5  # of the smallest loss so far: the first target, which is cheap
COST_FACTOR = 3.0  # a target may cost this many times as much as the previous one
TIME_SHARE = 0.6  # of the time left: the maximum expected duration of the next target
LAST_SAFETY = 6.0  # aim at the last target if the time left is this many times its expected time ...
LAST_GROWTH = 2.0  # ... with cones growing this many times faster than so far, as growth always does
OVERRUN_FACTOR = 1.5  # by which cones grow faster than abandoned targets show
MIN_CONES = 2000  # below this, their number does not predict growth ...
ENOUGH_TARGETS = 3  # ... unless this many targets were proved
MIN_GROWTH, MAX_EXPONENT = 1e-3, 100.0
MAX_SIZE_BITS = 900  # of integers whose products are floating-point numbers


class ConeBound:
    """The cone search for successive targets; `search` receives the bounds and better weights.

    `problem` holds the samples as integers, `samples` the same as floats. If `does_log`, the tree of cones of
    the last target is kept for a certificate.
    """

    def __init__(
        self, problem: ConeProblem, samples: MergedSamples, search: SearchProgress, does_log: bool = False
    ):
        self.problem, self.samples, self.search = problem, samples, search
        self.cones = ConeSearch(problem, count_threads(), does_log, self._offer)
        self.proved, self.proved_roots = 0, self.cones.roots  # unavoidable misclassified copies; their proof
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

        Each may take `max_cones`. A trial also ends once one target is proved and another took too many cones.
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
        """Return whether all directions of a part lose at least `errors`; raise the bound if it is all of them.

        `errors` is in mean sample weights.
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
            return min(last, max(low, math.ceil(FIRST_TARGET_SHARE * last)))
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


FEW_CONES = 50_000  # for a first attempt, before slower methods
MAX_CONE_SAMPLES = 20_000
WALK_SHARE = 0.5  # of the time, for the walk, which would take all of it with many samples
FIRST_SHARE = 0.3  # of the time left, for the first cones, which may be slow with many features
SETS_SHARE = 0.4  # of the time left, for impossible sets, if they can prove more than the first cones
MAX_CONE_FEATURES = 13  # beyond this there are too many cones, and impossible sets prove more
WORTHWHILE_SHARE = 0.5  # of a bound: if the first cones prove less of it, sets come before other cones


class CertifyingClassifier(PivotClassifier):
    """The pivot heat bath, with a proved lower bound on the errors of every linear rule.

    An algorithm of our own. `lower_bound_` is proved, and `optimal_` says whether the weights attain it.

    Parameters
    ----------
    steps : int >= 1, default=20000
        Number of steps of the walk.
    programs : int >= 0, default=1000
        Maximum number of integer programs over impossible sets.
    cones : int >= 0, default=1000000000
        Maximum number of cones of directions for one bound; 0 for none.
    target : int >= 1 or None, default=None
        Number of errors to prove by cones of directions alone. None: as many as possible.
    parts : int >= 1, default=1
        Number of parts to divide all directions into: in a run, each split proves one. Requires `target`.
    part : int >= 0 or None, default=None
        Index of the part to prove; none: all, or in a run the index of the split.
    time_limit : float > 0 or None, default=60.0
        Seconds after which the search ends with the best weights so far.
    seeding : {'lr', 'svm', 'zero', 'fld'} or list of float, default='lr'
        Weights to start from: the best of LIBLINEAR's logistic regression 'lr' or SVM 'svm', 'zero', those of
        Fisher's linear discriminant 'fld', or a list (bias first).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved exactly, rather than up to rounding.
    certificates_ : list of tuple of (list of int, list of int)
        Impossible sets: indices of training samples, and integer weights with which the sum of y_i (1, x_i) is
        0.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    lower_bound_ : float
        No linear classifier has a smaller loss, in mean sample weights (errors if all weights are equal).
    n_cones_ : int
        Number of cones of directions searched for the last bound.
    n_features_in_ : int
        Number of features.
    n_steps_ : int
        Number of steps walked.
    optimal_ : bool
        Whether the loss attains `lower_bound_`.
    part_bound_ : float or None
        No linear classifier whose direction is in the part has a smaller loss; None if there are no parts.
    proof_ : {'separable', 'equal rows', 'all hyperplanes', 'cones of directions', 'impossible sets', 'none'}
        How the bound is proved; 'equal rows': the only misclassified samples are equal ones with both labels.
    seconds_ : float
        Duration of the fit.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.
    time_to_bound_ : float
        Seconds until `lower_bound_` was proved.
    training_errors_ : int
        Number of training errors; a zero margin is an error.
    training_loss_ : float
        Share of the sample weight that is misclassified.

    Notes
    -----
    If the samples are not separable, the heat bath finds weights, and the bound is raised by the methods that
    suit the data. Up to 13 features, cones of directions are searched: pairs of samples that no direction of a
    cone ranks correctly need an error each, and a cone with too few such pairs is split. If cones do not
    suffice and there are few hyperplanes, all are swept, in integers. Beyond 13 features, or if cones prove
    little or become too thin, sets of at most D + 2 samples are collected that cannot all be classified
    correctly, each with Farkas' weights, checked in integers; branch and bound proves a minimum weight for
    samples that hit all sets: linear programs by HiGHS suggest weights of sets, and integers decide.

    The bound holds for the exact values of `X`: a feature whose numbers all have at most 15 decimal digits
    holds these decimal numbers, any other the binary values. If a feature without short decimals lies on a
    grid up to rounding, as standardized counts and codes do, the bound holds for that grid, and
    `bound_is_exact_` is false. `zoloss fit` and `zoloss run` prove bounds for the values before scaling.

    References
    ----------
    .. [1] Own algorithm; the proofs are by Farkas' lemma. The branch and bound of the walk follows Nguyen, T.
       and Sanner, S. (2013). Algorithms for direct 0-1 loss optimization in binary classification. ICML.
       Section 3.

    Examples
    --------
    >>> from zoloss_cli import CertifyingClassifier, load_dataset
    >>> X, y = load_dataset("iris", positive="Iris-versicolor")
    >>> model = CertifyingClassifier(random_state=0, time_limit=None).fit(X[:, 2:], y)
    >>> model.training_errors_, model.lower_bound_, model.optimal_, model.proof_
    (29, 29.0, True, 'cones of directions')
    """

    reports: ClassVar[tuple[str, ...]] = (
        *PivotClassifier.reports,
        *("time_to_bound", "proof", "n_cones", "part_bound", "n_parts"),
    )
    # 2: bounds by cones of directions; 3: by impossible sets in integers alone; 4: about values before scaling.
    version = 4

    def __init__(
        self,
        steps: Annotated[int, Field(ge=1, description="number of steps of the walk")] = 20_000,
        programs: Annotated[
            int, Field(ge=0, description="maximum number of integer programs over impossible sets")
        ] = 1000,
        cones: Annotated[
            int, Field(ge=0, description="maximum number of cones of directions for one bound; 0 for none")
        ] = 1_000_000_000,
        target: Annotated[
            int | None, Field(ge=1, description="number of errors to prove by cones of directions alone")
        ] = None,
        parts: Annotated[
            int,
            Field(
                ge=1,
                description="number of parts to divide all directions into: in a run, each split proves one",
            ),
        ] = 1,
        part: Annotated[
            int | None,
            Field(
                ge=0, description="index of the part to prove; none: all, or in a run the index of the split"
            ),
        ] = None,
        time_limit: TimeLimit = 60.0,
        seeding: Start = "lr",
        random_state=None,
    ):
        super().__init__(steps, time_limit, seeding, random_state)
        self.programs = programs
        self.cones = cones
        self.target = target
        self.parts = parts
        self.part = part

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the best weights that the walk finds, after collecting proofs."""
        self.certificates_: list[tuple[list[int], list[int]]] = []
        self.proof_, self.n_cones_ = "none", 0
        if self.parts > 1 and self.target is None:
            raise ValueError("parts requires target: set it to the number of errors to prove")
        if self.part is not None and self.part >= self.parts:
            raise ValueError(f"part must be below parts, {self.parts} (got {self.part})")
        self._is_part_proved = False
        weights = super().learn(problem, start)
        self.time_to_bound_ = self._search.seconds_to_bound
        self.part_bound_: float | None = None
        if self.target is not None and self.parts > 1 and self.part is not None:
            bound = self._search.lower_bound
            self.part_bound_ = max(bound, float(self.target)) if self._is_part_proved else bound
        if self._search.optimal and self.proof_ == "none":
            self.proof_ = "equal rows"
        return weights

    def _explore(self, problem: Problem, samples: MergedSamples, search: SearchProgress) -> None:
        integers = _get_exact(problem).sign_samples(samples.indices, samples.t)
        sets = ImpossibleSets(samples, integers, problem.rng)
        if sets.find_separator():
            search.offer(samples.compute_loss(sets.w), sets.w)
        if search.optimal:
            self.proof_ = "separable"
            return
        hitting = HittingBound(sets, search)
        search.exact_bounds_only = True  # the tree next to the walk may finish, but in floating point
        with search.restrict_time(WALK_SHARE):
            super()._explore(problem, samples, search)
        self._prove(problem, samples, search, hitting)

    def _prove(
        self,
        problem: Problem,
        samples: MergedSamples,
        search: SearchProgress,
        hitting: HittingBound | None = None,
    ) -> None:
        """Raise the bound by the methods that suit the data; without `hitting`, not by impossible sets."""
        before, exact = search.lower_bound, _get_exact(problem)
        integers = exact.sign_samples(samples.indices, samples.t)
        try:
            self._raise_bound(exact, samples, integers, search, hitting)
        finally:  # what was proved before Ctrl-C is kept
            search.bound_is_exact &= exact.is_exact or search.lower_bound <= before

    def _raise_bound(
        self,
        exact: ExactFeatures,
        samples: MergedSamples,
        integers: list[list[int]],
        search: SearchProgress,
        hitting: HittingBound | None,
    ) -> None:
        if self.target is not None:
            self._prove_target(exact, samples, integers, search)
            return
        cones = self._prepare_cones(exact, samples, integers, search)
        if cones is not None:
            with search.restrict_time(FIRST_SHARE):
                self._search_cones(exact, cones, min(self.cones, FEW_CONES), is_trial=True)
            unavoidable = samples.unavoidable_loss
            proved_by_cones = search.lower_bound - unavoidable
            self._enumerate_hyperplanes(exact, samples, integers, search)
            # In general position the sets have D + 2 samples, so a program cannot reach more than this.
            reach = samples.c.sum() / (samples.Y.shape[1] + 1)
            if search.loss - unavoidable <= reach or proved_by_cones < WORTHWHILE_SHARE * reach:
                with search.restrict_time(SETS_SHARE):
                    self._hit_sets(exact, hitting, search)
            if proved_by_cones < WORTHWHILE_SHARE * (search.lower_bound - unavoidable):
                self._hit_sets(exact, hitting, search)
            self._search_cones(exact, cones, self.cones)
        else:
            self._enumerate_hyperplanes(exact, samples, integers, search)
        self._hit_sets(exact, hitting, search)

    def _prove_target(
        self, exact: ExactFeatures, samples: MergedSamples, integers: list[list[int]], search: SearchProgress
    ) -> None:
        """Prove the target for a part of all directions, or for all; a part alone proves no bound."""
        assert self.target is not None
        parts = self.parts if self.part is not None else 1
        problem = build_cone_problem(integers, samples.c)
        if problem is None or search.lower_bound >= self.target or search.should_stop():
            return
        if problem.n_features > MAX_CONE_FEATURES:
            raise ValueError(
                f"a target is proved by cones of directions, for up to {MAX_CONE_FEATURES} features "
                f"(got {problem.n_features}): leave it out, and impossible sets prove a bound"
            )
        cones = ConeBound(problem, samples, search, does_log=exact.keeps_proof)
        self._is_part_proved = cones.prove_part(self.target, self.part or 0, parts, self.cones)
        self._keep_proof(exact, cones, self._is_part_proved and parts == 1)

    def _hit_sets(self, exact: ExactFeatures, hitting: HittingBound | None, search: SearchProgress) -> None:
        """Raise the bound by impossible sets, and keep these with their proofs."""
        if search.should_stop() or hitting is None:
            return
        before, indices = search.lower_bound, hitting.sets.samples.indices.tolist()
        try:
            hitting.raise_bound(self.programs)
        finally:  # what was proved before Ctrl-C is kept
            if search.lower_bound > before:
                self.proof_ = "impossible sets"
            if exact.keeps_proof and hitting.proof is not None:
                exact.hitting = (hitting.proof, indices)
            found = hitting.sets.proofs.items()
            self.certificates_ = [([indices[i] for i in members], proof) for members, proof in found]

    def _prepare_cones(
        self, exact: ExactFeatures, samples: MergedSamples, integers: list[list[int]], search: SearchProgress
    ) -> ConeBound | None:
        """Return the cone search, if there are few enough features for it and not too many samples."""
        n, m = len(samples.raw), samples.Y.shape[1] - 1  # checked before the rank is computed in integers
        if not self.cones or search.should_stop() or n > MAX_CONE_SAMPLES or m > MAX_CONE_FEATURES:
            return None
        problem = build_cone_problem(integers, samples.c)
        if problem is None or problem.n_features > MAX_CONE_FEATURES:
            return None
        return ConeBound(problem, samples, search, does_log=exact.keeps_proof)

    def _search_cones(
        self, exact: ExactFeatures, cones: ConeBound, max_cones: int, is_trial: bool = False
    ) -> None:
        """Raise the bound by cones of directions, with at most `max_cones` for one bound."""
        before = cones.search.lower_bound
        try:
            cones.raise_bound(max_cones, is_trial)
        finally:  # what was proved before Ctrl-C is kept
            self._keep_proof(exact, cones, cones.search.lower_bound > before)

    def _keep_proof(self, exact: ExactFeatures, cones: ConeBound, is_better: bool) -> None:
        """Record what cones proved."""
        self.n_cones_ = cones.cones.n_cones
        if is_better:
            self.proof_ = "cones of directions"
            if exact.keeps_proof:
                indices = cones.samples.indices.tolist()
                exact.proof = (cones.problem, cones.proved, cones.proved_roots, indices)

    def _enumerate_hyperplanes(
        self, exact: ExactFeatures, samples: MergedSamples, integers: list[list[int]], search: SearchProgress
    ) -> None:
        """Sweep all hyperplanes if there are few enough: for better weights first, then for a proof."""
        found = find_copies(samples.c)
        if search.should_stop() or found is None or not can_sweep_exactly(integers):
            return
        if samples.Y.shape[1] > 1:
            sweep_hyperplanes(samples, integers, search)
        copies, copy_weight = found
        fewest = sweep_exactly(integers, copies.tolist(), search.should_stop)
        if fewest is None:
            return
        bound = samples.unavoidable_loss + fewest * copy_weight
        if bound > search.lower_bound:
            self.proof_ = "all hyperplanes"
            search.raise_bound(search.loss if abs(bound - search.loss) < LOSS_TOLERANCE else bound)
        exact.n_swept = fewest


def _get_exact(problem: Problem) -> ExactFeatures:
    """Return the values that the bound holds for: those of X unless others are known."""
    return problem.exact or ExactFeatures(problem.X[:, 1:], is_table=False)
