"""Building blocks of kernels: arrays, bits, lanes of a vector register, LAPACK and random numbers."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import uint64
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from zoloss_cli.kernels import exact_kernel, inline_kernel, kernel

# numba compiles ``a[:] = b`` with the error message for mismatched shapes, which adds two seconds to each first
# fit.


@inline_kernel
def copy_vector(source, target):
    """Set target[:] = source."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@exact_kernel
def compute_max_abs(w):
    """Return the largest absolute component of w."""
    largest = 0.0
    for j in range(w.shape[0]):
        largest = max(largest, abs(w[j]))
    return largest


@exact_kernel
def find_largest(x):
    """Return the largest component of x, which has no negative ones."""
    largest = 0.0
    for j in range(x.shape[0]):
        largest = max(largest, x[j])
    return largest


@inline_kernel
def compute_squared_norm(x):
    """Return the sum of the squares of x; np.dot is a call to BLAS, which takes longer for a short x."""
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * x[j]
    return total


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


# A loop that LLVM vectorizes by itself checks at each call whether arrays overlap, has a remainder, and keeps
# partial sums; for a row of a dozen features, this costs more than the arithmetic. Here a row of 4 q columns is
# q registers. The functions can only be called from kernels. `array` is C contiguous, of any shape, and
# `offset` counts its elements from the first: nothing checks that enough elements follow to fill the lanes.

LANES = 4
SINGLE_LANES = 16  # of float32
_NUMBER, _SINGLE, _INDEX = ir.DoubleType(), ir.FloatType(), ir.IntType(32)
_VECTOR, _SINGLES = ir.VectorType(_NUMBER, LANES), ir.VectorType(_SINGLE, SINGLE_LANES)
_WEIGHTS = ir.VectorType(_INDEX, SINGLE_LANES)


class Float64Lanes(types.Type):
    """The type of four float64 in one register."""

    def __init__(self):
        super().__init__(name="Float64Lanes")


class Float32Lanes(types.Type):
    """The type of sixteen float32 in one register, or in two."""

    def __init__(self):
        super().__init__(name="Float32Lanes")


_lanes, _singles = Float64Lanes(), Float32Lanes()


@register_model(Float64Lanes)
class Float64LanesModel(models.PrimitiveModel):
    """The data model of `Float64Lanes`: an LLVM vector."""

    def __init__(self, manager, lanes_type):
        super().__init__(manager, lanes_type, _VECTOR)


@register_model(Float32Lanes)
class Float32LanesModel(models.PrimitiveModel):
    """The data model of `Float32Lanes`: an LLVM vector."""

    def __init__(self, manager, lanes_type):
        super().__init__(manager, lanes_type, _SINGLES)


def _find_address(context, builder, array_type, array, offset, vector=_VECTOR):
    first = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(first, [offset]), vector.as_pointer())


def _check_array(array, dtype=types.float64):
    if not (isinstance(array, types.Array) and array.dtype == dtype and array.layout == "C"):
        raise TypingError(f"these lanes are in {dtype} arrays that are C contiguous")


def _call(builder, name, result, arguments):
    signature = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), arguments)


def _shuffle(builder, a, b, places):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INDEX, len(places)), places))


def _fill(builder, vector, number):
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(_INDEX, 0))
    return _shuffle(builder, first, nothing, [0] * vector.count)


@intrinsic
def load_lanes(typingctx, array, offset):
    """Return the four numbers of an array that begin at an offset."""
    _check_array(array)

    def generate(context, builder, signature, arguments):
        return builder.load(_find_address(context, builder, signature.args[0], *arguments), align=8)

    return _lanes(array, types.int64), generate


@intrinsic
def load_element(typingctx, array, offset):
    """Return one element of 32 or 64 bits, by a load that LLVM does not merge with others into a gather.

    If every lane of a register comes from a different place, a gather takes longer than single loads.
    """
    if not (isinstance(array, types.Array) and array.layout == "C"):
        raise TypingError("elements are loaded from arrays that are C contiguous")

    def generate(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        bytes_each = context.get_abi_sizeof(first.type.pointee)
        return builder.load_atomic(builder.gep(first, [arguments[1]]), ordering="monotonic", align=bytes_each)

    return array.dtype(array, types.int64), generate


@intrinsic
def store_lanes(typingctx, array, offset, lanes):
    """Set the four numbers of an array that begin at an offset."""
    _check_array(array)

    def generate(context, builder, signature, arguments):
        address = _find_address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, _lanes), generate


@intrinsic
def fill_lanes(typingctx, number):
    """Return one number in all four lanes."""

    def generate(context, builder, signature, arguments):
        return _fill(builder, _VECTOR, arguments[0])

    return _lanes(types.float64), generate


@intrinsic
def add_lane_products(typingctx, total, a, b):
    """Return total + a * b lane by lane, rounded once if the processor supports it."""

    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.v4f64", _VECTOR, [a, b, total])

    return _lanes(_lanes, _lanes, _lanes), generate


@intrinsic
def add_product(typingctx, total, a, b):
    """Return total + a * b of three numbers, rounded once if the processor supports it."""

    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.f64", _NUMBER, [a, b, total])

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def sum_lanes_of_four(typingctx, a, b, c, d):
    """Return the four sums over the lanes of a, b, c and d, each as (0 + 1) + (2 + 3)."""

    def generate(context, builder, signature, arguments):
        a, b, c, d = arguments

        def add_neighbours(x, y):
            return builder.fadd(_shuffle(builder, x, y, [0, 4, 2, 6]), _shuffle(builder, x, y, [1, 5, 3, 7]))

        ab, cd = add_neighbours(a, b), add_neighbours(c, d)
        sums = builder.fadd(_shuffle(builder, ab, cd, [0, 1, 4, 5]), _shuffle(builder, ab, cd, [2, 3, 6, 7]))
        each = [builder.extract_element(sums, ir.Constant(_INDEX, i)) for i in range(LANES)]
        return context.make_tuple(builder, signature.return_type, each)

    return types.UniTuple(types.float64, 4)(_lanes, _lanes, _lanes, _lanes), generate


@intrinsic
def load_singles(typingctx, array, offset):
    """Return the sixteen numbers of a float32 array that begin at an offset."""
    _check_array(array, types.float32)

    def generate(context, builder, signature, arguments):
        return builder.load(_find_address(context, builder, signature.args[0], *arguments, _SINGLES), align=4)

    return _singles(array, types.int64), generate


@intrinsic
def fill_singles(typingctx, number):
    """Return one float32 in all sixteen lanes."""

    def generate(context, builder, signature, arguments):
        return _fill(builder, _SINGLES, arguments[0])

    return _singles(types.float32), generate


@intrinsic
def add_single_products(typingctx, total, a, b):
    """Return total + a * b lane by lane in float32."""

    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.v16f32", _SINGLES, [a, b, total])

    return _singles(_singles, _singles, _singles), generate


@intrinsic
def sum_weights_below(typingctx, margins, limit, weights, offset):
    """Return the sum of those of sixteen int32 weights, from an offset on, whose margin is below a limit."""
    _check_array(weights, types.int32)

    def generate(context, builder, signature, arguments):
        margins, limit, weights, offset = arguments
        address = _find_address(context, builder, signature.args[2], weights, offset, _WEIGHTS)
        below = builder.fcmp_ordered("<", margins, _fill(builder, _SINGLES, limit))
        counted = builder.select(
            below, builder.load(address, align=4), ir.Constant(_WEIGHTS, [0] * SINGLE_LANES)
        )
        total = _call(builder, "llvm.vector.reduce.add.v16i32", _INDEX, [counted])
        return builder.sext(total, ir.IntType(64))

    return types.int64(_singles, types.float32, weights, types.int64), generate


# LAPACK's gesv, getrf, getri and potrf, under the names by which numba's own np.linalg.solve, inv and
# cholesky call them. Those take seconds more to compile, for error messages that cannot occur here.
_numbers, _pivots = types.CPointer(types.float64), types.CPointer(types.int32)
_solve = types.ExternalFunction(
    "numba_xgesv",
    types.intc(types.char, types.intp, types.intp, _numbers, types.intp, _pivots, _numbers, types.intp),
)
_factor = types.ExternalFunction(
    "numba_xxgetrf",
    types.intc(types.char, types.intp, types.intp, _numbers, types.intp, _pivots),
)
_invert = types.ExternalFunction(
    "numba_ez_xxgetri", types.intc(types.char, types.intp, _numbers, types.intp, _pivots)
)
_factor_symmetric = types.ExternalFunction(
    "numba_xxpotrf", types.intc(types.char, types.char, types.intp, _numbers, types.intp)
)
DOUBLE = ord("d")
UPPER = ord("U")  # in columns: the lower triangle in rows


@kernel
def is_finite(x):
    """Return whether all components of a vector are finite."""
    finite = True
    for j in range(x.shape[0]):
        finite &= np.isfinite(x[j])
    return finite


@kernel
def solve_in_place(A, b):
    """Overwrite b with the x of A x = b, as np.linalg.solve returns it; raise LinAlgError if none exists."""
    size = b.shape[0]
    columns = np.empty((size, size))
    for j in range(size):
        for i in range(size):
            columns[j, i] = A[i, j]
    if not (is_finite(columns.reshape(size * size)) and is_finite(b)):
        raise np.linalg.LinAlgError("the system holds numbers that are not finite")
    pivots = np.empty(size, np.int32)
    fault = _solve(DOUBLE, size, 1, columns.ctypes, size, pivots.ctypes, b.ctypes, size)
    if fault != 0 or pivots[0] < 0:  # the second is never true: it keeps the arrays alive until here
        raise np.linalg.LinAlgError("the matrix is singular")


@kernel
def invert_in_place(columns):
    """Overwrite the columns of a matrix with those of its inverse; return False if there is none."""
    size = columns.shape[0]
    entries = columns.reshape(size * size)
    if not is_finite(entries):
        return False
    pivots = np.empty(size, np.int32)
    fault = _factor(DOUBLE, size, size, columns.ctypes, size, pivots.ctypes)
    if fault == 0:
        fault = _invert(DOUBLE, size, columns.ctypes, size, pivots.ctypes)
    is_solved = fault == 0 and pivots[0] >= 0  # the second is always true: it keeps the pivots alive
    return is_solved and is_finite(entries)


@kernel
def factor_in_place(A):
    """Overwrite the lower triangle of a symmetric A with its Cholesky factor; return False without one."""
    size = A.shape[0]
    fault = _factor_symmetric(DOUBLE, UPPER, size, A.ctypes, size)
    return fault == 0 and np.isfinite(A[size - 1, size - 1])


@kernel
def solve_by_factor(L, b):
    """Overwrite b with the x of L L' x = b, where L is lower triangular."""
    for i in range(b.shape[0]):
        total = b[i]
        for j in range(i):
            total -= L[i, j] * b[j]
        b[i] = total / L[i, i]
    for i in range(b.shape[0] - 1, -1, -1):
        b[i] /= L[i, i]
        for j in range(i):
            b[j] -= L[i, j] * b[i]


# numba's own np.random has a hidden state per thread that seeding from Python does not reach. A counter costs
# about a nanosecond per draw, vectorizes, and lets a test replay the same stream.
#
# Indices are drawn an epoch at a time, separately from the trials that use them: the branch of a trial is often
# mispredicted, and the latency of the generator would add to that each time.

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
