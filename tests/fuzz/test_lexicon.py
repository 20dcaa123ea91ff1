"""What the fuzzer's own reader takes a published cell for."""

from __future__ import annotations

import pytest
from tests.fuzz.case import Column, Given
from tests.fuzz.drawing import drawn
from tests.fuzz.lexicon import Lexicon


def covered(cell: str, *values: str, as_it_was: bool = False, sets: bool = True) -> list[bool | None]:
    """Of which of some values a cell is true."""
    lexicon = Lexicon(Column("x", "quasi", values), drawn(1))
    return [lexicon.covers(cell, None, row, as_it_was=as_it_was, sets=sets) for row in range(len(values))]


def test_an_interval_holds_what_lies_between_its_ends_to_the_last_digit() -> None:
    values = ("0.1", "12345678901234567.01", "12345678901234567.02")
    assert covered("[0.1-12345678901234567.01]", *values) == [True, True, False]
    assert covered("[0.1-12345678901234567.02)", *values) == [True, True, False]
    assert covered("≥12345678901234567.02", *values) == [False, False, True]


@pytest.mark.parametrize(("as_it_was", "of"), [(True, [True, False, False]), (False, [True, True, True])])
def test_a_value_that_looks_like_a_set_is_one_where_the_manifest_says_so(as_it_was: bool, of: list[bool]) -> None:
    assert covered("{a|b}", "{a|b}", "a", "b", as_it_was=as_it_was) == of
    assert covered("{a|b}", "{a|b}", "a", "b", sets=not as_it_was) == of
    assert covered("*", "{a|b}", "a", "b", as_it_was=as_it_was) == [True] * 3


def test_a_moment_of_a_tree_is_not_what_another_clock_shows() -> None:
    values = ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00+05:30")
    tree = Given(tuple((value, f"group {at}", "any") for at, value in enumerate(values)), "json")
    lexicon = Lexicon(Column("x", "quasi", values, hierarchy=tree), drawn(1))
    for cell, of in (("any", [True, True]), ("group 0", [True, False]), (values[0], [True, None])):
        assert [lexicon.covers(cell, None, row, as_it_was=False) for row in range(2)] == of
