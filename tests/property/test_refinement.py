"""Refined clusters of small tables, held against all partitions; and what rebuilding leaves behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import get_num_threads, set_num_threads
from tests.property.test_certificate import least_loss, table

import shoal
from shoal.algorithms import _refinement
from shoal.algorithms._records import Records
from shoal.algorithms._refinement import REBUILDINGS, refined
from shoal.core.blocks import Blocks
from shoal.core.policy import Policy
from shoal.core.run import Run

ROWS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from([20, 21, 25, 40, None]), st.sampled_from([1, 2, 50])),
    min_size=6,
    max_size=9,
)


def records_of(rows: list[tuple[Any, ...]], k: int) -> Records:
    policy = Policy(models=(shoal.KAnonymity(k=k),), seed=1)
    return Records.of(table(rows), policy, ("hierarchy", "interval", "interval"))


def drawn(count: int, seed: int = 0) -> list[tuple[Any, ...]]:
    generator = np.random.default_rng(seed)
    return [
        ("abcde"[generator.integers(5)], int(generator.integers(20, 60)), int(generator.integers(9)))
        for _ in range(count)
    ]


@settings(max_examples=count(13, 80), deadline=None)
@given(rows=ROWS, k=st.sampled_from([2, 3]))
def test_it_never_claims_less_than_the_best_partition_loses(rows, k):
    records = records_of(rows, k)
    owners, facts = refined(records, np.zeros(len(rows), np.int32), 60, Run())
    assert facts["after"] >= least_loss(rows, k) - 1e-9
    assert facts["after"] <= facts["before"] + 1e-12
    assert records.holds(owners).all()


def test_it_mostly_finds_the_best_partition():
    """Of twenty tables of eight records, from one cluster of all; moves, swaps and splits alone find it for fewer."""

    def found(rebuildings: int) -> int:
        return sum(
            refined(records_of(rows, 2), np.zeros(8, np.int32), 60, Run(), rebuildings=rebuildings)[1]["after"]
            <= best + 1e-9
            for rows, best in zip(tables, optima, strict=True)
        )

    tables = [drawn(8, seed) for seed in range(20)]
    optima = [least_loss(rows, 2) for rows in tables]
    assert found(REBUILDINGS) >= 19
    assert found(0) < 19


def test_the_clusters_are_what_their_records_say():
    """Lists, sizes, ends and losses after rebuilding in several blocks, against a fresh count."""
    from shoal.kernels.cost import span

    rows = drawn(600)
    records = records_of(rows, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_refinement, "BLOCK", 20)
        search = _refinement._ClusterSearch(records, (np.arange(600) % 200).astype(np.int32), 32, Run())
        before = float(search.state.paid.sum())
        assert search.rebuild(REBUILDINGS, 0.0, 1.0) > 0
    state = search.state
    assert float(state.paid.sum()) < before
    points = records.points[records.tuples]
    for cluster in range(len(state.heads)):
        members, row = [], int(state.heads[cluster])
        while row >= 0:
            members.append(row)
            row = int(state.following[row])
        assert sorted(members) == np.flatnonzero(state.owners == cluster).tolist()
        assert state.sizes[cluster] == len(members)
        assert not members or len(members) >= 3
        if members:
            low, high = points[members].min(axis=0), points[members].max(axis=0)
            assert np.array_equal(state.extremes[cluster, 0], low)
            assert np.array_equal(state.extremes[cluster, 3], high)
            assert state.paid[cluster] == pytest.approx(len(members) * span(records.costs, low, high))


def test_threads_change_nothing_where_there_are_many_blocks():
    before, found = get_num_threads(), []
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_refinement, "BLOCK", 20)
            for threads in (1, before):
                set_num_threads(threads)
                start = (np.arange(600) % 200).astype(np.int32)
                found.append(refined(records_of(drawn(600), 3), start, 60, Run())[0])
    finally:
        set_num_threads(before)
    assert np.array_equal(*found)


@settings(max_examples=count(9, 50), deadline=None)
@given(rows=st.lists(ROWS, min_size=1, max_size=8), most=st.integers(1, 20))
def test_blocks_hold_every_tuple_once(rows, most):
    """Points that were cut lie in blocks of the wanted size, unless they are equal; all others in exactly one box."""
    records = records_of([row for each in rows for row in each], 2)
    points = records.points
    blocks = Blocks.cut(points, records.costs, most, Run())
    homes = blocks.of(points.T)
    assert set(homes.tolist()) == set(range(len(blocks)))
    assert np.bincount(homes).max() <= most
    low, high = blocks.boxes([tree.size for tree in records.dataset.hierarchies])
    every = np.stack(np.meshgrid(*(np.arange(tree.size) for tree in records.dataset.hierarchies))).reshape(3, -1)
    inside = ((low[:, :, None] <= every) & (every <= high[:, :, None])).all(axis=1)
    assert (inside.sum(axis=0) == 1).all()
    assert np.array_equal(inside.argmax(axis=0), blocks.of(every.astype(np.int32)))
