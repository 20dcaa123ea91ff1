"""Rank swapping (Moore, 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.displacement import Coordinate, Displacement, coded, ranks
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.perturbation._numeric import Floats, NumericPerturbation, ranked

CHECKED, TRIES = 1024, 16
"""Ranks between two looks at the run, and random picks before the free ranks are listed."""


@dataclass(frozen=True, kw_only=True)
class RankSwapping(NumericPerturbation):
    """Swaps each value of a numeric column with one whose rank is at most a share of the records away.

    A column keeps exactly the values that it has, and no value moves by more than ⌊share · n⌋ ranks: the distribution
    of each column is untouched, and relations between columns are kept the better the smaller the share. Missing
    values stay where they are.

    Does not protect against: whoever knows the true numbers of everybody. Values trade places in pairs, so one link
    that is found proves others: where two or more columns have mostly different values, `assignment-linkage` finds
    nearly everybody, whatever the share. It claims no privacy model. The values of a record need not be true of it.

    Reference: R. Moore, Controlled data-swapping techniques for masking public use microdata sets, 1996.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [50, 20, 40, 30]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm=RankSwapping(share=0.3))
        >>> sorted(release.frame["age"])
        [20, 30, 40, 50]
    """

    share: Annotated[float, Gt(0), Le(1), Doc("how far a value may move, as a share of the records")] = 0.05

    examples: ClassVar[Examples] = ({}, {"share": 0.3, "columns": ("age",)})

    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        after = np.empty_like(values)
        for place in range(len(names)):
            run.report(place / len(names), "swapping ranks")
            after[:, place] = swapped(values[:, place], int(self.share * len(values)), generator, run)
        return after

    def displacement(self, before: Floats, after: Floats) -> Displacement:
        most = int(self.share * len(before))
        columns = tuple(zip(after.T, before.T, strict=True))
        places = (Coordinate.between(ranks(old, new), ranks(old, old), most, ranks=True) for new, old in columns)
        pairs = (coded(column) for column in columns)
        return Displacement(tuple(places), tuple((records, people) for records, people in pairs))


def swapped(values: Floats, most: int, generator: np.random.Generator, run: Run | None = None) -> Floats:
    """The values after each, from the lowest rank up, was swapped with a random unswapped one at most so many ranks
    above; missing ones stay.

    Example:
        >>> sorted(swapped(np.array([3.0, 1.0, 2.0]), 1, np.random.default_rng(0)).tolist())
        [1.0, 2.0, 3.0]
    """
    order = ranked(values)
    partner = np.arange(len(order))
    free = np.ones(len(order), dtype=np.bool_)
    for rank in range(len(order)):
        if run is not None and rank % CHECKED == 0:
            run.check()
        if free[rank]:
            other = _free_above(free, rank, min(most, len(order) - 1 - rank), generator)
            if other >= 0:
                partner[rank], partner[other] = other, rank
                free[rank] = free[other] = False
    after = values.copy()
    after[order] = values[order[partner]]
    return after


def _free_above(free: NDArray[np.bool_], rank: int, most: int, generator: np.random.Generator) -> int:
    """A random one of the free ranks at most so many above, or -1: a few tries hit one, unless they are rare."""
    for _ in range(TRIES if most > 0 else 0):
        other = rank + 1 + int(generator.integers(most))
        if free[other]:
            return other
    above = np.flatnonzero(free[rank + 1 : rank + 1 + most])
    return rank + 1 + int(generator.choice(above)) if len(above) else -1
