"""The 0/1 loss along a line of weights w + alpha v: all its values from one sort of its breakpoints.

`Y` is n x P, with rows y_i = label_i (1, x_i) scaled to length 1 and weights `c`; w classifies row i
correctly if <y_i, w> > 0. With f = Yw and g = Yv, row i changes sides at its breakpoint -f_i / g_i.

`compute_line_losses` sorts all breakpoints. `compute_near_losses`, for many rows, puts them into buckets by
position, whose weights give the loss at every boundary between two buckets; inside a bucket, the loss is lower
by at most the weight that the bucket can take off. Most buckets can thus be excluded from a draw, and only
the breakpoints of the others are sorted. With it a pivot step takes 91 us instead of 214 at
10,000 rows, 758 instead of 3,840 at 100,000, and 20,800 instead of 54,000 at a million (`make growth`, against
MANY_ROWS beyond all of these).
"""

from __future__ import annotations

import numpy as np
from numba import uint16, uint64

from zoloss_cli.kernels.compilation import exact_kernel, kernel
from zoloss_cli.kernels.line_search import SAMPLES_PER_BLOCK, estimate_typical_breakpoint, sort_breakpoints
from zoloss_cli.kernels.numeric import copy_vector, find_lowest_bit

ZERO_MARGIN = 1e-11  # of rows and a w of length 1: a smaller margin or slope is 0
MIN_RELATIVE_GAP = 1e-8  # of the size of its ends: a smaller gap between breakpoints is not an interval
MANY_BREAKPOINTS = 1 << 15  # with more, the workspace for sorting does not fit into the L2 cache
ROUGH_BUCKETS = 512
LOSS_TOLERANCE = 1e-9  # losses are sums of weights: those that differ by less are equal


@kernel
def compute_strict_loss(Y, c, w):
    """Return the weight of the rows that are not clearly correct: margins within rounding of 0 are errors."""
    margins = np.dot(Y, w)
    least = ZERO_MARGIN * np.sqrt(np.dot(w, w))
    total = 0.0
    for i in range(c.shape[0]):
        total += c[i] if margins[i] <= least else 0.0
    return total


@exact_kernel
def scatter_by_bucket(t, rows, count, s, buckets, bucket, starts, new_t, new_rows):
    """Write the first `count` breakpoints t and their rows in the order of buckets by t / (|t| + s)."""
    for b in range(buckets + 1):
        starts[b] = 0
    half = 0.5 * buckets
    top = np.int32(buckets - 1)
    for j in range(count):  # separate from the counting, so that it vectorizes
        b = np.int32((t[j] / (abs(t[j]) + s)) * half + half)
        bucket[j] = min(max(b, np.int32(0)), top)
    for j in range(count):
        starts[bucket[j] + 1] += 1
    for b in range(buckets):
        starts[b + 1] += starts[b]
    for j in range(count):
        at = starts[bucket[j]]
        starts[bucket[j]] += 1
        new_t[at] = t[j]
        new_rows[at] = rows[j]


@exact_kernel
def sort_line_breakpoints(t, rows, count, s, bucket, starts, sorted_t, sorted_rows):
    """Sort the first `count` breakpoints t and their rows: scatter by t / (|t| + s), then sort by insertion.

    `bucket` has room for them, and `starts` for one more than the number of buckets; the result is in
    `sorted_t` and `sorted_rows`. Breakpoints closer together than any interval can be are left in any order:
    on discrete data many are equal up to rounding, and sorting those would take quadratic time.
    """
    if count > MANY_BREAKPOINTS:  # roughly first, so that neighbours go to the same cache lines the second time
        scatter_by_bucket(t, rows, count, s, ROUGH_BUCKETS, bucket, starts, sorted_t, sorted_rows)
        for j in range(count):
            t[j], rows[j] = sorted_t[j], sorted_rows[j]
    scatter_by_bucket(t, rows, count, s, starts.shape[0] - 1, bucket, starts, sorted_t, sorted_rows)
    for j in range(1, count):
        t_j, row_j = sorted_t[j], sorted_rows[j]
        i = j - 1
        equal = t_j + 0.01 * MIN_RELATIVE_GAP * abs(t_j)
        while i >= 0 and sorted_t[i] > equal:
            sorted_t[i + 1], sorted_rows[i + 1] = sorted_t[i], sorted_rows[i]
            i -= 1
        sorted_t[i + 1], sorted_rows[i + 1] = t_j, row_j


@kernel
def allocate_line_scratch(n):
    """Return workspace for `compute_line_losses`, and for a draw: the last two arrays.

    Before the draw, `odds` holds what each row adds to the loss when its breakpoint is passed.
    """
    t, sorted_t, losses = np.empty(n), np.empty(n), np.empty(n + 1)
    rows, sorted_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    bucket, starts = np.empty(n, np.int32), np.empty(2 * n + 1, np.int32)
    near, odds = np.empty(2 * n + 3, np.int64), np.empty(2 * n + 3)
    return t, rows, bucket, starts, sorted_t, sorted_rows, losses, near, odds


@kernel
def close_narrow_intervals(sorted_t, count, losses):
    """Set the loss of intervals between breakpoints that are too narrow to infinity."""
    for j in range(count - 1):
        room = sorted_t[j + 1] - sorted_t[j] - MIN_RELATIVE_GAP * max(abs(sorted_t[j]), abs(sorted_t[j + 1]))
        losses[j + 1] = losses[j + 1] if room > 0.0 else np.inf


@kernel
def find_least_loss(losses, count, turned):
    """Return the smallest loss of w and -w, its interval, and -1 if it is that of -w, else 1.

    On every interval, the losses of w and -w sum to `turned`.
    """
    least, least_at, most, most_at = np.inf, 0, -np.inf, 0
    for j in range(count + 1):
        if losses[j] < least:
            least, least_at = losses[j], j
        finite = losses[j] if losses[j] < np.inf else -np.inf
        if finite > most:
            most, most_at = finite, j
    if turned - most < least:
        return turned - most, most_at, -1.0
    return least, least_at, 1.0


@kernel
def compute_line_losses(Y, c, f, g, u, in_basis, leaving, scratch):
    """Compute the loss on every interval of the line w + alpha v, with f = Yw and g = Yv.

    Basis rows other than the leaving one count as right; a row with margin 0 on the whole line counts by its
    side of u, the sum of their V_j. Interval j ends at sorted breakpoint j; one that is too narrow has an
    infinite loss. -w passes the same breakpoints, and its loss is `turned` minus that of w.

    Returns (number of breakpoints, turned, smallest loss, its interval, and -1 if it is that of -w, else 1).
    There are no breakpoints if rounding hides every slope, even that of the leaving row.
    """
    t, rows, bucket, starts, sorted_t, sorted_rows, losses, _, signed = scratch
    loss, turned, count, sum_f, sum_g = 0.0, 0.0, np.int64(0), 0.0, 0.0
    still = False
    rates = f
    for i in range(f.shape[0]):  # the loss far to the left, at -v, and the breakpoints
        if in_basis[i] and i != leaving:
            continue
        if abs(g[i]) > ZERO_MARGIN:
            t[count] = -f[i] / g[i] if i != leaving else 0.0
            rows[count] = i
            signed[i] = c[i] * (1.0 - 2.0 * (g[i] > 0.0))
            count += 1
            sum_f += abs(f[i])
            sum_g += abs(g[i])
            loss += c[i] * (g[i] > 0.0)
            turned += c[i]
        elif abs(f[i]) > ZERO_MARGIN:
            loss += c[i] if f[i] < 0.0 else 0.0
            turned += c[i]
        else:
            if not still:
                rates, still = np.dot(Y, u), True
            if rates[i] <= 0.0:
                loss += c[i]
                turned += 2.0 * c[i]
    sort_line_breakpoints(t, rows, count, sum_f / sum_g + 1e-300, bucket, starts, sorted_t, sorted_rows)
    # Branch-free: a branch on sign or gap would be mispredicted half of the time.
    losses[0] = loss
    for j in range(count):
        loss += signed[sorted_rows[j]]
        losses[j + 1] = loss
    close_narrow_intervals(sorted_t, count, losses)
    least, least_at, sense = find_least_loss(losses, count, turned)
    return count, turned, least, least_at, sense


@exact_kernel
def pick_interval_point(sorted_t, count, interval):
    """Return an alpha inside an interval: its middle, or beyond the outermost breakpoint; 0 without any."""
    if count == 0:
        return 0.0
    if interval == 0:
        return sorted_t[0] - 1.0 - abs(sorted_t[0])
    if interval == count:
        return sorted_t[count - 1] + 1.0 + abs(sorted_t[count - 1])
    return 0.5 * (sorted_t[interval - 1] + sorted_t[interval])


@kernel
def move_off_vertex(Y, w, u, in_basis, leaving):
    """Return w moved along u half as far as rows outside the basis allow, so that basis rows are correct."""
    margins, rates = np.dot(Y, w), np.dot(Y, u)
    longest = np.sqrt(np.dot(w, w) / (np.dot(u, u) + 1e-300))
    for i in range(margins.shape[0]):
        if in_basis[i] and i != leaving:
            continue
        if abs(margins[i]) > ZERO_MARGIN and margins[i] * rates[i] < 0.0:
            longest = min(longest, -margins[i] / rates[i])
    return w + 0.5 * longest * u


@kernel
def keep_line_minimum(Y, c, w, v, u, in_basis, leaving, alpha, sense, best, best_w):
    """Write sense (w + alpha v), moved off its vertex, to `best_w` if it is best; return the smallest loss."""
    candidate = move_off_vertex(Y, sense * (w + alpha * v), u, in_basis, leaving)
    loss = compute_strict_loss(Y, c, candidate)
    if loss < best - LOSS_TOLERANCE:
        best = loss
        copy_vector(candidate, best_w)
    return best


# Bucket b < BUCKETS holds rows whose error ends at their breakpoint, and bucket b + BUCKETS those whose
# error begins there. Indices are unsigned in loops that should vectorize.

MANY_ROWS = 1 << 12  # above this number, buckets pay off
BUCKETS = (
    1 << 12
)  # so that 16-bit indices can number twice as many buckets, and their weights fit into the L1 cache
# After both halves of the buckets: rows without a breakpoint that are misclassified, correct or neither; basis.
STILL_WRONG, STILL_RIGHT, STILL, BASIS = 2 * BUCKETS, 2 * BUCKETS + 1, 2 * BUCKETS + 2, 2 * BUCKETS + 3
MAX_SORTED_SHARE = 1 / 8  # of the rows: if more are in reach, all are sorted in a faster way
MAX_ATTEMPTS = 4  # attempts, since what is in reach grows if the best interval is too narrow


@kernel
def allocate_bucket_scratch(n):
    """Return workspace for `compute_near_losses`: bucket of each row, weight of each bucket, prefix, run."""
    blocks = (n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK
    bucket = np.full(blocks * SAMPLES_PER_BLOCK, uint16(BASIS))
    return bucket, np.empty(2 * BUCKETS + 4), np.empty(BUCKETS + 1), np.empty(BUCKETS, np.int64)


@kernel
def fill_line_buckets(c, f, g, s, in_basis, bucket, histogram):
    """Assign rows to buckets by t / (|t| + s) with t = -f / g, and sum up the weight of each bucket."""
    n = f.shape[0]
    half = 0.5 * BUCKETS
    for b in range(histogram.shape[0]):
        histogram[b] = 0.0
    for block in range((n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK):
        start = uint64(block) * uint64(SAMPLES_PER_BLOCK)
        size = min(uint64(n) - start, uint64(SAMPLES_PER_BLOCK))
        for j in range(size):
            f_i, g_i = f[start + j], g[start + j]
            place = (-f_i if g_i > 0.0 else f_i) / (abs(f_i) + s * abs(g_i) + 1e-300)
            b = min(max(np.int32(place * half + half), np.int32(0)), np.int32(BUCKETS - 1))
            b = b if g_i > 0.0 else b + np.int32(BUCKETS)
            fixed = np.int32(STILL_WRONG) if f_i < 0.0 else np.int32(STILL_RIGHT)
            fixed = fixed if abs(f_i) > ZERO_MARGIN else np.int32(STILL)
            b = b if abs(g_i) > ZERO_MARGIN else fixed
            bucket[start + j] = uint16(b if not in_basis[start + j] else np.int32(BASIS))
        for j in range(size):
            histogram[np.int64(bucket[start + j])] += c[start + j]


@kernel
def settle_still_rows(Y, c, u, bucket):
    """Return what rows at 0 on the whole line add to the loss, and to that of w and -w together."""
    rates = np.dot(Y, u)
    loss, turned = 0.0, 0.0
    for i in range(c.shape[0]):
        if bucket[i] == STILL and rates[i] <= 0.0:
            loss += c[i]
            turned += 2.0 * c[i]
    return loss, turned


@kernel
def find_reachable_runs(histogram, prefix, turned, reach, run):
    """Set run[b] to the number of the run that bucket b belongs to, or to -1.

    A run is a sequence of adjacent buckets in which the loss of w or -w may be in reach. Empty buckets belong
    to no run and do not end one. Returns the number of runs, the first and the last bucket in a run, and for
    each of these two whether it is the outermost one that is not empty.
    """
    runs, inside, first, last = 0, False, BUCKETS, -1
    is_leftmost, is_rightmost, is_empty = False, False, True
    for b in range(BUCKETS):
        run[b] = -1
        ends, begins = histogram[b], histogram[b + BUCKETS]
        if ends + begins == 0.0:
            continue
        is_rightmost = prefix[b] - ends <= reach or turned - (prefix[b] + begins) <= reach
        if is_rightmost:
            if first == BUCKETS:
                first, is_leftmost = b, is_empty
            runs += 0 if inside else 1
            run[b] = runs - 1
            last = b
        inside, is_empty = is_rightmost, False
    return runs, first, last, is_leftmost, is_rightmost


@kernel
def collect_rows(bucket, run, first, last, rows):
    """List the rows of all buckets in runs, which are between `first` and `last`; return their number."""
    low_bits, low, width = uint16(BUCKETS - 1), uint16(first), uint16(last - first)
    count = np.int64(0)
    for block in range(bucket.shape[0] // SAMPLES_PER_BLOCK):
        start = uint64(block) * uint64(SAMPLES_PER_BLOCK)
        found = uint64(0)  # a bit for each row of the block
        for j in range(uint64(SAMPLES_PER_BLOCK)):
            found |= uint64(uint16((bucket[start + j] & low_bits) - low) <= width) << j
        while found != 0:
            i = np.int64(start) + find_lowest_bit(found)
            found &= found - uint64(1)
            if bucket[i] < 2 * BUCKETS and run[np.int64(bucket[i] & low_bits)] >= 0:
                rows[count] = i
                count += 1
    return count


@kernel
def sum_losses_in_runs(c, prefix, run, bucket, t, rows, count, outermost, losses):
    """Set the losses of the intervals around sorted breakpoints t; those outside all runs are infinite.

    `outermost` says whether the first and the last run have no breakpoints beyond them.
    """
    low_bits = uint16(BUCKETS - 1)
    current, loss = np.int64(-1), 0.0
    for j in range(count):
        b = np.int64(bucket[rows[j]] & low_bits)
        if run[b] != current:
            current = run[b]
            while b > 0 and run[b - 1] == current:  # rounding may have put a row of a later bucket first
                b -= 1
            loss = prefix[b]
            losses[j] = loss if j == 0 and outermost[0] else np.inf
        loss += c[rows[j]] if bucket[rows[j]] >= BUCKETS else -c[rows[j]]
        losses[j + 1] = loss
    if not outermost[1]:
        losses[count] = np.inf


@kernel
def compute_near_losses(Y, c, f, g, u, in_basis, leaving, excess, scratch, bucket_scratch):
    """Compute line losses, but possibly not those of intervals more than `excess` above the smallest loss.

    Otherwise as in `compute_line_losses`. Only the breakpoints around the remaining intervals are returned; if
    some between two of them are omitted, the interval there has an infinite loss.
    """
    _, rows, _, _, sorted_t, sorted_rows, losses, _, _ = scratch
    bucket, histogram, prefix, run = bucket_scratch
    n = f.shape[0]
    fill_line_buckets(c, f, g, estimate_typical_breakpoint(f, g) + 1e-300, in_basis, bucket, histogram)
    if abs(g[leaving]) > ZERO_MARGIN:  # its breakpoint is at 0
        bucket[leaving] = uint16(BUCKETS // 2 if g[leaving] > 0.0 else BUCKETS // 2 + BUCKETS)
    else:
        bucket[leaving] = uint16(STILL)
    histogram[np.int64(bucket[leaving])] += c[leaving]
    loss, turned = histogram[STILL_WRONG], histogram[STILL_WRONG] + histogram[STILL_RIGHT]
    if histogram[STILL] > 0.0:
        more, both = settle_still_rows(Y, c, u, bucket)
        loss, turned = loss + more, turned + both
    for b in range(BUCKETS):
        loss += histogram[b]
        turned += histogram[b] + histogram[b + BUCKETS]
    lowest, highest = loss, loss
    for b in range(BUCKETS):
        prefix[b] = loss
        loss += histogram[b + BUCKETS] - histogram[b]
        lowest, highest = min(lowest, loss), max(highest, loss)
    bound = min(lowest, turned - highest)
    for _ in range(MAX_ATTEMPTS):
        reach = bound + excess + LOSS_TOLERANCE
        runs, first, last, is_leftmost, is_rightmost = find_reachable_runs(
            histogram, prefix, turned, reach, run
        )
        count = collect_rows(bucket, run, first, last, rows) if runs > 0 else np.int64(0)
        if count == 0 or count > MAX_SORTED_SHARE * n:
            break
        for j in range(count):
            i = rows[j]
            sorted_t[j], sorted_rows[j] = -f[i] / g[i] if i != leaving else 0.0, i
        sort_breakpoints(sorted_t, sorted_rows, count)
        outermost = is_leftmost, is_rightmost
        sum_losses_in_runs(c, prefix, run, bucket, sorted_t, sorted_rows, count, outermost, losses)
        close_narrow_intervals(sorted_t, count, losses)
        least, least_at, sense = find_least_loss(losses, count, turned)
        if least <= bound + LOSS_TOLERANCE:
            return count, turned, least, least_at, sense
        if least == np.inf:
            break
        bound = least  # the interval with the bound's loss is too narrow
    return compute_line_losses(Y, c, f, g, u, in_basis, leaving, scratch)
