"""Four float64 side by side in one register, with the order of additions as written.

A loop that LLVM vectorizes by itself decides at each call whether arrays overlap, has a remainder, and keeps sums
apart; for a row of a dozen features that costs more than the arithmetic. Here a row of 4 q columns is q registers.
The functions are for kernels alone. `array` is float64 and C contiguous, of any shape, and `offset` counts its
elements from the first: nothing checks that four of them are there.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

LANES = 4
_NUMBER, _INDEX = ir.DoubleType(), ir.IntType(32)
_VECTOR = ir.VectorType(_NUMBER, LANES)


class Float64Lanes(types.Type):
    """The type of four float64 in one register."""

    def __init__(self):
        super().__init__(name="Float64Lanes")


_lanes = Float64Lanes()


@register_model(Float64Lanes)
class Float64LanesModel(models.PrimitiveModel):
    """A vector of LLVM."""

    def __init__(self, manager, lanes_type):
        super().__init__(manager, lanes_type, _VECTOR)


def _find_address(context, builder, array_type, array, offset):
    first = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(first, [offset]), _VECTOR.as_pointer())


def _check_array(array):
    if not (isinstance(array, types.Array) and array.dtype == types.float64 and array.layout == "C"):
        raise TypingError("lanes are loaded from and stored to float64 arrays that are C contiguous")


def _call(builder, name, result, arguments):
    signature = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), arguments)


def _shuffle(builder, a, b, places):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INDEX, LANES), places))


@intrinsic
def load_lanes(typingctx, array, offset):
    """Return the four numbers of an array from an offset on."""
    _check_array(array)

    def generate(context, builder, signature, arguments):
        return builder.load(_find_address(context, builder, signature.args[0], *arguments), align=8)

    return _lanes(array, types.int64), generate


@intrinsic
def store_lanes(typingctx, array, offset, lanes):
    """Set the four numbers of an array from an offset on."""
    _check_array(array)

    def generate(context, builder, signature, arguments):
        address = _find_address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, _lanes), generate


@intrinsic
def fill_lanes(typingctx, number):
    """Return one number four times."""

    def generate(context, builder, signature, arguments):
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], ir.Constant(_INDEX, 0))
        return _shuffle(builder, first, nothing, [0] * LANES)

    return _lanes(types.float64), generate


@intrinsic
def add_lane_products(typingctx, total, a, b):
    """Return total + a * b lane by lane, rounded once where the processor can."""

    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.v4f64", _VECTOR, [a, b, total])

    return _lanes(_lanes, _lanes, _lanes), generate


@intrinsic
def add_product(typingctx, total, a, b):
    """Return total + a * b of three numbers, rounded once where the processor can."""

    def generate(context, builder, signature, arguments):
        total, a, b = arguments
        return _call(builder, "llvm.fmuladd.f64", _NUMBER, [a, b, total])

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def sum_lanes_of_four(typingctx, a, b, c, d):
    """Return the four sums over the lanes of a, of b, of c and of d, each (0 + 1) + (2 + 3)."""

    def generate(context, builder, signature, arguments):
        a, b, c, d = arguments

        def add_neighbours(x, y):
            return builder.fadd(_shuffle(builder, x, y, [0, 4, 2, 6]), _shuffle(builder, x, y, [1, 5, 3, 7]))

        ab, cd = add_neighbours(a, b), add_neighbours(c, d)
        sums = builder.fadd(_shuffle(builder, ab, cd, [0, 1, 4, 5]), _shuffle(builder, ab, cd, [2, 3, 6, 7]))
        each = [builder.extract_element(sums, ir.Constant(_INDEX, i)) for i in range(LANES)]
        return context.make_tuple(builder, signature.return_type, each)

    return types.UniTuple(types.float64, 4)(_lanes, _lanes, _lanes, _lanes), generate
