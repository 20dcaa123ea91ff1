"""Pairs of similar units of different areas, drawn at random."""

from collections import namedtuple

import numpy as np

from shoal.kernels.compilation import kernel

Pool = namedtuple("Pool", "order begin first last end own")
"""Units in an `order` in which those that may be partners follow one another, area by area. Of each unit it has the
slice from `begin` to `end`, in it those of its own area from `first` to `last`, and a number for the two, `own`."""


@kernel
def pair(waiting, draws, pool, exhausted, free, partners, most, flag):
    """Gives units that wait a random free partner each, in their order, as long as fewer than `most` units are paired,
    and returns how many are. A row of `draws` has random numbers below 1: all but the last are tries, and the last
    chooses among the partners that are free where none of them hit. `exhausted` marks pools in which nobody is free."""
    count = 0
    tries = draws.shape[1] - 1
    for place in range(len(waiting)):
        if flag[0] or count >= most:
            break
        unit = waiting[place]
        begin, first, last, end = pool.begin[unit], pool.first[unit], pool.last[unit], pool.end[unit]
        before = first - begin
        others = before + end - last
        if not free[unit] or others == 0 or exhausted[pool.own[unit]]:
            continue
        chosen = -1
        for draw in range(tries):
            at = np.int64(draws[place, draw] * others)
            other = pool.order[begin + at if at < before else last + at - before]
            if free[other]:
                chosen = other
                break
        if chosen < 0:
            left = 0
            for at in range(others):
                left += free[pool.order[begin + at if at < before else last + at - before]]
            if left == 0:
                exhausted[pool.own[unit]] = True
                continue
            wanted = np.int64(draws[place, tries] * left)
            for at in range(others):
                other = pool.order[begin + at if at < before else last + at - before]
                if free[other]:
                    if wanted == 0:
                        chosen = other
                        break
                    wanted -= 1
        partners[unit], partners[chosen] = chosen, unit
        free[unit] = free[chosen] = False
        count += 2
    return count
