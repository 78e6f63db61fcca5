"""Local search for scoring systems: a few conditions, small integer points, the fewest training errors.

A problem is the tuple (levels, max_levels, gains, lowest, highest, required). `levels` is M x N: the level of
each of N merged samples on each of M conditions (0 or 1, or more for a column that is kept as it is), and
`max_levels` holds the largest level of each condition. `gains` holds N integers, the weight of the positive
class minus that of the negative class. A condition gets points between `lowest` and `highest`; `required` is
the number of the required column that it belongs to, or -1. A rule has K positions: `terms` (a condition, or
-1 for none) and `points`. A sample is classified as positive if its total points reach the threshold T, which
costs the weight of the negative class plus the gains of all samples with a total below T. All of it is in
integers.

The totals without one position make a histogram per level; from its cumulative sums follow the costs of all
points for a condition in that position, at all thresholds: the exact minimum along a coordinate.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.random import GOLDEN_GAMMA, mix_bits, scale_to_index

TERM_SIZE = 1 << 20  # at equal costs, the fewest terms win, then the smallest points
MAX_REPLACED = 3  # positions that a perturbation may change
STALE_STEPS = 40  # without a better rule, before the search restarts from a random one
CURRENT_COST, CURRENT_SIZE, BEST_COST, BEST_SIZE, STALE = range(5)  # indices into a search's numbers


@exact_kernel
def find_least_sums(levels, max_level, gains, rest, least, most, low, high, room, sums):
    """Set sums[v - low] to the least sum of gains below a threshold if a condition gets v points.

    `levels` is the condition's row, and `rest` holds the totals without it, between `least` and `most`.
    `room` is workspace with two rows, long enough for all totals.
    """
    reach = max(abs(low), abs(high))
    if max_level == 1:
        width, pad = most - least + 1, 2 * reach
        length = width + 2 * pad + 1
        for x in range(length):
            room[0, x] = 0
            room[1, x] = 0
        for i in range(rest.shape[0]):
            room[levels[i], rest[i] - least + pad + 1] += gains[i]
        for x in range(1, length):
            room[0, x] += room[0, x - 1]
            room[1, x] += room[1, x - 1]
        for v in range(low, high + 1):
            best = np.int64(0)
            for x in range(pad - reach, pad + width + reach + 1):
                best = min(best, room[0, x] + room[1, x - v])
            sums[v - low] = best
        return
    for v in range(low, high + 1):
        start = least + min(0, v * max_level)
        length = most + max(0, v * max_level) - start + 1
        for x in range(length):
            room[0, x] = 0
        for i in range(rest.shape[0]):
            room[0, rest[i] + v * levels[i] - start] += gains[i]
        best, below = np.int64(0), np.int64(0)
        for x in range(length):
            below += room[0, x]
            best = min(best, below)
        sums[v - low] = best


@exact_kernel
def add_points(levels, points, totals):
    """Add a condition's points to all totals."""
    for i in range(totals.shape[0]):
        totals[i] += points * levels[i]


@exact_kernel
def compute_totals(levels, terms, points, totals):
    """Set `totals` to the total points of each sample."""
    for i in range(totals.shape[0]):
        totals[i] = 0
    for k in range(terms.shape[0]):
        if terms[k] >= 0:
            add_points(levels[terms[k]], points[k], totals)


@exact_kernel
def find_missing_column(required, n_required, terms, skipped):
    """Return the required column that is missing without position `skipped`: -1 for none, -2 for several."""
    missing = -1
    for column in range(n_required):
        found = False
        for k in range(terms.shape[0]):
            if k != skipped and terms[k] >= 0 and required[terms[k]] == column:
                found = True
        if not found:
            missing = column if missing == -1 else -2
            if missing == -2:
                break
    return missing


@exact_kernel
def measure_size(terms, points, skipped):
    """Return the number of terms, and the size by which ties are decided, without position `skipped`."""
    count, size = 0, 0
    for k in range(terms.shape[0]):
        if k != skipped and terms[k] >= 0:
            count += 1
            size += TERM_SIZE + abs(points[k])
    return count, size


@exact_kernel
def improve_position(problem, n_required, penalty, terms, points, k, totals, room, sums, cost, size):
    """Put the best condition with its best points into position k; return the rule's cost and size.

    `totals` holds those of the rule, and is kept up to date. An empty position may stay empty.
    """
    levels, max_levels, gains, lowest, highest, required = problem
    missing = find_missing_column(required, n_required, terms, k)
    if missing == -2:
        return cost, size
    count, rest_size = measure_size(terms, points, k)
    old, old_points = terms[k], points[k]
    if old >= 0:
        add_points(levels[old], -old_points, totals)
    least, most = totals[0], totals[0]
    for i in range(totals.shape[0]):
        least, most = min(least, totals[i]), max(most, totals[i])
    new, new_points = old, old_points
    for j in range(levels.shape[0]):
        if highest[j] == lowest[j] or (missing >= 0 and required[j] != missing):
            continue
        used = False
        for other in range(terms.shape[0]):
            used |= other != k and terms[other] == j
        if used:
            continue
        find_least_sums(levels[j], max_levels[j], gains, totals, least, most, lowest[j], highest[j], room, sums)
        for v in range(lowest[j], highest[j] + 1):
            if v == 0 and missing >= 0:
                continue
            new_cost = sums[v - lowest[j]] + penalty * (count + (v != 0))
            new_size = rest_size + (TERM_SIZE + abs(v)) * (v != 0)
            if new_cost < cost or (new_cost == cost and new_size < size):
                cost, size, new, new_points = new_cost, new_size, j if v != 0 else -1, v
    terms[k], points[k] = new, new_points
    if new >= 0:
        add_points(levels[new], new_points, totals)
    return cost, size


@exact_kernel
def compute_cost(problem, penalty, terms, points, totals, room):
    """Return the cost of a rule at its best threshold, without the negative class's weight; set `totals`."""
    levels, gains = problem[0], problem[2]
    compute_totals(levels, terms, points, totals)
    least, most = totals[0], totals[0]
    for i in range(totals.shape[0]):
        least, most = min(least, totals[i]), max(most, totals[i])
    for x in range(most - least + 1):
        room[0, x] = 0
    for i in range(totals.shape[0]):
        room[0, totals[i] - least] += gains[i]
    best, below = np.int64(0), np.int64(0)
    for x in range(most - least + 1):
        below += room[0, x]
        best = min(best, below)
    count = 0
    for k in range(terms.shape[0]):
        count += terms[k] >= 0
    return best + penalty * count


@exact_kernel
def descend(problem, n_required, penalty, terms, points, totals, room, sums):
    """Improve one position after another until none can be improved; return cost and size."""
    cost = compute_cost(problem, penalty, terms, points, totals, room)
    size = measure_size(terms, points, -1)[1]
    k, idle = 0, 0
    while idle < terms.shape[0]:
        old_cost, old_size = cost, size
        cost, size = improve_position(
            problem, n_required, penalty, terms, points, k, totals, room, sums, cost, size
        )
        idle = 0 if cost < old_cost or size < old_size else idle + 1
        k = (k + 1) % terms.shape[0]
    return cost, size


@exact_kernel
def replace_at_random(problem, n_required, terms, points, k, counter):
    """Draw a condition and its points for position k; return the advanced counter."""
    lowest, highest, required = problem[3], problem[4], problem[5]
    missing = find_missing_column(required, n_required, terms, k)
    M = lowest.shape[0]
    counter += GOLDEN_GAMMA
    first = np.int64(scale_to_index(mix_bits(counter), uint64(M)))
    for step in range(M):
        j = (first + step) % M
        if highest[j] == lowest[j] or (missing != -1 and required[j] != missing):
            continue
        used = False
        for other in range(terms.shape[0]):
            used |= other != k and terms[other] == j
        if used:
            continue
        counter += GOLDEN_GAMMA
        drawn = np.int64(scale_to_index(mix_bits(counter), uint64(highest[j] - lowest[j])))
        v = lowest[j] + drawn
        terms[k], points[k] = j, v if v < 0 else v + 1
        break
    return counter


@exact_kernel
def run_steps(problem, n_required, penalty, rules, totals, room, sums, numbers, steps, counter):
    """Perturb the current rule and descend, `steps` times; return the advanced counter.

    `rules` is a tuple of the terms and points of the current rule, of the best one, and of one that is
    workspace. A rule that costs no more becomes the current one; after STALE_STEPS without a better one,
    everything is redrawn.
    """
    terms, points, best_terms, best_points, new_terms, new_points = rules
    K = terms.shape[0]
    for _ in range(steps):
        for k in range(K):
            new_terms[k], new_points[k] = terms[k], points[k]
        counter += GOLDEN_GAMMA
        replaced = 1 + np.int64(scale_to_index(mix_bits(counter), uint64(min(MAX_REPLACED, K))))
        anew = numbers[STALE] >= STALE_STEPS
        if anew:
            replaced = K
            numbers[STALE] = 0
        for r in range(replaced):
            counter += GOLDEN_GAMMA
            k = r if anew else np.int64(scale_to_index(mix_bits(counter), uint64(K)))
            counter = replace_at_random(problem, n_required, new_terms, new_points, k, counter)
        cost, size = descend(problem, n_required, penalty, new_terms, new_points, totals, room, sums)
        numbers[STALE] += 1
        better = cost < numbers[CURRENT_COST] or (
            cost == numbers[CURRENT_COST] and size < numbers[CURRENT_SIZE]
        )
        if better and not anew:
            numbers[STALE] = 0
        if cost <= numbers[CURRENT_COST] or anew:
            numbers[CURRENT_COST], numbers[CURRENT_SIZE] = cost, size
            for k in range(K):
                terms[k], points[k] = new_terms[k], new_points[k]
        if cost < numbers[BEST_COST] or (cost == numbers[BEST_COST] and size < numbers[BEST_SIZE]):
            numbers[BEST_COST], numbers[BEST_SIZE] = cost, size
            for k in range(K):
                best_terms[k], best_points[k] = new_terms[k], new_points[k]
    return counter
