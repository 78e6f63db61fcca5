"""Proof of the fewest errors of scoring systems: all sets of conditions, then all points of those left.

Problems are those of `zoloss_cli.kernels.scoring`. Costs are sums of gains below a threshold, without the
weight of the negative class; the penalty of each term is added to them.

`list_supports` goes through the supports, sets of at most K conditions. Samples that agree on all conditions
of a support get the same class whatever the points are: each such group costs at least min(0, the sum of its
gains), and a support whose groups cost too much is discarded. A group with gains of one sign is dropped on
the way down: it costs the same however it is divided.

`search_supports` decides the points of a support's terms one after another. Samples that agree on all
undecided terms are ordered by their points so far, so that each such group costs at least as much as at its
own best threshold. Once all points are decided, there is one group, and the bound is the cost.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

SMALL_GROUP = 8  # patterns: up to this many are sorted faster by insertion than by a histogram
DEPTH, NODES, FOUND, IS_LISTED = range(4)  # indices into a listing's numbers
AT, LEAF_DEPTH, N_PATTERNS, LEAF_NODES, IMPROVED = range(5)  # indices into a search's numbers


@exact_kernel
def refine_groups(levels, n_levels, gains, samples, ids, n_samples, n_groups, plus, minus):
    """Divide groups by a condition; return the least cost of the parts, and set the sums of their gains.

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
    """Return the least cost of groups that are divided by all later conditions, whose groups are `suffix`."""
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
def has_required(required, n_required, support, size):
    """Return whether a support contains a condition of every required column."""
    for column in range(n_required):
        found = False
        for k in range(size):
            found |= required[support[k]] == column
        if not found:
            return False
    return True


@exact_kernel
def list_supports(problem, n_required, penalty, suffixes, tree, room, numbers, best, max_nodes, found):
    """Continue the list of supports that may cost less than `best`; return whether it is complete.

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
        is_leaf = size == K or penalty > 0
        if is_leaf and cost + penalty * size < best and has_required(required, n_required, chosen, size):
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
    """Collapse the samples to the patterns of a support, and group these by the terms from each one on."""
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
def bound_groups(gains, totals, order, starts, slack, width, low, room):
    """Return how much more groups of patterns cost, each with one threshold, than patterns on their own.

    Totals are between `low` and low + width - 1. Groups are left out once the excess is above `slack`.
    """
    excess = np.int64(0)
    for g in range(starts[0]):
        begin, end = starts[1 + g], starts[2 + g]
        best, below, alone = np.int64(0), np.int64(0), np.int64(0)
        if end - begin == 1:
            continue
        if end - begin <= SMALL_GROUP:
            for q in range(begin, end):  # sort into `room`: totals in row 0, gains in row 1
                total, gain = totals[order[q]], gains[order[q]]
                alone += min(np.int64(0), gain)
                at = q - begin
                while at > 0 and room[0, at - 1] > total:
                    room[0, at], room[1, at] = room[0, at - 1], room[1, at - 1]
                    at -= 1
                room[0, at], room[1, at] = total, gain
            for at in range(end - begin):
                below += room[1, at]
                if at + 1 == end - begin or room[0, at + 1] > room[0, at]:
                    best = min(best, below)
        else:
            for x in range(width):
                room[0, x] = 0
            for q in range(begin, end):
                gain = gains[order[q]]
                alone += min(np.int64(0), gain)
                room[0, totals[order[q]] - low] += gain
            for x in range(width):
                below += room[0, x]
                best = min(best, below)
        excess += best - alone
        if excess > slack:
            break
    return excess


@exact_kernel
def has_required_points(required, n_required, support, points, size):
    """Return whether some term of every required column has points."""
    for column in range(n_required):
        found = False
        for k in range(size):
            found |= required[support[k]] == column and points[k] != 0
        if not found:
            return False
    return True


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
            excess = bound_groups(
                pattern_gains,
                totals[t + 1],
                orders[t + 1],
                starts[t + 1],
                best[0] - 1 - bound,
                ranges[t + 1, 1] - ranges[t + 1, 0] + 1,
                ranges[t + 1, 0],
                room,
            )
            if bound + excess >= best[0]:
                continue
            if t + 1 < size:
                numbers[LEAF_DEPTH] = t + 1
                points[t + 1] = lowest[support[t + 1]] - 1
            elif has_required_points(required, n_required, support, points, size):
                best[0] = bound + excess
                numbers[IMPROVED] += 1
                for k in range(best_terms.shape[0]):
                    used = k < size and points[k] != 0
                    best_terms[k], best_points[k] = support[k] if used else -1, points[k] if used else 0
        numbers[LEAF_DEPTH] = -1
        numbers[AT] += 1
    return True
