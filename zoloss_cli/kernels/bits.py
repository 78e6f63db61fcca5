"""Single machine instructions on 64-bit words for which numba has no functions."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_WORD_BITS = 64


@intrinsic
def count_bits(typing_context, word):
    """Return how many bits of a word are 1."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def find_lowest_bit(typing_context, word):
    """Return the index of the lowest bit that is 1; undefined for the word 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


def _compare_numbers(condition):
    """Return what `intrinsic` needs to compare 64 numbers with a limit, giving one bit of a word for each."""

    def check(typing_context, numbers, offset, limit):
        if not (isinstance(numbers, types.Array) and numbers.dtype == types.uint16 and numbers.layout == "C"):
            raise TypingError("numbers of 16 bits are compared in arrays that are C contiguous")
        return types.uint64(numbers, types.int64, types.uint16), generate

    def generate(context, builder, signature, arguments):
        vector = ir.VectorType(ir.IntType(16), _WORD_BITS)
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(first, [arguments[1]]), vector.as_pointer())
        nothing = ir.Constant(vector, ir.Undefined)
        limits = builder.insert_element(nothing, arguments[2], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), _WORD_BITS), [0] * _WORD_BITS)
        limits = builder.shuffle_vector(limits, nothing, everywhere)
        holds = builder.icmp_unsigned(condition, builder.load(address, align=2), limits)
        return builder.bitcast(holds, ir.IntType(_WORD_BITS))

    return check


# Return a word with one bit for each of the 64 16-bit numbers from an offset on: whether it is above the
# limit, or equal to it. The array is C contiguous, of any shape; nothing checks that 64 numbers follow.
find_above = intrinsic(_compare_numbers(">"))
find_equal = intrinsic(_compare_numbers("=="))
