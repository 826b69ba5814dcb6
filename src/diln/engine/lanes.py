"""A loop that numba's own vectoriser does not do well, written in vectors by hand."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from diln.engine.compile import LANES

FLOAT_BYTES = 4
FLOAT = ir.FloatType()
VECTOR = ir.VectorType(FLOAT, LANES)
INDEX = ir.IntType(32)
FUSED = ("contract",)  # a product may be added without being rounded first


def _running_sums(typingctx, weights, row, prior, sums, size):  # type: ignore[no-untyped-def]
    """Fill ``sums[:size]`` with the running sums of weights * (row + prior), each of 16 lanes by itself.

    sums[k] is the sum over j <= k, j = k modulo 16. Its last 16 numbers are therefore the totals of the lanes, and a
    draw in proportion to the weights picks a lane by its total and then a place in the lane. All are contiguous arrays
    of single precision, of at least ``size`` numbers, which is a multiple of 16: neither is checked.
    Equals ``np.cumsum((weights * (row + prior)).reshape(-1, 16), axis=0).ravel()``.

    For use inside compiled loops. Written as a loop over 16 numbers of an array, the sums go to memory and back at each
    step: measured at 55 to 60 percent of the speed of C. Here they stay in registers: about 80 percent.
    """
    for name, array in (("weights", weights), ("row", row), ("sums", sums)):
        if not _is_line_of_floats(array):
            raise TypingError(f"{name} must be a contiguous array of float32 in one dimension, not {array}")
    if not sums.mutable:
        raise TypingError("sums cannot be written to")
    if prior != types.float32:
        raise TypingError(f"prior must be a float32, not {prior}")
    if not isinstance(size, types.Integer):
        raise TypingError(f"size must be an integer, not {size}")
    return types.void(weights, row, types.float32, sums, types.intp), _write


running_sums: Any = intrinsic(_running_sums)


def _is_line_of_floats(array: Any) -> bool:
    return isinstance(array, types.Array) and array.dtype == types.float32 and array.ndim == 1 and array.layout == "C"


def _write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The loop itself: 16 more of each array, a step of the sums, 16 numbers stored."""
    first = [
        context.make_array(kind)(context, builder, argument).data
        for kind, argument in zip(signature.args, arguments, strict=True)
        if isinstance(kind, types.Array)
    ]
    prior, size = _in_all_lanes(builder, arguments[2]), arguments[4]
    total = cgutils.alloca_once(builder, VECTOR)  # type: ignore[no-untyped-call]  # a register, once compiled
    builder.store(ir.Constant(VECTOR, [0.0] * LANES), total)
    start, step = ir.Constant(size.type, 0), ir.Constant(size.type, LANES)
    with cgutils.for_range_slice(builder, start, size, step, size.type) as (k, _):
        weights, row, sums = (_vector_at(builder, data, k) for data in first)
        shifted = builder.fadd(builder.load(row, align=FLOAT_BYTES), prior, flags=FUSED)
        product = builder.fmul(builder.load(weights, align=FLOAT_BYTES), shifted, flags=FUSED)
        new = builder.fadd(builder.load(total), product, flags=FUSED)
        builder.store(new, total)
        builder.store(new, sums, align=FLOAT_BYTES)
    return context.get_dummy_value()


def _in_all_lanes(builder: Any, value: Any) -> Any:
    nothing = ir.Constant(VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(INDEX, LANES), [0] * LANES))


def _vector_at(builder: Any, data: Any, k: Any) -> Any:
    """Where 16 numbers from data[k] on stand: anywhere a float may, so loads and stores must say so."""
    return builder.bitcast(builder.gep(data, [k]), VECTOR.as_pointer())
