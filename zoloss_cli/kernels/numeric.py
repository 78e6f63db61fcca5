"""Building blocks of kernels: arrays, bits, lanes of a vector register, LAPACK and random numbers."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import uint64
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from zoloss_cli.kernels.compilation import exact_kernel, inline_kernel, kernel


@inline_kernel
def copy_vector(source, target):
    """Copy `source` to `target`; numba takes seconds to compile target[:] = source, for its shape check."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@exact_kernel
def compute_max_abs(w):
    """Return the largest absolute component of w."""
    largest = 0.0
    for j in range(w.shape[0]):
        largest = max(largest, abs(w[j]))
    return largest


@inline_kernel
def compute_squared_norm(x):
    """Return the sum of the squares of x; np.dot calls BLAS, which is slower for a short x."""
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * x[j]
    return total


# Intrinsics: LLVM instructions that can only be called from kernels. `array` is C contiguous, of any shape, and
# `offset` counts its elements from the first: bounds are not checked.
#
# Lanes are the numbers in a vector register: a row of 4 q columns is q registers. A loop that LLVM vectorizes
# by itself checks at each call whether arrays overlap, and has a remainder and partial sums, which costs more
# than the arithmetic of a dozen features.

LANES = 4  # of float64
SINGLE_LANES = 16  # of float32
_WORD_BITS = 64
_NUMBER, _SINGLE, _INDEX = ir.DoubleType(), ir.FloatType(), ir.IntType(32)


class Lanes(types.Type):
    """The type of the numbers in a vector register."""

    def __init__(self, name, vector):
        self.vector = vector
        super().__init__(name)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """The data model of `Lanes`: an LLVM vector."""

    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, lanes.vector)


_lanes = Lanes("Float64Lanes", ir.VectorType(_NUMBER, LANES))
_singles = Lanes("Float32Lanes", ir.VectorType(_SINGLE, SINGLE_LANES))


def _find_address(context, builder, array_type, array, offset, vector):
    first = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(first, [offset]), vector.as_pointer())


def _check_array(array, dtype):
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


def _define_comparison(condition):
    vector = ir.VectorType(ir.IntType(16), _WORD_BITS)

    def check(typing_context, numbers, offset, limit):
        _check_array(numbers, types.uint16)
        return types.uint64(numbers, types.int64, types.uint16), generate

    def generate(context, builder, signature, arguments):
        address = _find_address(context, builder, signature.args[0], *arguments[:2], vector)
        limits = _fill(builder, vector, arguments[2])
        holds = builder.icmp_unsigned(condition, builder.load(address, align=2), limits)
        return builder.bitcast(holds, ir.IntType(_WORD_BITS))

    return intrinsic(check)


def _define_load(lanes, dtype):
    def check(typing_context, array, offset):
        _check_array(array, dtype)
        return lanes(array, types.int64), generate

    def generate(context, builder, signature, arguments):
        address = _find_address(context, builder, signature.args[0], *arguments, lanes.vector)
        return builder.load(address, align=dtype.bitwidth // 8)

    return intrinsic(check)


def _define_fill(lanes, dtype):
    def check(typing_context, number):
        return lanes(dtype), generate

    def generate(context, builder, signature, arguments):
        return _fill(builder, lanes.vector, arguments[0])

    return intrinsic(check)


def _define_multiply_add(operand, llvm_type, suffix):
    def check(typing_context, total, a, b):
        return operand(operand, operand, operand), generate

    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, f"llvm.fmuladd.{suffix}", llvm_type, [a, b, total])

    return intrinsic(check)


# (numbers, offset, limit): a word with one bit for each of the 64 16-bit numbers from an offset on, whether it
# is above the limit, or equal to it.
find_above, find_equal = _define_comparison(">"), _define_comparison("==")
# (array, offset): the numbers from an offset on, one for each lane.
load_lanes, load_singles = _define_load(_lanes, types.float64), _define_load(_singles, types.float32)
# (number): the number in all lanes.
fill_lanes, fill_singles = _define_fill(_lanes, types.float64), _define_fill(_singles, types.float32)
# (total, a, b): total + a * b, of numbers or lane by lane, rounded once if the processor supports it.
add_product = _define_multiply_add(types.float64, _NUMBER, "f64")
add_lane_products = _define_multiply_add(_lanes, _lanes.vector, "v4f64")
add_single_products = _define_multiply_add(_singles, _singles.vector, "v16f32")


@intrinsic
def load_element(typing_context, array, offset):
    """Return one element of 32 or 64 bits, by a load that LLVM does not merge with others into a gather.

    A gather from different places takes longer than single loads: a perceptron trial that draws by weight takes
    7 ns on pima, and 13 with gathers.
    """
    if not (isinstance(array, types.Array) and array.layout == "C"):
        raise TypingError("elements are loaded from arrays that are C contiguous")

    def generate(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        bytes_each = context.get_abi_sizeof(first.type.pointee)
        return builder.load_atomic(builder.gep(first, [arguments[1]]), ordering="monotonic", align=bytes_each)

    return array.dtype(array, types.int64), generate


@intrinsic
def store_lanes(typing_context, array, offset, lanes):
    """Set the four numbers of an array that begin at an offset."""
    _check_array(array, types.float64)

    def generate(context, builder, signature, arguments):
        address = _find_address(context, builder, signature.args[0], *arguments[:2], _lanes.vector)
        builder.store(arguments[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, _lanes), generate


@intrinsic
def sum_lanes_of_four(typing_context, a, b, c, d):
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
def sum_weights_below(typing_context, margins, limit, weights, offset):
    """Return the sum of those of sixteen int32 weights, from an offset on, whose margin is below a limit."""
    _check_array(weights, types.int32)

    def generate(context, builder, signature, arguments):
        margins, limit, weights, offset = arguments
        vector = ir.VectorType(_INDEX, SINGLE_LANES)
        address = _find_address(context, builder, signature.args[2], weights, offset, vector)
        below = builder.fcmp_ordered("<", margins, _fill(builder, _singles.vector, limit))
        none = ir.Constant(vector, [0] * SINGLE_LANES)
        counted = builder.select(below, builder.load(address, align=4), none)
        total = _call(builder, "llvm.vector.reduce.add.v16i32", _INDEX, [counted])
        return builder.sext(total, ir.IntType(64))

    return types.int64(_singles, types.float32, weights, types.int64), generate


# LAPACK's gesv, getrf, getri and potrf, by the names of numba's wrappers. numba's np.linalg.solve, inv and
# cholesky call the same, and take seconds more to compile, for error messages that cannot occur here.
_numbers, _pivots = types.CPointer(types.float64), types.CPointer(types.int32)
_char, _int = types.char, types.intp
_solve = types.ExternalFunction(
    "numba_xgesv", types.intc(_char, _int, _int, _numbers, _int, _pivots, _numbers, _int)
)
_factor = types.ExternalFunction("numba_xxgetrf", types.intc(_char, _int, _int, _numbers, _int, _pivots))
_invert = types.ExternalFunction("numba_ez_xxgetri", types.intc(_char, _int, _numbers, _int, _pivots))
_factor_symmetric = types.ExternalFunction("numba_xxpotrf", types.intc(_char, _char, _int, _numbers, _int))
DOUBLE = ord("d")
UPPER = ord("U")  # of a column-major matrix: the lower triangle of a row-major one


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


# SplitMix64. numba's np.random has a hidden state per thread that cannot be seeded from Python; a counter
# vectorizes, and lets a test replay the same stream. Indices are drawn an epoch at a time: between
# trials, whose branches are often mispredicted, the latency of the generator would add up.

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
