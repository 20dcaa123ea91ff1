"""The bound on the loss of every partition, held against all partitions of small tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.run import Run
from shoal.utility import certificate
from shoal.utility.certificate import certify

TREE = {"a": ["ab", "*"], "b": ["ab", "*"], "c": ["cd", "*"], "d": ["cd", "*"], "e": ["e+", "*"]}
"""Five values, in nodes of two, two and one."""


def partitions(count: int, least: int) -> Iterator[list[list[int]]]:
    """All partitions of so many records into classes of `least` or more."""

    def grown(at: int, classes: list[list[int]]) -> Iterator[list[list[int]]]:
        if at == count:
            if all(len(each) >= least for each in classes):
                yield [list(each) for each in classes]
            return
        for each in classes:
            each.append(at)
            yield from grown(at + 1, classes)
            each.pop()
        yield from grown(at + 1, [*classes, [at]])

    return grown(0, [])


def categorical(values: list[str]) -> float:
    """What LM charges for a set of values: the other leaves under their closest common ancestor, as a share."""
    if len(set(values)) == 1:
        return 0.0
    if len({TREE[value][0] for value in values}) == 1:
        return 1 / 4
    return 1.0


def numeric(values: list[int | None], span: int) -> float:
    if len(set(values)) == 1:
        return 0.0
    if None in values:
        return 1.0
    return (max(values) - min(values)) / span if span else 0.0  # type: ignore[operator,type-var]


def least_loss(rows: list[tuple[Any, ...]], least: int) -> float:
    """The loss of the best partition, found by trying all."""
    spans = []
    for column in (1, 2):
        known = [row[column] for row in rows if row[column] is not None]
        spans.append(max(known) - min(known) if known else 0)

    def paid(members: list[int]) -> float:
        chosen = [rows[member] for member in members]
        return len(members) * (
            categorical([row[0] for row in chosen])
            + sum(numeric([row[column] for row in chosen], spans[column - 1]) for column in (1, 2))
        )

    best = min(sum(paid(each) for each in classes) for classes in partitions(len(rows), least))
    return best / (3 * len(rows))


def table(rows: list[tuple[Any, ...]], columns: tuple[str, ...] = ("kind", "age", "pay")) -> Any:
    frame = pl.DataFrame(
        rows, schema={"kind": pl.String, "age": pl.Int64, "pay": pl.Int64}, orient="row"
    ).select(columns)  # fmt: skip
    tree = shoal.Hierarchy.from_paths("kind", [[value, *above] for value, above in TREE.items()])
    return shoal.read(
        frame, quasi=list(columns), hierarchies={"kind": tree} if "kind" in columns else None,
        kinds={name: "numeric" for name in columns if name != "kind"},
    )  # fmt: skip


ROWS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from([20, 21, 25, 40, None]), st.sampled_from([1, 2, 50, None])),
    min_size=4,
    max_size=7,
)


@settings(max_examples=count(21, 150), deadline=None)
@given(rows=ROWS, least=st.sampled_from([2, 3]))
def test_no_partition_loses_less(rows, least):
    found = certify(table(rows), least, Run(seconds=240))
    best = least_loss(rows, least)
    assert found.bound <= best + 1e-12
    assert found.finished


@settings(max_examples=count(9, 60), deadline=None)
@given(rows=ROWS)
def test_few_combinations_give_a_lower_bound_that_still_holds(rows):
    all_of_them = certify(table(rows), 2, Run(seconds=240)).bound
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificate, "ROOM", 3 * len(rows))
        few = certify(table(rows), 2, Run(seconds=240)).bound
    assert few <= least_loss(rows, 2) + 1e-12
    assert few <= all_of_them * (1 + 20 * certificate.ENOUGH) + 1e-9  # prices stop growing before they are the greatest


def test_it_is_the_optimum_where_classes_are_clear():
    """Pairs far from one another: each record's price is what its pair costs."""
    rows = [("a", 20, 1), ("b", 20, 1), ("c", 40, 50), ("d", 40, 50)]
    found = certify(table(rows), 2, Run(seconds=240))
    assert found.bound == pytest.approx(least_loss(rows, 2), rel=1e-6) == pytest.approx(0.25 / 3)
    assert found.gap(0.25 / 3) == pytest.approx(0, abs=1e-6)
    assert found.gap(0.25) == pytest.approx(2 / 3)


def test_prices_grow_beyond_the_cheapest_sets():
    """Three records on a line: the middle one pairs cheaply with both, and yet somebody pays for three."""
    rows = [("a", 20, 1), ("a", 21, 1), ("a", 25, 1), ("a", 40, 1)]
    found = certify(table(rows, ("age",)), 2, Run(seconds=240))
    cheapest = (1 + 1 + 4 + 15) / 20 / 4
    assert cheapest < found.bound <= 2 * (1 + 15) / 20 / 4


def test_the_number_of_threads_changes_nothing():
    import numba

    rows = np.random.default_rng(3)
    drawn = [("abcde"[rows.integers(5)], int(rows.integers(20, 60)), int(rows.integers(9))) for _ in range(200)]
    data = table(drawn)
    before = numba.get_num_threads()
    try:
        found = []
        for threads in {1, before}:
            numba.set_num_threads(threads)
            found.append(certify(data, 5, Run(seconds=60)))
        assert len(set(found)) == 1
    finally:
        numba.set_num_threads(before)
