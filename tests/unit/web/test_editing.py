"""Editing hierarchies: what moves, what stays, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.hierarchy import Hierarchy
from shoal.errors import HierarchyError
from shoal.hierarchies.table import read_paths
from shoal.web import editing

PATHS = [
    ["Private", "Employed", "*"],
    ["Local-gov", "Public", "*"],
    ["State-gov", "Public", "*"],
    ["Never", "None", "*"],
]


@pytest.fixture(params=[False, True], ids=["complete", "missing"])
def tree(request: pytest.FixtureRequest) -> Hierarchy:
    """With and without a missing value, which is a node of its own and shifts all others."""
    made = Hierarchy.from_paths("work", PATHS)
    return made.with_missing() if request.param else made


def as_groups(paths: list[list[str]], level: int) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        found.setdefault(path[level], set()).add(path[0])
    return found


def node(tree: Hierarchy, level: int, label: str) -> int:
    return editing.nodes(tree, level).index(label)


def test_a_value_moves_into_another_group_with_all_that_is_above_it(tree: Hierarchy) -> None:
    paths = editing.moved(tree, 0, [node(tree, 0, "Private")], node(tree, 1, "Public"))
    assert as_groups(paths, 1) == {"Public": {"Private", "Local-gov", "State-gov"}, "None": {"Never"}}
    assert Hierarchy.from_paths("work", paths).height == 2


def test_a_group_moves_with_everything_in_it(tree: Hierarchy) -> None:
    taller = Hierarchy.from_paths("work", editing.grouped(tree, 1, [node(tree, 1, "None")], "Outside"))
    assert taller.height == 3 and as_groups(taller.rows(), 2)["Outside"] == {"Never"}
    into = editing.moved(taller, 1, [node(taller, 1, "Public")], node(taller, 2, "Outside"))
    assert as_groups(into, 2)["Outside"] == {"Never", "Local-gov", "State-gov"}
    assert as_groups(into, 1)["Public"] == {"Local-gov", "State-gov"}


def test_values_become_a_new_group_below_the_top(tree: Hierarchy) -> None:
    chosen = [node(tree, 0, "Private"), node(tree, 0, "Never")]
    paths = editing.grouped(tree, 0, chosen, "  Not   public ")
    assert as_groups(paths, 1) == {"Not public": {"Private", "Never"}, "Public": {"Local-gov", "State-gov"}}


def test_a_flat_hierarchy_gets_a_level_when_a_group_is_made() -> None:
    flat = Hierarchy.from_paths("sex", [["f", "*"], ["m", "*"], ["x", "*"]])
    paths = editing.grouped(flat, 0, [0, 2], "f or x")
    assert as_groups(paths, 1) == {"f or x": {"f", "x"}, "m": {"m"}} and {path[-1] for path in paths} == {"*"}


def test_names_change_and_values_keep_theirs(tree: Hierarchy) -> None:
    assert as_groups(editing.renamed(tree, 1, node(tree, 1, "Public"), "State"), 1)["State"] == {
        "Local-gov",
        "State-gov",
    }
    for level, name in ((0, "anything"), (1, " "), (1, "None")):
        with pytest.raises(HierarchyError):
            editing.renamed(tree, level, node(tree, level, "Public") if level else 0, name)


def test_levels_come_and_go(tree: Hierarchy) -> None:
    assert all(path[1] == path[2] for path in editing.with_level(tree, 1))
    assert editing.without_level(tree, 1) == [[path[0], "*"] for path in tree.rows()]
    for level in (0, 2):
        with pytest.raises(HierarchyError):
            editing.without_level(tree, level)


def test_every_node_knows_the_one_above_it(tree: Hierarchy) -> None:
    above = {
        label: editing.nodes(tree, 1)[group]
        for label, group in zip(editing.nodes(tree, 0), editing.parents(tree, 0), strict=True)
    }
    assert above == {path[0]: path[1] for path in PATHS}
    assert editing.parents(tree, 1) == [0, 0, 0]


def test_what_is_saved_is_read_back_and_what_is_no_hierarchy_is_not_saved(tree: Hierarchy, tmp_path: Path) -> None:
    paths = editing.grouped(tree, 0, [0], "a; b | c")
    place = editing.save(tree, paths, tmp_path / "hierarchies" / "0.csv")
    assert sorted(read_paths(place, "work")) == sorted(paths)
    with pytest.raises(HierarchyError):
        editing.save(tree, [["Private", "A", "*"], ["Private", "B", "*"]], tmp_path / "hierarchies" / "1.csv")
    assert not (tmp_path / "hierarchies" / "1.csv").exists()
