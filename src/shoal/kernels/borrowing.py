"""Arrays that a kernel uses without counting how often they are held.

Whenever compiled code takes an array out of a tuple, or a row out of an array, it counts a reference, in one step for
all threads, and counts it off again. In a loop that takes longer than the work, and threads wait for one another's
counts. Whoever calls a kernel holds what it gave until the kernel returns, so nothing has to be counted there.
"""

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

HOLDERS = ("meminfo", "parent")
"""What an array in compiled code knows of who holds its memory."""


@intrinsic
def borrowed(context, value):
    """The same value, be it an array or a tuple of some, whose arrays are not counted. Never to be returned to Python,
    which would not know how long the memory lives."""
    _check(value)
    return value(value), lambda context, builder, signature, arguments: _uncounted(
        context, builder, signature.return_type, arguments[0]
    )


def _check(kind):
    """What is neither an array nor a number is counted elsewhere, and would be counted off once too often."""
    if isinstance(kind, types.BaseTuple):
        for part in kind:
            _check(part)
    elif not isinstance(types.unliteral(kind), types.Array | types.Number | types.Boolean):
        raise TypingError(f"only arrays and numbers can be borrowed, not {kind}")


def _uncounted(context, builder, kind, value):
    if isinstance(kind, types.Array):
        array = cgutils.create_struct_proxy(kind)(context, builder, value)
        for name in HOLDERS:
            if hasattr(array, name):
                setattr(array, name, cgutils.get_null_value(getattr(array, name).type))
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for place, part in enumerate(kind):
            taken = _uncounted(context, builder, part, builder.extract_value(value, place))
            value = builder.insert_value(value, taken, place)
    return value
