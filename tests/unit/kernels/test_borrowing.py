"""Arrays that are borrowed are read and written as ever, and nobody counts who holds them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from shoal.kernels.borrowing import borrowed


class Inner(NamedTuple):
    rows: Any
    factor: float


class Outer(NamedTuple):
    inner: Inner
    totals: Any


def _sums(given, wanted):
    inner, totals = given.inner, given.totals
    for place in range(len(inner.rows)):
        row = inner.rows[place]
        if wanted[place]:
            totals[place] = row.sum() * inner.factor
    return totals[0]


def _borrowed_sums(given, wanted):
    given, wanted = borrowed((given, wanted))
    return _sums_compiled(given, wanted)


_sums_compiled = numba.njit(inline="always")(_sums)


def test_the_same_values_without_a_count() -> None:
    rows, wanted = np.arange(12.0).reshape(3, 4), np.array([True, False, True])
    plain, without = (numba.njit(each) for each in (_sums, _borrowed_sums))
    expected, found = np.zeros(3), np.zeros(3)
    assert plain(Outer(Inner(rows, 0.5), expected), wanted) == without(Outer(Inner(rows, 0.5), found), wanted) == 3.0
    assert expected.tolist() == found.tolist() == [3.0, 0.0, 19.0]
    counted, uncounted = (
        [line for line in next(iter(each.inspect_llvm().values())).splitlines() if "call void @NRT_incref" in line]
        for each in (plain, without)
    )
    assert counted and not uncounted


def test_what_is_neither_an_array_nor_a_number_cannot_be_borrowed() -> None:
    """It would be counted off once too often."""
    with pytest.raises(TypingError, match="only arrays and numbers can be borrowed"):
        numba.njit(lambda rows: borrowed((len(rows), [rows]))[0])(np.zeros(3))
