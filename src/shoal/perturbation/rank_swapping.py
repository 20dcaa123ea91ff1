"""Rank swapping (Moore, 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.contracts import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.core.schema import Kind
from shoal.errors import ParameterError, SchemaError, unknown_columns

EXACT = 2**53
"""Up to here floating point has every whole number."""

CHECKED, TRIES = 1024, 16
"""Ranks between two looks at the run, and random picks before the free ranks are listed."""


@dataclass(frozen=True, kw_only=True)
class RankSwapping(Algorithm):
    """Swaps each value of a numeric column with one whose rank is at most a share of the records away.

    A column keeps exactly the values that it has, and no value moves by more than ⌊share · n⌋ ranks: the distribution
    of each column is untouched, and relations between columns are kept the better the smaller the share. Missing
    values stay where they are.

    Does not protect against: linkage by several columns when the share is small; it claims no privacy model. The
    values of a record need not be true of it.

    Reference: R. Moore, Controlled data-swapping techniques for masking public use microdata sets, 1996.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [50, 20, 40, 30]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm=RankSwapping(share=0.3), seed=1)
        >>> sorted(release.frame["age"])
        [20, 30, 40, 50]
    """

    share: Annotated[float, Gt(0), Le(1), Doc("how far a value may move, as a share of the records")] = 0.05
    columns: Annotated[
        tuple[str, ...], Doc("the columns to swap, each by itself; by default all numeric quasi-identifiers")
    ] = ()

    claims: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"share": 0.3, "columns": ("age",)})

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        names = self.columns or tuple(name for name in dataset.schema.quasi if _is_numeric(dataset, name))
        unknown = [name for name in names if name not in dataset.schema.names]
        if unknown:
            raise unknown_columns(unknown, dataset.schema.names)
        unfit = [name for name in names if not _is_numeric(dataset, name)]
        if unfit:
            raise ParameterError(f"column {unfit[0]!r} is not numeric, so its values have no ranks to swap by")
        if not names:
            raise SchemaError("no quasi-identifier is numeric; name the columns to swap")
        generator = np.random.default_rng(policy.seed)
        changed = {}
        for place, (name, values) in enumerate(dataset.table.numbers(names, policy.seed).items()):
            run.report(place / len(names), "swapping ranks")
            if np.abs(np.nan_to_num(values)).max(initial=0.0) >= EXACT:
                raise SchemaError(
                    f"column {name!r} has numbers from {EXACT:,} up, which swapping would round; "
                    "make it categorical or leave it out"
                )
            changed[name] = swapped(values, int(self.share * len(values)), generator, run)
        return Recoding(form="perturbed", facts={"columns": list(names)}, changed=changed)


def _is_numeric(dataset: Dataset, name: str) -> bool:
    """Whether a column has numbers; one whose hierarchy also names other things than numbers has none to rank by."""
    column = dataset.schema[name]
    return column.kind is Kind.NUMERIC and column.hierarchy is not None and column.hierarchy.values is not None


def swapped(
    values: NDArray[np.float64], most: int, generator: np.random.Generator, run: Run | None = None
) -> NDArray[np.float64]:
    """The values after each, from the lowest rank up, was swapped with a random unswapped one at most so many ranks
    above; missing ones stay.

    Example:
        >>> sorted(swapped(np.array([3.0, 1.0, 2.0]), 1, np.random.default_rng(0)).tolist())
        [1.0, 2.0, 3.0]
    """
    present = np.flatnonzero(~np.isnan(values))
    ranked = present[np.argsort(values[present], kind="stable")]
    partner = np.arange(len(ranked))
    free = np.ones(len(ranked), dtype=np.bool_)
    for rank in range(len(ranked)):
        if run is not None and rank % CHECKED == 0:
            run.check()
        if free[rank]:
            other = _free_above(free, rank, min(most, len(ranked) - 1 - rank), generator)
            if other >= 0:
                partner[rank], partner[other] = other, rank
                free[rank] = free[other] = False
    found = values.copy()
    found[ranked] = values[ranked[partner]]
    return found


def _free_above(free: NDArray[np.bool_], rank: int, most: int, generator: np.random.Generator) -> int:
    """A random one of the free ranks at most so many above, or -1: a few tries hit one, unless they are rare."""
    for _ in range(TRIES if most > 0 else 0):
        other = rank + 1 + int(generator.integers(most))
        if free[other]:
            return other
    above = np.flatnonzero(free[rank + 1 : rank + 1 + most])
    return rank + 1 + int(generator.choice(above)) if len(above) else -1
