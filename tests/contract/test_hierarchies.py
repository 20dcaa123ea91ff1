"""The same questions to every hierarchy builder that the registry knows, on columns of every kind."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from making import cases

import shoal
from shoal import registry
from shoal.core.hierarchy import Hierarchy
from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.errors import HierarchyError
from shoal.job import plugin, spelled

COLUMNS: dict[str, tuple[Kind, list[str]]] = {
    "age": (Kind.NUMERIC, [str(age) for age in range(17, 91, 3)]),
    "income": (Kind.NUMERIC, ["-5.25", "0", "1e3", "20000.5"]),
    "born": (Kind.DATE, ["1980-01-02", "1980-03-04", "1991-12-31", "2001-07-01"]),
    "zip": (Kind.CATEGORICAL, ["53715", "53710", "53706", "90210"]),
    "sex": (Kind.CATEGORICAL, ["Female", "Male"]),
    "word": (Kind.CATEGORICAL, ["a", "bb", "ccc dd", "Ö", "{x|y}", "*"]),
    "one": (Kind.CATEGORICAL, ["alone"]),
}


def built(name: str, example: Any) -> dict[str, Hierarchy]:
    """The hierarchies of the columns that suit the builder."""
    found = {}
    for column, (kind, texts) in COLUMNS.items():
        try:
            tree = registry.make("hierarchies", name, dict(example)).build(Values.of(column, kind, texts))
            if tree.leaf(texts[0]) is not None:  # a file may be one of another column, which reading a table refuses
                found[column] = tree
        except HierarchyError as error:
            assert repr(column) in str(error) and len(str(error)) > 20
            assert not any(len(text) > 3 and text in str(error) for text in texts), "a value was told"
    return found


@pytest.mark.parametrize(("name", "example"), cases("hierarchies"))
class TestBuilder:
    def test_builds_trees(self, name: str, example: Any) -> None:
        found = built(name, example)
        assert found, "it suits no column at all"
        for column, tree in found.items():
            _, texts = COLUMNS[column]
            assert tree.column == column and tree.height >= 1
            assert len(set(tree.labels[0])) == tree.size
            leaves = [tree.leaf(text) for text in texts]
            assert None not in leaves and len(set(leaves)) == len(texts), "every raw value has a leaf of its own"
            assert len(tree.labels[-1]) == 1 and not tree.codes[-1].any(), "it ends in one value"
            for fine, coarse in zip(tree.codes, tree.codes[1:], strict=False):
                steps = np.diff(coarse)
                assert coarse[0] == 0 and np.isin(steps, (0, 1)).all(), "nodes are contiguous ranges"
                assert not steps[np.diff(fine) == 0].any(), "what is one value stays one"

    def test_labels_are_read_back(self, name: str, example: Any) -> None:
        """At its own level, each label stands for its node."""
        for tree in built(name, example).values():
            for level in range(tree.height + 1):
                ends = zip(tree.labels[level], tree.starts[level], tree.stops[level], strict=True)
                assert all(tree.parse(label, level) == (low, high) for label, low, high in ends)

    def test_order_of_values_does_not_matter(self, name: str, example: Any) -> None:
        builder = registry.make("hierarchies", name, dict(example))
        for column, tree in built(name, example).items():
            kind, texts = COLUMNS[column]
            other = builder.build(Values.of(column, kind, texts[::-1]))
            assert np.array_equal(other.codes, tree.codes)
            assert [level.tolist() for level in other.labels] == [level.tolist() for level in tree.labels]

    def test_a_table_is_read_and_published_with_it(self, name: str, example: Any) -> None:
        for column in built(name, example):
            kind, texts = COLUMNS[column]
            table = pl.DataFrame({column: texts * 4})
            data = shoal.read(
                table, quasi=[column], kinds={column: str(kind)},
                hierarchies={column: registry.make("hierarchies", name, dict(example))},
            )  # fmt: skip
            k = min(5, table.height)
            release = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="optimal")
            assert release.frame.group_by(column).len()["len"].min() >= k and release.suppressed == 0

    def test_spelling_gives_it_back(self, name: str, example: Any) -> None:
        builder = registry.make("hierarchies", name, dict(example))
        assert plugin("hierarchies", spelled(builder)) == builder

    def test_documents_itself(self, name: str, example: Any) -> None:
        assert re.search(r"^ *Example:\n *>>> ", registry.find("hierarchies", name).__doc__ or "", re.MULTILINE)
