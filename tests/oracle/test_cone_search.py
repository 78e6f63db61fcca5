"""Bounds by cones and by impossible sets against brute force over all hyperplanes."""

import numpy as np
import pytest
from problems import fewest_errors, tiny_problem, whole

from zoloss_cli.kernels.cone import PROVED, REFUTED, RUNNING
from zoloss_cli.kernels.cone_split import compare_classes
from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.learners.search.samples import ExactFeatures, build_merged_samples, merge_equal_samples
from zoloss_cli.proofs import impossible_sets
from zoloss_cli.proofs.cones import ConeSearch, ConeWorkspace, build_cone_problem, find_copies
from zoloss_cli.proofs.impossible_sets import GRAINS_PER_COPY, HittingTree, ImpossibleSets
from zoloss_cli.registry import make_learner

KINDS = ("plain", "discrete", "collinear", "duplicates")


def build(X, y, phi):
    signs = np.where(y == 1, 1.0, -1.0)
    kept, c, t, lost = merge_equal_samples(X, signs, phi)
    return build_cone_problem(ExactFeatures(X, is_table=False).sign_samples(kept, t), c), c, lost


def draw(seed):
    rng = np.random.default_rng(seed)
    X, y = tiny_problem(seed, int(rng.integers(4, 11)), int(rng.integers(1, 4)), KINDS[seed % 4])
    phi = rng.integers(1, 5, len(y)).astype(float) if seed % 3 == 0 else np.ones(len(y))
    return X, y, phi


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2000), marks=pytest.mark.long)], ids=len)
def test_as_many_errors_are_proved_as_brute_force_finds(seeds):
    for seed in seeds:
        X, y, phi = draw(seed)
        problem, _, lost = build(X, y, phi)
        least = fewest_errors(X, y, phi) - lost
        if problem is None:
            assert least == pytest.approx(0.0)
            continue
        copies = round(least / problem.copy_weight)
        assert copies * problem.copy_weight == pytest.approx(least)
        assert ConeSearch(problem).prove(copies, lambda: False) == PROVED
        # One more is refuted or found too thin to tell; never proved.
        assert ConeSearch(problem).prove(copies + 1, lambda: False) != PROVED


def test_the_tree_is_the_same_for_any_number_of_threads():
    X, y = whole("liver")
    problem, _, _ = build(X, y, np.ones(len(y)))
    alone, together = ConeSearch(problem, 1, does_log=True), ConeSearch(problem, 3, does_log=True)
    assert alone.prove(58, lambda: False) == together.prove(58, lambda: False) == PROVED
    assert alone.n_cones == together.n_cones > 1000

    def flatten(cone):
        yield from (entry for part in cone.log for entry in part.tolist())
        for child in cone.children:
            yield from flatten(child)

    for one, other in zip(alone.roots, together.roots, strict=True):
        assert list(flatten(one)) == list(flatten(other))


def test_a_search_that_is_stopped_proves_nothing():
    X, y = whole("pima")
    problem, _, _ = build(X, y, np.ones(len(y)))
    calls = []
    search = ConeSearch(problem)
    assert search.prove(140, lambda: len(calls) > 160 or calls.append(1)) == RUNNING
    assert 0.0 <= search.share_done < 1.0
    assert search.n_cones > 160


def test_weights_become_copies_unless_they_have_no_common_measure():
    copies, copy_weight = find_copies(np.array([1.5, 0.75, 3.0]))
    assert (copies.tolist(), copy_weight) == ([2, 1, 4], 0.75)
    assert find_copies(np.array([1.0, np.pi, np.e, 0.1])) is None
    assert find_copies(np.array([1.0, 1e7])) is None


def compare_plainly(scores, gap, n_left, copies):
    """Return who is above whom by comparing every pair, and the least loss of all thresholds."""
    left, right = scores[:n_left, None], np.repeat(scores[n_left:], copies[n_left:])[None, :]
    above = right - left >= gap
    higher = right - left >= max(gap, 1)
    order = np.unique(above.sum(axis=1))
    weights = copies[:n_left]
    losses = [rivals + weights[above.sum(axis=1) > rivals].sum() for rivals in order]
    return above, higher, min(weights.sum(), *losses)


@pytest.mark.parametrize("spread", [3, 70, 2**17, 2**33, 2**48])  # in leading digits, in later ones, and ties
@pytest.mark.parametrize("error", [0.0, 2.0**-48])
def test_bits_of_a_column_are_those_of_all_pairs(spread, error):
    rng = np.random.default_rng(spread)
    n_left, n_right = 23, 90
    X = np.arange(n_left + n_right)[:, None] * 1.0
    phi = np.concatenate([rng.integers(1, 4, n_left), rng.integers(2, 4, n_right)]).astype(float)
    phi[0] = 1.0
    problem, _, _ = build(X, np.arange(n_left + n_right) < n_left, phi)
    space = ConeWorkspace(problem, does_log=False)
    sizes, _, right_of = space.samples
    words, n_copies = int(sizes[2]), len(right_of)
    whole = rng.integers(-spread, spread, n_left + n_right, endpoint=True)
    whole[[0, -1]] = spread, -spread
    if spread == 2**33:  # far apart, and close together
        whole[1:-1:2] = whole[1] + rng.integers(-2, 3, len(whole[1:-1:2]))
    above, higher = (np.zeros(n_left * words, np.uint64) for _ in range(2))
    scores = np.append(whole / 2.0**48, 0.0)
    least = compare_classes(scores, error, sizes, right_of, above, higher, space.compare_room)
    expected = compare_plainly(whole, 4 if error else 0, n_left, problem.copies)
    for bits, pairs in zip((above, higher), expected[:2], strict=True):
        unpacked = np.unpackbits(bits.view(np.uint8), bitorder="little").reshape(n_left, -1)
        assert np.array_equal(unpacked[:, :n_copies], pairs)
        assert not unpacked[:, n_copies:].any()
    assert least == expected[2]


@pytest.mark.parametrize(("seed", "only_ties"), [(0, False), (1, False), (30, True), (58, True)])
def test_few_values_are_split_exactly_where_many_pairs_tie(seed, only_ties):
    """In the last two, cones around a direction where many pairs tie become too thin with other splits."""
    rng = np.random.default_rng(seed)
    severity = rng.standard_normal(150)
    grades = [np.clip(np.round(3 + severity + rng.standard_normal(150)), 1, top) for top in (4, 5, 6)]
    X = np.column_stack([*grades, np.round(40 + 9 * severity + 9 * rng.standard_normal(150))])
    y = (severity + 0.5 * rng.standard_normal(150) > 0).astype(int)
    problem, _, lost = build(X, y, np.ones(150))
    assert problem.has_ties
    search = ConeSearch(problem)
    needed = 75
    while (status := search.prove(needed, lambda: False)) == REFUTED:  # a direction in integers has fewer
        assert search.best_loss < needed
        needed = search.best_loss
    assert status == PROVED
    assert search.splits_at_ties_only == only_ties
    assert needed > 10
    learner = make_learner("pivot", {"time_limit": None, "steps": 3000}, 0).fit(X, y)
    assert learner.training_errors_ - round(lost) - needed in (0, 1)


def build_tree(X, y):
    n = len(y)
    signs = np.where(y == 1, 1.0, -1.0)
    problem = Problem(np.column_stack([np.ones(n), X]), signs, np.full(n, 1 / n), np.random.default_rng(0))
    samples = build_merged_samples(problem)
    search = SearchProgress("test")
    search.offer(1e6, np.ones(samples.Y.shape[1]))
    integers = ExactFeatures(X, is_table=False).sign_samples(samples.indices, samples.t)
    sets = ImpossibleSets(samples, integers, problem.rng)
    capacities = [round(c) * GRAINS_PER_COPY for c in samples.c]
    return HittingTree(sets, capacities, search), samples, search


def test_a_tree_proves_the_fewest_errors_and_not_one_more():
    tried = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        X, y = tiny_problem(seed, int(rng.integers(7, 10)), int(rng.integers(1, 4)), KINDS[seed % 4])
        tree, samples, search = build_tree(X, y)
        if not len(samples.Y):
            continue
        least = round(fewest_errors(X, y, np.ones(len(y))) - samples.unavoidable_loss)
        assert tree.prove((least - 1) * GRAINS_PER_COPY + 1) == impossible_sets.PROVED, seed
        assert tree.prove(least * GRAINS_PER_COPY + 1) != impossible_sets.PROVED, seed
        assert search.loss == pytest.approx(least + samples.unavoidable_loss), seed  # the rule that refutes it
        tried += least > 0
    assert tried > 5


def test_weights_without_a_common_measure_have_a_bound_below_the_optimum():
    close = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = tiny_problem(seed, 9, 2, "plain")
        weights = rng.uniform(0.5, 2.0, len(y))
        settings = {"cones": 0, "steps": 200, "time_limit": None}
        learner = make_learner("certify", settings, 0).fit(X, y, sample_weight=weights)
        least = fewest_errors(X, y, weights / weights.mean())
        assert learner.lower_bound_ <= least + 1e-9, seed
        close += learner.lower_bound_ >= least - 1e-3
    assert close > 7
