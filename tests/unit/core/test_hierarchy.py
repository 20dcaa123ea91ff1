"""The hierarchy matrix, its checks, and labels that can be read back."""

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.hierarchy import Hierarchy
from shoal.core.loss import penalty
from shoal.errors import HierarchyError

ZIPS = [("47677", "476**", "*"), ("47905", "479**", "*"), ("47602", "476**", "*"), ("47909", "479**", "*")]


@st.composite
def trees(draw):
    leaves = draw(st.integers(1, 12))
    height = draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows = [[f"v{leaf}"] for leaf in range(leaves)]
    groups = list(range(leaves))
    for level in range(1, height):
        mapping = {node: int(generator.integers(0, max(1, len(set(groups))))) for node in set(groups)}
        groups = [mapping[node] for node in groups]
        for row, node in zip(rows, groups, strict=True):
            row.append(f"n{level}-{node}")
    generator.shuffle(rows)
    return [[*row, "*"] for row in rows]


@given(trees())
@settings(max_examples=count(28, 100), deadline=None)
def test_nodes_are_contiguous_and_the_matrix_says_what_the_paths_say(paths):
    tree = Hierarchy.from_paths("c", paths)
    assert np.all(np.diff(tree.codes, axis=1) >= 0)
    assert np.array_equal(tree.codes[0], np.arange(tree.size))
    assert not tree.codes[-1].any()
    said = {path[0]: path for path in paths}
    for leaf in range(tree.size):
        path = [tree.labels[level][tree.codes[level, leaf]] for level in range(tree.height + 1)]
        assert path == said[tree.labels[0][leaf]]


@given(trees(), st.integers(0, 10**6), st.booleans())
@settings(max_examples=count(28, 100), deadline=None)
def test_common_ancestor_from_extremes_is_that_of_the_whole_class(paths, seed, with_missing):
    tree = Hierarchy.from_paths("c", paths)
    tree = tree.with_missing() if with_missing else tree
    generator = np.random.default_rng(seed)
    members = generator.integers(0, tree.size, generator.integers(1, 6))
    brute = next(level for level in range(tree.height + 1) if len(set(tree.codes[level][members].tolist())) == 1)
    low, high = np.array([members.min()], np.int32), np.array([members.max()], np.int32)
    assert tree.ancestor_levels(low, high)[0] == brute
    first, last = tree.widen(low, high)
    node = tree.codes[brute][members[0]]
    assert [first[0], last[0]] == [tree.starts[brute][node], tree.stops[brute][node]]


@given(trees(), st.booleans())
@settings(max_examples=count(17, 60), deadline=None)
def test_every_published_label_can_be_read_back(paths, with_missing):
    tree = Hierarchy.from_paths("c", paths)
    tree = tree.with_missing() if with_missing else tree
    for low in range(tree.size):
        for high in range(low, tree.size):
            found = tree.parse(tree.label(low, high))
            assert found is not None
            if not tree.missing or low > 0:
                assert found == (low, high)
            else:
                assert found[0] <= low
                assert found[1] >= high


def test_numeric_intervals_can_be_read_back():
    tree = Hierarchy.flat("n", ["-5", "-2.5", "0", "7", "1e3"], np.array([-5, -2.5, 0, 7, 1000.0]))
    assert tree.ordered
    assert tree.label(0, 1) == "[-5--2.5]"
    for low in range(5):
        for high in range(low, 5):
            assert tree.parse(tree.label(low, high)) == (low, high)
    assert tree.parse("[0-7]") == (2, 3)
    assert tree.parse("[0-7)") == (2, 2)
    assert tree.parse("[8-9]") is None
    assert tree.parse("x") is None


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        ([], "is empty"),
        ([("a", "*"), ("b", "x", "*")], "another number of levels"),
        ([("a",), ("b",)], "one level only"),
        ([("a", "", "*"), ("b", "x", "*")], "without a path to the top"),
        ([("a", "x", "*"), ("a", "y", "*")], "more than once"),
        ([("a", "x", "p", "*"), ("b", "x", "q", "*")], "two or more parents"),
        ([("a", "x"), ("b", "y")], "ends in 2 values"),
    ],
)
def test_checks_say_what_to_fix(paths, says):
    with pytest.raises(HierarchyError, match=says):
        Hierarchy.from_paths("zip", paths)


def test_a_label_that_means_two_things_is_read_as_the_wider_one_unless_the_level_is_known():
    tree = Hierarchy.from_paths("job", [("clerk", "Other", "*"), ("Other", "Other", "*"), ("cook", "Kitchen", "*")])
    leaf = tree.leaf_of["Other"]
    assert tree.parse("Other") == tree.parse("Other", level=1) == (0, 1)
    assert tree.parse("Other", level=0) == (leaf, leaf)


def test_missing_is_a_leaf_of_its_own_under_the_top_only():
    tree = Hierarchy.from_paths("zip", ZIPS).with_missing()
    assert tree.labels[0][0] is None
    assert tree.labels[1][0] is None
    assert tree.label(0, 0) is None
    assert tree.label(0, 1) == "*"
    assert tree.with_missing() is tree
    assert tree.label(1, 2) == "476**"


def test_penalty_of_numbers_and_of_nodes():
    numbers = Hierarchy.flat("n", ["0", "5", "10"], np.array([0.0, 5.0, 10.0]))
    low, high = np.array([0, 0, 1], np.int32), np.array([0, 1, 2], np.int32)
    assert penalty(numbers, low, high, 0, 2).tolist() == [0, 0.5, 0.5]
    assert penalty(numbers, low, high, 1, 2).tolist() == [0, 1.0, 1.0]
    zips = Hierarchy.from_paths("zip", ZIPS)
    zips = Hierarchy("zip", zips.codes, zips.labels)
    assert penalty(zips, np.array([0, 0], np.int32), np.array([1, 3], np.int32), 0, 3).tolist() == [0.5, 1.0]
    hidden = numbers.with_missing()
    assert penalty(hidden, np.array([0], np.int32), np.array([3], np.int32), 0, 3).tolist() == [1.0]


def test_masked_codes_are_no_quantities():
    assert Hierarchy.from_paths("zip", ZIPS).masks
    assert not Hierarchy.from_paths("age", [("20", "20-29", "*"), ("31", "30-39", "*")]).masks


def test_many_labels_stand_for_what_each_stands_for():
    tree = Hierarchy.from_paths("age", [("20", "[20-29]", "*"), ("25.5", "[20-29]", "*"), ("30", "[30-39]", "*")])
    labels = [
        "20",
        "20.0",
        "25.5",
        "25.7",
        "-0",
        "1e1",
        "[20-29]",
        "[20-26)",
        "*",
        "nobody",
        None,
        "{20|30}",
        "3",
        " 30",
    ]
    low, high = tree.parse_all(labels)
    each = [tree.parse(label) or (-1, -1) for label in labels]
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == each
    assert (-1, -1) in each and (0, 0) in each
