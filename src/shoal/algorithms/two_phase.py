"""Two-phase clustering: k-member with relaxed sizes, then big clusters are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._growth import Relaxing, grown
from shoal.algorithms._merging import join_leftovers
from shoal.algorithms._records import Records, numbered
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import ParameterError

ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class TwoPhase(ClusteringAlgorithm):
    """Phase one grows clusters as k-member does, but lets a cluster that has k records take more. Phase two splits
    every cluster of 2k records or more.

    `growth` says how far clusters grow, with the factor `room`. `neighbours`: as long as the next record adds no more
    loss than it would pay together with its own nearest, were it to begin another cluster. `record`: as long as the
    next record itself pays no more in the cluster than that. `loss`: as long as no record pays more than `room` times
    what it did when there were k. `size`: up to `room` times k records. `cores`: one in `room` records goes into a
    cluster of k, and everybody else then joins the cluster to which they add least.

    Splitting A bisects a big cluster around its two farthest members, again and again. Splitting B runs k-member
    inside it. Both keep a split only if the loss falls, so that they lose no more than phase one; whether they lose
    less than k-member depends on the table. Splitting `none` keeps the big clusters.

    The method is reconstructed: of the work that proposes it only the abstract, the titles of its listings and its
    figures' captions were at hand, and none of them says how far clusters grow. Above 131,072 distinct tuples phase one
    looks at one block of the table at a time, and the facts of the recoding say so: `exact` is false.

    Does not protect against more than the models of the policy do, and does not find the least loss.

    Reference: the two-phase clustering of a doctoral thesis on privacy diagnosis and preservation, after J.-W. Byun,
    A. Kamra, E. Bertino, N. Li, Efficient k-anonymization using clustering techniques, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24, 61, 64], "sex": ["F", "F", "F", "F", "M", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=TwoPhase(splitting="A"))
        >>> sorted(set(release.frame["age"]))
        ['[21-22]', '[23-24]', '[61-64]']
    """

    examples: ClassVar[Examples] = (
        {"splitting": "A"},
        {"splitting": "B", "growth": "cores", "room": 1.5},
        {"splitting": "A", "growth": "record"},
    )

    growth: Annotated[
        Literal["neighbours", "record", "loss", "size", "cores"],
        Doc("what phase one looks at when a cluster of k records could take another one"),
    ] = "neighbours"
    room: Annotated[
        float | None,
        Gt(0),
        Doc(
            "how far clusters grow in phase one, as a factor; by default 1 for neighbours and record, 2 for the others"
        ),
    ] = None
    splitting: Annotated[
        Literal["none", "A", "B"],
        Doc("how big clusters are split: around the two farthest members, by k-member inside them, or not"),
    ] = "B"

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        from shoal.kernels.splitting import bisect

        start = int(records.tuples[generator.integers(len(records))])
        least = records.policy.least
        growth = grown(records, start, run.part(between=(0.0, 0.8)), self._relaxing())
        owners = join_leftovers(records, growth.owners, run)
        sizes = np.bincount(owners)
        big = int(np.sum(sizes >= 2 * least))
        run.report(0.8, "splitting clusters")
        parts = owners
        if self.splitting == "A":
            parts, frozen = owners.copy(), np.zeros(len(records), dtype=np.bool_)
            bisect(parts, frozen, records.tuples, records.points, records.costs, least, False, run.flag)
            run.check()
        elif self.splitting == "B":
            parts = _regrown(records, owners, sizes, run.part(between=(0.8, 1.0)))
        split = _improved(records, owners, parts)
        return split, {
            **growth.facts,
            "clusters": len(sizes),
            "big": big,
            "split-off": int(split.max()) + 1 - len(sizes),
        }

    def _relaxing(self) -> Relaxing:
        from shoal.kernels.members import EXACT, LOSS, NEIGHBOURS, RECORD, SIZE

        compared = self.growth in ("neighbours", "record")
        room = self.room if self.room is not None else (1.0 if compared else 2.0)
        if not compared and room < 1:
            raise ParameterError(f"room: with growth={self.growth}, clusters have k records at least; take 1 or more")
        if self.growth == "cores":
            return Relaxing(EXACT, share=1 / room)
        rules = {"neighbours": NEIGHBOURS, "record": RECORD, "loss": LOSS, "size": SIZE}
        return Relaxing(rules[self.growth], room)


def _regrown(records: Records, owners: Codes, sizes: NDArray[np.int64], run: Run) -> Codes:
    """Every cluster of twice the least size or more, clustered by k-member on its own."""
    least = records.policy.least
    by_cluster = np.argsort(owners, kind="stable")
    ends = np.cumsum(sizes)
    split = owners.copy()
    clusters = len(sizes)
    big = np.flatnonzero(sizes >= 2 * least)
    quiet = Run(within=run)
    for place, cluster in enumerate(big.tolist()):
        members = by_cluster[ends[cluster] - sizes[cluster] : ends[cluster]]
        inside = records.some(members)
        parts = grown(inside, 0, quiet)
        split[members] = join_leftovers(inside, parts.owners, quiet) + clusters
        clusters += parts.clusters
        if place % 64 == 0:
            run.report(place / len(big), "splitting clusters")
    return split


def _improved(records: Records, owners: Codes, parts: Codes) -> Codes:
    """The clustering with those clusters split into their parts whose loss falls by that."""
    parts = numbered(parts)
    parents = np.empty(int(parts.max()) + 1, np.int32)
    parents[parts] = owners
    before, after = _paid(records, owners), np.bincount(parents, weights=_paid(records, parts))
    falls = after < before - ROUNDING
    return numbered(np.where(falls[owners], len(falls) + parts, owners))


def _paid(records: Records, owners: Codes) -> Floats:
    """The loss of each cluster, over all its records."""
    from shoal.kernels.merging import ranges

    clusters = ranges(*records.ranges(owners), records.costs)
    paid: Floats = clusters.sizes * clusters.paid
    return paid
