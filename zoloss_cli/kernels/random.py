"""Random indices inside kernels: SplitMix64 (Steele, Lea & Flood 2014), whose whole state is one counter.

numba's own np.random has a hidden state per thread that seeding from Python does not reach. A counter costs
about a nanosecond per draw, vectorizes, and lets a test replay the same stream.

Indices are drawn an epoch at a time, separately from the trials that use them: the branch of a trial is often
mispredicted, and the latency of the generator would add to that each time.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from zoloss_cli.kernels import exact_kernel, inline_kernel, kernel
from zoloss_cli.kernels.lanes import load_element

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # from one counter to the next: 2^64 over the golden ratio
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
LOW_32_BITS = np.uint64(0xFFFFFFFF)
FIXED_ORDER, PERMUTED, RANDOM = range(3)  # rules for the order of samples in an epoch


@inline_kernel
def mix_bits(counter):
    """Return the 64 random bits of this counter; the next counter is GOLDEN_GAMMA further on."""
    z = (counter ^ (counter >> uint64(30))) * MIX_1
    z = (z ^ (z >> uint64(27))) * MIX_2
    return z ^ (z >> uint64(31))


@inline_kernel
def scale_to_index(bits, n):
    """Return a uniform index below n < 2^32 from the upper half of 64 random bits (bias at most n / 2^32)."""
    return ((bits >> uint64(32)) * n) >> uint64(32)


@kernel
def draw_epoch(rule, indices, counter, cut, alias):
    """Fill `indices` (length N) with the samples of the next epoch; return the advanced counter.

    FIXED_ORDER leaves 0, ..., N-1 as they are, PERMUTED shuffles them (Fisher-Yates), and RANDOM draws with
    replacement: uniformly, or by Walker's alias table (`cut`, `alias`) if that is not empty.
    """
    n = indices.shape[0]
    if rule == PERMUTED:
        for i in range(n - 1, 0, -1):
            counter += GOLDEN_GAMMA
            j = np.int64(scale_to_index(mix_bits(counter), uint64(i + 1)))
            indices[i], indices[j] = indices[j], indices[i]
    elif rule == RANDOM:
        if cut.shape[0] == 0:
            for i in range(n):
                indices[i] = np.int32(
                    scale_to_index(mix_bits(counter + uint64(i + 1) * GOLDEN_GAMMA), uint64(n))
                )
        else:
            bits = np.empty(n, np.uint64)
            for i in range(n):
                bits[i] = mix_bits(counter + uint64(i + 1) * GOLDEN_GAMMA)
            for i in range(n):  # separate from the loop above, which vectorizes
                k = np.int64(scale_to_index(bits[i], uint64(n)))
                other = load_element(alias, k)
                # no branch: it would be mispredicted every few draws
                indices[i] = k if (bits[i] & LOW_32_BITS) < load_element(cut, k) else other
        counter += uint64(n) * GOLDEN_GAMMA
    return counter


@exact_kernel
def build_alias_table(phi):
    """Return Walker's table for drawing i with probability phi_i in O(1): 32-bit cuts, and aliases."""
    n = phi.shape[0]
    share = phi * n
    cut = np.full(n, 2.0**32)
    alias = np.arange(n).astype(np.int32)
    # Both stacks in one array: samples with less than an equal share from the left, the others from the
    # right.
    stack = np.empty(n, np.int32)
    small, large = 0, n
    for i in range(n):
        if share[i] < 1.0:
            stack[small] = i
            small += 1
        else:
            large -= 1
            stack[large] = i
    while small > 0 and large < n:
        small -= 1
        poor, rich = stack[small], stack[large]
        cut[poor] = share[poor] * 2.0**32
        alias[poor] = rich
        share[rich] -= 1.0 - share[poor]
        if share[rich] < 1.0:
            large += 1
            stack[small] = rich
            small += 1
    return cut.astype(np.uint64), alias
