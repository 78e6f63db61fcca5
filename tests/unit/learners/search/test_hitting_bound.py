"""Bounds by impossible sets, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from problems import fewest_errors, tiny_problem

from zoloss_cli.learners.base import Problem
from zoloss_cli.learners.search.progress import SearchProgress
from zoloss_cli.learners.search.samples import ExactFeatures, build_merged_samples
from zoloss_cli.proofs.impossible_sets import GRAINS_PER_COPY, PROVED, HittingTree, ImpossibleSets
from zoloss_cli.registry import make_learner

KINDS = ("plain", "discrete", "collinear", "duplicates")


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
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X, y = tiny_problem(seed, int(rng.integers(7, 10)), int(rng.integers(1, 4)), KINDS[seed % 4])
        tree, samples, search = build_tree(X, y)
        if not len(samples.Y):
            continue
        least = round(fewest_errors(X, y, np.ones(len(y))) - samples.unavoidable_loss)
        assert tree.prove((least - 1) * GRAINS_PER_COPY + 1) == PROVED, seed
        assert tree.prove(least * GRAINS_PER_COPY + 1) != PROVED, seed
        assert search.loss == pytest.approx(least + samples.unavoidable_loss), seed  # the rule that refutes it
        tried += least > 0
    assert tried > 8


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
