"""Builders on values that are negative, fractional, huge, of different lengths, in different formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from counts import LONG

import shoal
from shoal.cli import main
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.hierarchies.automatic import Automatic
from shoal.hierarchies.dates import Dates
from shoal.hierarchies.intervals import Intervals
from shoal.hierarchies.masking import MOST_CHARACTERS as MOST
from shoal.hierarchies.masking import Masking
from shoal.hierarchies.ordering import Ordering
from shoal.hierarchies.table import Table
from shoal.hierarchies.tree import Tree


def numeric(*texts: object) -> Values:
    return Values.of("x", Kind.NUMERIC, [str(text) for text in texts])


def words(*texts: str) -> Values:
    return Values.of("x", Kind.CATEGORICAL, list(texts))


def assert_tree(tree: Hierarchy, values: Values) -> None:
    """Each level coarser than the one before, one value at the top, every node a run of leaves."""
    assert len(tree.labels[-1]) == 1 and tree.height >= 1
    assert tree.labels[0].tolist() == values.texts.tolist() or set(tree.labels[0]) == set(values.texts)
    for finer, coarser in zip(tree.codes, tree.codes[1:], strict=False):
        assert np.all(np.diff(coarser) >= 0) and set(np.diff(coarser)) <= {0, 1}
        assert len(set(zip(finer.tolist(), coarser.tolist(), strict=True))) == len(set(finer.tolist()))
    for level in range(1, tree.height):
        labels = tree.labels[level].tolist()
        assert len(set(labels)) == len(labels), "two nodes of one name"


@pytest.mark.parametrize(
    "values",
    [
        numeric(*range(-20, 21)),
        numeric(-5, 0, 3),
        numeric(-0.5, 0.25, 0.5, 17.125),
        numeric("1e-12", "2e-12", "9e-12", "3"),
        numeric("-1e308", "0", "1e308"),
        numeric("5e-324", "1e-323", "2e-323"),
        numeric("9007199254740993", "9007199254740999", "9007199254741999"),
        numeric(1e15, 1e15 + 0.5, 1e15 + 1),
        numeric(7), numeric(7, 8), numeric(*range(1000)),
        words("a"), words("a", "b"), words("x1", "x2", "y3"), words("1234*", "12345", "123456"),
        words("*", "a", "b"), words("Über", "漢字", "a b"),
        Values.of("x", Kind.DATE, ["2020-01-31", "1999-12-01", "2020-02-01"]),
        Values.of("x", Kind.DATE, ["2020-01-31 10:20", "1999-12-01T00:00:00.5", "2020-01-31 10:21"]),
    ],
)  # fmt: skip
def test_automatic_hierarchies(values: Values) -> None:
    tree = Automatic().build(values)
    assert_tree(tree, values)
    assert tree.automatic


@pytest.mark.parametrize("origin", [0, -3, 2.5])
@pytest.mark.parametrize("width", [1, 2, 2.5, 10])
@pytest.mark.parametrize(("bottom", "top"), [(None, None), (-10, None), (None, 10), (-7.5, 12.5), (-100, 100)])
def test_intervals_hold_their_values(origin: float, width: float, bottom: float | None, top: float | None) -> None:
    for values in (numeric(*range(-20, 21)), numeric(*(number / 4 for number in range(-60, 61)))):
        tree = Intervals(width=width, origin=origin, bottom=bottom, top=top).build(values)
        assert_tree(tree, values)
        assert tree.values is not None and tree.bounds is not None
        for level in range(1, tree.height):
            lower, upper = tree.bounds[level]
            for leaf, value in enumerate(tree.values):
                node = tree.codes[level, leaf]
                label = tree.labels[level][node]
                assert lower[node] <= value <= upper[node]
                if label.startswith("<"):
                    assert value < bottom
                elif label.startswith("≥"):
                    assert value >= top
                else:
                    first, last = tree.parse(label)
                    assert first <= leaf <= last
                    assert label.endswith("]") or value < upper[node]


def test_levels_of_intervals_are_as_many_as_asked_for() -> None:
    assert Intervals(width=5, levels=1).build(numeric(*range(100))).height == 2
    assert Intervals(width=5, factor=10).build(numeric(*range(100))).height == 3
    assert Intervals(width=1000, levels=2).build(numeric(*range(100))).height == 3


def test_masking_of_different_lengths() -> None:
    values = words("1", "12", "123")
    right, left = Masking().build(values), Masking(side="left", symbol="#", step=2).build(values)
    assert sorted(right.labels[1]) == ["*", "1*", "12*"] and sorted(right.labels[2]) == ["*", "**", "1**"]
    assert sorted(left.labels[1]) == ["##", "##3", "#"] or sorted(left.labels[1]) == ["#", "##", "##3"]
    assert_tree(right, values)


@pytest.mark.parametrize(
    ("count", "length", "most"),
    [(3, 8_000, MOST), (2_000, 8_000, MOST) if LONG else (400, 400, 2 * 10**6), (20, 300, MOST)],
)
def test_masking_of_long_codes_stays_within_memory(
    count: int, length: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second has too many characters, the others too many levels; every day with fewer that are too many."""
    monkeypatch.setattr("shoal.hierarchies.masking.MOST_CHARACTERS", most)
    values = words(*(f"{place:0{length}d}" for place in range(count)))
    with pytest.raises(shoal.errors.HierarchyError, match="at a time; take a step of at least") as refused:
        Masking().build(values)
    step = int(str(refused.value).rsplit(maxsplit=1)[1].replace(",", ""))
    for tree in (Masking(step=step).build(values), Automatic().build(values)):
        assert tree.height <= 256 and sum(len(label) for level in tree.labels for label in level) <= 1.5 * most
    with pytest.raises(shoal.errors.HierarchyError):
        Masking(step=step - 1).build(values)


def test_codes_of_common_lengths_are_masked_sign_by_sign() -> None:
    for length in (5, 36, 64):
        assert Masking().build(words(*(f"{place:0{length}d}" for place in range(3)))).height == length


def test_dates_with_times() -> None:
    values = Values.of("x", Kind.DATE, ["1984-05-17 10:00", "1984-05-17T11:30:00", "1991-01-30 00:00:00.25"])
    tree = Dates(units=["day", "quarter", "year"]).build(values)
    assert [level.tolist() for level in tree.labels[1:]] == [
        ["1984-05-17", "1991-01-30"], ["1984-Q2", "1991-Q1"], ["1984", "1991"], ["*"],
    ]  # fmt: skip
    for units in (["year", "month"], ["year", "year"], ["week", "month"], ["week", "day"]):
        with pytest.raises(shoal.errors.HierarchyError, match="fine to coarse"):
            Dates(units=units).build(values)
    with pytest.raises(shoal.errors.ParameterError):
        Dates(units=["century"])


def test_ordering_of_numbers_and_words() -> None:
    tree = Ordering(order=["low", "mid", "high"], fanout=2).build(words("high", "low", "mid"))
    assert tree.labels[0].tolist() == ["low", "mid", "high"]
    assert tree.labels[1].tolist() == ["low – mid", "high"]
    assert Ordering(fanout=3).build(numeric(1, 2, 10)).height == 1


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_trees_of_uneven_depth(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{suffix}"
    text = {
        "toml": 'c = ["p"]\n[a]\nb = ["q", "r"]\n',
        "json": '{"c": ["p"], "a": {"b": ["q", "r"]}}',
    }[suffix]
    path.write_text(text)
    tree = Tree(path=path).build(words("p", "q", "r"))
    assert tree.height == 3
    rows = {row[0]: row[1:] for row in tree.rows()}
    assert rows == {"p": ["p", "c", "*"], "q": ["b", "a", "*"], "r": ["b", "a", "*"]}


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_tables_as_people_write_them(
    separator: str, line_end: str, header: bool, encoding: str, tmp_path: Path
) -> None:
    rows = [["Köln", "west", "*"], ["Bonn", "west", "*"], ["Jena", "east", "*"]]
    if header:
        rows.insert(0, ["x", "half", "all"])
    path = tmp_path / "x.csv"
    path.write_bytes((line_end.join(separator.join(row) for row in rows) + line_end * 2).encode(encoding))
    tree = Table(path=path).build(words("Bonn", "Jena", "Köln"))
    assert sorted(tree.labels[0]) == ["Bonn", "Jena", "Köln"] and tree.labels[1].tolist() == ["west", "east"]


def test_separators_inside_values(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a, b, c, d;[1, 2);*\ne, f, g, h;[2, 3);*\n")
    assert Table(path=path).build(words("a, b, c, d", "e, f, g, h")).labels[1].tolist() == ["[1, 2)", "[2, 3)"]


ODD = [
    "plain",
    "semi;colon",
    "a, b",
    'say "x"',
    "two\nlines",
    "tab\there",
    "bar|here",
    "*",
    "x",
    "level0",
    "漢字",
    "0012",
]


@pytest.mark.parametrize("builder", ["automatic", "masking", "masking:side=left,step=2", "ordering:fanout=3"])
@pytest.mark.smoke
def test_a_hierarchy_that_is_written_reads_back(builder: str, tmp_path: Path) -> None:
    table, first, second = tmp_path / "table.parquet", tmp_path / "x.csv", tmp_path / "again.csv"
    pl.DataFrame({"x": ODD}).write_parquet(table)
    for chosen, target in ((builder, first), (str(first), second)):
        with pytest.raises(SystemExit) as end:
            main(["hierarchy", str(table), "--column", "x", "--builder", chosen, "-o", str(target), "--json"])
        assert end.value.code == 0
    assert first.read_bytes() == second.read_bytes()
    before = shoal.read(table, quasi=["x"], hierarchies={"x": builder}).hierarchies[0]
    after = shoal.read(table, quasi=["x"], hierarchies=tmp_path).hierarchies[0]
    assert np.array_equal(before.codes, after.codes)
    assert [level.tolist() for level in before.labels] == [level.tolist() for level in after.labels]


@pytest.mark.parametrize("builder", ["intervals:width=5,bottom=-10,top=30", "intervals:width=2.5", "automatic"])
def test_numeric_hierarchies_read_back(builder: str, tmp_path: Path) -> None:
    table, file = tmp_path / "table.parquet", tmp_path / "x.csv"
    pl.DataFrame({"x": [*range(-30, 60), None]}).write_parquet(table)
    with pytest.raises(SystemExit):
        main(["hierarchy", str(table), "--column", "x", "--builder", builder, "-o", str(file)])
    before = shoal.read(table, quasi=["x"], hierarchies={"x": builder}).hierarchies[0]
    after = shoal.read(table, quasi=["x"], hierarchies={"x": file}).hierarchies[0]
    assert np.array_equal(before.codes, after.codes) and after.ordered
    assert [level.tolist() for level in before.labels] == [level.tolist() for level in after.labels]
