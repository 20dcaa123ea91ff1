"""Attacks on several releases against every world that fits them, on small random tables.

A world gives everybody in any of the tables a value, and counterfeits too; every group of every release has the values
that it is published with.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from counts import count
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.attacks.complementary_release import ComplementaryRelease
from shoal.attacks.composition import Composition
from shoal.attacks.temporal_release import TemporalRelease
from shoal.core.contracts.attack import Known
from shoal.core.release_history import LocatedRelease, PublishedValues
from shoal.core.run import Run

ABSENT, WITHHELD = -2, -1


def spread(groups: list[int], values: list[str], more: list[tuple[int, str]]) -> PublishedValues:
    texts = sorted({*values, *(value for _, value in more)})
    counted = Counter(
        (group, texts.index(value)) for group, value in [*zip(groups, values, strict=True), *more] if group >= 0
    )
    columns = np.array(sorted(counted), np.int32).reshape(-1, 2).T
    return PublishedValues(
        tuple(texts), columns[0], columns[1], np.array([counted[key] for key in sorted(counted)], np.int64)
    )


def release(groups: list[int], values: list[str], more: list[tuple[int, str]] = []) -> LocatedRelease:  # noqa: B006
    """A release in which people have groups; absent ones are not in its table."""
    there = [person for person, group in enumerate(groups) if group != ABSENT]
    places = np.array([groups[person] for person in there], np.int32)
    return LocatedRelease(
        name="", ids=np.array(there, np.uint64), classes=places, groups=places, linking=("ill",),
        values={"ill": spread(groups, values, more)},
    )  # fmt: skip


def gapless(groups: list[int]) -> list[int]:
    kept = sorted({group for group in groups if group >= 0})
    return [kept.index(group) if group >= 0 else group for group in groups]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], list[str], list[list[tuple[int, str]]]]:
    people = draw(st.integers(2, 6))
    values = draw(st.lists(st.sampled_from("abc"), min_size=people, max_size=people))
    releases, fakes = [], []
    for _ in range(draw(st.integers(2, 3))):
        groups = gapless(
            draw(st.lists(st.sampled_from([ABSENT, WITHHELD, 0, 0, 1, 1, 2]), min_size=people, max_size=people))
        )
        assume(max(groups) >= 0)
        releases.append(groups)
        fakes.append(draw(st.lists(st.tuples(st.integers(0, max(groups)), st.sampled_from("abc")), max_size=1)))
    return releases, values, fakes


def posteriors(releases: list[list[int]], values: list[str], fakes: list[list[tuple[int, str]]]) -> list[Fraction]:
    """For each person who is published the probability of the most likely value, by looking at every world."""
    shown = [any(groups[person] >= 0 for groups in releases) for person in range(len(values))]
    extra = [(at, group) for at, more in enumerate(fakes) for group, _ in more]
    told = [
        Counter((g, v) for g, v in [*zip(groups, values, strict=True), *more] if g >= 0)
        for groups, more in zip(releases, fakes, strict=True)
    ]
    everybody = [person for person in range(len(values)) if shown[person]]
    worlds = np.array(list(product("abc", repeat=len(everybody) + len(extra))))
    for at, groups in enumerate(releases):
        places = [groups[person] for person in everybody] + [group if r == at else WITHHELD for r, group in extra]
        for group, value in product(sorted({group for group in places if group >= 0}), "abc"):
            here = worlds[:, [place == group for place in places]] == value
            worlds = worlds[here.sum(axis=1) == told[at][group, value]]
    return [
        Fraction(max(int((worlds[:, place] == value).sum()) for value in "abc"), len(worlds))
        for place in range(len(everybody))
    ]


@settings(max_examples=count(20, 300), deadline=None)
@given(tables())
def test_composition_counts_every_world(made: tuple[list[list[int]], list[str], list[list[tuple[int, str]]]]) -> None:
    releases, values, fakes = made
    seen = [release(groups, values, more) for groups, more in zip(releases, fakes, strict=True)]
    found = Composition().attempt(None, None, Known(earlier=tuple(seen[:-1]), later=seen[-1]), Run())  # type: ignore[arg-type]
    expected = posteriors(releases, values, fakes)
    assert found.detail["exact"] == 1.0
    assert found.worst == pytest.approx(float(max(expected)), abs=1e-12)
    assert found.success == pytest.approx(float(sum(expected) / len(expected)), abs=1e-12)
    assert found.detail["certain"] == sum(each == 1 for each in expected) / len(expected)
    # What is not counted out is never ruled out wrongly, and never certain without being so.
    quick = Composition(nodes=0).attempt(None, None, Known(earlier=tuple(seen[:-1]), later=seen[-1]), Run())  # type: ignore[arg-type]
    assert quick.detail["certain"] <= found.detail["certain"] and quick.detail["exact"] <= 1.0


@settings(max_examples=count(15, 200), deadline=None)
@given(tables())
def test_joined_rows_match_whoever_is_in_the_same_places(
    made: tuple[list[list[int]], list[str], list[list[tuple[int, str]]]],
) -> None:
    """Rows whose releases belong together, given to people in every way that fits: how often each is whose it is."""
    releases, values, _ = made
    people = [p for p in range(len(values)) if any(groups[p] >= 0 for groups in releases)]
    rows = [tuple(groups[p] for groups in releases) for p in people]
    fitting = [order for order in permutations(range(len(people))) if all(
        rows[at] == rows[who] for at, who in enumerate(order))]  # fmt: skip
    right = [Fraction(sum(order[at] == at for order in fitting), len(fitting)) for at in range(len(people))]
    seen = [release(groups, values) for groups in releases]
    known = Known(earlier=tuple(seen[:-1]), later=seen[-1])
    present = [[groups[p] != ABSENT for groups in releases] for p in range(len(values))]
    moved = any(any(row) and not all(row) for row in present)
    if moved:
        found = TemporalRelease().attempt(None, None, known, Run())  # type: ignore[arg-type]
        assert found.worst == pytest.approx(float(max(right)))
        assert found.success == pytest.approx(float(sum(right) / len(right)))
    complementary = ComplementaryRelease().attempt(None, None, known, Run())  # type: ignore[arg-type]
    everywhere = [at for at, row in enumerate(rows) if min(row) >= 0]
    if len(everywhere) == len(rows):
        assert complementary.worst == pytest.approx(float(max(right)))
        assert complementary.success == pytest.approx(float(sum(right) / len(right)))
    if moved:
        assert complementary.success <= found.success + 1e-12, "who came and left is more to know"


@settings(max_examples=count(17, 100), deadline=None)
@given(tables())
def test_a_further_release_never_makes_anybody_safer_who_is_joined(
    made: tuple[list[list[int]], list[str], list[list[tuple[int, str]]]],
) -> None:
    releases, values, _ = made
    seen = [release([max(group, 0) for group in groups], values) for groups in releases]
    fewer = ComplementaryRelease().attempt(None, None, Known(earlier=(seen[0],), later=seen[0]), Run())  # type: ignore[arg-type]
    more = ComplementaryRelease().attempt(None, None, Known(earlier=(seen[0],), later=seen[1]), Run())  # type: ignore[arg-type]
    assert more.success >= fewer.success - 1e-12


def test_independent_samples_weigh_shares_over_the_prior() -> None:
    first = release([0, 0, 0, 0], list("aabc"))
    second = release([0, 0, 0, 1], list("aabc"))
    found = Composition(independent=True).attempt(None, None, Known(earlier=(first,), later=second), Run())  # type: ignore[arg-type]
    prior = {"a": Fraction(1, 2), "b": Fraction(1, 4), "c": Fraction(1, 4)}
    group = {"a": Fraction(2, 3), "b": Fraction(1, 3)}
    whole = {"a": Fraction(1, 2), "b": Fraction(1, 4)}
    weights = {value: group[value] * whole[value] / prior[value] for value in group}
    best = max(weights.values()) / sum(weights.values())
    assert found.success == pytest.approx(float((3 * best + 1) / 4)) and found.detail["exact"] == 0.25
