"""What the attack by a dependency computes, against an enumeration of all worlds in plain Python with fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.adversary.possible_worlds import posteriors
from shoal.adversary.posteriors import Effort, KnownPeople, Posteriors, plain_posteriors
from shoal.adversary.twins import twins
from shoal.core.run import Run

EFFORT = Effort(nodes=10**6, draws=400, sweeps=4000)
Rows = list[tuple[int, int, int, int]]
"""People: group, sensitive value, other column, a column beside."""


def people_of(
    rows: Rows, *, determines: bool = True, beside: bool = False, concerns: Any = None, only: int = -1
) -> KnownPeople:
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    groups, values, other, next_to = columns
    chosen = np.ones(len(rows), dtype=np.bool_) if concerns is None else np.array(concerns, dtype=np.bool_)
    return KnownPeople(groups, values, other, next_to if beside else np.zeros_like(next_to), chosen, determines, only)


def all_worlds(people: KnownPeople) -> Iterator[tuple[int, ...]]:
    """Every assignment of the values of each group to its people, each once for every way to permute them."""
    groups = people.groups.tolist()

    def go(at: int, held: dict[int, int]) -> Iterator[tuple[int, ...]]:
        if at > max(groups):
            yield tuple(held[person] for person in range(len(groups)))
            return
        inside = [person for person, owner in enumerate(groups) if owner == at]
        for order in permutations([int(people.values[person]) for person in inside]):
            yield from go(at + 1, {**held, **dict(zip(inside, order, strict=True))})

    return go(0, {})


def broken(people: KnownPeople, world: tuple[int, ...]) -> int:
    """The records too many, by the definition."""
    rows: dict[Any, Counter[int]] = {}
    for person, value in enumerate(world):
        if people.concerns[person] and people.only in (-1, value):
            other, beside = int(people.other[person]), int(people.beside[person])
            left, right = ((value, beside), other) if people.determines else (other, value)
            rows.setdefault(left, Counter())[right] += 1
    return sum(row.total() - max(row.values()) for row in rows.values())


def by_enumeration(people: KnownPeople, factor: Fraction) -> list[Fraction]:
    """For each person the probability of the most likely value."""
    seen: list[Counter[int]] = [Counter() for _ in people.groups]
    total = Fraction(0)
    for world in all_worlds(people):
        found = broken(people, world)
        weight = factor**found if found else Fraction(1)
        total += weight
        for person, value in enumerate(world):
            seen[person][value] += weight
    return [max(each.values()) / total for each in seen]


def summed(found: Posteriors, what: str = "most") -> list[float]:
    """One figure a person, in ascending order."""
    return sorted(np.repeat(getattr(found, what), found.people).tolist())


@st.composite
def tables(draw: st.DrawFn, kind: str) -> Rows:
    """Up to seven people in up to three groups, of whom the dependency holds."""
    count = draw(st.integers(1, 7))
    small = st.integers(0, 3)
    groups = sorted(draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))
    groups = [sorted(set(groups)).index(owner) for owner in groups]
    rows = []
    mapping: dict[Any, int] = {}
    for owner in groups:
        value, other, beside = draw(small), draw(small), draw(st.integers(0, 1))
        if kind == "values":
            other = mapping.setdefault(value, other)
        elif kind == "others":
            value = mapping.setdefault(other, value)
        elif kind == "beside":
            other = mapping.setdefault((value, beside), other)
        rows.append((owner, value, other, beside))
    return rows


def agree(found: Posteriors, expected: list[Fraction]) -> None:
    assert found.exact
    assert summed(found) == pytest.approx(sorted(map(float, expected)))
    assert found.mean == pytest.approx(float(sum(expected) / len(expected)))


common = settings(max_examples=count(13, 120), deadline=None)


@common
@given(tables("values"))
def test_values_determine(rows: Rows) -> None:
    people = people_of(rows)
    assert people.violations() == 0
    agree(posteriors(people, 0.0, EFFORT, Run()), by_enumeration(people, Fraction(0)))


@common
@given(tables("others"))
def test_values_are_determined(rows: Rows) -> None:
    people = people_of(rows, determines=False)
    assert people.violations() == 0
    agree(posteriors(people, 0.0, EFFORT, Run()), by_enumeration(people, Fraction(0)))


@common
@given(tables("beside"))
def test_values_determine_together_with_another_column(rows: Rows) -> None:
    people = people_of(rows, beside=True)
    assert people.violations() == 0
    agree(posteriors(people, 0.0, EFFORT, Run()), by_enumeration(people, Fraction(0)))


@common
@given(tables("free"), st.booleans(), st.sampled_from([Fraction(1, 9), Fraction(1, 3)]))
def test_approximate(rows: Rows, determines: bool, factor: Fraction) -> None:
    people = people_of(rows, determines=determines)
    true = tuple(people.values.tolist())
    assert people.violations() == broken(people, true)
    agree(posteriors(people, float(factor), EFFORT, Run()), by_enumeration(people, factor))


@common
@given(tables("values"), st.lists(st.booleans(), min_size=7, max_size=7), st.sampled_from([-1, 0, 1]))
def test_conditional(rows: Rows, concerned: list[bool], only: int) -> None:
    people = people_of(rows, concerns=concerned[: len(rows)], only=only)
    agree(posteriors(people, 0.0, EFFORT, Run()), by_enumeration(people, Fraction(0)))


@common
@given(tables("values"), tables("others"), st.booleans())
def test_bounds_are_bounds(first: Rows, second: Rows, determines: bool) -> None:
    """Where nothing is counted, the truth of every person lies between the bounds of the kind of people."""
    people = people_of(first if determines else second, determines=determines)
    exact = posteriors(people, 0.0, EFFORT, Run())
    rough = posteriors(people, 0.0, Effort(nodes=0, draws=0, sweeps=8), Run())
    assert rough.people.tolist() == exact.people.tolist() and rough.groups.tolist() == exact.groups.tolist()
    assert (rough.low <= exact.most + 1e-12).all() and (exact.most <= rough.high + 1e-12).all()


@settings(max_examples=count(8, 40), deadline=None)
@given(tables("values"))
def test_an_estimate_is_about_right(rows: Rows) -> None:
    people = people_of(rows)
    exact = posteriors(people, 0.0, EFFORT, Run())
    rough = posteriors(people, 0.0, Effort(nodes=0, draws=400, sweeps=8), Run())
    assert rough.exact or abs(rough.mean - exact.mean) <= 2 * rough.error


@settings(max_examples=count(8, 25), deadline=None)
@given(tables("beside"))
def test_a_walk_is_about_right(rows: Rows) -> None:
    people = people_of(rows, beside=True)
    expected = by_enumeration(people, Fraction(0))
    walked = posteriors(people, 0.0, Effort(nodes=0, draws=0, sweeps=8000), Run())
    assert (walked.low <= walked.most + 1e-12).all() and (walked.most <= walked.high + 1e-12).all()
    assert walked.mean == pytest.approx(float(sum(expected) / len(expected)), abs=max(0.06, 2 * walked.error))


@common
@given(tables("values"), tables("others"), tables("beside"))
def test_twins_bound_every_posterior(first: Rows, second: Rows, third: Rows) -> None:
    for rows, determines, beside in ((first, True, False), (second, False, False), (third, True, True)):
        people = people_of(rows, determines=determines, beside=beside)
        pairs = Counter(zip(people.groups.tolist(), people.values.tolist(), strict=True))
        groups, values = (np.array(column) for column in zip(*pairs, strict=True))
        fewest = twins(groups, values, np.array(list(pairs.values())), 4)
        least = int(fewest[fewest > 0].min())
        assert max(by_enumeration(people, Fraction(0))) <= Fraction(1, least)


@common
@given(tables("free"))
def test_the_baseline_is_the_share_of_the_most_frequent_value(rows: Rows) -> None:
    found = plain_posteriors(people_of(rows))
    for (owner, *_), share in zip(rows, found.tolist(), strict=True):
        inside = Counter(value for group, value, *_ in rows if group == owner)
        assert share == pytest.approx(max(inside.values()) / inside.total())
