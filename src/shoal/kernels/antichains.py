"""Families of sets, as 64-bit masks, none of which contains another."""

import numpy as np

from shoal.kernels.compilation import inner, kernel


@inner
def _inside(chosen, masks, used):
    for position in range(used):  # noqa: SIM110, generators do not compile
        if chosen & ~masks[position] == 0:
            return True
    return False


@kernel
def without(candidates, settled, bad):
    """The maximal sets that contain neither what the candidates already avoid nor `bad`.

    Sets inside a settled one are left out, and so is the empty set. Candidates that stay keep their order and come
    first. Returns an array and how many of its entries count.
    """
    width = 0
    left = bad
    while left:
        left &= left - np.uint64(1)
        width += 1
    breaking = 0
    for position in range(len(candidates)):
        if candidates[position] & bad == bad:
            breaking += 1
    result = np.empty(len(candidates) + breaking * width, np.uint64)
    staying = 0
    for position in range(len(candidates)):
        if candidates[position] & bad != bad:
            result[staying] = candidates[position]
            staying += 1
    used = staying
    for position in range(len(candidates)):
        left = bad if candidates[position] & bad == bad else np.uint64(0)
        while left:
            bit = left & (~left + np.uint64(1))
            left ^= bit
            smaller = candidates[position] & ~bit
            if smaller and not _inside(smaller, result, staying) and not _inside(smaller, settled, len(settled)):
                result[used] = smaller
                used += 1
    # Two broken candidates can leave the same set, or one inside the other; a zero marks what goes.
    at = staying
    for position in range(staying, used):
        for other in range(staying, used):
            equal = result[position] == result[other]
            if other != position and result[position] & ~result[other] == 0 and (not equal or other > position):
                result[position] = 0
                break
    for position in range(staying, used):
        if result[position]:
            result[at] = result[position]
            at += 1
    return result, at


@kernel
def minimal(masks):
    """Which of the masks, all different, contain no other one."""
    is_minimal = np.ones(len(masks), np.bool_)
    for position in range(len(masks)):
        for other in range(len(masks)):
            if other != position and masks[other] & ~masks[position] == 0:
                is_minimal[position] = False
                break
    return is_minimal
