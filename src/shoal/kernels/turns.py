"""Turns at pieces of work that threads share: each takes the next piece inside a kernel, without Python's lock."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from shoal.kernels.compilation import inner, kernel

_APART = 8
"""Counters stand in cache lines of their own."""
LOOKS = 1 << 14
"""How often a thread that waits looks again: for about a millisecond, and a piece takes less."""


@intrinsic
def _add(context, numbers, place, number):
    """Adds to one of some numbers and returns what it was before, in one step for all threads."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", builder.gep(array.data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(numbers, types.int64, types.int64), code


COMPILED, OTHERS, DONE = range(3)
"""The counters: how many pieces for kernels are taken, how many of the others, and how many are done."""


def turns() -> Any:
    """Counters that are all 0."""
    return np.zeros(3 * _APART, np.int64)


@kernel
def take(turns, which):
    """The next piece of those that a counter counts."""
    return _add(turns, which * _APART, 1)


@inner
def finish(turns):
    """Counts a piece as done."""
    _add(turns, DONE * _APART, 1)


@kernel
def all_done(turns, pieces):
    """Whether so many pieces are done; waits for a while until they are. To be woken takes longer than a piece."""
    looks = 0
    while _add(turns, DONE * _APART, 0) < pieces and looks < LOOKS:
        looks += 1
    return looks < LOOKS
