"""Grouping against a dictionary."""

from collections import Counter

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core import grouping
from shoal.core.grouping import decoded, group, located, packed_codes, words


def counted(columns, weights=None):
    weights = [1] * len(columns[0]) if weights is None else weights
    tallies = Counter()
    for row, weight in zip(zip(*[column.tolist() for column in columns], strict=True), weights, strict=True):
        tallies[row] += int(weight)
    return dict(sorted(tallies.items()))


def as_dict(found):
    return dict(zip(zip(*found.keys.tolist(), strict=True), found.counts.tolist(), strict=True))


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 60))
    radices = draw(st.lists(st.sampled_from([1, 2, 3, 50, 2**20, 2**31 - 1]), min_size=1, max_size=6))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    columns = []
    for radix in radices:
        pool = generator.integers(0, radix, size=4)
        columns.append(generator.choice(pool, size=rows).astype(np.int32))
    return columns, radices, generator.integers(1, 9, rows)


@given(tables())
@settings(max_examples=count(22, 80), deadline=None)
def test_agrees_with_a_dictionary_narrow_or_wide(table):
    columns, radices, weights = table
    found = group(columns, radices, weights=weights, index=True)
    assert list(as_dict(found).items()) == list(counted(columns, weights).items())
    assert np.array_equal(found.keys[:, found.index], np.array(columns))
    assert as_dict(group(columns, radices)) == counted(columns)


def test_wide_keys_go_through_the_fallback():
    radices = [2**31 - 1] * 5
    assert grouping._parts(radices) == 2
    generator = np.random.default_rng(1)
    pool = generator.integers(0, 2**31 - 1, (7, 5)).astype(np.int32)
    rows = pool[generator.integers(0, 7, 500)]
    columns = [np.ascontiguousarray(rows[:, place]) for place in range(5)]
    assert as_dict(group(columns, radices)) == counted(columns)


@pytest.mark.parametrize("distinct", [50, 5_000, 3_000_000])
def test_every_strategy_and_two_threads_agree_with_numpy(distinct):
    generator = np.random.default_rng(distinct)
    left = generator.integers(0, distinct, 2_200_000).astype(np.int32)
    right = generator.integers(0, 3, len(left)).astype(np.int32)
    found = group([left, right], [distinct, 2**25])
    keys, counts = np.unique(left.astype(np.int64) * 3 + right, return_counts=True)
    assert np.array_equal(found.keys[0].astype(np.int64) * 3 + found.keys[1], keys)
    assert np.array_equal(found.counts, counts)


def test_no_rows():
    found = group([np.empty(0, np.int32)], [3], index=True)
    assert found.keys.shape == (1, 0)
    assert len(found.counts) == 0


@given(st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=6), st.integers(0, 10**6))
@settings(max_examples=count(17, 60), deadline=None)
def test_packed_codes_come_apart_again_and_keep_their_order(radices, seed):
    """Against tuples that Python compares, also where several keys are needed."""
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, radix, 30, dtype=np.int32) for radix in radices]
    keys = packed_codes(columns, radices)
    assert list(zip(*(key.tolist() for key in keys), strict=True)) == [
        tuple(sum(int(row[place]) * stride for place, stride in word.items()) for word in words(radices))
        for row in zip(*columns, strict=True)
    ]
    order = sorted(range(30), key=lambda at: tuple(int(key[at]) for key in keys))
    assert [tuple(column[at] for column in columns) for at in order] == sorted(zip(*columns, strict=True))
    apart = [
        column
        for word, key in zip(words(radices), keys, strict=True)
        for column in decoded(key, [radices[place] for place in word])
    ]
    assert np.array_equal(apart, columns)


@pytest.mark.parametrize("largest", [1, 1000, 2**62])
def test_weights_are_sorted_along_with_keys_or_hashed_where_they_do_not_fit(largest, monkeypatch):
    generator = np.random.default_rng(3)
    monkeypatch.setattr(grouping, "SAMPLE", 64)
    columns = [generator.integers(0, 2**20, 2000).astype(np.int32) for _ in range(2)]
    columns = [np.append(column, column[:300]) for column in columns]
    weights = np.append(generator.integers(0, 9, len(columns[0]) - 1), largest)
    held = grouping._Keys(columns, [2**20, 2**20], weights)
    assert held.distinct > grouping.SORTED
    assert (held.weight_bits is None) == (largest == 2**62)
    assert as_dict(group(columns, [2**20, 2**20], weights=weights)) == counted(columns, weights)


@given(tables())
@settings(max_examples=count(11, 40), deadline=None)
def test_rows_are_located_among_known_tuples(table):
    columns, radices, _ = table
    found = group(columns, radices, index=True)
    assert np.array_equal(located(columns, radices, found.keys), found.index)
    backwards = found.keys[:, ::-1]
    assert np.array_equal(backwards[:, located(columns, radices, backwards)], np.array(columns))
    fewer = located(columns, radices, found.keys[:, 1:])
    assert np.array_equal(fewer, found.index - 1)


def test_narrow_codes_group_as_wide_ones_do():
    wide = [np.array([0, 127, 5, 127], np.int32), np.array([300, 2, 2, 2], np.int32)]
    narrow = [wide[0].astype(np.int8), wide[1].astype(np.int16)]
    assert as_dict(group(narrow, [128, 301])) == as_dict(group(wide, [128, 301]))
