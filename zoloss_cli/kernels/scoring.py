"""Scoring systems: a few conditions, small integer points, the fewest training errors; local search and proof.

A problem is the tuple (levels, max_levels, gains, lowest, highest, required). `levels` is M x N: the level of
each of N merged samples on each of M conditions (0 or 1, or more for a feature used as is), and
`max_levels` holds the largest level of each condition. `gains` holds N integers, the weight of the positive
class minus that of the negative class. A condition gets points between `lowest` and `highest`; `required` is
the number of the required column that it belongs to, or -1. A rule has K positions: `terms` (a condition, or -1
for none) and `points`. A sample is classified as positive if its total points reach the threshold T, which
costs the weight of the negative class plus the gains of all samples with a total below T. Here costs omit
that weight and include the penalty of each term; all of them are integers.

Local search: the totals without one position make a histogram per level; its cumulative sums give the
costs of all points for a condition in that position, at all thresholds: the exact minimum along a coordinate.

Proof: `list_supports` enumerates the supports, sets of at most K conditions. Samples that agree on all
conditions of a support get the same class for any points: each such group costs at least min(0, the
sum of its gains), and a support whose groups cost too much is pruned. A group with gains of one sign is
dropped on the way down: it costs the same however it is divided. `search_supports` decides the points of a
support's terms one after another. Samples that agree on all undecided terms are ordered by their points so far,
so that each such group costs at least as much as at its own best threshold. Once all points are decided, there
is one group, and the bound is the cost.

Systems of 5 terms with points up to 5 are found and proved optimal in 0.43 s on breast, and 0.24 s on heart and
votes84 (python -m pytest tests/bench/test_scoring_speed.py --benchmark-only). HiGHS proves only the last, in
82 s (python tests/bench/scoring_milp.py 600 breast heart votes84).
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels.compilation import exact_kernel
from zoloss_cli.kernels.numeric import GOLDEN_GAMMA, mix_bits, scale_to_index

TERM_SIZE = 1 << 20  # on ties of the cost, the fewest terms win, then the smallest points
MAX_REPLACED = 3  # positions that a perturbation may change
STALE_STEPS = 40  # without a better rule, before the search restarts from a random one
CURRENT_COST, CURRENT_SIZE, BEST_COST, BEST_SIZE, STALE = range(5)  # indices into a local search's numbers
DEPTH, NODES, FOUND, IS_LISTED = range(4)  # indices into a listing's numbers
AT, LEAF_DEPTH, N_PATTERNS, LEAF_NODES, IMPROVED = range(5)  # indices into a search's numbers


@exact_kernel
def find_least_sums(levels, max_level, gains, rest, least, most, low, high, room, sums):
    """Set sums[v - low] to the smallest sum of gains below a threshold if a condition gets v points.

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
    """Put the best condition, or none, into position k, and update `totals`; return cost and size."""
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
    return best + penalty * measure_size(terms, points, -1)[0]


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
    workspace. A rule that costs no more becomes the current one; after STALE_STEPS without a better one, the
    search restarts from a random rule.
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
        smaller = cost == numbers[CURRENT_COST] and size < numbers[CURRENT_SIZE]
        if (cost < numbers[CURRENT_COST] or smaller) and not anew:
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


@exact_kernel
def refine_groups(levels, n_levels, gains, samples, ids, n_samples, n_groups, plus, minus):
    """Divide groups by a condition; return the smallest cost of the parts, and set the sums of their gains.

    samples[:n_samples] are in the groups `ids`; `plus` and `minus` get the sums of each part's gains above
    and below 0.
    """
    parts = n_groups * n_levels
    for g in range(parts):
        plus[g] = 0
        minus[g] = 0
    for i in range(n_samples):
        g = ids[i] * n_levels + levels[samples[i]]
        gain = gains[samples[i]]
        plus[g] += max(gain, np.int64(0))
        minus[g] += min(gain, np.int64(0))
    cost = np.int64(0)
    for g in range(parts):
        cost += min(np.int64(0), plus[g] + minus[g])
    return cost


@exact_kernel
def keep_mixed_groups(levels, n_levels, groups, new_groups, n_groups, sums, numbering):
    """Copy the samples of parts with gains of both signs, renumbered; return the cost of all other parts.

    `groups` and `new_groups` are (samples, ids, counts) with counts of samples and of groups; `sums` is
    (plus, minus) of `refine_groups`.
    """
    samples, ids, counts = groups
    new_samples, new_ids, new_counts = new_groups
    plus, minus = sums
    settled, found = np.int64(0), 0
    for g in range(n_groups * n_levels):
        if plus[g] > 0 and minus[g] < 0:
            numbering[g] = found
            found += 1
        else:
            numbering[g] = -1
            settled += minus[g]
    kept = 0
    for i in range(counts[0]):
        g = numbering[ids[i] * n_levels + levels[samples[i]]]
        new_samples[kept] = samples[i]
        new_ids[kept] = g
        kept += g >= 0
    new_counts[0], new_counts[1] = kept, found
    return settled


@exact_kernel
def bound_by_suffix(gains, groups, suffix, n_suffix, room):
    """Return the smallest cost of groups divided by all later conditions, whose groups are `suffix`."""
    samples, ids, counts = groups
    parts = counts[1] * n_suffix
    for g in range(parts):
        room[g] = 0
    for i in range(counts[0]):
        room[ids[i] * n_suffix + suffix[samples[i]]] += gains[samples[i]]
    cost = np.int64(0)
    for g in range(parts):
        cost += min(np.int64(0), room[g])
    return cost


@exact_kernel
def list_supports(problem, n_required, penalty, suffixes, tree, room, numbers, best, max_nodes, found):
    """Continue listing the supports that may cost less than `best`; return whether the list is complete.

    Without a penalty all supports have K terms, some of which may get no points; with a penalty there are
    smaller supports, too. `found` is a tuple with room for the supports, their sizes and their bounds; the
    listing pauses when it is full, or after `max_nodes` nodes.
    """
    levels, max_levels, gains, required = problem[0], problem[1], problem[2], problem[5]
    suffix_ids, suffix_counts = suffixes
    chosen, following, settled, samples, ids, counts = tree
    sums, numbering, suffix_room = (room[0], room[1]), room[2], room[3]
    supports, sizes, bounds = found
    M, K = levels.shape[0], chosen.shape[0]
    visited = 0
    while numbers[DEPTH] >= 0:
        if visited >= max_nodes or numbers[FOUND] >= sizes.shape[0]:
            return False
        t = numbers[DEPTH]
        j = following[t]
        if j >= M or (penalty == 0 and M - j < K - t):
            numbers[DEPTH] -= 1
            continue
        visited += 1
        numbers[NODES] += 1
        chosen[t], following[t] = j, j + 1
        size, n_levels = t + 1, max_levels[j] + 1
        cost = settled[t] + refine_groups(
            levels[j], n_levels, gains, samples[t], ids[t], counts[t, 0], counts[t, 1], sums[0], sums[1]
        )
        is_leaf = (size == K or penalty > 0) and cost + penalty * size < best
        if is_leaf and find_missing_column(required, n_required, chosen[:size], -1) == -1:
            at = numbers[FOUND]
            for k in range(size):
                supports[at, k] = chosen[k]
            sizes[at], bounds[at] = size, cost + penalty * size
            numbers[FOUND] += 1
        if size == K or j + 1 >= M:
            continue
        groups, new_groups = (samples[t], ids[t], counts[t]), (samples[size], ids[size], counts[size])
        settled[size] = settled[t] + keep_mixed_groups(
            levels[j], n_levels, groups, new_groups, counts[t, 1], sums, numbering
        )
        if size < K - 1 and counts[size, 1] * suffix_counts[j + 1] <= suffix_room.shape[0]:
            cost = settled[size] + bound_by_suffix(
                gains, new_groups, suffix_ids[j + 1], suffix_counts[j + 1], suffix_room
            )
            if cost + penalty * (size + 1) >= best:
                continue
        following[size] = j + 1
        numbers[DEPTH] = size
    numbers[IS_LISTED] = 1
    return True


@exact_kernel
def group_patterns(problem, support, size, leaf, numbers):
    """Collapse the samples to the patterns of a support, and group these by each suffix of its terms."""
    levels, max_levels, gains = problem[0], problem[1], problem[2]
    ids, table, pattern_levels, pattern_gains, orders, starts = leaf
    N = gains.shape[0]
    n = 1
    for i in range(N):
        ids[i] = 0
    for k in range(size):
        row, n_levels = levels[support[k]], max_levels[support[k]] + 1
        for g in range(n * n_levels):
            table[g] = -1
        found = 0
        for i in range(N):
            g = ids[i] * n_levels + row[i]
            if table[g] < 0:
                table[g] = found
                found += 1
            ids[i] = table[g]
        n = found
    for p in range(n):
        pattern_gains[p] = 0
    for i in range(N):
        pattern_gains[ids[i]] += gains[i]
        for k in range(size):
            pattern_levels[k, ids[i]] = levels[support[k], i]
    numbers[N_PATTERNS] = n
    # Groups at depth t agree on the terms t, t + 1, ...: at the last depth there is one.
    for p in range(n):
        ids[p] = 0
        orders[size, p] = p
    starts[size, 0], starts[size, 1], starts[size, 2] = 1, 0, n
    for t in range(size - 1, 0, -1):
        n_levels, groups = max_levels[support[t]] + 1, starts[t + 1, 0]
        # Patterns are in the order of their groups: divide each group in place, level by level.
        made, at = 0, 0
        for g in range(groups):
            for level in range(n_levels):
                begin = at
                for q in range(starts[t + 1, 1 + g], starts[t + 1, 2 + g]):
                    p = orders[t + 1, q]
                    if pattern_levels[t, p] == level:
                        orders[t, at] = p
                        at += 1
                if at > begin:
                    starts[t, 1 + made] = begin
                    made += 1
        starts[t, 0], starts[t, 1 + made] = made, at


@exact_kernel
def bound_groups(gains, totals, groups, slack, width, low, room):
    """Return how much more groups of patterns cost, each with one threshold, than patterns on their own.

    Totals are between `low` and low + width - 1. The sum ends early once it is above `slack`.
    """
    order, starts = groups
    excess = np.int64(0)
    for g in range(starts[0]):
        begin, end = starts[1 + g], starts[2 + g]
        best, below, alone = np.int64(0), np.int64(0), np.int64(0)
        if end - begin == 1:
            continue
        for x in range(width):
            room[x] = 0
        for q in range(begin, end):
            gain = gains[order[q]]
            alone += min(np.int64(0), gain)
            room[totals[order[q]] - low] += gain
        for x in range(width):
            below += room[x]
            best = min(best, below)
        excess += best - alone
        if excess > slack:
            break
    return excess


@exact_kernel
def search_supports(problem, n_required, penalty, listed, leaf, path, room, numbers, rule, max_nodes):
    """Continue the search over the points of the listed supports; return whether all are done.

    `rule` is (best, terms, points), where `best` holds the smallest cost so far. Supports are in the order of
    their bounds; the first that costs too much ends the search. numbers[IMPROVED] counts better rules.
    """
    max_levels, lowest, highest, required = problem[1], problem[3], problem[4], problem[5]
    supports, sizes, bounds, n_listed = listed
    pattern_levels, pattern_gains, orders, starts = leaf[2], leaf[3], leaf[4], leaf[5]
    points, totals, ranges = path
    best, best_terms, best_points = rule
    terms = np.empty(best_terms.shape[0], best_terms.dtype)
    visited = 0
    while numbers[AT] < n_listed:
        support, size, bound = supports[numbers[AT]], sizes[numbers[AT]], bounds[numbers[AT]]
        if bound >= best[0]:
            return True
        if numbers[LEAF_DEPTH] < 0:
            group_patterns(problem, support, size, leaf, numbers)
            numbers[LEAF_DEPTH] = 0
            points[0] = lowest[support[0]] - 1
            for p in range(numbers[N_PATTERNS]):
                totals[0, p] = 0
            ranges[0, 0], ranges[0, 1] = 0, 0
        n = numbers[N_PATTERNS]
        while numbers[LEAF_DEPTH] >= 0 and bound < best[0]:
            if visited >= max_nodes:
                return False
            t = numbers[LEAF_DEPTH]
            points[t] += 1
            j, v = support[t], points[t]
            if v > highest[j]:
                numbers[LEAF_DEPTH] -= 1
                continue
            if v == 0 and penalty > 0:
                continue  # a smaller support contains this rule
            visited += 1
            numbers[LEAF_NODES] += 1
            for p in range(n):
                totals[t + 1, p] = totals[t, p] + v * pattern_levels[t, p]
            ranges[t + 1, 0] = ranges[t, 0] + min(np.int64(0), v * max_levels[j])
            ranges[t + 1, 1] = ranges[t, 1] + max(np.int64(0), v * max_levels[j])
            slack, low = best[0] - 1 - bound, ranges[t + 1, 0]
            width = ranges[t + 1, 1] - low + 1
            groups = orders[t + 1], starts[t + 1]
            excess = bound_groups(pattern_gains, totals[t + 1], groups, slack, width, low, room)
            if bound + excess >= best[0]:
                continue
            if t + 1 < size:
                numbers[LEAF_DEPTH] = t + 1
                points[t + 1] = lowest[support[t + 1]] - 1
                continue
            for k in range(terms.shape[0]):
                terms[k] = support[k] if k < size and points[k] != 0 else -1
            if find_missing_column(required, n_required, terms, -1) == -1:
                best[0] = bound + excess
                numbers[IMPROVED] += 1
                for k in range(terms.shape[0]):
                    best_terms[k], best_points[k] = terms[k], points[k] if terms[k] >= 0 else 0
        numbers[LEAF_DEPTH] = -1
        numbers[AT] += 1
    return True
