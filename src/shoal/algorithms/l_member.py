"""l-member clustering, the two forms that bucket clustering is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from typing_extensions import Doc

from shoal.algorithms._buckets import DiverseClustering, drawable, drawn_variety, filled, owners_of, some_of_each
from shoal.algorithms._eligibility import as_categories
from shoal.algorithms._merging import join_diverse_leftovers, join_leftovers
from shoal.algorithms._records import Records, portions
from shoal.core.grouping import Codes, Counts
from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.errors import InfeasibleError


@dataclass(frozen=True, kw_only=True)
class LMember(DiverseClustering):
    """Grows clusters as k-member does until each is frequency-l-diverse; l is what the policy's models ask for.

    The `intuitive` form takes records that bring a new value only, until there are l values (and again, when the policy
    asks for more than l records). It keeps nothing back, so that at the end records may be left whose value fits into
    no cluster: they are counted, and left out if the suppression allows; else there is no release. The `extended` form
    takes whatever adds least until no value makes up more than 1/l; leftovers join where they add least, and clusters
    that break merge. It places every record and loses more.

    Both are here to compare with; take bucket-clustering. Numbers in the sensitive column are categories.

    Does not protect against more than the models of the policy do. Reconstructed: of the thesis that describes both
    only the abstract and the titles of its listings were at hand; it calls the extended form optimistic.

    Reference: a doctoral thesis on privacy diagnosis and preservation, after J.-W. Byun, A. Kamra, E. Bertino, N. Li,
    Efficient k-anonymization using clustering techniques, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 61, 62, 63], "disease": ["a", "a", "b", "a", "c", "d"]})
        >>> data = shoal.read(table, quasi=["age"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm=LMember(), seed=1)
        >>> release.verify(release.policy).holds
        True
    """

    variant: Annotated[
        Literal["intuitive", "extended"],
        Doc("whether only new values join, or whatever adds least until the cluster is diverse"),
    ] = "extended"

    examples: ClassVar[Examples] = ({}, {"variant": "intuitive"})

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        wanted, left = drawn_variety(records), drawable(records)
        buckets, order = filled(records, left, generator, run)
        if self.variant == "extended":
            _gather(records, buckets, wanted, run)
        else:
            _draw(records, buckets, left, wanted, run)
        clusters = int(buckets.clusters[0])
        owners = owners_of(buckets, order, clusters)
        (values,) = records.dataset.listing(records.policy.seed)
        lacking = left - np.bincount(values[owners >= 0], minlength=len(left))
        leftovers = some_of_each(records, lacking, owners)
        facts: dict[str, Any] = {"clusters": clusters, "leftovers": len(leftovers), **as_categories(records.dataset)}
        if self.variant == "extended":
            rows = np.union1d(np.flatnonzero(owners >= 0), leftovers)
            owners[rows] = join_leftovers(records.some(rows), owners[rows], run)
            return owners, facts
        owners = join_diverse_leftovers(records, owners, leftovers, values, wanted, run)
        unplaceable, budget = int(np.sum(owners[leftovers] < 0)), records.policy.budget(len(records))
        facts["unplaceable"] = unplaceable
        if int(np.sum(owners < 0)) > budget or not clusters:
            raise InfeasibleError(
                f"{unplaceable:,} of the {len(records):,} records fit into no cluster, and {budget:,} may be left out; "
                "take bucket-clustering, which places every record, or allow more suppression",
                {"least": wanted, **facts},
            )
        return owners, facts


def _gather(records: Records, buckets: Any, wanted: int, run: Run) -> None:
    from shoal.kernels.buckets import gather

    total = int(buckets.left.sum())
    for _, end in portions(total, run, "growing clusters"):
        if not gather(buckets, records.policy.least, wanted, records.costs, total - end, run.flag):
            break


def _draw(records: Records, buckets: Any, left: Counts, wanted: int, run: Run) -> None:
    from shoal.kernels.buckets import Shape, draw

    each = -(-records.policy.least // wanted)
    rounds = np.full(int(left.sum()) // (each * wanted), each, np.int64)
    shape = Shape(rounds, rounds * wanted, wanted, False)
    for _, end in portions(len(rounds), run, "growing clusters"):
        if not draw(buckets, shape, records.costs, end, run.flag):
            break
