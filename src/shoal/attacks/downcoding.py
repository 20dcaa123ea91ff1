"""Downcoding: whoever knows how ranges are made reads values from their ends (Cohen, 2022)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.adversary.rerun import Rerun, check_small
from shoal.core.codebook import Cells
from shoal.core.contracts.attack import Attack, Attempt, Known
from shoal.core.dataset import Dataset
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import Examples, Share
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.errors import NotDefined

Rows = tuple[tuple[int, ...], ...]
"""The records of a class: the leaves of the quasi-identifiers, then of the sensitive attributes."""


@dataclass(frozen=True, kw_only=True)
class Downcoding(Attack):
    """Makes a finer table of a release, from the release alone. Who is in the table need not be known.

    Where a range goes from the least to the greatest value of its class, both ends are values of somebody: of a class
    of two everything is known. A node of a hierarchy that is the closest common ancestor of its class has people under
    at least two of its children, and with two children under both. `success` is the share of the cells that were made
    less precise and are precise again, `worst` that share in the worst class. A cell is one of the class: which of its
    people has which of these values is not told.

    On small tables more is found, by trying every table that the release allows and keeping those of which the
    algorithm makes this very release; what they all have in common is known. `detail` says whether it is `exact` in
    this sense, how many tables were `tried` and are `left`, and the share that the ends of ranges alone give away
    (`by_ends`).

    Does not protect, nor attack, what is published as it is: only cells that were made less precise are counted. The
    attacker is assumed to know the hierarchies.

    Reference: A. Cohen, Attacks on deidentification's defenses, 2022.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [21, 22, 30, 35, 39]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
        >>> sorted(set(release.frame["age"])), shoal.attack(data, release, "downcoding:tables=0")[0].success
        (['[21-22]', '[30-39]'], 0.8)
    """

    threshold: Annotated[Share, Doc("the share of restored cells above which a class is exposed")] = 0.5
    tables: Annotated[int, Ge(0), Doc("how many tables are tried at most; each is anonymized anew")] = 500

    examples: ClassVar[Examples] = ({"tables": 0}, {"threshold": 0.3, "tables": 20})

    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        classes, cells = release.view.people(), release.view.cells()
        release.in_people(classes)  # where people cannot be counted, nothing is said of them
        coarse = np.where(cells.low < cells.high, classes.sizes, 0)
        if not coarse.sum():
            raise NotDefined("no cell was made less precise, so there is none to be restored")
        trees = [release.hierarchy_of(name) for name in classes.attributes]
        ends = np.stack(
            [
                _known_by_ends(tree, release.hulls.get(name, ""), low, high)
                for tree, name, low, high in zip(trees, classes.attributes, cells.low, cells.high, strict=True)
            ]
        )
        restored = np.minimum(ends, coarse)
        by_ends = float(restored.sum() / coarse.sum())
        detail: dict[str, Any] = {"exact": False}
        try:
            restored, tried, left = _by_trying(dataset, release, cells, coarse, self.tables, run)
            detail = {"exact": True, "tried": tried, "left": left}
        except NotDefined as reason:
            detail["why"] = str(reason)
        some = coarse.sum(axis=0)
        shares = restored.sum(axis=0) / np.maximum(some, 1)
        return self.attempt_over(
            shares,
            some,
            hits=float(restored.sum()),
            baseline=0.0,
            knew="the release, the hierarchies, the algorithm, the policy and the seed",
            meaning="the share of the less precise cells whose exact values can be restored",
            detail={**detail, "by_ends": by_ends, "less_precise": int(coarse.sum())},
        )


def _known_by_ends(tree: Hierarchy, hull: str, low: Any, high: Any) -> Counts:
    """How many values of a class are known by the ends of its range."""
    known = np.zeros(len(low), np.int64)
    wide = (low < high) & ~tree.spans_missing(low, high)
    if hull == "interval":
        known[wide] = 2
    elif hull == "hierarchy":
        coarse = np.flatnonzero(low < high)
        nodes, where = np.unique(low[coarse].astype(np.int64) * tree.size + high[coarse], return_inverse=True)
        leaves = [_single_children(tree, *divmod(node, tree.size)) for node in nodes.tolist()]
        known[coarse] = np.array(leaves, np.int64)[where]
    return known


def _single_children(tree: Hierarchy, low: int, high: int) -> int:
    """Of a node under at least two of whose children somebody is: how many leaves somebody must have."""
    for codes in reversed(tree.codes):
        children = np.unique(codes[low : high + 1], return_counts=True)[1]
        if len(children) > 1:
            return int(np.sum(children == 1)) if len(children) == 2 else 0
    return 0


def _by_trying(
    dataset: Dataset, release: Release, cells: Cells, coarse: Counts, most: int, run: Run
) -> tuple[Counts, int, int]:
    """How many cells of each class are the same in every table that is left, how many were tried and are left."""
    check_small(dataset)
    if release.view.groups() is not release.view.people():
        raise NotDefined("values and people stand in different tables")
    worlds = _Tables(release, cells).all(most)
    rerun = Rerun.of(dataset, release, run)
    possible: list[tuple[Rows, ...]] = []
    for tried, world in enumerate(worlds):
        run.report(tried / len(worlds), "trying other tables")
        rows = np.array([row for part in world for row in part], np.int32).T
        if rerun.fits(dict(zip(rerun.names, rows, strict=True)), run):
            possible.append(world)
    assert possible, "the table itself is one of them"
    restored = np.zeros_like(coarse)
    for attribute, place in zip(*np.nonzero(coarse), strict=True):
        common: Counter[int] | None = None
        for world in possible:
            leaves = Counter(row[attribute] for row in world[place])
            common = leaves if common is None else common & leaves
        restored[attribute, place] = sum((common or Counter()).values())
    return restored, len(worlds), len(possible)


class _Tables:
    """The tables that a release allows: in every class so many records, whose leaves lie in its ranges."""

    def __init__(self, release: Release, cells: Cells) -> None:
        self.release, self.cells = release, cells
        quasi, sensitive = release.schema.quasi, release.schema.sensitive
        self.trees = [release.hierarchy_of(name) for name in quasi]
        # What records of a class have beside their quasi-identifiers, which the release shows row by row.
        rows = release.published.group((*quasi, *sensitive), [])
        radix = len(quasi)
        owners = {tuple(key): place for place, key in enumerate(release.view.people().keys.T.tolist())}
        labels = [release.leaves_of(name) for name in sensitive]
        self.sensitive: list[list[tuple[tuple[int, ...], int]]] = [[] for _ in owners]
        for key, size in zip(rows.keys.T.tolist(), rows.sizes.tolist(), strict=True):
            values = tuple(int(leaves[code]) for leaves, code in zip(labels, key[radix:], strict=True))
            self.sensitive[owners[tuple(key[:radix])]].append((values, size))

    def all(self, most: int) -> list[tuple[Rows, ...]]:
        """Every table, when they are no more than so many."""
        parts: list[list[Rows]] = []
        count = 1
        for place, sensitive in enumerate(self.sensitive):
            boxes = [
                range(low, high + 1)
                for low, high in zip(self.cells.low[:, place], self.cells.high[:, place], strict=True)
            ]
            tuples = prod(len(box) for box in boxes)
            if prod(comb(tuples + size - 1, size) for _, size in sensitive) > 50 * most:
                raise NotDefined(f"there are more than {most:,} tables to try")
            fitting = [rows for rows in self._of_class(place, list(product(*boxes))) if self._tight(place, rows)]
            count *= len(fitting)
            if count > most:
                raise NotDefined(f"there are more than {most:,} tables to try")
            parts.append(fitting)
        return list(product(*parts))

    def _of_class(self, place: int, tuples: list[tuple[int, ...]]) -> Iterator[Rows]:
        choices = [
            [[(*leaves, *values) for leaves in chosen] for chosen in combinations_with_replacement(tuples, size)]
            for values, size in self.sensitive[place]
        ]
        for chosen in product(*choices):
            yield tuple(row for part in chosen for row in part)

    def _tight(self, place: int, rows: Rows) -> bool:
        """Whether the ranges of a class are those that such records are published as, as far as that is certain."""
        for attribute, (name, tree) in enumerate(zip(self.release.schema.quasi, self.trees, strict=True)):
            hull = self.release.hulls.get(name)
            if hull is None:
                continue
            leaves = [row[attribute] for row in rows]
            low, high = np.array([min(leaves)], np.int32), np.array([max(leaves)], np.int32)
            if hull == "hierarchy":
                low, high = tree.widen(low, high)
            elif tree.spans_missing(low, high)[0]:
                continue
            if (low[0], high[0]) != (self.cells.low[attribute, place], self.cells.high[attribute, place]):
                return False
        return True
