"""The search for a scoring system: rounded logistic regression, descent from perturbed rules, and a proof."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.kernels import scoring as kernel
from zoloss_cli.learners.scoring.conditions import ScoringProblem
from zoloss_cli.learners.search.progress import SearchProgress

SCALES = 100
MAX_CELLS = 50_000  # merged samples to fit weights to: they are only a start
MAX_ITERATIONS = 200


def round_logistic_regression(problem: ScoringProblem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return distinct rules (terms, points), by rounding the largest weights at many scales.

    The first has no points except for required columns; points with a forbidden sign are left out.
    """
    lowest, highest = problem.arrays[3:5]
    weights = fit_weights(problem, np.arange(len(problem.conditions)))
    weights = np.where(np.where(weights > 0.0, highest > 0, lowest < 0), weights, 0.0)
    chosen = choose_largest(weights, problem)
    again = fit_weights(problem, chosen)
    again = np.where(np.where(again > 0.0, highest[chosen] > 0, lowest[chosen] < 0), again, 0.0)
    smallest = build_rule(chosen, np.zeros(len(chosen), np.int64), problem)
    found: dict[bytes, tuple[np.ndarray, np.ndarray]] = {smallest[1].tobytes(): smallest}
    for candidate in (weights[chosen], again):
        largest = np.abs(candidate).max(initial=0.0)
        if largest == 0.0:
            continue
        for step in range(1, SCALES + 1):
            rounded = np.rint(candidate * (problem.max_points * step / SCALES / largest)).astype(np.int64)
            rule = build_rule(chosen, rounded, problem)
            found.setdefault(rule[1].tobytes(), rule)
    return list(found.values())


def build_rule(
    chosen: np.ndarray, rounded: np.ndarray, problem: ScoringProblem
) -> tuple[np.ndarray, np.ndarray]:
    """Return terms and points; a required column without points gets one for its first chosen condition."""
    rounded = rounded.copy()
    highest, required = problem.arrays[4:6]
    for column in range(problem.n_required):
        own = np.flatnonzero(required[chosen] == column)
        if own.size and not np.any(rounded[own]):
            rounded[own[0]] = 1 if highest[chosen[own[0]]] > 0 else -1
    terms = np.full(problem.max_terms, -1, np.int64)
    points = np.zeros(problem.max_terms, np.int64)
    terms[: len(chosen)] = np.where(rounded != 0, chosen, -1)
    points[: len(chosen)] = rounded
    return terms, points


def choose_largest(weights: np.ndarray, problem: ScoringProblem) -> np.ndarray:
    """Return the conditions with the largest weights, including one from each required column, ascending."""
    order = np.argsort(-np.abs(weights), kind="stable")
    required = problem.arrays[5]
    usable = [int(j) for j in order if problem.arrays[3][j] < problem.arrays[4][j]]
    chosen = [next(j for j in usable if required[j] == column) for column in range(problem.n_required)]
    for j in usable:
        if len(chosen) == problem.max_terms:
            break
        if j not in chosen:
            chosen.append(j)
    return np.sort(np.array(chosen, np.int64))


def fit_weights(problem: ScoringProblem, conditions: np.ndarray) -> np.ndarray:
    """Return the weights of logistic regression on some conditions of all samples."""
    from sklearn.linear_model import LogisticRegression

    cells = problem.cells
    rows = np.arange(cells.plus.size)
    if rows.size > MAX_CELLS:
        rows = np.linspace(0, rows.size - 1, MAX_CELLS).astype(int)
    if not (np.any(cells.plus[rows]) and np.any(cells.minus[rows])):
        return np.zeros(len(conditions))
    X = np.tile(cells.levels[np.ix_(conditions, rows)].T.astype(np.float64), (2, 1))
    sizes = np.concatenate([cells.plus[rows], cells.minus[rows]]) / problem.single
    is_there = sizes > 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not have converged
        model = LogisticRegression(max_iter=MAX_ITERATIONS)
        model.fit(X[is_there], (np.arange(len(X)) < rows.size)[is_there], sample_weight=sizes[is_there])
    return model.coef_[0]


STEPS_PER_SLICE = 5
NODES_PER_SLICE = 20_000
MAX_LISTED = 1_000_000  # supports kept until their points are searched
SUFFIX_ROOM = 32  # numbers per sample, for bounds of whole subtrees
BEST_STARTS = 3  # rounded rules to improve


@dataclass
class RuleSearch:
    """The best rule so far, and the search progress that is notified of it."""

    problem: ScoringProblem
    progress: SearchProgress  # its clock, trace and bound; losses are in mean sample weights
    cost: int = 2**62  # of the best rule, without the weight of the negative class
    size: int = 2**62  # decides between rules of equal cost
    terms: np.ndarray = field(init=False)
    points: np.ndarray = field(init=False)
    n_nodes: int = 0  # supports and partial rules that the proof examined
    proof: str = "equal rows"  # how the bound is proved

    def __post_init__(self) -> None:
        self.terms = np.full(self.problem.max_terms, -1, np.int64)
        self.points = np.zeros(self.problem.max_terms, np.int64)
        self.progress.raise_bound(self.problem.to_loss(self.problem.unavoidable))
        self._room = self.problem.allocate_room()

    def offer(self, cost: int, terms: np.ndarray, points: np.ndarray) -> None:
        """Keep a rule if it costs less than all before, or the same with fewer terms or smaller points."""
        size = int(kernel.measure_size(terms, points, -1)[1])
        if (cost, size) < (self.cost, self.size):
            self.cost, self.size = int(cost), size
            self.terms, self.points = terms.copy(), points.copy()
            weights = np.zeros(len(self.problem.conditions))
            weights[terms[terms >= 0]] = points[terms >= 0]
            self.progress.offer(self.problem.to_loss(cost), weights)

    def compute_cost(self, terms: np.ndarray, points: np.ndarray) -> int:
        """Return the cost of a rule with its best threshold."""
        totals, room, _ = self._room
        return int(kernel.compute_cost(self.problem.arrays, self.problem.penalty, terms, points, totals, room))

    def _descend(self, terms: np.ndarray, points: np.ndarray) -> None:
        cost, _ = kernel.descend(*self.problem.core, terms, points, *self._room)
        self.offer(int(cost), terms, points)

    def start(self) -> None:
        """Offer the smallest rule and all rounded ones, and improve the best of them."""
        problem = self.problem
        rules = round_logistic_regression(problem)
        if problem.gains.size == 0:  # both classes weigh the same in every place
            self.offer(problem.penalty * problem.n_required, *rules[0])
            return
        costs = [self.compute_cost(*rule) for rule in rules]
        for cost, rule in zip(costs, rules, strict=True):
            self.offer(cost, *rule)
        order = [0, *np.argsort(costs, kind="stable")[:BEST_STARTS].tolist()]
        for at in dict.fromkeys(order):
            if self.progress.should_stop():
                return
            self._descend(rules[at][0].copy(), rules[at][1].copy())

    def improve(self, steps: int, seed: np.uint64) -> None:
        """Perturb and descend, this many times or until the search should stop."""
        counter, best = seed, (self.terms.copy(), self.points.copy())
        rules = (self.terms.copy(), self.points.copy(), *best, self.terms.copy(), self.points.copy())
        numbers = np.array([self.cost, self.size, self.cost, self.size, 0], np.int64)
        done = 0
        while done < steps and not self.progress.should_stop():
            count = min(STEPS_PER_SLICE, steps - done)
            counter = kernel.run_steps(
                *self.problem.core, rules, *self._room, numbers, count, np.uint64(counter)
            )
            done += count
            self.progress.note = f"step {done:,} of {steps:,}"
            self.offer(int(numbers[kernel.BEST_COST]), *best)

    def shrink(self) -> None:
        """Look for smaller points with the same cost, by scaling down and rounding those of the best rule."""
        problem, terms, points = self.problem, self.terms, self.points
        largest = int(np.abs(points).max(initial=0))
        for reduced in range(1, largest):
            smaller = np.rint(points * (reduced / largest)).astype(np.int64)
            kept = np.where(smaller != 0, terms, -1)
            if kernel.find_missing_column(problem.arrays[5], problem.n_required, kept, -1) == -1:
                self._descend(kept, smaller)

    def prove(self, nodes: int) -> None:
        """List all supports that may do better and search their points, examining at most this many nodes."""
        listing = SupportListing(self.problem)
        while self.n_nodes < nodes and not self.progress.should_stop():
            done = listing.advance(self.cost, min(NODES_PER_SLICE, nodes - self.n_nodes))
            self._count(listing)
            self.progress.note = f"{listing.n_nodes:,} supports, {listing.n_found:,} of them to be searched"
            is_full = listing.n_found >= MAX_LISTED  # before more are listed, these must be searched
            if (done or is_full) and self._search_listed(listing, nodes) and done:
                self.progress.raise_bound(self.problem.to_loss(self.cost))
                self.proof = "all supports"
                return

    def _count(self, listing: SupportListing, searched: int = 0) -> None:
        self.n_nodes = listing.n_nodes + listing.n_searched_nodes + searched

    def _search_listed(self, listing: SupportListing, nodes: int) -> bool:
        """Search the points of the listed supports, and return whether this was completed."""
        search = PointSearch(self.problem, listing)
        while not self.progress.should_stop() and self.n_nodes < nodes:
            if listing.is_complete:
                bound = min(self.cost, search.bound)
                self.progress.raise_bound(self.problem.to_loss(bound))
                self.proof = "all supports"
                if self.progress.optimal:
                    break
            done = search.advance(self, min(NODES_PER_SLICE, nodes - self.n_nodes))
            self._count(listing, search.n_nodes)
            self.progress.note = f"points of support {search.at + 1:,} of {listing.n_found:,}"
            if done:
                listing.n_searched_nodes += search.n_nodes
                listing.numbers[kernel.FOUND] = 0
                return True
        return listing.is_complete and self.progress.optimal


class SupportListing:
    """All sets of conditions that may have a better rule, listed incrementally."""

    def __init__(self, problem: ScoringProblem) -> None:
        self.problem = problem
        N, K = problem.gains.size, problem.max_terms
        self.order = order_conditions(problem)
        levels, max_levels, gains, *limits = problem.arrays
        self.arrays = (levels[self.order], max_levels[self.order], gains, *(a[self.order] for a in limits))
        ids = np.zeros((K + 1, N), np.int64)
        counts = np.zeros((K + 1, 2), np.int64)
        counts[0] = N, 1
        samples = np.tile(np.arange(N, dtype=np.int64), (K + 1, 1))
        chosen, following, settled = np.zeros(K, np.int64), np.zeros(K + 1, np.int64), np.zeros(K + 1, np.int64)
        self.tree = chosen, following, settled, samples, ids, counts
        parts = (N + 1) * (int(problem.arrays[1].max(initial=1)) + 1)
        room = [np.zeros(parts, np.int64) for _ in range(3)]
        self.room = (*room, np.zeros(SUFFIX_ROOM * N + 1, np.int64))
        self.numbers = np.zeros(4, np.int64)
        self.suffixes = group_by_suffixes(self.arrays[0])
        # np.zeros allocates lazily: zeros take no memory until they are overwritten.
        self.found = (np.zeros((MAX_LISTED, K), np.int32), *np.zeros((2, MAX_LISTED), np.int64))
        self.n_searched_nodes = 0

    @property
    def n_nodes(self) -> int:
        """The number of supports examined."""
        return int(self.numbers[kernel.NODES])

    @property
    def n_found(self) -> int:
        """The number of supports listed."""
        return int(self.numbers[kernel.FOUND])

    @property
    def is_complete(self) -> bool:
        """Whether no support is left."""
        return bool(self.numbers[kernel.IS_LISTED])

    def advance(self, best: int, nodes: int) -> bool:
        """Examine this many more supports, and return whether all have been seen."""
        state = self.suffixes, self.tree, self.room, self.numbers
        core = self.arrays, *self.problem.core[1:]
        return bool(kernel.list_supports(*core, *state, best, nodes, self.found))


class PointSearch:
    """The search over the points of listed supports, in the order of their bounds."""

    def __init__(self, problem: ScoringProblem, listing: SupportListing) -> None:
        self.problem, self.arrays, self.condition_order = problem, listing.arrays, listing.order
        count = listing.n_found
        order = np.argsort(listing.found[2][:count], kind="stable")
        self.listed = tuple(part[:count][order] for part in listing.found)
        N, K = problem.gains.size, problem.max_terms
        largest = int(problem.arrays[1].max(initial=1))
        table = np.zeros((N + 1) * (largest + 1), np.int64)
        self.leaf = (
            np.zeros(N, np.int64),
            table,
            np.zeros((K, N), np.int64),
            np.zeros(N, np.int64),
            np.zeros((K + 1, N), np.int64),
            np.zeros((K + 1, N + 2), np.int64),
        )
        self.path = (np.zeros(K + 1, np.int64), np.zeros((K + 1, N), np.int64), np.zeros((K + 1, 2), np.int64))
        self.room = np.zeros(2 * K * problem.max_points * largest + 2, np.int64)
        self.numbers = np.array([0, -1, 0, 0, 0], np.int64)

    @property
    def at(self) -> int:
        """The number of supports searched."""
        return int(self.numbers[kernel.AT])

    @property
    def n_nodes(self) -> int:
        """The number of partial rules examined."""
        return int(self.numbers[kernel.LEAF_NODES])

    @property
    def bound(self) -> int:
        """The smallest cost that a rule of the remaining supports can have."""
        return int(self.listed[2][self.at]) if self.at < len(self.listed[2]) else 2**62

    def advance(self, search: RuleSearch, nodes: int) -> bool:
        """Examine this many more partial rules, offer better ones, and return whether all are done."""
        terms, points = np.zeros((2, self.problem.max_terms), np.int64)
        rule = np.array([search.cost], np.int64), terms, points
        known = int(self.numbers[kernel.IMPROVED])
        core, listed = (self.arrays, *self.problem.core[1:]), (*self.listed, len(self.listed[1]))
        done = kernel.search_supports(*core, listed, self.leaf, self.path, self.room, self.numbers, rule, nodes)
        if self.numbers[kernel.IMPROVED] > known:
            own = np.where(terms >= 0, self.condition_order[terms], -1)
            search.offer(search.compute_cost(own, points), own, points)
        return bool(done)


def order_conditions(problem: ScoringProblem) -> np.ndarray:
    """Return the conditions in the order of supports: those that best separate the classes come first."""
    levels, gains = problem.levels.astype(np.float64), problem.gains.astype(np.float64)
    if gains.size == 0:
        return np.arange(len(levels))
    # The lowest cost of a rule with this condition alone, over all thresholds.
    costs = [np.minimum(np.bincount(row.astype(np.int64), gains), 0.0).sum() for row in levels]
    return np.argsort(costs, kind="stable")


def group_by_suffixes(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups of samples that agree on all conditions from each one on, and their number."""
    M, N = levels.shape
    ids, counts = np.zeros((M + 1, N), np.int64), np.ones(M + 1, np.int64)
    for j in range(M - 1, -1, -1):
        pairs = ids[j + 1] * (int(levels[j].max(initial=0)) + 1) + levels[j]
        found, place = np.unique(pairs, return_inverse=True)
        ids[j], counts[j] = place.ravel(), len(found)
    return ids, counts
