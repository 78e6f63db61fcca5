"""Whether pairs in conflict would shorten proofs of scoring systems: ``scoring_pairs.py TERMS DATASET ...``.

Once the signs of a support's points are decided, a negative sample with at least the levels of a positive one
where points are positive, and at most those where they are negative, cannot be right together with it. The
heaviest matching of such pairs is then a bound. This applies it to every support that the groups of equal
samples leave over, for all signs, and tells what it saves of the search over points, and what it takes.
"""

from __future__ import annotations

import itertools
import sys
import time

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from zoloss_cli import ScoringSystemClassifier, load_dataset
from zoloss_cli.learners.scoring.search import PointSearch, RuleSearch, SupportListing
from zoloss_cli.learners.search.progress import SearchProgress

NODES_PER_CALL = 100_000


def bound_by_pairs(levels, gains):
    """The least cost of patterns over all signs of points, by the heaviest matching of pairs in conflict."""
    plus, minus = np.flatnonzero(gains > 0), np.flatnonzero(gains < 0)
    alone, n = int(gains[minus].sum()), len(plus) + len(minus) + 2
    ends = np.concatenate([-gains[minus], gains[plus]])
    costs = []
    for signs in itertools.product((1, -1), repeat=len(levels)):
        signed = levels * np.array(signs)[:, None]
        pairs = np.nonzero(np.all(signed[:, minus][:, :, None] >= signed[:, plus][:, None, :], axis=0))
        rows = np.concatenate([np.zeros(len(minus), int), 1 + len(minus) + np.arange(len(plus)), 1 + pairs[0]])
        to = np.concatenate([1 + np.arange(len(minus)), np.full(len(plus), n - 1), 1 + len(minus) + pairs[1]])
        values = np.concatenate([ends, np.full(len(pairs[0]), ends.sum())]).astype(np.int32)
        costs.append(alone + maximum_flow(csr_array((values, (rows, to)), shape=(n, n)), 0, n - 1).flow_value)
    return min(costs)


def find_dismissed(listing, best):
    """Which of the listed supports the pairs dismiss."""
    levels, gains = listing.arrays[0], listing.arrays[2]
    dismissed = np.zeros(listing.n_found, bool)
    for i, support in enumerate(listing.found[0][: listing.n_found]):
        patterns, place = np.unique(levels[support], axis=1, return_inverse=True)
        sums = np.zeros(patterns.shape[1], np.int64)
        np.add.at(sums, place.ravel(), gains)
        dismissed[i] = bound_by_pairs(patterns.astype(np.int64), sums) >= best
    return dismissed


def search_points(problem, listing, best):
    """The nodes and CPU seconds of the search over the points of all listed supports."""
    rules = RuleSearch(problem, SearchProgress("pairs"))
    rules.cost = best
    search, start = PointSearch(problem, listing), time.process_time()
    while not search.advance(rules, NODES_PER_CALL):
        pass
    return search.n_nodes, time.process_time() - start


def main() -> None:
    """Print nodes and seconds of each part of the proof, with the pairs and without."""
    for name in sys.argv[2:]:
        X, y = load_dataset(name)
        model = ScoringSystemClassifier(max_terms=int(sys.argv[1]), max_points=5, random_state=0, nodes=0)
        model.fit(X, y)
        problem = model._build_scoring_problem(model._build_problem(X, y, None))
        best = model.training_errors_ - problem.negative
        listing, start = SupportListing(problem), time.process_time()
        while not listing.advance(best, NODES_PER_CALL) and not listing.is_full:
            pass
        listed = time.process_time() - start
        nodes, seconds = search_points(problem, listing, best)
        start = time.process_time()
        dismissed = find_dismissed(listing, best)
        matched = time.process_time() - start
        print(
            f"{name}, {model.training_errors_} errors: {listing.n_nodes:,} sets in {listed:.2f} s leave "
            f"{len(dismissed):,}, whose points take {nodes:,} nodes in {seconds:.3f} s; pairs dismiss "
            f"{dismissed.sum():,} of them in {matched:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
