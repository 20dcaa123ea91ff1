"""Targeted swapping: who is swapped, with whom, and what stays exactly as it was."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError, SchemaError
from shoal.perturbation.targeted_swapping import TargetedSwapping

COLUMNS = ["region", "town", "size", "stratum", "age"]
records = st.lists(
    st.tuples(*(st.integers(0, most) for most in (1, 3, 1, 1, 3))), min_size=1, max_size=30
).map(lambda rows: pl.DataFrame(rows, schema=COLUMNS, orient="row").with_row_index("row"))  # fmt: skip


def swapped(table: pl.DataFrame, **more: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The release in the order of the table, and its facts."""
    reading = {key: more.pop(key) for key in ("person", "household", "engine") if key in more}
    quasi = [name for name in COLUMNS if name in table.columns]
    data = shoal.read(table, quasi=quasi, **reading)
    method = TargetedSwapping(**{"geography": ("region", "town"), "match": ("size", "stratum"), **more})
    release = shoal.anonymize(
        data, algorithm=method, seed=3, repeatable=True, allow_plain=["row"] if "row" in table.columns else []
    )
    frame = release.frame
    return frame.sort("row") if "row" in frame.columns else frame, dict(release.recoding.facts)


def level_of(rows: list[tuple[Any, ...]], k: int) -> list[int]:
    """The widest level at which each is one of fewer than k; 2 where nobody is."""
    region, town = (Counter((row[1 : 2 + level], row[5]) for row in rows) for level in (0, 1))
    return [0 if region[row[1:2], row[5]] < k else 1 if town[row[1:3], row[5]] < k else 2 for row in rows]


@given(records, st.integers(1, 4), st.sampled_from([0.0, 0.5]))
@settings(max_examples=count(12, 150), deadline=None)
def test_margins_by_area_and_match_are_kept_and_those_at_risk_move(table: pl.DataFrame, k: int, share: float) -> None:
    after, facts = swapped(table, k=k, share=share, risk=("age",))
    margin = ["region", "town", "size", "stratum"]
    assert Counter(after.select(margin).rows()) == Counter(table.select(margin).rows())
    assert after.drop("region", "town").equals(table.drop("region", "town"))
    rows = table.rows()
    levels, moved = level_of(rows, k), [old[1:3] != new[1:3] for old, new in zip(rows, after.rows(), strict=True)]
    assert facts["at_risk"] == [levels.count(0), levels.count(1)] and facts["swapped"] == sum(moved)
    stay = [place for place, level in enumerate(levels) if level < 2 and not moved[place]]
    assert facts["unswapped"] == len(stay) or (share and facts["unswapped"] > len(stay))
    for place in stay:  # whoever is similar elsewhere has moved, so that nobody is left to swap with
        level, own = levels[place], rows[place]
        elsewhere = [row[3:5] == own[3:5] and row[1 : 2 + level] != own[1 : 2 + level] for row in rows]
        assert all(moved[other] for other, similar in enumerate(elsewhere) if similar)


def test_the_partner_lives_at_the_lowest_level_that_helps() -> None:
    """One is unique in the town and not in the region: the partner is of the same region. One is unique in the
    region: the partner is of another."""
    rows = [("n", "a", "x")] * 3 + [("n", "b", "x")] * 3 + [("n", "a", "y"), ("n", "b", "y")] + [("s", "c", "x")] * 3
    table = pl.DataFrame(rows, schema=["region", "town", "age"], orient="row").with_row_index("row")
    after, facts = swapped(table, match=(), k=2)
    assert facts["at_risk"] == [0, 2] and facts["unswapped"] == 0
    moved = after.filter(pl.Series(after["town"] != table["town"]))
    assert (after["region"] == table["region"]).all() and {6, 7} <= set(moved["row"])
    table = table.with_columns(age=pl.when(pl.col("row") == 6).then(pl.lit("z")).otherwise("age"))
    after, facts = swapped(table, match=(), k=2)
    assert facts["at_risk"] == [2, 0]
    assert after["region"][6] == "s" and after["region"][7] == "s"


def test_people_move_with_all_their_records() -> None:
    rows = [(place // 2, "ab"[place % 4 // 2], place // 2) for place in range(40)]
    table = pl.DataFrame(rows, schema=["who", "town", "age"], orient="row")
    after, facts = swapped(table, geography=("town",), match=(), k=2, person="who")
    assert facts["at_risk"] == [40] and facts["swapped"] == 40
    for _, group in after.group_by("age"):
        assert group["town"].n_unique() == 1
    before = {age: town for _, town, age in rows}
    assert all(before[age] != town for town, age in after.select("town", "age").rows())


def test_whoever_is_in_several_areas_is_told_and_each_part_moves_on_its_own() -> None:
    table = pl.DataFrame({"who": [1, 1, 2, 3], "town": list("abab"), "age": [1, 2, 3, 4]})
    data = shoal.read(table, quasi=["town", "age"], person="who")
    release = shoal.anonymize(data, algorithm="targeted-swapping:geography=town,k=2")
    assert release.recoding.facts["split"] == 1 and release.recoding.facts["swapped"] == 4
    assert dict(release.frame.select("age", "town").rows()) == {1: "b", 2: "a", 3: "b", 4: "a"}
    assert "households or people (1) have records in several areas" in " ".join(release.notes)


def test_wrong_columns_are_refused() -> None:
    table = pl.DataFrame({"who": [1, 1, 2], "town": list("aba"), "age": [1, 2, 3]})
    with pytest.raises(ParameterError, match="'town'"):
        swapped(table.drop("who"), geography=("town",), match=("town",))
    with pytest.raises(SchemaError, match="nowhere"):
        swapped(table.drop("who"), geography=("nowhere",), match=())
    with pytest.raises(SchemaError, match="'who' is swapped, so it needs a role"):
        swapped(table, geography=("who",), match=())
    with pytest.raises(ParameterError, match="geography"):
        TargetedSwapping(geography=())


def test_missing_areas_stay_and_a_note_says_who_could_not_move() -> None:
    table = pl.DataFrame({"town": ["a", None, "a", "b"], "size": [1, 1, 2, 3], "row": range(4)})
    data = shoal.read(table, quasi=["town", "size"])
    release = shoal.anonymize(data, algorithm="targeted-swapping:geography=town,match=size", allow_plain=["row"])
    assert release.frame.sort("row").equals(table)
    assert "4 records at risk have no similar record" in " ".join(release.notes)


def test_households_move_as_a_whole_to_households_of_the_same_members() -> None:
    """Households of one, two and three; who matches by sex has partners of the same size and sexes."""
    rows = [
        (house, "ab"[house % 2], "fm"[member % 2], 10 * house + member)
        for house in range(36) for member in range(1 + house // 2 % 3)
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=["house", "town", "sex", "age"], orient="row")
    data = shoal.read(table, quasi=["town", "sex", "age"], household="house", hierarchies=None)
    method = TargetedSwapping(geography=("town",), match=("sex",), k=2)
    release = shoal.anonymize(data, algorithm=method, seed=3, repeatable=True)
    frame, before = release.frame, {age: (house, town) for house, town, _, age in rows}
    towns: dict[int, set[str]] = {}
    for town, age in frame.select("town", "age").rows():
        towns.setdefault(before[age][0], set()).add(town)
    assert all(len(shown) == 1 for shown in towns.values()) and release.recoding.facts["unswapped"] == 0
    assert all(towns[house] != {"ab"[house % 2]} for house in towns)
    sizes = [Counter(Counter(homes).values()) for homes in (
        [(town, house) for house, town, _, _ in rows],
        [(town, before[age][0]) for town, age in frame.select("town", "age").rows()],
    )]  # fmt: skip
    assert sizes[0] == sizes[1]
