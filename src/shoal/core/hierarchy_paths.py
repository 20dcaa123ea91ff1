"""Paths of a hierarchy, one a raw value: checked, and put in the order of a walk through the tree."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.formatting import counted
from shoal.errors import HierarchyError
from shoal.notices import tell
from shoal.parsing.identity import plain_text

TOP = "*"
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def checked_paths(column: str, paths: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The different paths, if they are a hierarchy: as long as one another, up to one top, each value under one parent.
    What is listed again counts once, with a note."""
    where = f"the hierarchy of column {column!r}"
    if not paths:
        raise HierarchyError(f"{where} is empty")
    distinct = list(dict.fromkeys(tuple(map(plain_text, path)) for path in paths))
    levels = len(distinct[0])
    if uneven := sum(len(path) != levels for path in distinct):
        raise HierarchyError(
            f"{where}: {uneven} of {len(distinct)} rows have another number of levels than the first row's {levels}"
        )
    if levels == 1:
        raise HierarchyError(f"{where} has one level only; add a last column with {TOP!r}")
    if empty := sum(not all(path[1:]) for path in distinct):
        raise HierarchyError(f"{where} has {counted(empty, 'values')} without a path to the top; fill the empty cells")
    if doubled := len(distinct) - len({path[0] for path in distinct}):
        raise HierarchyError(f"{where} lists {counted(doubled, 'values')} more than once, with different levels")
    if repeated := len(paths) - len(distinct):
        tell(f"{where} lists {counted(repeated, 'rows')} again; each value counts once")
    if torn := sum(_SURROGATE.search(label) is not None for path in distinct for label in path):
        raise HierarchyError(f"{where}: {torn} labels are not text, but halves of signs")
    for level in range(1, levels - 1):
        parents: dict[str, set[str]] = {}
        for path in distinct:
            parents.setdefault(path[level], set()).add(path[level + 1])
        if torn := sum(len(above) > 1 for above in parents.values()):
            raise HierarchyError(
                f"{where}: {torn} values of level {level} have two or more parents at level {level + 1}; a value may "
                "have only one"
            )
    if (tops := len({path[-1] for path in distinct})) > 1:
        raise HierarchyError(f"{where} ends in {tops} values; the last level must be one single value, such as {TOP!r}")
    return distinct


def walk_order(paths: Sequence[Sequence[str]], ranks: NDArray[np.float64]) -> NDArray[np.int64]:
    """The paths in the order of a walk through the tree that meets nodes by the least rank of a leaf under them."""
    keys = [ranks]
    for level in range(1, len(paths[0]) - 1):
        first: dict[str, float] = {}
        for path, rank in zip(paths, ranks, strict=True):
            first[path[level]] = min(first.get(path[level], np.inf), rank)
        keys.append(np.array([first[path[level]] for path in paths]))
    return np.lexsort(keys)
