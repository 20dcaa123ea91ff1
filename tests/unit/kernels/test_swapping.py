"""Pairs that the kernel draws are those that a plain search draws from the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.swapping import Pool, pair


def plainly(waiting, draws, pool, free, most):
    """The same by lists of partners."""
    partners, count = {}, 0
    for unit, row in zip(waiting.tolist(), draws, strict=True):
        begin, first, last, end = (int(getattr(pool, side)[unit]) for side in ("begin", "first", "last", "end"))
        others = [*pool.order[begin:first].tolist(), *pool.order[last:end].tolist()]
        if count >= most or not free[unit] or not others:
            continue
        hits = [others[int(draw * len(others))] for draw in row[:-1]]
        left = [other for other in others if free[other]]
        if not left:
            continue
        chosen = next((other for other in hits if free[other]), None)
        chosen = left[int(row[-1] * len(left))] if chosen is None else chosen
        partners[unit], partners[chosen] = chosen, unit
        free[unit] = free[chosen] = False
        count += 2
    return partners, count


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [10, 1000])
def test_pairs(seed: int, most: int) -> None:
    generator = np.random.default_rng(seed)
    count = 60
    wide = np.sort(generator.integers(0, 3, count))
    narrow = np.unique(wide * 10 + generator.integers(0, 4, count), return_inverse=True)[1]
    order = np.argsort(narrow, kind="stable")
    pool = Pool(
        order, np.searchsorted(wide[order], wide), np.searchsorted(narrow[order], narrow),
        np.searchsorted(narrow[order], narrow, side="right"), np.searchsorted(wide[order], wide, side="right"), narrow,
    )  # fmt: skip
    waiting, draws = generator.permutation(count), generator.random((count, 3))
    free = generator.random(count) < 0.9
    wanted, paired = plainly(waiting, draws, pool, free.copy(), most)
    partners = np.arange(count)
    exhausted = np.zeros(int(narrow.max()) + 1, np.bool_)
    assert pair(waiting, draws, pool, exhausted, free, partners, most, np.zeros(1, np.bool_)) == paired == len(wanted)
    assert {unit: other for unit, other in enumerate(partners.tolist()) if unit != other} == wanted
    assert all(wide[unit] == wide[other] and narrow[unit] != narrow[other] for unit, other in wanted.items())
