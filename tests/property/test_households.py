"""Households against brute force: figures of the diagnosis, k in households, household variables in a release."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import prod

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError

QUASI = ["age", "region"]


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Records of people, some of whom have several; the region is the household's."""
    homes = draw(st.lists(st.integers(0, 5), min_size=2, max_size=14))
    regions = draw(st.lists(st.integers(0, 2), min_size=6, max_size=6))
    records = draw(
        st.lists(st.tuples(st.integers(0, len(homes) - 1), st.integers(20, 24)), min_size=len(homes), max_size=20)
    )
    rows = [(who, homes[who], age, f"r{regions[homes[who]]}") for who, age in records]
    names = ["who", "home", "age", "region"]
    return pl.DataFrame(rows, schema=names, orient="row").with_row_index("row").with_columns(pl.col("row").cast(str))


def figures(table: pl.DataFrame, person: str) -> dict[str, float]:
    """What the diagnosis should say, person by person."""
    members: dict[tuple, set] = defaultdict(set)
    homes_in: dict[tuple, set] = defaultdict(set)
    profiles: dict[object, set] = defaultdict(set)
    home_of = {}
    for row in table.iter_rows(named=True):
        key, who = (row["age"], row["region"]), row[person]
        members[key].add(who)
        homes_in[key].add(row["home"])
        profiles[who].add(key)
        home_of[who] = row["home"]
    risks = {who: max(1 / len(members[key]) for key in keys) for who, keys in profiles.items()}
    living: dict[object, list] = defaultdict(list)
    for who, home in home_of.items():
        living[home].append(who)
    by_home = {home: 1 - prod(1 - risks[who] for who in people) for home, people in living.items()}
    alike = Counter(_profile(profiles, people) for people in living.values())
    return {
        "households": len(living),
        "k-households": min(map(len, homes_in.values())),
        "unique-households": sum(times == 1 for times in alike.values()),
        "highest-household-risk": max(by_home.values()),
        "average-household-risk": sum(by_home.values()) / len(by_home),
        "expected-reidentifications": sum(risks.values()),
        "household-reidentifications": sum(by_home[home] for home in home_of.values()),
    }


def _profile(profiles: dict[object, set], people: list) -> tuple:
    """The members of a household as a multiset of what each is like."""
    return tuple(sorted(tuple(sorted(profiles[who])) for who in people))


@settings(max_examples=count(10, 200), deadline=None)
@given(table=tables(), several=st.booleans())
def test_figures_are_those_of_brute_force(table: pl.DataFrame, several: bool) -> None:
    person = "who" if several else "row"
    data = shoal.read(
        table.drop("row" if several else "who"), quasi=QUASI, household="home", person="who" if several else None
    )
    findings = shoal.diagnose(data)
    expected = figures(table, person)
    assert {name: findings[name].value for name in expected} == pytest.approx(expected)


@settings(max_examples=count(12, 150), deadline=None)
@given(table=tables(), k=st.integers(2, 3), algorithm=st.sampled_from(["mondrian", "k-member", "optimal"]))
def test_every_published_class_has_k_households_and_members_show_the_same(
    table: pl.DataFrame, k: int, algorithm: str
) -> None:
    data = shoal.read(
        table.drop("who"), quasi=QUASI, household="home", household_variables=["region"], kinds={"age": "numeric"}
    )
    model = shoal.models.KHouseholds(k=k)
    try:
        release = shoal.anonymize(data, model, algorithm=algorithm, seed=1, allow_plain=["row"])
    except InfeasibleError:
        assert table["home"].n_unique() < k
        return
    shown = release.frame.join(table.select("row", "home"), on="row", how="left")
    assert shown.height == table.height
    assert shown.group_by(QUASI).agg(pl.col("home").n_unique())["home"].min() >= k
    assert shown.group_by("home").agg(pl.col("region").n_unique())["region"].max() == 1
