"""One-pass k-means (Lin and Wei, 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.algorithms._adjustment import adjusted, gathered
from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._records import Records
from shoal.core.grouping import Codes
from shoal.core.parameters import Examples
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Oka(ClusteringAlgorithm):
    """Sorts the records by their quasi-identifiers, picks ⌊n/k⌋ of them at random as seeds, and lets each other one
    join the cluster with the closest centre, which moves at once. Then the adjustment stage: clusters above k give
    up their farthest records, which go to the closest cluster below k.

    The centre of a cluster is the mean of a numeric attribute and the closest common ancestor of any other; the
    published method leaves that open. The closest centre is searched through a tree of boxes and found exactly.

    Does not protect against more than the models of the policy do, and loses more than k-member does: the one pass
    never looks back, and the adjustment moves records far.

    Reference: J.-L. Lin, M.-C. Wei, An efficient clustering method for k-anonymization, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 61, 22, 64, 65], "sex": ["F", "M", "F", "M", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=Oka(numeric="mean"))
        >>> release.frame["age"].dtype, release.verify(release.policy)["k"].value >= 2
        (Float64, True)
    """

    examples: ClassVar[Examples] = ({}, {"numeric": "mean"})

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        seeds = np.sort(generator.choice(len(records), len(records) // records.policy.least, replace=False))
        owners = np.full(len(records), -1, dtype=np.int32)
        owners[seeds] = np.arange(len(seeds), dtype=np.int32)
        gathered(records, owners, run.part(between=(0.0, 0.6)))
        return adjusted(records, owners, generator, run.part(between=(0.6, 1.0))), {}
