"""Rolling up the summary equals grouping the generalized rows."""

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.classes import unpacked
from shoal.core.grouping import packed_codes
from shoal.errors import SchemaError


@st.composite
def people(draw):
    rows = draw(st.integers(1, 40))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    return pl.DataFrame(
        {
            "age": generator.integers(20, 40, rows),
            "zip": generator.choice(["53711", "53712", "53703", None], rows).tolist(),
            "disease": generator.choice(["flu", "cold", "none"], rows),
            "pay": generator.integers(1, 4, rows),
        }
    )


@given(people(), st.integers(0, 10**6))
@settings(max_examples=count(17, 60), deadline=None)
def test_generalize_equals_grouping_generalized_rows(table, seed):
    data = shoal.read(table, quasi=["age", "zip"], sensitive=["disease", "pay"])
    generator = np.random.default_rng(seed)
    levels = [int(generator.integers(0, tree.height + 1)) for tree in data.hierarchies]
    rolled = data.summary.generalize(levels)
    rows = pl.DataFrame(
        {
            name: tree.codes[level][data.codes(name)]
            for name, tree, level in zip(["age", "zip"], data.hierarchies, levels, strict=True)
        }
    ).with_columns(disease=data.codes("disease"), pay=data.codes("pay"))
    expected = rows.group_by("age", "zip").len().sort("age", "zip")
    assert rolled.keys.tolist() == [expected["age"].to_list(), expected["zip"].to_list()]
    assert rolled.sizes.tolist() == expected["len"].to_list()
    for histogram in rolled.sensitive:
        per_value = rows.group_by("age", "zip", histogram.column).len().sort("age", "zip", histogram.column)
        assert histogram.values.tolist() == per_value[histogram.column].to_list()
        assert histogram.counts.tolist() == per_value["len"].to_list()
        assert histogram.distinct.tolist() == (
            per_value.group_by("age", "zip").len().sort("age", "zip")["len"].to_list()
        )
        assert histogram.population.sum() == len(table)


@given(people())
@settings(max_examples=count(12, 30), deadline=None)
def test_select_equals_reading_fewer_columns(table):
    both = shoal.read(table, quasi=["age", "zip"], sensitive=["disease"])
    alone = shoal.read(table, quasi=["zip"], sensitive=["disease"])
    selected = both.summary.select(["zip"])
    assert selected.sizes.tolist() == alone.summary.sizes.tolist()
    assert selected.sensitive[0].counts.tolist() == alone.summary.sensitive[0].counts.tolist()


def test_histogram_is_named_when_there_are_several():
    table = pl.DataFrame({"a": [1, 2], "s": ["x", "y"], "u": ["x", "y"]})
    classes = shoal.read(table, quasi=["a"], sensitive=["s", "u"]).summary
    assert classes.histogram("u").column == "u"
    with pytest.raises(SchemaError, match="name one"):
        classes.histogram()
    with pytest.raises(SchemaError, match="names none"):
        shoal.read(table, quasi=["a"]).summary.histogram()


def test_levels_out_of_range_are_refused():
    classes = shoal.read(pl.DataFrame({"a": ["x", "y"]}), quasi=["a"]).summary
    for levels in ([2], [-1], [0, 0]):
        with pytest.raises(SchemaError):
            classes.generalize(levels)


@given(people(), st.booleans())
@settings(max_examples=count(11, 40), deadline=None)
def test_classes_of_packed_counts_are_those_of_rows(table, judged):
    data = shoal.read(table, quasi=["age", "zip"], sensitive=["disease"])
    names = ["age", "zip", "disease"] if judged else ["age", "zip"]
    columns, trees = [data.codes(name) for name in names], [data.schema[name].hierarchy for name in names]
    (keys,) = packed_codes(columns, [tree.size for tree in trees])
    distinct, counts = np.unique(keys, return_counts=True)
    last = ("disease", trees[2].size, trees[2]) if judged else None
    found = unpacked(["age", "zip"], [tree.size for tree in trees[:2]], distinct, counts, last, trees[:2])
    assert np.array_equal(found.keys, data.summary.keys) and np.array_equal(found.sizes, data.summary.sizes)
    assert found.records == data.records
    for histogram in found.sensitive:
        expected = data.summary.histogram()
        for name in ("starts", "values", "counts", "population"):
            assert np.array_equal(getattr(histogram, name), getattr(expected, name)), name
