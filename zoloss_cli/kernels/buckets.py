"""Buckets for the breakpoints of a line search: which of them can hold the minimum of the 0/1 loss.

`p`, `delta` and `c` are those of `line_search`. Bucket b < `buckets` holds samples with a negative signed
weight, and bucket b + `buckets` those in the same range with a positive one. Indices are unsigned in loops
that should vectorize, since numba does not check such an index for being negative.
"""

from __future__ import annotations

import numpy as np
from numba import uint16, uint64

from zoloss_cli.kernels import exact_kernel, inline_kernel, kernel
from zoloss_cli.kernels.bits import find_lowest_bit

SAMPLES_PER_BLOCK = 64  # whose buckets are checked together, with one bit of a word for each
SAMPLES_PER_ESTIMATE = 1 << 13  # of which one block is read to estimate a typical breakpoint


@kernel
def sum_sizes(p, delta, first, last):
    """Return the sums of |p| and of |delta| over the samples first, ..., last - 1."""
    sum_p, sum_delta = 0.0, 0.0
    for i in range(first, last):
        sum_p += abs(p[i])
        sum_delta += abs(delta[i])
    return sum_p, sum_delta


@kernel
def estimate_typical_breakpoint(p, delta):
    """Return sum|p| / sum|delta| over a part of many samples, which is enough for a scale."""
    total_p, total_delta = 0.0, 0.0
    for start in range(0, p.shape[0] - SAMPLES_PER_BLOCK + 1, SAMPLES_PER_ESTIMATE):
        sum_p, sum_delta = sum_sizes(p, delta, start, start + SAMPLES_PER_BLOCK)
        total_p, total_delta = total_p + sum_p, total_delta + sum_delta
    if not (total_p > 0.0 and total_delta > 0.0):
        total_p, total_delta = sum_sizes(p, delta, 0, p.shape[0])
    return total_p / total_delta if total_delta > 0.0 else 0.0


@inline_kernel
def find_bucket(p_i, d, is_positive, s, half, buckets):
    """Return the bucket of a sample, by u = p sign(delta) / (|p| + s|delta|), which rises with p / delta."""
    flipped = p_i if d > 0.0 else -p_i
    u = flipped / (abs(p_i) + s * abs(d) + 1e-300)
    b = min(max(np.int32(u * half + half), np.int32(0)), np.int32(buckets - 1))
    b = b + np.int32(buckets) if is_positive == (d > 0.0) else b
    return uint16(b if d != 0.0 else np.int32(2 * buckets))


@kernel
def fill_buckets(p, delta, c, s, buckets, bucket, histogram):
    """Assign samples to buckets.

    Samples with delta = 0 get an extra bucket at the end. histogram[b] is set to the weight of bucket b. This
    takes one division per sample, in a loop that vectorizes, and goes block by block, so that the buckets of
    a block are still in the cache when they are summed.
    """
    n = p.shape[0]
    half = 0.5 * buckets
    for b in range(histogram.shape[0]):
        histogram[b] = 0
    for block in range((n + SAMPLES_PER_BLOCK - 1) // SAMPLES_PER_BLOCK):
        start = uint64(block) * uint64(SAMPLES_PER_BLOCK)
        size = min(uint64(n) - start, uint64(SAMPLES_PER_BLOCK))
        for j in range(size):
            i = start + j
            bucket[i] = find_bucket(p[i], delta[i], c[i] > 0, s, half, buckets)
        for j in range(size):
            histogram[np.int64(bucket[start + j])] += abs(c[start + j])


@exact_kernel
def find_best_boundary(histogram, prefix, buckets):
    """Set `prefix` to the error at each bucket's lower end; return the smallest one and its index.

    Of equal errors the leftmost wins. The upper end of the last bucket counts, too: its index is `buckets`.
    """
    e, best, best_at = 0, 0, 0
    for b in range(buckets):
        prefix[b] = e
        e += histogram[b + buckets] - histogram[b]
        best_at = b + 1 if e < best else best_at
        best = min(best, e)
    return best, best_at


@inline_kernel
def can_hide_minimum(b, histogram, prefix, buckets, best):
    """Return whether a bucket may contain an error as small as that at the best boundary.

    It must contain both signs, and its negative part alone must bring the error down to that of the best
    boundary.
    """
    has_both = (histogram[b] > 0) & (histogram[b + buckets] > 0)
    return has_both & (prefix[b] - histogram[b] <= best)


@exact_kernel
def collect_candidates(bucket, histogram, prefix, buckets, best, first, last, near_i):
    """List in `near_i` the samples of all buckets that can hold the minimum; return their number.

    `first` and `last` are the neighbours of the best boundary, whose breakpoints delimit its interval.
    Usually these two are adjacent, and no other bucket can hide a minimum.
    """
    low, high, hidden = first, last, np.int64(0)
    for b in range(uint64(buckets)):
        hidden += np.int64(can_hide_minimum(b, histogram, prefix, uint64(buckets), best))
    if hidden > 0:
        for b in range(buckets):
            if can_hide_minimum(b, histogram, prefix, buckets, best):
                low, high = min(low, b), max(high, b)
    low_bits, lowest, width = uint16(buckets - 1), uint16(low), uint16(high - low)
    count = np.int64(0)
    for block in range(bucket.shape[0] // SAMPLES_PER_BLOCK):
        start = uint64(block) * uint64(SAMPLES_PER_BLOCK)
        found = uint64(0)  # a bit for each sample of the block
        for j in range(uint64(SAMPLES_PER_BLOCK)):
            found |= uint64(uint16((bucket[start + j] & low_bits) - lowest) <= width) << j
        while found != 0:
            i = np.int64(start) + find_lowest_bit(found)
            found &= found - uint64(1)
            b = np.int64(bucket[i] & low_bits)
            if bucket[i] < 2 * buckets and (
                b in (first, last) or can_hide_minimum(b, histogram, prefix, buckets, best)
            ):
                near_i[count] = i
                count += 1
    return count
