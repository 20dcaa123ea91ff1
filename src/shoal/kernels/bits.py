"""Sixty-four bytes at a time, as the bits of one number."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 64


@intrinsic
def equal(context, data, at, byte):
    """The bits of those of the bytes `data[at:at + 64]` that equal a byte, the first one lowest."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        vector = ir.VectorType(ir.IntType(8), WIDTH)
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())
        loaded = builder.load(place, align=1)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), arguments[2], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        every = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)
        return builder.bitcast(builder.icmp_unsigned("==", loaded, every), ir.IntType(64))

    return types.uint64(data, types.intp, types.uint8), code


@intrinsic
def lowest(context, bits):
    """The place of the lowest bit that is set; there must be one."""

    def code(context, builder, signature, arguments):
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(types.uint64), code


@intrinsic
def count(context, bits):
    """How many bits are set."""

    def code(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), code
