"""Complexity with a lookup table (Li's thesis 2006, Definitions 1.3, 1.7): theorems, brute force, command."""

import json
import math

import numpy as np
import pytest
from drawing import drawn, named_lines
from hypothesis import given
from hypothesis import strategies as st
from own_rows import as_csv, loaded, noisy_rows, refused
from reference_runs import find_reference_run

from zoloss_cli import data_complexity
from zoloss_cli.complexity.decomposition import cluster_samples
from zoloss_cli.complexity.hard_margin import build_problem
from zoloss_cli.complexity.measures import compute_entry_cost, find_lookup_complexity
from zoloss_cli.figures.thesis_complexity import draw_trade_off, find_principal_pairs, measure_pairs

PAIRS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=20)
COSTS = st.floats(0.01, 30.0)


@given(st.floats(0.001, 0.499), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_shortest_is_the_most_probable(noise, c1, e1, c2, e2):
    """Section 1.3.3: |h| + lambda e is -log2 Pr(h | D) up to a constant, so differences are the same."""
    n, cost = 30, compute_entry_cost(noise)
    posterior = [-c + e * math.log2(noise) + (n - e) * math.log2(1.0 - noise) for c, e in ((c1, e1), (c2, e2))]
    assert (c1 + cost * e1) - (c2 + cost * e2) == pytest.approx(posterior[1] - posterior[0], abs=1e-9)


@given(PAIRS, COSTS)
def test_principal_points_are_enough(pairs, cost):
    principal = find_principal_pairs(np.array(pairs)).tolist()
    found, among_all = (find_lookup_complexity(p, cost) for p in (principal, pairs))
    assert found.value == among_all.value == min(c + cost * e for c, e in pairs)
    assert found.value == found.complexity + cost * found.error


@given(PAIRS, st.tuples(COSTS, COSTS).map(sorted))
def test_a_higher_cost_never_allows_more_errors_or_a_shorter_description(pairs, costs):
    cheap, dear = (find_lookup_complexity(pairs, cost) for cost in costs)
    assert dear.value >= cheap.value
    assert dear.error <= cheap.error


def test_the_command_says_what_a_loop_over_rows_finds(zoloss, table):
    mine = table(as_csv(noisy_rows()))
    options = ("--permutations", 5, "--clusters", 6, "--exact", "--cost", 2, "--json")
    ended = zoloss.ok("complexity", mine, *options)
    found = json.loads(ended.out)["lookup"]
    X, y, own = loaded(mine)
    kept, lines, complexities = list(range(len(y))), [], [data_complexity(X, y)]
    while True:
        without = [data_complexity(np.delete(X[kept], i, 0), np.delete(y[kept], i)) for i in range(len(kept))]
        if complexities[-1] - min(without) < 2:
            break
        complexities.append(min(without))
        lines.append(own.lines[kept.pop(int(np.argmin(without)))])
    assert lines
    assert (found["removed_lines"], found["complexities"]) == (lines, complexities)
    problem = build_problem(X, y)
    pairs = measure_pairs(problem, cluster_samples(problem, 6)).subsets
    assert found["shortest"]["value"] == min(c + 2 * e for c, e in [*pairs.tolist(), [0, len(y)]])


def test_text_of_the_command_and_its_refusals(zoloss, table):
    mine = table(as_csv(noisy_rows()))
    quick = ("--permutations", 5)
    assert "at a cost of 2 each" in zoloss("complexity", mine, *quick, "--noise", 0.2).out
    assert "No row lowers the complexity by 50 or more" in zoloss("complexity", mine, *quick, "--cost", 50).out
    for arguments, said in (
        (("--cost", 1, "--noise", 0.1), "--cost and --noise set the same cost"),
        (("--noise", 0.5), "--noise: the probability of a wrong label must be above 0 and below 0.5"),
        (("--cost", 0), "--cost: must be a number above 0"),
    ):
        refused(zoloss("complexity", mine, *arguments), 2, said)
    refused(zoloss("complexity", "iris", "--cost", 1), 2, "--cost: the rightmost segment needs two classes")


def test_the_figure_has_the_means_of_the_stored_draws():
    left, right = drawn(draw_trade_off, find_reference_run("figure1.5")).axes
    for x, y in named_lines(left).values():
        assert np.all(np.diff(y) >= 0.0)
        assert np.all(np.diff(y) <= 31 * np.diff(x) + 1e-9)  # Theorem 1.3: at most every sample is memorized
    for _, errors in named_lines(right).values():
        assert np.all(np.diff(errors) >= 0.0)
