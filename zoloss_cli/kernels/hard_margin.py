"""The hard-margin SVM on a kernel matrix, by an exact active-set method with warm starts.

min 1/2 sum of b_i b_j K_ij - sum of y_i b_i, subject to sum of b_i = 0 and alpha_i = y_i b_i >= 0. Goldfarb &
Idnani (1983), with a set S of samples on the margin, f_i = sum of b_j K_ij + c = y_i. The inverse R of

    [ 0   1'  ]
    [ 1  K_SS ]

gives c and b, and -R (1, K_Sp)' is how they change when another sample p gains weight. The most violated
sample p of the set enters: its weight grows until it lies on the margin, too; members that lose all weight on
the way leave S. K only needs to be positive definite on vectors that sum to 0, as -||x - x'|| is.

Index 0 of R, coef, k and d is the bias, and the members of S follow in any order; only the lower triangle of
R is kept. If there is only one class, S is a single sample, b = 0 and c = y.

Many functions return (status, sample): SOLVED and -1, or why there is no solution and the sample it ended at.

Solving along a path of growing sets takes 1 us a set with 100 samples, one by one with LIBSVM 1 ms: python -m
pytest tests/bench/test_complexity_speed.py --benchmark-only -k path.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from zoloss_cli.kernels.compilation import kernel
from zoloss_cli.kernels.numeric import PERMUTED, draw_epoch

MARGIN_TOLERANCE = 1e-9  # a margin below 1 minus this violates the solution
MAX_MEMBER_ERROR = 1e-11  # members of S farther off the margin are corrected
MIN_RELATIVE_WEIGHT = 1e-9  # of the largest: a sample with less is not a support vector
ROUNDING = 1e-12  # a sum that is smaller than this share of the size of its terms is 0
STEPS_PER_SAMPLE = 50  # a solution takes far fewer: beyond this, the method is cycling
SOLVED, INSEPARABLE, INDEFINITE, STUCK = range(4)

# R: (n + 1) x (n + 1); coef: c and b_S; sign, place: labels and indices of the members; f: the n outputs; k,
# d: workspace; size: [|S|, number of support vectors].
HardMarginSolution = namedtuple("Solution", "R coef sign place f k d size")
# Kernel rows in the order of a path: rows[i] is K[order[i], order], gathered when first needed (ready[i]); y:
# the labels in that order; flat: the slope below which a sample depends on S.
KernelRows = namedtuple("Rows", "K order rows ready y flat")


@kernel
def allocate_solution(n):
    """Return an empty solution with capacity for n samples."""
    R, place, f, size = np.empty((n + 1, n + 1)), np.zeros(n + 1, np.int64), np.zeros(n), np.zeros(2, np.int64)
    coef, sign, k, d = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    return HardMarginSolution(R, coef, sign, place, f, k, d, size)


@kernel
def copy_solution(a, b):
    """Copy solution a into b."""
    m = a.size[0]
    for i in range(m + 1):
        b.coef[i], b.sign[i], b.place[i] = a.coef[i], a.sign[i], a.place[i]
        for j in range(i + 1):
            b.R[i, j] = a.R[i, j]
    for i in range(a.f.size):
        b.f[i] = a.f[i]
    b.size[0], b.size[1] = a.size[0], a.size[1]


@kernel
def build_path_rows(K, y, order, flat):
    """Return the kernel rows and labels of the samples in this order, with no row gathered yet."""
    n = order.size
    signs = np.empty(n)
    for i in range(n):
        signs[i] = y[order[i]]
    return KernelRows(K, order, np.empty((n, n)), np.zeros(n, np.bool_), signs, flat)


@kernel
def get_kernel_row(rows, i):
    """Return the kernel of the i-th sample with all samples, in the order of the path."""
    row = rows.rows[i]
    if not rows.ready[i]:
        rows.ready[i] = True
        source = rows.K[rows.order[i]]
        for j in range(row.size):
            row[j] = source[rows.order[j]]
    return row


@kernel
def start_with_sample(rows, i, s):
    """Set S to the i-th sample alone, which gives all samples its class."""
    s.R[0, 0], s.R[1, 0], s.R[1, 1] = -get_kernel_row(rows, i)[i], 1.0, 0.0
    s.coef[0], s.coef[1] = rows.y[i], 0.0
    s.sign[1], s.place[1] = rows.y[i], i
    s.size[0], s.size[1] = 1, 0


@kernel
def apply_inverse(s):
    """Set d = -R k."""
    for a in range(s.size[0] + 1):
        row, k_a = s.R[a], s.k[a]
        total = row[a] * k_a
        s.d[a] = 0.0
        for b in range(a):
            total += row[b] * s.k[b]
            s.d[b] -= row[b] * k_a
        s.d[a] -= total


@kernel
def compute_response(rows, i, s):
    """Set d to how c and b_S respond to a unit of b_i; return how f_i does: 0 if sample i depends on S."""
    row, top = get_kernel_row(rows, i), s.size[0] + 1
    s.k[0] = 1.0
    for a in range(1, top):
        s.k[a] = row[s.place[a]]
    apply_inverse(s)
    slope, size = row[i], abs(row[i])
    for a in range(top):
        slope += s.k[a] * s.d[a]
        size += abs(s.k[a] * s.d[a])
    return slope if abs(slope) > ROUNDING * size else 0.0


@kernel
def add_member(rows, i, weight, slope, s):
    """Add the i-th sample to S; d and `slope` are those of `compute_response`."""
    top = s.size[0] + 1
    for a in range(top):
        scaled = s.d[a] / slope
        for b in range(a + 1):
            s.R[a, b] += scaled * s.d[b]
        s.R[top, a] = scaled
    s.R[top, top] = 1.0 / slope
    s.coef[top], s.sign[top], s.place[top] = weight, rows.y[i], i
    s.size[0] = top


@kernel
def remove_member(out, s):
    """Remove member `out`, whose index the last one takes; update d and return how much the slope grows."""
    last, pivot, share = s.size[0], s.R[out, out], s.d[out] / s.R[out, out]
    gain = s.d[out] * share
    taken = s.k  # workspace that is free when members leave
    for a in range(last + 1):
        taken[a] = s.R[out, a] if a < out else s.R[a, out]
        s.d[a] -= share * taken[a]
    for a in range(last + 1):
        scaled = taken[a] / pivot
        for b in range(a + 1):
            s.R[a, b] -= scaled * taken[b]
    if out != last:
        for a in range(out):
            s.R[out, a] = s.R[last, a]
        for a in range(out + 1, last):
            s.R[a, out] = s.R[last, a]
        s.R[out, out] = s.R[last, last]
        s.d[out], s.coef[out] = s.d[last], s.coef[last]
        s.sign[out], s.place[out] = s.sign[last], s.place[last]
    s.size[0] = last - 1
    return gain


@kernel
def shift_weight(sign, weight, gap, slope, flat, s):
    """Change b_i of a sample outside S, of class `sign`, until it is on the margin (gap > 0) or 0 (gap = 0).

    Members of S that lose all weight on the way leave it. Returns (weight of i, slope, status).
    """
    entering = gap > 0.0
    way = sign if entering else -sign
    while True:
        step, out = np.inf, 0
        if not entering:
            step = weight
        elif slope > flat:
            step = gap / slope
        for a in range(1, s.size[0] + 1):
            rate = s.sign[a] * way * s.d[a]
            if rate < 0.0:
                room = -max(s.sign[a] * s.coef[a], 0.0) / rate
                if room < step:
                    step, out = room, a
        if step == np.inf:
            return weight, slope, INSEPARABLE
        for a in range(s.size[0] + 1):
            s.coef[a] += step * way * s.d[a]
        weight += step if entering else -step
        gap -= step * slope
        if out == 0:
            return weight, slope, SOLVED
        if s.size[0] == 1:  # all weights reach 0 together
            return weight, slope, STUCK if entering else SOLVED
        slope += remove_member(out, s)


@kernel
def rebuild_inverse(rows, s):
    """Compute R from scratch, and c and b from it; return False if a member depends on the others."""
    m = s.size[0]
    start_with_sample(rows, s.place[1], s)
    for a in range(2, m + 1):  # the a-th member is written to where it was read
        slope = compute_response(rows, s.place[a], s)
        if not slope > 0.0:
            return False
        add_member(rows, s.place[a], 0.0, slope, s)
    s.k[0] = 0.0
    for a in range(1, m + 1):
        s.k[a] = s.sign[a]
    apply_inverse(s)
    for a in range(m + 1):
        s.coef[a] = -s.d[a]
    return True


@kernel
def enter_sample(rows, i, f, s):
    """Bring the i-th sample, whose output f is too small for its class, onto the margin; return a status."""
    sign = rows.y[i]
    slope = compute_response(rows, i, s)
    if slope < -rows.flat:
        if rebuild_inverse(rows, s):
            slope = compute_response(rows, i, s)
        if slope < -rows.flat:
            return INDEFINITE
    weight, slope, status = shift_weight(sign, 0.0, 1.0 - sign * f, slope, rows.flat, s)
    if status == SOLVED:
        add_member(rows, i, sign * weight, slope, s)
    return status


@kernel
def evaluate_outputs(rows, n, s):
    """Compute f of the first n samples; set k to the errors of members of S, and return the largest one."""
    f, m = s.f, s.size[0]
    for i in range(n):
        f[i] = s.coef[0]
    a = 1
    while a + 3 <= m:
        p, q, r, t = s.coef[a], s.coef[a + 1], s.coef[a + 2], s.coef[a + 3]
        P, Q = rows.rows[s.place[a]], rows.rows[s.place[a + 1]]
        U, V = rows.rows[s.place[a + 2]], rows.rows[s.place[a + 3]]
        for i in range(n):
            f[i] += p * P[i] + q * Q[i] + r * U[i] + t * V[i]
        a += 4
    while a <= m:
        p, P = s.coef[a], rows.rows[s.place[a]]
        for i in range(n):
            f[i] += p * P[i]
        a += 1
    worst, total = 0.0, 0.0
    for a in range(1, m + 1):
        s.k[a] = s.sign[a] - f[s.place[a]]
        worst = max(worst, abs(s.k[a]))
        total += s.coef[a]
    s.k[0] = -total
    return worst


@kernel
def refine_solution(rows, n, s):
    """Compute f of the first n samples, with c and b as exact as possible; return a status."""
    worst = evaluate_outputs(rows, n, s)
    for attempt in range(4):
        if worst <= MAX_MEMBER_ERROR:
            break
        if attempt == 2 and not rebuild_inverse(rows, s):
            return STUCK
        if attempt != 2:
            apply_inverse(s)
            for a in range(s.size[0] + 1):
                s.coef[a] -= s.d[a]
        worst = evaluate_outputs(rows, n, s)
    return SOLVED if worst < 0.5 * MARGIN_TOLERANCE else STUCK


@kernel
def count_support_vectors(s):
    """Return how many members of S have weight."""
    most, mixed, count = 0.0, False, 0
    for a in range(1, s.size[0] + 1):
        most = max(most, s.sign[a] * s.coef[a])
        mixed = mixed or s.sign[a] != s.sign[1]
    if mixed:  # members of one class have weight only by rounding
        for a in range(1, s.size[0] + 1):
            count += s.sign[a] * s.coef[a] > MIN_RELATIVE_WEIGHT * most
    return count


@kernel
def resolve_violations(rows, inside, n, s):
    """Let violated samples of the first n that are `inside` enter, one by one; return (status, sample)."""
    steps = 0
    while True:
        status = refine_solution(rows, n, s)
        worst, least = -1, 1.0 - MARGIN_TOLERANCE
        for i in range(n):
            margin = rows.y[i] * s.f[i]
            if margin < least and inside[i]:
                worst, least = i, margin
        if status != SOLVED:
            return status, worst
        if worst < 0:
            break
        if steps > STEPS_PER_SAMPLE * (n + 10):
            return STUCK, worst
        status = enter_sample(rows, worst, s.f[worst], s)
        if status != SOLVED:
            return status, worst
        steps += 1
    s.size[1] = count_support_vectors(s)
    return SOLVED, -1


@kernel
def add_sample(rows, inside, i, s):
    """Add the i-th sample to the solved set of those before it; return (status, sample)."""
    inside[i] = True
    if s.size[0] == 0:
        start_with_sample(rows, i, s)
        return SOLVED, -1
    source, f = rows.K[rows.order[i]], s.coef[0]
    for a in range(1, s.size[0] + 1):
        f += s.coef[a] * source[rows.order[s.place[a]]]
    if rows.y[i] * f >= 1.0 - MARGIN_TOLERANCE:
        return SOLVED, -1
    status = enter_sample(rows, i, f, s)
    return resolve_violations(rows, inside, i + 1, s) if status == SOLVED else (status, i)


@kernel
def remove_sample(rows, inside, i, n, s):
    """Remove the i-th sample from the solved set of the first n; return (status, sample)."""
    inside[i] = False
    at = 0
    for a in range(1, s.size[0] + 1):
        if s.place[a] == i:
            at = a
    if at == 0:
        return SOLVED, -1
    weight = s.sign[at] * s.coef[at]
    if s.size[0] > 1:
        remove_member(at, s)
        slope = compute_response(rows, i, s)
        _, _, status = shift_weight(rows.y[i], weight, 0.0, slope, rows.flat, s)
        if status != SOLVED:
            return status, i
    else:  # it was alone in S: another sample of its class takes its place, if there is one
        s.size[0] = 0
        for j in range(n):
            if inside[j]:
                start_with_sample(rows, j, s)
    return resolve_violations(rows, inside, n, s) if s.size[0] > 0 else (SOLVED, -1)


@kernel
def count_along_path(rows, upto, counts, s):
    """Set `counts` to the support vectors of the first 0, 1, ..., upto samples; return (status, sample)."""
    inside = np.zeros(rows.order.size, np.bool_)
    s.size[0] = s.size[1] = counts[0] = 0
    for i in range(upto):
        status, where = add_sample(rows, inside, i, s)
        if status != SOLVED:
            return status, where
        counts[i + 1] = s.size[1]
    return SOLVED, -1


@kernel
def count_path_support_vectors(K, y, order, flat):
    """Return (counts, status, sample), with the support vectors of the first 0, 1, ... samples in order."""
    counts = np.zeros(order.size + 1, np.int64)
    rows = build_path_rows(K, y, order, flat)
    status, where = count_along_path(rows, order.size, counts, allocate_solution(order.size))
    return counts, status, where


@kernel
def solve_hard_margin(K, y, members, flat):
    """Return (solution, status, sample) for these samples; places in it are indices into `members`."""
    n = members.size
    rows, s = build_path_rows(K, y, members, flat), allocate_solution(n)
    start_with_sample(rows, 0, s)
    status, where = resolve_violations(rows, np.ones(n, np.bool_), n, s)
    return s, status, where


@kernel
def add_path_sums(K, y, flat, counter, permutations, s1, s2, group, by_sample, products, by_size):
    """Add the sums over `permutations` random paths to the last three arrays; return (status, sample).

    by_sample (N x 2) holds [sum, number] of the increases in complexity when a sample joins a set of s1, ...,
    s2 - 1 samples; by_size[g, n] (groups x N x 2) holds the same for a sample of group g joining a set of n.
    With one equation for each set of s1 + 1 to s2 samples, C(S_m) - C(S_s1) = sum of the contributions of the
    samples in between, products[:N] is P'P of (1.12), of which only the entries (later, earlier on the path)
    are added to, and products[N] is P'Delta. Nothing is added to `products` if it has no rows.
    """
    n = y.size
    none_cut, none_alias = np.empty(0, np.uint64), np.empty(0, np.int32)
    order, counts, s = np.arange(n), np.zeros(n + 1, np.int64), allocate_solution(n)
    rows = build_path_rows(K, y, order, flat)
    for _ in range(permutations):
        counter = draw_epoch(PERMUTED, order, counter, none_cut, none_alias)
        for i in range(n):
            rows.y[i], rows.ready[i] = y[order[i]], False
        status, where = count_along_path(rows, s2, counts, s)
        if status != SOLVED:
            return status, order[where]
        for i in range(s2):
            growth, g = counts[i + 1] - counts[i], group[order[i]]
            by_size[g, i, 0] += growth
            by_size[g, i, 1] += 1
            if i >= s1:
                by_sample[order[i], 0] += growth
                by_sample[order[i], 1] += 1
        if products.shape[0] == 0:
            continue
        later = 0
        for i in range(s2 - 1, s1 - 1, -1):
            later += counts[i + 1] - counts[s1]
            products[n, order[i]] += later
            line = products[order[i]]
            for j in range(s1, i + 1):
                line[order[j]] += s2 - i  # the number of equations that contain both
    return SOLVED, -1


@kernel
def compute_leave_one_out(K, y, members, flat):
    """Return (complexity of the members, complexities without each of them, status, sample)."""
    n = members.size
    rows, s, one_less = build_path_rows(K, y, members, flat), allocate_solution(n), allocate_solution(n)
    inside, counts = np.ones(n, np.bool_), np.zeros(n, np.int64)
    start_with_sample(rows, 0, s)
    status, where = resolve_violations(rows, inside, n, s)
    for i in range(n):
        if status != SOLVED:
            return 0, counts, status, where
        copy_solution(s, one_less)
        status, where = remove_sample(rows, inside, i, n, one_less)
        inside[i] = True
        counts[i] = one_less.size[1]
    return s.size[1], counts, status, where
