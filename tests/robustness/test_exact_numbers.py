"""Numbers that floating point cannot hold: none becomes another, and none overflows."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal as library
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.errors import HierarchyError, SchemaError
from shoal.hierarchies.intervals import Intervals

BIG = [2**53 + step for step in range(12)]
COLUMNS = {
    "integers": pa.array(BIG * 2),
    "unsigned": pa.array([2**64 - 1 - step for step in range(12)] * 2, pa.uint64()),
    "negative": pa.array([-number for number in BIG] * 2),
    "decimals": pa.array([Decimal(number) + Decimal("0.10") for number in BIG] * 2),
    "small decimals": pa.array(
        [Decimal("0.1000000000000000000") + Decimal(step).scaleb(-19) for step in range(12)] * 2
    ),
    "texts": pa.array([str(number) for number in BIG] * 2),
    "spellings": pa.array(["30", "30.0", "31", "31.00", "32", "3.2e1"] * 4),
}


def covers(label: object, cell: object) -> bool:
    """Whether a published label holds a number, reckoned exactly."""
    interval = re.fullmatch(r"\[(-?[\d.e+]+)-(-?[\d.e+]+)([\])])", str(label))
    if "*" in str(label) or "|" in str(label):  # masked, or a set
        return str(cell).startswith(str(label).split("*")[0]) or str(cell) in str(label).strip("{}").split("|")
    if interval is None:
        return Decimal(str(label)) == Decimal(str(cell))
    low, high, number = Decimal(interval[1]), Decimal(interval[2]), Decimal(str(cell))
    return low <= number <= high if interval[3] == "]" else low <= number < high


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("kinds", [{}, {"x": "numeric", "secret": "numeric"}])
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "k-member"])
def test_numbers_are_published_as_the_numbers_that_they_are(
    column: str, kinds: dict, k: int, algorithm: str, tmp_path: Path
) -> None:
    values = COLUMNS[column]
    table = pa.table({"x": values, "secret": values, "row": [f"r{row}" for row in range(len(values))]})
    data = library.read(table, quasi=["x"], sensitive=["secret"], kinds=kinds)
    assert len(data.summary) == len({Decimal(str(value)) for value in values.to_pylist()})
    release = library.anonymize(data, library.KAnonymity(k=k), algorithm=algorithm, allow_plain=["row"])
    assert release.frame["secret"].type == values.type
    for x, secret, row in zip(*(release.frame[name].to_pylist() for name in table.column_names), strict=True):
        true = Decimal(str(values[int(row[1:])].as_py()))
        assert Decimal(str(secret)) == true and covers(x, true)
        assert k > 2 or str(x).startswith("[") or Decimal(str(x)) == true
    for ending in ("csv", "parquet"):
        target = tmp_path / f"out.{ending}"
        release.write(target)
        assert library.verify(target).holds


def test_a_hierarchy_keeps_numbers_apart_that_are_one_in_floating_point(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("".join(f"{number};{'odd' if number % 2 else 'even'};*\n" for number in reversed(BIG)))
    table = pa.table({"x": BIG})
    tree = library.read(table, quasi=["x"], kinds={"x": "numeric"}, hierarchies={"x": file}).hierarchies[0]
    assert {label: tree.labels[1][tree.codes[1, leaf]] for leaf, label in enumerate(tree.labels[0])} == {
        str(number): "odd" if number % 2 else "even" for number in BIG
    }
    assert tree.labels[1].tolist() == ["even", "odd"]
    assert [tree.leaf(f"{number}.0") for number in BIG] == [tree.leaf(str(number)) for number in BIG]
    assert tree.leaf(str(BIG[-1] + 1)) is None and tree.leaf("9007199254740993.5") is None
    file.write_text("9007199254740992;*\n")
    with pytest.raises(HierarchyError, match="lacks 11 of"):
        library.read(table, quasi=["x"], kinds={"x": "numeric"}, hierarchies={"x": file})


def test_a_tree_that_parts_numbers_that_are_one_in_floating_point_has_no_order() -> None:
    """Its leaves stand as the tree has them: an interval from the first to the last one would leave values out."""
    large, larger = "12345678901234567.01", "12345678901234567.02"
    apart = [("0.1", "a", "any"), (larger, "a", "any"), (large, "b", "any")]
    together = [("0.1", "a", "any"), (larger, "b", "any"), (large, "b", "any")]
    assert not Hierarchy.from_paths("x", apart).ordered and Hierarchy.from_paths("x", together).ordered
    table = pa.table({"x": ["0.1", larger, large] * 2, "ill": [*"abcabc"]})
    data = library.read(table, quasi=["x"], sensitive=["ill"], hierarchies={"x": Hierarchy.from_paths("x", apart)})
    release = library.anonymize(data, library.KAnonymity(k=6), algorithm="k-member", seed=1, rows_are_people=True)
    assert set(release.frame["x"].to_pylist()) == {"any"}


def test_intervals_of_large_numbers_hold_their_values() -> None:
    values = Values.of("x", Kind.NUMERIC, [str(number) for number in BIG])
    tree = Intervals(width=3, origin=1).build(values)
    for level in range(1, tree.height):
        for leaf, number in enumerate(BIG):
            assert covers(tree.labels[level][tree.codes[level, leaf]], number)
    assert tree.parse(f"[{BIG[1]}-{BIG[2]}]") == (1, 2)
    with pytest.raises(HierarchyError, match="whole width"):
        Intervals(width=0.5).build(values)
    fractions = Values.of("x", Kind.NUMERIC, [f"{number}.5" for number in BIG])
    tree = Intervals(width=2).build(fractions)
    assert all(covers(tree.labels[1][tree.codes[1, leaf]], f"{number}.5") for leaf, number in enumerate(BIG))


@pytest.mark.parametrize("numbers", [[-1.7e308, 0.0, 1.7e308], [1.6e308, 1.7e308, 1.5e308]])
def test_numbers_that_overflow(numbers: list[float], tmp_path: Path) -> None:
    table = pa.table({"x": numbers * 2, "text": [str(number) for number in numbers * 2]})
    for name in table.column_names:
        with pytest.raises(SchemaError, match=r"distinct values are beyond 1e\+300"):
            library.read(table, quasi=[name], kinds={name: "numeric"})
        data = library.read(table, quasi=[name])
        assert data.schema[name].kind == "categorical" and data.hierarchies[0].values is None
        frame = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian").frame
        assert sorted(frame[name].to_pylist()) == sorted(table[name].to_pylist())
    paths = [[str(number), "*"] for number in numbers]
    assert Hierarchy.from_paths("x", paths).values is None


def test_numbers_at_the_limit_do_not_overflow() -> None:
    tree = library.read(pa.table({"x": [-1e300, 0.0, 3.0, 1e300] * 2}), quasi=["x"]).hierarchies[0]
    low, high = np.zeros(1, np.int32), np.array([tree.size - 1], np.int32)
    assert tree.extent(low, high).tolist() == [2e300]
    assert all("inf" not in label for level in tree.labels for label in level)
    values = Values.of("x", Kind.NUMERIC, ["1", "2.5", "1e300"])
    for builder, reason in (
        (Intervals(width=1e-300), "whole width"),
        (Intervals(width=5, levels=1100), "fewer levels"),
        (Intervals(width=1e301), "not beyond"),
    ):
        with pytest.raises(HierarchyError, match=reason):
            builder.build(values)
    with pytest.raises(HierarchyError, match="too narrow"):
        Intervals(width=1e-300).build(Values.of("x", Kind.NUMERIC, ["1", "2.5"]))


def test_which_spelling_stands_for_equal_values_does_not_depend_on_their_order() -> None:
    cells = [" 30", "30", "30 ", "31", "x", " x"]
    for ordered in (cells, cells[::-1]):
        release = library.anonymize(
            library.read(pa.table({"x": ordered}), quasi=["x"]), library.KAnonymity(k=1), algorithm="mondrian"
        )
        assert sorted(release.frame["x"].to_pylist()) == ["30", "30", "30", "31", "x", "x"]
