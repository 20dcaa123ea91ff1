"""The order of values, held against the library's stable sort."""

import numpy as np
import pytest

from shoal.kernels.sorting import (
    DIGIT,
    DIGITS,
    by_digits,
    by_further_digits,
    count_digits,
    each_by_digits,
    order_of,
    place_by_digit,
    place_by_first_digit,
    places_of_digits,
    value_of_rank,
)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 500])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_it_is_the_stable_order(count, dtype):
    values = np.random.default_rng(count).integers(-5, 6, count).astype(dtype)
    assert order_of(values).tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.parametrize("spread", [1, 3, 1000])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 61])
def test_the_value_of_every_rank(count, spread):
    draw = np.random.default_rng(count)
    values = draw.choice([*draw.normal(size=spread), np.inf], count)
    for given in (values, np.sort(values), np.sort(values)[::-1].copy()):
        assert [value_of_rank(given.copy(), rank) for rank in range(count)] == np.sort(values).tolist()


@pytest.mark.parametrize("count", [0, 1, 2, 500])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 8), (0, 20), (5, 20), (7, 62), (0, 62)])
def test_keys_are_in_the_stable_order_of_their_bits(count, low, high):
    keys = np.random.default_rng(count).integers(0, 2**high, count)
    expected = keys[np.argsort(keys >> low, kind="stable")]
    assert by_digits(keys, np.empty_like(keys), low, high).tolist() == expected.tolist()


@pytest.mark.parametrize("count", [0, 1, 2, 5000])
@pytest.mark.parametrize("low", [0, 5, 8, 9, 17])
def test_keys_that_stand_by_their_first_digit_are_sorted_one_digit_after_the_other(count, low):
    top = low + 12
    keys = np.random.default_rng(count).integers(0, 2 ** (top + DIGIT), count)
    expected = keys[np.argsort(keys >> low, kind="stable")]
    counts, placed = np.zeros(DIGITS, np.int64), np.empty_like(keys)
    count_digits(keys, top, counts)
    assert counts.tolist() == np.bincount(keys >> top, minlength=DIGITS).tolist()
    ends = np.cumsum(counts)
    place_by_digit(keys, top, ends - counts, placed)
    assert placed.tolist() == keys[np.argsort(keys >> top, kind="stable")].tolist()
    assert each_by_digits(placed, keys, ends, low, top).tolist() == expected.tolist()


@pytest.mark.parametrize("spread", [2**64 - 1, 2**57, 2**30, 5])
def test_hashes_are_in_the_stable_order_also_where_they_are_not_spread_evenly(spread):
    hashes = np.random.default_rng(1).integers(0, spread, 3000, dtype=np.uint64)
    hashes[::7] = hashes[0]
    places, slices, counts = np.empty(3000, np.int32), [(0, 1100), (1100, 3000)], np.zeros((2, DIGITS), np.int64)
    for rows, some in zip(slices, counts, strict=True):
        count_digits(hashes[slice(*rows)].view(np.int64), 64 - DIGIT, some)
    ends, begins = places_of_digits(counts)
    for rows, some in zip(reversed(slices), begins[::-1], strict=True):  # in any order
        place_by_first_digit(hashes, *rows, some, places)
    assert ends.tolist() == np.cumsum(np.bincount((hashes >> np.uint64(56)).astype(int), minlength=256)).tolist()
    for begin, end in zip([0, *ends], ends, strict=False):
        by_further_digits(hashes, places[begin:end])
    assert places.tolist() == np.argsort(hashes, kind="stable").tolist()
