"""The dependencies that are found, against a look at every set of columns in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import polars as pl
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal

Rows = list[tuple[int, ...]]
ROWS = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=14)
)


def broken(rows: Rows, determinant: tuple[int, ...], dependent: int) -> int:
    """g3, as a count, by the definition."""
    groups: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for row in rows:
        groups[tuple(row[column] for column in determinant)][row[dependent]] += 1
    return len(rows) - sum(max(group.values()) for group in groups.values())


def minimal(rows: Rows, limit: int) -> dict[tuple[tuple[int, ...], int], int]:
    width = len(rows[0])
    found: dict[tuple[tuple[int, ...], int], int] = {}
    for size in range(width):
        for chosen in combinations(range(width), size):
            for dependent in set(range(width)) - set(chosen):
                smaller = any(set(part) <= set(chosen) for part, target in found if target == dependent)
                if not smaller and broken(rows, chosen, dependent) <= limit:
                    found[chosen, dependent] = broken(rows, chosen, dependent)
    return found


def table(rows: Rows) -> pl.DataFrame:
    names = [f"c{column}" for column in range(len(rows[0]))]
    return pl.DataFrame([[f"v{value}" for value in row] for row in rows], schema=names, orient="row")


@settings(max_examples=count(20, 200), deadline=None)
@given(ROWS, st.sampled_from([0.0, 0.1, 0.25]))
def test_minimal_dependencies(rows: Rows, tolerance: float) -> None:
    found = shoal.dependencies(table(rows), tolerance=tolerance)
    assert found.proven and found.complete == len(rows[0])
    plain = {
        (tuple(int(name[1:]) for name in each.determinant), int(each.dependent[1:])): each.violations
        for each in found.found
    }
    assert len(plain) == len(found.found)
    assert plain == minimal(rows, int(tolerance * len(rows) + 1e-9))
    for each in found.found:
        columns = [int(name[1:]) for name in each.determinant]
        assert each.key == (bool(columns) and len({tuple(row[at] for at in columns) for row in rows}) == len(rows))


@settings(max_examples=count(17, 100), deadline=None)
@given(ROWS, st.integers(1, 2))
def test_determinants_of_a_size(rows: Rows, largest: int) -> None:
    found = shoal.dependencies(table(rows), largest=largest)
    expected = {key for key in minimal(rows, 0) if len(key[0]) <= largest}
    assert len(found.found) == len(expected)
    assert found.proven or found.complete == largest


@settings(max_examples=count(15, 150), deadline=None)
@given(ROWS, st.sampled_from([0.2, 0.4]))
def test_conditional_dependencies(rows: Rows, support: float) -> None:
    """For every value that enough records have: what is constant, or follows from one column, only there."""
    found = shoal.dependencies(table(rows), support=support)
    least = max(2, -int(-support * len(rows) // 1))
    columns = range(len(rows[0]))
    expected: dict[tuple[int, tuple[int, ...], int], list[int]] = defaultdict(list)
    for condition in columns:
        for value, size in Counter(row[condition] for row in rows).items():
            here = [row for row in rows if row[condition] == value]
            for dependent in columns:
                if size < least or dependent == condition:
                    continue
                for chosen in [(), *((column,) for column in columns if column not in (condition, dependent))]:
                    always = any(
                        broken(rows, part, dependent) == 0 for part in (chosen, (condition, *chosen))
                    )  # fmt: skip
                    if always or broken(here, chosen, dependent) or (chosen and not broken(here, (), dependent)):
                        continue
                    if chosen and len({row[chosen[0]] for row in here}) == size:
                        continue
                    expected[condition, chosen, dependent].append(size)
    assert {
        (int(each.condition[1:]), tuple(int(name[1:]) for name in each.determinant), int(each.dependent[1:])):
        (each.values, each.support)
        for each in found.conditional
    } == {key: (len(counts), sum(counts)) for key, counts in expected.items()}  # fmt: skip
