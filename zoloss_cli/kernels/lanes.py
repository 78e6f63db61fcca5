"""Numbers side by side in one register: four float64 or sixteen float32, added in the order written.

A loop that LLVM vectorizes by itself checks at each call whether arrays overlap, has a remainder, and keeps
partial sums; for a row of a dozen features, this costs more than the arithmetic. Here a row of 4 q columns is
q registers. The functions can only be called from kernels. `array` is C contiguous, of any shape, and
`offset` counts its elements from the first: nothing checks that enough elements follow to fill the lanes.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

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
