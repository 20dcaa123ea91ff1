"""Editing a hierarchy: values moved between groups, groups named, levels added and taken away.

A hierarchy is edited as its paths, one a raw value from the value itself to the top, which is what a hierarchy file
holds. Every change is checked by `Hierarchy.from_paths`, so what is saved is a hierarchy.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.hierarchy import Hierarchy
from shoal.errors import HierarchyError

Paths = list[list[str]]


def leaves(tree: Hierarchy, level: int, nodes: Collection[int]) -> list[int]:
    """The rows of the values under some nodes of a level."""
    if not 0 <= level <= tree.height:
        raise HierarchyError("there is no such level")
    under = np.isin(tree.codes[level, int(tree.missing) :], [node + unplaced(tree, level) for node in nodes])
    return [int(row) for row in np.flatnonzero(under)]


def unplaced(tree: Hierarchy, level: int) -> int:
    """Nodes are counted without the missing value, which is a node of its own below the top."""
    return int(tree.missing and level < tree.height)


def nodes(tree: Hierarchy, level: int) -> list[str]:
    """The labels of a level, without the missing value."""
    return [str(label) for label in tree.labels[level][unplaced(tree, level) :]]


def parents(tree: Hierarchy, level: int) -> list[int]:
    """For each node of a level, the node above it."""
    if level == tree.height:
        return []
    starts = tree.starts[level][unplaced(tree, level) :]
    return [int(tree.codes[level + 1, start]) - unplaced(tree, level + 1) for start in starts]


def moved(tree: Hierarchy, level: int, selection: Collection[int], group: int) -> Paths:
    """Some nodes of a level go under a group of the next one."""
    if level >= tree.height - 1:
        raise HierarchyError("everything is under the top already; add a level to group values")
    paths, rows, target = tree.rows(), leaves(tree, level, selection), leaves(tree, level + 1, [group])
    if not rows or not target:
        raise HierarchyError("choose what to move, and the group that takes it")
    above = paths[target[0]][level + 1 :]
    for row in rows:
        paths[row][level + 1 :] = above
    return paths


def grouped(tree: Hierarchy, level: int, selection: Collection[int], name: str) -> Paths:
    """Some nodes of a level become a new group of the next one, under what the first of them is under."""
    if level >= tree.height - 1:
        return grouped(_hierarchy(tree, with_level(tree, level)), level, selection, name)
    paths, rows, label = tree.rows(), leaves(tree, level, selection), _label(name)
    if not rows:
        raise HierarchyError("choose what the new group holds")
    above = paths[rows[0]][level + 2 :]
    for row in rows:
        paths[row][level + 1 :] = [label, *above]
    return paths


def renamed(tree: Hierarchy, level: int, node: int, name: str) -> Paths:
    """Another name for a group; raw values keep theirs."""
    if level < 1:
        raise HierarchyError("values of the table keep their names; name the groups above them")
    paths, label = tree.rows(), _label(name)
    if label in nodes(tree, level)[:node] + nodes(tree, level)[node + 1 :]:
        raise HierarchyError("another group of this level has that name; move the values instead")
    for row in leaves(tree, level, [node]):
        paths[row][level] = label
    return paths


def with_level(tree: Hierarchy, level: int) -> Paths:
    """A further level above one, in which every node is a group of its own."""
    return [[*path[: level + 1], path[level], *path[level + 1 :]] for path in tree.rows()]


def without_level(tree: Hierarchy, level: int) -> Paths:
    """One level less; the values and the top stay."""
    if not 0 < level < tree.height:
        raise HierarchyError("the values and the top stay")
    return [[*path[:level], *path[level + 1 :]] for path in tree.rows()]


def _label(name: str) -> str:
    label = " ".join(name.split())
    if not label:
        raise HierarchyError("a group needs a name")
    return label


def _hierarchy(tree: Hierarchy, paths: Paths) -> Hierarchy:
    return Hierarchy.from_paths(tree.column, paths)


def as_csv(paths: Paths) -> str:
    """Paths as a hierarchy file holds them."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(paths)
    return text.getvalue()


def save(tree: Hierarchy, paths: Paths, path: Path) -> Path:
    """Writes a hierarchy file, if the paths are a hierarchy."""
    _hierarchy(tree, paths)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(as_csv(paths), encoding="utf-8")
    return path


def edit(tree: Hierarchy, action: str, level: int, selection: Collection[int], group: str, name: str) -> Paths:
    """The paths after one action of the editor."""
    actions: dict[str, Callable[[], Any]] = {
        "move": lambda: moved(tree, level, selection, int(group)),
        "group": lambda: grouped(tree, level, selection, name),
        "rename": lambda: renamed(tree, level, next(iter(selection), -1), name),
        "add-level": lambda: with_level(tree, level),
        "remove-level": lambda: without_level(tree, level),
    }
    if action not in actions:
        raise HierarchyError("there is no such change")
    paths: Paths = actions[action]()
    return paths
