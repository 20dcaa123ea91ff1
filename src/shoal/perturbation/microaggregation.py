"""Microaggregation by strata, with weights (Domingo-Ferrer and Mateo-Sanz, 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import InfeasibleError, VerificationError
from shoal.perturbation._numeric import (
    ColumnPerturbation,
    Floats,
    groups_by,
    headcounts,
    numbered,
    people_of,
    record_weights,
)

Places = NDArray[np.int64]

BLOCK = 1024
"""Records that are grouped at a time; larger strata are halved along their widest column."""


@dataclass(frozen=True, kw_only=True)
class Microaggregation(ColumnPerturbation):
    """Puts similar records of a stratum into groups of at least `k` people, and gives all of a group its mean.

    The mean of each column is kept in every group, so in every stratum and in the whole table; where the table has
    survey weights, it is the weighted mean. Groups are made by the columns together (MDAV), or by each column on its
    own with the least squared error that there is (`separately`), which loses less and hides less. A record that lacks
    some of the values is grouped with others that lack the same.

    Does not protect against: linkage by columns that are not changed; by `separately` aggregated columns taken
    together. It claims no privacy model; `mdav` does, and publishes the quasi-identifiers of a class as its means.

    Reference: J. Domingo-Ferrer, J. Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure
    control, 2002.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("fffmmm"), "wage": [10, 20, 60, 30, 40, 50]})
        >>> data = shoal.read(table, quasi=["sex", "wage"])
        >>> release = shoal.anonymize(data, algorithm=Microaggregation(k=3, strata=("sex",)))
        >>> sorted(set(release.frame.rows()))
        [('f', 30), ('m', 40)]
    """

    k: Annotated[int, Ge(2), Doc("people that a group has at least")] = 3
    strata: Annotated[tuple[str, ...], Doc("groups are made among records that agree in these columns")] = ()
    separately: Annotated[bool, Doc("make groups for each column on its own")] = False

    examples: ClassVar[Examples] = ({}, {"strata": ("sex",), "separately": True})

    def perturbed(
        self, dataset: Dataset, values: Floats, names: tuple[str, ...], seed: int, run: Run
    ) -> tuple[Floats, dict[str, Any]]:
        strata, people = groups_by(dataset, self.strata, seed), people_of(dataset, seed)
        weights = record_weights(dataset, seed)
        parts = [[place] for place in range(len(names))] if self.separately else [list(range(len(names)))]
        after, groups = values.copy(), 0
        for part, columns in enumerate(parts):
            watch = run.part(between=(part / len(parts), (part + 1) / len(parts)))
            owners = self._groups(values[:, columns], strata, people, [names[place] for place in columns], watch)
            groups += int(owners.max(initial=-1)) + 1
            for place in columns:
                after[:, place] = _means(values[:, place], owners, weights)
        return after, {"groups": groups}

    def _groups(self, values: Floats, strata: Places, people: Places, names: list[str], run: Run) -> Places:
        """The group of each record; -1 where it has no value at all."""
        present = ~np.isnan(values)
        patterns = present @ (1 << np.arange(present.shape[1], dtype=np.int64))
        owners, count = np.full(len(values), -1, np.int64), 0
        cells = numbered(strata, patterns)
        members = np.split(np.argsort(cells, kind="stable"), np.cumsum(np.bincount(cells))[:-1])
        small = [each for each in members if patterns[each[0]] and len(np.unique(people[each])) < self.k]
        if small:
            records = sum(map(len, small))
            fewest = min(len(np.unique(people[each])) for each in small)
            raise InfeasibleError(
                f"{len(small)} strata have fewer than k = {self.k} people with values in {', '.join(map(repr, names))} "
                f"({records} records; the smallest has {fewest} people); choose coarser strata or a lower k, or "
                "aggregate the columns separately",
                {"strata": len(small), "records": records, "people": fewest},
            )
        done = 0
        for each in members:
            run.report(done / len(values), "making groups")
            done += len(each)
            pattern = present[each[0]]
            if pattern.any():
                points = _standardized(values[np.ix_(each, np.flatnonzero(pattern))])
                own = _grouped(points, people[each], self.k, run)
                owners[each] = count + own
                count += int(own.max()) + 1
        if headcounts(owners, people).min(initial=self.k) < self.k:
            raise VerificationError("a group of microaggregation has fewer than k people")
        return owners


def _means(values: Floats, owners: Places, weights: Floats) -> Floats:
    """The weighted mean of each record's group; records without a group or a value stay as they are."""
    inside = (owners >= 0) & ~np.isnan(values)
    totals = np.bincount(owners[inside], weights=weights[inside])
    means = np.bincount(owners[inside], weights=values[inside] * weights[inside]) / np.maximum(totals, 1e-300)
    after = values.copy()
    after[inside] = means[owners[inside]]
    return after


def _standardized(values: Floats) -> Floats:
    values = values / np.maximum(np.abs(values).max(axis=0), 1e-300)  # so that no square of a huge number is infinite
    spreads = values.std(axis=0)
    points: Floats = (values - values.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
    return np.ascontiguousarray(points)


def _grouped(points: Floats, people: Places, k: int, run: Run) -> Places:
    """Groups of at least so many people, numbered from 0."""
    from shoal.kernels.squares import maximum_distance, shortest_path

    owners = np.empty(len(points), np.int32)
    if points.shape[1] == 1:
        shortest_path(points, np.argsort(points[:, 0], kind="stable"), k, owners)
        groups = int(owners.max()) + 1
    else:
        groups = 0
        for block in _blocks(points, k):
            run.check()
            own = np.full(len(block), -1, np.int32)
            count = maximum_distance(np.ascontiguousarray(points[block]), own, 0, k, 0, run.flag)
            own[own < 0] = count
            owners[block] = groups + own
            groups += int(own.max()) + 1
    return _merged(points, people, owners.astype(np.int64), k)


def _blocks(points: Floats, k: int) -> list[Places]:
    """The records in blocks that are quick to group: halves along the widest column, again and again."""
    waiting, blocks = [np.arange(len(points))], list[Places]()
    while waiting:
        block = waiting.pop()
        if len(block) <= max(BLOCK, 4 * k):
            blocks.append(block)
            continue
        widest = int(np.argmax(np.ptp(points[block], axis=0)))
        ordered = block[np.argsort(points[block, widest], kind="stable")]
        waiting += [ordered[: len(block) // 2], ordered[len(block) // 2 :]]
    return blocks


def _merged(points: Floats, people: Places, owners: Places, k: int) -> Places:
    """The groups, those with fewer people than k, of whom some have several records, with the nearest other one."""
    while True:
        owners = np.unique(owners, return_inverse=True)[1].astype(np.int64)
        heads = headcounts(owners, people)
        if heads.min() >= k:
            return owners
        sizes = np.bincount(owners)
        centres = np.stack([np.bincount(owners, weights=column) / sizes for column in points.T], axis=1)
        least = int(np.argmin(heads))
        distances = ((centres - centres[least]) ** 2).sum(axis=1)
        distances[least] = np.inf
        owners[owners == least] = int(np.argmin(distances))
