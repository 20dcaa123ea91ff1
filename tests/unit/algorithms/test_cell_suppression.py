"""Cell suppression: what is hidden, what it costs at least, and what is refused."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms import CellSuppression
from shoal.algorithms.suppression import _patterns
from shoal.algorithms.suppression._patterns import Patterns
from shoal.errors import InfeasibleError, ParameterError

QUASI = ["a", "b", "c"]


def opened(rows: list[tuple[Any, ...]], names: list[str] | None = None, **roles: Any) -> shoal.Dataset:
    names = names or [*QUASI[: len(rows[0])]]
    return shoal.read(pl.DataFrame(rows, schema=names, orient="row"), quasi=roles.pop("quasi", names), **roles)


def hidden_cells(release: shoal.Release, names: list[str]) -> dict[str, int]:
    return {name: int((release.frame[name] == "*").sum()) for name in names}


def least_cost(rows: list[tuple[str, ...]], k: int, weights: tuple[float, ...]) -> float:
    """By every way to hide columns of every record."""
    masks = [set(some) for size in range(len(weights) + 1) for some in combinations(range(len(weights)), size)]
    costs = [sum(weights[place] for place in mask) for mask in masks]
    best = float("inf")
    for chosen in product(range(len(masks)), repeat=len(rows)):
        cost = sum(costs[mask] for mask in chosen)
        if cost >= best:
            continue
        shown = [
            tuple("*" if place in masks[mask] else value for place, value in enumerate(row))
            for mask, row in zip(chosen, rows, strict=True)
        ]
        if min(Counter(shown).values()) >= k:
            best = cost
    return best


@settings(max_examples=count(12, 100), deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from("xyz")] * 2), min_size=3, max_size=5),
    st.sampled_from([(1.0, 1.0), (1.0, 2.5), (3.0, 1.0)]),
    st.integers(2, 3),
)
def test_the_bound_the_optimum_and_the_search(rows: list[tuple[str, ...]], weights: tuple[float, ...], k: int) -> None:
    """bound ≤ brute force = integer program ≤ search, and the releases keep the policy."""
    importance = tuple(f"{name}={weight}" for name, weight in zip(QUASI, weights, strict=False))
    data, model, best = opened(rows), shoal.KAnonymity(k=k), least_cost(rows, k, weights)
    quick = shoal.anonymize(data, model, algorithm=CellSuppression(importance=importance))
    exact = shoal.anonymize(data, model, algorithm=CellSuppression(importance=importance, exact=True))
    for release in (quick, exact):
        facts, counts = release.recoding.facts, hidden_cells(release, QUASI[:2])
        assert facts["hidden"] == counts
        assert facts["cost"] == sum(counts[name] * weight for name, weight in zip(QUASI, weights, strict=False))
        assert min(Counter(release.frame.rows()).values()) >= k
    assert quick.recoding.facts["bound"] <= best + 1e-6
    assert exact.recoding.facts["cost"] == exact.recoding.facts["bound"] == best <= quick.recoding.facts["cost"]


def test_lends_records_of_large_groups() -> None:
    """Three at 30 who lack one in town x take one of the many at 31 there, instead of hiding the town as well."""
    rows = [("30", "x")] * 3 + [("31", "x")] * 6 + [("50", "y")] * 4
    release = shoal.anonymize(opened(rows), shoal.KAnonymity(k=4), algorithm=CellSuppression())
    assert Counter(release.frame.rows()) == {("*", "x"): 4, ("31", "x"): 5, ("50", "y"): 4}
    importance = {"a": 1.0, "b": 1.0}
    expected = {"hidden": {"a": 4, "b": 0}, "importance": importance, "cost": 4.0, "bound": 4.0}
    assert release.recoding.facts == expected


def test_hides_what_is_less_important() -> None:
    rows = [("30", "x"), ("31", "x"), ("31", "y"), ("30", "y")]
    for worth, counts in ((2, {"a": 0, "b": 4}), (0.5, {"a": 4, "b": 0})):
        release = shoal.anonymize(
            opened(rows), shoal.KAnonymity(k=2), algorithm=f"cell-suppression:importance=a={worth}"
        )
        assert release.recoding.facts["hidden"] == counts


def test_linked_columns_are_hidden_along() -> None:
    rows = [("1001", "north", "f"), ("1002", "north", "f"), ("2001", "south", "m"), ("2001", "south", "m")]
    release = shoal.anonymize(opened(rows), shoal.KAnonymity(k=2), algorithm="cell-suppression:linked=a=b")
    assert Counter(release.frame.rows()) == {("*", "*", "f"): 2, ("2001", "south", "m"): 2}
    assert release.recoding.facts["bound"] == 4


@pytest.mark.parametrize("model", ["k-anonymity:k=2", "wildcard-k-anonymity:k=2", "k-combinations:k=2,size=2"])
def test_a_hidden_cell_reads_as_the_top_though_a_lower_node_holds_all_values(model: str) -> None:
    table = pl.DataFrame({"age": ["1", "2", "2", "2"], "sex": list("ffmm"), "note": list("abcc")})
    data = shoal.read(table, quasi=["age", "sex"], hierarchies={"age": "intervals:width=2.5"})
    assert data.hierarchies[0].labels[1].tolist() == ["[0-2.5)"]
    release = shoal.anonymize(data, model, algorithm="cell-suppression:linked=age=note", seed=1)
    ages, notes = release.frame["age"].to_list(), release.frame["note"].to_list()
    assert {"*"} < set(ages) <= {"1", "2", "*"} and [age == "*" for age in ages] == [note == "*" for note in notes]


def test_strata_are_never_hidden() -> None:
    rows = [("north", "30"), ("north", "31"), ("south", "30"), ("south", "30")]
    data = opened(rows)
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="cell-suppression:strata=a")
    assert Counter(release.frame.rows()) == {("north", "*"): 2, ("south", "30"): 2}
    with pytest.raises(InfeasibleError, match=r"2 of 2 strata by 'a', with 4 records, do not satisfy") as error:
        shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm="cell-suppression:strata=a")
    assert "north" not in str(error.value)
    small = opened([*rows, ("west", "70")])
    with pytest.raises(InfeasibleError, match=r"1 of 3 strata by 'a', with 1 record, do"):
        shoal.anonymize(small, shoal.KAnonymity(k=2), algorithm="cell-suppression:strata=a")
    without = shoal.anonymize(small, shoal.KAnonymity(k=2), algorithm="cell-suppression:strata=a", suppression=0.2)
    assert Counter(without.frame.rows()) == {("north", "*"): 2, ("south", "30"): 2}


@pytest.mark.parametrize(
    ("spelled", "message"),
    [
        ("importance=d=1", "importance: .*'d'"),
        ("importance=a=-1", "importance: write column=number, and a number above 0"),
        ("importance=a=0", "importance: write"),
        ("importance=a=nan", "importance: write"),
        ("importance=a", "importance: write"),
        ("linked=a", "linked: write"),
        ("linked=a=d", "linked: .*'d'"),
        ("strata=d", "strata: .*'d'"),
        ("strata=a,linked=b=a", "linked: column 'a' is one of the strata"),
    ],
)
def test_refuses(spelled: str, message: str) -> None:
    data = opened([("30", "x"), ("31", "x"), ("31", "y")])
    with pytest.raises(ParameterError, match=message):
        shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=f"cell-suppression:{spelled}")


def test_exact_refuses_what_it_cannot_judge() -> None:
    data = opened([("30", "x", "flu"), ("31", "x", "hiv")], quasi=["a", "b"], sensitive=["c"])
    with pytest.raises(ParameterError, match=r"exact: .* size of classes alone"):
        shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm=CellSuppression(exact=True))


def test_any_model_is_kept() -> None:
    """Records that read alike are judged by every model; what breaks one hides more."""
    rows = [("30", "x", "flu"), ("30", "x", "flu"), ("31", "x", "hiv"), ("40", "y", "flu"), ("40", "y", "hiv")]
    data = opened(rows, quasi=["a", "b"], sensitive=["c"])
    release = shoal.anonymize(data, shoal.DistinctLDiversity(l=2), algorithm=CellSuppression())
    assert Counter(release.frame.select("a", "b").rows()) == {("*", "x"): 3, ("40", "y"): 2}


def test_many_columns() -> None:
    """More sets of columns than can be tried: columns are hidden one after the other."""
    names = [f"c{place}" for place in range(14)]
    rows = [tuple(str((row * (place + 3)) % 7) for place in range(14)) for row in range(60)]
    release = shoal.anonymize(opened(rows, names), shoal.KAnonymity(k=9), algorithm=CellSuppression())
    assert release.classes.sizes.min() >= 9
    assert 0 < release.recoding.facts["bound"] <= release.recoding.facts["cost"]


def test_no_pattern_is_cheaper_than_those_that_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a cheap column hides dear ones along: the bound relies on it."""
    monkeypatch.setattr(_patterns, "MOST_LOOKS", 0)
    monkeypatch.setattr(_patterns, "FEWEST_PATTERNS", 6)
    follows = np.eye(6, dtype=np.bool_)
    follows[0, 1:] = True
    patterns = Patterns(np.zeros((6, 2), np.int32), np.ones(2, np.int64), np.array([1.0, 2, 2, 3, 5, 9]), follows)
    listed = {tuple(each.tolist()) for each in patterns.listing()}
    dearest = max(patterns.cost(np.array(each)[:, None])[0] for each in listed)
    for chosen in product([False, True], repeat=6):
        closed = patterns.with_followers(np.array(chosen)[:, None])
        assert tuple(closed[:, 0].tolist()) in listed or patterns.cost(closed)[0] >= dearest


@settings(max_examples=count(10, 150), deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from("uvw")] * 3), min_size=4, max_size=14),
    st.integers(2, 3),
    st.sampled_from([(1, ()), (2, ()), (2, (4,)), (3, ())]),
)
def test_combinations_of_columns(rows: list[tuple[str, ...]], k: int, asked: tuple[int, tuple[int, ...]]) -> None:
    """Every combination of shown and hidden values of so many columns has enough records, or there are too few."""
    size, smaller = asked
    model = shoal.models.KCombinations(k=k, size=size, smaller=smaller)
    release = shoal.anonymize(opened(rows), model, algorithm=CellSuppression())
    for number, least in {**dict(enumerate(smaller, 1)), size: k}.items():
        for columns in combinations(range(3), number):
            counts = Counter(tuple(row[column] for column in columns) for row in release.frame.rows())
            assert min(counts.values()) >= least
    assert release.recoding.facts["bound"] <= release.recoding.facts["cost"] <= 3 * len(rows)


def test_combinations_within_strata_and_links() -> None:
    rows = [("n", "1", "x"), ("n", "2", "x"), ("n", "3", "y"), ("s", "1", "x"), ("s", "1", "y"), ("s", "2", "y")]
    release = shoal.anonymize(
        opened(rows), "k-combinations:k=2,size=2", algorithm="cell-suppression:strata=a,linked=b=c"
    )
    frame = release.frame
    assert "*" not in frame["a"].to_list() and release.verify(release.policy).holds
    assert all(row["c"] == "*" for row in frame.iter_rows(named=True) if row["b"] == "*")
    alone = opened([("n", "1"), ("n", "1"), ("s", "1")])
    with pytest.raises(InfeasibleError, match=r"1 of 2 strata by 'a', with 1 record"):
        shoal.anonymize(alone, "k-combinations:k=2,size=2", algorithm="cell-suppression:strata=a")


@given(
    keys=st.lists(st.tuples(*[st.sampled_from("xyz")] * 3), min_size=2, max_size=6),
    more=st.lists(st.integers(0, 4), min_size=6, max_size=6),
    k=st.integers(3, 4),
)
@settings(max_examples=count(28, 600), deadline=None)
def test_a_model_that_the_table_had_is_kept_though_nobody_asked(
    keys: list[tuple[str, ...]], more: list[int], k: int
) -> None:
    """Everybody who is alike has two illnesses, some of them often: records to spare are those of one illness."""
    ills = ["1" * (1 + extra) + "2" for extra in more]
    rows = [(*key, ill) for key, some in zip(keys, ills, strict=False) for ill in some]
    data = opened(rows, [*QUASI, "ill"], quasi=QUASI, sensitive=["ill"])
    had = shoal.DistinctLDiversity(l=2)
    assert bool(had.holds(data.summary).all())
    release = shoal.anonymize(data, f"k-anonymity:k={k}", algorithm="cell-suppression", seed=1)
    assert bool(had.holds(release.classes).all())
