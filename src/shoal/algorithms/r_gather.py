"""r-gather clustering (Aggarwal and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._records import Records
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.run import Run

PRECISION = 1e-6
"""How closely the radius is searched for, as a share of the greatest distance."""


class Gathered(NamedTuple):
    """The cluster of each record, and the greatest distance of a record to the centre of its cluster."""

    owners: Codes
    radius: float


@dataclass(frozen=True, kw_only=True)
class RGather(ClusteringAlgorithm):
    """Makes clusters of at least k records, each around one of its records, such that the record farthest from its
    centre is as near as can be: at most twice as far as in any clustering of so many records each.

    For a radius it picks centres that are farther than that apart, and deals k records within the radius to each one,
    by a maximum flow; whoever is left goes to the nearest centre. The least radius for which that works is searched
    for, to a millionth. The facts of the recoding tell the `radius`, and the radius that no clustering goes below
    (`least_radius`). The distance of two records is the loss of publishing them alike, summed over the attributes.

    The published method publishes the centre, the radius and the size of each cluster; here the classes are published
    as in every clustering, which tells less of the centre. It has a bound for the worst record, not for the average
    one: a single record far from all others makes every cluster wide, and on Adult nearly everything is lost. With
    `refine` as little is lost as by other clusterings. The variant that leaves such records out is not here. Time grows
    as the number of distinct tuples times that of clusters. Where clusters are refined, or merged for other models than
    k-anonymity, the bound no longer holds.

    Does not protect against more than the models of the policy do.

    Reference: G. Aggarwal, T. Feder, K. Kenthapadi, S. Khuller, R. Panigrahy, D. Thomas, A. Zhu, Achieving anonymity
    via clustering, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 61, 22, 64, 65], "sex": ["F", "M", "F", "M", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=RGather())
        >>> sorted(set(release.frame["age"]))
        ['[21-22]', '[61-65]']
        >>> facts = release.recoding.facts
        >>> round(facts["radius"] / facts["least_radius"], 3) <= 2
        True
    """

    examples: ClassVar[Examples] = ({},)

    def beginning(self, dataset: Dataset, policy: Policy) -> None:
        return None  # it is for comparison: the default does not try it

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        from shoal.kernels.cost import span
        from shoal.kernels.radius import reach

        points, least = records.points, records.policy.least
        order = generator.permutation(len(points))
        neighbours = records.nearest(least, run.part(between=(0.0, 0.3)))
        # Of k records around a centre, every one has k within twice the radius.
        low = float(reach(points, records.counts, neighbours, records.costs, least))
        high = float(span(records.costs, points.min(axis=0), points.max(axis=0)))
        best, watch = gathered(records, low, order, run), run.part(between=(0.3, 1.0))
        if best is None:
            best, whole = gathered(records, high, order, run), high
            while high - low > PRECISION * whole:
                watch.report(1 - (high - low) / whole, "searching for the radius")
                middle = (low + high) / 2
                tried = gathered(records, middle, order, run)
                low, high, best = (middle, high, best) if tried is None else (low, middle, tried)
        assert best is not None  # one cluster of everybody has the greatest radius
        return best.owners, {"radius": best.radius, "least_radius": low / 2}


def gathered(records: Records, radius: float, order: Counts, run: Run) -> Gathered | None:
    """Clusters of at least k records within a radius of centres that are picked in some order; None where these centres
    do not have so many."""
    from shoal.kernels import radius as kernel

    points, counts, costs = records.points, records.counts, records.costs
    centres = kernel.centres_of(points, costs, radius, order, run.flag)
    if len(centres) * records.policy.least > len(records):
        return None
    links = kernel.links_of(points, costs, radius, centres, run.flag)
    dealt = kernel.deal(links, counts, records.policy.least, run.flag)
    run.check()
    if not dealt:
        return None
    owners = kernel.clusters_of(links, counts)
    return Gathered(owners, float(kernel.farthest(points, counts, costs, centres, owners)))
