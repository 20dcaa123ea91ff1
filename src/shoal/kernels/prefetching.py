"""Memory that is asked for before it is needed, so that many waits for it are one."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

AHEAD = 16
"""So many steps of a loop before it is needed."""
_READ, _KEPT, _DATA = 0, 3, 1
"""How it is asked for: to be read, to stay in all caches, and as data."""


@intrinsic
def soon(context, values, place):
    """Asks for an element of an array, counted as they lie in memory, that will be needed soon."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [at], ir.FunctionType(ir.VoidType(), [at, number, number, number])
        )
        where = builder.bitcast(builder.gep(array.data, [arguments[1]]), at)
        builder.call(ask, [where, *(ir.Constant(number, each) for each in (_READ, _KEPT, _DATA))])
        return context.get_dummy_value()

    return types.void(values, types.intp), code
