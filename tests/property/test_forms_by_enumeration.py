"""What the files of a release leave open, by enumerating every way to give its rows to the people, against what the
form promises and what the attack by a dependency computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import polars as pl
import pytest
from counts import count
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.multisets import parsed
from shoal.errors import InfeasibleError

QUASI = ("one", "two")
METHODS = {
    "multiset": "multiset",
    "bucketization": "bucketization",
    "apart": "slicing:columns=one|two|value",
    "beside": "slicing:columns=one|two+value",
    "together": "slicing:columns=one+two|value",
    "overlapping": "overlapping-slicing:columns=one+value|two+value",
}


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Up to six people, often with values that can be exchanged for each other."""
    small = st.integers(0, 2)
    if draw(st.booleans()):
        rows = draw(st.lists(st.tuples(small, small, st.integers(0, 3)), min_size=2, max_size=6))
    else:
        pairs = draw(st.lists(st.tuples(small, small, st.integers(0, 1)), min_size=1, max_size=3))
        rows = [(one, two, 2 * value + more) for one, two, value in pairs for more in (0, 1)]
    frame = pl.DataFrame(rows, schema=["one", "two", "value"], orient="row")
    city = draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))
    return frame.with_columns(
        pl.Series("city", [city[value] for value in frame["value"]]),
        pl.Series("row", range(frame.height)),
        value=pl.Series([f"v{value}" for value in frame["value"]]),
    )


def read(table: pl.DataFrame, *, city: bool = False) -> shoal.Dataset:
    """The table, with or without the `city` among the columns that are published as they are."""
    return shoal.read(table, quasi=list(QUASI), sensitive=["value"], drop=() if city else ["city"])


class Files:
    """The published files as a recipient has them: the rows that have a sensitive value, and what else must fit."""

    def __init__(self, release: shoal.Release) -> None:
        frames = release.frames
        main, self.tables = frames[""], []
        if "bucket" in main.columns:
            self._read_sliced(frames)
            owners = main.select("row", "bucket").rows() if "row" in main.columns else []
        elif "group" in main.columns:
            rows = frames["sensitive"].rows(named=True)
            self.entries = [(row["group"], {"value": row["value"]}) for row in rows for _ in range(row["count"])]
            self.tables = [(QUASI, Counter((row["group"], (row["one"], row["two"])) for row in main.rows(named=True)))]
            owners = main.select("row", "group").rows()
        else:
            self._read_multisets(main)
            owners = [(row["row"], (row["one"], row["two"])) for row in main.rows(named=True)]
        self.group_of = dict(owners)

    def _read_sliced(self, frames: dict[str, pl.DataFrame]) -> None:
        holding = next(frame for frame in frames.values() if "value" in frame.columns)
        self.entries = [(row["bucket"], row) for row in holding.rows(named=True)]
        for frame in frames.values():
            names = tuple(name for name in frame.columns if name not in ("bucket", "row", "city"))
            rows = frame.rows(named=True)
            self.tables.append((names, Counter((row["bucket"], tuple(row[name] for name in names)) for row in rows)))

    def _read_multisets(self, main: pl.DataFrame) -> None:
        shown = [name for name in ("value", "city") if name in main.columns]
        self.entries = [
            ((row["one"], row["two"]), {name: row[name] for name in shown}) for row in main.rows(named=True)
        ]
        sizes = Counter(group for group, _ in self.entries)
        for at, name in enumerate(QUASI):
            held: Counter[Any] = Counter()
            for group, size in sizes.items():
                entries = parsed(group[at])
                assert entries is not None
                times = size // sum(count for _, count in entries)
                held.update({(group, (int(value or -1),)): count * times for value, count in entries})
            self.tables.append(((name,), held))

    def worlds(self, people: list[dict[str, Any]], *, known: bool) -> Iterator[list[str]]:
        """Every way to give the rows to people who are `known` to be in their groups, or of whom only that they
        are in the table: the value of each person."""
        for order in permutations(self.entries):
            pairs = list(zip(people, order, strict=True))
            if known and any(self.group_of[person["row"]] != group for person, (group, _) in pairs):
                continue
            if any(entry.get("city", person["city"]) != person["city"] for person, (_, entry) in pairs):
                continue
            if all(self._fits(names, held, pairs) for names, held in self.tables):
                yield [entry["value"] for _, (_, entry) in pairs]

    @staticmethod
    def _fits(names: tuple[str, ...], held: Counter[Any], pairs: list[Any]) -> bool:
        def cell(person: dict[str, Any], entry: dict[str, Any], name: str) -> Any:
            return entry[name] if name == "value" else person[name]

        told = Counter((group, tuple(cell(person, entry, name) for name in names)) for person, (group, entry) in pairs)
        return told == held


def posteriors(worlds: list[list[str]]) -> list[float]:
    return [max(Counter(held).values()) / len(worlds) for held in zip(*worlds, strict=True)]


def released(table: pl.DataFrame, method: str, *, city: bool = False) -> tuple[shoal.Dataset, shoal.Release]:
    data = read(table, city=city)
    try:
        return data, shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=METHODS[method], seed=3)
    except InfeasibleError:
        assume(False)
        raise


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=count(7, 60), deadline=None)
@given(tables())
def test_nobody_who_knows_everybody_finds_a_value_with_more_than_one_half(method: str, table: pl.DataFrame) -> None:
    _, release = released(table, method)
    people = table.rows(named=True)
    worlds = list(Files(release).worlds(people, known=False))
    assert worlds, "the truth is one of them"
    assert max(posteriors(worlds)) <= 0.5 + 1e-9


@pytest.mark.parametrize("method", [name for name in METHODS if name != "overlapping"])
@settings(max_examples=count(7, 60), deadline=None)
@given(tables(), st.booleans(), st.booleans())
def test_the_attack_by_a_dependency_counts_these_worlds(
    method: str, table: pl.DataFrame, determines: bool, city: bool
) -> None:
    """Also where the city is published as it is, and can be read beside the value."""
    if not determines:
        table = table.with_columns(city=table["value"].str.slice(1).cast(pl.Int64) * 10 + table["row"] % 2)
    data, release = released(table, method, city=city)
    people = table.rows(named=True)

    def holds(values: list[str]) -> bool:
        seen: dict[Any, Any] = {}
        pairs = [(value, person["city"]) for value, person in zip(values, people, strict=True)]
        return all(seen.setdefault(*(pair if determines else pair[::-1])) == pair[determines] for pair in pairs)

    worlds = [values for values in Files(release).worlds(people, known=True) if holds(values)]
    expected = posteriors(worlds)
    left, right = ("value", "city") if determines else ("city", "value")
    (found,) = shoal.attack(data, release, shoal.attacks.FunctionalDependency(determinant=(left,), dependent=right))
    assert found.detail["exact"]
    assert found.success == pytest.approx(sum(expected) / len(expected))
    assert found.worst == pytest.approx(max(expected))


@settings(max_examples=count(7, 60), deadline=None)
@given(tables())
def test_one_target_is_not_found_with_more_than_one_half(table: pl.DataFrame) -> None:
    """The check of the authors, by its definition: shares of the columns, multiplied."""
    method = shoal.algorithms.Slicing(columns=(("one",), ("two", "value")), attacker="target", l=2)
    try:
        release = shoal.anonymize(read(table), algorithm=method, seed=3)
    except InfeasibleError:
        return
    for person in table.rows(named=True):
        believed: Counter[str] = Counter()
        for bucket in release.frame["bucket"].unique():
            ones = release.frame.filter(pl.col("bucket") == bucket)["one"]
            entries = release.frames["sensitive"].filter(pl.col("bucket") == bucket)
            alike = entries.filter(pl.col("two") == person["two"])["value"]
            for value in alike:
                believed[value] += (ones == person["one"]).mean() / entries.height
        assert max(believed.values()) / believed.total() <= 0.5 + 1e-9
