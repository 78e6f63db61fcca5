"""Single instructions on words of 64 bits, which numba has no functions for."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic


@intrinsic
def count_bits(typing_context, word):
    """Return how many bits of a word are 1."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def find_lowest_bit(typing_context, word):
    """Return the place of the lowest bit that is 1; of no use for the word 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate
