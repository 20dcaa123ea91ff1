"""What an attacker learns from the published tables, by counting every world that is consistent with them.

The attacker knows everybody's quasi-identifiers and has the published tables, nothing else. A world says which
published row is whose; all worlds that the tables allow are equally likely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError

ALGORITHMS = [
    "anatomy", "bucket-clustering", "bucket-clustering:refine=true", "l-member", "l-member:variant=intuitive",
]  # fmt: skip
Row = tuple[set[int], str]
"""Which people a row may be of, and its sensitive value."""


def covered(label: str, ages: list[int]) -> set[int]:
    low, _, high = label.strip("[]").partition("-")
    return {person for person, age in enumerate(ages) if int(low) <= age <= int(high or low)}


def readings(release: shoal.Release, ages: list[int]) -> Iterator[list[Row]]:
    """What the published tables may mean: their rows, for every way to give the values of a group to its people."""
    if "sensitive" not in release.frames:
        yield [(covered(str(age), ages), value) for age, value in release.frame.select("age", "disease").rows()]
        return
    people = [(covered(str(age), ages), group) for age, group in release.frame.select("age", "group").rows()]
    values: dict[int, list[str]] = {}
    for group, value, count in release.frames["sensitive"].rows():
        values.setdefault(group, []).extend([value] * count)

    def assigned(place: int, rows: list[Row]) -> Iterator[list[Row]]:
        if place == len(people):
            yield list(rows)
            return
        who, group = people[place]
        for at in range(len(values[group])):
            value = values[group].pop(at)
            yield from assigned(place + 1, [*rows, (who, value)])
            values[group].insert(at, value)

    yield from assigned(0, [])


def worst(release: shoal.Release, ages: list[int]) -> Fraction:
    """The greatest probability with which anybody has any value."""
    seen: Counter[tuple[int, str]] = Counter()
    worlds = 0

    def count(rows: list[Row], place: int, taken: dict[int, str]) -> None:
        nonlocal worlds
        if place == len(rows):
            worlds += 1
            seen.update(taken.items())
            return
        who, value = rows[place]
        for person in who - taken.keys():
            count(rows, place + 1, {**taken, person: value})

    for rows in readings(release, ages):
        count(rows, 0, {})
    return Fraction(max(seen.values()), worlds)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.sampled_from("abcd")), min_size=3, max_size=6), st.integers(2, 3),
    st.integers(0, 9),
)  # fmt: skip
@settings(max_examples=12, deadline=None)
def test_nobody_has_a_value_with_more_than_one_in_l(
    algorithm: str, people: list[tuple[int, str]], l: int, seed: int  # noqa: E741
) -> None:  # fmt: skip
    ages = [age for age, _ in people]
    table = pl.DataFrame({"age": ages, "disease": [value for _, value in people]})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    try:
        release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=l), algorithm=algorithm, suppression=0.5, seed=seed)
    except InfeasibleError:
        return
    assert worst(release, ages) <= Fraction(1, l)


def test_a_release_that_says_too_much_is_found_out() -> None:
    """The oracle can fail: in a class of two equal values everybody is known."""
    table = pl.DataFrame({"age": [1, 2, 8, 9], "disease": list("aabc")})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="k-member", seed=1)
    assert worst(release, [1, 2, 8, 9]) == 1
