"""Families of sets, as 64-bit masks, none of which contains another."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _inside(chosen, masks, used):
    for position in range(used):  # noqa: SIM110, generators do not compile
        if chosen & ~masks[position] == 0:
            return True
    return False


@njit(cache=True, nogil=True)
def _count(mask):
    found = 0
    while mask:
        mask &= mask - np.uint64(1)
        found += 1
    return found


@njit(cache=True, nogil=True)
def without(candidates, settled, bad):
    """The maximal sets that contain neither what the candidates already avoid nor `bad`.

    Sets inside a settled one are left out, and so is the empty set.
    """
    kept = np.empty(len(candidates), np.uint64)
    broken = np.empty(len(candidates), np.uint64)
    keeping = breaking = 0
    for position in range(len(candidates)):
        if candidates[position] & bad == bad:
            broken[breaking] = candidates[position]
            breaking += 1
        else:
            kept[keeping] = candidates[position]
            keeping += 1
    width = _count(bad)
    fresh = np.empty(breaking * width, np.uint64)
    making = 0
    for position in range(breaking):
        left = bad
        while left:
            bit = left & (~left + np.uint64(1))
            left ^= bit
            made = broken[position] & ~bit
            if made and not _inside(made, kept, keeping) and not _inside(made, settled, len(settled)):
                fresh[making] = made
                making += 1
    # Two broken candidates can leave the same set, or one inside the other.
    result = np.empty(keeping + making, np.uint64)
    result[:keeping] = kept[:keeping]
    at = keeping
    for position in range(making):
        inside = False
        for other in range(making):
            equal = fresh[position] == fresh[other]
            if fresh[position] & ~fresh[other] == 0 and (not equal or other < position):
                inside = True
                break
        if not inside:
            result[at] = fresh[position]
            at += 1
    return result[:at].copy()


@njit(cache=True, nogil=True)
def minimal(masks):
    """The masks that contain no other one."""
    result = np.empty(len(masks), np.uint64)
    at = 0
    for position in range(len(masks)):
        holds = False
        for other in range(len(masks)):
            equal = masks[position] == masks[other]
            if masks[other] & ~masks[position] == 0 and (not equal or other < position):
                holds = True
                break
        if not holds:
            result[at] = masks[position]
            at += 1
    return result[:at].copy()
