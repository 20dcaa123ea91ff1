"""Partitions and antichains against plain Python."""

from __future__ import annotations

import numpy as np

from shoal.kernels import antichains
from shoal.kernels import partitions as kernel


def test_refining_gives_the_classes_of_both_columns():
    rng = np.random.default_rng(2)
    first, second = (rng.integers(0, 25, 200).astype(np.int32) for _ in range(2))
    order, starts, lone = np.arange(200, dtype=np.int32), np.array([0, 200], np.int32), []
    for column in (first, second):
        finer, finer_starts, left = np.empty(200, np.int32), np.empty(101, np.int32), np.empty(200, np.int32)
        tally, touched = np.zeros(25, np.int32), np.empty(25, np.int32)
        classes, several, alone = kernel.refine(order, starts, column, tally, touched, finer, finer_starts, left)
        order, starts = finer[:several], finer_starts[: classes + 1]
        lone += left[:alone].tolist()
        assert not tally.any()
    found = [order[starts[at] : starts[at + 1]].tolist() for at in range(len(starts) - 1)] + [[row] for row in lone]
    expected = {}
    for row in range(200):
        expected.setdefault((first[row], second[row]), []).append(row)
    assert sorted(map(sorted, found)) == sorted(expected.values())
    assert lone and all(len(rows) > 1 for rows in found[: len(starts) - 1])


def test_the_level_that_is_left_after_a_budget():
    rng = np.random.default_rng(3)
    for _ in range(30):
        sizes = rng.integers(1, 9, rng.integers(1, 12))
        records = int(sizes.sum())
        for budget in range(records + 1):
            reachable = [int(k) for k in set(sizes.tolist()) if sizes[sizes < k].sum() <= budget]
            expected = np.inf if budget == records else max(reachable)
            tally = np.zeros(records + 1, np.int64)
            assert kernel.tallied_level_after(sizes, budget, tally) == expected
            assert not tally.any()
            assert kernel.level_after(sizes, sizes.astype(np.float64), budget) == expected


def test_agreement_is_the_set_of_equal_columns():
    columns = np.random.default_rng(4).integers(0, 3, (6, 50)).astype(np.int32)
    masks = kernel.agreement(columns, 7)
    for row in range(50):
        assert [bool(int(masks[row]) >> j & 1) for j in range(6)] == (columns[:, row] == columns[:, 7]).tolist()


def test_cutting_candidates_leaves_the_maximal_sets_that_avoid_every_bad_one():
    generator = np.random.default_rng(5)
    for _ in range(40):
        width = 6
        candidates = np.array([(1 << width) - 1], np.uint64)
        bad = []
        for _ in range(generator.integers(1, 6)):
            chosen = int(generator.integers(1, 1 << width))
            if not any(int(each) & chosen == chosen for each in candidates):
                continue
            bad.append(chosen)
            made, count = antichains.without(candidates, np.empty(0, np.uint64), np.uint64(chosen))
            candidates = made[:count]
        free = [mask for mask in range(1, 1 << width) if not any(mask & each == each for each in bad)]
        maximal = {mask for mask in free if not any(mask != other and mask & ~other == 0 for other in free)}
        assert set(candidates.tolist()) == maximal and len(candidates) == len(maximal)
        smallest = {mask for mask in bad if not any(mask != other and other & ~mask == 0 for other in bad)}
        different = np.array(sorted(set(bad)), np.uint64)
        assert set(different[antichains.minimal(different)].tolist()) == smallest


def test_cutting_leaves_out_what_lies_inside_a_settled_set():
    settled = np.array([0b0111], np.uint64)
    _, left = antichains.without(np.array([0b1111], np.uint64), settled, np.uint64(0b1000))
    assert left == 0
