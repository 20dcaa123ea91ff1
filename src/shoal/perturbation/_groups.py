"""What perturbations share that put similar records of a stratum into groups of at least so many people."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.run import Run
from shoal.errors import InfeasibleError, VerificationError
from shoal.perturbation._numeric import ColumnPerturbation, Floats, headcounts, numbered

Places = NDArray[np.int64]

BLOCK = 1024
"""Records that are grouped at a time; larger strata are halved along their widest column."""


@dataclass(frozen=True, kw_only=True)
class GroupedPerturbation(ColumnPerturbation):
    """Changes numbers by what similar records of a stratum have in common. A record that lacks some of the values is
    grouped with others that lack the same."""

    k: Annotated[int, Ge(2), Doc("people that a group has at least")] = 3
    strata: Annotated[tuple[str, ...], Doc("groups are made among records that agree in these columns")] = ()

    @abstractmethod
    def grouped(self, points: Floats, generator: np.random.Generator, run: Run) -> Places:
        """Groups of at least k records, numbered from 0, of standardized values without gaps."""

    def groups(
        self,
        values: Floats,
        strata: Places,
        people: Places,
        names: list[str],
        generator: np.random.Generator,
        run: Run,
    ) -> Places:
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
                "change fewer columns at a time",
                {"strata": len(small), "records": records, "people": fewest},
            )
        done = 0
        for each in members:
            run.report(done / len(values), "making groups")
            done += len(each)
            pattern = present[each[0]]
            if pattern.any():
                points = _standardized(values[np.ix_(each, np.flatnonzero(pattern))])
                own = _merged(points, people[each], self.grouped(points, generator, run), self.k)
                owners[each] = count + own
                count += int(own.max()) + 1
        if headcounts(owners, people).min(initial=self.k) < self.k:
            raise VerificationError("a group has fewer than k people")
        return owners


def _standardized(values: Floats) -> Floats:
    values = values / np.maximum(np.abs(values).max(axis=0), 1e-300)  # so that no square of a huge number is infinite
    spreads = values.std(axis=0)
    points: Floats = (values - values.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0)
    return np.ascontiguousarray(points)


def blocks_of(points: Floats, k: int) -> list[Places]:
    """The records in blocks that are quick to group: halves along the widest column, again and again."""
    waiting, blocks = [np.arange(len(points))], list[Places]()
    while waiting:
        block = waiting.pop()
        if len(block) <= max(BLOCK, 4 * k):
            blocks.append(block)
            continue
        widest = int(np.argmax(np.ptp(points[block], axis=0)))
        ordered = block[np.argpartition(points[block, widest], len(block) // 2)]
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
