"""What the models declare: whether merging classes and leaving others out keeps them.

The population is fixed: it is that of the whole original table, whatever is merged or left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from counts import count
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from making import names

import shoal
from shoal import registry
from shoal.core.classes import Classes, joined, summarize
from shoal.core.hierarchy import Hierarchy
from shoal.errors import ParameterError

TREE = Hierarchy.from_paths(
    "disease", [("cancer", "grave", "*"), ("flu", "mild", "*"), ("hiv", "grave", "*"), ("cold", "mild", "*")]
)
NAMES = names("models")


def models(name: str) -> st.SearchStrategy[Any]:
    """The examples of a model, with any bound that makes sense."""
    examples = [registry.make("models", name, dict(values)) for values in registry.find("models", name).examples]
    shares = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0])
    bounds = st.integers(1, 4) if examples[0].whole else shares

    def bounded(model: Any, bound: float) -> Any:
        try:
            return replace(model, **{model.asks: bound})
        except ParameterError:
            return model

    return st.builds(bounded, st.sampled_from(examples), bounds)


COUNTS = st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=3, max_size=5)


def classes_of(counts: list[list[int]]) -> Classes:
    """Classes from the count of each value in each of them."""
    rows = [(key, value) for key, row in enumerate(counts) for value, count in enumerate(row) for _ in range(count)]
    keys, values = np.array(rows, np.int32).reshape(-1, 2).T
    return summarize(["key"], [keys.copy()], [len(counts)], [("disease", values.copy(), 4, TREE)])


@pytest.mark.parametrize("name", NAMES)
def test_merging_keeps_what_it_is_declared_to_keep(name: str) -> None:
    @settings(max_examples=count(10, 150), deadline=None)
    @given(COUNTS, models(name))
    def run(counts: list[list[int]], model: Any) -> None:
        assume(model.merge_monotone and sum(map(sum, counts)) > 0)
        classes = classes_of(counts)
        assume(len(classes) >= 2)
        verdicts = model.holds(classes)
        for left in range(len(classes)):
            for right in range(left + 1, len(classes)):
                if verdicts[left] and verdicts[right]:
                    index = np.full(len(classes), -1, np.int32)
                    index[[left, right]] = 0
                    assert model.holds(classes.rolled(index, np.zeros((1, 1), np.int32))).all()

    if registry.make("models", name, dict(registry.find("models", name).examples[0])).merge_monotone:
        run()


@pytest.mark.parametrize("name", NAMES)
def test_growing_keeps_what_it_is_declared_to_keep(name: str) -> None:
    @settings(max_examples=count(8, 100), deadline=None)
    @given(COUNTS, models(name))
    def run(counts: list[list[int]], model: Any) -> None:
        assume(sum(map(sum, counts)) > 0)
        classes = classes_of(counts)
        verdicts = model.holds(classes)
        for left in np.flatnonzero(verdicts).tolist():
            for right in range(len(classes)):
                index = np.full(len(classes), -1, np.int32)
                index[[left, right]] = 0
                assert model.holds(classes.rolled(index, np.zeros((1, 1), np.int32))).all()

    if registry.find("models", name).growth_monotone:
        run()


@pytest.mark.parametrize("name", NAMES)
def test_leaving_out_other_classes_keeps_the_verdict(name: str) -> None:
    @settings(max_examples=count(8, 50), deadline=None)
    @given(COUNTS, models(name), st.integers(0, 31))
    def run(counts: list[list[int]], model: Any, dropped: int) -> None:
        assume(sum(map(sum, counts)) > 0)
        classes = classes_of(counts)
        kept = np.array([not dropped >> place & 1 for place in range(len(classes))])
        index = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        fewer = classes.rolled(index, classes.keys[:, kept])
        found, before = model.holds(fewer), model.holds(classes)[kept]
        assert found.tolist() == before.tolist() if model.suppression_monotone else bool(np.all(found >= before))

    run()


def test_merging_breaks_delta_disclosure_of_present_values() -> None:
    """Both classes keep the bound for the values that they have; in their union the second value is too rare."""
    classes = classes_of([[4, 0, 0, 0], [3, 1, 0, 0], [1, 4, 0, 0]])
    model = shoal.models.DeltaDisclosure(delta=1.0, strict=False)
    assert not model.merge_monotone
    assert model.holds(classes).tolist()[:2] == [True, True]
    union = classes.rolled(np.array([0, 0, -1], np.int32), np.zeros((1, 1), np.int32))
    assert model.holds(union).tolist() == [False]


def test_leaving_out_records_of_another_class_breaks_inference() -> None:
    """Both values of the first class are twins as long as the second class has them equally often."""
    model = shoal.models.InferenceL(l=2)
    assert not model.suppression_monotone
    assert model.holds(classes_of([[1, 1, 0, 0], [2, 2, 0, 0]])).all()
    assert not model.holds(classes_of([[1, 1, 0, 0], [2, 1, 0, 0]])).any()


ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=16)


def strict_classes(rows: list[tuple[int, int, int]]) -> Classes:
    """Classes of rows (class, first sensitive value, second one), each attribute joined to the other."""
    key, first, second = (column.copy() for column in np.array(rows, np.int32).T)
    columns = {"first": ("first", first, 3, None), "second": ("second", second, 4, TREE)}
    plain = summarize(["key"], [key], [3], list(columns.values()))
    return joined(
        plain,
        lambda others, name: summarize(
            ["key", *others], [key, *(columns[other][1] for other in others)],
            [3, *(columns[other][2] for other in others)], [columns[name]],
        ),
    )  # fmt: skip


@settings(max_examples=count(10, 150), deadline=None)
@given(ROWS, st.integers(1, 3))
def test_strict_judges_people_who_agree_on_the_other_attribute(rows: list[tuple[int, int, int]], l: int) -> None:  # noqa: E741
    found = shoal.DistinctLDiversity(l=l).holds(strict_classes(rows)).tolist()
    expected = []
    for key in sorted({row[0] for row in rows}):
        inside = [row[1:] for row in rows if row[0] == key]
        diverse = len(inside) >= l
        for known, asked in ((0, 1), (1, 0)):
            for value in {row[known] for row in inside}:
                diverse &= len({row[asked] for row in inside if row[known] == value}) >= l
        expected.append(diverse)
    assert found == expected


@settings(max_examples=count(8, 100), deadline=None)
@given(ROWS, st.sampled_from([shoal.EntropyLDiversity(l=1.5), shoal.TCloseness(t=0.4)]))
def test_rolling_up_strict_classes_equals_grouping_coarser(rows: list[tuple[int, int, int]], model: Any) -> None:
    """Merging the strict classes of keys 1 and 2 gives what grouping with one key for both gives."""
    fine = strict_classes(rows)
    index = np.minimum(fine.keys[0], 1)
    kept = np.unique(index)
    rolled = fine.rolled(np.searchsorted(kept, index).astype(np.int32), kept[None].astype(np.int32))
    coarse = strict_classes([(min(key, 1), first, second) for key, first, second in rows])
    assert model.holds(rolled).tolist() == model.holds(coarse).tolist()
    assert model.measure(rolled).value == model.measure(coarse).value
